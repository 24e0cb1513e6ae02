//! Samples of the delivery rate, for the controls that want them.

use super::{CaState, Marked};
use sojourn_units::{Duration, Time};

/// What an acknowledgement says of the rate of delivery. Counts are of segments.
///
/// Source: draft-cheng-iccrg-delivery-rate-estimation-02, and Linux's `struct rate_sample`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct RateSample {
    /// Delivered when the newest that this acknowledgement delivers was sent, last.
    pub prior_delivered: u64,
    /// Delivered since then.
    pub delivered: u64,
    /// Of them, those that were marked: they came with an ECN echo, or AccECN counted them.
    pub delivered_ce: u64,
    /// Over what time; `None` if nothing was delivered, or if it is too short to be true.
    pub interval: Option<Duration>,
    /// The application, not the network, limited the rate.
    pub app_limited: bool,
    /// The newest had been sent again.
    pub retransmitted: bool,
    /// In flight when the newest was sent, with itself.
    pub tx_in_flight: u32,
    /// Judged lost since then, repeats counted.
    pub lost: u32,
    /// It may be of the tail loss probe or of the probe's original: nothing tells which. Source: google/bbr
    /// `is_acking_tlp_retrans_seq`.
    pub acks_probe: bool,
    /// Delivered since the connection began.
    pub delivered_in_all: u64,
    /// Newly delivered by this acknowledgement.
    pub newly_delivered: u32,
    /// Newly judged lost with it.
    pub losses: u32,
    /// In flight before it.
    pub flight_before: u32,
    /// In flight after it.
    pub flight: u32,
    /// It tells of congestion: an echo (ECE), or marks that AccECN counts.
    pub ece: bool,
    /// What it says was marked.
    pub marked: Marked,
    /// What the sender knows beside it.
    pub sender: SenderView,
}

/// What a control may ask of its sender with a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct SenderView {
    /// Its congestion state.
    pub state: CaState,
    /// Segments ever judged lost, counting repeats.
    pub lost_in_all: u64,
    /// When something was delivered last.
    pub delivered_at: Time,
    /// When the next segment may depart; not before the time of the sample.
    pub departs: Time,
    /// The host's device holds what is sent in a second at the pacing rate, shifted right by so much (Linux
    /// `sk_pacing_shift`).
    pub pacing_shift: u32,
    /// The acknowledgement looks like one that the receiver has delayed: of a lone segment that is not full. Source:
    /// Linux `FLAG_ACK_MAYBE_DELAYED`.
    pub ack_delayed: bool,
    /// The window is what limited the sending of the current round; only for a control that needs limits.
    pub window_limited: bool,
    /// ECN is agreed on, and `tcp.ecn_low` says that the path marks at a shallow threshold.
    pub ecn_low: bool,
    /// The window, not the application, limits what is sent; in slow start also if half of the window was in use. Source:
    /// Linux `tcp_is_cwnd_limited`.
    pub may_grow: bool,
    /// The smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// The least round-trip time.
    pub min_rtt: Option<Duration>,
}

/// A segment that was judged lost, or the one that a tail loss probe has repaired. Counts are of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSegment {
    /// When it was judged.
    pub now: Time,
    /// In flight when it was sent last, with itself; `None` for one that a probe has repaired.
    pub tx_in_flight: Option<u32>,
    /// Judged lost since it was sent last, with itself and with repeats.
    pub lost: u32,
    /// The application, not the network, limited the rate when it was sent last.
    pub app_limited: bool,
    /// Delivered since the connection began.
    pub delivered_in_all: u64,
}
