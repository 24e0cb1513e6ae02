//! Presets: parameter sets published in a paper or a program, by name and link rate.
//!
//! `gbw:` is Table 1 of seed 000 with the variants of its kernel, 3.14. The table has columns for
//! 1, 10 and 100 Mbit/s; a link of another rate gets what the table's own rules give:
//!
//! - FIFO, SFQ and `fq_nocodel` hold 127 packets below 100 Mbit/s, 1000 from there on;
//! - ARED has min = half the target delay of 20 ms times the rate, max = 3 min; where that is less than one frame
//!   (the 1 Mbit/s column), min is one frame and max two;
//! - `CoDel`'s target is 5 ms, but at least the time of one full frame, rounded up to a millisecond (13 ms at 1
//!   Mbit/s).
//!
//! `rural:` is seed 001: every discipline holds 25 packets, whatever the link's rate. `CoDel` and FQ-CoDel have the
//! paper's own parameters, target 65 ms and interval 300 ms, or with `_default` those of the RFC, 5 ms and 100 ms;
//! with `_ns2` they behave as in the paper's simulations (Figures 3 to 6), else as the current Linux kernel.
//!
//! `sqm:` is in [`sqm`].
//!
//! Deviation: the kernel of seed 001's emulation was 3.14; the names without `_ns2` have today's behaviour. That
//! paper does not give the ECN switch either: it is off.
//!
//! Deviation: the paper of Table 1 does not give ARED's limit, avpkt and burst. Taken are limit = max(400000, 4 max)
//! bytes, avpkt 1000 as tc-red(8) advises (an example of its author's batch files has 1514: docs/claims.md has what
//! that changes), and `tc`'s own burst (2 min + max) / (3 avpkt), the values of the reference measurements on the
//! real kernel. Nor does it give the ECN switch: it is off everywhere, as in the paper's traffic.

mod sqm;

use crate::RedParams;
use crate::fifo::MTU;
use sojourn_units::{Duration, Rate};

/// Name, summary, and text for the grammar, in which words in braces stand for the module's rules.
///
/// Source: seed 000 Table 1; seed 001 section III.A (25 packets), IV.A and IV.D (the two parameter sets).
///
/// Deviation: Table 1 prints the 100 s of `fq_nocodel` in the row of the interval, section 4.7 says target; both are set.
#[rustfmt::skip]
const TABLE: &[(&str, &str, &str)] = &[
    ("gbw:pfifo_fast", "{gbw}: the FIFO", "pfifo_fast limit {fifo} variant linux-3.14"),
    ("gbw:ared", "{gbw}: adaptive RED", "{ared}"),
    ("gbw:pie", "{gbw}: PIE of Linux 3.14", "pie limit 1000 target 20ms tupdate 30ms noecn variant linux-3.14"),
    ("gbw:codel", "{gbw}: CoDel of Linux 3.14", "codel limit 1000 {codel} noecn variant linux-3.14"),
    ("gbw:sfq", "{gbw}: SFQ", "sfq limit {fifo}"),
    ("gbw:fq_codel", "{gbw}: FQ-CoDel of Linux 3.14", "fq_codel limit 10240 {codel} noecn variant linux-3.14"),
    ("gbw:fq_nocodel", "{gbw}: FQ-CoDel without CoDel", "fq_codel limit {fifo} target 100s interval 100s noecn variant linux-3.14"),
    ("rural:droptail", "{rural}: the FIFO of 25 packets", "pfifo limit 25"),
    ("rural:codel", "{rural}: CoDel, {65}", "codel limit 25 {tuned} noecn"),
    ("rural:fq_codel", "{rural}: FQ-CoDel, {65}", "fq_codel limit 25 {tuned} noecn"),
    ("rural:codel_default", "{rural}: CoDel, {5}", "codel limit 25 {rfc} noecn"),
    ("rural:fq_codel_default", "{rural}: FQ-CoDel, {5}", "fq_codel limit 25 {rfc} noecn"),
    ("rural:sfq", "{rural}: SFQ of 25 packets", "sfq limit 25"),
    ("rural:codel_ns2", "{rural}: CoDel of ns-2, {65}", "codel limit 25 {tuned} noecn variant ns2"),
    ("rural:fq_codel_ns2", "{rural}: sfqCoDel of ns-2, {65}", "fq_codel limit 25 {tuned} noecn variant ns2"),
    ("rural:codel_default_ns2", "{rural}: CoDel of ns-2, {5}", "codel limit 25 {rfc} noecn variant ns2"),
    ("rural:fq_codel_default_ns2", "{rural}: sfqCoDel of ns-2, {5}", "fq_codel limit 25 {rfc} noecn variant ns2"),
    ("sqm:simple", "{sqm}: three classes of htb over fq_codel", "{simple}"),
    ("sqm:simplest", "{sqm}: one class of htb over fq_codel", "{simplest}"),
    ("sqm:piece_of_cake", "{sqm}: cake without classes", "{piece_of_cake}"),
    ("sqm:layer_cake", "{sqm}: cake with three classes", "{layer_cake}"),
];
/// A published parameter set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetInfo {
    /// Set and name, such as `gbw:codel`.
    pub name: &'static str,
    /// One line: what it is and where it was published.
    pub summary: String,
    text: &'static str,
}

/// Every preset.
#[must_use]
pub fn presets() -> Vec<PresetInfo> {
    TABLE.iter().map(preset).collect()
}

/// The preset of a row.
fn preset(&(name, summary, text): &(&'static str, &'static str, &'static str)) -> PresetInfo {
    let words = [
        ("gbw", "The Good, the Bad and the WiFi, Table 1"),
        ("rural", "Tackling Bufferbloat in Capacity-limited Networks"),
        ("sqm", "sqm-scripts, as OpenWrt has them"),
        ("65", "target 65 ms, interval 300 ms"),
        ("5", "target 5 ms, interval 100 ms"),
    ];
    PresetInfo {
        name,
        summary: filled(summary, &words),
        text,
    }
}

/// Every preset's name.
pub(crate) fn names() -> Vec<&'static str> {
    TABLE.iter().map(|row| row.0).collect()
}

/// The preset of this name.
pub(crate) fn find(name: &str) -> Option<PresetInfo> {
    // Most texts are no preset's, so the rows are compared before anything is made of one.
    TABLE.iter().find(|row| row.0 == name).map(preset)
}

/// `text` with what words in braces stand for.
fn filled(text: &str, words: &[(&str, &str)]) -> String {
    let replaced = |text: String, &(word, with): &(&str, &str)| text.replace(&format!("{{{word}}}"), with);
    words.iter().fold(text.to_owned(), replaced)
}

impl PresetInfo {
    /// By the rules of the module's documentation, a text for the grammar.
    pub(crate) fn text_at(&self, rate: Rate) -> String {
        let fifo = if rate.as_bps() >= 100_000_000 { "1000" } else { "127" };
        filled(
            self.text,
            &[
                ("fifo", fifo),
                ("ared", &ared(rate)),
                ("codel", &format!("target {} interval 100ms", codel_target(rate))),
                ("tuned", "target 65ms interval 300ms"),
                ("rfc", "target 5ms interval 100ms"),
                ("simple", &sqm::simple(rate)),
                ("simplest", &sqm::simplest(rate)),
                ("piece_of_cake", &sqm::cake(rate, "besteffort")),
                ("layer_cake", &sqm::cake(rate, "diffserv3")),
            ],
        )
    }
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
