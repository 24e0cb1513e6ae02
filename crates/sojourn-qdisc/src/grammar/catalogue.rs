//! What there is: every kind and its parameters, for lists and help.

use super::model::Model;
use super::raw_value::FLAG;
use super::words::Word;
use serde::Serialize;

/// A kind of discipline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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

/// What there is of a kind.
pub(crate) fn describe<T: Model>() -> KindInfo {
    let mut parameters = T::parameters();
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
        kind: T::ABOUT.kind,
        summary: T::ABOUT.summary,
        parameters,
        source: T::ABOUT.source,
    }
}

/// The words of a kind as parameters.
pub(crate) fn parameters<T: Model>() -> Vec<ParameterInfo> {
    let defaults = T::defaults();
    // A value has one canonical name; of a flag every name says something.
    let parameter = |word: &Word<T>| ParameterInfo {
        name: if word.unit == FLAG {
            word.names.join(" | ")
        } else {
            word.names[0].to_owned()
        },
        default: word.show(&defaults),
        unit: word.unit,
        help: word.help.to_owned(),
    };
    T::WORDS.iter().map(parameter).collect()
}
