//! What the path does beside queueing: the length of the queues at its edges, loss, and a delay that varies.

use super::text::Text;
use super::{Direction, ScenarioError, fail, time};
use sojourn_units::Duration;

/// Packets that a queue at the edges holds if nothing is said. Source: Linux's `txqueuelen` of an Ethernet device.
pub(crate) const EDGE_LIMIT: u32 = 1000;
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

/// The length of the queues at the edges.
pub(super) fn edge_limit(t: &Text) -> Result<u32, ScenarioError> {
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

pub(super) fn impairment(t: &Text, direction: Direction) -> Result<Impairment, ScenarioError> {
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
