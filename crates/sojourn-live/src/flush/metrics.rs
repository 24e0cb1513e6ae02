//! Metrics in Prometheus's text format, on a loopback address.
//!
//! Source: "Exposition formats" of Prometheus's documentation, text format 0.0.4.

use super::Summary;
use super::pipeline::Pipeline;
use sojourn_flusher::FlowView;
use sojourn_units::Duration;
use std::fmt::Write as _;

mod board;

pub use board::Board;

/// Flows shown one by one; with more, only the totals.
const FLOWS: usize = 64;

/// Numbers of the daemon that the pipeline does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Whether the gate is set active.
    pub active: bool,
    /// Whether flushing was switched off.
    pub killed: bool,
    /// Datagrams that have left.
    pub sent_packets: u64,
    /// Their bytes, IP headers included.
    pub sent_bytes: u64,
    /// Frames that the kernel dropped because they were not fetched in time.
    pub dropped: u64,
    /// Times that the interface was opened.
    pub opened: u64,
}

/// The text of one scrape.
#[must_use]
pub fn render(pipeline: &Pipeline, outside: Outside) -> String {
    let mut text = String::new();
    let (seen, own) = (pipeline.summary(), outside);
    let flows: Vec<FlowView> = pipeline.flows().collect();
    let left = pipeline.gate().budget_left();
    for (name, help, value) in [
        ("frames_total", "Frames captured.", seen.frames),
        ("segments_total", "Of these, TCP segments.", seen.segments),
        ("malformed_total", "Of these, malformed.", seen.malformed),
        (
            "dropped_total",
            "Frames dropped before they were captured.",
            own.dropped,
        ),
        ("opened_total", "Times that the interface was opened.", own.opened),
        (
            "clock_steps_total",
            "Times that the clock was set back.",
            seen.clock_steps,
        ),
        ("samples_total", "RTT samples.", seen.samples),
        ("retransmissions_total", "Segments sent again.", seen.retransmissions),
        ("plans_total", "Flushes proposed.", seen.plans),
        ("allowed_total", "Flushes that the gate let through.", seen.allowed),
        ("withheld_total", "Flushes that the core withheld.", seen.withheld),
        ("sent_packets_total", "Flush packets that have left.", own.sent_packets),
        ("sent_bytes_total", "Their bytes, IP headers included.", own.sent_bytes),
        ("active", "Whether the gate is set active.", own.active.into()),
        ("killed", "Whether flushing is switched off.", own.killed.into()),
        ("budget_bytes", "Bytes left of this minute's budget.", left),
        ("flows", "Flows known.", flows.len() as u64),
    ] {
        let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
        let _ = writeln!(
            text,
            "# HELP sojourn_flush_{name} {help}\n# TYPE sojourn_flush_{name} {kind}\nsojourn_flush_{name} {value}"
        );
    }
    refusals(&mut text, &seen);
    if flows.len() <= FLOWS {
        each_flow(&mut text, &flows);
    }
    text
}

fn refusals(text: &mut String, summary: &Summary) {
    text.push_str(
        "# HELP sojourn_flush_refused_total Flushes refused, by rule.\n# TYPE sojourn_flush_refused_total counter\n",
    );
    for (rule, count) in &summary.refused {
        let _ = writeln!(text, "sojourn_flush_refused_total{{rule=\"{rule}\"}} {count}");
    }
}

fn each_flow(text: &mut String, flows: &[FlowView]) {
    let mut gauge = |name: &str, help: &str, value: fn(&FlowView) -> Option<f64>| {
        let _ = writeln!(
            text,
            "# HELP sojourn_flush_flow_{name} {help}\n# TYPE sojourn_flush_flow_{name} gauge"
        );
        for flow in flows {
            if let Some(value) = value(flow) {
                // Addresses have no character that would need an escape.
                let (src, dst) = (flow.key.src, flow.key.dst);
                let _ = writeln!(text, "sojourn_flush_flow_{name}{{src=\"{src}\",dst=\"{dst}\"}} {value}");
            }
        }
    };
    gauge("rtt_seconds", "Smoothed RTT.", |f| f.rtt.map(Duration::as_secs_f64));
    gauge("base_rtt_seconds", "Base RTT.", |f| f.base.map(Duration::as_secs_f64));
    gauge("throughput_bits_per_second", "Throughput.", |f| {
        f.throughput.map(|r| r.as_bps() as f64)
    });
}
