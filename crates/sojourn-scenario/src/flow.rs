//! Flows: TCP connections, and floods of datagrams; and what their applications do.

use crate::context::Context;
use crate::cost::{Estimate, HANDSHAKE, HEADERS, VALUE_BIN, times};
use crate::error::within;
use crate::name::check_name;
use crate::{
    BINS_MAX, Backend, Direction, Dscp, RATE, RTT, ScenarioError, Traffic as _, UDP_PAYLOAD, fail, or_default,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use sojourn_tcp::EcnMode;
use sojourn_tcp::cc::Algorithm;
use sojourn_units::{Bytes, Duration, Rate, words};

/// Largest write of a thin stream, bytes.
const WRITE_MAX: u64 = 1 << 20;
/// Most streams of a connection.
const STREAMS_MAX: u16 = 1000;
/// Bytes of memory for each bin of the series of a TCP flow (goodput, window), and of one beside a flusher.
const TCP_BIN: f64 = 170.0;
const FLUSHER_BIN: f64 = 700.0;
/// The same for each write of a thin stream.
const WRITE: f64 = 60.0;

words! {
    /// The protocol of a flow.
    pub enum FlowProtocol {
        /// A TCP connection.
        Tcp = "tcp",
        /// Datagrams at a constant bit rate, whatever becomes of them.
        Udp = "udp",
    }
}

/// What carries some traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A TCP connection of ours, or of the kernel.
    Tcp,
    /// Datagrams at a constant bit rate, whatever becomes of them.
    Udp,
    /// A connection of somebody else's transport.
    Stack,
}

words! {
    /// The kind of a flow, which only TCP has.
    pub enum FlowKind {
        /// A TCP connection.
        Tcp = "tcp",
    }
}

/// One TCP flow, or a UDP flood, which the `live` back end does not have.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Flow", extend("required" = ["name", "direction"]))]
pub struct FlowScenario {
    /// Unique within the scenario.
    #[serde(default)]
    pub name: String,
    /// `"tcp"`; absent with the protocol `"udp"`.
    #[schemars(extend("x-python" = {"default": "tcp"}))]
    pub kind: Option<FlowKind>,
    /// `"tcp"` (default), or `"udp"`: datagrams of 1472 bytes of payload at a constant `rate`.
    pub protocol: Option<FlowProtocol>,
    /// `"up"` (client to server) or `"down"`.
    pub direction: Direction,
    /// Whose transport carries it, such as `"quinn"`, in place of our TCP: one that the program has which runs the scenario.
    /// Only the simulator has such flows.
    pub stack: Option<String>,
    /// Over how many streams of one connection a stack sends, 1 to 1000 (default 1).
    pub streams: Option<u16>,
    /// As `sojourn list` names them (default `"cubic"`); absent with the protocol `"udp"`. A stack has its own default.
    pub congestion_control: Option<Algorithm>,
    /// Whether this flow negotiates ECN, and which (default: `tcp.ecn`, or with `prague` and `bbr2-l4s` `"accecn"`). Only
    /// the simulator has flows that differ from that. A stack does as it likes, but with `false`: then nothing that it sends is
    /// ECN-capable.
    pub ecn: Option<EcnMode>,
    /// Base round-trip time (default: the path's).
    #[serde(default)]
    #[schemars(extend("default" = null))]
    pub rtt: Duration,
    /// When it starts, from the beginning of the measured window, before jitter.
    #[serde(default, deserialize_with = "or_default")]
    pub start: Duration,
    /// When it stops, from the beginning of the measured window, before the same jitter (default: never). The connection is
    /// given up then, with what was not sent and what was not acknowledged.
    pub stop: Option<Duration>,
    /// Stop after so many bytes of payload (default: none, it sends to the end).
    pub bytes: Option<u64>,
    /// The application writes no faster than this (default: as fast as TCP allows). UDP needs one: of payload.
    pub rate: Option<Rate>,
    /// The application writes so much at each `write_interval`, from the start on, and each write leaves at once (a thin
    /// stream, without Nagle's algorithm). Both or neither, and not with `rate`.
    pub write: Option<Bytes>,
    /// Between the beginnings of two writes.
    pub write_interval: Option<Duration>,
    /// Which of the hosts on the client's side this is, 1 to 5000, or 64 on a kernel (default 1). Absent with `wifi`, where
    /// stations are the clients.
    pub client: Option<u16>,
    /// Which of the hosts on the server's side the other end is, 1 to 5000, or 64 on a kernel (default 1).
    pub server: Option<u16>,
    /// In a cell: at which station (default: the first).
    pub station: Option<String>,
    /// The code point of both directions' packets, 0 to 63, or `CS0` to `CS7`, `AF11` to `AF43`, `EF`, `VA`, `LE`
    /// (default 0). In a cell its upper three bits are the traffic identifier, or, with `wifi.variant` `"linux-6.12"`, what RFC
    /// 8325 has (`EF` and `VA`: 6).
    pub dscp: Option<Dscp>,
    /// With `topology`: the nodes of client and server (default: those of `topology.ends`).
    pub ends: Option<[String; 2]>,
}

/// The application of a thin stream writes so much at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writes {
    /// Of payload.
    pub bytes: Bytes,
    /// Between the beginnings of two writes.
    pub interval: Duration,
}

/// The application of a flow. All times are from its start on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Application {
    /// How much it makes; `None` for more than can be sent.
    pub bytes: Option<u64>,
    /// It makes a segment at a time, at this rate; `None` for all at once.
    pub rate: Option<Rate>,
    /// How it writes if it is that of a thin stream.
    pub writes: Option<Writes>,
    /// When it gives the connection up; `None` for never.
    pub lasts: Option<Duration>,
}

/// What an application does at a time that it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// It makes so many bytes; `None` for more than can be sent.
    pub bytes: Option<u64>,
    /// When it is due again.
    pub again: Option<Duration>,
    /// Whether it closes, for it has made all.
    pub closes: bool,
    /// Whether it gives the connection up.
    pub stops: bool,
}

impl Application {
    /// What it does `after` its start, when it has made `made` bytes. A segment holds `segment` bytes.
    #[must_use]
    pub fn step(&self, made: u64, segment: u64, after: Duration) -> Step {
        if self.lasts.is_some_and(|lasts| after >= lasts) {
            return Step {
                bytes: Some(0),
                again: None,
                closes: false,
                stops: true,
            };
        }
        let left = self.bytes.map(|bytes| bytes - made);
        let at_most = |size: u64| left.map_or(size, |left| left.min(size));
        let (bytes, pause) = match (self.writes, self.rate) {
            (Some(writes), _) => (Some(at_most(writes.bytes.get())), Some(writes.interval)),
            (None, Some(rate)) => {
                let bytes = at_most(segment);
                (Some(bytes), Some(rate.time_to_send(Bytes::new(bytes))))
            }
            (None, None) => (left, None),
        };
        let closes = self.bytes.is_some() && left == bytes;
        let again = pause.filter(|_| !closes).map(|pause| after + pause);
        Step {
            bytes,
            again: again.into_iter().chain(self.lasts).min(),
            closes,
            stops: false,
        }
    }

    /// When the datagram with this number leaves, if there is a rate and it does leave: no rounding adds up.
    #[must_use]
    pub fn datagram_due(&self, number: u64) -> Option<Duration> {
        let bit_ns = u128::from(number) * u128::from(UDP_PAYLOAD) * 8_000_000_000;
        let due = bit_ns / u128::from(self.rate?.as_bps());
        let due = Duration::from_nanos(u64::try_from(due).unwrap_or(u64::MAX));
        Some(due).filter(|due| self.lasts.is_none_or(|lasts| *due < lasts))
    }
}

impl FlowScenario {
    /// What carries it.
    #[must_use]
    pub fn transport(&self) -> Transport {
        match (&self.stack, self.protocol) {
            (Some(_), _) => Transport::Stack,
            (None, Some(FlowProtocol::Udp)) => Transport::Udp,
            (None, _) => Transport::Tcp,
        }
    }

    /// Which ECN it wants, where `all` is that of all flows.
    #[must_use]
    pub fn ecn_mode(&self, all: EcnMode) -> EcnMode {
        self.ecn.unwrap_or_else(|| self.usual_ecn(all))
    }

    /// The ECN of a flow that names none.
    fn usual_ecn(&self, all: EcnMode) -> EcnMode {
        let scalable = self.congestion_control.is_some_and(Algorithm::is_scalable);
        if scalable { EcnMode::Accurate } else { all }
    }

    /// What its application does.
    #[must_use]
    pub fn application(&self) -> Application {
        let writes = self.write.zip(self.write_interval);
        Application {
            bytes: self.bytes,
            rate: self.rate,
            writes: writes.map(|(bytes, interval)| Writes { bytes, interval }),
            lasts: self
                .stop
                .map(|stop| Duration::from_nanos(stop.as_nanos().saturating_sub(self.start.as_nanos()))),
        }
    }

    /// What the flows of a run need.
    pub(crate) fn cost(all: &[Self], run: &mut Estimate<'_>) {
        let beside = if run.s.flusher.is_some() { FLUSHER_BIN } else { 0.0 };
        let bin = |f: &Self| match f.transport() {
            Transport::Tcp | Transport::Stack => TCP_BIN + beside,
            Transport::Udp => VALUE_BIN,
        };
        run.bins(all.len(), "flows", all.iter().map(bin).sum());
        let (mut writes, mut thin) = (0.0, 0.0);
        for f in all {
            f.cost_of_one(run);
            let own = f.writes(run);
            writes += own;
            thin += if f.application().writes.is_some() { own } else { 0.0 };
        }
        run.packets(writes);
        run.part(
            format!("thin streams with {writes:.0} writes"),
            thin * WRITE,
            "lengthen their write_interval or shorten duration",
        );
    }

    /// What it sends.
    fn cost_of_one(&self, run: &mut Estimate<'_>) {
        let (duration, mss, window) = (run.s.duration, run.mss, run.s.tcp.receive_window.get() as f64);
        let seconds = duration.as_secs_f64();
        let rate = self.rate.map_or(f64::INFINITY, |rate| rate.as_bps() as f64 / 8.0);
        let way = run.way(self.direction);
        if self.transport() == Transport::Udp {
            way.datagrams += rate * seconds / f64::from(UDP_PAYLOAD) + 1.0;
            return;
        }
        let bytes = self.bytes.map_or(f64::INFINITY, |bytes| bytes as f64);
        let full = bytes.min(rate * seconds) / mss + HANDSHAKE;
        let mut unit = mss;
        match self.application().writes {
            None => way.full += full,
            Some(writes) => {
                let size = writes.bytes.get() as f64;
                unit = mss.min(size);
                way.thin += (times(duration, writes.interval) * (size / mss).ceil()).min(full) + HANDSHAKE;
                way.thin_frame = way.thin_frame.min(unit + HEADERS);
            }
        }
        way.windows += (window.min(bytes) / unit).min(full) + HANDSHAKE;
    }

    /// How often its application writes, if it is not all at once.
    fn writes(&self, run: &Estimate<'_>) -> f64 {
        let duration = run.s.duration;
        let bytes = self.bytes.map_or(f64::INFINITY, |bytes| bytes as f64);
        match (self.transport(), self.application().writes, self.rate) {
            (Transport::Tcp | Transport::Stack, Some(writes), _) => {
                times(duration, writes.interval).min(bytes / writes.bytes.get() as f64 + 1.0)
            }
            (Transport::Tcp | Transport::Stack, None, Some(rate)) => {
                (rate.as_bps() as f64 / 8.0 * duration.as_secs_f64()).min(bytes) / run.mss
            }
            _ => 0.0,
        }
    }

    /// Writes out what is left out, but for what another field of the scenario decides.
    pub(crate) fn complete(&mut self) {
        match self.transport() {
            Transport::Tcp => {
                self.kind = Some(FlowKind::Tcp);
                self.protocol = None;
                self.congestion_control.get_or_insert_default();
            }
            Transport::Udp | Transport::Stack => {}
        }
    }

    pub(crate) fn check(&self, i: usize, on: &Context<'_>) -> Result<(), ScenarioError> {
        let place = format!("flows[{i}]");
        let field = |key: &str| format!("{place}.{key}");
        check_name(&field("name"), &self.name)?;
        match self.transport() {
            Transport::Tcp => {}
            Transport::Udp => self.check_udp(&place, on.backend)?,
            Transport::Stack => self.check_stack(&place, on.backend)?,
        }
        if let (Some(streams), Transport::Tcp | Transport::Udp) = (self.streams, self.transport()) {
            return fail(&field("streams"), streams, "absent without a stack");
        }
        if self.bytes == Some(0) {
            return fail(&field("bytes"), 0, "at least 1");
        }
        if let Some(control) = self.congestion_control {
            on.check_control(&place, control)?;
        }
        self.check_ecn(&field("ecn"), on)?;
        within(&field("rtt"), self.rtt, RTT.0, RTT.1)?;
        within(&field("start"), self.start, Duration::ZERO, on.duration)?;
        if let Some(stop) = self.stop {
            let rule = || format!("later than start, {}, and at most {}", self.start, on.duration);
            if stop <= self.start || stop > on.duration {
                return fail(&field("stop"), stop, rule());
            }
        }
        if let Some(rate) = self.rate {
            within(&field("rate"), rate, RATE.0, RATE.1)?;
        }
        self.check_writes(&place, on.duration)?;
        self.identity().check(&place, on)?;
        on.check_ends(&place, self.ends.as_ref())
    }

    /// Refuses ECN that its control or the back end does not have.
    fn check_ecn(&self, field: &str, on: &Context<'_>) -> Result<(), ScenarioError> {
        let Some(ecn) = self.ecn else { return Ok(()) };
        let value = match ecn {
            EcnMode::Off => "false",
            EcnMode::Classic => "true",
            EcnMode::Accurate => "\"accecn\"",
        };
        if on.backend.has_real_hosts() && ecn != self.usual_ecn(on.ecn) {
            let rule = format!("{field} is {value}, but a kernel has one setting for all flows: use tcp.ecn");
            return Err(ScenarioError::because(rule));
        }
        match self.congestion_control {
            Some(control) if control.is_scalable() && ecn != EcnMode::Accurate => {
                let rule = format!("\"accecn\" or absent with congestion_control {:?}", control.name());
                fail(field, value, rule)
            }
            _ => Ok(()),
        }
    }

    /// Refuses what the transports of others do not have.
    fn check_stack(&self, place: &str, backend: Backend) -> Result<(), ScenarioError> {
        let field = |key: &str| format!("{place}.{key}");
        let name = self.stack.as_deref().unwrap_or_default();
        check_name(&field("stack"), name)?;
        if backend != Backend::Sim {
            return Err(ScenarioError::because(format!(
                "{} is {name:?}, but the {} back end has no such flows: use the simulator, or programs",
                field("stack"),
                backend.name()
            )));
        }
        for (key, present) in [("kind", self.kind.is_some()), ("protocol", self.protocol.is_some())] {
            if present {
                return fail(&field(key), "given", "absent with a stack");
            }
        }
        match (self.streams, self.ecn) {
            (Some(streams), _) if !(1..=STREAMS_MAX).contains(&streams) => {
                fail(&field("streams"), streams, format!("1 to {STREAMS_MAX}"))
            }
            (_, Some(EcnMode::Classic | EcnMode::Accurate)) => fail(
                &field("ecn"),
                "given",
                "false or absent with a stack, which decides for itself",
            ),
            _ => Ok(()),
        }
    }

    /// Refuses what only TCP has.
    fn check_udp(&self, place: &str, backend: Backend) -> Result<(), ScenarioError> {
        let field = |key: &str| format!("{place}.{key}");
        if backend == Backend::Live {
            return Err(ScenarioError::because(format!(
                "{} is \"udp\", but the {} back end has no such flows: use sim or linux",
                field("protocol"),
                backend.name()
            )));
        }
        for (key, present) in [
            ("kind", self.kind.is_some()),
            ("congestion_control", self.congestion_control.is_some()),
            ("ecn", self.ecn.is_some()),
            ("bytes", self.bytes.is_some()),
            ("write", self.write.is_some()),
            ("write_interval", self.write_interval.is_some()),
        ] {
            if present {
                return fail(&field(key), "given", "absent for protocol \"udp\"");
            }
        }
        if self.rate.is_none() {
            return fail(&field("rate"), "missing", "given with protocol \"udp\", such as 50mbit");
        }
        Ok(())
    }

    fn check_writes(&self, place: &str, duration: Duration) -> Result<(), ScenarioError> {
        let field = |key: &str| format!("{place}.{key}");
        let (bytes, interval) = match (self.write, self.write_interval) {
            (None, None) => return Ok(()),
            (Some(bytes), Some(interval)) => (bytes, interval),
            (Some(_), None) => return fail(&field("write_interval"), "missing", "given with write, such as 300ms"),
            (None, Some(_)) => return fail(&field("write"), "missing", "given with write_interval, such as 150b"),
        };
        if self.rate.is_some() {
            let rule = "absent with write: a thin stream writes at intervals";
            return fail(&field("rate"), "given", rule);
        }
        if !(1..=WRITE_MAX).contains(&bytes.get()) {
            return fail(&field("write"), bytes, format!("1 to {WRITE_MAX} bytes"));
        }
        within(
            &field("write_interval"),
            interval,
            Duration::from_millis(1),
            Duration::from_secs(3600),
        )?;
        check_times(&field("write_interval"), interval, duration)
    }
}

/// Refuses an interval at which more would happen in a run than any figure shows.
pub(crate) fn check_times(field: &str, interval: Duration, duration: Duration) -> Result<(), ScenarioError> {
    if duration.as_nanos() / interval.as_nanos().max(1) > BINS_MAX {
        return fail(field, interval, format!("at least a {BINS_MAX}th of the duration"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(application: Application, most: usize) -> Vec<(Option<u64>, u64)> {
        let (mut made, mut at, mut all) = (0, Some(Duration::ZERO), Vec::new());
        while let Some(now) = at.filter(|_| all.len() < most) {
            let step = application.step(made, 1000, now);
            all.push((step.bytes, now.as_nanos()));
            made += step.bytes.unwrap_or(0);
            assert_eq!(step.closes, Some(made) == application.bytes && !step.stops, "{all:?}");
            at = step.again;
        }
        all
    }

    #[test]
    fn all_at_once_or_at_a_rate_or_in_writes() {
        let endless = Application::default();
        assert_eq!(steps(endless, 9), [(None, 0)]);
        let some = Application {
            bytes: Some(2500),
            ..endless
        };
        assert_eq!(steps(some, 9), [(Some(2500), 0)]);
        // 1000 bytes at 8 Mbit/s take 1 ms.
        let rate = Some(Rate::from_bps(8_000_000));
        let paced = Application { rate, ..some };
        let ms = 1_000_000;
        assert_eq!(
            steps(paced, 9),
            [(Some(1000), 0), (Some(1000), ms), (Some(500), 2 * ms)]
        );
        assert_eq!(
            steps(Application { rate, ..endless }, 2),
            [(Some(1000), 0), (Some(1000), ms)]
        );
        let lasts = Some(Duration::from_millis(1));
        for application in [endless, some, Application { rate, ..endless }] {
            let mut all = steps(application, 1);
            all.push((Some(0), ms));
            let stopped = Application { lasts, ..application };
            assert_eq!(steps(stopped, 9), all);
            let made = all[0].0.unwrap_or(0);
            assert!(stopped.step(made, 1000, Duration::from_millis(1)).stops);
            assert!(!stopped.step(0, 1000, Duration::ZERO).stops);
        }
        let writes = Some(Writes {
            bytes: Bytes::new(2000),
            interval: Duration::from_millis(7),
        });
        assert_eq!(
            steps(Application { writes, ..some }, 9),
            [(Some(2000), 0), (Some(500), 7 * ms)]
        );
    }
}
