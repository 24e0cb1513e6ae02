//! A run through a bottleneck of ours: the traffic of a plan between two hosts, and what the bottleneck saw of it.
//!
//! The traffic has its own thread and event loop, as on a bed of kernels, and the bottleneck has another. What it
//! tells is what a bed's observer and its counters tell: each packet when it came to the queue and when it left, and
//! the counters at the beginning of the measured window and at the end of each bin. Times are the bottleneck's own: a
//! packet comes when it is read from the device, and leaves when the shaper lets it go, however late the thread is.

use crate::agent::actor::{Doing, signed};
use crate::agent::observers::counters::Counters;
use crate::agent::observers::tap::frame::{Known, parse_ip};
use crate::agent::plan::build::Bed;
use crate::agent::plan::job::LiveJob;
use crate::agent::reactor::Reactor;
use crate::agent::run::{measured_by, traffic, until_begin, write, write_measured};
use crate::agent::{Actor, AgentError};
use crate::bottleneck::ends::{End, EndPlan};
use crate::bottleneck::engine::{self, Finished, Handle, Options, Watch, monotonic_ns};
use crate::bottleneck::frame::Frame;
use crate::bottleneck::links::{INITIAL_WINDOW, LOCK, MIN_RTO, Metric, QUICK_ACK};
use crate::bottleneck::settings::{Settings, Share};
use crate::bottleneck::stats::Direction;
use crate::bottleneck::way::{Observer, Way};
use sojourn_bed::{
    AccessPlan, BottleneckPlan, LatenessMeasured, LoadPlan, Passed, QdiscMeasured, QdiscSample, Watched,
};
use sojourn_qdisc::{DropReason, Packet as _, QdiscSpec};
use sojourn_tcp::TcpParams;
use sojourn_units::{Bytes, Duration, Rate, Stream, Time};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

const FIRST_SERVER: u8 = 11;
/// Addresses of the server, and so paths of different length.
const MOST_PATHS: usize = 16;
/// IPv4 20, TCP 20, time stamps 12.
const IP_AND_TCP: u32 = 52;
const ETHERNET: u32 = 14;
const LINUX_MIN_RTO: Duration = Duration::from_millis(200);
/// A bit of a set of locked metrics.
const MIN_RTO_LOCKED: u32 = 1 << MIN_RTO;

/// Does what the job says.
pub(super) fn run(job: &LiveJob, directory: &Path) -> Result<(), AgentError> {
    let plan = &job.load;
    if plan.paths.len() > MOST_PATHS {
        return Err(AgentError::Plan(format!(
            "number of different rtt values is {}, but must be at most {MOST_PATHS} on the live back end",
            plan.paths.len()
        )));
    }
    let (clients, servers) = addresses(plan);
    let client = End::make(&end("client", "c0", &clients, &plan.tcp))?;
    let server = End::make(&end("server", "s0", &servers, &plan.tcp))?;
    let devices = [client.device()?, server.device()?];
    let ways = [way(plan, "up", &servers)?, way(plan, "down", &servers)?];
    let hosts = vec![
        ("client".to_owned(), client.namespace),
        ("server".to_owned(), server.namespace),
    ];
    let bed = Bed::of(hosts, clients, servers, plan.paths.len());
    let mut actors: Vec<Box<dyn Actor>> = vec![Box::new(Counters::new(1))];
    actors.extend(traffic(plan)?);
    let mut reactor = Reactor::new(bed, until_begin(plan), signed(plan.duration_ns))?;
    let origin = monotonic_ns();
    let recorder = |down| Recorder::new(plan, reactor.begin() - origin, down);
    let watches = [recorder(false), recorder(true)];
    let options = Options {
        overhead: ETHERNET,
        largest: Bytes::new(u64::from(plan.tcp.mss) + u64::from(IP_AND_TCP + ETHERNET)),
        busy_poll: Duration::from_nanos(job.busy_poll_ns),
        key: Stream::derive_seed(plan.seed, "flow hash"),
    };
    let handle: Handle<Recorder> =
        engine::start(ways, watches, devices, options, origin).doing(|| "cannot start the bottleneck".into())?;
    let ran = reactor.run(&mut actors);
    let Finished { report, watched } = handle.stop().doing(|| "the bottleneck failed".into())?;
    ran?;
    let mut measured = measured_by(&mut actors, plan);
    let [up, down] = watched;
    let mut frames = up.records;
    frames.extend(down.records);
    // What happened in the same nanosecond stays in the order of its direction.
    frames.sort_by_key(|record| record.at_ns);
    let bytes: Vec<u8> = frames.iter().flat_map(Watched::to_bytes).collect();
    write(directory, "packets.bin", &bytes)?;
    measured.up = finished(up.seen, &report.up);
    measured.down = finished(down.seen, &report.down);
    write_measured(directory, &measured)
}

/// The addresses of all clients and servers, as on a bed of kernels: the second octet of host N is N, of the first
/// host 0. A server has one for each path; those of a host follow each other.
fn addresses(plan: &LoadPlan) -> (Vec<Ipv4Addr>, Vec<Ipv4Addr>) {
    let most = |index: fn(&AccessPlan) -> u16| plan.traffic().map(|one| index(&one.access)).max().unwrap_or(0);
    let octet = |host: u16| if host == 0 { 0 } else { host as u8 + 1 };
    let client = |host| Ipv4Addr::new(10, octet(host), 1, 1);
    let paths = 0..plan.paths.len();
    let server = |host| {
        let of_path = move |path| Ipv4Addr::new(10, octet(host), 4, FIRST_SERVER + path as u8);
        paths.clone().map(of_path)
    };
    let clients = (0..=most(|access| access.client)).map(client).collect();
    let servers = (0..=most(|access| access.server)).flat_map(server).collect();
    (clients, servers)
}

fn finished(mut seen: QdiscMeasured, direction: &Direction) -> QdiscMeasured {
    let late = direction.lateness;
    seen.lateness = Some(LatenessMeasured {
        p50_us: late.p50_us,
        p99_us: late.p99_us,
        max_us: late.max_us,
    });
    seen
}

fn way(plan: &LoadPlan, name: &str, servers: &[Ipv4Addr]) -> Result<Way, AgentError> {
    let up = name == "up";
    let side: &BottleneckPlan = if up { &plan.up } else { &plan.down };
    let wrong = |e: &dyn std::fmt::Display| AgentError::Plan(format!("load.{name}: {e}"));
    if side.rate_bps == 0 {
        return Err(wrong(&"rate_bps is 0, but must be > 0"));
    }
    let rate = Rate::from_bps(side.rate_bps);
    // An odd nanosecond goes to the upstream half.
    let half = |rtt: u64| Duration::from_nanos(if up { rtt - rtt / 2 } else { rtt / 2 });
    let qdisc = QdiscSpec::parse(&side.qdisc.text, Some(rate)).map_err(|e| wrong(&e))?;
    let settings = Settings {
        delay: half(plan.paths.first().copied().unwrap_or(0)),
        loss: Share::from_parts(side.loss),
        ..Settings::new(rate, Bytes::new(side.burst_bytes), qdisc)
    };
    let delays = servers
        .iter()
        .map(|ip| IpAddr::V4(*ip))
        .zip(plan.paths.iter().cycle().map(|rtt| half(*rtt)));
    // The first is what the settings say.
    let delays = delays.skip(1).collect();
    Ok(Way::new(settings, plan.seed, name)
        .map_err(|e| wrong(&e))?
        .with_paths(delays))
}

/// A host with the TCP of the plan, as a bed of kernels has it.
fn end(host: &str, device: &str, addresses: &[Ipv4Addr], tcp: &TcpParams) -> EndPlan {
    let mut metrics: Vec<Metric> = vec![(INITIAL_WINDOW, tcp.initial_window)];
    if tcp.min_rto != LINUX_MIN_RTO {
        let ms = u32::try_from(tcp.min_rto.as_millis()).unwrap_or(u32::MAX).max(1);
        metrics.extend([(LOCK, MIN_RTO_LOCKED), (MIN_RTO, ms)]);
    }
    if !tcp.delayed_ack {
        metrics.push((QUICK_ACK, 1));
    }
    let set = |name: &str, value: String| (format!("net/ipv4/{name}"), value);
    let largest = 2 * tcp.receive_window.get();
    let mut sysctls = vec![
        set("tcp_ecn", tcp.ecn.sysctl().to_string()),
        set("tcp_no_metrics_save", "1".into()),
        // Half of the buffer is window (tcp_adv_win_scale 1). The kernel's own limits depend on the machine's memory.
        set("tcp_rmem", format!("4096 {} {largest}", largest.min(131_072))),
        set("tcp_wmem", "4096 16384 4194304".into()),
    ];
    let without_ipv6 = "net/ipv6/conf/all/disable_ipv6";
    if Path::new("/proc/sys").join(without_ipv6).exists() {
        sysctls.push((without_ipv6.into(), "1".into()));
    }
    EndPlan {
        host: host.into(),
        device: device.into(),
        mtu: u32::from(tcp.mss) + IP_AND_TCP,
        addresses: addresses.iter().map(|ip| (IpAddr::V4(*ip), 32)).collect(),
        default_route: Some(metrics),
        sysctls,
    }
}

/// Notes what passes a way.
#[derive(Debug)]
struct Recorder {
    known: Known,
    down: bool,
    /// The beginning of the measured window, on the engine's clock.
    begin: i64,
    interval: i64,
    bins: i64,
    records: Vec<Watched>,
    seen: QdiscMeasured,
    drops_begin: [u64; DropReason::ALL.len()],
}

impl Recorder {
    fn new(plan: &LoadPlan, begin: i64, down: bool) -> Self {
        Self {
            known: Known::of(plan),
            down,
            begin,
            interval: signed(plan.interval_ns),
            bins: signed(plan.duration_ns / plan.interval_ns),
            records: Vec::new(),
            seen: QdiscMeasured {
                passed: Some(Passed::default()),
                ..QdiscMeasured::default()
            },
            drops_begin: Default::default(),
        }
    }

    fn note(&mut self, frame: &Frame, at: Time, left: bool) {
        let parsed = parse_ip(frame.bytes(), &self.known);
        self.seen.passed.get_or_insert_default().count(left);
        let at_ns = signed(at.as_nanos()) - self.begin;
        // The largest packet is one of TCP, whose segments have 16 bits.
        let length = frame.size().get() as u16;
        self.records.push(parsed.watched(at_ns, length, self.down, left));
    }

    /// When the next sample is due, from the beginning of the window.
    fn due(&self) -> Option<i64> {
        let taken = signed(self.seen.samples.len() as u64);
        (taken <= self.bins).then_some(taken * self.interval)
    }
}

impl Observer for Recorder {
    fn came(&mut self, frame: &Frame, at: Time) {
        self.note(frame, at, false);
    }

    fn left(&mut self, frame: &Frame, at: Time) {
        self.note(frame, at, true);
    }
}

impl Watch for Recorder {
    fn next_look(&self) -> Option<Time> {
        // The window begins after the engine does.
        self.due().map(|due| Time::from_nanos((self.begin + due) as u64))
    }

    fn look(&mut self, way: &Way) {
        let Some(at_ns) = self.due() else { return };
        let (stats, backlog) = (way.stats(), way.backlog());
        let extra: BTreeMap<String, f64> = way
            .extra_stats()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        if self.seen.samples.is_empty() {
            way.settings().qdisc.kind().clone_into(&mut self.seen.kind);
            self.seen.extra_begin.clone_from(&extra);
            self.drops_begin = stats.drops;
        }
        self.seen.extra_end = extra;
        let since = |reason: DropReason| stats.drops[reason.index()] - self.drops_begin[reason.index()];
        let reasons = DropReason::OF_A_QDISC.map(|reason| (reason.name().to_owned(), since(reason)));
        self.seen.reasons = Some(BTreeMap::from(reasons));
        self.seen.samples.push(QdiscSample {
            at_ns,
            packets: stats.sent_packets,
            bytes: stats.sent_bytes,
            drops: stats.dropped(),
            overlimits: stats.overlimits + stats.marks,
            queued: backlog.packets,
            backlog: backlog.bytes.get(),
        });
    }
}
