//! The text of a discipline: what one would type after `tc qdisc add dev X root`, and presets.
//!
//! Each kind has one table of words ([`words::Word`]); reading, writing and listing all come from it.

mod catalogue;
mod codel_words;
mod fifo_words;
mod kernel_tables;
mod kernel_words;
mod netem_words;
mod pie_words;
mod red_words;
mod sfq_words;
mod tbf_words;
#[cfg(test)]
mod tests;
mod words;

pub use catalogue::{KindInfo, ParameterInfo, kinds};
pub(crate) use kernel_words::signed;
pub use kernel_words::{KernelOnly, OptionValue};
pub use words::SpecError;

use crate::{
    AnyQdisc, FifoLimit, FqCodelParams, NetemParams, Packet, PfifoFastParams, PieParams, RedParams, SfqParams,
    TbfParams, presets,
};
use codel_words::CodelSpec;
use sojourn_units::Rate;
use std::fmt;
use words::{parse_words, show_words};

/// A discipline and all its parameters, valid by construction.
///
/// [`fmt::Display`] gives the canonical text, every parameter written out; parsing that gives the same again.
///
/// ```
/// use sojourn_qdisc::QdiscSpec;
/// let spec = QdiscSpec::parse("codel target 13ms noecn", None).unwrap();
/// assert_eq!(spec.to_string(), "codel limit 1000 target 13ms interval 100ms noecn");
/// let error = QdiscSpec::parse("codel target 0ms", None).unwrap_err();
/// assert_eq!(error.to_string(), "codel.target is 0ns, but must be > 0");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct QdiscSpec(pub(crate) Kind);

/// Every kind's name.
pub(crate) const KINDS: &[&str] = &[
    "pfifo",
    "bfifo",
    "pfifo_fast",
    "red",
    "pie",
    "codel",
    "sfq",
    "fq_codel",
    "tbf",
    "netem",
];

/// The kinds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Fifo(FifoLimit),
    PfifoFast(PfifoFastParams),
    Red(RedParams),
    Pie(PieParams),
    Codel(CodelSpec),
    Sfq(SfqParams),
    FqCodel(FqCodelParams),
    Tbf(TbfParams),
    Netem(NetemParams),
}

impl QdiscSpec {
    /// Reads `text`: a kind and its words as for `tc`, or a preset, which needs the link's `rate`.
    ///
    /// # Errors
    /// [`SpecError`]: one sentence that names the word, or the parameter, its value and the rule.
    pub fn parse(text: &str, rate: Option<Rate>) -> Result<Self, SpecError> {
        let all: Vec<&str> = text.split_whitespace().collect();
        let Some((&kind, words)) = all.split_first() else {
            return Err(SpecError::Empty);
        };
        if let Some(preset) = presets::find(kind) {
            if let Some(&word) = words.first() {
                return Err(SpecError::PresetWithWords {
                    word: word.to_owned(),
                    preset: kind.to_owned(),
                });
            }
            let rate = rate.ok_or_else(|| SpecError::NeedsRate {
                preset: kind.to_owned(),
            })?;
            return preset.at(rate);
        }
        Ok(Self(match kind {
            "pfifo" => Kind::Fifo(parse_words::<fifo_words::Pfifo>(words)?.0),
            "bfifo" => Kind::Fifo(parse_words::<fifo_words::Bfifo>(words)?.0),
            "pfifo_fast" => Kind::PfifoFast(parse_words(words)?),
            "red" => Kind::Red(parse_words::<red_words::RedWords>(words)?.params()?),
            "pie" => Kind::Pie(parse_words(words)?),
            "sfq" => Kind::Sfq(parse_words(words)?),
            "codel" => Kind::Codel(parse_words(words)?),
            "fq_codel" => Kind::FqCodel(parse_words(words)?),
            "tbf" => Kind::Tbf(parse_words::<tbf_words::TbfWords>(words)?.params()?),
            "netem" => Kind::Netem(parse_words(words)?),
            _ if KernelOnly::has(kind) => return Err(SpecError::KernelOnly { kind: kind.to_owned() }),
            _ => return Err(SpecError::UnknownKind { kind: kind.to_owned() }),
        }))
    }

    /// The kind's name, as `tc` calls it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match &self.0 {
            Kind::Fifo(limit) => limit.kind(),
            Kind::PfifoFast(_) => "pfifo_fast",
            Kind::Red(_) => "red",
            Kind::Pie(_) => "pie",
            Kind::Sfq(_) => "sfq",
            Kind::Codel(_) => "codel",
            Kind::FqCodel(_) => "fq_codel",
            Kind::Tbf(_) => "tbf",
            Kind::Netem(_) => "netem",
        }
    }

    /// Makes the discipline, empty. A discipline that draws random numbers draws them from the stream of `seed`.
    #[must_use]
    pub fn build<P: Packet>(&self, seed: u64) -> AnyQdisc<P> {
        AnyQdisc::build(&self.0, seed)
    }
}

impl fmt::Display for QdiscSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match &self.0 {
            Kind::Fifo(limit @ FifoLimit::Packets(_)) => show_words(&fifo_words::Pfifo(*limit)),
            Kind::Fifo(limit @ FifoLimit::Bytes(_)) => show_words(&fifo_words::Bfifo(*limit)),
            Kind::PfifoFast(params) => show_words(params),
            Kind::Red(params) => show_words(&red_words::RedWords::from(*params)),
            Kind::Pie(params) => show_words(params),
            Kind::Sfq(params) => show_words(params),
            Kind::Codel(spec) => show_words(spec),
            Kind::FqCodel(params) => show_words(params),
            Kind::Tbf(params) => show_words(&tbf_words::TbfWords::from(*params)),
            Kind::Netem(params) => show_words(params),
        })
    }
}
