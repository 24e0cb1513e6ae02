//! What the path does beside queueing: the buckets and queues at its edges, loss, and a delay that varies.

use crate::error::within;
use crate::{DURATION_MAX, Direction, RATE, ScenarioError, fail};
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

/// One direction of the bottleneck.
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

/// Checks one direction of the bottleneck; `frame` is as above.
pub(crate) fn check_bottleneck(
    direction: Direction,
    side: &BottleneckScenario,
    frame: u64,
) -> Result<(), ScenarioError> {
    let name = direction.name();
    check_bucket(&format!("burst_{name}"), side.burst, side.rate, frame)?;
    if !side.service_interval.is_zero() {
        let field = format!("service_interval_{name}");
        within(&field, side.service_interval, SERVICE_INTERVAL.0, SERVICE_INTERVAL.1)?;
    }
    let Impairment { loss, jitter } = side.impairment;
    if !(0.0..1.0).contains(&loss) {
        let rule = "a probability, at least 0 and less than 1";
        return fail(&format!("loss_{name}"), loss, rule);
    }
    within(&format!("jitter_{name}"), jitter, Duration::ZERO, JITTER_MAX)
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
