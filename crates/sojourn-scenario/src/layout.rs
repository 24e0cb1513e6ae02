//! A scenario with a topology says of its path, and of all traffic on it, what follows from the topology.

use crate::flat::flat;
use crate::topology::TopologyScenario;
use crate::{Backend, Direction, Scenario, ScenarioError, fail, flat};
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
        topology.take_disciplines([&self.up, &self.down].map(|link| link.qdisc.clone()));
        topology.complete(self.largest_frame(), backend)?;
        let links = [(Direction::Up, &topology.up), (Direction::Down, &topology.down)];
        for (direction, name) in links {
            let Some(link) = topology.link(name.as_deref()) else {
                continue;
            };
            let own = direction.of(&mut self.up, &mut self.down);
            if let Some(text) = &own.qdisc {
                let given = Discipline::parse(text, link.rate).ok();
                own.qdisc = given.map(|qdisc| qdisc.to_string());
            }
            let [before, after] = [&*own, link].map(|link| serde_json::to_value(link).unwrap_or_default());
            for key in flat::of_the_path() {
                let name = flat(key, direction);
                if is_written(&name) {
                    follows(&name, before.get(key) == after.get(key))?;
                }
            }
            *own = link.clone();
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
