//! Tables of words, and what is done with them: read a text, write one, list what there is.

use crate::ParamError;
use sojourn_units::{Bytes, Duration, Rate, UnitError, parse_bytes, parse_duration, parse_rate};
use thiserror::Error;

/// Text that names no discipline.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpecError {
    /// There is no word in it.
    #[error("a queue discipline is empty text, but must be a kind such as \"fq_codel\" or \"codel target 5ms\"")]
    Empty,
    /// The first word is neither a kind nor a preset.
    #[error("{kind:?} is no queue discipline; kinds are {kinds}; presets are {presets}", kinds = super::KINDS.join(", "),
        presets = crate::presets::NAMES.join(", "))]
    UnknownKind {
        /// The word.
        kind: String,
    },
    /// A kind that is not modelled.
    #[error("{kind} is a discipline of the kernel that the simulator does not have: use the linux back end")]
    KernelOnly {
        /// The kind.
        kind: String,
    },
    /// A word that the kind does not have.
    #[error("{word:?} is no parameter of {kind}; its parameters are {allowed}")]
    UnknownWord {
        /// The word.
        word: String,
        /// The kind.
        kind: &'static str,
        /// What would be allowed.
        allowed: String,
    },
    /// A parameter at the end of the text, without its value.
    #[error("{field} has no value, but must have one ({unit})")]
    NoValue {
        /// Kind and parameter.
        field: String,
        /// What kind of value.
        unit: &'static str,
    },
    /// A parameter that was already given.
    #[error("{field} is given twice, but must be given once")]
    Twice {
        /// Kind and parameter.
        field: String,
    },
    /// A preset without the link rate that decides what it stands for.
    #[error("preset {preset:?} depends on the link's rate, but no rate is given")]
    NeedsRate {
        /// The preset.
        preset: String,
    },
    /// More words after a preset.
    #[error("{word:?} follows preset {preset:?}, but a preset must stand alone")]
    PresetWithWords {
        /// The first of the words.
        word: String,
        /// The preset.
        preset: String,
    },
    /// A value that breaks its rule.
    #[error(transparent)]
    Param(#[from] ParamError),
}

/// How a word is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The word, then its value in this unit.
    Value(&'static str),
    /// One of the names alone.
    Flag,
}

/// One word of a kind whose parameters are a `T`.
pub(crate) struct Word<T: 'static> {
    /// For a value: the canonical name, then other names `tc` knows. For a flag: what it may say.
    pub(crate) names: &'static [&'static str],
    pub(crate) form: Form,
    pub(crate) help: &'static str,
    pub(crate) set: fn(&mut T, &Given<'_>) -> Result<(), ParamError>,
    /// The value, or the flag, to be written; `None` if it need not be.
    pub(crate) show: fn(&T) -> Option<String>,
}

/// A word as given, with its value.
pub(crate) struct Given<'a> {
    kind: &'static str,
    field: &'static str,
    /// The name used.
    pub(crate) name: &'a str,
    value: &'a str,
}

impl<'a> Given<'a> {
    /// The value given for `field` of `kind`.
    pub(crate) const fn new(kind: &'static str, field: &'static str, value: &'a str) -> Self {
        Self {
            kind,
            field,
            name: field,
            value,
        }
    }

    pub(crate) const fn kind(&self) -> &'static str {
        self.kind
    }

    pub(crate) const fn value(&self) -> &'a str {
        self.value
    }

    /// A whole number, which may have a sign; packets may be written as `1000p`.
    pub(crate) fn signed(&self) -> Result<i64, ParamError> {
        let value = self.value.strip_suffix('p').unwrap_or(self.value);
        let digits = value.strip_prefix('-').unwrap_or(value);
        let plain = !digits.is_empty() && digits.len() <= 18 && digits.bytes().all(|b| b.is_ascii_digit());
        let number = value.parse().ok().filter(|_| plain);
        number.ok_or_else(|| ParamError::new(self.kind, self.field, format!("{:?}", self.value), "a whole number"))
    }

    pub(crate) fn error(&self, rule: impl Into<String>) -> ParamError {
        ParamError::new(self.kind, self.field, self.value, rule)
    }

    fn unit<T>(&self, result: Result<T, UnitError>) -> Result<T, ParamError> {
        result.map_err(|e| {
            let rule = e.rule.strip_prefix("it must be ").unwrap_or(e.rule);
            ParamError::new(self.kind, self.field, format!("{:?}", self.value), rule)
        })
    }

    /// A time in `tc`'s spelling.
    pub(crate) fn duration(&self) -> Result<Duration, ParamError> {
        self.unit(parse_duration(self.value))
    }

    /// A size in `tc`'s spelling.
    pub(crate) fn bytes(&self) -> Result<Bytes, ParamError> {
        self.unit(parse_bytes(self.value))
    }

    /// A rate in `tc`'s spelling.
    pub(crate) fn rate(&self) -> Result<Rate, ParamError> {
        self.unit(parse_rate(self.value))
    }

    /// A count; `tc` writes packets as `1000p`, which is understood too.
    pub(crate) fn count(&self) -> Result<u32, ParamError> {
        let digits = self.value.strip_suffix('p').unwrap_or(self.value);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(ParamError::new(
                self.kind,
                self.field,
                format!("{:?}", self.value),
                "a whole number >= 0",
            ));
        }
        digits.parse().map_err(|_| self.error(format!("<= {}", u32::MAX)))
    }

    /// A plain decimal number.
    pub(crate) fn number(&self) -> Result<f64, ParamError> {
        let plain = self.value.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let number = self.value.parse::<f64>().ok().filter(|n| plain && n.is_finite());
        number.ok_or_else(|| ParamError::new(self.kind, self.field, format!("{:?}", self.value), "a number >= 0"))
    }
}

/// The name of a variant, and the defaults it has.
pub(crate) type Variant<T> = (&'static str, fn() -> T);

/// A kind of discipline as the grammar knows it: the parameters are `Self`.
pub(crate) trait Grammar: Sized + 'static {
    /// As `tc` calls it.
    const KIND: &'static str;
    /// One line for a list.
    const SUMMARY: &'static str;
    /// Where its behaviour is written down.
    const SOURCE: &'static str;
    /// Its words, in canonical order.
    const WORDS: &'static [Word<Self>];
    /// Names of behaviours other than the current kernel's, and the defaults that each has.
    const VARIANTS: &'static [Variant<Self>] = &[];

    /// `tc`'s and the current kernel's defaults.
    fn defaults() -> Self;
    /// The name of a variant other than the current kernel's.
    fn variant(&self) -> Option<&'static str> {
        None
    }
    /// Fills in what follows from other words, and checks all.
    fn finish(&mut self) -> Result<(), ParamError>;
}

/// Reads the words after the kind.
pub(crate) fn parse_words<T: Grammar>(words: &[&str]) -> Result<T, SpecError> {
    let mut value = starting_point::<T>(words)?;
    let mut seen = vec![false; T::WORDS.len()];
    let mut rest = words.iter();
    let mut variant_seen = false;
    while let Some(&name) = rest.next() {
        if name == "variant" && !T::VARIANTS.is_empty() {
            if std::mem::replace(&mut variant_seen, true) {
                return Err(SpecError::Twice {
                    field: format!("{}.variant", T::KIND),
                });
            }
            rest.next();
            continue;
        }
        let Some(at) = T::WORDS.iter().position(|word| word.names.contains(&name)) else {
            return Err(SpecError::UnknownWord {
                word: name.to_owned(),
                kind: T::KIND,
                allowed: allowed::<T>(),
            });
        };
        let word = &T::WORDS[at];
        let field = if word.form == Form::Flag { name } else { word.names[0] };
        if std::mem::replace(&mut seen[at], true) {
            return Err(SpecError::Twice {
                field: format!("{}.{field}", T::KIND),
            });
        }
        let given = match word.form {
            Form::Flag => "",
            Form::Value(unit) => rest.next().ok_or_else(|| SpecError::NoValue {
                field: format!("{}.{field}", T::KIND),
                unit,
            })?,
        };
        (word.set)(
            &mut value,
            &Given {
                kind: T::KIND,
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
fn starting_point<T: Grammar>(words: &[&str]) -> Result<T, SpecError> {
    let Some(at) = words
        .iter()
        .position(|&word| word == "variant")
        .filter(|_| !T::VARIANTS.is_empty())
    else {
        return Ok(T::defaults());
    };
    let Some(&name) = words.get(at + 1) else {
        return Err(SpecError::NoValue {
            field: format!("{}.variant", T::KIND),
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
    Err(ParamError::new(T::KIND, "variant", format!("{name:?}"), rule).into())
}

fn allowed<T: Grammar>() -> String {
    let mut names: Vec<&str> = T::WORDS.iter().flat_map(|word| word.names).copied().collect();
    if !T::VARIANTS.is_empty() {
        names.push("variant");
    }
    names.join(", ")
}

/// The canonical text.
pub(crate) fn show_words<T: Grammar>(value: &T) -> String {
    let mut text = T::KIND.to_owned();
    for word in T::WORDS {
        if let Some(shown) = (word.show)(value) {
            text.push(' ');
            if word.form != Form::Flag {
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

/// "ecn" or "noecn".
pub(crate) fn ecn_flag(on: bool) -> String {
    if on { "ecn" } else { "noecn" }.to_owned()
}

/// A size in whole MiB as `tc` writes it (`32Mb`), any other in bytes.
pub(crate) fn show_memory(size: Bytes) -> String {
    let mib = 1 << 20;
    if size.get().is_multiple_of(mib) {
        format!("{}Mb", size.get() / mib)
    } else {
        size.get().to_string()
    }
}
