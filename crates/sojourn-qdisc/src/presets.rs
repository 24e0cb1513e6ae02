//! Presets: parameter sets published in a paper, by name and link rate.
//!
//! `gbw:` is Table 1 of seed 000 with the variants of its kernel, 3.14. The table has columns for
//! 1, 10 and 100 Mbit/s; a link of another rate gets what the table's own rules give:
//!
//! - FIFO, SFQ and `fq_nocodel` hold 127 packets below 100 Mbit/s, 1000 from there on;
//! - ARED has min = half the target delay of 20 ms times the rate, max = 3 min; where that is less than one frame (the
//!   1 Mbit/s column), min is one frame and max two;
//! - `CoDel`'s target is 5 ms, but at least the time of one full frame, rounded up to a millisecond (13 ms at 1 Mbit/s).
//!
//! `rural:` is seed 001: every discipline holds 25 packets, whatever the link's rate. `CoDel` and FQ-CoDel have the paper's
//! own parameters, target 65 ms and interval 300 ms, or with `_default` those of the RFC, 5 ms and 100 ms; with `_ns2` they
//! behave as in the paper's simulations (Figures 3 to 6), else as the current Linux kernel.
//!
//! Deviation: the kernel of seed 001's emulation was 3.14; the names without `_ns2` have today's behaviour. That paper does
//! not give the ECN switch either: it is off.
//!
//! Deviation: the paper of Table 1 does not give ARED's limit, avpkt and burst. Taken are limit = max(400000, 4 max) bytes,
//! avpkt 1000 as tc-red(8) advises, and `tc`'s own burst (2 min + max) / (3 avpkt), the values of the reference
//! measurements on the real kernel. Nor does it give the ECN switch: it is off everywhere, as in the paper's traffic.

use crate::fifo::MTU;
use crate::{QdiscSpec, RedParams, SpecError};
use sojourn_units::{Duration, Rate};

/// Every preset's name.
pub(crate) const NAMES: &[&str] = &[
    "gbw:pfifo_fast",
    "gbw:ared",
    "gbw:pie",
    "gbw:codel",
    "gbw:sfq",
    "gbw:fq_codel",
    "gbw:fq_nocodel",
    "rural:droptail",
    "rural:codel",
    "rural:fq_codel",
    "rural:codel_default",
    "rural:fq_codel_default",
    "rural:sfq",
    "rural:codel_ns2",
    "rural:fq_codel_ns2",
    "rural:codel_default_ns2",
    "rural:fq_codel_default_ns2",
];

/// A published parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresetInfo {
    /// Set and name, such as `gbw:codel`.
    pub name: &'static str,
    /// One line: what it is and where it was published.
    pub summary: &'static str,
}

impl PresetInfo {
    /// What it stands for on a link of this rate.
    ///
    /// # Errors
    /// [`SpecError`] where the rules of the table lead to a value that the kind cannot take, at rates far beyond its
    /// columns.
    pub fn at(&self, rate: Rate) -> Result<QdiscSpec, SpecError> {
        QdiscSpec::parse(&text(self.name, rate), None)
    }
}

/// Every preset.
#[must_use]
pub fn presets() -> Vec<PresetInfo> {
    NAMES
        .iter()
        .map(|&name| PresetInfo {
            name,
            summary: summary(name),
        })
        .collect()
}

/// Table 1 of seed 000 at a link rate: the seven disciplines by the paper's names, with the variants of its kernel.
///
/// # Errors
/// As [`PresetInfo::at`]; never at 1, 10 and 100 Mbit/s.
pub fn good_bad_wifi_table_1(rate: Rate) -> Result<Vec<(&'static str, QdiscSpec)>, SpecError> {
    let table = presets()
        .into_iter()
        .filter_map(|preset| Some((preset.name.strip_prefix("gbw:")?, preset)));
    table.map(|(name, preset)| Ok((name, preset.at(rate)?))).collect()
}

/// The preset of this name.
pub(crate) fn find(name: &str) -> Option<PresetInfo> {
    presets().into_iter().find(|preset| preset.name == name)
}

fn summary(name: &str) -> &'static str {
    match name {
        "gbw:pfifo_fast" => "The Good, the Bad and the WiFi, Table 1: the FIFO",
        "gbw:ared" => "The Good, the Bad and the WiFi, Table 1: adaptive RED",
        "gbw:pie" => "The Good, the Bad and the WiFi, Table 1: PIE of Linux 3.14",
        "gbw:codel" => "The Good, the Bad and the WiFi, Table 1: CoDel of Linux 3.14",
        "gbw:sfq" => "The Good, the Bad and the WiFi, Table 1: SFQ",
        "gbw:fq_codel" => "The Good, the Bad and the WiFi, Table 1: FQ-CoDel of Linux 3.14",
        "gbw:fq_nocodel" => "The Good, the Bad and the WiFi, Table 1: FQ-CoDel without CoDel",
        "rural:droptail" => "Tackling Bufferbloat in Capacity-limited Networks: the FIFO of 25 packets",
        "rural:codel" => "Tackling Bufferbloat in Capacity-limited Networks: CoDel, target 65 ms, interval 300 ms",
        "rural:fq_codel" => {
            "Tackling Bufferbloat in Capacity-limited Networks: FQ-CoDel, target 65 ms, interval 300 ms"
        }
        "rural:codel_default" => {
            "Tackling Bufferbloat in Capacity-limited Networks: CoDel, target 5 ms, interval 100 ms"
        }
        "rural:fq_codel_default" => {
            "Tackling Bufferbloat in Capacity-limited Networks: FQ-CoDel, target 5 ms, interval 100 ms"
        }
        "rural:sfq" => "Tackling Bufferbloat in Capacity-limited Networks: SFQ of 25 packets",
        "rural:codel_ns2" => {
            "Tackling Bufferbloat in Capacity-limited Networks: CoDel of ns-2, target 65 ms, interval 300 ms"
        }
        "rural:fq_codel_ns2" => {
            "Tackling Bufferbloat in Capacity-limited Networks: sfqCoDel of ns-2, target 65 ms, interval 300 ms"
        }
        "rural:codel_default_ns2" => {
            "Tackling Bufferbloat in Capacity-limited Networks: CoDel of ns-2, target 5 ms, interval 100 ms"
        }
        _ => "Tackling Bufferbloat in Capacity-limited Networks: sfqCoDel of ns-2, target 5 ms, interval 100 ms",
    }
}

/// The rules of the module's documentation, as a text for the grammar.
fn text(name: &str, rate: Rate) -> String {
    let fifo = if rate.as_bps() >= 100_000_000 { 1000 } else { 127 };
    let target = codel_target(rate);
    match name {
        "gbw:pfifo_fast" => format!("pfifo_fast limit {fifo} variant linux-3.14"),
        "gbw:ared" => ared(rate),
        "gbw:pie" => "pie limit 1000 target 20ms tupdate 30ms noecn variant linux-3.14".to_owned(),
        "gbw:codel" => format!("codel limit 1000 target {target} interval 100ms noecn variant linux-3.14"),
        "gbw:sfq" => format!("sfq limit {fifo}"),
        "gbw:fq_codel" => format!("fq_codel limit 10240 target {target} interval 100ms noecn variant linux-3.14"),
        "gbw:fq_nocodel" => {
            format!("fq_codel limit {fifo} target 100s interval 100s noecn variant linux-3.14")
        }
        "rural:droptail" => "pfifo limit 25".to_owned(),
        "rural:sfq" => "sfq limit 25".to_owned(),
        _ => rural(name),
    }
}

/// Source: seed 001 section III.A (25 packets), IV.A and IV.D (the two parameter sets). Names are
/// `rural:KIND[_default][_ns2]`.
fn rural(name: &str) -> String {
    let name = name.trim_start_matches("rural:");
    let (name, variant) = name
        .strip_suffix("_ns2")
        .map_or((name, ""), |name| (name, " variant ns2"));
    let (kind, times) = name
        .strip_suffix("_default")
        .map_or((name, "target 65ms interval 300ms"), |kind| {
            (kind, "target 5ms interval 100ms")
        });
    format!("{kind} limit 25 {times} noecn{variant}")
}

/// Source: seed 000 section 4.4 and Table 1: 5 ms, at least one frame's time.
fn codel_target(rate: Rate) -> Duration {
    let frame = rate.time_to_send(MTU);
    Duration::from_millis(frame.as_nanos().div_ceil(1_000_000).max(5))
}

/// Source: seed 000 section 4.2 and Table 1: half of 20 ms times the rate, and three times that.
fn ared(rate: Rate) -> String {
    let min = rate.bytes_in(Duration::from_millis(10)).get();
    let frame = MTU.get();
    let (min, max) = if min < frame {
        (frame, 2 * frame)
    } else {
        (min, 3 * min)
    };
    let avpkt = 1000;
    let burst = RedParams::default_burst(min as u32, max as u32, avpkt);
    let limit = (4 * max).max(400_000);
    format!(
        "red limit {limit} min {min} max {max} avpkt {avpkt} burst {burst} bandwidth {rate} adaptive variant linux-3.14"
    )
}

#[cfg(test)]
mod tests;
