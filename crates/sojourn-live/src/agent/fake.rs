//! A world for tests: real sockets on the loopback interface, and a clock that is real or moved by hand.

use crate::agent::actor::{Actor, AgentError, Doing, Host, World};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::time::{ClockId, Timespec};
use serde_json::json;
use sojourn_bed::{AccessPlan, LOAD_FORMAT, LoadPlan, MEASURED_FORMAT, Measured, Planned, ProbePlan};
use sojourn_scenario::ProbeKindScenario;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

const MS: i64 = 1_000_000;

/// A plan with one path and no traffic.
pub(super) fn load() -> LoadPlan {
    LoadPlan {
        format: LOAD_FORMAT.into(),
        seed: 7,
        lead_ns: 0,
        duration_ns: 1_000_000_000,
        interval_ns: 100_000_000,
        paths: vec![0],
        up: sojourn_bed::BottleneckPlan::default(),
        down: sojourn_bed::BottleneckPlan::default(),
        edge_rate_bps: None,
        edge_burst_bytes: None,
        edge_limit: sojourn_scenario::EDGE_LIMIT,
        tcp: sojourn_tcp::TcpParams::default(),
        flows: Vec::new(),
        probes: Vec::new(),
        web: Vec::new(),
        downloads: Vec::new(),
        wifi: None,
        flusher: None,
        programs: Vec::new(),
    }
}

/// A probe on the first path.
pub(super) fn probe(kind: ProbeKindScenario, size: u16, start_ns: i64) -> ProbePlan {
    let mut spec = json!({"name": "p", "size": size});
    let more = match kind {
        ProbeKindScenario::Icmp(interval) => json!({"kind": "icmp", "interval": interval}),
        ProbeKindScenario::UdpRr(timeout) => json!({"kind": "udp_rr", "timeout": timeout}),
        ProbeKindScenario::Isochronous(direction, interval) => {
            json!({"kind": "isochronous", "direction": direction, "interval": interval})
        }
        ProbeKindScenario::Poisson(direction, interval) => {
            json!({"kind": "poisson", "direction": direction, "interval": interval})
        }
        ProbeKindScenario::Voip(direction, voice) => {
            let speech = voice.bitrate.bytes_in(voice.frame).get() as u16;
            json!({"kind": "voip", "direction": direction, "frame": voice.frame, "headers": size - 14 - speech})
        }
    };
    let object = spec.as_object_mut().expect("an object");
    object.extend(more.as_object().expect("an object").clone());
    planned(serde_json::from_value(spec).expect("a probe"), start_ns)
}

/// On the first path, at the first client.
pub(super) fn planned<T>(spec: T, start_ns: i64) -> Planned<T> {
    Planned {
        spec,
        path: 0,
        start_ns,
        access: sojourn_bed::AccessPlan::default(),
        gaps_ns: Vec::new(),
    }
}

/// An index of a probe that no other test of this process uses, and hardly one of another: so no two bind one port.
pub(super) fn index(test: u32) -> usize {
    ((std::process::id() * 32 + test) % 5000) as usize
}

#[derive(Clone, Copy, Debug)]
enum Clock {
    /// The real-time clock less this.
    Real(i64),
    Manual(i64),
}

/// A world.
#[derive(Debug)]
pub(super) struct Fake {
    clock: Clock,
    end: i64,
    pub(super) timers: BTreeMap<u32, i64>,
    sockets: BTreeMap<u32, OwnedFd>,
    /// The hosts that were gone to.
    pub(super) entered: Vec<Host>,
}

fn real() -> i64 {
    crate::timer::now(ClockId::Realtime)
}

impl Fake {
    fn new(clock: Clock, end: i64) -> Self {
        Self {
            clock,
            end,
            timers: BTreeMap::new(),
            sockets: BTreeMap::new(),
            entered: Vec::new(),
        }
    }

    /// A clock that stands until it is moved; all that is received is received at the time it shows.
    pub(super) fn manual(begin: i64, end: i64) -> Self {
        Self::new(Clock::Manual(begin), end)
    }

    /// The real-time clock less `origin`.
    pub(super) fn since(origin: i64) -> Self {
        Self::new(Clock::Real(origin), i64::MAX)
    }

    /// The real clock, which now shows `begin`.
    pub(super) fn real(begin: i64, end: i64) -> Self {
        Self::new(Clock::Real(real() - begin), end)
    }

    pub(super) fn set(&mut self, now: i64) {
        self.clock = Clock::Manual(now);
    }

    /// Lets `actor` read while anything is there, having waited for it up to `patience` milliseconds.
    pub(super) fn serve(&mut self, actor: &mut dyn Actor, patience: i64) -> Result<(), AgentError> {
        let mut wait = patience;
        loop {
            let keys: Vec<u32> = self.sockets.keys().copied().collect();
            let mut fds: Vec<PollFd<'_>> = self.sockets.values().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
            let timeout = Timespec {
                tv_sec: 0,
                tv_nsec: wait * MS,
            };
            poll(&mut fds, Some(&timeout)).expect("polling sockets of this test");
            let ready: Vec<u32> = keys
                .iter()
                .zip(&fds)
                .filter(|(_, fd)| !fd.revents().is_empty())
                .map(|(k, _)| *k)
                .collect();
            if ready.is_empty() {
                return Ok(());
            }
            for key in ready {
                actor.ready(key, self)?;
            }
            wait = 0;
        }
    }

    /// The next timer, if it is due by `until`.
    fn take_timer(&mut self, until: i64) -> Option<(u32, i64)> {
        let (&key, &at) = self.timers.iter().min_by_key(|(key, at)| (**at, **key))?;
        (at <= until).then(|| {
            self.timers.remove(&key);
            (key, at)
        })
    }

    /// Runs an actor that has started until `until`: with the real clock in real time, else from timer to timer.
    pub(super) fn run_until(&mut self, actor: &mut dyn Actor, until: i64) -> Result<(), AgentError> {
        loop {
            match self.clock {
                Clock::Real(_) => {
                    let now = self.now();
                    if let Some((key, _)) = self.take_timer(now.min(until)) {
                        actor.due(key, self)?;
                    } else if now >= until {
                        return Ok(());
                    } else {
                        self.serve(actor, 1)?;
                    }
                }
                Clock::Manual(now) => {
                    let Some((key, at)) = self.take_timer(until) else {
                        self.set(until.max(now));
                        return Ok(());
                    };
                    self.set(at.max(now));
                    actor.due(key, self)?;
                    self.serve(actor, 20)?;
                }
            }
        }
    }

    /// A whole run, with up to `linger` nanoseconds after the end of the window.
    pub(super) fn run(&mut self, actor: &mut dyn Actor, linger: i64) -> Result<(), AgentError> {
        actor.start(self)?;
        self.run_until(actor, self.end - 1)?;
        self.run_until(actor, self.end)?;
        actor.window_ends(self)?;
        let last = self.end + linger;
        while actor.awaits() && self.now() < last {
            let next = (self.now() + MS).min(last);
            self.run_until(actor, next)?;
        }
        Ok(())
    }
}

impl World for Fake {
    fn now(&self) -> i64 {
        match self.clock {
            Clock::Real(origin) => real() - origin,
            Clock::Manual(now) => now,
        }
    }
    fn at(&self, seconds: i64, nanoseconds: i64) -> i64 {
        match self.clock {
            Clock::Real(origin) => seconds * 1000 * MS + nanoseconds - origin,
            Clock::Manual(now) => now,
        }
    }
    fn end(&self) -> i64 {
        self.end
    }
    fn client(&self, _: AccessPlan) -> Ipv4Addr {
        Ipv4Addr::LOCALHOST
    }
    fn server(&self, _path: usize, _: AccessPlan) -> Ipv4Addr {
        Ipv4Addr::LOCALHOST
    }
    fn enter(&mut self, host: Host) -> Result<(), AgentError> {
        self.entered.push(host);
        Ok(())
    }
    fn register(&mut self, key: u32, fd: BorrowedFd<'_>, _write: bool) -> Result<(), AgentError> {
        let fd = fd.try_clone_to_owned().doing(|| "duplicating a socket".into())?;
        self.sockets.insert(key, fd);
        Ok(())
    }
    fn deregister(&mut self, key: u32, _fd: BorrowedFd<'_>) -> Result<(), AgentError> {
        self.sockets.remove(&key);
        Ok(())
    }
    fn set_timer(&mut self, key: u32, at_ns: i64) {
        self.timers.insert(key, at_ns);
    }
    fn cancel_timer(&mut self, key: u32) {
        self.timers.remove(&key);
    }
}

/// What a run without traffic measured.
pub(super) fn measured() -> Measured {
    Measured {
        format: MEASURED_FORMAT.into(),
        ..Measured::default()
    }
}
