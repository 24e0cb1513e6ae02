//! A scenario is read, completed and checked.

use crate::context::Context;
use crate::edges::check_edges;
use crate::error::within;
use crate::flat::flat;
use crate::name::check_title;
use crate::reading;
use crate::scenario::{DEFAULT_RATE, QDISC};
use crate::traffic::KINDS;
use crate::{
    BINS_MAX, Backend, DELAY_TICK_MAX, DURATION_MAX, Direction, FlowScenario, Limits, ProbeScenario, ProgramScenario,
    RTT, Scenario, ScenarioError, Traffic, Transport, WifiScenario, fail, hosts, limits, wifi_kernel,
};
use serde_json::Value;
use sojourn_units::Duration;
use std::collections::BTreeSet;

/// Largest payload of a TCP segment in an MSDU of 2304 bytes, of which LLC and SNAP take 8, IPv4 20 and TCP 32. Source: IEEE
/// 802.11-2020 section 9.2.4.7.1.
const WIFI_MSS_MAX: u16 = 2304 - 8 - 20 - 32;

impl Scenario {
    /// Reads a scenario from JSON and checks that the simulator can run it.
    ///
    /// # Errors
    /// [`ScenarioError`] for anything that cannot be run.
    pub fn from_json(json: &str) -> Result<Self, ScenarioError> {
        Self::for_backend(json, Backend::Sim)
    }

    /// Reads a scenario from JSON and checks that `backend` can run it.
    ///
    /// # Errors
    /// [`ScenarioError`] for anything that cannot be run.
    pub fn for_backend(json: &str, backend: Backend) -> Result<Self, ScenarioError> {
        Self::within(json, backend, Limits::DEFAULT)
    }

    /// As [`Scenario::for_backend`], for who allows a run to need more than most machines have, or less.
    ///
    /// # Errors
    /// [`ScenarioError`] for anything that cannot be run, or needs more than `limits`.
    pub fn within(json: &str, backend: Backend, limits: Limits) -> Result<Self, ScenarioError> {
        limits::check_text(json)?;
        let (value, mut scenario) = reading::read(json)?;
        scenario
            .complete(&value, backend)
            .map_err(|error| error.spelled_as_in(&value))?;
        limits.check(&scenario.cost(backend))?;
        Ok(scenario)
    }

    /// Writes out what is left out, and checks that `backend` can run it.
    fn complete(&mut self, written: &Value, backend: Backend) -> Result<(), ScenarioError> {
        let heads = self.wifi.as_ref().map(WifiScenario::heads);
        self.tcp.heads = heads.unwrap_or_else(|| self.tcp.variant.heads());
        self.flows.iter_mut().for_each(FlowScenario::complete);
        self.probes.iter_mut().for_each(ProbeScenario::complete);
        if let Some(wifi) = &self.wifi {
            let first = wifi.cell.stations.first().map(|station| station.name.clone());
            for keys in self.traffic_mut().map(|keys| keys.identity) {
                if keys.station.is_none() {
                    keys.station.clone_from(&first);
                }
                keys.dscp.get_or_insert_default();
            }
        }
        let cell = self.wifi.is_some();
        for keys in self.traffic_mut() {
            keys.identity.leave_out_defaults(cell);
        }
        if let Some(topology) = self.topology.take() {
            self.topology = Some(self.lay_out(topology, written, backend)?);
        }
        self.check_hosts(backend)?;
        let frame = self.largest_frame();
        for (direction, link) in [(Direction::Up, &mut self.up), (Direction::Down, &mut self.down)] {
            link.complete_queue(DEFAULT_RATE, QDISC, |key| flat(key, direction), frame, backend)?;
        }
        self.check_traffic(backend)
    }

    /// Checks the window, the hosts and the cell.
    fn check_hosts(&self, backend: Backend) -> Result<(), ScenarioError> {
        check_title("experiment", &self.experiment)?;
        within("duration", self.duration, Duration::from_millis(1), DURATION_MAX)?;
        within("rtt", self.rtt, RTT.0, RTT.1)?;
        within(
            "sample_interval",
            self.sample_interval,
            Duration::from_millis(1),
            DURATION_MAX,
        )?;
        if self.duration.as_nanos() / self.sample_interval.as_nanos() > BINS_MAX {
            let rule = format!("at least a {BINS_MAX}th of the duration");
            return fail("sample_interval", self.sample_interval, rule);
        }
        let checked = self.tcp.validate();
        checked.map_err(|error| ScenarioError::because(error.to_string()))?;
        within("delay_tick", self.delay_tick, Duration::ZERO, DELAY_TICK_MAX)?;
        if backend.has_real_hosts() {
            hosts::check_real(self, backend)?;
        } else {
            hosts::check_sim(self)?;
        }
        if let Some(wifi) = &self.wifi {
            let valid = wifi.cell.validate();
            valid.map_err(|error| ScenarioError::because(error.to_string()))?;
            if backend == Backend::Linux {
                wifi_kernel::check(wifi)?;
            }
            if self.tcp.mss > WIFI_MSS_MAX {
                let rule = format!("at most {WIFI_MSS_MAX} with wifi, whose MSDUs have 2304 bytes at most");
                return fail("tcp.mss", self.tcp.mss, rule);
            }
        }
        for (i, probe) in self.probes.iter().enumerate() {
            probe.check(i, &self.context(backend))?;
        }
        Ok(())
    }

    /// Checks the edges and what passes them.
    fn check_traffic(&self, backend: Backend) -> Result<(), ScenarioError> {
        check_edges(self.edge_rate, self.edge_burst, self.edge_limit, self.largest_frame())?;
        let on = &self.context(backend);
        within("lead", self.lead, Duration::ZERO, Duration::from_secs(3600))?;
        within("start_jitter", self.start_jitter, Duration::ZERO, self.duration)?;
        self.check_each(on)?;
        self.check_names()?;
        ProgramScenario::check_all(&self.programs, on)?;
        match &self.flusher {
            Some(flusher) => flusher.check(&self.tcp_names(), on),
            None => Ok(()),
        }
    }

    fn check_names(&self) -> Result<(), ScenarioError> {
        let mut seen = BTreeSet::new();
        for name in self.traffic().map(Traffic::name) {
            if !seen.insert(name) {
                let rule = format!("unique among {KINDS}");
                return fail("name", format!("{name:?} twice"), rule);
            }
        }
        Ok(())
    }

    fn context(&self, backend: Backend) -> Context<'_> {
        Context {
            backend,
            ecn: self.tcp.ecn,
            duration: self.duration,
            wifi: self.wifi.as_ref(),
            topology: self.topology.as_ref(),
        }
    }

    /// The names of all TCP flows, web clients and downloads.
    fn tcp_names(&self) -> Vec<&str> {
        let tcp = self.traffic().filter(|one| one.transport() == Transport::Tcp);
        tcp.map(Traffic::name).collect()
    }
}
