//! What the agent is told to do: `job.json`.

use crate::agent::AgentError;
use crate::agent::plan::offer::Offer;
use crate::agent::plan::step::Step;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sojourn_bed::{AccessPlan, Common, LOAD_FORMAT, LoadPlan};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

/// Format name of [`Job`].
pub const JOB_FORMAT: &str = "sojourn-job/1";
/// Format name of [`LiveJob`].
pub const LIVE_FORMAT: &str = "sojourn-live-job/1";
/// Format name of [`CheckJob`].
pub const CHECK_FORMAT: &str = "sojourn-check/1";
/// Format name of [`CallsJob`].
pub const CALLS_FORMAT: &str = "sojourn-calls/1";

/// Most namespaces of a bed.
const MOST_NAMESPACES: usize = 64;
/// The longest time of a plan, in nanoseconds: eleven days. So no sum of a few times overflows.
const LONGEST_NS: u64 = 1_000_000_000_000_000;

/// A run: a bed, and the traffic on it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// [`JOB_FORMAT`].
    pub format: String,
    /// Kernel modules to load first, in order: absolute paths.
    pub modules: Vec<String>,
    /// The bed.
    pub bed: BedPlan,
    /// The traffic.
    pub load: LoadPlan,
    /// Whether each frame at the bottlenecks is recorded.
    pub watch_packets: bool,
    /// The flusher of the load.
    #[serde(default)]
    pub flusher: Option<FlusherJob>,
    /// The programs of the load.
    #[serde(default)]
    pub programs: Option<ProgramsJob>,
}

/// What programs find in the guest.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramsJob {
    /// Each, in the order of the load.
    pub programs: Vec<ProgramJob>,
    /// The folder in which they start.
    pub folder: String,
    /// Variables of all their environments.
    pub environment: Vec<(String, String)>,
    /// The texts of `hosts` and `resolv.conf`.
    pub network: BTreeMap<String, String>,
    /// Addresses of all hosts of the bed: what goes between two of them is a flow of programs.
    pub addresses: BTreeSet<IpAddr>,
}

/// Where a program is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramJob {
    /// The path of its file.
    pub program: String,
    /// The files that it is given: their names in the run's folder, and in its own.
    pub files: Vec<(String, String)>,
}

/// A queue flusher: the daemon on an interface of a host, and captures at both ends of the path.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlusherJob {
    /// The daemon, an absolute path.
    pub program: String,
    /// Where it runs.
    pub place: Place,
    /// Its configuration, TOML.
    pub config: String,
    /// Where the client's and the server's captures are taken.
    pub ends: [Place; 2],
}

/// An interface of a host.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Its namespace.
    pub host: String,
    /// Its name.
    pub interface: String,
}

/// A run through a bottleneck of ours.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LiveJob {
    /// [`LIVE_FORMAT`].
    pub format: String,
    /// The traffic, and what the bottleneck is.
    pub load: LoadPlan,
    /// How long before a packet is due the bottleneck waits awake.
    pub busy_poll_ns: u64,
}

/// A question: what the kernel can do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckJob {
    /// [`CHECK_FORMAT`].
    pub format: String,
    /// Kernel modules to load first, in order: absolute paths.
    pub modules: Vec<String>,
}

/// Disciplines of the kernel, call by call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallsJob {
    /// [`CALLS_FORMAT`].
    pub format: String,
    /// Kernel modules to load first, in order: absolute paths.
    pub modules: Vec<String>,
    /// The steps that make the device.
    pub setup: Vec<Step>,
    /// The device that the disciplines are put on.
    pub device: String,
    /// What is played, one after the other.
    pub sequences: Vec<Sequence>,
}

/// A discipline, and the packets that it is offered.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// The steps that put the discipline on the device.
    pub setup: Vec<Step>,
    /// The handle of the discipline whose counters are read.
    pub handle: u32,
    /// The packets, in the order of time.
    pub offers: Vec<Offer>,
    /// When the counters are read.
    pub end_ns: u64,
}

/// What the agent can be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// A run.
    Run(Box<Job>),
    /// A run through a bottleneck of ours.
    Live(Box<LiveJob>),
    /// What the kernel can do.
    Check(CheckJob),
    /// Disciplines of the kernel, call by call.
    Calls(Box<CallsJob>),
}

/// How the bed is built.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BedPlan {
    /// Network namespaces; number `i` is open as descriptor `100 + i` while the steps are carried out.
    pub namespaces: Vec<String>,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// Addresses of the clients: by station, or without a cell those of the hosts on the wire, which share a namespace.
    pub clients: Vec<Ipv4Addr>,
    /// Addresses of the servers, which share a namespace: of the first host one for each path of the load, then those
    /// of the next.
    pub server: Vec<Ipv4Addr>,
    /// The two bottlenecks.
    pub watch: Watch,
    /// The radios of a cell; `None` without.
    #[serde(default)]
    pub radio: Option<RadioPlan>,
}

/// The radios of a cell: radio 0 is that of the access point, `r1`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RadioPlan {
    /// Devices of radios, which no pitfall is looked for at: the queues below them are what is looked at.
    pub devices: Vec<String>,
    /// The driver's counters, below `/sys/kernel/debug`.
    pub stats: String,
    /// What else is kept, by name: files below `/sys/kernel/debug`; those that are not there are left out.
    pub files: BTreeMap<String, String>,
}

/// The namespace in which a guest begins: radios are there at first.
pub const OUTSIDE: &str = "outside";

/// The two bottlenecks.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// Client to server.
    pub up: Bottleneck,
    /// Server to client.
    pub down: Bottleneck,
}

/// A host through which a direction goes, and where.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bottleneck {
    /// Its namespace.
    pub host: String,
    /// The device on which the direction comes in.
    #[serde(rename = "in")]
    pub input: String,
    /// The device with the discipline under test.
    #[serde(rename = "out")]
    pub output: String,
}

impl Task {
    /// Reads `job.json`.
    ///
    /// # Errors
    /// One sentence on what is wrong.
    pub fn from_json(text: &str) -> Result<Self, AgentError> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
        }
        fn read<T: DeserializeOwned>(text: &str, check: fn(&T) -> Result<(), String>) -> Result<T, AgentError> {
            let job = serde_json::from_str(text);
            let job = job.map_err(|e| AgentError::Plan(format!("the job is not valid: {e}")))?;
            check(&job).map_err(AgentError::Plan)?;
            Ok(job)
        }
        match read::<Head>(text, |_| Ok(()))?.format.as_str() {
            CHECK_FORMAT => read(text, |_| Ok(())).map(Self::Check),
            JOB_FORMAT => read::<Box<Job>>(text, |job| job.validate()).map(Self::Run),
            CALLS_FORMAT => read::<Box<CallsJob>>(text, |job| job.validate()).map(Self::Calls),
            LIVE_FORMAT => read::<Box<LiveJob>>(text, |job| validate_load(&job.load)).map(Self::Live),
            other => Err(AgentError::Plan(format!(
                "format of the job is {other:?}, but must be {JOB_FORMAT}, {LIVE_FORMAT}, {CHECK_FORMAT} or {CALLS_FORMAT}"
            ))),
        }
    }
}

impl CallsJob {
    fn validate(&self) -> Result<(), String> {
        for (i, sequence) in self.sequences.iter().enumerate() {
            let times = sequence.offers.iter().map(|offer| offer.at_ns);
            let times: Vec<u64> = times.chain([sequence.end_ns]).collect();
            if !times.is_sorted() || sequence.end_ns > LONGEST_NS {
                return Err(format!(
                    "times of sequence {i} must not go back, and its end_ns must be at most {LONGEST_NS}"
                ));
            }
        }
        Ok(())
    }
}

impl Job {
    fn validate(&self) -> Result<(), String> {
        self.bed.validate()?;
        let load = &self.load;
        let (paths, servers) = (load.paths.len(), self.bed.server.len());
        if servers == 0 || paths == 0 || !servers.is_multiple_of(paths) {
            return Err(format!(
                "bed.server has {servers} addresses, but must have one of each host for each of the {paths} paths"
            ));
        }
        let (clients, hosts) = (self.bed.clients.len(), servers / paths);
        let programs = self.programs.as_ref().map_or(0, |job| job.programs.len());
        if programs != load.programs.len() {
            let rule = load.programs.len();
            return Err(format!(
                "programs has {programs} programs, but must have {rule}, as the load has"
            ));
        }
        for Common { name, access, .. } in load.traffic() {
            let (key, index) = if self.bed.radio.is_some() {
                ("station", access.station)
            } else {
                ("client", access.client)
            };
            let AccessPlan { station, client, .. } = access;
            if station > 0 && client > 0 || usize::from(station) + usize::from(client) >= clients {
                return Err(format!("{key} of {name} is {index}, but there are {clients}"));
            }
            if usize::from(access.server) >= hosts {
                return Err(format!("server of {name} is {}, but there are {hosts}", access.server));
            }
        }
        validate_load(load)
    }
}

impl BedPlan {
    /// How many clients have a namespace of their own.
    pub(crate) fn stations(&self) -> usize {
        if self.radio.is_some() { self.clients.len() } else { 1 }
    }

    fn validate(&self) -> Result<(), String> {
        let names = &self.namespaces;
        if names.len() > MOST_NAMESPACES {
            return Err(format!(
                "bed.namespaces has {} names, but must have at most {MOST_NAMESPACES}",
                names.len()
            ));
        }
        let there = |host| names.contains(host) || self.radio.is_some() && host == OUTSIDE;
        match self.steps.iter().map(|step| &step.host).find(|host| !there(host)) {
            Some(host) => Err(format!("host of a step is {host:?}, which is not in bed.namespaces")),
            None => Ok(()),
        }
    }
}

fn validate_load(load: &LoadPlan) -> Result<(), String> {
    if load.format != LOAD_FORMAT {
        return Err(format!("load.format is {:?}, but must be {LOAD_FORMAT}", load.format));
    }
    let times = [
        ("load.duration_ns", load.duration_ns),
        ("load.interval_ns", load.interval_ns),
        ("load.lead_ns", load.lead_ns),
    ];
    if let Some((field, _)) = times[..2].iter().find(|(_, value)| *value == 0) {
        return Err(format!("{field} is 0, but must be > 0"));
    }
    let paths = load.paths.iter().map(|&rtt| ("a path of load.paths", rtt));
    if let Some((field, value)) = times.into_iter().chain(paths).find(|&(_, value)| value > LONGEST_NS) {
        return Err(format!("{field} is {value}, but must be at most {LONGEST_NS}"));
    }
    for Common {
        name, path, start_ns, ..
    } in load.traffic()
    {
        if path >= load.paths.len() {
            return Err(format!("path of {name} is {path}, but there are {}", load.paths.len()));
        }
        if start_ns.unsigned_abs() > LONGEST_NS {
            return Err(format!(
                "start_ns of {name} is {start_ns}, but must be within {LONGEST_NS}"
            ));
        }
    }
    Ok(())
}
