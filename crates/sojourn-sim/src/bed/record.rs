//! From what a bed saw to the record of a run.

use super::air;
use super::bottleneck::Side;
use super::error::{MeasuredError, fail};
use super::flusher;
use super::frames::{FARTHEST_NS, Frames, out_of_time};
use super::routes::BedRoutes;
use crate::draws;
use crate::meter::Meters;
use crate::network::RoutePair;
use crate::record::assemble::{self, EcnFacts, FlowFacts, Probes, SeriesFacts};
use crate::record::downloads::{self, DownloadFacts};
use crate::record::numbers::mean;
use crate::record::programs;
use crate::record::{
    Bottlenecks, DownloadRecord, FetchRecord, FileRecord, FlowRecord, KernelRecord, PerDirection, Record, UdpRecord,
    WebRecord, pages,
};
use crate::traffic::voice_trace::VoiceTrace;
use sojourn_bed::{
    DownloadMeasured, FlowMeasured, MEASURED_FORMAT, MOST_PROGRAM_FLOWS, Measured, ProbeMeasured, ProgramFlow,
    QdiscMeasured, UdpMeasured, WebMeasured,
};
use sojourn_scenario::{
    Backend, Direction, DownloadScenario, FlowScenario, ProbeKindScenario, ProbeScenario, Scenario,
};
use sojourn_units::{Bytes, Duration};
use std::collections::BTreeMap;

/// The record of a scenario that a bed of `backend` ran. `packets` are the watched frames, records of
/// [`sojourn_bed::Watched`].
///
/// It has what the simulator's has; `kernel` and `tcp_counters` besides. Nothing is told of who shares a queue with
/// whom, and there are no events (0). `cost.wall_s` and `cost.peak_rss_mb` are left to whoever has a clock.
///
/// # Errors
/// [`MeasuredError`] for a measurement that no bed can have made of this scenario.
pub fn measured_record(s: &Scenario, backend: Backend, m: &Measured, packets: &[u8]) -> Result<Record, MeasuredError> {
    check(s, m)?;
    flusher::check(s, m)?;
    let frames = Frames::read(packets, s, m.program_flows.len())?;
    let routes = BedRoutes::new(s, m.program_flows.len());
    let side = |direction, seen| Side {
        scenario: s,
        routes: &routes,
        direction,
        seen,
    };
    let (up, up_meter, departed_up) = side(Direction::Up, &m.up).record(&frames)?;
    let (down, down_meter, departed_down) = side(Direction::Down, &m.down).record(&frames)?;
    let meters = Meters {
        up: &up_meter,
        down: &down_meter,
    };
    let mut probes = probes(s, &m.probes);
    probes.add_sojourns(assemble::sojourns(s, routes.of_kind(s), |_| meters));
    let made = Record {
        kernel: Some(KernelRecord {
            release: m.kernel.release.clone(),
            version: m.kernel.version.clone(),
            virtual_time: m.kernel.virtual_time,
            wifi: m.wifi.as_ref().map(|seen| seen.text_end.clone()),
        }),
        tcp_counters: Some(m.counters.clone()),
        flows: flows(s, &m.flows, &routes, meters),
        web: s.web.iter().zip(&m.web).map(|(w, seen)| web(w, seen)).collect(),
        downloads: downloads(s, &m.downloads, &routes, meters),
        programs: programs::records(s, m),
        program_flows: {
            let ways = departed_up.into_iter().zip(departed_down);
            let one = |((flow, pair), (up, down)): ((&ProgramFlow, &RoutePair), _)| {
                let [up_counts, down_counts] = [up_meter.counts(pair.forth), down_meter.counts(pair.back)];
                programs::flow(flow, [(up, up_counts), (down, down_counts)])
            };
            m.program_flows
                .iter()
                .zip(&routes.programs)
                .zip(ways)
                .map(one)
                .collect()
        },
        bottleneck: Bottlenecks { up, down },
        wifi: air::record(s, m.wifi.as_ref())?,
        flusher: flusher::record(s, m),
        ..Record::default()
    };
    Ok(assemble::complete(s, backend, made, probes, series(s, m)))
}

/// Checks that the measurement is one of this scenario, and that nothing in it is beyond what a run can hold.
fn check(s: &Scenario, m: &Measured) -> Result<(), MeasuredError> {
    if m.format != MEASURED_FORMAT {
        return fail(
            "format of the measurement",
            format!("{:?}", m.format),
            format!("{MEASURED_FORMAT:?}"),
        );
    }
    for (what, found, wanted) in [
        ("flows", m.flows.len(), s.flows.len()),
        ("probes", m.probes.len(), s.probes.len()),
        ("web clients", m.web.len(), s.web.len()),
        ("downloads", m.downloads.len(), s.downloads.len()),
        ("programs", m.programs.len(), s.programs.len()),
    ] {
        if found != wanted {
            return fail(
                format!("number of measured {what}"),
                found,
                format!("{wanted}, as in the scenario"),
            );
        }
    }
    if m.program_flows.len() > MOST_PROGRAM_FLOWS {
        let rule = format!("at most {MOST_PROGRAM_FLOWS}");
        return fail("number of flows of programs", m.program_flows.len(), rule);
    }
    for (i, flow) in m.flows.iter().enumerate() {
        check_flow(s, i, flow)?;
    }
    for (i, probe) in m.probes.iter().enumerate() {
        for sample in &probe.samples {
            let delay = sample.delay_ns.unwrap_or(0);
            if out_of_time(sample.sent_ns) || delay > FARTHEST_NS as u64 {
                let value = format!("sent at {} ns and {delay} ns under way", sample.sent_ns);
                return fail(
                    format!("a sample of probe {i}"),
                    value,
                    format!("within {FARTHEST_NS} ns"),
                );
            }
        }
    }
    for (i, fetch) in m
        .web
        .iter()
        .enumerate()
        .flat_map(|(i, w)| w.fetches.iter().map(move |f| (i, f)))
    {
        if out_of_time(fetch.start_ns) {
            return fail(
                format!("a fetch of web client {i}"),
                fetch.start_ns,
                format!("within {FARTHEST_NS} ns"),
            );
        }
    }
    for (i, download) in m.downloads.iter().enumerate() {
        check_download(i, download)?;
    }
    check_discipline(Direction::Up, s, &m.up)?;
    check_discipline(Direction::Down, s, &m.down)
}

fn check_flow(s: &Scenario, i: usize, flow: &FlowMeasured) -> Result<(), MeasuredError> {
    let bins = s.whole_bins();
    for (what, count) in [("delivered", flow.delivered.len()), ("cwnd", flow.cwnd.len())] {
        if count != bins {
            let rule = format!("{bins}, one for each bin");
            return fail(format!("number of samples of {what} of flow {i}"), count, rule);
        }
    }
    let next = flow.delivered.iter().skip(1);
    if let Some((before, after)) = flow.delivered.iter().zip(next).find(|(a, b)| a > b) {
        let value = format!("{after} after {before}");
        return fail(format!("delivered of flow {i}"), value, "a count, which only rises");
    }
    let last = flow.delivered.last().copied().unwrap_or(0);
    if let Some(writes) = &flow.writes
        && (writes.delays_ns.len() > writes.count || writes.delays_ns.iter().any(|&ns| ns > FARTHEST_NS as u64))
    {
        let value = format!("{} delays of {}", writes.delays_ns.len(), writes.count);
        let rule = format!("at most one delay for each write, within {FARTHEST_NS} ns");
        return fail(format!("writes of flow {i}"), value, rule);
    }
    if flow.delivered_total < last {
        let rule = format!("at least {last}, what was delivered at the end of the last bin");
        return fail(format!("delivered_total of flow {i}"), flow.delivered_total, rule);
    }
    Ok(())
}

fn check_download(i: usize, download: &DownloadMeasured) -> Result<(), MeasuredError> {
    for (n, file) in download.files.iter().enumerate() {
        let time = file.time_ns.unwrap_or(0);
        if out_of_time(file.start_ns) || time > FARTHEST_NS as u64 {
            let value = format!("begun at {} ns and {time} ns under way", file.start_ns);
            return fail(
                format!("file {n} of download {i}"),
                value,
                format!("within {FARTHEST_NS} ns"),
            );
        }
        if file.time_ns.is_none() && n + 1 < download.files.len() {
            return fail(
                format!("file {n} of download {i}"),
                "incomplete",
                "complete, as others follow it",
            );
        }
    }
    Ok(())
}

fn check_discipline(direction: Direction, s: &Scenario, seen: &QdiscMeasured) -> Result<(), MeasuredError> {
    let (direction, qdisc) = (direction.name(), s.bottleneck(direction).qdisc);
    let kind = qdisc.kind();
    if seen.kind != kind {
        let rule = format!("{kind:?}, as in the scenario");
        return fail(
            format!("kind of the discipline {direction}"),
            format!("{:?}", seen.kind),
            rule,
        );
    }
    // At the beginning, after each bin, and at the end of a window that is no whole number of bins.
    let bins = s.whole_bins();
    let rest = usize::from(!s.duration.as_nanos().is_multiple_of(s.sample_interval.as_nanos()));
    let count = seen.samples.len();
    if count <= bins || count > bins + 1 + rest {
        let rule = format!("{}, one at the beginning and one for each bin", bins + 1);
        return fail(format!("number of samples of the discipline {direction}"), count, rule);
    }
    for w in seen.samples.windows(2) {
        if w[1].packets < w[0].packets || w[1].drops < w[0].drops {
            let value = format!(
                "{} packets and {} drops after {} and {}",
                w[1].packets, w[1].drops, w[0].packets, w[0].drops
            );
            return fail(
                format!("a sample of the discipline {direction}"),
                value,
                "of counters, which only rise",
            );
        }
    }
    Ok(())
}

fn flows(s: &Scenario, measured: &[FlowMeasured], routes: &BedRoutes, meters: Meters<'_>) -> Vec<FlowRecord> {
    let one = |((flow, routes), f): ((&FlowScenario, RoutePair), &FlowMeasured)| {
        let sum: u64 = f.cwnd.iter().map(|&n| u64::from(n)).sum();
        // Before the first sample of the RTT the kernel has 0.
        let srtts: Vec<f64> = f
            .srtt_us
            .iter()
            .filter(|&&us| us > 0)
            .map(|&us| f64::from(us) / 1e3)
            .collect();
        let facts = FlowFacts {
            delivered: f.delivered_total,
            segments_sent: f.segments_sent,
            retransmissions: f.retransmissions,
            timeouts: f.timeouts,
            loss_probes: None,
            undone: None,
            mean_cwnd_segments: mean(sum as f64, f.cwnd.len() as u64),
            mean_srtt_ms: mean(srtts.iter().sum(), srtts.len() as u64),
            syn_retransmissions: f.syn_retransmissions,
            ecn: f.ecn.map_or_else(EcnFacts::default, |ecn| EcnFacts {
                agreed: Some(ecn.agreed),
                delivered_ce: ecn.delivered_ce,
                echoes: None,
                reductions: None,
            }),
            writes: f.writes.as_ref().map(|w| {
                let delays = w.delays_ns.iter().copied().map(Duration::from_nanos);
                (w.count, delays.collect())
            }),
            udp: f.udp.as_ref().map(udp),
            stack: None,
            error: f.error.clone(),
            queue_shared_with: Vec::new(),
        };
        assemble::flow(s, flow, facts, routes, meters)
    };
    routes.of_kind(s).zip(measured).map(one).collect()
}

fn udp(seen: &UdpMeasured) -> UdpRecord {
    UdpRecord {
        sent: seen.sent,
        lost: seen.lost,
        loss: mean(seen.lost as f64, seen.received + seen.lost),
    }
}

fn downloads(
    s: &Scenario,
    measured: &[DownloadMeasured],
    routes: &BedRoutes,
    meters: Meters<'_>,
) -> Vec<DownloadRecord> {
    let one = |((d, routes), seen): ((&DownloadScenario, RoutePair), &DownloadMeasured)| {
        let files = seen.files.iter().map(|f| FileRecord {
            start_s: f.start_ns as f64 / 1e9,
            fct_ms: f.time_ns.map(|ns| Duration::from_nanos(ns).as_millis_f64()),
        });
        let facts = DownloadFacts {
            files: files.collect(),
            delivered: seen.delivered,
            segments_sent: seen.segments_sent,
            retransmissions: seen.retransmissions,
            syn_retransmissions: seen.syn_retransmissions,
            error: seen.error.clone(),
        };
        downloads::record(s, d, facts, routes, meters)
    };
    routes.of_kind(s).zip(measured).map(one).collect()
}

fn probes(s: &Scenario, measured: &[ProbeMeasured]) -> Probes {
    let mut all = Probes::default();
    for (probe, seen) in s.probes.iter().zip(measured) {
        if let ProbeKindScenario::Voip(direction, _) = probe.kind() {
            let (trace, sent_at) = voice(seen);
            let bins = trace.bins(s.sample_interval, s.whole_bins(), |place| sent_at[place]);
            let base = base_delay(s, probe, direction);
            all.add_voice(s, probe, &trace, &bins, base, Vec::new());
        } else {
            all.add(s, probe, &seen.samples, draws::phase(s.seed, probe), Vec::new());
        }
    }
    all
}

/// The packets of a voice stream that were sent in the measured window, and when they were sent.
fn voice(seen: &ProbeMeasured) -> (VoiceTrace, Vec<Duration>) {
    let mut trace = VoiceTrace::default();
    let mut sent_at = Vec::new();
    let mut arrivals = Vec::new();
    for sample in &seen.samples {
        let Ok(at) = u64::try_from(sample.sent_ns) else {
            continue;
        };
        trace.send();
        // Both are within FARTHEST_NS.
        arrivals.extend(sample.delay_ns.map(|delay| (at + delay, sent_at.len(), delay)));
        sent_at.push(Duration::from_nanos(at));
    }
    arrivals.sort_unstable();
    for (_, place, delay) in arrivals {
        trace.arrive(place, Duration::from_nanos(delay));
    }
    (trace, sent_at)
}

/// One-way delay of the empty path: half of the RTT, of which an odd nanosecond goes up, and serialisation at the
/// edges.
fn base_delay(s: &Scenario, probe: &ProbeScenario, direction: Direction) -> Duration {
    let half = probe.rtt / 2;
    let way = match direction {
        Direction::Up => probe.rtt.saturating_sub(half),
        Direction::Down => half,
    };
    // A frame is through a full bucket at once.
    let edge = s
        .edge_rate
        .filter(|_| s.edge_burst.is_none())
        .map_or(Duration::ZERO, |rate| {
            rate.time_to_send(Bytes::new(u64::from(probe.size())))
        });
    way + edge * 2
}

fn web(s: &sojourn_scenario::WebScenario, seen: &WebMeasured) -> WebRecord {
    let seconds = |ns: u64| Duration::from_nanos(ns).as_secs_f64();
    let fetches = seen.fetches.iter().map(|f| FetchRecord {
        start_s: f.start_ns as f64 / 1e9,
        dns_s: s.dns.then(|| seconds(f.dns_ns)),
        connect_s: seconds(f.connect_ns),
        time_s: seconds(f.time_ns),
        syn_retransmitted: f.syn_retransmitted,
        dns_retried: f.dns_retried,
    });
    pages::record(s, fetches.collect())
}

/// The kernel's counters at the end of each bin, from the beginning of the measured window.
fn series(s: &Scenario, m: &Measured) -> SeriesFacts {
    let bins = s.whole_bins();
    let of = |seen: &QdiscMeasured, value: fn(&sojourn_bed::QdiscSample) -> u64, counts: bool| -> Vec<u64> {
        let first = seen.samples.first().filter(|_| counts).map_or(0, value);
        let binned = seen.samples.iter().skip(1).take(bins);
        binned.map(|sample| value(sample) - first).collect()
    };
    let both = |value: fn(&sojourn_bed::QdiscSample) -> u64, counts: bool| PerDirection {
        up: of(&m.up, value, counts),
        down: of(&m.down, value, counts),
    };
    SeriesFacts {
        t_s: (1..=bins as u64)
            .map(|k| (s.sample_interval * k).as_secs_f64())
            .collect(),
        flows: m.flows.iter().map(|f| (f.delivered.clone(), f.cwnd.clone())).collect(),
        airtimes: m.wifi.as_ref().map_or_else(Vec::new, |seen| seen.airtime_ns.clone()),
        flusher: flusher::series(s, m),
        links: BTreeMap::new(),
        backlog_packets: both(|sample| sample.queued, false),
        drops: both(|sample| sample.drops, true),
        packets: both(|sample| sample.packets, true),
    }
}
