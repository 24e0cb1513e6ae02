//! Programs of people's own in the hosts of a guest.
//!
//! Those that something waits for are started before all traffic, one after the other; the others when their time has
//! come. Each has a folder of its own in memory, and its outputs are files there, so that it never waits for a reader.

mod confine;

pub use confine::become_program;

use crate::agent::actor::{Actor, AgentError, Doing, Host, World, signed};
use crate::agent::plan::build::{Bed, in_guest};
use crate::agent::plan::job::{ProgramJob, ProgramsJob};
use crate::bottleneck::programs::waits_at;
use crate::kin::pid_of;
use crate::timer;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use confine::{EXEC_FAILED, PREFIX};
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::mount::{MountFlags, mount};
use rustix::process::{PidfdFlags, Signal, kill_process_group, pidfd_open};
use rustix::time::ClockId;
use sojourn_bed::{LoadPlan, Measured, ProgramMeasured};
use sojourn_scenario::{ProgramHost, ProgramScenario, Ready};
use std::fs::File;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// Where the folders of programs are.
const FOLDERS: &str = "/tmp/programs";
/// What a program's folder holds at most, and a file in it.
const FOLDER_ROOM: &std::ffi::CStr = c"size=96m";
pub(super) const FILE_MAX: u64 = 32 << 20;
/// Most processes and threads of a guest; root is not counted by user.
const TASKS: (&str, &str) = ("/proc/sys/kernel/threads-max", "1000");
/// How often one looks, how long a program may take to be ready, and to end when it was told to.
const LOOK: Duration = Duration::from_millis(10);
const READY_LOOKS: u32 = 3000;
const END_LOOKS: u32 = 100;
/// Bytes of its last words in a sentence.
const WORDS: usize = 400;
/// Timers of a program: its number times this, and which.
const TIMERS: u32 = 3;
const START: u32 = 0;
const STOP: u32 = 1;
const KILL: u32 = 2;

/// A program that was started.
#[derive(Debug)]
struct Running {
    child: Child,
    descriptor: OwnedFd,
    /// Whether it was told to end.
    stopped: bool,
}

/// One program.
#[derive(Debug)]
struct Program {
    plan: ProgramScenario,
    job: ProgramJob,
    /// The folder in which it starts.
    start: String,
    folder: PathBuf,
    running: Option<Running>,
    /// When it was started, by the monotonic clock until the measured window is known.
    started: Option<i64>,
    measured: ProgramMeasured,
}

/// All programs of a run.
#[derive(Debug)]
pub(crate) struct Programs {
    all: Vec<Program>,
    environment: Vec<(String, String)>,
}

/// The host of a program.
fn host_of(program: &ProgramScenario) -> Result<Host, AgentError> {
    match program.place() {
        Some(ProgramHost::Client(n)) => Ok(Host::Client(n)),
        Some(ProgramHost::Server(0)) => Ok(Host::Server),
        Some(ProgramHost::Server(n)) => Ok(Host::FurtherServer(n)),
        Some(ProgramHost::Router) => Ok(Host::R1),
        None => Err(AgentError::field(
            "the host of a program",
            &program.host,
            "one of the bed's",
        )),
    }
}

impl Programs {
    /// Makes the folders, and starts the programs that are waited for, until each is ready.
    ///
    /// # Errors
    /// If this is no guest, or a program cannot be started or is not ready.
    pub(crate) fn begin(job: &ProgramsJob, load: &LoadPlan, work: &Path, bed: &mut Bed) -> Result<Self, AgentError> {
        in_guest()?;
        std::fs::write(TASKS.0, TASKS.1).doing(|| format!("cannot write {} to {}", TASKS.1, TASKS.0))?;
        // What is short of memory is a program, and never the agent.
        std::fs::write("/proc/self/oom_score_adj", "-1000").doing(|| "cannot be spared when memory is short".into())?;
        std::fs::create_dir(FOLDERS).doing(|| format!("cannot make {FOLDERS}"))?;
        for (name, text) in &job.network {
            std::fs::write(Path::new(FOLDERS).join(name), text).doing(|| format!("cannot write {name}"))?;
        }
        let mut programs = Self {
            all: Vec::with_capacity(job.programs.len()),
            environment: job.environment.clone(),
        };
        let start = &job.folder;
        for (number, (plan, job)) in load.programs.iter().zip(&job.programs).enumerate() {
            let folder = Path::new(FOLDERS).join(number.to_string());
            let making = || format!("cannot make {}", folder.display());
            std::fs::create_dir(&folder).doing(making)?;
            mount("tmpfs", &folder, "tmpfs", MountFlags::empty(), FOLDER_ROOM).doing(making)?;
            std::fs::create_dir(folder.join("own")).doing(making)?;
            for (here, there) in &job.files {
                let copied = std::fs::copy(work.join(here), folder.join("own").join(there));
                copied.doing(|| format!("cannot copy {there} for program {}", plan.name))?;
            }
            programs.all.push(Program {
                plan: plan.clone(),
                job: job.clone(),
                start: start.clone(),
                folder,
                running: None,
                started: None,
                measured: ProgramMeasured::default(),
            });
        }
        let environment = programs.environment.clone();
        for program in programs.all.iter_mut().filter(|program| program.plan.ready.is_some()) {
            bed.enter(&host_of(&program.plan)?.name())?;
            program.start_and_wait(&environment)?;
        }
        Ok(programs)
    }
}

impl Program {
    /// Starts it in the namespace in which this thread is.
    fn start(&mut self, environment: &[(String, String)]) -> Result<(), AgentError> {
        let name = &self.plan.name;
        let output = |file: &str| {
            let path = self.folder.join(file);
            File::create(&path).doing(|| format!("cannot write {}", path.display()))
        };
        let mut command = Command::new("/proc/self/exe");
        command.arg("program").arg(&self.folder).arg(FOLDERS).arg(&self.start);
        command.arg(if self.plan.place() == Some(ProgramHost::Router) {
            "router"
        } else {
            "host"
        });
        command.arg(&self.job.program).args(&self.plan.command);
        command.env_clear().envs(environment.iter().cloned());
        command.envs(
            self.plan
                .environment
                .iter()
                .filter_map(|variable| variable.split_once('=')),
        );
        command
            .stdin(Stdio::null())
            .stdout(output("stdout")?)
            .stderr(output("stderr")?)
            .process_group(0);
        let child = command.spawn().doing(|| format!("cannot start program {name}"))?;
        let descriptor = pidfd_open(pid_of(&child), PidfdFlags::empty());
        self.running = Some(Running {
            child,
            descriptor: descriptor.doing(|| format!("cannot watch program {name}"))?,
            stopped: false,
        });
        self.started = Some(timer::now(ClockId::Monotonic));
        Ok(())
    }

    /// Starts it, and waits until it is ready.
    fn start_and_wait(&mut self, environment: &[(String, String)]) -> Result<(), AgentError> {
        let name = self.plan.name.clone();
        let ready = self.plan.ready.clone().unwrap_or_default();
        if let Some(Ready::Port(port)) = self.plan.awaited()
            && waits_at(port)
        {
            let (host, port) = (
                &self.plan.host,
                port.map_or("a port".to_owned(), |port| format!("port {port}")),
            );
            return Err(AgentError::Plan(format!(
                "program {name} is to wait at {port} of {host}, but something waited there before it was started"
            )));
        }
        self.start(environment)?;
        for _ in 0..READY_LOOKS {
            std::thread::sleep(LOOK);
            let running = self.running.as_mut().map(|running| &mut running.child);
            if let Some(status) = running
                .map_or(Ok(None), Child::try_wait)
                .doing(|| "cannot wait".into())?
            {
                return Err(self.failed(&format!("ended with {status} before it was ready ({ready})")));
            }
            if match self.plan.awaited() {
                Some(Ready::Port(port)) => waits_at(port),
                Some(Ready::Line(text)) => ["stdout", "stderr"].iter().any(|file| {
                    let said = std::fs::read(self.folder.join(file)).unwrap_or_default();
                    String::from_utf8_lossy(&said).contains(text)
                }),
                None => true,
            } {
                return Ok(());
            }
        }
        let waited = (LOOK * READY_LOOKS).as_secs();
        Err(self.failed(&format!("was not ready ({ready}) after {waited} s")))
    }

    /// A sentence on what went wrong, with its last words.
    fn failed(&self, what: &str) -> AgentError {
        let said = ["stderr", "stdout"].map(|file| std::fs::read(self.folder.join(file)).unwrap_or_default());
        let said = said
            .iter()
            .map(|text| String::from_utf8_lossy(text))
            .find(|text| !text.trim().is_empty());
        let words = said.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        let last = words.map_or_else(String::new, |words| {
            let from = words.chars().count().saturating_sub(WORDS);
            format!(
                "; its last words: {}",
                words.chars().skip(from).collect::<String>().trim_start()
            )
        });
        AgentError::Plan(format!("program {} {what}{last}", self.plan.name))
    }

    fn signal(&self, signal: Signal) {
        if let Some(running) = &self.running {
            // It has ended if there is none of its group.
            let _ = kill_process_group(pid_of(&running.child), signal);
        }
    }

    /// Notes that it has ended, if it has.
    ///
    /// # Errors
    /// If it was ended because it took more than it may, or could not be started at all.
    fn look(&mut self, now: impl FnOnce() -> i64) -> Result<bool, AgentError> {
        let Some(running) = &mut self.running else {
            return Ok(true);
        };
        let Some(status) = running.child.try_wait().doing(|| "cannot wait for a program".into())? else {
            return Ok(false);
        };
        let stopped = running.stopped;
        self.running = None;
        if stopped {
            return Ok(true);
        }
        self.refuse(status)?;
        (self.measured.status, self.measured.signal) = (status.code(), status.signal());
        self.measured.ended_ns = Some(now());
        Ok(true)
    }

    fn refuse(&self, status: ExitStatus) -> Result<(), AgentError> {
        if status.signal() == Some(Signal::XFSZ.as_raw()) {
            return Err(self.failed(&format!(
                "was ended: it wrote more than {} MiB to a file",
                FILE_MAX >> 20
            )));
        }
        if status.signal() == Some(Signal::KILL.as_raw()) {
            return Err(self.failed("was killed: the guest had no memory left, or a program killed it"));
        }
        let said = std::fs::read_to_string(self.folder.join("stderr")).unwrap_or_default();
        match said.strip_prefix(PREFIX) {
            Some(why) if status.code() == Some(EXEC_FAILED) => {
                Err(AgentError::Plan(format!("program {}: {}", self.plan.name, why.trim())))
            }
            _ => Ok(()),
        }
    }

    /// Reads what is kept.
    ///
    /// # Errors
    /// If a file is larger than a file may be, or cannot be read.
    fn collect(&mut self) -> Result<(), AgentError> {
        let own = self.folder.join("own");
        let kept = self.plan.keep.iter().map(|path| (path.as_str(), own.join(path)));
        let outputs = ["stdout", "stderr"].map(|name| (name, self.folder.join(name)));
        for (name, path) in outputs.into_iter().chain(kept) {
            // What leads out of the folder is none of its files.
            let inside = path
                .canonicalize()
                .is_ok_and(|path| path.starts_with(&self.folder) && path.is_file());
            if !inside {
                continue;
            }
            let bytes = std::fs::read(&path).doing(|| format!("cannot read {name} of program {}", self.plan.name))?;
            let text = String::from_utf8(bytes).unwrap_or_else(|e| {
                self.measured.base64.insert(name.to_owned());
                STANDARD.encode(e.as_bytes())
            });
            self.measured.outputs.insert(name.to_owned(), text);
        }
        Ok(())
    }
}

impl Actor for Programs {
    fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        // The same instant on both clocks.
        let ahead = timer::now(ClockId::Monotonic) - world.now();
        for (number, program) in (0u32..).zip(&mut self.all) {
            if let Some(running) = &program.running {
                program.measured.started_ns = program.started.map(|at| at - ahead);
                world.register(number, running.descriptor.as_fd(), false)?;
            } else {
                let start = program.plan.start.map_or(0, |start| signed(start.as_nanos()));
                world.set_timer(number * TIMERS + START, start);
            }
            if let Some(stop) = program.plan.stop {
                world.set_timer(number * TIMERS + STOP, signed(stop.as_nanos()));
            }
        }
        Ok(())
    }

    fn ready(&mut self, key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        let program = &mut self.all[key as usize];
        if let Some(running) = &program.running {
            world.deregister(key, running.descriptor.as_fd())?;
        }
        program.look(|| world.now()).map(drop)
    }

    fn due(&mut self, key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        let (number, what) = (key / TIMERS, key % TIMERS);
        let program = &mut self.all[number as usize];
        match what {
            START => {
                world.enter(host_of(&program.plan)?)?;
                program.start(&self.environment)?;
                program.measured.started_ns = Some(world.now());
                if let Some(running) = &program.running {
                    world.register(number, running.descriptor.as_fd(), false)?;
                }
            }
            STOP if program.running.is_some() => {
                program.tell();
                world.set_timer(number * TIMERS + KILL, world.now() + timer::SECOND);
            }
            // Also what it has left in its group.
            KILL => program.signal(Signal::KILL),
            _ => {}
        }
        Ok(())
    }

    fn window_ends(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        for program in &mut self.all {
            // What ended just now has done so by itself.
            program.look(|| world.now())?;
            program.tell();
        }
        for _ in 0..END_LOOKS {
            let ended: Result<Vec<bool>, _> = self
                .all
                .iter_mut()
                .map(|program| program.look(|| world.now()))
                .collect();
            if ended?.iter().all(|&ended| ended) {
                break;
            }
            std::thread::sleep(LOOK);
        }
        let memory = std::fs::read_to_string("/proc/vmstat").doing(|| "cannot read /proc/vmstat".into())?;
        if memory
            .lines()
            .any(|line| line.strip_prefix("oom_kill ").is_some_and(|count| count != "0"))
        {
            let sentence = "a process of a program was killed, because the guest had no memory left".to_owned();
            return Err(AgentError::Plan(sentence));
        }
        for program in &mut self.all {
            program.signal(Signal::KILL);
            if let Some(mut running) = program.running.take() {
                running.child.wait().doing(|| "cannot wait for a program".into())?;
            }
            program.collect()?;
        }
        Ok(())
    }

    fn finish(&mut self, measured: &mut Measured) {
        measured.programs = self
            .all
            .iter_mut()
            .map(|program| std::mem::take(&mut program.measured))
            .collect();
    }
}

impl Program {
    /// Tells it to end.
    fn tell(&mut self) {
        self.signal(Signal::TERM);
        if let Some(running) = &mut self.running {
            running.stopped = true;
        }
    }
}
