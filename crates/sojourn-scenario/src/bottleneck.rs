//! One direction of the bottleneck, read and checked: its rate, its token bucket and its discipline.

use crate::text::Text;
use crate::{Backend, BottleneckScenario, Direction, ScenarioError, backend, path, rate};
use sojourn_qdisc::Discipline;
use sojourn_units::{Bytes, Duration, parse_bytes};

/// What `t` says of `direction`; `frame` is the largest frame of the scenario, bytes.
pub(crate) fn bottleneck(
    direction: Direction,
    t: &Text,
    frame: u64,
    backend: Backend,
) -> Result<BottleneckScenario, ScenarioError> {
    let name = direction.name();
    let (rate_text, qdisc_text, burst) = match direction {
        Direction::Up => (&t.up, &t.qdisc_up, t.burst_up.as_deref()),
        Direction::Down => (&t.down, &t.qdisc_down, t.burst_down.as_deref()),
    };
    let rate = rate(name, rate_text)?;
    let field = format!("qdisc_{name}");
    let qdisc = Discipline::parse(qdisc_text, Some(rate)).map_err(|e| ScenarioError(format!("{field}: {e}")))?;
    let qdisc = backend::discipline(&field, qdisc, backend)?;
    let burst = match burst {
        Some(text) => parse_bytes(text).map_err(|e| ScenarioError(format!("burst_{name}: {e}")))?,
        // Two frames, or what the link sends in half a millisecond: a late timer must not lose tokens on a real bed.
        None => rate.bytes_in(Duration::from_micros(500)).max(Bytes::new(2 * frame)),
    };
    path::bucket(&format!("burst_{name}"), burst, rate, frame)?;
    Ok(BottleneckScenario {
        rate,
        qdisc,
        burst,
        impairment: path::impairment(t, direction)?,
    })
}
