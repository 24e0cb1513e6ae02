//! From what a kernel is told of a discipline to the plan of a bed, and back.

use sojourn_bed::{AddedPlan, BelowPlan, OptionPlan, QdiscPlan};
use sojourn_qdisc::{Added, KernelBelow, KernelOptions, OptionValue};
use std::collections::BTreeMap;

fn planned(options: BTreeMap<String, OptionValue>) -> BTreeMap<String, OptionPlan> {
    let options = options.into_iter().map(|(name, value)| {
        let value = match value {
            OptionValue::Number(n) => OptionPlan::Number(n),
            OptionValue::Flag(on) => OptionPlan::Flag(on),
            OptionValue::Text(text) => OptionPlan::Text(text),
        };
        (name, value)
    });
    options.collect()
}

fn option_values(options: BTreeMap<String, OptionPlan>) -> BTreeMap<String, OptionValue> {
    let options = options.into_iter().map(|(name, value)| {
        let value = match value {
            OptionPlan::Number(n) => OptionValue::Number(n),
            OptionPlan::Flag(on) => OptionValue::Flag(on),
            OptionPlan::Text(text) => OptionValue::Text(text),
        };
        (name, value)
    });
    options.collect()
}

/// The plan of a discipline.
#[must_use]
pub fn qdisc_plan(of: KernelOptions) -> QdiscPlan {
    let below = of.below.into_iter().map(|below| BelowPlan {
        adds: match below.adds {
            Added::Qdisc => AddedPlan::Qdisc,
            Added::Class => AddedPlan::Class,
            Added::Filter => AddedPlan::Filter,
        },
        parent: below.parent,
        id: below.id,
        kind: below.kind,
        options: planned(below.options),
    });
    QdiscPlan {
        kind: of.kind,
        options: planned(of.options),
        text: String::new(),
        below: below.collect(),
    }
}

/// What a kernel is told of a planned discipline.
#[must_use]
pub fn kernel_options_of(plan: QdiscPlan) -> KernelOptions {
    let below = plan.below.into_iter().map(|below| KernelBelow {
        adds: match below.adds {
            AddedPlan::Qdisc => Added::Qdisc,
            AddedPlan::Class => Added::Class,
            AddedPlan::Filter => Added::Filter,
        },
        parent: below.parent,
        id: below.id,
        kind: below.kind,
        options: option_values(below.options),
    });
    KernelOptions {
        kind: plan.kind,
        options: option_values(plan.options),
        below: below.collect(),
    }
}
