//! Tables of words, and what is done with them: read a text, write one, list what there is.

use super::kernel_words::OptionValue;
use super::measures::Value;
use crate::descriptor::Descriptor;
use crate::footprint::Footprint;
use crate::{AnyQdisc, Packet, ParamError};
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
    #[error("{kind:?} is no queue discipline; kinds are {kinds}; presets are {presets}", kinds = crate::kinds::names().join(", "),
        presets = crate::presets::names().join(", "))]
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

/// The unit of a word that is a flag.
pub(crate) const FLAG: &str = "flag";

/// One word of a kind whose parameters are a `T`. Tables are written with [`words!`].
pub(crate) struct Word<T: 'static> {
    /// For a value: the canonical name, then other names `tc` knows. For a flag: what it may say.
    pub(crate) names: &'static [&'static str],
    /// Of its value, or [`FLAG`].
    pub(crate) unit: &'static str,
    pub(crate) help: &'static str,
    pub(crate) set: fn(&mut T, &Given<'_>) -> Result<(), ParamError>,
    /// What it is set to; `None` if to nothing.
    pub(crate) get: fn(&T) -> Option<Value>,
    /// Whether the canonical text has it, if it is set.
    pub(crate) written: fn(&T) -> bool,
}

/// A table of words: each is `[NAMES]: MEASURE = FIELD, "HELP";`, with `if CONDITION` where the canonical text has it
/// only then.
macro_rules! words {
    ($([$($name:literal),+]: $measure:ty = $($field:tt).+ $(, if $when:expr)?, $help:literal;)+) => {
        &[$($crate::grammar::words::Word {
            names: &[$($name),+],
            unit: <$measure as $crate::grammar::measures::Unit>::UNIT,
            help: $help,
            set: |t, given| {
                t.$($field).+ = <$measure as $crate::grammar::measures::Measure<_>>::read(given)?;
                Ok(())
            },
            get: |t| <$measure as $crate::grammar::measures::Measure<_>>::value(&t.$($field).+),
            written: $crate::grammar::words::words!(@when $($when)?),
        }),+]
    };
    (@when) => { |_| true };
    (@when $when:expr) => { $when };
}
pub(crate) use words;

impl<T> Word<T> {
    /// The value, or the flag, to be written; `None` if it need not be.
    pub(crate) fn show(&self, of: &T) -> Option<String> {
        match (self.get)(of).filter(|_| (self.written)(of))? {
            Value::Flag(on) => self.names.get(usize::from(!on)).map(|&name| name.to_owned()),
            value => Some(value.to_string()),
        }
    }
}

/// A word as given, with its value.
pub(crate) struct Given<'a> {
    kind: &'static str,
    field: &'static str,
    /// The name used.
    name: &'a str,
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

    /// Whether the name used is the canonical one: of a flag, whether it says that it is on.
    pub(crate) fn is_canonical(&self) -> bool {
        self.name == self.field
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

/// A kind of discipline that is modelled here: its parameters are `Self`, as `tc` takes them.
pub(crate) trait Model: Sized + 'static {
    /// What is to be known of it besides its algorithm.
    const ABOUT: Descriptor;
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
    /// Takes the variant away: a kernel has its own behaviour. What the variant does not have gets the kernel's defaults.
    fn for_kernel(&mut self) {}
    /// What a kernel is told: every word, unless it is told otherwise.
    fn kernel(&self) -> Result<Vec<Named>, ParamError> {
        let named = Self::WORDS.iter().filter_map(|word| {
            let value = (word.get)(self)?;
            value.for_kernel(Self::ABOUT.kind, word.names[0]).transpose()
        });
        named.collect()
    }
    /// What it comes to at most.
    fn footprint(&self) -> Footprint;
    /// See [`QdiscSpec::queue`](crate::QdiscSpec::queue).
    fn queue(&self, _hash: u32) -> Option<u32> {
        None
    }
    /// Makes the discipline, empty.
    ///
    /// # Panics
    /// Never for parameters that were checked by [`Model::finish`].
    fn build<P: Packet>(&self, seed: u64) -> AnyQdisc<P>;
}

/// Why [`Model::build`] does not panic.
pub(crate) const CHECKED: &str = "a spec holds checked parameters";

/// An option by the name that [`crate::KernelOptions`] has for it.
pub(crate) type Named = (String, OptionValue);

/// Reads the words after the kind.
pub(crate) fn parse_words<T: Model>(words: &[&str]) -> Result<T, SpecError> {
    let mut value = starting_point::<T>(words)?;
    let mut seen = vec![false; T::WORDS.len()];
    let mut rest = words.iter();
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
        let given = match word.unit {
            FLAG => "",
            unit => rest.next().ok_or_else(|| SpecError::NoValue {
                field: format!("{}.{field}", T::ABOUT.kind),
                unit,
            })?,
        };
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

fn allowed<T: Model>() -> String {
    let mut names: Vec<&str> = T::WORDS.iter().flat_map(|word| word.names).copied().collect();
    if !T::VARIANTS.is_empty() {
        names.push("variant");
    }
    names.join(", ")
}

/// The canonical text.
pub(crate) fn show_words<T: Model>(value: &T) -> String {
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
