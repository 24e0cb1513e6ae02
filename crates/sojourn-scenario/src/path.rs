//! What the path does beside queueing: the buckets and queues at its edges, loss, and a delay that varies.

use crate::text::Text;
use crate::{DURATION_MAX, Direction, ScenarioError, fail, rate, time};
use sojourn_units::{Bytes, Duration, Rate, parse_bytes};

/// What a queue at the edges holds if nothing is said, packets.
pub const EDGE_LIMIT: u32 = 1000;
/// Most of them.
const EDGE_LIMIT_MAX: u32 = 1_000_000;
/// Largest extra delay.
const JITTER_MAX: Duration = Duration::from_secs(10);

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

/// The depth of the token buckets at the edges, if they are no wires; `frame` is the largest frame of the scenario, bytes.
pub(crate) fn edge_burst(t: &Text, frame: u64) -> Result<Option<Bytes>, ScenarioError> {
    let Some(text) = &t.edge_burst else {
        return Ok(None);
    };
    let Some(rate_text) = &t.edge_rate else {
        return fail(
            "edge_burst",
            text,
            "absent without edge_rate: infinitely fast links have no bucket",
        );
    };
    let burst = parse_bytes(text).map_err(|e| ScenarioError(format!("edge_burst: {e}")))?;
    bucket("edge_burst", burst, rate("edge_rate", rate_text)?, frame)?;
    Ok(Some(burst))
}

/// Refuses the depth of a token bucket that does not take the largest frame, or takes too long to fill.
pub(crate) fn bucket(name: &str, burst: Bytes, rate: Rate, frame: u64) -> Result<(), ScenarioError> {
    if burst.get() < frame || burst.get() > 1 << 30 {
        let rule = format!("at least the largest frame ({frame} bytes) and at most 1gb");
        return fail(name, burst, rule);
    }
    if rate.time_to_send(burst) > DURATION_MAX {
        return fail(name, burst, format!("at most what {rate} sends in a day"));
    }
    Ok(())
}

/// The length of the queues at the edges.
pub(crate) fn edge_limit(t: &Text) -> Result<u32, ScenarioError> {
    let Some(limit) = t.edge_limit else {
        return Ok(EDGE_LIMIT);
    };
    if t.edge_rate.is_none() {
        return fail(
            "edge_limit",
            limit,
            "absent without edge_rate: infinitely fast links have no queue",
        );
    }
    if !(1..=EDGE_LIMIT_MAX).contains(&limit) {
        return fail("edge_limit", limit, format!("1 to {EDGE_LIMIT_MAX} packets"));
    }
    Ok(limit)
}

pub(crate) fn impairment(t: &Text, direction: Direction) -> Result<Impairment, ScenarioError> {
    let (loss, jitter) = match direction {
        Direction::Up => (t.loss_up, &t.jitter_up),
        Direction::Down => (t.loss_down, &t.jitter_down),
    };
    let name = direction.name();
    let loss = loss.unwrap_or(0.0);
    if !(0.0..1.0).contains(&loss) {
        return fail(
            &format!("loss_{name}"),
            loss,
            "a probability, at least 0 and less than 1",
        );
    }
    let jitter = jitter.as_deref().map_or(Ok(Duration::ZERO), |text| {
        time(&format!("jitter_{name}"), text, Duration::ZERO, JITTER_MAX)
    })?;
    Ok(Impairment {
        // Not -0.0.
        loss: loss.abs(),
        jitter,
    })
}
