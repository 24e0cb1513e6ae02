//! A text of words read into parameters, and written.

use super::error::SpecError;
use super::given::{FLAG, Given, NUMBERS};
use super::kernel_words::KernelOnly;
use super::words::{Model, Word};
use crate::ParamError;
use crate::netlink::Named;

/// Reads the words after the kind.
pub(crate) fn parse_words<T: Model>(words: &[&str]) -> Result<T, SpecError> {
    if let Some(tabled) = T::TABLED {
        return (tabled.read)(KernelOnly::parse(tabled.table, words)?);
    }
    let mut value = starting_point::<T>(words)?;
    Table::<T>::of_kind().read(words, &mut value)?;
    value.finish()?;
    Ok(value)
}

/// Words with what they fill.
pub(crate) struct Table<T: 'static> {
    /// Who has the words.
    pub(crate) kind: &'static str,
    pub(crate) words: &'static [Word<T>],
    /// Whether `variant` is a word, too. It is read elsewhere.
    pub(crate) variants: bool,
}

impl<T: Model> Table<T> {
    /// Those of a kind of discipline.
    pub(crate) const fn of_kind() -> Self {
        Self {
            kind: T::ABOUT.kind,
            words: T::WORDS,
            variants: !T::VARIANTS.is_empty(),
        }
    }
}

impl<T> Table<T> {
    /// Reads the words into `value`.
    pub(crate) fn read(&self, words: &[&str], value: &mut T) -> Result<(), SpecError> {
        let mut seen = vec![false; self.words.len()];
        let mut rest = words.iter().peekable();
        let mut variant_seen = false;
        while let Some(&name) = rest.next() {
            if name == "variant" && self.variants {
                if std::mem::replace(&mut variant_seen, true) {
                    return Err(SpecError::Twice {
                        field: format!("{}.variant", self.kind),
                    });
                }
                rest.next();
                continue;
            }
            let Some(at) = self.words.iter().position(|word| word.names.contains(&name)) else {
                return Err(SpecError::UnknownWord {
                    word: name.to_owned(),
                    kind: self.kind,
                    allowed: self.allowed(),
                });
            };
            let word = &self.words[at];
            let field = if word.unit == FLAG { name } else { word.names[0] };
            if std::mem::replace(&mut seen[at], true) {
                return Err(SpecError::Twice {
                    field: format!("{}.{field}", self.kind),
                });
            }
            let mut several = Vec::new();
            while word.unit == NUMBERS
                && let Some(&number) = rest.next_if(|word| !self.knows(word))
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
                field: format!("{}.{field}", self.kind),
                unit: word.unit,
            })?;
            (word.set)(
                value,
                &Given {
                    kind: self.kind,
                    field: word.names[0],
                    name,
                    value: given,
                },
            )?;
        }
        Ok(())
    }

    fn knows(&self, name: &str) -> bool {
        name == "variant" && self.variants || self.words.iter().any(|word| word.names.contains(&name))
    }

    /// The names of all words.
    fn allowed(&self) -> String {
        let mut names: Vec<&str> = self.words.iter().flat_map(|word| word.names).copied().collect();
        if self.variants {
            names.push("variant");
        }
        names.join(", ")
    }

    /// The words that give `value`, each with a space before it.
    pub(crate) fn write(&self, value: &T, text: &mut String) {
        for word in self.words {
            if let Some(shown) = word.show(value) {
                text.push(' ');
                if word.unit != FLAG {
                    text.push_str(word.names[0]);
                    text.push(' ');
                }
                text.push_str(&shown);
            }
        }
    }

    /// What a kernel is told of every word.
    pub(crate) fn for_kernel(&self, value: &T) -> Result<Vec<Named>, ParamError> {
        let named = self.words.iter().filter_map(|word| {
            let value = (word.get)(value)?;
            value.for_kernel(self.kind, word.names[0]).transpose()
        });
        named.collect()
    }
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

/// The canonical text.
pub(crate) fn show_words<T: Model>(value: &T) -> String {
    if let Some(tabled) = T::TABLED {
        return (tabled.given)(value).to_string();
    }
    let mut text = T::ABOUT.kind.to_owned();
    Table::<T>::of_kind().write(value, &mut text);
    if let Some(variant) = value.variant() {
        text.push_str(" variant ");
        text.push_str(variant);
    }
    text
}
