//! What the core tells: plans, events, views and counters.

use crate::FlowKey;
use sojourn_units::{Bytes, Duration, Rate, Time};
use std::net::IpAddr;

/// Names one proposed flush; counts up from zero within a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlushId(pub u64);

/// Why a flush is proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The least RTT of the last windows stood above the trigger.
    Threshold {
        /// That least RTT.
        least: Duration,
        /// What it had to exceed: the larger of threshold x base RTT and the floor.
        trigger: Duration,
    },
    /// There was no flush for `FlusherParams::forced_after`.
    Forced,
    /// Keeps the buffer full for one round trip after the flush `of`. Only the method `adaptive` does this.
    TopUp {
        /// The flush that filled the buffer.
        of: FlushId,
    },
}

/// What a plan was computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Throughput of the path, as the flusher measured it.
    pub throughput: Rate,
    /// The base RTT of the flow.
    pub base: Duration,
    /// The RTT that the size was computed with: of the thesis's flusher the growing flood RTT, of `adaptive` the RTT
    /// at which the buffer is believed to be full.
    pub rtt: Duration,
    /// The largest RTT measured.
    pub max_rtt: Duration,
    /// Throughput times the largest RTT measured: what the path with its buffers is known to hold. This is what a
    /// gate should bound a flush by; the thesis's upper clamp is twice this.
    pub bdp: Bytes,
}

/// A burst that the core proposes. It decides nothing: whoever owns the socket checks it, sends it or refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlushPlan {
    /// To be given back with [`crate::Flusher::flush_done`] or [`crate::Flusher::flush_refused`].
    pub id: FlushId,
    /// The flow that the plan is made for: data sender to data receiver.
    pub flow: FlowKey,
    /// Where the packets go: the data receiver.
    pub toward: IpAddr,
    /// How many packets.
    pub packets: u32,
    /// Length of each on the wire, IP header included.
    pub size: Bytes,
    /// Why.
    pub reason: Reason,
    /// From what.
    pub estimate: Estimate,
}

/// How a flush worked out, judged after the burst and the flow's answer to it must have passed. Only the method
/// `adaptive` judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The queue became shorter.
    Helped,
    /// Nobody lost anything and the queue stands: the burst was too small.
    TooSmall,
    /// Packets were lost, and the queue stands nevertheless: it is others' traffic, or too much of it.
    Useless,
    /// The flow went away, or fell silent.
    Unknown,
}

/// What happened, and why; for logs. Only with `FlusherParams::events`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A flow was seen for the first time.
    Flow {
        /// When.
        at: Time,
        /// Which.
        flow: FlowKey,
    },
    /// An acknowledgement gave an RTT.
    Sample {
        /// When.
        at: Time,
        /// Of which flow.
        flow: FlowKey,
        /// The RTT of this segment.
        raw: Duration,
        /// The smoothed RTT with it.
        smoothed: Duration,
        /// The throughput at this time; `None` before the first interval is over.
        throughput: Option<Rate>,
    },
    /// The receiver has acknowledged packets that were captured and not acknowledged before; a gate bounds flushes by
    /// it.
    Acknowledged {
        /// When.
        at: Time,
        /// Of which flow.
        flow: FlowKey,
        /// Their bytes on the wire, IP headers included; without those that came from the station of the link that
        /// the acknowledgement came from.
        bytes: u64,
    },
    /// One end has reset the connection.
    Reset {
        /// When.
        at: Time,
        /// A flow of it.
        flow: FlowKey,
    },
    /// The base RTT changed.
    BaseRtt {
        /// When.
        at: Time,
        /// Of which flow.
        flow: FlowKey,
        /// What it is now.
        base: Duration,
    },
    /// A window of samples was tested.
    Window {
        /// When.
        at: Time,
        /// Of which flow.
        flow: FlowKey,
        /// The least RTT in it.
        least: Duration,
        /// What it had to exceed.
        trigger: Duration,
        /// Windows above the trigger so far, this one included.
        count: u32,
    },
    /// The conditions for a flush are fulfilled.
    Trigger {
        /// When.
        at: Time,
        /// For which flow.
        flow: FlowKey,
        /// Why.
        reason: Reason,
    },
    /// The conditions are fulfilled, but nothing is proposed.
    Withheld {
        /// When.
        at: Time,
        /// For which flow.
        flow: FlowKey,
        /// Because of what.
        cause: Withheld,
    },
    /// A plan is ready.
    Flush {
        /// When.
        at: Time,
        /// The plan.
        plan: FlushPlan,
    },
    /// The burst has left.
    Done {
        /// When.
        at: Time,
        /// Which.
        id: FlushId,
        /// Packets really sent.
        sent: u32,
    },
    /// The gate said no.
    Refused {
        /// When.
        at: Time,
        /// Which.
        id: FlushId,
    },
    /// A flush was judged.
    Effect {
        /// When.
        at: Time,
        /// Which flush.
        id: FlushId,
        /// How it worked out.
        verdict: Verdict,
        /// The least RTT before it.
        before: Duration,
        /// The least RTT after it; `None` without samples.
        after: Option<Duration>,
        /// Segments of the path's flows sent again meanwhile.
        retransmissions: u32,
    },
    /// A segment was sent again.
    Retransmission {
        /// When.
        at: Time,
        /// Of which flow.
        flow: FlowKey,
    },
    /// A flow was forgotten.
    Evicted {
        /// When.
        at: Time,
        /// Which.
        flow: FlowKey,
        /// Because of what.
        cause: Eviction,
    },
}

/// Why a flush was not proposed although its conditions were fulfilled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// Another flush is under way or not yet judged.
    Busy,
    /// The burst would have had no packet: no throughput is known yet.
    Empty,
    /// Earlier flushes did not help, and their cool-down lasts.
    CoolDown,
    /// It would cost more of the link's time than `FlusherParams::duty` allows.
    Cost,
    /// The flow has too little in flight to survive a loss without a timeout.
    SmallWindow,
    /// The flow has just lost something: the queue is about to fall by itself.
    Recovering,
    /// Too many flushes in a row did not help.
    Stopped,
}

/// Why a flow was forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// It was the least recently used one and the table was full.
    Full,
    /// Nothing was seen of it for `FlusherParams::flow_timeout`.
    Idle,
}

/// What a flow is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowState {
    /// No sample yet.
    New,
    /// Samples come in; no standing queue.
    Watching,
    /// The last window stood above the trigger.
    Queueing,
    /// A flush for it is proposed, under way, or its echo is being waited for.
    Flushing,
    /// Flushes did not help; its cool-down lasts.
    CoolingDown,
}

/// A flow as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowView {
    /// Which.
    pub key: FlowKey,
    /// What it is doing.
    pub state: FlowState,
    /// The smoothed RTT.
    pub rtt: Option<Duration>,
    /// The base RTT.
    pub base: Option<Duration>,
    /// The largest RTT measured.
    pub max_rtt: Option<Duration>,
    /// The throughput of the last interval.
    pub throughput: Option<Rate>,
    /// Bytes of sequence space sent and not acknowledged.
    pub in_flight: u32,
    /// RTT samples.
    pub samples: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Flushes proposed for it, top-ups not counted.
    pub flushes: u64,
    /// When something was last seen of it.
    pub last_seen: Time,
}

/// Counters of a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlusherStats {
    /// Segments handled.
    pub segments: u64,
    /// Flows ever seen.
    pub flows: u64,
    /// RTT samples.
    pub samples: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Acknowledgements of what was never sent; ignored.
    pub acks_beyond: u64,
    /// Acknowledgements of what was acknowledged before; ignored.
    pub acks_old: u64,
    /// RTTs of zero, or longer than `FlusherParams::max_rtt`; ignored.
    pub absurd_rtts: u64,
    /// Sequence numbers so far from the flow's that it was begun anew.
    pub resyncs: u64,
    /// Times the clock went backwards by more than a millisecond; what was on its way then gives no sample.
    pub clock_steps: u64,
    /// Segments not remembered because the flow had `FlusherParams::max_outstanding` of them.
    pub untracked: u64,
    /// Flows forgotten because the table was full.
    pub evicted: u64,
    /// Flows forgotten because nothing was seen of them.
    pub expired: u64,
    /// Plans proposed.
    pub plans: u64,
    /// Of these, top-ups.
    pub top_ups: u64,
    /// Of these, forced.
    pub forced: u64,
    /// Plans refused by the gate.
    pub refused: u64,
    /// Packets sent.
    pub packets: u64,
    /// Bytes sent, IP headers included.
    pub bytes: u64,
    /// Flushes judged to have helped.
    pub helped: u64,
    /// Flushes judged not to have helped.
    pub failed: u64,
    /// Triggers without a plan.
    pub withheld: u64,
    /// Answers for a flush that is not outstanding; ignored.
    pub stray_answers: u64,
    /// Events dropped because nobody polled them.
    pub events_lost: u64,
}
