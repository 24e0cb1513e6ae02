//! From a scenario to the traffic that a bed carries.

use super::{cell, qdisc};
use crate::draws;
use crate::record::numbers::signed_ns;
use crate::scenario::{
    Access, Backend, BottleneckScenario, Direction, FlusherScenario, ProbeKindScenario, Scenario, ScenarioError,
    Transport, fail,
};
use sojourn_bed::{
    AccessPlan, BottleneckPlan, DownloadPlan, FlowPlan, FlusherPlan, LOAD_FORMAT, LoadPlan, ProbeKind, ProbePlan,
    QdiscPlan, TcpPlan, WebPlan, ports,
};
use sojourn_units::{Bytes, Duration};

/// The traffic of a scenario, with everything drawn: one seed gives the same start times as the simulator's.
///
/// # Errors
/// [`ScenarioError`] if there are more flows, probes, web clients or downloads than a bed has ports for, or a discipline has a value
/// that a kernel cannot be told.
///
/// # Panics
/// Never: each RTT that is looked up was put in before.
#[expect(clippy::too_many_lines, reason = "a list of what a plan has, part by part")]
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
    let path = |rtt: Duration| rtts.binary_search(&rtt).expect("every RTT in use is among them");
    let lead = s.lead.as_nanos();
    Ok(LoadPlan {
        format: LOAD_FORMAT.to_owned(),
        seed: s.seed,
        lead_ns: lead,
        duration_ns: s.duration.as_nanos(),
        interval_ns: s.sample_interval.as_nanos(),
        paths: rtts.iter().map(|rtt| rtt.as_nanos()).collect(),
        up: bottleneck("qdisc_up", &s.up, backend)?,
        down: bottleneck("qdisc_down", &s.down, backend)?,
        edge_rate_bps: s.edge_rate.map(sojourn_units::Rate::as_bps),
        edge_burst_bytes: s.edge_burst.map(Bytes::get),
        edge_limit: s.edge_limit,
        tcp: TcpPlan {
            mss: s.tcp.mss,
            initial_window: s.tcp.initial_window,
            receive_window_bytes: s.tcp.receive_window.get(),
            hystart: s.tcp.hystart,
            ecn: s.tcp.ecn,
            delayed_ack: s.tcp.delayed_ack,
            min_rto_ns: s.tcp.min_rto.as_nanos(),
            save_metrics: s.save_metrics,
        },
        flows: s
            .flows
            .iter()
            .map(|f| FlowPlan {
                name: f.name.clone(),
                direction: way(f.direction),
                congestion_control: f.congestion_control.name().to_owned(),
                path: path(f.rtt),
                start_ns: (f.start + draws::start(s.seed, &f.name, s.start_jitter)).as_nanos(),
                bytes: f.bytes,
                rate_bps: f.rate.map(sojourn_units::Rate::as_bps),
                write_bytes: f.writes.map(|w| w.bytes.get()),
                write_interval_ns: f.writes.map(|w| w.interval.as_nanos()),
                udp: f.transport == Transport::Udp,
                access: access(f.access),
            })
            .collect(),
        probes: s
            .probes
            .iter()
            .map(|p| ProbePlan {
                name: p.name.clone(),
                kind: probe_kind(p.kind),
                size: p.size,
                path: path(p.rtt),
                start_ns: signed_ns(draws::phase(s.seed, p).as_nanos()) - signed_ns(lead),
                access: access(p.access),
            })
            .collect(),
        web: s
            .web
            .iter()
            .map(|w| WebPlan {
                name: w.name.clone(),
                objects: w.objects.clone(),
                workers: w.workers,
                interval_ns: w.interval.as_nanos(),
                congestion_control: w.congestion_control.name().to_owned(),
                path: path(w.rtt),
                start_ns: (w.start + draws::start(s.seed, &w.name, s.start_jitter)).as_nanos(),
                think_ns: w.think_time.as_nanos(),
                request_bytes: w.request_bytes,
                header_bytes: w.header_bytes,
                dns: w.dns,
                access: access(w.access),
            })
            .collect(),
        downloads: s
            .downloads
            .iter()
            .map(|d| DownloadPlan {
                name: d.name.clone(),
                direction: way(d.direction),
                congestion_control: d.congestion_control.name().to_owned(),
                path: path(d.rtt),
                start_ns: (d.start + draws::start(s.seed, &d.name, s.start_jitter)).as_nanos(),
                bytes: d.bytes,
                gaps_ns: {
                    let gaps = draws::Gaps::new(s.seed, &d.name, d.gap).fill(s.duration);
                    gaps.into_iter().map(Duration::as_nanos).collect()
                },
                access: access(d.access),
            })
            .collect(),
        wifi: s.wifi.as_ref().map(|wifi| cell::plan(&wifi.cell)),
        flusher: s.flusher.as_ref().map(flusher),
    })
}

const fn access(access: Access) -> AccessPlan {
    AccessPlan {
        // A cell has fewer stations than that.
        station: access.station as u16,
        dscp: access.dscp,
    }
}

fn flusher(f: &FlusherScenario) -> FlusherPlan {
    let params = serde_json::to_value(f.params).expect("parameters are plain data");
    let fields = params.as_object().expect("parameters have names");
    // Numbers, text and switches are written in TOML as in JSON.
    let lines = fields.iter().map(|(name, value)| format!("{name} = {value}\n"));
    FlusherPlan {
        at: f.place.name().to_owned(),
        active: f.active,
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
        .map(qdisc::plan)
        .map_err(|error| ScenarioError::because(format!("{field}: {error}")))
}

const fn way(direction: Direction) -> sojourn_bed::Direction {
    match direction {
        Direction::Up => sojourn_bed::Direction::Up,
        Direction::Down => sojourn_bed::Direction::Down,
    }
}

const fn probe_kind(kind: ProbeKindScenario) -> ProbeKind {
    match kind {
        ProbeKindScenario::Icmp(interval) => ProbeKind::Icmp {
            interval_ns: interval.as_nanos(),
        },
        ProbeKindScenario::UdpRr(timeout) => ProbeKind::UdpRr {
            timeout_ns: timeout.as_nanos(),
        },
        ProbeKindScenario::Isochronous(direction, interval) => ProbeKind::Isochronous {
            direction: way(direction),
            interval_ns: interval.as_nanos(),
        },
        ProbeKindScenario::Poisson(direction, interval) => ProbeKind::Poisson {
            direction: way(direction),
            interval_ns: interval.as_nanos(),
        },
        ProbeKindScenario::Voip(direction, voice) => ProbeKind::Voip {
            direction: way(direction),
            frame_ns: voice.frame.as_nanos(),
        },
    }
}
