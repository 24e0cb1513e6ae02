//! A scenario with a topology says of its path, and of all traffic on it, what follows from the topology.

use crate::topology::{LinkScenario, TopologyScenario};
use crate::{Backend, Direction, Scenario, ScenarioError, fail};
use serde_json::Value;
use sojourn_qdisc::Discipline;

/// Keys of the path with one bottleneck that a topology has no place for.
const FOREIGN: [&str; 6] = ["wifi", "flusher", "edge_rate", "edge_burst", "edge_limit", "delay_tick"];

impl Scenario {
    /// Completes a topology, and has the path, and all traffic on it, say what follows from it: the rates and disciplines
    /// of the links that the record reports, and round-trip times. `written` is what was read, with the disciplines apart.
    pub(crate) fn lay_out(
        &mut self,
        mut topology: TopologyScenario,
        written: &Value,
        qdiscs: &mut [Option<String>; 2],
        backend: Backend,
    ) -> Result<TopologyScenario, ScenarioError> {
        if backend.has_real_hosts() {
            return Err(ScenarioError::because(format!(
                "topology is given, but the {} back end has the path with one bottleneck only: use sim",
                backend.name()
            )));
        }
        let is_written = |key: &str| written.get(key).is_some_and(|value| !value.is_null());
        for key in FOREIGN {
            if is_written(key) && (key != "delay_tick" || !self.delay_tick.is_zero()) {
                return fail(key, "given", "absent with topology");
            }
        }
        topology.take_disciplines(qdiscs);
        topology.complete(self.largest_frame(), backend)?;
        let bottlenecks = [&topology.up, &topology.down].map(|name| topology.link(name.as_deref()));
        for ((direction, link), text) in Direction::ALL.into_iter().zip(bottlenecks).zip(qdiscs) {
            let Some(side) = link.and_then(LinkScenario::bottleneck) else {
                continue;
            };
            let (way, before) = (direction.name(), self.bottleneck(direction));
            let field = |key: &str| format!("{key}_{way}");
            let same = |key: &str, equal: bool| if is_written(key) { follows(key, equal) } else { Ok(()) };
            same(way, before.rate == side.rate)?;
            same(&field("burst"), before.burst == side.burst)?;
            same(
                &field("loss"),
                before.impairment.loss.total_cmp(&side.impairment.loss).is_eq(),
            )?;
            same(&field("jitter"), before.impairment.jitter == side.impairment.jitter)?;
            same(
                &field("service_interval"),
                before.service_interval == side.service_interval,
            )?;
            if let Some(text) = &text {
                let given = Discipline::parse(text, Some(side.rate)).ok();
                follows(&field("qdisc"), given.as_ref() == Some(&side.qdisc))?;
            }
            *text = Some(side.qdisc.to_string());
            self.set_bottleneck(direction, &side);
        }
        let rtt = topology.rtt(&topology.ends, "topology.ends")?;
        if is_written("rtt") {
            follows("rtt", self.rtt == rtt)?;
        }
        self.rtt = rtt;
        for keys in self.traffic_mut() {
            let ends = keys.ends.get_or_insert_with(|| topology.ends.clone());
            let rtt = topology.rtt(ends, &format!("{}.ends", keys.place))?;
            if !keys.rtt.is_zero() {
                follows(&format!("{}.rtt", keys.place), *keys.rtt == rtt)?;
            }
            *keys.rtt = rtt;
        }
        Ok(topology)
    }
}

/// Refuses a value of a key that says other than the topology.
fn follows(key: &str, equal: bool) -> Result<(), ScenarioError> {
    if equal {
        Ok(())
    } else {
        fail(key, "given", "absent with topology, which says it")
    }
}
