//! A discipline of any back end, and how a kernel is told to use it.

use crate::fifo::FifoLimit;
use crate::grammar::{KernelOnly, Kind, OptionValue, signed};
use crate::param::LONGEST;
use crate::{CodelParams, CodelVariant, FqCodelParams, FqCodelVariant, ParamError, PfifoFastVariant, PieVariant};
use crate::{QdiscSpec, RedParams, RedVariant, SpecError, TbfParams};
use sojourn_units::{Duration, Rate};
use std::collections::BTreeMap;
use std::fmt;

/// A discipline as text names it: one that is modelled here, or one that only a kernel has.
///
/// ```
/// use sojourn_qdisc::Discipline;
/// let cake = Discipline::parse("cake wash lan", None).unwrap();
/// assert_eq!(cake.to_string(), "cake rtt 1ms wash");
/// assert!(cake.modelled().is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Discipline {
    /// It can be built.
    Modelled(QdiscSpec),
    /// It cannot.
    KernelOnly(KernelOnly),
}

/// What a netlink encoder needs to create a discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelOptions {
    /// The kind's name.
    pub kind: &'static str,
    /// Options by name. A name ends in the unit of its value: `_us`, `_ns`, `_s`, `_bytes`, `_bps` (bit/s); without, it is a
    /// count, a flag or a word. Of a kind that is modelled here every option is there; else those that were given.
    pub options: BTreeMap<&'static str, OptionValue>,
}

impl Discipline {
    /// Reads `text` as [`QdiscSpec::parse`] does, and the kinds that only a kernel has.
    ///
    /// # Errors
    /// [`SpecError`]: one sentence that names the word, or the parameter, its value and the rule.
    pub fn parse(text: &str, rate: Option<Rate>) -> Result<Self, SpecError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.split_first() {
            Some((&kind, words)) if KernelOnly::has(kind) => Ok(Self::KernelOnly(KernelOnly::parse(kind, words)?)),
            _ => QdiscSpec::parse(text, rate).map(Self::Modelled),
        }
    }

    /// The discipline, if it can be built.
    #[must_use]
    pub const fn modelled(&self) -> Option<&QdiscSpec> {
        match self {
            Self::Modelled(spec) => Some(spec),
            Self::KernelOnly(_) => None,
        }
    }

    /// The kind's name, as `tc` calls it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Modelled(spec) => spec.kind(),
            Self::KernelOnly(only) => only.kind(),
        }
    }

    /// As a kernel runs it: without variant, because the kernel has its own behaviour. The other parameters stay, but for
    /// those that the variant does not have: they get the kernel's defaults.
    #[must_use]
    pub fn for_kernel(self) -> Self {
        match self {
            Self::Modelled(QdiscSpec(mut kind)) => {
                match &mut kind {
                    Kind::Fifo(_) | Kind::Sfq(_) | Kind::Tbf(_) | Kind::Netem(_) => {}
                    Kind::PfifoFast(p) => p.variant = PfifoFastVariant::Linux,
                    Kind::Red(p) => p.variant = RedVariant::Linux,
                    Kind::Pie(p) => {
                        if p.variant == PieVariant::Linux314 {
                            p.dq_rate_estimator = false;
                        }
                        p.variant = PieVariant::Linux;
                    }
                    Kind::Codel(c) => c.params.variant = CodelVariant::Linux,
                    Kind::FqCodel(p) => {
                        if p.variant != FqCodelVariant::Linux {
                            p.memory_limit = FqCodelParams::LINUX.memory_limit;
                            p.drop_batch = FqCodelParams::LINUX.drop_batch;
                        }
                        if p.quantum == 0 {
                            p.quantum = FqCodelParams::LINUX.quantum;
                        }
                        p.variant = FqCodelVariant::Linux;
                        p.codel.variant = CodelVariant::Linux;
                    }
                }
                Self::Modelled(QdiscSpec(kind))
            }
            only @ Self::KernelOnly(_) => only,
        }
    }

    /// What the kernel is told. `pfifo_fast` has no options: its `limit` is to be the device's transmit queue length.
    ///
    /// # Errors
    /// [`ParamError`] for a value that the kernel's interface cannot carry.
    pub fn kernel_options(&self) -> Result<KernelOptions, ParamError> {
        let options = match self {
            Self::KernelOnly(only) => only.options(),
            Self::Modelled(spec) => modelled(&spec.0)?,
        };
        Ok(KernelOptions {
            kind: self.kind(),
            options: options.into_iter().collect(),
        })
    }
}

impl fmt::Display for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Modelled(spec) => spec.fmt(f),
            Self::KernelOnly(only) => only.fmt(f),
        }
    }
}

/// How a kernel is told to use the discipline that `text` names on a link of this rate. `variant` words say nothing to it.
///
/// # Errors
/// [`SpecError`] for text that names none, or a value that the kernel's interface cannot carry.
///
/// ```
/// use sojourn_qdisc::{OptionValue, kernel_options};
/// let codel = kernel_options("codel target 13ms", None).unwrap();
/// assert_eq!((codel.kind, &codel.options["target_us"]), ("codel", &OptionValue::Number(13_000)));
/// ```
pub fn kernel_options(text: &str, rate: Option<Rate>) -> Result<KernelOptions, SpecError> {
    Ok(Discipline::parse(text, rate)?.for_kernel().kernel_options()?)
}

type Named = (&'static str, OptionValue);

fn number(n: impl Into<i64>) -> OptionValue {
    OptionValue::Number(n.into())
}

fn modelled(kind: &Kind) -> Result<Vec<Named>, ParamError> {
    let flag = OptionValue::Flag;
    let bytes = |b: sojourn_units::Bytes| OptionValue::Number(signed(b.get()));
    Ok(match kind {
        Kind::Fifo(FifoLimit::Packets(n)) => vec![("limit", number(*n))],
        Kind::Fifo(FifoLimit::Bytes(n)) => vec![("limit_bytes", bytes(*n))],
        Kind::PfifoFast(p) => vec![("limit", number(p.limit))],
        Kind::Red(p) => red(p)?,
        Kind::Pie(p) => vec![
            ("limit", number(p.limit)),
            ("target_us", micros("pie", "target", p.target)?),
            ("tupdate_us", micros("pie", "tupdate", p.tupdate)?),
            ("alpha", number(p.alpha)),
            ("beta", number(p.beta)),
            ("ecn", flag(p.ecn)),
            ("bytemode", flag(p.bytemode)),
            ("dq_rate_estimator", flag(p.dq_rate_estimator)),
        ],
        Kind::Codel(c) => {
            let mut all = codel("codel", &c.params)?;
            all.push(("limit", number(c.limit)));
            all
        }
        Kind::Sfq(s) => vec![
            ("limit", number(s.limit)),
            ("depth", number(s.depth)),
            ("flows", number(s.flows)),
            ("divisor", number(s.divisor)),
            ("quantum_bytes", number(s.quantum)),
            ("perturb_s", number(s.perturb)),
            ("headdrop", flag(s.headdrop)),
        ],
        Kind::FqCodel(p) => {
            let mut all = codel("fq_codel", &p.codel)?;
            all.extend([
                ("limit", number(p.limit)),
                ("flows", number(p.flows)),
                ("quantum_bytes", number(p.quantum)),
                ("drop_batch", number(p.drop_batch)),
            ]);
            all.extend(p.memory_limit.map(|m| ("memory_limit_bytes", bytes(m))));
            all
        }
        Kind::Tbf(TbfParams { rate, burst, limit }) => vec![
            ("rate_bps", OptionValue::Number(signed(rate.as_bps()))),
            ("burst_bytes", bytes(*burst)),
            ("limit_bytes", bytes(*limit)),
        ],
        Kind::Netem(p) => vec![
            ("limit", number(p.limit)),
            ("delay_ns", OptionValue::Number(signed(p.delay.as_nanos()))),
        ],
    })
}

fn codel(kind: &'static str, p: &CodelParams) -> Result<Vec<Named>, ParamError> {
    let mut all = vec![
        ("target_us", micros(kind, "target", p.target)?),
        ("interval_us", micros(kind, "interval", p.interval)?),
        ("ecn", OptionValue::Flag(p.ecn)),
    ];
    if let Some(threshold) = p.ce_threshold {
        all.push(("ce_threshold_us", micros(kind, "ce_threshold", threshold)?));
    }
    Ok(all)
}

/// A time in the kernel's whole microseconds.
fn micros(kind: &str, field: &str, time: Duration) -> Result<OptionValue, ParamError> {
    let ns = time.as_nanos();
    if !ns.is_multiple_of(1000) || time > LONGEST {
        let rule = "a whole number of microseconds, 32 bits of them, as the kernel takes it";
        return Err(ParamError::new(kind, field, time.to_string(), rule));
    }
    Ok(OptionValue::Number(signed(ns / 1000)))
}

/// Source: tc-red(8); Linux `red.h`; the messages that iproute2 6.1 sends. `stab` is the table of the idle decay, 256 bytes
/// in hexadecimal; `max_p` is the probability in units of 2^-32; `plog` and `wlog` are base-2 logarithms.
fn red(p: &RedParams) -> Result<Vec<Named>, ParamError> {
    // A parameter set that was checked has a weight.
    let wlog = p.ewma_log().unwrap_or(31);
    let table = p.idle_table(wlog);
    for (field, threshold) in [("min", p.min), ("max", p.max)] {
        // Source: `red_check_params`: a threshold is kept shifted by the weight, in 32 bits.
        if threshold.checked_ilog2().unwrap_or(0) + 1 + u32::from(wlog) >= 32 {
            let rule = format!(
                "less than 2^{} with this burst, as the kernel takes it",
                31 - u32::from(wlog)
            );
            return Err(ParamError::new("red", field, threshold.to_string(), rule));
        }
    }
    let stab = table
        .shifts
        .iter()
        .fold(String::new(), |stab, shift| format!("{stab}{shift:02x}"));
    let flag = OptionValue::Flag;
    Ok(vec![
        ("limit_bytes", OptionValue::Number(signed(p.limit.get()))),
        ("min_bytes", number(p.min)),
        ("max_bytes", number(p.max)),
        ("wlog", number(wlog)),
        ("plog", number(p.probability_log())),
        ("scell_log", number(table.cell_log)),
        ("max_p", OptionValue::Number((p.probability * 4_294_967_296.0) as i64)),
        ("ecn", flag(p.ecn)),
        ("harddrop", flag(p.harddrop)),
        ("nodrop", flag(p.nodrop)),
        ("adaptive", flag(p.adaptive)),
        ("stab", OptionValue::Text(stab)),
    ])
}

#[cfg(test)]
mod tests;
