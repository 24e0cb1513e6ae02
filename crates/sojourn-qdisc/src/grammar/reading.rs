//! A text of words read into parameters, and written.

use super::error::SpecError;
use super::model::{CURRENT, Model, table};
use crate::ParamError;

/// Reads the words after the kind.
pub(crate) fn parse_words<T: Model>(words: &[&str]) -> Result<T, SpecError> {
    let mut value = starting_point::<T>(words)?;
    table::<T>().read(words, &mut value)?;
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
    if name == CURRENT {
        return Ok(T::defaults());
    }
    if let Some((_, defaults)) = T::VARIANTS.iter().find(|variant| variant.0 == name) {
        return Ok(defaults());
    }
    let known: Vec<&str> = std::iter::once(CURRENT)
        .chain(T::VARIANTS.iter().map(|v| v.0))
        .collect();
    let rule = format!("one of {}", known.join(", "));
    Err(ParamError::new(T::ABOUT.kind, "variant", format!("{name:?}"), rule).into())
}

/// The canonical text.
pub(crate) fn show_words<T: Model>(value: &T) -> String {
    let mut text = table::<T>().show(value);
    if value.variant() != CURRENT {
        text.push_str(" variant ");
        text.push_str(value.variant());
    }
    text
}
