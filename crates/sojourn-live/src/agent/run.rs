//! A run: the bed is built, the actors carry their traffic, and what they saw is written down.

use crate::agent::actor::{Doing, signed};
use crate::agent::kernel::controls::has_controls;
use crate::agent::kernel::pitfalls;
use crate::agent::observers::counters::Counters;
use crate::agent::observers::ends::Ends;
use crate::agent::observers::flush::Flush;
use crate::agent::observers::qdisc::Bottlenecks;
use crate::agent::observers::radio::Radio;
use crate::agent::observers::tap::{Tap, Watch};
use crate::agent::plan::build::Bed;
use crate::agent::plan::introduce::introduce;
use crate::agent::plan::job::Job;
use crate::agent::programs::Programs;
use crate::agent::reactor::Reactor;
use crate::agent::traffic::bulk::Bulk;
use crate::agent::traffic::download::Download;
use crate::agent::traffic::flood::Flood;
use crate::agent::traffic::icmp::Icmp;
use crate::agent::traffic::one_way::OneWay;
use crate::agent::traffic::udp_rr::UdpRr;
use crate::agent::traffic::web::Web;
use crate::agent::{Actor, AgentError};
use rustix::system::uname;
use sojourn_bed::{
    DownloadMeasured, FlowMeasured, Kernel, LoadPlan, MEASURED_FORMAT, Measured, ProbeMeasured, WebMeasured,
};
use sojourn_scenario::{ProbeKindScenario, Transport};
use std::ffi::CStr;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// From the end of building to the first probe, beside twice the longest path: sockets are opened meanwhile.
const PREPARATION_NS: i64 = 500_000_000;
/// After the bed is built: a device whose peer came up after it drops everything until the kernel has looked at its
/// link, which it does at most once a second (`linkwatch_schedule_work`).
const LINKS_COME_UP: Duration = Duration::from_millis(1500);

/// How long a guest has been up before its programs begin: some take a clock near zero for a mistake (fping 5.1).
const UPTIME: Duration = Duration::from_secs(600);

/// Writes a file of results.
pub(super) fn write(directory: &Path, name: &str, bytes: &[u8]) -> Result<(), AgentError> {
    let path = directory.join(name);
    std::fs::write(&path, bytes).doing(|| format!("cannot write {}", path.display()))
}

/// Loads kernel modules; one that is there already is no error.
pub(super) fn load_modules(paths: &[String]) -> Result<(), AgentError> {
    for path in paths {
        let file = File::open(path).doing(|| format!("cannot open the kernel module {path}"))?;
        match rustix::system::finit_module(&file, c"", 0) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(e) => return Err(e).doing(|| format!("cannot load the kernel module {path}")),
        }
    }
    Ok(())
}

/// The kernel this runs on.
pub(super) fn kernel() -> Kernel {
    let names = uname();
    let text = |s: &CStr| s.to_string_lossy().into_owned();
    let command_line = std::fs::read_to_string("/proc/cmdline").unwrap_or_default();
    Kernel {
        release: text(names.release()),
        version: text(names.version()),
        virtual_time: command_line
            .split_whitespace()
            .any(|word| word == "time-travel=inf-cpu"),
    }
}

/// All actors of a run, in the order in which they act at the same instant: first those that look, then the traffic.
fn actors(job: &Job, directory: &Path, bed: &mut Bed) -> Result<Vec<Box<dyn Actor>>, AgentError> {
    let plan = &job.load;
    let mut actors: Vec<Box<dyn Actor>> = vec![
        Box::new(Bottlenecks::new(&job.bed.watch, plan, bed)?),
        Box::new(Counters::new(job.bed.stations())),
    ];
    if job.watch_packets {
        let path = directory.join("packets.bin");
        let file = File::create(&path).doing(|| format!("cannot write {}", path.display()))?;
        let (up, down) = (Watch::of(&job.bed.watch.up)?, Watch::of(&job.bed.watch.down)?);
        let tap = Tap::new(up, down, plan, Box::new(file));
        actors.push(Box::new(match &job.programs {
            Some(programs) => tap.telling_programs(programs.addresses.clone()),
            None => tap,
        }));
    }
    if let Some(radio) = &job.bed.radio {
        actors.push(Box::new(Radio::new(radio, job.bed.clients.len(), plan)));
    }
    if let (Some(job), Some(flusher)) = (&job.flusher, &plan.flusher) {
        actors.push(Box::new(Ends::new(&job.ends, directory)?));
        actors.push(Box::new(Flush::new(job, flusher, plan, directory)));
    }
    actors.extend(traffic(plan)?);
    Ok(actors)
}

/// The traffic of a plan.
pub(super) fn traffic(plan: &LoadPlan) -> Result<Vec<Box<dyn Actor>>, AgentError> {
    let mut actors: Vec<Box<dyn Actor>> = vec![Box::new(Bulk::new(plan))];
    for (i, flow) in plan
        .flows
        .iter()
        .enumerate()
        .filter(|(_, flow)| flow.transport() == Transport::Udp)
    {
        actors.push(Box::new(Flood::new(i, flow, plan)?));
    }
    for (i, probe) in plan.probes.iter().enumerate() {
        actors.push(match probe.kind() {
            ProbeKindScenario::Icmp(_) => Box::new(Icmp::new(i, probe, plan)?),
            ProbeKindScenario::UdpRr(_) => Box::new(UdpRr::new(i, probe, plan)?),
            ProbeKindScenario::Isochronous(..) | ProbeKindScenario::Poisson(..) | ProbeKindScenario::Voip(..) => {
                Box::new(OneWay::new(i, probe, plan)?)
            }
        });
    }
    for (index, web) in plan.web.iter().enumerate() {
        actors.push(Box::new(Web::new(index, web, plan)?));
    }
    for (index, download) in plan.downloads.iter().enumerate() {
        actors.push(Box::new(Download::new(index, download)));
    }
    Ok(actors)
}

pub(super) fn run(job: &Job, directory: &Path) -> Result<(), AgentError> {
    load_modules(&job.modules)?;
    has_controls(&job.load, &kernel().release)?;
    let mut bed = Bed::build(&job.bed, job.load.paths.len())?;
    pitfalls::look(&mut bed, job.load.tcp.gso)?;
    write(directory, "packets.bin", &[])?;
    std::thread::sleep(LINKS_COME_UP);
    if job.programs.is_some() && kernel().virtual_time {
        std::thread::sleep(UPTIME);
    }
    introduce(&mut bed, &job.load)?;
    let programs = job
        .programs
        .as_ref()
        .map(|programs| Programs::begin(programs, &job.load, directory, &mut bed));
    let programs = programs.transpose()?;
    let mut actors = actors(job, directory, &mut bed)?;
    if let Some(programs) = programs {
        actors.push(Box::new(programs));
    }
    let plan = &job.load;
    let mut reactor = Reactor::new(bed, until_begin(plan), signed(plan.duration_ns))?;
    reactor.run(&mut actors)?;
    write_measured(directory, &measured_by(&mut actors, plan))
}

/// From now to the beginning of the measured window.
pub(super) fn until_begin(plan: &LoadPlan) -> i64 {
    let paths = plan.paths.iter().max().copied().unwrap_or(0);
    signed(plan.lead_ns) + PREPARATION_NS + 2 * signed(paths)
}

/// What the actors of a plan saw.
pub(super) fn measured_by(actors: &mut [Box<dyn Actor>], plan: &LoadPlan) -> Measured {
    let mut measured = Measured {
        format: MEASURED_FORMAT.into(),
        kernel: kernel(),
        flows: vec![FlowMeasured::default(); plan.flows.len()],
        probes: vec![ProbeMeasured::default(); plan.probes.len()],
        web: vec![WebMeasured::default(); plan.web.len()],
        downloads: vec![DownloadMeasured::default(); plan.downloads.len()],
        ..Measured::default()
    };
    for actor in actors {
        actor.finish(&mut measured);
    }
    measured
}

pub(super) fn write_measured(directory: &Path, measured: &Measured) -> Result<(), AgentError> {
    let text = serde_json::to_vec(measured).doing(|| "cannot write measured.json".into())?;
    write(directory, "measured.json", &text)
}
