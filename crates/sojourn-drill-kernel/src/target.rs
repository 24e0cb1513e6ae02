//! The kernel as a target of scripts: its sockets, and the device that its packets leave through.

use crate::answers;
use crate::calls::{self, Descriptors, PORT};
use crate::commands::Commands;
use crate::constants::constant;
use crate::device::Device;
use crate::info;
use crate::numbers::{Begin, Numbers};
use crate::output::Output;
use crate::wire::{self, Segment};
use crate::worker::Worker;
use nix::errno::Errno;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, clock_gettime, timerfd_create,
    timerfd_settime,
};
use sojourn_drill::{
    Action, Answer, Assigned, Call, Clocks, Missing, Packet, Scalar, Script, Taken, Target, TcpOption, Trouble,
    compare_packets,
};
use sojourn_units::{Duration, Time};
use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// How long a call may take that does not block: nothing in virtual time, where the clock stands while a thread runs.
const AT_ONCE: Duration = Duration::from_micros(1);
/// The same where time does not stand still.
const SOON: Duration = Duration::from_micros(500);
/// An event that may come at any time must come by then.
const LONGEST: Duration = Duration::from_secs(3600);
/// The first port of our side where the kernel listens; each connection has its own.
const FIRST_PORT: u16 = 40_000;
/// A tick of the kernel's clock. A script begins in the middle of one.
const TICK: u64 = 1_000_000;

/// The kernel, in a guest of its own.
#[derive(Debug)]
pub(crate) struct Kernel {
    device: Device,
    alarm: OwnedFd,
    worker: Worker,
    commands: Commands,
    version: (u32, u32),
    descriptors: Descriptors,
    /// Descriptors of the script with which the kernel connects.
    connecting: BTreeSet<i64>,
    /// The descriptor that assertions are about.
    tested: Option<i64>,
    connections: Vec<Numbers>,
    /// A socket has begun to listen since the last connection.
    listens: bool,
    /// What has left and no event has asked for yet.
    left: VecDeque<(Time, Segment)>,
    /// What has left of the segment that the script expects.
    run: Vec<(Time, Segment)>,
    /// When the script began, nanoseconds of the clock of the day.
    begin: i64,
    /// How long a call may take that does not block.
    at_once: Duration,
    /// Bytes of the segments that a large one that arrives is made of; 0 if it is one.
    mss: u16,
}

fn nanos(clock: ClockId) -> i64 {
    let now = clock_gettime(clock);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

fn now() -> Time {
    Time::from_nanos(nanos(ClockId::Monotonic).cast_unsigned())
}

fn wrong(error: &io::Error) -> Trouble {
    Trouble::Wrong(format!("the guest's device failed: {error}"))
}

fn version() -> (u32, u32) {
    let text = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

impl Kernel {
    /// Makes the device.
    ///
    /// # Errors
    /// If the kernel refuses a device.
    pub(crate) fn new(script: &Script) -> io::Result<Self> {
        let words = std::fs::read_to_string("/proc/cmdline").unwrap_or_default();
        let virtual_time = words.split_whitespace().any(|word| word == "time-travel=inf-cpu");
        let mss = script.options.iter().rev().find(|option| option.name == "mss");
        let _ = nix::sys::prctl::set_timerslack(1);
        Ok(Self {
            device: Device::make()?,
            alarm: timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)?,
            worker: Worker::start()?,
            commands: Commands::default(),
            version: version(),
            descriptors: Descriptors::new(),
            connecting: BTreeSet::new(),
            tested: None,
            connections: Vec::new(),
            listens: false,
            left: VecDeque::new(),
            run: Vec::new(),
            begin: 0,
            at_once: if virtual_time { AT_ONCE } else { SOON },
            mss: mss.and_then(|option| option.value.parse().ok()).unwrap_or(0),
        })
    }

    /// Takes the packets that wait; answers whether one was a segment.
    fn drain(&mut self) -> io::Result<bool> {
        let mut came = false;
        while let Some(packet) = self.device.read()? {
            if let Some(segment) = Segment::read(packet) {
                self.left.push_back((now(), segment));
                came = true;
            }
        }
        Ok(came)
    }

    /// Waits for a packet or the end of a call, at the latest until `to`.
    fn pass(&mut self, to: Time) -> io::Result<bool> {
        loop {
            if self.drain()? {
                return Ok(true);
            }
            self.wake_at(to)?;
            let mut fds = [
                PollFd::new(self.device.descriptor(), PollFlags::IN),
                PollFd::new(self.worker.bell(), PollFlags::IN),
                PollFd::new(&self.alarm, PollFlags::IN),
            ];
            poll(&mut fds, None)?;
            if !fds[1].revents().is_empty() {
                return Ok(true);
            }
            if fds[0].revents().is_empty() && !fds[2].revents().is_empty() {
                return Ok(false);
            }
        }
    }

    /// Sets the alarm. The time-out of `poll` itself is a thousandth late, because the kernel lets it be so.
    fn wake_at(&self, to: Time) -> io::Result<()> {
        let at = to.as_nanos().max(1);
        let value = Timespec {
            tv_sec: (at / 1_000_000_000).cast_signed(),
            tv_nsec: (at % 1_000_000_000).cast_signed(),
        };
        let once = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: value,
        };
        timerfd_settime(&self.alarm, TimerfdTimerFlags::ABSTIME, &once)?;
        Ok(())
    }

    /// Waits for the end of a call alone.
    fn rings(&self) -> bool {
        let wait = Timespec {
            tv_sec: 0,
            tv_nsec: self.at_once.as_nanos().cast_signed(),
        };
        let mut fds = [PollFd::new(self.worker.bell(), PollFlags::IN)];
        matches!(poll(&mut fds, Some(&wait)), Ok(1))
    }

    /// Whether a SYN that comes now begins a connection.
    fn opens(&self) -> bool {
        self.listens || self.connections.last().is_none_or(|last| last.closed)
    }

    fn begin_passive(&mut self) {
        self.listens = false;
        let remote_port = FIRST_PORT + self.connections.len().min(20_000) as u16;
        self.connections.push(Numbers {
            local_port: Some(PORT),
            remote_port,
            ..Numbers::default()
        });
    }

    fn begin_active(&mut self, fd: i64) {
        if self.connecting.insert(fd) {
            self.tested = Some(fd);
            self.connections.push(Numbers {
                remote_port: PORT,
                ..Numbers::default()
            });
        }
    }

    /// What a call does to what this knows, before the kernel hears of it.
    fn before(&mut self, call: &Call, fd: i64) {
        let mut words = BTreeSet::new();
        call.args.iter().for_each(|arg| {
            arg.each_word(&mut |word| {
                words.insert(word.to_owned());
            });
        });
        match call.name.as_str() {
            "connect" if words.contains("AF_UNSPEC") => {
                self.connecting.remove(&fd);
            }
            "connect" => self.begin_active(fd),
            "sendto" | "sendmsg" if calls::connects(call) => self.begin_active(fd),
            "listen" => self.listens = true,
            "close" => {
                self.connecting.remove(&fd);
                if self.tested == Some(fd)
                    && let Some(last) = self.connections.last_mut()
                {
                    last.closed = true;
                }
            }
            _ => {}
        }
    }

    fn answer(&mut self, call: &Call, result: Result<Output, i32>) -> Answer {
        let output = match result {
            Ok(output) => output,
            Err(number) => return Answer::Error(format!("{:?}", Errno::from_raw(number)).into()),
        };
        let (n, compared) = match output {
            Output::Number(n) => (n, Ok(())),
            Output::Descriptor(fd) => {
                let number = call.result.filter(|n| *n >= 0);
                let number = number.unwrap_or_else(|| self.descriptors.keys().last().map_or(3, |last| last + 1));
                self.descriptors.insert(number, Arc::new(fd));
                if matches!(call.name.as_str(), "socket" | "accept" | "accept4") {
                    self.tested = Some(number);
                    self.connecting.remove(&number);
                }
                (number, Ok(()))
            }
            Output::Pair(read, write) => {
                if let Some(sojourn_drill::Value::List(numbers)) = call.args.first() {
                    let number = |i: usize| numbers.get(i).and_then(sojourn_drill::Value::number).unwrap_or(-1);
                    self.descriptors.insert(number(0), Arc::new(read));
                    self.descriptors.insert(number(1), Arc::new(write));
                }
                (0, Ok(()))
            }
            Output::Filled(value) => (0, answers::filled(call, value)),
            Output::Message(n, flags, control) => (n, answers::message(call, flags, &control, self.begin)),
            Output::Polled(n, events) => {
                let events: Vec<_> = events.into_iter().map(|events| (events, None)).collect();
                (n, answers::events(call.args.first(), "revents", &events))
            }
            Output::Events(events) => {
                let n = i64::try_from(events.len()).unwrap_or(i64::MAX);
                let events: Vec<_> = events.into_iter().map(|(events, fd)| (events, Some(fd))).collect();
                (n, answers::events(call.args.get(1), "events", &events))
            }
        };
        match compared {
            // Another number is what matters most.
            Err(clause) if call.result.is_none_or(|result| result == n) => Answer::Filled(clause),
            _ => Answer::Done(n),
        }
    }

    /// Closes a descriptor: the last one of its socket, unless a call still waits on it.
    fn close(&mut self, fd: i64) -> Answer {
        match self.descriptors.remove(&fd) {
            Some(descriptor) => {
                drop(descriptor);
                Answer::Done(0)
            }
            None => Answer::Error("EBADF".into()),
        }
    }
}

impl Target for Kernel {
    fn first_missing(&self, script: &Script) -> Option<(u32, Missing)> {
        first_missing(script)
    }

    fn now(&self) -> Time {
        now()
    }

    fn begin(&mut self) -> Result<Time, Trouble> {
        let begin = Time::from_nanos((now().as_nanos() / TICK + 1) * TICK + TICK / 2);
        // What the kernel sends before a script begins is of no connection.
        while self.pass(begin).map_err(|error| wrong(&error))? {}
        self.begin = nanos(ClockId::Realtime);
        Ok(begin)
    }

    fn patience(&self) -> Duration {
        LONGEST
    }

    fn step(&mut self, to: Time) -> Result<bool, Trouble> {
        self.pass(to).map_err(|error| wrong(&error))
    }

    fn arrive(&mut self, packet: &Packet) -> Result<(), Trouble> {
        let syn = packet.has('S') && !packet.has('.');
        if self.connections.is_empty() || syn && self.opens() {
            self.begin_passive();
        }
        let numbers = self.connections.last_mut().expect("one was begun");
        let bytes = wire::segment(packet, numbers).map_err(Trouble::Wrong)?;
        self.device.write(&bytes, self.mss).map_err(|error| wrong(&error))
    }

    fn arrive_foreign(&mut self, word: &str, rest: &str) -> Result<(), Trouble> {
        let Some(numbers) = self.connections.last() else {
            return Err(Missing::new(word, "there is no connection that it could be about").into());
        };
        let bytes = wire::icmp(rest, numbers).map_err(|clause| Missing::new(word, clause))?;
        self.device.write(&bytes, 0).map_err(|error| wrong(&error))
    }

    fn take(&mut self, expected: &Packet, tick: Option<Duration>) -> Taken {
        let length = |run: &[(Time, Segment)]| run.iter().map(|(_, one)| one.len).sum::<u32>();
        while self.run.is_empty() || length(&self.run) < expected.len {
            let Some((at, segment)) = self.left.pop_front() else {
                let end = self.run.last().zip(self.connections.last());
                return end.map_or(Taken::Nothing, |((_, last), numbers)| {
                    Taken::Part(numbers.theirs().to_script(last.end(), false).into())
                });
            };
            let Some(numbers) = self.connections.last_mut() else {
                continue;
            };
            if numbers.local_port.is_none() && segment.is_syn() && segment.ports.1 == numbers.remote_port {
                numbers.local_port = Some(segment.ports.0);
            }
            // What earlier connections still send is not what the script is about.
            if (numbers.local_port, numbers.remote_port) != (Some(segment.ports.0), segment.ports.1) {
                continue;
            }
            if segment.is_syn() && numbers.local.is_none() {
                numbers.local = Some(Begin::new(expected.start, segment.seq));
            }
            if let Some((_, last)) = self.run.last() {
                // All but the last have one size. Source: the rule by which packetdrill joins packets.
                let is_last = length(&self.run) + segment.len >= expected.len;
                let fits = segment.seq == last.end() && segment.ack == last.ack && (is_last || segment.len == last.len);
                if !fits {
                    let came = segment.script(numbers);
                    let end = numbers.theirs().to_script(last.end(), false);
                    return Taken::Other(format!("it ended at {end}, and {came} came next"));
                }
            }
            self.run.push((at, segment));
        }
        let run = std::mem::take(&mut self.run);
        let (first, (at, last)) = (&run[0].1, &run[run.len() - 1]);
        let numbers = self.connections.last_mut().expect("the segments are of one");
        let joined = Segment {
            len: length(&run),
            // As segmentation offload would have cut it: PSH and FIN are the last one's.
            bits: first.bits & !wire::AT_THE_END | last.bits & wire::AT_THE_END,
            ..first.clone()
        };
        let came = joined.script(numbers);
        let value = came.timestamp();
        if let Err(got) = compare_packets(expected, came, true, &numbers.clocks, tick) {
            return Taken::Other(got);
        }
        if let (Some(script), Some(value)) = (expected.timestamp(), value) {
            numbers.clocks.pair(script, value);
        }
        if expected.has('S') && !expected.has('.') && expected.timestamp().is_none() {
            numbers.clocks = Clocks::default();
        }
        Taken::Whole(*at)
    }

    fn call(&mut self, call: &Call, again: bool) -> Result<Answer, Trouble> {
        let fd = call.args.first().and_then(sojourn_drill::Value::number).unwrap_or(-1);
        if !again {
            self.before(call, fd);
            if call.name == "close" {
                return Ok(self.close(fd));
            }
            self.worker.make(calls::job(call, &self.descriptors)?);
        }
        // The thread of calls runs while this one waits.
        if !self.rings() {
            return Ok(Answer::Waits);
        }
        match self.worker.answer() {
            Some(result) => Ok(self.answer(call, result)),
            None => Ok(Answer::Waits),
        }
    }

    fn command(&mut self, text: &str) -> Result<(), Trouble> {
        self.commands.run(text)
    }

    fn value(&self, name: &str) -> Option<Scalar> {
        let field = || info::value(self.descriptors.get(&self.tested?)?, name, self.version);
        constant(name).map(Into::into).or_else(field).map(Scalar::Int)
    }
}

/// What can be seen of a script before it runs.
fn first_missing(script: &Script) -> Option<(u32, Missing)> {
    for option in &script.options {
        let missing = match (option.name.as_str(), option.value.as_str()) {
            ("mss" | "tolerance_usecs" | "tcp_ts_tick_usecs" | "send_omit_free", _)
            | ("ip_version", "ipv4")
            | ("local_ip", "192.168.0.1")
            | ("remote_ip", "192.0.2.1") => continue,
            ("ip_version", value) => {
                Missing::new(format!("--ip_version={value}"), "the packets here are those of IPv4")
            }
            (name, _) => Missing::new(format!("--{name}"), "this option is not known to sojourn-drill"),
        };
        return Some((option.line, missing));
    }
    let mut assigned = Assigned::default();
    let name = |name: &str| {
        let is_known = info::is_known(name) || answers::is_constant(name);
        (!is_known).then(|| Missing::new(name, "this name is not known to sojourn-drill"))
    };
    script.events.iter().find_map(|event| match &event.action {
        Action::Check(statements) => assigned.first_missing(statements, &name),
        action => Some((event.line, of_action(action)?)),
    })
}

fn of_action(action: &Action) -> Option<Missing> {
    match action {
        Action::Arrives(packet) | Action::Leaves(packet) => {
            packet.options.iter().flatten().find_map(|option| match option {
                TcpOption::Other(word) => Some(Missing::new(word, "this TCP option is not known to sojourn-drill")),
                _ => None,
            })
        }
        Action::Foreign { word, arrives, .. } if word != "icmp" || !arrives => Some(Missing::new(
            word,
            "of other packets only ICMP that arrives is known to sojourn-drill",
        )),
        Action::Unknown(missing) => Some(missing.clone()),
        Action::Foreign { .. } | Action::Call(_) | Action::Command(_) | Action::Check(_) => None,
    }
}
