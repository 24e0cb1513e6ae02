//! What there is: every kind and its parameters, for lists and help.

use super::codel_words::CodelSpec;
use super::fifo_words::{Bfifo, Pfifo};
use super::red_words::RedWords;
use super::tbf_words::TbfWords;
use super::words::{Form, Grammar};
use crate::{FqCodelParams, NetemParams, PfifoFastParams, PieParams, SfqParams};

/// A kind of discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindInfo {
    /// As `tc` calls it.
    pub kind: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Its parameters, in canonical order; `variant` last where there is one.
    pub parameters: Vec<ParameterInfo>,
    /// Where its behaviour is written down.
    pub source: &'static str,
}

/// A parameter of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// The word; for a flag that can be said both ways, `ecn | noecn`.
    pub name: String,
    /// What holds if it is not given, in `tc`'s spelling; `None` where nothing does.
    pub default: Option<String>,
    /// What its value is: time, bytes, packets, seconds, rate, number, name; or flag.
    pub unit: &'static str,
    /// One line.
    pub help: String,
}

/// Every kind, with `tc`'s and the current kernel's defaults.
#[must_use]
pub fn kinds() -> Vec<KindInfo> {
    vec![
        describe::<Pfifo>(),
        describe::<Bfifo>(),
        describe::<PfifoFastParams>(),
        describe::<RedWords>(),
        describe::<PieParams>(),
        describe::<CodelSpec>(),
        describe::<SfqParams>(),
        describe::<FqCodelParams>(),
        describe::<TbfWords>(),
        describe::<NetemParams>(),
    ]
}

fn describe<T: Grammar>() -> KindInfo {
    let defaults = T::defaults();
    let mut parameters: Vec<ParameterInfo> = T::WORDS
        .iter()
        .map(|word| {
            let (name, unit) = match word.form {
                Form::Value(unit) => (word.names[0].to_owned(), unit),
                Form::Flag => (word.names.join(" | "), "flag"),
            };
            ParameterInfo {
                name,
                default: (word.show)(&defaults),
                unit,
                help: word.help.to_owned(),
            }
        })
        .collect();
    if !T::VARIANTS.is_empty() {
        let others: Vec<&str> = T::VARIANTS.iter().map(|variant| variant.0).collect();
        parameters.push(ParameterInfo {
            name: "variant".to_owned(),
            default: Some("linux".to_owned()),
            unit: "name",
            help: format!("whose reading: linux (the current kernel), {}", others.join(", ")),
        });
    }
    KindInfo {
        kind: T::KIND,
        summary: T::SUMMARY,
        parameters,
        source: T::SOURCE,
    }
}
