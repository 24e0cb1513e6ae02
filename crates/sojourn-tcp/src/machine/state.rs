//! What a sender's state machine remembers, grouped by what touches it.

use crate::cc::{CaState, Marked};
use crate::segment::Flags;
use sojourn_units::Time;

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Segments with data or a FIN sent, retransmissions included.
    pub segments_sent: u64,
    /// Retransmissions, probes included.
    pub retransmissions: u64,
    /// Retransmission time-outs.
    pub timeouts: u64,
    /// Tail loss probes (RFC 8985 section 7).
    pub loss_probes: u64,
    /// Probes of a closed window (RFC 9293 section 3.8.6.1).
    pub window_probes: u64,
    /// Times fast recovery was entered.
    pub recoveries: u64,
    /// Reductions taken back because the retransmissions were unnecessary (RFC 4015, 5682).
    pub undone: u64,
    /// Segments that D-SACKs reported as duplicates (RFC 2883).
    pub duplicates: u64,
    /// Acknowledgements with an ECN echo (RFC 3168), or with marks that AccECN counts (RFC 9768).
    pub echoes: u64,
    /// Segments that they acknowledged newly, or whose marks AccECN has counted. Source: Linux `tcpi_delivered_ce`.
    pub delivered_ce: u64,
    /// Reductions of the window because of an ECN echo.
    pub ecn_reductions: u64,
}

/// A segment to be sent, without the receiver half's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) seq: u64,
    pub(crate) len: u16,
    pub(crate) flags: Flags,
    /// It leaves an `Option` of this room for `None`, so that it is returned in two registers.
    is: Is,
}

/// The only value of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Is {
    Here,
}

const _: () = assert!(size_of::<Option<Outgoing>>() == 16);

impl Outgoing {
    #[inline]
    pub(crate) const fn new(seq: u64, len: u16, flags: Flags) -> Self {
        let is = Is::Here;
        Self { seq, len, flags, is }
    }
}

/// What is new in an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, as Linux's FLAG_ bits are"
)]
pub(crate) struct News {
    /// The cumulative acknowledgement moved.
    pub(crate) advanced: bool,
    /// Segments were SACKed.
    pub(crate) sacked: bool,
    /// A segment that was never retransmitted, sent before the time-out, was delivered.
    pub(crate) original_delivered: bool,
    /// Of what was acknowledged, some had been retransmitted.
    pub(crate) retransmitted_acked: bool,
    /// It reports a duplicate (RFC 2883).
    pub(crate) dsack: bool,
    /// That is of the tail loss probe.
    pub(crate) dsack_of_probe: bool,
    /// It carries data or changes the window: not a duplicate in the sense of RFC 5681.
    pub(crate) not_dup: bool,
    /// ECN echo, or marks that AccECN counts.
    pub(crate) ece: bool,
    /// What was marked.
    pub(crate) marked: Marked,
    /// Bytes newly SACKed.
    pub(crate) sacked_bytes: u64,
    /// A retransmission was judged lost.
    pub(crate) lost_retransmission: bool,
    /// Segments newly delivered.
    pub(crate) delivered: u32,
}

impl News {
    /// Whether it is more than plain progress, so that losses and the congestion state must be looked at.
    pub(crate) fn is_unusual(&self) -> bool {
        self.sacked || self.ece || !self.not_dup
    }
}

/// When the first and last of the segments that an acknowledgement newly covers were sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) acked: Option<(Time, Time)>,
    pub(crate) sacked: Option<(Time, Time)>,
}

/// What to send after an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resend {
    /// New data only.
    Nothing,
    /// Lost segments first.
    Lost,
    /// New data first, to tell a false time-out (RFC 5682 step 2b); lost segments only if there is none.
    NewFirst,
}

/// Whether the window limits what is sent (Linux's reading of RFC 7661).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    /// It did in the current round, which ends when `until` is acknowledged.
    pub(super) limited: bool,
    /// The most that was out if it did not.
    pub(super) max_out: u32,
    pub(super) until: u64,
    /// Segments sent since the last time sending stopped.
    pub(super) sent: u32,
    pub(super) last_send: Option<Time>,
}

/// Congestion and what is done about it: read with each acknowledgement, written in recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Episode {
    pub(crate) state: CaState,
    pub(crate) resend: Resend,
    /// F-RTO is deciding whether the time-out was false.
    pub(crate) frto: bool,
    /// The next new segment announces a reduction to the receiver.
    pub(crate) send_cwr: bool,
    /// Largest reordering seen, in segments.
    pub(crate) reordering: u32,
    /// `nxt` when the current state was entered: recovery ends when this is acknowledged.
    pub(crate) high_seq: u64,
    /// Oldest timestamp echoed by the acknowledgement at hand, ms.
    pub(crate) echo_ms: u32,
}

/// Proportional rate reduction (RFC 6937): window before, segments delivered and sent since.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    pub(crate) prior_cwnd: u32,
    pub(crate) delivered: u32,
    pub(crate) out: u32,
}

/// What is needed to take a reduction back when it turns out that nothing was lost (RFC 4015).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Undo {
    /// `una` when the reduction began; `None` if there is nothing to undo.
    pub(crate) marker: Option<u64>,
    /// Retransmissions not yet reported as duplicates (RFC 2883); `None` before the first.
    pub(crate) outstanding: Option<u32>,
    /// When the first retransmission of this episode was sent: an echo of an older timestamp proves it unnecessary.
    pub(crate) first_retransmit: Option<Time>,
    /// Slow-start threshold before the reduction; `None` if an ECN echo caused it.
    pub(crate) prior_ssthresh: Option<crate::cc::Threshold>,
}

impl Undo {
    /// Every retransmission was reported as a duplicate (RFC 3708).
    pub(crate) fn all_duplicates(&self) -> bool {
        self.marker.is_some() && self.outstanding == Some(0)
    }
}

/// What the timer is armed for. There is one at a time, as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerKind {
    /// Time-out (RFC 6298).
    Retransmission,
    /// Tail loss probe (RFC 8985 section 7).
    LossProbe,
    /// Early retransmit (RFC 5827), after its delay; only in the variant of Linux 3.14.
    EarlyRetransmit,
    /// The reordering window ends (RFC 8985 section 6.2).
    Reordering,
    /// A closed window is probed (RFC 9293 section 3.8.6.1).
    WindowProbe,
}

/// The one timer, and how often it has gone off.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timers {
    pub(crate) armed: Option<(TimerKind, Time)>,
    /// Time-outs since the cumulative acknowledgement moved. Source: Linux `icsk_retransmits`.
    pub(crate) timeouts: u32,
    /// Doublings of the time-out since a round trip was measured (RFC 6298 section 5). Source: Linux `icsk_backoff`.
    pub(crate) backoff: u32,
    /// Probes of a closed window since the peer answered last. Source: Linux `icsk_probes_out`.
    pub(crate) probes: u32,
}

impl Timers {
    pub(crate) fn is(&self, kind: TimerKind) -> bool {
        self.armed.is_some_and(|(armed, _)| armed == kind)
    }

    pub(crate) fn arm(&mut self, kind: TimerKind, due: Time) {
        self.armed = Some((kind, due));
    }
}
