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
    let summary = pipeline.summary();
    let mut one = |name: &str, kind: &str, help: &str, value: u64| {
        let _ = writeln!(
            text,
            "# HELP sojourn_flush_{name} {help}\n# TYPE sojourn_flush_{name} {kind}\nsojourn_flush_{name} {value}"
        );
    };
    one("frames_total", "counter", "Frames captured.", summary.frames);
    one("segments_total", "counter", "Of these, TCP segments.", summary.segments);
    one("malformed_total", "counter", "Of these, malformed.", summary.malformed);
    one(
        "dropped_total",
        "counter",
        "Frames dropped before they were captured.",
        outside.dropped,
    );
    one(
        "opened_total",
        "counter",
        "Times that the interface was opened.",
        outside.opened,
    );
    one(
        "clock_steps_total",
        "counter",
        "Times that the clock was set back.",
        summary.clock_steps,
    );
    one("samples_total", "counter", "RTT samples.", summary.samples);
    one(
        "retransmissions_total",
        "counter",
        "Segments sent again.",
        summary.retransmissions,
    );
    one("plans_total", "counter", "Flushes proposed.", summary.plans);
    one(
        "allowed_total",
        "counter",
        "Flushes that the gate let through.",
        summary.allowed,
    );
    one(
        "withheld_total",
        "counter",
        "Flushes that the core withheld.",
        summary.withheld,
    );
    one(
        "sent_packets_total",
        "counter",
        "Flush packets that have left.",
        outside.sent_packets,
    );
    one(
        "sent_bytes_total",
        "counter",
        "Their bytes, IP headers included.",
        outside.sent_bytes,
    );
    one(
        "active",
        "gauge",
        "Whether the gate is set active.",
        outside.active.into(),
    );
    one(
        "killed",
        "gauge",
        "Whether flushing is switched off.",
        outside.killed.into(),
    );
    one(
        "budget_bytes",
        "gauge",
        "Bytes left of this minute's budget.",
        pipeline.gate().budget_left(),
    );
    let flows: Vec<FlowView> = pipeline.flows().collect();
    one("flows", "gauge", "Flows known.", flows.len() as u64);
    refusals(&mut text, &summary);
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
