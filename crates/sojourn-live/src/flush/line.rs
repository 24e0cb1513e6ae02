//! What the flusher decided and why, as lines of JSON.

use super::gate::{Answer, Refusal};
use serde::Serialize;
use sojourn_flusher::{Event, Eviction, FlowKey, FlushPlan, Reason, Verdict, Withheld};
use sojourn_units::{Duration, Rate, Time};
use std::net::{IpAddr, SocketAddr};

/// How much is told.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, serde::Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// Flushes proposed, allowed, refused, withheld, and what they brought.
    #[default]
    Decisions,
    /// Also flows that come and go, and their base RTTs.
    Flows,
    /// Also each RTT sample, window and retransmission.
    All,
}

/// A line: when, and what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// By the capture's clock, nanoseconds since 1970.
    pub at_ns: u64,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// A flow: data sender to data receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Flow {
    src: SocketAddr,
    dst: SocketAddr,
}

impl From<FlowKey> for Flow {
    fn from(key: FlowKey) -> Self {
        Self {
            src: key.src,
            dst: key.dst,
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum What {
    /// A flush was proposed, and the gate judged it.
    Flush(Box<FlushLine>),
    /// The conditions for a flush are fulfilled, but none is proposed. Repeated only when flow or cause change.
    Withheld {
        /// For which flow.
        #[serde(flatten)]
        flow: Flow,
        /// Because of what.
        cause: &'static str,
    },
    /// A flush was judged by the core.
    Effect {
        /// Which.
        id: u64,
        /// How it worked out.
        verdict: &'static str,
        /// Least RTT before, ns.
        before_ns: u64,
        /// And after; null without samples.
        after_ns: Option<u64>,
        /// Segments sent again meanwhile.
        retransmissions: u32,
    },
    /// A flow was seen for the first time.
    Flow(Flow),
    /// Its base RTT changed.
    BaseRtt {
        /// Of which flow.
        #[serde(flatten)]
        flow: Flow,
        /// To what, ns.
        base_ns: u64,
    },
    /// A flow was forgotten.
    Evicted {
        /// Which.
        #[serde(flatten)]
        flow: Flow,
        /// Because of what.
        cause: &'static str,
    },
    /// The conditions for a flush are fulfilled.
    Trigger {
        /// For which flow.
        #[serde(flatten)]
        flow: Flow,
        /// Why.
        reason: ReasonLine,
    },
    /// A window of samples was tested.
    Window {
        /// Of which flow.
        #[serde(flatten)]
        flow: Flow,
        /// Least RTT in it, ns.
        least_ns: u64,
        /// What it had to exceed, ns.
        trigger_ns: u64,
        /// Windows above so far.
        count: u32,
    },
    /// An acknowledgement gave an RTT.
    Sample {
        /// Of which flow.
        #[serde(flatten)]
        flow: Flow,
        /// The RTT, ns.
        rtt_ns: u64,
        /// Smoothed, ns.
        smoothed_ns: u64,
        /// Throughput, bit/s.
        throughput_bps: Option<u64>,
    },
    /// A segment was sent again.
    Retransmission(Flow),
}

/// Why a flush was proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReasonLine {
    /// The RTT stood above the trigger.
    Threshold {
        /// Least RTT, ns.
        least_ns: u64,
        /// Trigger, ns.
        trigger_ns: u64,
    },
    /// There was none for so long.
    Forced,
    /// Part of an earlier flush.
    TopUp {
        /// Which.
        of: u64,
    },
}

impl From<Reason> for ReasonLine {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Threshold { least, trigger } => Self::Threshold {
                least_ns: least.as_nanos(),
                trigger_ns: trigger.as_nanos(),
            },
            Reason::Forced => Self::Forced,
            Reason::TopUp { of } => Self::TopUp { of: of.0 },
        }
    }
}

/// A proposed flush, what it was computed from, and the gate's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlushLine {
    id: u64,
    #[serde(flatten)]
    flow: Flow,
    /// Where the packets go.
    toward: IpAddr,
    packets: u32,
    /// Bytes of each, IP header included.
    size: u64,
    reason: ReasonLine,
    throughput_bps: u64,
    base_ns: u64,
    rtt_ns: u64,
    max_rtt_ns: u64,
    bdp_bytes: u64,
    /// `allowed` or `refused`.
    verdict: &'static str,
    /// The rule that refused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<RuleLine>,
    /// The rule that would have refused it, had the gate been active; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    otherwise: Option<RuleLine>,
}

/// A rule of the gate, and the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct RuleLine {
    rule: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "asked")]
    wanted: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<u64>,
}

impl From<Refusal> for RuleLine {
    fn from(refusal: Refusal) -> Self {
        let (wanted, most) = refusal.numbers().unzip();
        Self {
            rule: refusal.name(),
            wanted,
            most,
        }
    }
}

impl FlushLine {
    /// Of a plan and what the gate said.
    #[must_use]
    pub fn new(plan: &FlushPlan, answer: Answer) -> Self {
        let (because, otherwise) = match answer {
            Answer::Allowed => (None, None),
            Answer::Refused { because, otherwise } => (Some(because.into()), otherwise.map(Into::into)),
        };
        Self {
            id: plan.id.0,
            flow: plan.flow.into(),
            toward: plan.toward,
            packets: plan.packets,
            size: plan.size.get(),
            reason: plan.reason.into(),
            throughput_bps: plan.estimate.throughput.as_bps(),
            base_ns: plan.estimate.base.as_nanos(),
            rtt_ns: plan.estimate.rtt.as_nanos(),
            max_rtt_ns: plan.estimate.max_rtt.as_nanos(),
            bdp_bytes: plan.estimate.bdp.get(),
            verdict: if because.is_none() { "allowed" } else { "refused" },
            because,
            otherwise,
        }
    }

    /// In a few words, for people.
    #[must_use]
    pub fn words(&self) -> String {
        let answer = match (self.because, self.otherwise) {
            (None, _) => "sent".to_owned(),
            (Some(rule), None) => format!("refused: {}", rule.rule),
            (Some(rule), Some(other)) => format!("refused: {}, and {}", rule.rule, other.rule),
        };
        format!(
            "flush {} towards {}: {} x {} B, {answer}",
            self.id, self.toward, self.packets, self.size
        )
    }
}

impl What {
    /// From which detail on there is a line of it.
    pub(crate) const fn detail(&self) -> Detail {
        match self {
            Self::Flush(_) | Self::Withheld { .. } | Self::Effect { .. } => Detail::Decisions,
            Self::Flow(_) | Self::BaseRtt { .. } | Self::Evicted { .. } => Detail::Flows,
            Self::Trigger { .. } | Self::Window { .. } | Self::Sample { .. } | Self::Retransmission(_) => Detail::All,
        }
    }
}

/// The line of a core's event, and when it was; `None` for events that have no line of their own.
pub(crate) fn of_event(event: &Event) -> Option<(Time, What)> {
    Some(match *event {
        Event::Flow { at, flow } => (at, What::Flow(flow.into())),
        Event::Retransmission { at, flow } => (at, What::Retransmission(flow.into())),
        Event::BaseRtt { at, flow, base } => {
            let (flow, base_ns) = (flow.into(), base.as_nanos());
            (at, What::BaseRtt { flow, base_ns })
        }
        Event::Evicted { at, flow, cause } => {
            let cause = match cause {
                Eviction::Full => "full",
                Eviction::Idle => "idle",
            };
            let flow = flow.into();
            (at, What::Evicted { flow, cause })
        }
        Event::Withheld { at, flow, cause } => {
            let (flow, cause) = (flow.into(), withheld(cause));
            (at, What::Withheld { flow, cause })
        }
        Event::Trigger { at, flow, reason } => {
            let (flow, reason) = (flow.into(), reason.into());
            (at, What::Trigger { flow, reason })
        }
        Event::Effect {
            at,
            id,
            verdict,
            before,
            after,
            retransmissions,
        } => {
            let what = What::Effect {
                id: id.0,
                verdict: match verdict {
                    Verdict::Helped => "helped",
                    Verdict::TooSmall => "too_small",
                    Verdict::Useless => "useless",
                    Verdict::Unknown => "unknown",
                },
                before_ns: before.as_nanos(),
                after_ns: after.map(Duration::as_nanos),
                retransmissions,
            };
            (at, what)
        }
        Event::Sample {
            at,
            flow,
            raw,
            smoothed,
            throughput,
        } => {
            let what = What::Sample {
                flow: flow.into(),
                rtt_ns: raw.as_nanos(),
                smoothed_ns: smoothed.as_nanos(),
                throughput_bps: throughput.map(Rate::as_bps),
            };
            (at, what)
        }
        Event::Window {
            at,
            flow,
            least,
            trigger,
            count,
        } => {
            let what = What::Window {
                flow: flow.into(),
                least_ns: least.as_nanos(),
                trigger_ns: trigger.as_nanos(),
                count,
            };
            (at, what)
        }
        // A flush, its answer and its end are one line.
        _ => return None,
    })
}

const fn withheld(cause: Withheld) -> &'static str {
    match cause {
        Withheld::Busy => "busy",
        Withheld::Empty => "empty",
        Withheld::CoolDown => "cool_down",
        Withheld::Cost => "cost",
        Withheld::SmallWindow => "small_window",
        Withheld::Stopped => "stopped",
        Withheld::Recovering => "recovering",
    }
}
