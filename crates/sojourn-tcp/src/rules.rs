//! The rules of TCP that differ between versions of Linux: one table, and a row for each version.

use crate::small_queue::Limit;
use crate::variant::{Heads, Variant};
use sojourn_units::Duration;
use sojourn_units::ticks::Ticks;

/// The longest that an acknowledgement is delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LongestDelay {
    /// So much.
    Is(Ticks),
    /// So much, but a tick less than the least time-out, so that the peer's need not go off.
    BelowTimeout(Ticks),
}

/// The rules of one version of Linux.
///
/// What only loss recovery asks for stands with it ([`crate::machine::LossRecovery`]): it is known when that is compiled.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct Rules {
    /// Losses are found by forward acknowledgements, not by time (RACK).
    pub(crate) fack: bool,
    /// What a kernel without wireless and tunnels reserves for the headers of a segment.
    pub(crate) heads: Heads,

    /// Congestion avoidance and CUBIC count acknowledgements, not the segments that they deliver. Source: Linux before
    /// 4.0, RFC 5681 section 3.1.
    pub(crate) counts_acks: bool,
    /// HyStart has a sixteenth of the base RTT, no slack for aggregation, and a round's first samples only.
    pub(crate) first_hystart: bool,

    /// Timers of the handshake go off in ticks. Deviation: exact in the variant of Linux 3.14, whose timers had other
    /// wheels.
    pub(crate) ticks: bool,
    /// Of bad segments and of SYNs that come again one is answered in each interval (`tcp_invalid_ratelimit`).
    pub(crate) limits_answers: bool,
    /// An answer that echoes the timestamp of the first SYN-ACK shows that it was not lost. Source: Linux 6.1
    /// `tcp_try_undo_spurious_syn`.
    pub(crate) undoes_syn: bool,
    /// A SYN that is sent again asks for no ECN (`tcp_ecn_fallback`).
    pub(crate) ecn_fallback: bool,

    /// What a small queue may hold.
    pub(crate) small_queue: Limit,
    /// The send buffer is enlarged, and a segment of it takes what `heads` say. If not, it has its largest size at once.
    pub(crate) send_buffer_grows: bool,
    /// A train waits for an acknowledgement that is expected within this, and within half a round trip. Source:
    /// `tcp_tso_should_defer` of Linux 6.1.192 and 7.3; in 5.15 only the half counts. Deviation: Linux 3.14 has other
    /// rules.
    pub(crate) train_near: Duration,
    /// A short round trip lengthens trains: by a largest one, halved for each 2^this microseconds of the least round
    /// trip (`tcp_tso_rtt_log`, of Linux 5.18 and later).
    pub(crate) train_rtt_shift: Option<u32>,

    /// Acknowledgements above a gap may be merged (since 4.18) for at most this part of the round trip, per cent. 0: they
    /// may not. Source: Linux 6.1 `__tcp_ack_snd_check`; Linux 7.3 `tcp_comp_sack_rtt_percent`.
    pub(crate) compression: u8,
    /// The longest that an acknowledgement is delayed. Source: Linux 6.1 and 7.3 `tcp_send_delayed_ack`,
    /// `tcp_delack_max`.
    pub(crate) longest_delay: LongestDelay,
    /// PSH and short segments are acknowledged at once. Deviation: not in the variant of Linux 3.14, which in truth
    /// answers short segments at once too.
    pub(crate) heeds_push: bool,
    /// Whether PSH counts on a full segment. Source: `tcp_measure_rcv_mss` of Linux 6.1.192 and 7.3; in 5.15.72 it does
    /// not.
    pub(crate) heeds_full_push: bool,
    /// With AccECN a segment is acknowledged at once if its timestamp is newer than those before. Source: L4STeam's Linux
    /// 5.15 `tcp_ecn_received_counters`.
    pub(crate) acknowledges_ect: bool,
    /// Memory that a router adds to a segment where it makes room for a link's header (`pskb_expand_head`), bytes. Measured
    /// on 6.12 by the windows of flows with segments of 536 to 1448 bytes that buffers of 128 and 512 KiB bound; 6.1 and
    /// 7.3 add nothing.
    pub(crate) routed: u64,
    /// A smaller sample of the receiver's round trip counts at once. Source: `tcp_rcv_rtt_update` of Linux 6.1.192;
    /// earlier ones smooth all.
    pub(crate) rtt_falls: bool,
    /// The receive buffer has room for twice what was read, without 16 segments more, and for what lies above a gap. A
    /// sample of the round trip below a millisecond does not count. Source: Linux 7.3 `tcp_rcvbuf_grow`,
    /// `tcp_rcv_rtt_measure_ts`.
    pub(crate) spans: bool,
}

/// The longest that the timer of Linux is set to. Source: Linux `TCP_DELACK_MAX`, `icsk_delack_max`.
const TIMER_MAX: Ticks = Ticks::from_millis(200);

const LINUX_6_1: Rules = Rules {
    fack: false,
    heads: Heads::Lean61,
    counts_acks: false,
    first_hystart: false,
    ticks: true,
    limits_answers: true,
    undoes_syn: true,
    ecn_fallback: true,
    small_queue: Limit::AtMost(1 << 20),
    send_buffer_grows: true,
    train_near: Duration::from_millis(1),
    train_rtt_shift: Some(9),
    compression: 5,
    longest_delay: LongestDelay::Is(TIMER_MAX),
    heeds_push: true,
    heeds_full_push: true,
    acknowledges_ect: false,
    routed: 0,
    rtt_falls: true,
    spans: false,
};

const LINUX_3_14: Rules = Rules {
    fack: true,
    counts_acks: true,
    first_hystart: true,
    ticks: false,
    limits_answers: false,
    undoes_syn: false,
    ecn_fallback: false,
    small_queue: Limit::AtLeast(128 << 10),
    send_buffer_grows: false,
    train_rtt_shift: None,
    compression: 0,
    // RFC 1122 section 4.2.3.2.
    longest_delay: LongestDelay::Is(Ticks::from_millis(500)),
    heeds_push: false,
    rtt_falls: false,
    ..LINUX_6_1
};

const LINUX_5_15: Rules = Rules {
    train_near: Duration::MAX,
    train_rtt_shift: None,
    heeds_full_push: false,
    acknowledges_ect: true,
    ..LINUX_6_1
};

const LINUX_6_12: Rules = Rules {
    heads: Heads::Lean612,
    routed: 64,
    ..LINUX_6_1
};

const LINUX_7_3: Rules = Rules {
    small_queue: Limit::AtMost(4 << 20),
    compression: 33,
    longest_delay: LongestDelay::BelowTimeout(TIMER_MAX),
    routed: 0,
    spans: true,
    ..LINUX_6_12
};

impl Variant {
    /// Its rules.
    pub(crate) const fn rules(self) -> &'static Rules {
        match self {
            Self::Linux314 => &LINUX_3_14,
            Self::Linux515 => &LINUX_5_15,
            Self::Linux61 => &LINUX_6_1,
            Self::Linux612 => &LINUX_6_12,
            Self::Linux73 => &LINUX_7_3,
        }
    }

    /// What a kernel without wireless and tunnels reserves.
    #[must_use]
    pub const fn heads(self) -> Heads {
        self.rules().heads
    }
}
