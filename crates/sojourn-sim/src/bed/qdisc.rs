//! From what a kernel is told of a discipline to the plan of a bed.

use sojourn_bed::{OptionPlan, QdiscPlan};
use sojourn_qdisc::{KernelOptions, OptionValue};

/// The plan of a discipline.
pub(super) fn plan(of: KernelOptions) -> QdiscPlan {
    let options = of.options.into_iter().map(|(name, value)| {
        let value = match value {
            OptionValue::Number(n) => OptionPlan::Number(n),
            OptionValue::Flag(on) => OptionPlan::Flag(on),
            OptionValue::Text(text) => OptionPlan::Text(text),
        };
        (name, value)
    });
    QdiscPlan {
        kind: of.kind,
        options: options.collect(),
        text: String::new(),
    }
}
