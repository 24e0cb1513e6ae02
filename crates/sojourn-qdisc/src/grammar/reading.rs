//! A text of words read into parameters, and written.

use super::error::SpecError;
use super::given::{FLAG, Given, NUMBERS};
use super::kernel_words::KernelOnly;
use super::words::Model;
use crate::ParamError;

/// Reads the words after the kind.
pub(crate) fn parse_words<T: Model>(words: &[&str]) -> Result<T, SpecError> {
    if let Some(tabled) = T::TABLED {
        return (tabled.read)(KernelOnly::parse(tabled.table, words)?);
    }
    let mut value = starting_point::<T>(words)?;
    let mut seen = vec![false; T::WORDS.len()];
    let mut rest = words.iter().peekable();
    let mut variant_seen = false;
    while let Some(&name) = rest.next() {
        if name == "variant" && !T::VARIANTS.is_empty() {
            if std::mem::replace(&mut variant_seen, true) {
                return Err(SpecError::Twice {
                    field: format!("{}.variant", T::ABOUT.kind),
                });
            }
            rest.next();
            continue;
        }
        let Some(at) = T::WORDS.iter().position(|word| word.names.contains(&name)) else {
            return Err(SpecError::UnknownWord {
                word: name.to_owned(),
                kind: T::ABOUT.kind,
                allowed: allowed::<T>(),
            });
        };
        let word = &T::WORDS[at];
        let field = if word.unit == FLAG { name } else { word.names[0] };
        if std::mem::replace(&mut seen[at], true) {
            return Err(SpecError::Twice {
                field: format!("{}.{field}", T::ABOUT.kind),
            });
        }
        let mut several = Vec::new();
        while word.unit == NUMBERS
            && let Some(&number) = rest.next_if(|word| !knows::<T>(word))
        {
            several.push(number);
        }
        let joined = several.join(" ");
        let given = match word.unit {
            FLAG => Some(""),
            NUMBERS => Some(joined.as_str()).filter(|numbers| !numbers.is_empty()),
            _ => rest.next().copied(),
        };
        let given = given.ok_or_else(|| SpecError::NoValue {
            field: format!("{}.{field}", T::ABOUT.kind),
            unit: word.unit,
        })?;
        (word.set)(
            &mut value,
            &Given {
                kind: T::ABOUT.kind,
                field: word.names[0],
                name,
                value: given,
            },
        )?;
    }
    value.finish()?;
    Ok(value)
}

/// The defaults: of the variant that the words name, or the current kernel's.
fn starting_point<T: Model>(words: &[&str]) -> Result<T, SpecError> {
    let Some(at) = words
        .iter()
        .position(|&word| word == "variant")
        .filter(|_| !T::VARIANTS.is_empty())
    else {
        return Ok(T::defaults());
    };
    let Some(&name) = words.get(at + 1) else {
        return Err(SpecError::NoValue {
            field: format!("{}.variant", T::ABOUT.kind),
            unit: "name",
        });
    };
    if name == "linux" {
        return Ok(T::defaults());
    }
    if let Some((_, defaults)) = T::VARIANTS.iter().find(|variant| variant.0 == name) {
        return Ok(defaults());
    }
    let known: Vec<&str> = std::iter::once("linux")
        .chain(T::VARIANTS.iter().map(|v| v.0))
        .collect();
    let rule = format!("one of {}", known.join(", "));
    Err(ParamError::new(T::ABOUT.kind, "variant", format!("{name:?}"), rule).into())
}

/// Whether `name` is a word of the kind.
fn knows<T: Model>(name: &str) -> bool {
    name == "variant" && !T::VARIANTS.is_empty() || T::WORDS.iter().any(|word| word.names.contains(&name))
}

fn allowed<T: Model>() -> String {
    let mut names: Vec<&str> = T::WORDS.iter().flat_map(|word| word.names).copied().collect();
    if !T::VARIANTS.is_empty() {
        names.push("variant");
    }
    names.join(", ")
}

/// The canonical text.
pub(crate) fn show_words<T: Model>(value: &T) -> String {
    if let Some(tabled) = T::TABLED {
        return (tabled.given)(value).to_string();
    }
    let mut text = T::ABOUT.kind.to_owned();
    for word in T::WORDS {
        if let Some(shown) = word.show(value) {
            text.push(' ');
            if word.unit != FLAG {
                text.push_str(word.names[0]);
                text.push(' ');
            }
            text.push_str(&shown);
        }
    }
    if let Some(variant) = value.variant() {
        text.push_str(" variant ");
        text.push_str(variant);
    }
    text
}
