//! What came of a capture.

use serde::Serialize;
use sojourn_flusher::FlusherStats;
use sojourn_trace::Skipped;
use std::collections::BTreeMap;

/// Counters at the end; a line of `kind` `summary`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    kind: &'static str,
    /// Frames fed.
    pub frames: u64,
    /// Of these, TCP segments.
    pub segments: u64,
    /// The others, by reason.
    pub skipped: Skipped,
    /// Of these, malformed.
    pub malformed: u64,
    /// Time stamp of the first frame, nanoseconds since 1970.
    pub first_ns: Option<u64>,
    /// And of the last.
    pub last_ns: Option<u64>,
    /// How often the capture's clock was set back.
    pub clock_steps: u64,
    /// Flows seen.
    pub flows: u64,
    /// RTT samples.
    pub samples: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Acknowledgements and RTTs that were not believed.
    pub disbelieved: u64,
    /// Flows forgotten to make room.
    pub evicted: u64,
    /// Flushes proposed.
    pub plans: u64,
    /// Of these, top-ups of an earlier one.
    pub top_ups: u64,
    /// Of these, forced.
    pub forced: u64,
    /// Proposals that the gate let through.
    pub allowed: u64,
    /// Their bytes, IP headers included.
    pub bytes: u64,
    /// Proposals that it refused, by rule.
    pub refused: BTreeMap<&'static str, u64>,
    /// Times that the core withheld a flush.
    pub withheld: u64,
    /// Flushes that the core judged to have helped.
    pub helped: u64,
    /// And not.
    pub failed: u64,
}

impl Summary {
    pub(crate) fn new(
        frames: u64,
        stamps: Option<(u64, u64)>,
        skipped: Skipped,
        clock_steps: u64,
        core: FlusherStats,
        (allowed, bytes, refused): (u64, u64, BTreeMap<&'static str, u64>),
    ) -> Self {
        let (first_ns, last_ns) = stamps.unzip();
        Self {
            kind: "summary",
            frames,
            segments: frames - skipped.total(),
            malformed: skipped.malformed(),
            skipped,
            first_ns,
            last_ns,
            clock_steps,
            flows: core.flows,
            samples: core.samples,
            retransmissions: core.retransmissions,
            disbelieved: core.acks_beyond + core.absurd_rtts,
            evicted: core.evicted,
            plans: core.plans,
            top_ups: core.top_ups,
            forced: core.forced,
            allowed,
            bytes,
            refused,
            withheld: core.withheld,
            helped: core.helped,
            failed: core.failed,
        }
    }
}
