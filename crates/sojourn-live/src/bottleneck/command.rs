//! `sojournd bottleneck`.

use super::control::{self, Control};
use super::ends::{End, EndPlan};
use super::engine::{self, Handle, Options, monotonic_ns};
use super::failure::Failure;
use super::floor::Floor;
use super::programs::{Program, Stop, exit_code};
use super::settings::{Settings, Share, default_burst};
use super::stats::Report;
use super::way::Way;
use crate::agent::AgentError;
use crate::agent::actor::Doing;
use crate::agent::host::become_root;
use crate::kin::{self, Parent, end_descendants};
use crate::output;
use clap::{Args, Subcommand};
use rustix::process::{Pid, getpid, set_child_subreaper};
use sojourn_qdisc::{DeliveryTrace, QdiscSpec};
use sojourn_units::{Duration, parse_bytes, parse_duration, parse_rate};
use std::ffi::OsString;
use std::io::Write as _;
use std::net::IpAddr;
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Addresses of client and server.
const CLIENT: &str = "10.0.0.1";
const SERVER: &str = "10.0.0.2";
const CLIENT_6: &str = "fd00:50::1";
const SERVER_6: &str = "fd00:50::2";

/// Signals that end it.
const STOP: [i32; 3] = {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    [SIGINT, SIGTERM, SIGHUP]
};

/// Two hosts of network namespaces, joined by a bottleneck in user space.
///
/// Each direction has a shaper, a queue discipline of Sojourn's, a constant delay and random loss. COMMAND runs in
/// the client; the server is 10.0.0.2 or fd00:50::2 (SOJOURN_SERVER, SOJOURN_SERVER6), the client 10.0.0.1 or
/// fd00:50::1. The machine's own network is not touched. The program has root's rights only in a user namespace, and
/// removes everything when it ends. Without COMMAND it runs until Ctrl-C, and prints how to open a shell in the
/// hosts.
///
///   sojournd bottleneck --rate 10mbit --delay 25ms --qdisc fq_codel --server 'iperf3 -s' -- iperf3 -c 10.0.0.2
#[derive(Args, Debug)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// Rate of both directions, such as 10mbit.
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// Rate from client to server.
    #[arg(long, value_name = "RATE")]
    up: Option<String>,
    /// Rate from server to client.
    #[arg(long, value_name = "RATE")]
    down: Option<String>,
    /// Trace that the link from client to server follows, in place of a rate: Mahimahi's format, one time in ms a line.
    #[arg(long, value_name = "FILE")]
    trace_up: Option<String>,
    /// Trace that the link from server to client follows.
    #[arg(long, value_name = "FILE")]
    trace_down: Option<String>,
    /// Delay of each direction: half of the base round-trip time.
    #[arg(long, value_name = "TIME", default_value = "0ms")]
    delay: String,
    /// Share of packets lost behind the queue, in each direction, such as 0.1%.
    #[arg(long, value_name = "PERCENT", default_value = "0%")]
    loss: String,
    /// Discipline of both directions: what follows `tc qdisc add dev X root`, or a preset.
    #[arg(long, value_name = "TEXT", default_value = "fq_codel")]
    qdisc: String,
    /// Discipline from client to server.
    #[arg(long, value_name = "TEXT")]
    qdisc_up: Option<String>,
    /// Discipline from server to client.
    #[arg(long, value_name = "TEXT")]
    qdisc_down: Option<String>,
    /// Depth of the shapers' buckets (default: one largest packet).
    #[arg(long, value_name = "BYTES")]
    burst: Option<String>,
    /// Size of the largest IP packet, 1280 to 65535 bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 1500)]
    mtu: u32,
    /// Bytes that the link adds to each packet, at most 1000; an Ethernet interface counts 14.
    #[arg(long, value_name = "BYTES", default_value_t = 14)]
    overhead: u32,
    /// Wake up this long before a packet is due, and poll. More punctual, but takes processor time. At most 10ms.
    #[arg(long, value_name = "TIME", default_value = "0us")]
    busy_poll: String,
    /// Every TIME, 100us to 1s, wake a thread that does nothing else; its lateness is the machine's part.
    #[arg(long, value_name = "TIME")]
    floor: Option<String>,
    /// Seed of the loss and of disciplines that draw random numbers.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Command line of a server, which /bin/sh runs in the server host. COMMAND starts when the server listens.
    #[arg(long, value_name = "COMMAND")]
    server: Option<String>,
    /// At the end, print the counters on standard error, as `tc -s qdisc` does.
    #[arg(long)]
    stats: bool,
    /// At the end, write the counters to FILE as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Replace the FILE of --json if it exists.
    #[arg(long)]
    force: bool,
    /// Control socket of this bottleneck (default: sojournd-bottleneck.sock in XDG_RUNTIME_DIR or /tmp/sojourn-UID).
    #[arg(long, value_name = "SOCKET")]
    control: Option<PathBuf>,
    /// End when the process PID is gone. It must be the process that starts the bottleneck.
    #[arg(long, value_name = "PID")]
    master: Option<i32>,
    /// The process that started this one to do its work, and its process group (`kin` says why).
    #[arg(long, value_names = ["PID", "GROUP"], num_args = 2, hide = true)]
    kept_by: Vec<i32>,
    /// The command to run in the client host. The exit status is that of the command.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Change a running bottleneck. KEY is rate, burst, qdisc, delay or loss; up.KEY or down.KEY is one direction.
    Set {
        /// What to change, such as up.rate.
        key: String,
        /// Its new value, such as 5mbit.
        #[arg(required = true)]
        value: Vec<String>,
        /// Control socket of the bottleneck.
        #[arg(long, value_name = "SOCKET")]
        control: Option<PathBuf>,
    },
    /// Print the counters of a running bottleneck, as `tc -s qdisc` does.
    Show {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
        /// Control socket of the bottleneck.
        #[arg(long, value_name = "SOCKET")]
        control: Option<PathBuf>,
    },
    /// End a running bottleneck.
    Stop {
        /// Control socket of the bottleneck.
        #[arg(long, value_name = "SOCKET")]
        control: Option<PathBuf>,
    },
}

/// Carries it out; gives the exit status, and says on standard error what went wrong.
#[must_use]
pub fn run(arguments: &Arguments) -> ExitCode {
    match carry_out(arguments) {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            eprintln!("sojournd: {}", failure.sentence);
            ExitCode::from(failure.status)
        }
    }
}

fn carry_out(arguments: &Arguments) -> Result<u8, Failure> {
    let ask = |control: &Option<PathBuf>, line: &str| {
        let path = control.clone().unwrap_or_else(control::default_path);
        let answer = control::ask(&path, line).map_err(Failure::run)?;
        print!("{answer}");
        Ok(0)
    };
    match &arguments.action {
        Some(Action::Set { key, value, control }) => ask(control, &format!("set {key} {}", value.join(" "))),
        Some(Action::Show { json, control }) => ask(control, if *json { "show json" } else { "show" }),
        Some(Action::Stop { control }) => ask(control, "stop"),
        None => match arguments.kept_by[..] {
            [keeper, group] => bottleneck(arguments, keeper, group),
            _ => guard(arguments),
        },
    }
}

/// A flag that these signals set.
fn flag(signals: &[i32]) -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in signals {
        signal_hook::flag::register(*signal, Arc::clone(&flag)).map_err(Failure::run)?;
    }
    Ok(flag)
}

/// The outer of the two processes: it starts the one that does the work, and ends what that may leave.
fn guard(a: &Arguments) -> Result<u8, Failure> {
    Request::read(a).map_err(Failure::input)?;
    if let Some(path) = &a.json {
        output::check("--json", path, a.force).map_err(Failure::input)?;
    }
    let stop = flag(&STOP)?;
    let master = a.master.map(Parent::of);
    let mut words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let place = words
        .iter()
        .position(|word| word == "bottleneck")
        .map_or(0, |at| at + 1);
    let (me, group) = (getpid(), rustix::process::getpgrp());
    let more = ["--kept-by".into(), number(me), number(group)];
    words.splice(place..place, more);
    let ended = kin::run_again(&words, master.as_ref(), &|| stop.load(Ordering::Relaxed));
    let ended = ended.map_err(|e| Failure::run(format!("the bottleneck cannot be started: {e}")))?;
    match ended.status.code() {
        Some(code) => Ok(u8::try_from(code).unwrap_or(1)),
        None => Err(Failure::run(format!(
            "the bottleneck was ended from outside ({}), and so was all that it had started",
            ended.status
        ))),
    }
}

fn number(pid: Pid) -> OsString {
    pid.as_raw_nonzero().to_string().into()
}

/// What is asked for, read and checked.
struct Request {
    settings: [Settings; 2],
    options: Options,
    floor: Option<Duration>,
}

impl Request {
    fn read(a: &Arguments) -> Result<Self, String> {
        for (field, value, least, most) in [("mtu", a.mtu, 1280, 65_535), ("overhead", a.overhead, 0, 1_000)] {
            if !(least..=most).contains(&value) {
                return Err(format!("{field} is {value}, but must be {least} to {most} bytes"));
            }
        }
        let largest = default_burst(a.mtu, a.overhead);
        let busy_poll = parse_duration(&a.busy_poll).map_err(|e| format!("busy-poll: {e}"))?;
        if busy_poll > Duration::from_millis(10) {
            return Err(format!("busy-poll is {busy_poll}, but must be at most 10ms"));
        }
        let floor = a.floor.as_deref().map(parse_duration).transpose();
        let floor = floor.map_err(|e| format!("floor: {e}"))?;
        if let Some(floor) = floor.filter(|f| !(Duration::from_micros(100)..=Duration::from_secs(1)).contains(f)) {
            return Err(format!("floor is {floor}, but must be 100us to 1s"));
        }
        for (field, value) in [("rate", &a.rate), ("burst", &a.burst)] {
            if let (Some(value), Some(_), Some(_)) = (value, &a.trace_up, &a.trace_down) {
                return Err(format!(
                    "{field} is {value:?}, but must be absent with --trace-up and --trace-down"
                ));
            }
        }
        let burst = a.burst.as_deref().map(parse_bytes).transpose();
        let burst = burst.map_err(|e| format!("burst: {e}"))?.unwrap_or(largest);
        let delay = parse_duration(&a.delay).map_err(|e| format!("delay: {e}"))?;
        let loss = Share::parse(&a.loss)?;
        let one = |name: &str, of_it: Option<&String>, trace: Option<&String>, qdisc: Option<&String>| {
            let trace = trace.map(|text| DeliveryTrace::open(text)).transpose();
            let trace = trace.map_err(|sentence| format!("trace-{name} is {sentence}"))?;
            let rate = match (of_it.or(a.rate.as_ref()), &trace) {
                (_, Some(trace)) if of_it.is_none() => trace.rate(),
                (Some(text), Some(_)) => {
                    return Err(format!("{name} is {text:?}, but must be absent with --trace-{name}"));
                }
                (Some(text), None) => {
                    let field = if of_it.is_some() { name } else { "rate" };
                    parse_rate(text).map_err(|e| format!("{field}: {e}"))?
                }
                (None, _) => {
                    return Err(format!(
                        "{name} is not given: give --rate, or --up and --down, or traces"
                    ));
                }
            };
            let qdisc = qdisc.unwrap_or(&a.qdisc);
            let qdisc = QdiscSpec::parse(qdisc, Some(rate)).map_err(|e| format!("qdisc: {e}"))?;
            let settings = Settings {
                trace,
                delay,
                loss,
                ..Settings::new(rate, burst, qdisc)
            };
            settings.check(largest).map(|()| settings)
        };
        Ok(Self {
            settings: [
                one("up", a.up.as_ref(), a.trace_up.as_ref(), a.qdisc_up.as_ref())?,
                one("down", a.down.as_ref(), a.trace_down.as_ref(), a.qdisc_down.as_ref())?,
            ],
            options: Options {
                overhead: a.overhead,
                largest,
                busy_poll,
                key: sojourn_units::Stream::derive_seed(a.seed, "flow hash"),
            },
            floor,
        })
    }
}

fn plan_of(host: &str, device: &str, addresses: [&str; 2], mtu: u32) -> EndPlan {
    let with_prefix = |(text, prefix): (&str, u8)| {
        let ip: IpAddr = text.parse().expect("the addresses are constants, and right");
        (ip, prefix)
    };
    EndPlan {
        host: host.into(),
        device: device.into(),
        mtu,
        addresses: [(addresses[0], 24), (addresses[1], 64)].map(with_prefix).to_vec(),
        default_route: None,
        // ping need not have the right to open raw sockets.
        sysctls: vec![("net/ipv4/ping_group_range".into(), "0 0".into())],
    }
}

/// The inner of the two processes: it does the work, until it is told to stop or the outer one is gone.
fn bottleneck(a: &Arguments, keeper: i32, group: i32) -> Result<u8, Failure> {
    let request = Request::read(a).map_err(Failure::input)?;
    let (stop, at_once) = (flag(&STOP)?, flag(&[kin::AT_ONCE])?);
    let keeper = Parent::of(keeper);
    let group = Pid::from_raw(group).ok_or_else(|| Failure::input("kept-by has the group 0, but must be > 0"))?;
    let path = a.control.clone().unwrap_or_else(control::default_path);
    let mut control = Control::open(&path)?;
    let alone = || at_once.load(Ordering::Relaxed) || keeper.is_gone();
    become_root().map_err(Failure::run)?;
    set_child_subreaper(Some(getpid())).map_err(Failure::run)?;
    if alone() {
        return Ok(1);
    }
    let client = End::make(&plan_of("client", "c0", [CLIENT, CLIENT_6], a.mtu)).map_err(Failure::run)?;
    let server = End::make(&plan_of("server", "s0", [SERVER, SERVER_6], a.mtu)).map_err(Failure::run)?;
    let floor = request.floor;
    let handle = start(request, a.seed, &client, &server).map_err(Failure::run)?;
    control
        .serve(handle.remote(), Arc::clone(&stop))
        .map_err(Failure::run)?;
    let floor = floor.map(Floor::start).transpose().map_err(Failure::run)?;
    let stopped = || match () {
        () if alone() => Stop::Now,
        () if stop.load(Ordering::Relaxed) || handle.has_ended() => Stop::Soon,
        () => Stop::No,
    };
    let ended = programs(a, &client, &server, group, &stopped);
    end_descendants();
    if alone() {
        // Nobody is there to be told anything.
        return Ok(1);
    }
    let floor = floor.map(Floor::stop).transpose().map_err(Failure::run)?;
    let mut report = handle
        .stop()
        .map_err(|e| Failure::run(format!("the bottleneck failed: {e}")))?
        .report;
    report.floor = floor;
    let status = ended.map_err(Failure::run)?;
    tell(a, &report)?;
    Ok(status)
}

fn start(request: Request, seed: u64, client: &End, server: &End) -> Result<Handle<()>, AgentError> {
    let failed = |e: &dyn std::fmt::Display| AgentError::Plan(e.to_string());
    let [up, down] = request.settings;
    let ways = [
        Way::new(up, seed, "up").map_err(|e| failed(&e))?,
        Way::new(down, seed, "down").map_err(|e| failed(&e))?,
    ];
    let devices = [client.device()?, server.device()?];
    engine::start(ways, [(), ()], devices, request.options, monotonic_ns())
        .doing(|| "cannot start the bottleneck".into())
}

/// Runs server and command to the command's end; without a command, until told to stop. Gives the exit status.
fn programs(
    a: &Arguments,
    client: &End,
    server: &End,
    group: Pid,
    stopped: &dyn Fn() -> Stop,
) -> Result<u8, AgentError> {
    let environment = [
        ("SOJOURN_CLIENT", CLIENT.to_owned()),
        ("SOJOURN_SERVER", SERVER.to_owned()),
        ("SOJOURN_CLIENT6", CLIENT_6.to_owned()),
        ("SOJOURN_SERVER6", SERVER_6.to_owned()),
    ];
    let goes_on = || match stopped() {
        Stop::No => Ok(()),
        // Until it is told to end is how long it runs without a command.
        Stop::Soon if a.command.is_empty() => Ok(()),
        Stop::Soon | Stop::Now => Err(AgentError::Plan("it was told to end before the command began".into())),
    };
    goes_on()?;
    let mut serving = match &a.server {
        Some(line) => {
            let mut program = Program::server(line, server, &environment)?;
            if let Err(e) = program.wait_until_it_listens(server, stopped) {
                program.end(stopped);
                return Err(e);
            }
            Some(program)
        }
        None => None,
    };
    let ended = if a.command.is_empty() {
        say_how_to_enter(client, server);
        while stopped() == Stop::No {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        Ok(0)
    } else {
        let begun = goes_on().and_then(|()| Program::command(&a.command, client, &environment, group));
        begun.and_then(|mut program| {
            let status = program.wait(stopped);
            status.map(exit_code).doing(|| "cannot wait for the command".into())
        })
    };
    if let Some(program) = &mut serving {
        program.end(stopped);
    }
    ended
}

fn say_how_to_enter(client: &End, server: &End) {
    let pid = std::process::id();
    eprintln!("client {CLIENT} {CLIENT_6}, server {SERVER} {SERVER_6}; Ctrl-C ends it. A shell in a host:");
    for (name, host) in [("client", client), ("server", server)] {
        eprintln!(
            "  {name}: nsenter --user=/proc/{pid}/ns/user --preserve-credentials --net=/proc/{pid}/fd/{} bash",
            host.namespace.as_raw_fd()
        );
    }
}

fn tell(a: &Arguments, report: &Report) -> Result<(), Failure> {
    if a.stats {
        eprint!("{}", report.text());
    }
    eprint!("{}", report.timing());
    if let Some(path) = &a.json {
        let mut file = output::create("--json", path, a.force).map_err(Failure::run)?;
        file.write_all((report.json() + "\n").as_bytes())
            .map_err(|e| Failure::run(format!("{} cannot be written: {e}", path.display())))?;
    }
    Ok(())
}
