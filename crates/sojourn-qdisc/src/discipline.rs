//! A discipline of any back end, and how a kernel is told to use it.

use crate::cake;
use crate::descriptor::Descriptor;
use crate::footprint::Footprint;
use crate::presets::{self, PresetInfo};
use crate::requests::KernelOptions;
use crate::spec::statements::{root, split, translated};
use crate::{KernelOnly, ParamError, QdiscSpec, SpecError};
use sojourn_units::{Rate, text};
use std::fmt;

/// A discipline as text names it: one that is modelled here, or one with words that only a kernel has.
///
/// ```
/// use sojourn_qdisc::Discipline;
/// let cake = Discipline::parse("cake nat lan", None).unwrap();
/// assert_eq!(cake.to_string(), "cake rtt 1ms nat");
/// assert!(cake.modelled().is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Discipline {
    /// It can be built.
    Modelled(QdiscSpec),
    /// It cannot, for the reason that the error says.
    KernelOnly(KernelOnly, SpecError),
}

text!(Discipline, |text: &str| Discipline::parse(text, None), "qdisc");

impl Discipline {
    /// Reads `text` as [`QdiscSpec::parse`] does, and the words that only a kernel has.
    ///
    /// # Errors
    /// [`SpecError`]: one sentence that names the word, or the parameter, its value and the rule.
    pub fn parse(text: &str, rate: Option<Rate>) -> Result<Self, SpecError> {
        if let Some(text) = translated(text)? {
            return Self::parse(&text, rate);
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let (place, words) = root(&words)?;
        let Some((&kind, words)) = words.split_first() else {
            return Err(SpecError::Empty);
        };
        if let ([], Some(rate)) = (words, rate)
            && let Some(preset) = presets::find(kind)
        {
            return preset.discipline_at(rate);
        }
        match QdiscSpec::parse(text, rate) {
            Err(refusal @ SpecError::WordOfKernel { .. }) => {
                if let Some(statement) = split(text).get(1) {
                    let word = statement.trim().to_owned();
                    return Err(SpecError::Expected {
                        word,
                        expected: "nothing".to_owned(),
                    });
                }
                let mut only = KernelOnly::parse(&cake::TABLE, words)?;
                if let Some(words) = place.framed(only.about().kind, &only.to_string(), words)? {
                    only = KernelOnly::parse(&cake::TABLE, &words.split(' ').collect::<Vec<_>>())?;
                }
                Ok(Self::KernelOnly(only, refusal))
            }
            parsed => parsed.map(Self::Modelled),
        }
    }

    /// The discipline, if it can be built.
    #[must_use]
    pub const fn modelled(&self) -> Option<&QdiscSpec> {
        match self {
            Self::Modelled(spec) => Some(spec),
            Self::KernelOnly(..) => None,
        }
    }

    /// The discipline, to be built.
    ///
    /// # Errors
    /// [`SpecError::WordOfKernel`] for one with words that only a kernel has.
    ///
    /// ```
    /// use sojourn_qdisc::Discipline;
    /// let cake = Discipline::parse("cake nat", None).unwrap();
    /// let refusal = cake.buildable().unwrap_err();
    /// assert_eq!(refusal.to_string(), "cake.nat needs a kernel's connection tracking: use the linux back end");
    /// ```
    pub const fn buildable(&self) -> Result<&QdiscSpec, &SpecError> {
        match self {
            Self::Modelled(spec) => Ok(spec),
            Self::KernelOnly(_, refusal) => Err(refusal),
        }
    }

    /// What is to be known of its kind besides its parameters.
    #[must_use]
    pub const fn about(&self) -> &'static Descriptor {
        match self {
            Self::Modelled(spec) => spec.about(),
            Self::KernelOnly(only, _) => only.about(),
        }
    }

    /// The kind's name, as `tc` calls it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.about().kind
    }

    /// As [`QdiscSpec::footprint`]; nothing for one that only a kernel can have, which holds its packets itself.
    #[must_use]
    pub fn footprint(&self) -> Footprint {
        self.modelled().map_or_else(Footprint::default, QdiscSpec::footprint)
    }

    /// As a kernel runs it: without variant, because the kernel has its own behaviour. The other parameters stay, but
    /// for those that the variant does not have: they get the kernel's defaults.
    #[must_use]
    pub fn for_kernel(mut self) -> Self {
        if let Self::Modelled(spec) = &mut self {
            spec.for_kernel();
        }
        self
    }

    /// What the kernel is told. `pfifo_fast` has no options: its `limit` is to be the device's transmit queue length.
    ///
    /// # Errors
    /// [`ParamError`] for a value that the kernel's interface cannot carry.
    pub fn kernel_options(&self) -> Result<KernelOptions, ParamError> {
        let mut below = Vec::new();
        let options = match self {
            Self::KernelOnly(only, _) => only.options(),
            Self::Modelled(spec) => {
                if let Some(classes) = spec.0.classes() {
                    classes.tell(0, &mut 1, &mut below)?;
                }
                spec.0.kernel()?.into_iter().collect()
            }
        };
        Ok(KernelOptions {
            kind: self.kind().to_owned(),
            options,
            below,
        })
    }
}

impl PresetInfo {
    /// As [`PresetInfo::at`], also with words that only a kernel has.
    ///
    /// # Errors
    /// As of [`PresetInfo::at`].
    pub fn discipline_at(&self, rate: Rate) -> Result<Discipline, SpecError> {
        Discipline::parse(&self.text_at(rate), None)
    }
}

impl fmt::Display for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Modelled(spec) => spec.fmt(f),
            Self::KernelOnly(only, _) => only.fmt(f),
        }
    }
}

/// How a kernel is told to use the discipline that `text` names on a link of this rate. `variant` words say nothing
/// to it.
///
/// # Errors
/// [`SpecError`] for text that names none, or a value that the kernel's interface cannot carry.
///
/// ```
/// use sojourn_qdisc::{OptionValue, kernel_options};
/// let codel = kernel_options("codel target 13ms", None).unwrap();
/// assert_eq!((codel.kind.as_str(), &codel.options["target_us"]), ("codel", &OptionValue::Number(13_000)));
/// ```
pub fn kernel_options(text: &str, rate: Option<Rate>) -> Result<KernelOptions, SpecError> {
    Ok(Discipline::parse(text, rate)?.for_kernel().kernel_options()?)
}

#[cfg(test)]
mod tests;
