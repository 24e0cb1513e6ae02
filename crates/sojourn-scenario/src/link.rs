//! A link: its keys, which the two links of the path have as well as those of a topology, and what they come to.

use crate::error::within;
use crate::flat::flat;
use crate::name::check_name;
use crate::{
    Backend, DELAY_TICK_MAX, DURATION_MAX, Direction, RATE, ScenarioError, backend, fail, is_default, or_default,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use sojourn_qdisc::{DeliveryTrace, Discipline};
use sojourn_units::{Bytes, Duration, Rate};

/// The discipline of a link of a topology where none is named.
const QDISC: &str = "pfifo limit 1000";
/// Longest delay of a link.
const DELAY_MAX: Duration = Duration::from_secs(10);
/// The largest jitter of a kernel's path: netem counts half of it in 31 bits of nanoseconds.
const NETEM_JITTER_MAX: Duration = Duration::from_secs(4);
/// Between the bursts of a link that serves in bursts only, the smallest and the largest time.
const SERVICE_INTERVAL: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(100));
/// Largest extra delay.
const JITTER_MAX: Duration = Duration::from_secs(10);

/// A link between two nodes: both ways, unless it is said to be of one way. What has to do with a queue needs `rate`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Link", extend("required" = ["between"]))]
pub struct LinkScenario {
    /// The nodes A and B. The link is called `A-B` from A to B, and `B-A` the other way.
    #[serde(default)]
    pub between: [String; 2],
    /// Whether it leads from A to B only.
    #[serde(default, deserialize_with = "or_default")]
    pub one_way: bool,
    /// Its rate, each way (default: infinitely fast, without a queue).
    pub rate: Option<Rate>,
    /// Its propagation delay, each way.
    #[serde(default, deserialize_with = "or_default")]
    pub delay: Duration,
    /// The discipline before it, each way (default: of a link that the record's `bottleneck` tells of `qdisc_up` or
    /// `qdisc_down`, if that is given, else `"pfifo limit 1000"`).
    #[schemars(extend("format" = "qdisc"))]
    pub qdisc: Option<String>,
    /// Depth of the token bucket: how much the rate limiter may send at once (default: two frames, or 0.5 ms of the rate).
    pub burst: Option<Bytes>,
    /// If not zero, the link serves in bursts only, at multiples of this, as links do that aggregate or are granted their
    /// time (Wi-Fi, DOCSIS): each burst carries what the rate carries in that time, and what the queue does not fill of it is
    /// lost (default 0). At least 100 us, at most 100 ms; it takes the place of the token bucket. Only on `sim`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = null))]
    pub service_interval: Duration,
    /// The file of a trace that the rate follows, in Mahimahi's format: each line is the time in ms of an opportunity to
    /// deliver 1504 bytes, a packet of 1500 and the 4 that Mahimahi adds. It begins with the run and again at its last time,
    /// and takes the place of the token bucket; the rate is then its mean. A relative name is one of the working folder. In full
    /// the SHA-256 of the content is added, and the file must have it (`"FILE sha256:..."`). Only on `sim`.
    #[schemars(with = "Option<String>")]
    pub trace: Option<DeliveryTrace>,
    /// Probability that a packet is lost on the link, after its queue (default 0).
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub loss: f64,
    /// Each packet takes longer by a time uniform in 0 to this; none overtakes another (default 0). On `linux` it is at most
    /// 4 s, on `live` there is none.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = null))]
    pub jitter: Duration,
    /// Its delay lets packets out at multiples of this only (default: at once).
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = null))]
    pub delay_tick: Duration,
}

/// Depth of a token bucket of this rate if nothing is said: two of the largest frames, or what the link sends in half a
/// millisecond. A late timer must not lose tokens on a real bed.
#[must_use]
pub fn usual_burst(rate: Rate, frame: Bytes) -> Bytes {
    rate.bytes_in(Duration::from_micros(500)).max(frame + frame)
}

/// What befalls packets on the long link of one direction, after its bottleneck queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impairment {
    /// Probability that a packet is lost, 0 to less than 1; each packet is drawn apart.
    pub loss: f64,
    /// Each packet takes longer by a time that is uniform in 0 to this; none overtakes another.
    pub jitter: Duration,
}

impl Impairment {
    /// Whether anything befalls them.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.loss == 0.0 && self.jitter.is_zero()
    }
}

/// How a link keeps its rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shaping {
    /// A token bucket of this depth before an infinitely fast device: a packet leaves at once when its tokens are
    /// there.
    TokenBucket {
        /// Bytes that may leave back to back.
        burst: Bytes,
    },
    /// A wire: a packet arrives when its last bit does.
    Wire,
    /// The opportunities of a trace.
    Trace(DeliveryTrace),
    /// A link that serves in bursts only, at multiples of a time. Each burst carries what the rate carries in that time.
    Grants {
        /// From one burst to the next; not zero.
        every: Duration,
    },
}

/// One direction of the bottleneck, or of a link of a topology that has a rate.
#[derive(Clone, Debug)]
pub struct BottleneckScenario {
    /// Its rate.
    pub rate: Rate,
    /// The discipline, resolved at this rate.
    pub qdisc: Discipline,
    /// Depth of the token bucket.
    pub burst: Bytes,
    /// What befalls packets on the long link after it.
    pub impairment: Impairment,
    /// If not zero, the link serves in bursts only, at multiples of this.
    pub service_interval: Duration,
    /// The trace that it follows, in place of its rate.
    pub trace: Option<DeliveryTrace>,
}

impl BottleneckScenario {
    /// How it keeps its rate.
    #[must_use]
    pub fn shaping(&self) -> Shaping {
        if let Some(trace) = &self.trace {
            Shaping::Trace(trace.clone())
        } else if self.service_interval.is_zero() {
            Shaping::TokenBucket { burst: self.burst }
        } else {
            Shaping::Grants {
                every: self.service_interval,
            }
        }
    }
}

impl LinkScenario {
    /// Its queue and what befalls packets after it; `None` for one that is infinitely fast.
    ///
    /// # Panics
    /// Never for a link that was checked.
    #[must_use]
    pub fn bottleneck(&self) -> Option<BottleneckScenario> {
        let text = self.qdisc.as_deref().unwrap_or(QDISC);
        Some(BottleneckScenario {
            rate: self.rate?,
            qdisc: Discipline::parse(text, self.rate).expect("it was checked"),
            burst: self.burst.unwrap_or_default(),
            impairment: self.impairment(),
            service_interval: self.service_interval,
            trace: self.trace.clone(),
        })
    }

    pub(crate) const fn impairment(&self) -> Impairment {
        Impairment {
            loss: self.loss,
            jitter: self.jitter,
        }
    }

    /// Checks a link of a topology and writes out what is left out. `frame` is the largest frame of the scenario, bytes.
    pub(crate) fn complete(&mut self, place: &str, frame: u64, backend: Backend) -> Result<(), ScenarioError> {
        let field = |key: &str| format!("{place}.{key}");
        let [a, b] = &self.between;
        for node in &self.between {
            check_name(&field("between"), node)?;
        }
        if a == b {
            return fail(&field("between"), format!("{a:?} twice"), "two nodes");
        }
        within(&field("delay"), self.delay, Duration::ZERO, DELAY_MAX)?;
        within(&field("delay_tick"), self.delay_tick, Duration::ZERO, DELAY_TICK_MAX)?;
        if let Some(rate) = self.rate.or_else(|| Some(self.trace.as_ref()?.rate())) {
            return self.complete_queue(rate, QDISC, field, frame, backend);
        }
        for (key, given) in [
            ("qdisc", self.qdisc.is_some()),
            ("burst", self.burst.is_some()),
            ("loss", self.loss != 0.0),
            ("jitter", !self.jitter.is_zero()),
            ("service_interval", !self.service_interval.is_zero()),
        ] {
            if given {
                let rule = "absent without rate: an infinitely fast link has no queue";
                return fail(&field(key), "given", rule);
            }
        }
        Ok(())
    }

    /// Resolves the discipline at the rate, sizes the token bucket, and checks what has to do with a queue. `rate` and
    /// `qdisc` are what it has where nothing is said, and `field` the name of a key.
    pub(crate) fn complete_queue(
        &mut self,
        rate: Rate,
        qdisc: &str,
        field: impl Fn(&str) -> String,
        frame: u64,
        backend: Backend,
    ) -> Result<(), ScenarioError> {
        let of_trace = self.trace.as_ref().map(DeliveryTrace::rate);
        let rate = *self.rate.get_or_insert(of_trace.unwrap_or(rate));
        if let Some(of_trace) = of_trace.filter(|of_trace| *of_trace != rate) {
            let rule = format!("absent with {}, whose mean rate is {of_trace}", field("trace"));
            return fail(&field("rate"), rate, rule);
        }
        within(&field("rate"), rate, RATE.0, RATE.1)?;
        let named = field("qdisc");
        let resolved = Discipline::parse(self.qdisc.as_deref().unwrap_or(qdisc), Some(rate));
        let resolved = resolved.map_err(|e| ScenarioError::because(format!("{named}: {e}")))?;
        self.qdisc = Some(backend::discipline(&named, resolved, backend)?.to_string());
        if self.trace.is_some() {
            let rule = format!("absent with {}", field("trace"));
            if let Some(burst) = self.burst {
                return fail(&field("burst"), burst, rule);
            }
            if !self.service_interval.is_zero() {
                return fail(&field("service_interval"), self.service_interval, rule);
            }
        } else {
            let usual = || usual_burst(rate, Bytes::new(frame));
            check_bucket(&field("burst"), *self.burst.get_or_insert_with(usual), rate, frame)?;
        }
        if !self.service_interval.is_zero() {
            let (least, most) = SERVICE_INTERVAL;
            within(&field("service_interval"), self.service_interval, least, most)?;
        }
        if !(0.0..1.0).contains(&self.loss) {
            return fail(&field("loss"), self.loss, "a probability, at least 0 and less than 1");
        }
        // -0 is 0.
        self.loss += 0.0;
        within(&field("jitter"), self.jitter, Duration::ZERO, JITTER_MAX)
    }

    /// Refuses what the link of a bed cannot do, in this direction of the path.
    pub(crate) fn check_real(&self, direction: Direction, backend: Backend) -> Result<(), ScenarioError> {
        let name = backend.name();
        let refuse = |key: &str, value: Duration, why: String| {
            let sentence = format!("{} is {value}, but {why}: leave it out", flat(key, direction));
            Err(ScenarioError::because(sentence))
        };
        if let Some(trace) = &self.trace {
            let (key, of_ours) = (flat("trace", direction), "`sojournd bottleneck` can");
            let sentence = format!(
                "{key} is \"{trace}\", but the {name} back end's link has a constant rate: use sim ({of_ours})"
            );
            return Err(ScenarioError::because(sentence));
        }
        if !self.service_interval.is_zero() {
            let why = format!("the {name} back end's link serves all the time");
            return refuse("service_interval", self.service_interval, why);
        }
        if backend == Backend::Live && !self.jitter.is_zero() {
            let why = "the live back end's delay cannot vary and keep the order of packets";
            return refuse("jitter", self.jitter, why.to_owned());
        }
        if backend == Backend::Linux && self.jitter > NETEM_JITTER_MAX {
            let rule = format!("at most {NETEM_JITTER_MAX} on the linux back end, as netem counts it");
            return fail(&flat("jitter", direction), self.jitter, rule);
        }
        Ok(())
    }
}

/// Refuses the depth of a token bucket that does not take the largest frame, or takes too long to fill.
pub(crate) fn check_bucket(field: &str, burst: Bytes, rate: Rate, frame: u64) -> Result<(), ScenarioError> {
    if burst.get() < frame || burst.get() > 1 << 30 {
        let rule = format!("at least the largest frame ({frame} bytes) and at most 1gb");
        return fail(field, burst, rule);
    }
    if rate.time_to_send(burst) > DURATION_MAX {
        return fail(field, burst, format!("at most what {rate} sends in a day"));
    }
    Ok(())
}
