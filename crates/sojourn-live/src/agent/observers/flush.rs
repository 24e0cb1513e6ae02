//! The queue flusher of a load: `sojournd flush` on an interface of a host of the bed.
//!
//! It is the daemon that runs anywhere else, with its own capture and its own sockets; the agent starts it in the
//! namespace of its host, ends it after the measured window, and reads what it wrote. Beside that stand round-trip
//! times of all flows, by synthetic packet pairs between the captures at both ends.

mod lines;
mod round_trips;

use crate::agent::actor::{Actor, AgentError, Doing, World};
use crate::agent::observers::ends::{files, host_of};
use crate::agent::plan::job::FlusherJob;
use crate::flush::privileges::Identity;
use lines::Lines;
use rustix::process::{Pid, Signal, kill_process};
use sojourn_bed::{FlusherMeasured, FlusherPlan, LoadPlan, Measured};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What it writes, in the folder of the run.
const CONFIG: &str = "flusher.toml";
const DECISIONS: &str = "flusher.jsonl";
const LOG: &str = "flusher.log";
const WORDS: &str = "flusher.txt";
/// How often one looks whether it has ended, and how often at most.
const LOOK: Duration = Duration::from_millis(10);
const LOOKS: u32 = 1000;
/// Most of its own words in an error, bytes.
const LAST_WORDS: usize = 600;

/// How far the daemon can be confined here. In a guest there is nobody else whose identity it could take without
/// reading this machine's users, and kernels in virtual time are built without seccomp; what is in a guest can harm
/// nothing else. A user namespace of one user has nobody else either. Anywhere else the daemon has its defaults.
fn confinement() -> Vec<&'static str> {
    let alone = std::process::id() == 1 || !Identity::NOBODY.is_there();
    let has_seccomp = std::fs::read_to_string("/proc/self/status").is_ok_and(|text| text.contains("\nSeccomp:"));
    let mut options = Vec::new();
    if alone {
        options.extend(["--user", "root"]);
    }
    if std::process::id() == 1 && !has_seccomp {
        options.push("--no-seccomp");
    }
    options
}

/// The daemon.
#[derive(Debug)]
pub(crate) struct Flush {
    job: FlusherJob,
    plan: FlusherPlan,
    flows: usize,
    bins: usize,
    interval_ns: i64,
    directory: PathBuf,
    child: Option<Child>,
    seen: Option<FlusherMeasured>,
}

impl Flush {
    pub(crate) fn new(job: &FlusherJob, plan: &FlusherPlan, load: &LoadPlan, directory: &Path) -> Self {
        Self {
            job: job.clone(),
            plan: plan.clone(),
            flows: load.flows.len(),
            bins: (load.duration_ns / load.interval_ns) as usize,
            interval_ns: crate::agent::actor::signed(load.interval_ns),
            directory: directory.to_owned(),
            child: None,
            seen: None,
        }
    }

    fn begin(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        let file = |name: &str| self.directory.join(name);
        let config = file(CONFIG);
        std::fs::write(&config, &self.job.config).doing(|| format!("cannot write {}", config.display()))?;
        let words = std::fs::File::create(file(WORDS)).doing(|| format!("cannot write {WORDS}"))?;
        world.enter(host_of(&self.job.place)?)?;
        let mut command = Command::new(&self.job.program);
        command.arg("flush").arg("--config").arg(config);
        command.arg("--interface").arg(&self.job.place.interface);
        command.arg("--decisions").arg(file(DECISIONS));
        command.arg("--log").arg(file(LOG));
        if self.plan.active {
            command.arg("--active");
        }
        command.args(confinement());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(words);
        let started = command.spawn();
        let started = started.doing(|| format!("cannot start the flusher {}", self.job.program))?;
        self.child = Some(started);
        Ok(())
    }

    /// Ends the daemon.
    ///
    /// # Errors
    /// If it had ended before, failed, or does not end.
    fn end(&mut self) -> Result<(), AgentError> {
        let Some(mut child) = self.child.take() else {
            return Ok(());
        };
        let failed = |what: String| Err(AgentError::Plan(format!("the flusher {what}{}", self.last_words())));
        let waiting = || "waiting for the flusher".to_owned();
        if let Some(status) = child.try_wait().doing(waiting)? {
            return failed(format!("ended too early, with {status}"));
        }
        kill_process(Pid::from_child(&child), Signal::TERM).doing(|| "cannot end the flusher".into())?;
        for _ in 0..LOOKS {
            match child.try_wait().doing(waiting)? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return failed(format!("ended with {status}")),
                None => std::thread::sleep(LOOK),
            }
        }
        let _ = child.kill().and_then(|()| child.wait());
        failed("did not end when it was told to".into())
    }

    fn last_words(&self) -> String {
        let text = [WORDS, LOG]
            .map(|name| std::fs::read_to_string(self.directory.join(name)).unwrap_or_default())
            .concat();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let from = words.len().saturating_sub(LAST_WORDS);
        let last = words.get(from..).unwrap_or_default();
        if last.is_empty() {
            String::new()
        } else {
            format!("; its last words: {last}")
        }
    }

    fn read(&self, world: &dyn World) -> Result<FlusherMeasured, AgentError> {
        let mut lines = Lines::new(self.flows, self.bins, self.interval_ns);
        let [decisions, log] = [DECISIONS, LOG].map(|name| self.directory.join(name));
        for (path, is_log) in [(log, true), (decisions, false)] {
            let text = std::fs::read_to_string(&path).doing(|| format!("cannot read {}", path.display()))?;
            for line in text.lines() {
                let taken = if is_log {
                    lines.log(line)
                } else {
                    lines.decision(line, world)
                };
                taken.map_err(|why| {
                    AgentError::Plan(format!("a line of {} is not the flusher's: {why}", path.display()))
                })?;
            }
        }
        let mut seen = lines.finish();
        let [client, server] = files(&self.directory);
        let pairs = round_trips::pairs([&client, &server], self.flows, world)?;
        for (flow, pairs) in seen.flows.iter_mut().zip(pairs) {
            flow.pairs = pairs;
        }
        let far = if self.plan.at == "server" { &client } else { &server };
        seen.delivered = round_trips::arrived(far)?;
        Ok(seen)
    }
}

impl Drop for Flush {
    fn drop(&mut self) {
        // After an error of another actor.
        if let Some(mut child) = self.child.take() {
            let _ = child.kill().and_then(|()| child.wait());
        }
    }
}

impl Actor for Flush {
    fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        if self.plan.start_ns == 0 {
            // Flows begin later than this; so it is there when the first one does.
            return self.begin(world);
        }
        world.set_timer(0, crate::agent::actor::signed(self.plan.start_ns));
        Ok(())
    }

    fn due(&mut self, _key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        self.begin(world)
    }

    fn window_ends(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        self.end()?;
        self.seen = Some(self.read(world)?);
        Ok(())
    }

    fn finish(&mut self, measured: &mut Measured) {
        measured.flusher = self.seen.take();
    }
}
