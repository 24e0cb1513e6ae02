//! Disciplines from Python: driven by hand, expanded, and listed.
#![expect(
    clippy::doc_markdown,
    reason = "the comments are Python docstrings, in numpy's style"
)]

use crate::error::{param, whole};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_qdisc::{
    AckFacts, AnyQdisc, Discipline, DropReason, Dropped, Packet, Qdisc as _, QdiscSpec, Tbf, band_of_dscp, kinds,
    presets, priority_of_dscp,
};
use sojourn_units::{Bytes, Ecn, Rate, Time};

/// Times end here (146 years), so that no sum of a time and a parameter can overflow.
const LAST_NS: u64 = 1 << 62;

/// A packet of a hand-driven discipline.
#[derive(Clone, Copy, Debug)]
struct HandPacket {
    id: u64,
    size: u32,
    flow: u32,
    ecn: Ecn,
    dscp: u8,
    source: u32,
    destination: u32,
    /// Of a TCP segment.
    tcp: Option<AckFacts>,
    /// What its socket has set.
    socket: Socket,
}

/// What `fq` reads of a packet's socket.
#[derive(Clone, Copy, Debug, Default)]
struct Socket {
    /// Where none is set, a router derives one from the code point.
    priority: Option<u8>,
    pacing: Option<Rate>,
    not_before: Option<Time>,
}

impl Packet for HandPacket {
    fn size(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }
    fn flow_hash(&self) -> u32 {
        self.flow
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }
    fn priority(&self) -> u8 {
        self.socket.priority.unwrap_or_else(|| priority_of_dscp(self.dscp))
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.socket.pacing
    }
    fn not_before(&self) -> Option<Time> {
        self.socket.not_before
    }
    fn dscp(&self) -> u8 {
        self.dscp
    }
    fn set_dscp(&mut self, dscp: u8) {
        self.dscp = dscp;
    }
    fn band(&self) -> u8 {
        band_of_dscp(self.dscp)
    }
    fn source(&self) -> u32 {
        self.source
    }
    fn destination(&self) -> u32 {
        self.destination
    }
    fn ack(&self) -> Option<AckFacts> {
        self.tcp
    }
}

/// The discipline, or a token bucket above it.
#[derive(Debug)]
enum Driven {
    Alone(AnyQdisc<HandPacket>),
    Shaped(Tbf<HandPacket, AnyQdisc<HandPacket>>),
}

impl Driven {
    /// What is called.
    fn outer(&mut self) -> &mut dyn sojourn_qdisc::Qdisc<HandPacket> {
        match self {
            Self::Alone(q) => q,
            Self::Shaped(tbf) => tbf,
        }
    }

    /// The discipline itself.
    fn inner(&self) -> &AnyQdisc<HandPacket> {
        match self {
            Self::Alone(q) => q,
            Self::Shaped(tbf) => tbf.child(),
        }
    }
}

/// A packet that left.
#[pyclass(frozen, eq, get_all, module = "sojourn._native")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Departure {
    id: u64,
    size: u32,
    flow: u32,
    sojourn_ns: u64,
    marked: bool,
}

#[pymethods]
impl Departure {
    fn __repr__(&self) -> String {
        let Self {
            id,
            size,
            flow,
            sojourn_ns,
            marked,
        } = self;
        let marked = if *marked { "True" } else { "False" };
        format!("Departure(id={id}, size={size}, flow={flow}, sojourn_ns={sojourn_ns}, marked={marked})")
    }
}

/// A packet that was dropped, and why: "queue_limit", "memory_limit" or "congestion".
#[pyclass(frozen, eq, get_all, module = "sojourn._native")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drop {
    id: u64,
    reason: &'static str,
    sojourn_ns: u64,
    size: u32,
    flow: u32,
}

#[pymethods]
impl Drop {
    fn __repr__(&self) -> String {
        format!(
            "Drop(id={}, reason='{}', sojourn_ns={})",
            self.id, self.reason, self.sojourn_ns
        )
    }
}

/// A queue discipline driven by hand: the caller tells the time.
///
/// Parameters
/// ----------
/// text : str
///     What one would type after ``tc qdisc add dev X root``, or a preset.
/// seed : int
///     Seed of its random numbers.
/// rate_bps : int, optional
///     The link's rate, which a preset needs.
/// shaped_bps : int, optional
///     The rate of a token bucket (``tbf``) above the discipline, which lets its packets go.
/// burst_bytes : int, optional
///     The depth of that bucket; it is given together with ``shaped_bps``.
#[pyclass(module = "sojourn._native")]
#[derive(Debug)]
pub(crate) struct Qdisc {
    spec: QdiscSpec,
    q: Driven,
    drops: Vec<Dropped<HandPacket>>,
    next_id: u64,
    now: Time,
}

impl Qdisc {
    /// The time of a call, which must not be before the last one's.
    fn advance(&mut self, now_ns: &Bound<'_, PyAny>) -> PyResult<Time> {
        let now = Time::from_nanos(whole(now_ns, "now_ns", 0, LAST_NS)?);
        if now < self.now {
            let (now, last) = (now.as_nanos(), self.now.as_nanos());
            return Err(param(format!(
                "now_ns is {now}, but must be >= {last}, the time of the last call"
            )));
        }
        self.now = now;
        Ok(now)
    }
}

#[pymethods]
impl Qdisc {
    #[new]
    #[pyo3(signature = (text, seed = None, *, rate_bps = None, shaped_bps = None, burst_bytes = None))]
    fn new(
        text: &str,
        seed: Option<&Bound<'_, PyAny>>,
        rate_bps: Option<&Bound<'_, PyAny>>,
        shaped_bps: Option<&Bound<'_, PyAny>>,
        burst_bytes: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let seed = seed.map_or(Ok(1), |seed| whole(seed, "seed", 0, u64::MAX))?;
        let spec = QdiscSpec::parse(text, rate_bps.map(rate).transpose()?).map_err(param)?;
        let q = match (shaped_bps, burst_bytes) {
            (None, None) => Driven::Alone(spec.build(seed)),
            (Some(shaped), Some(burst)) => {
                let shaped = whole(shaped, "shaped_bps", 1, 1_000_000_000_000).map(Rate::from_bps)?;
                let burst = Bytes::new(whole(burst, "burst_bytes", 1, u64::from(u32::MAX))?);
                Driven::Shaped(Tbf::new(shaped, burst, spec.build(seed)).map_err(param)?)
            }
            (Some(_), None) => return Err(param("burst_bytes is absent, but must be given with shaped_bps")),
            (None, Some(_)) => return Err(param("shaped_bps is absent, but must be given with burst_bytes")),
        };
        Ok(Self {
            spec,
            q,
            drops: Vec::new(),
            next_id: 0,
            now: Time::ZERO,
        })
    }

    /// Offers a packet; returns its id, counting from 0. A refused packet has an id too and is in ``take_drops()``.
    ///
    /// ``flow`` names the queue: flow f goes to queue f modulo the number of queues.
    /// ``ecn`` is the codepoint of its IP header: ``"not-ect"``, ``"ect0"``, ``"ect1"`` or ``"ce"``; True is
    /// ``"ect0"``. ``dscp`` is its code point, 0 to 63. ``source`` and ``destination`` stand for the addresses of its
    /// hosts: numbers that are equal for packets of one host.
    /// ``priority`` (0 to 15; by default what a router derives from the code point), ``pacing_bps`` (bit/s) and
    /// ``not_before_ns`` are what ``fq`` reads of a packet's socket: its priority, the rate at which it is to send, and
    /// the earliest time at which the packet may leave. ``tcp`` is what ``cake ack-filter`` reads of a TCP segment: its
    /// header with all options. What is behind the header in ``tcp`` is payload, of which one byte is enough.
    #[pyo3(signature = (now_ns, size, flow = None, ecn = None, *, dscp = None, source = None, destination = None,
                        priority = None, pacing_bps = None, not_before_ns = None, tcp = None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "Python's own interface: all but two are optional"
    )]
    fn enqueue(
        &mut self,
        now_ns: &Bound<'_, PyAny>,
        size: &Bound<'_, PyAny>,
        flow: Option<&Bound<'_, PyAny>>,
        ecn: Option<&Bound<'_, PyAny>>,
        dscp: Option<&Bound<'_, PyAny>>,
        source: Option<&Bound<'_, PyAny>>,
        destination: Option<&Bound<'_, PyAny>>,
        priority: Option<&Bound<'_, PyAny>>,
        pacing_bps: Option<&Bound<'_, PyAny>>,
        not_before_ns: Option<&Bound<'_, PyAny>>,
        tcp: Option<&[u8]>,
    ) -> PyResult<u64> {
        let number = |value: Option<&Bound<'_, PyAny>>, field: &str, most: u32| {
            value.map_or(Ok(0), |value| whole(value, field, 0, u64::from(most)).map(|n| n as u32))
        };
        let priority = priority.map(|priority| whole(priority, "priority", 0, 15));
        let not_before = not_before_ns.map(|at| whole(at, "not_before_ns", 0, LAST_NS));
        let pacing = pacing_bps.map(|rate| whole(rate, "pacing_bps", 8, u64::MAX));
        let socket = Socket {
            priority: priority.transpose()?.map(|priority| priority as u8),
            pacing: pacing.transpose()?.map(Rate::from_bps),
            not_before: not_before.transpose()?.map(Time::from_nanos),
        };
        let ecn = ecn.map_or(Ok(Ecn::NotEct), codepoint)?;
        let size = whole(size, "size", 1, u64::from(u32::MAX))? as u32;
        let packet = HandPacket {
            id: self.next_id,
            size,
            flow: number(flow, "flow", u32::MAX)?,
            ecn,
            dscp: number(dscp, "dscp", 63)? as u8,
            source: number(source, "source", u32::MAX)?,
            destination: number(destination, "destination", u32::MAX)?,
            tcp: tcp.map(segment).transpose()?,
            socket,
        };
        let now = self.advance(now_ns)?;
        self.next_id += 1;
        self.q.outer().enqueue(packet, now, &mut self.drops);
        Ok(packet.id)
    }

    /// Takes the next packet that may leave now; None if there is none.
    fn dequeue(&mut self, now_ns: &Bound<'_, PyAny>) -> PyResult<Option<Departure>> {
        let now = self.advance(now_ns)?;
        let departure = self.q.outer().dequeue(now, &mut self.drops);
        Ok(departure.map(|d| Departure {
            id: d.packet.id,
            size: d.packet.size,
            flow: d.packet.flow,
            sojourn_ns: d.sojourn.as_nanos(),
            marked: d.marked,
        }))
    }

    /// When ``dequeue`` may next return a packet, in ns; None if only an arrival can change that.
    fn ready_at(&mut self, now_ns: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        let now = self.advance(now_ns)?;
        Ok(self.q.outer().ready_at(now, &mut self.drops).map(Time::as_nanos))
    }

    /// The packets dropped since the last call, in order.
    fn take_drops(&mut self) -> Vec<Drop> {
        let drop = |d: Dropped<HandPacket>| Drop {
            id: d.packet.id,
            reason: d.reason.name(),
            sojourn_ns: d.sojourn.as_nanos(),
            size: d.packet.size,
            flow: d.packet.flow,
        };
        self.drops.drain(..).map(drop).collect()
    }

    /// Packets and bytes held.
    #[getter]
    fn backlog(&self) -> (u64, u64) {
        let backlog = self.q.inner().backlog();
        (backlog.packets, backlog.bytes.get())
    }

    /// The counters of ``tc -s qdisc``, the kind's own included (times in us), and drops by reason.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (stats, backlog) = (self.q.inner().stats(), self.q.inner().backlog());
        let dict = PyDict::new(py);
        dict.set_item("kind", self.spec.kind())?;
        dict.set_item("arrived", stats.arrived)?;
        dict.set_item("packets", stats.sent_packets)?;
        dict.set_item("bytes", stats.sent_bytes)?;
        dict.set_item("drops", stats.dropped())?;
        for reason in DropReason::OF_A_QDISC {
            dict.set_item(format!("drops_{}", reason.name()), stats.drops[reason.index()])?;
        }
        dict.set_item("marks", stats.marks)?;
        dict.set_item("overlimits", stats.overlimits)?;
        dict.set_item("requeues", 0)?;
        dict.set_item("backlog", backlog.bytes.get())?;
        dict.set_item("qlen", backlog.packets)?;
        for (name, value) in self.q.inner().extra_stats() {
            match name {
                // Of all tins of CAKE, without the drops of its ACK filter, which the discipline's own counter has.
                "drops" => continue,
                "dropping" => dict.set_item(name, value > 0.5),
                "prob" | "max_p" | "qavg" | "avg_dq_rate" | "delay" | "ldelay" | "drop_next" => {
                    dict.set_item(name, value)
                }
                // Whole numbers, far below 2^53; a credit may be less than none.
                _ => dict.set_item(name, value as i64),
            }?;
        }
        Ok(dict)
    }

    /// The counters of ``tc -s class`` by class, such as ``"1:11"``; empty for a discipline without classes.
    #[getter]
    fn classes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for class in self.q.inner().class_stats() {
            let dict = PyDict::new(py);
            dict.set_item("packets", class.sent_packets)?;
            dict.set_item("bytes", class.sent_bytes)?;
            dict.set_item("drops", class.dropped)?;
            dict.set_item("overlimits", class.overlimits)?;
            dict.set_item("backlog", class.backlog.bytes.get())?;
            dict.set_item("qlen", class.backlog.packets)?;
            for (name, value) in class.extra {
                // Whole numbers; tokens may be less than none.
                dict.set_item(name, value as i64)?;
            }
            all.set_item(class.id, dict)?;
        }
        Ok(all)
    }

    /// The canonical text, every parameter written out.
    #[getter]
    fn text(&self) -> String {
        self.spec.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Qdisc('{}')", self.spec)
    }
}

/// A codepoint by its name; True is ECT(0), which is what Linux sets.
fn codepoint(ecn: &Bound<'_, PyAny>) -> PyResult<Ecn> {
    if let Ok(capable) = ecn.extract::<bool>() {
        return Ok(if capable { Ecn::Ect0 } else { Ecn::NotEct });
    }
    let name = ecn.extract::<String>().ok().and_then(|name| Ecn::from_name(&name));
    name.ok_or_else(|| {
        let rule = "True, False, \"not-ect\", \"ect0\", \"ect1\" or \"ce\"";
        param(format!("ecn is {ecn:?}, but must be {rule}"))
    })
}

/// What an ACK filter reads of a segment.
fn segment(tcp: &[u8]) -> PyResult<AckFacts> {
    let rule = "must be a TCP header with all of its options, and then payload if there is any";
    AckFacts::read(tcp).ok_or_else(|| param(format!("tcp has {} bytes, but {rule}", tcp.len())))
}

fn rate(rate_bps: &Bound<'_, PyAny>) -> PyResult<Rate> {
    whole(rate_bps, "rate_bps", 1, 1_000_000_000_000).map(Rate::from_bps)
}

/// The canonical ``tc`` text that a text or preset stands for on a link of this rate.
#[pyfunction]
pub(crate) fn expand_qdisc(text: &str, rate_bps: &Bound<'_, PyAny>) -> PyResult<String> {
    let rate = rate(rate_bps)?;
    Discipline::parse(text, Some(rate))
        .map(|s| s.to_string())
        .map_err(param)
}

/// Every kind with its parameters, as JSON.
#[pyfunction]
pub(crate) fn list_qdiscs() -> PyResult<String> {
    // By way of a value, whose keys are in order.
    serde_json::to_value(kinds()).map_err(param).map(|all| all.to_string())
}

/// Every preset with what it expands to at 1, 10 and 100 Mbit/s, as JSON.
#[pyfunction]
pub(crate) fn list_presets() -> PyResult<String> {
    let mut all = Vec::new();
    for preset in presets() {
        let mut expands = serde_json::Map::new();
        for mbit in [1, 10, 100] {
            let rate = Rate::from_mbit(mbit);
            let text = preset.discipline_at(rate).map_err(param)?.to_string();
            expands.insert(rate.to_string(), text.into());
        }
        all.push(serde_json::json!({"name": preset.name, "summary": preset.summary, "expands": expands}));
    }
    Ok(serde_json::Value::from(all).to_string())
}
