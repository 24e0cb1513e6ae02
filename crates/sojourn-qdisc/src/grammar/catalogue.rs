//! What there is: every kind and its parameters, for lists and help.

use super::kernel_words::KernelTable;
use super::model::Model;
use super::raw_value::FLAG;

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

pub(crate) fn describe<T: Model>() -> KindInfo {
    let defaults = T::defaults();
    // A value has one canonical name; of a flag every name says something.
    let mut parameters: Vec<ParameterInfo> = T::WORDS
        .iter()
        .map(|word| ParameterInfo {
            name: if word.unit == FLAG {
                word.names.join(" | ")
            } else {
                word.names[0].to_owned()
            },
            default: word.show(&defaults),
            unit: word.unit,
            help: word.help.to_owned(),
        })
        .collect();
    if let Some(tabled) = T::TABLED {
        let one = |&(option, default, help): &_| tabled_parameter(tabled.table, option, default, help);
        parameters = tabled.help.iter().map(one).collect();
    }
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

/// An option of a table: its word if that has a value, or else all words that exclude each other.
fn tabled_parameter(table: &KernelTable, option: &str, default: &str, help: &str) -> ParameterInfo {
    let words = || table.words.iter().filter(|word| word.option == option);
    let valued = words().find_map(|word| Some((word.name.to_owned(), word.takes.unit()?)));
    let (name, unit) = valued.unwrap_or_else(|| {
        let names: Vec<&str> = words().map(|word| word.name).collect();
        (names.join(" | "), FLAG)
    });
    ParameterInfo {
        name,
        default: Some(default.to_owned()).filter(|default| !default.is_empty()),
        unit,
        help: help.to_owned(),
    }
}
