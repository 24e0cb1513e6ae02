//! `sojournd flush`.

use super::config::{Config, Override};
use super::line::Detail;
use super::pipeline::Pipeline;
use super::privileges::{Identity, Keep, drop_privileges};
use super::read;
use crate::output;
use crate::sentence::plain;
use clap::Args;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use toml::Value;

/// Watches TCP for standing queues, and overflows them with short bursts. By default it only watches.
///
/// Decisions go to standard output as lines of JSON, the log to standard error. The exit status is 0 for success, 1
/// for a failure, and 2 if the configuration cannot be used. SIGHUP reads the configuration again. SIGUSR1 switches
/// flushing off for good.
#[derive(Args, Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "one field an option")]
pub struct Arguments {
    /// Configuration in TOML; the options below take precedence
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Read this capture (pcap or pcapng; - for standard input), print the decisions about it, and send nothing
    #[arg(long, value_name = "FILE")]
    read: Option<PathBuf>,
    /// Watch this network interface
    #[arg(long, short, value_name = "NAME", conflicts_with = "read")]
    interface: Option<String>,
    /// Also receive packets that are not addressed to this machine
    #[arg(long)]
    promiscuous: bool,
    /// Send flushes, as far as the gate permits; without this option nothing is ever sent
    #[arg(long)]
    active: bool,
    /// Prefix of destinations that may be flushed; repeat the option for several; nothing is sent to others
    #[arg(long, value_name = "PREFIX")]
    allow: Vec<String>,
    /// Prefix of the senders whose flows may be flushed; repeat the option for several (default: all senders)
    #[arg(long, value_name = "PREFIX")]
    from: Vec<String>,
    /// Parameters of the core: as_written, as_described or adaptive (default)
    #[arg(long, value_name = "PRESET")]
    flusher: Option<String>,
    /// Most bytes sent in any 60 seconds (default 3000000)
    #[arg(long, value_name = "BYTES")]
    bytes_per_minute: Option<String>,
    /// Most bytes of one flush (default 600000)
    #[arg(long, value_name = "BYTES")]
    bytes_per_flush: Option<String>,
    /// Largest flush as a multiple of the measured throughput x the largest RTT (default 2, at most 4)
    #[arg(long, value_name = "FACTOR")]
    bdp_multiple: Option<String>,
    /// Refuse a flush that was computed from a longer RTT than this (default 5s)
    #[arg(long, value_name = "TIME")]
    max_rtt: Option<String>,
    /// How long a destination is left alone after a flush (default 1s); doubled after each flush that did not help
    #[arg(long, value_name = "TIME")]
    cool_down: Option<String>,
    /// The longest time that --cool-down may grow to (default 600s)
    #[arg(long, value_name = "TIME")]
    max_cool_down: Option<String>,
    /// Send nothing while this file exists
    #[arg(long, value_name = "FILE")]
    kill_file: Option<PathBuf>,
    /// UDP port of the destinations (default 9, discard)
    #[arg(long, value_name = "PORT")]
    port: Option<String>,
    /// Take this user's identity once everything is open, and keep CAP_NET_RAW (default for root: the caller of
    /// sudo, or else nobody; give root to remain root)
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Which lines to write: decisions (default), flows or all
    #[arg(long, value_name = "DETAIL")]
    events: Option<Detail>,
    /// Write the decisions to FILE
    #[arg(long, value_name = "FILE")]
    decisions: Option<PathBuf>,
    /// Append the log to FILE
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Serve metrics for Prometheus on this loopback address, at /metrics
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<String>,
    /// Also write the captured packets to FILE (pcap, nanoseconds)
    #[arg(long, value_name = "FILE", conflicts_with = "read")]
    write: Option<PathBuf>,
    /// Show flows and decisions on the terminal; decisions as JSON then go only to the file of --decisions
    #[arg(long, conflicts_with = "read")]
    watch: bool,
    /// Overwrite the files of --decisions and --write
    #[arg(long)]
    force: bool,
    /// Run even if the kernel cannot confine system calls (seccomp)
    #[arg(long)]
    no_seccomp: bool,
}

/// Why it ended otherwise than well.
enum Failure {
    /// Exit status 1.
    Failed(String),
    /// Exit status 2.
    Usage(String),
}

/// Runs the command.
#[must_use]
pub fn run(arguments: &Arguments) -> ExitCode {
    let (what, status) = match arguments.carry_out() {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Failed(what)) => (what, 1),
        Err(Failure::Usage(what)) => (what, 2),
    };
    let _ = writeln!(io::stderr(), "sojournd: {}", plain(&what));
    ExitCode::from(status)
}

#[expect(clippy::needless_pass_by_value, reason = "it takes what `map_err` gives")]
fn usage(error: impl ToString) -> Failure {
    Failure::Usage(error.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "it takes what `map_err` gives")]
fn failed(error: impl ToString) -> Failure {
    Failure::Failed(error.to_string())
}

/// Of root, before it looks at other people's bytes; nothing needs rights any more. A user namespace may have nobody
/// else.
fn give_up_rights(user: Option<&str>) -> Result<(), Failure> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let identity = Identity::choose(user).map_err(usage)?;
    let identity = if identity.is_there() { identity } else { Identity::Same };
    drop_privileges(&identity, Keep::Nothing).map_err(failed)
}

impl Arguments {
    fn carry_out(&self) -> Result<(), Failure> {
        let overrides = self.overrides();
        let config = Config::load(self.config.as_deref(), &overrides).map_err(usage)?;
        match &self.read {
            Some(capture) => self.read(capture, &config),
            None => self.live(config, overrides),
        }
    }

    /// What stands on the command line, as it would stand in the file.
    fn overrides(&self) -> Vec<Override> {
        let text = |value: &Option<String>| value.as_deref().map(Value::from);
        let path = |value: &Option<PathBuf>| value.as_ref().map(|v| Value::from(v.to_string_lossy().into_owned()));
        let flag = |on: bool| on.then(|| Value::from(true));
        let number = |value: &Option<String>| {
            let v = value.as_deref()?;
            let whole = v.parse::<i64>().map(Value::from);
            let value = whole.or_else(|_| v.parse::<f64>().map(Value::from));
            Some(value.unwrap_or_else(|_| Value::from(v)))
        };
        let prefixes = |list: &[String]| (!list.is_empty()).then(|| Value::from(list.to_vec()));
        let all = [
            ("interface", text(&self.interface)),
            ("user", text(&self.user)),
            ("flusher.preset", text(&self.flusher)),
            ("gate.max_rtt", text(&self.max_rtt)),
            ("gate.cool_down", text(&self.cool_down)),
            ("gate.max_cool_down", text(&self.max_cool_down)),
            ("metrics.listen", text(&self.metrics)),
            ("gate.bytes_per_minute", number(&self.bytes_per_minute)),
            ("gate.bytes_per_flush", number(&self.bytes_per_flush)),
            ("gate.bdp_multiple", number(&self.bdp_multiple)),
            ("send.port", number(&self.port)),
            ("gate.kill_file", path(&self.kill_file)),
            ("decisions", path(&self.decisions)),
            ("log.file", path(&self.log)),
            ("events", self.events.and_then(|detail| Value::try_from(detail).ok())),
            ("gate.allow", prefixes(&self.allow)),
            ("gate.from", prefixes(&self.from)),
            ("active", flag(self.active)),
            ("promiscuous", flag(self.promiscuous)),
        ];
        all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }

    fn read(&self, capture: &Path, config: &Config) -> Result<(), Failure> {
        let mut pipeline = Pipeline::new(config.pipeline.clone()).map_err(usage)?;
        let out: Box<dyn io::Write> = match &config.decisions {
            Some(path) => Box::new(self.create("decisions", path)?),
            None => Box::new(io::stdout().lock()),
        };
        let out = BufWriter::with_capacity(1 << 16, out);
        let user = config.user.as_deref();
        let told = |e: read::ReadError| {
            if let read::ReadError::Write(e) = &e
                && e.kind() == io::ErrorKind::BrokenPipe
            {
                // Whoever read the decisions has seen enough.
                return None;
            }
            Some(failed(format!("{}: {e}", capture.display())))
        };
        let outcome = if capture == Path::new("-") {
            give_up_rights(user)?;
            read::read(io::stdin(), &mut pipeline, out)
        } else {
            let file = File::open(capture).map_err(|e| {
                usage(format!(
                    "--read is {}, but must be a file that can be read: {e}",
                    capture.display()
                ))
            })?;
            give_up_rights(user)?;
            read::read(file, &mut pipeline, out)
        };
        match outcome.map_err(told) {
            Ok(()) | Err(None) => Ok(()),
            Err(Some(failure)) => Err(failure),
        }
    }

    /// A file to be written; one that is there is replaced only with `--force`.
    fn create(&self, option: &str, path: &Path) -> Result<File, Failure> {
        output::create(option, path, self.force).map_err(usage)
    }

    #[cfg(feature = "capture")]
    fn live(&self, config: Config, overrides: Vec<Override>) -> Result<(), Failure> {
        use super::live::{Live, run};
        use super::log::Log;
        if config.interface.is_none() {
            return Err(usage(
                "interface is absent, but must be given, or a capture with --read",
            ));
        }
        let log = Log::open(config.log.as_deref()).map_err(|e| {
            let path = config.log.as_deref().unwrap_or(Path::new("-"));
            usage(format!(
                "log.file is {}, but must be a file that can be written: {e}",
                path.display()
            ))
        })?;
        let write = self.write.as_deref().map(|p| self.create("--write", p)).transpose()?;
        let decisions = config.decisions.as_deref();
        let decisions = decisions.map(|p| self.create("decisions", p)).transpose()?;
        let live = Live {
            file: self.config.clone(),
            overrides,
            write,
            decisions,
            watch: self.watch,
            unconfined: self.no_seccomp,
            config,
        };
        run(live, log).map_err(failed)
    }

    #[cfg(not(feature = "capture"))]
    fn live(&self, _: Config, _: Vec<Override>) -> Result<(), Failure> {
        let _ = (&self.write, self.watch, self.no_seccomp);
        Err(usage(
            "read is missing, but must name a capture: this sojournd was built without libpcap (feature capture)",
        ))
    }
}
