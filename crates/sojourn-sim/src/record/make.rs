//! From a finished simulation to its record.

use super::assemble::{self, DropsByReason, EcnFacts, FlowFacts, Probes, SeriesFacts};
use super::numbers::{mean, seconds_from, signed_ns};
use super::simulated::Simulated;
use super::{
    BottleneckRecord, FlowRecord, LinkSeriesRecord, PerDirection, SojournOfOne, StackRecord, UdpRecord, flusher,
};
use crate::agent::{AgentEnd, EndCounts};
use crate::network::{LinkId, RoutePair};
use crate::probe::Probe;
use crate::series::LinkSeries;
use crate::simulator::{Added, Simulator};
use crate::traffic::flood::Flood;
use crate::traffic::voip::Voip;
use sojourn_bed::Sample;
use sojourn_qdisc::DropReason;
use sojourn_scenario::{
    AnyTraffic, BottleneckScenario, Direction, FlowScenario, ProbeScenario, TopologyScenario, Traffic, Transport,
};
use sojourn_units::{Duration, Time};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What is told of the queue before link `id`, and of the link behind it.
pub(super) fn bottleneck(run: Simulated<'_>, side: &BottleneckScenario, id: LinkId) -> BottleneckRecord {
    let link = &run.simulator.fabric.links[usize::from(id.0)];
    let e = link.egress.as_ref().expect("a bottleneck has a rate");
    let drops = DropsByReason {
        drops: DropReason::OF_A_QDISC
            .iter()
            .map(|r| (r.name(), e.meter.drops[r.index()]))
            .collect(),
        first_drop_s: DropReason::OF_A_QDISC
            .iter()
            .filter_map(|r| Some((r.name(), seconds_from(run.begin, e.meter.first_drops[r.index()]?))))
            .collect(),
    };
    let extra = e.pacing.extra_stats().into_iter();
    let extra = extra.map(|(name, value)| (Cow::Borrowed(name), value));
    let classes = e.pacing.class_stats().into_iter().flat_map(|class| {
        let name = move |name: &str| Cow::Owned(format!("{}_{name}", class.id));
        let counters = [
            (name("packets"), class.sent_packets as f64),
            (name("bytes"), class.sent_bytes as f64),
            (name("drops"), class.dropped as f64),
        ];
        let own: Vec<_> = class.extra.iter().map(|&(own, value)| (name(own), value)).collect();
        counters.into_iter().chain(own)
    });
    let extra = extra.chain(classes);
    let mut record = assemble::bottleneck(run.scenario, side, &e.meter, drops, extra.collect());
    record.lost = link.weather().map(|weather| weather.lost);
    record
}

/// The same of all links of a topology.
pub(super) fn links(run: Simulated<'_>) -> BTreeMap<String, BottleneckRecord> {
    let directed = run.scenario.topology.iter().flat_map(TopologyScenario::directed);
    let side = |name: &str| {
        let mut found = directed.clone().filter(|link| link.name == name);
        found.find_map(|link| link.link.bottleneck())
    };
    let links = run.places.links.iter();
    links
        .filter_map(|(name, id)| Some((name.clone(), bottleneck(run, &side(name)?, *id))))
        .collect()
}

/// A flow or a probe, and its queue in each direction of the bottleneck that it uses, if the discipline has queues by flow.
struct Owner<'a> {
    name: &'a str,
    queues: [Option<u32>; 2],
}

/// All of them, flows before probes.
fn owners<'a>(run: Simulated<'a>) -> Vec<Owner<'a>> {
    let Simulated {
        scenario, simulator, ..
    } = run;
    let disciplines = Direction::ALL.map(|direction| scenario.bottleneck(direction).qdisc);
    let queues = |routes: &RoutePair, opens: Direction, only: Option<Direction>| {
        [Direction::Up, Direction::Down].map(|towards| {
            let qdisc = &disciplines[usize::from(towards == Direction::Down)];
            let hash = simulator.hash(routes.of(opens == towards));
            // In a topology each way has disciplines of its own.
            let uses = scenario.topology.is_none() && only.is_none_or(|only| only == towards);
            qdisc.modelled().filter(|_| uses)?.queue(hash)
        })
    };
    let traffic = scenario.traffic().zip(&run.places.traffic);
    let owner = |(one, added): (&'a dyn Traffic, &Added)| {
        let one_way = match one.any() {
            AnyTraffic::Flow(_) => None,
            AnyTraffic::Probe(p) => p.kind().direction(),
            _ => return None,
        };
        Some(Owner {
            name: one.name(),
            queues: queues(&added.routes, one.opens(), one_way),
        })
    };
    traffic.filter_map(owner).collect()
}

/// Who shares a queue with owner `of`.
fn sharers(owners: &[Owner<'_>], of: usize) -> Vec<String> {
    let own = owners[of].queues;
    let shares = |queues: [Option<u32>; 2]| {
        queues
            .iter()
            .zip(own)
            .any(|(queue, own)| queue.is_some() && *queue == own)
    };
    let others = owners
        .iter()
        .enumerate()
        .filter(|(k, owner)| *k != of && shares(owner.queues));
    others.map(|(_, owner)| owner.name.to_owned()).collect()
}

pub(super) fn flows(run: Simulated<'_>) -> Vec<FlowRecord> {
    let Simulated {
        scenario, simulator, ..
    } = run;
    let owners = owners(run);
    let one = |(i, (f, added)): (usize, (&FlowScenario, Added))| {
        let queue_shared_with = sharers(&owners, i);
        let facts = match f.transport() {
            Transport::Tcp => tcp(simulator, added.index, queue_shared_with),
            Transport::Udp => udp(simulator.source(added.index)?, queue_shared_with),
            Transport::Stack => stack(run, f, added, queue_shared_with)?,
        };
        Some(assemble::flow(
            scenario,
            f,
            facts,
            added.routes,
            run.meters(f.ends.as_ref()),
        ))
    };
    run.traffic().enumerate().filter_map(one).collect()
}

/// The facts of TCP flow `i`, counted without those of UDP.
fn tcp(simulator: &Simulator, i: usize, queue_shared_with: Vec<String>) -> FlowFacts {
    let flow = &simulator.flows[i];
    let stats = simulator.sender(i).sender().stats();
    FlowFacts {
        delivered: simulator.receiver(i).receiver().bytes_in_order() - flow.delivered_before,
        segments_sent: stats.segments_sent,
        retransmissions: stats.retransmissions,
        timeouts: Some(stats.timeouts),
        loss_probes: Some(stats.loss_probes),
        undone: Some(stats.undone),
        mean_cwnd_segments: mean(flow.cwnd_sum as f64, flow.cwnd_samples),
        mean_srtt_ms: mean(flow.srtt_us_sum as f64 / 1e3, flow.srtt_samples),
        syn_retransmissions: simulator.sender(i).syn_retransmissions(),
        ecn: EcnFacts {
            agreed: Some(simulator.sender(i).sender().ecn()),
            delivered_ce: Some(stats.delivered_ce),
            echoes: Some(stats.echoes),
            reductions: Some(stats.ecn_reductions),
        },
        writes: flow.writes.as_ref().map(|w| (w.count(), w.delays.clone())),
        udp: None,
        stack: None,
        error: None,
        queue_shared_with,
    }
}

fn udp(flood: &Flood, queue_shared_with: Vec<String>) -> FlowFacts {
    let counts = flood.measured();
    let lost = counts.lost();
    FlowFacts {
        delivered: flood.delivered(),
        udp: Some(UdpRecord {
            sent: counts.sent,
            lost,
            loss: mean(lost as f64, lost + counts.received),
        }),
        queue_shared_with,
        ..FlowFacts::default()
    }
}

/// The facts of flow `f` of somebody else's transport; `None` if it has no such ends.
fn stack(run: Simulated<'_>, f: &FlowScenario, added: Added, queue_shared_with: Vec<String>) -> Option<FlowFacts> {
    let end = |index: usize| run.simulator.source::<AgentEnd>(index);
    let (sender, receiver) = (end(added.index)?, end(added.index + 1)?);
    let (sent, read, counts) = (sender.report(), receiver.report(), sender.counts());
    let error = sent.error.or(read.error).or_else(|| {
        if read.delivered > 0 {
            return None;
        }
        let (sent, long) = (counts.sent, counts.too_long);
        let nothing = "nothing of what it sent was read";
        Some(match sent + long {
            0 => "it sent nothing".to_owned(),
            _ => format!("{nothing}: {sent} datagrams were sent, and {long} were too long for the path"),
        })
    });
    Some(FlowFacts {
        delivered: receiver.delivered(),
        segments_sent: counts.sent,
        retransmissions: sent.lost.unwrap_or(0),
        timeouts: sent.timeouts,
        mean_cwnd_segments: mean(counts.windows.0, counts.windows.1),
        mean_srtt_ms: mean(counts.srtts.0, counts.srtts.1),
        stack: Some(StackRecord {
            name: f.stack.clone()?,
            version: run.places.stacks.get(f.stack.as_deref()?).cloned().unwrap_or_default(),
            too_long: counts.too_long + receiver.counts().too_long,
            lost: sent.lost,
        }),
        error,
        queue_shared_with,
        ..FlowFacts::default()
    })
}

/// What the packets of each probe waited: see [`assemble::sojourns`].
pub(super) fn sojourns(run: Simulated<'_>) -> Vec<SojournOfOne> {
    let probes = run.traffic().map(|(probe, added)| (probe, added.routes));
    assemble::sojourns(run.scenario, probes, |nodes| run.meters(nodes))
}

pub(super) fn probes(run: Simulated<'_>) -> Probes {
    let Simulated {
        scenario,
        simulator,
        begin,
        ..
    } = run;
    let mut all = Probes::default();
    let owners = owners(run);
    for (i, (s, added)) in run.traffic::<&ProbeScenario>().enumerate() {
        let shared = sharers(&owners, scenario.flows.len() + i);
        if let Some(v) = simulator.source::<Voip>(added.index) {
            let bins = v.bins(scenario.sample_interval, scenario.whole_bins());
            all.add_voice(scenario, s, &v.trace, &bins, v.base_delay, shared);
            continue;
        }
        let Some(p) = simulator.source::<Probe>(added.index) else {
            break;
        };
        let samples = p.samples.iter().map(|sample| Sample {
            sent_ns: signed_ns(sample.sent.as_nanos()) - signed_ns(begin.as_nanos()),
            delay_ns: sample.delay.map(Duration::as_nanos),
        });
        let samples: Vec<Sample> = samples.collect();
        all.add(scenario, s, &samples, p.spec.start.since(Time::ZERO), shared);
    }
    all
}

pub(super) fn series(run: Simulated<'_>) -> SeriesFacts {
    let s = &run.simulator.series;
    let link = |id: LinkId| s.links.get(usize::from(id.0)).cloned().unwrap_or_default();
    let (up, down) = (link(run.places.up), link(run.places.down));
    let flow = |(f, added): (&FlowScenario, Added)| match f.transport() {
        Transport::Tcp => {
            let flow = s.flows.get(added.index).cloned().unwrap_or_default();
            (flow.delivered, flow.cwnd)
        }
        Transport::Stack => {
            let end = |index: usize| run.simulator.source::<AgentEnd>(index).map(AgentEnd::counts);
            let of = |counts: Option<EndCounts>| counts.unwrap_or_default();
            (of(end(added.index + 1)).delivered, of(end(added.index)).window)
        }
        Transport::Udp => {
            let flood: Option<&Flood> = run.simulator.source(added.index);
            (flood.map_or_else(Vec::new, |f| f.series.clone()), Vec::new())
        }
    };
    let links = run.places.links.iter().map(|(name, id)| {
        let LinkSeries {
            backlog,
            drops,
            packets,
        } = link(*id);
        let series = LinkSeriesRecord {
            backlog_packets: backlog,
            drops,
            packets,
        };
        (name.clone(), series)
    });
    let links = links.collect();
    SeriesFacts {
        links,
        t_s: s.times.iter().map(|&t| seconds_from(run.begin, t)).collect(),
        flows: run.traffic().map(flow).collect(),
        airtimes: s.airtimes.clone(),
        flusher: flusher::series(run.simulator),
        backlog_packets: PerDirection {
            up: up.backlog,
            down: down.backlog,
        },
        drops: PerDirection {
            up: up.drops,
            down: down.drops,
        },
        packets: PerDirection {
            up: up.packets,
            down: down.packets,
        },
    }
}
