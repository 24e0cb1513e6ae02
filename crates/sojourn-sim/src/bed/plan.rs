//! From a scenario to the traffic that a bed carries.

use super::cell;
use crate::draws;
use crate::record::numbers::signed_ns;
use sojourn_bed::{AccessPlan, BottleneckPlan, FlusherPlan, LOAD_FORMAT, LoadPlan, Planned, QdiscPlan, ports};
use sojourn_scenario::{
    Backend, BottleneckScenario, Direction, FlusherScenario, Scenario, ScenarioError, Traffic, fail,
};
use sojourn_units::{Bytes, Duration};

/// The traffic of a scenario, with everything drawn: one seed gives the same start times as the simulator's.
///
/// # Errors
/// [`ScenarioError`] if there are more flows, probes, web clients or downloads than a bed has ports for, or a
/// discipline has a value that a kernel cannot be told.
///
/// # Panics
/// Never: each RTT that is looked up was put in before.
pub fn load_plan(s: &Scenario, backend: Backend) -> Result<LoadPlan, ScenarioError> {
    for (what, count, most) in [
        ("flows", s.flows.len(), ports::MOST_FLOWS),
        ("probes", s.probes.len(), ports::MOST_PROBES),
        ("web clients", s.web.len(), ports::MOST_WEB),
        ("downloads", s.downloads.len(), ports::MOST_DOWNLOADS),
    ] {
        if count > most {
            let rule = format!("at most {most}: a bed has a port for each");
            return fail(&format!("number of {what}"), count, rule);
        }
    }
    let rtts = s.rtts();
    let planner = Planner { s, rtts: &rtts };
    let lead = s.lead.as_nanos();
    Ok(LoadPlan {
        format: LOAD_FORMAT.to_owned(),
        seed: s.seed,
        lead_ns: lead,
        duration_ns: s.duration.as_nanos(),
        interval_ns: s.sample_interval.as_nanos(),
        paths: rtts.iter().map(|rtt| rtt.as_nanos()).collect(),
        up: bottleneck("qdisc_up", &s.bottleneck(Direction::Up), backend)?,
        down: bottleneck("qdisc_down", &s.bottleneck(Direction::Down), backend)?,
        edge_rate_bps: s.edge_rate.map(sojourn_units::Rate::as_bps),
        edge_burst_bytes: s.edge_burst.map(Bytes::get),
        edge_limit: s.edge_limit,
        tcp: s.tcp.clone(),
        flows: s
            .flows
            .iter()
            .map(|f| planner.planned(f, planner.start(&f.name, f.start)))
            .collect(),
        probes: s
            .probes
            .iter()
            .map(|p| {
                let start = signed_ns(draws::phase(s.seed, p).as_nanos()) - signed_ns(lead);
                planner.planned(p, start)
            })
            .collect(),
        web: s
            .web
            .iter()
            .map(|w| planner.planned(w, planner.start(&w.name, w.start)))
            .collect(),
        downloads: s
            .downloads
            .iter()
            .map(|d| {
                let gaps = draws::Gaps::new(s.seed, &d.name, d.gap).fill(s.duration);
                let start = planner.start(&d.name, d.start);
                Planned {
                    gaps_ns: gaps.into_iter().map(Duration::as_nanos).collect(),
                    ..planner.planned(d, start)
                }
            })
            .collect(),
        wifi: s.wifi.as_ref().map(|wifi| cell::plan(&wifi.cell)),
        flusher: s.flusher.as_ref().map(flusher),
        programs: s.programs.clone(),
    })
}

/// What pieces of traffic are planned by.
struct Planner<'a> {
    s: &'a Scenario,
    /// Base RTTs in use, in increasing order.
    rtts: &'a [Duration],
}

impl Planner<'_> {
    /// A piece of traffic, with its path and its place in the cell.
    ///
    /// # Panics
    /// Never: the RTTs of all traffic are among the scenario's.
    fn planned<T: Traffic + Clone>(&self, spec: &T, start_ns: i64) -> Planned<T> {
        let access = self.s.access(spec.identity());
        let path = self.rtts.binary_search(&spec.rtt());
        Planned {
            spec: spec.clone(),
            path: path.expect("every RTT in use is among them"),
            start_ns,
            access: AccessPlan {
                // A cell has fewer stations than that.
                station: access.station as u16,
                client: access.client,
                server: access.server,
                dscp: access.dscp,
            },
            gaps_ns: Vec::new(),
        }
    }

    /// When traffic starts that is to start at `start`, in the measured window.
    fn start(&self, name: &str, start: Duration) -> i64 {
        let later = draws::start(self.s.seed, name, self.s.start_jitter);
        signed_ns((start + later).as_nanos())
    }
}

fn flusher(f: &FlusherScenario) -> FlusherPlan {
    let params = serde_json::to_value(f.params).expect("parameters are plain data");
    let fields = params.as_object().expect("parameters have names");
    // Numbers, text and switches are written in TOML as in JSON.
    let lines = fields.iter().map(|(name, value)| format!("{name} = {value}\n"));
    FlusherPlan {
        at: f.place.name().to_owned(),
        active: f.active(),
        start_ns: f.start.as_nanos(),
        parameters: lines.collect(),
    }
}

fn bottleneck(field: &str, side: &BottleneckScenario, backend: Backend) -> Result<BottleneckPlan, ScenarioError> {
    let qdisc = match backend {
        Backend::Live => QdiscPlan {
            kind: side.qdisc.kind().to_owned(),
            text: side.qdisc.to_string(),
            ..QdiscPlan::default()
        },
        Backend::Sim | Backend::Linux => kernel_qdisc(field, side)?,
    };
    Ok(BottleneckPlan {
        rate_bps: side.rate.as_bps(),
        burst_bytes: side.burst.get(),
        // Less than 1, so less than 2^32; what is near rounds down.
        loss: (side.impairment.loss * 2.0f64.powi(32)) as u32,
        jitter_ns: side.impairment.jitter.as_nanos(),
        qdisc,
    })
}

fn kernel_qdisc(field: &str, side: &BottleneckScenario) -> Result<QdiscPlan, ScenarioError> {
    let options = side.qdisc.clone().for_kernel().kernel_options();
    options
        .map(QdiscPlan::from)
        .map_err(|error| ScenarioError::because(format!("{field}: {error}")))
}
