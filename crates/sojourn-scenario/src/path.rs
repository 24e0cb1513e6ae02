//! What the path does beside queueing: the buckets and queues at its edges, loss, and a delay that varies.

use crate::error::within;
use crate::{DURATION_MAX, RATE, ScenarioError, fail};
use sojourn_qdisc::Discipline;
use sojourn_units::{Bytes, Duration, Rate};

/// What a queue at the edges holds if nothing is said, packets.
pub const EDGE_LIMIT: u32 = 1000;
/// Most of them.
const EDGE_LIMIT_MAX: u32 = 1_000_000;
/// Between the bursts of a link that serves in bursts only, the smallest and the largest time.
const SERVICE_INTERVAL: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(100));
/// Largest extra delay.
const JITTER_MAX: Duration = Duration::from_secs(10);

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
    pub fn is_none(&self) -> bool {
        self.loss == 0.0 && self.jitter.is_zero()
    }
}

/// How a link keeps its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shaping {
    /// A token bucket of this depth before an infinitely fast device: a packet leaves at once when its tokens are
    /// there.
    TokenBucket {
        /// Bytes that may leave back to back.
        burst: Bytes,
    },
    /// A wire: a packet arrives when its last bit does.
    Wire,
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
}

impl BottleneckScenario {
    /// How it keeps its rate.
    #[must_use]
    pub fn shaping(&self) -> Shaping {
        if self.service_interval.is_zero() {
            Shaping::TokenBucket { burst: self.burst }
        } else {
            Shaping::Grants {
                every: self.service_interval,
            }
        }
    }

    /// Checks all but the discipline. `field` is the name of a key of it, and `frame` the largest frame, bytes.
    pub(crate) fn check(&self, field: impl Fn(&str) -> String, frame: u64) -> Result<(), ScenarioError> {
        check_bucket(&field("burst"), self.burst, self.rate, frame)?;
        if !self.service_interval.is_zero() {
            let (least, most) = SERVICE_INTERVAL;
            within(&field("service_interval"), self.service_interval, least, most)?;
        }
        let Impairment { loss, jitter } = self.impairment;
        if !(0.0..1.0).contains(&loss) {
            return fail(&field("loss"), loss, "a probability, at least 0 and less than 1");
        }
        within(&field("jitter"), jitter, Duration::ZERO, JITTER_MAX)
    }
}

/// Checks the links at the edges; `frame` is the largest frame of the scenario, bytes.
pub(crate) fn check_edges(
    rate: Option<Rate>,
    burst: Option<Bytes>,
    limit: u32,
    frame: u64,
) -> Result<(), ScenarioError> {
    let Some(rate) = rate else {
        if let Some(burst) = burst {
            let rule = "absent without edge_rate: infinitely fast links have no bucket";
            return fail("edge_burst", burst, rule);
        }
        if limit != EDGE_LIMIT {
            let rule = "absent without edge_rate: infinitely fast links have no queue";
            return fail("edge_limit", limit, rule);
        }
        return Ok(());
    };
    within("edge_rate", rate, RATE.0, RATE.1)?;
    if let Some(burst) = burst {
        check_bucket("edge_burst", burst, rate, frame)?;
    }
    if !(1..=EDGE_LIMIT_MAX).contains(&limit) {
        return fail("edge_limit", limit, format!("1 to {EDGE_LIMIT_MAX} packets"));
    }
    Ok(())
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
