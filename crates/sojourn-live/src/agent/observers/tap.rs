//! The observer of both bottlenecks: it notes each frame when it comes to the queue and when it leaves it.
//!
//! Each direction has a packet socket (`AF_PACKET`) in the namespace of its router. The kernel hands it copies of the
//! frames that come in at one interface and of those that go out at the other, which is after the discipline. One
//! socket for both has the advantage that its queue holds them in the order in which they happened: where a frame
//! comes and goes within a nanosecond, as virtual time has it, time stamps alone would not tell. A classic BPF
//! program lets nothing else through: IP only, because what is not routed does not come to the queue.
//!
//! Nothing wakes it. It reads what has gathered every 10 ms, up to 64 frames by a system call (`recvmmsg`); the
//! kernel's time stamps say when it was. Of each frame the first 96 bytes are read; its true length is told anyway
//! (`MSG_TRUNC`).

pub(crate) mod frame;

use crate::agent::actor::{Actor, AgentError, Doing, Host, World};
use crate::agent::kernel::packets::filter::{
    INTERFACE, IPV4, IPV6, JUMP_IF_EQUAL, LOAD_HALF, LOAD_WORD, PACKET_TYPE, RETURN,
};
use crate::agent::kernel::packets::{self, BATCH, OUTGOING};
use crate::agent::plan::job::Bottleneck;
use frame::{Ends, Known, Parsed, SNAP, parse};
use socket2::{SockFilter, Socket};
use sojourn_bed::{Conversation, LoadPlan, MOST_PROGRAM_FLOWS, Measured, Passed, ProgramFlow, Watched};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{BufWriter, Write};
use std::net::IpAddr;
use std::os::fd::AsRawFd;

/// `IPPROTO_TCP`.
const TCP: u8 = 6;
/// Between two readings.
const EVERY_NS: i64 = 10_000_000;
/// The largest frame of Ethernet.
const LARGEST: usize = 1514;

/// Where the frames of one direction are watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The router.
    pub host: Host,
    /// Its interface at which they come in.
    pub incoming: String,
    /// That by which they leave, after the discipline under test.
    pub outgoing: String,
}

impl Watch {
    /// That of a bottleneck of a job.
    ///
    /// # Errors
    /// [`AgentError::Plan`] if it is not at a router.
    pub fn of(bottleneck: &Bottleneck) -> Result<Self, AgentError> {
        let host = [Host::R1, Host::R2].into_iter().find(|h| h.name() == bottleneck.host);
        let wrong = || {
            let (name, rule) = (
                format!("{:?}", bottleneck.host),
                "r1 or r2 for its packets to be watched",
            );
            AgentError::field("the host of a bottleneck", name, rule)
        };
        Ok(Self {
            host: host.ok_or_else(wrong)?,
            incoming: bottleneck.input.clone(),
            outgoing: bottleneck.output.clone(),
        })
    }
}

/// One direction.
struct Way {
    watch: Watch,
    down: bool,
    socket: Option<Socket>,
    /// Numbers of the interfaces.
    incoming: usize,
    outgoing: usize,
    passed: Passed,
}

/// The flows of programs, in the order in which they were seen.
#[derive(Debug, Default)]
struct ProgramFlows {
    /// Of all hosts.
    addresses: BTreeSet<IpAddr>,
    numbers: BTreeMap<ProgramFlow, u16>,
    flows: Vec<ProgramFlow>,
}

impl ProgramFlows {
    /// Takes a frame between two hosts for one of programs, if it is none of the plan's.
    fn claim(&mut self, parsed: &mut Parsed, down: bool) -> Result<(), AgentError> {
        let Some(Ends {
            protocol,
            source,
            destination,
        }) = parsed.ends.filter(|_| parsed.conversation == Conversation::Other)
        else {
            return Ok(());
        };
        if ![source, destination]
            .iter()
            .all(|end| self.addresses.contains(&end.ip()))
        {
            return Ok(());
        }
        let (client, server) = if down {
            (destination, source)
        } else {
            (source, destination)
        };
        let flow = ProgramFlow {
            protocol,
            client,
            server,
        };
        let next = self.flows.len();
        if next == MOST_PROGRAM_FLOWS && !self.numbers.contains_key(&flow) {
            let sentence =
                format!("the programs had more than {MOST_PROGRAM_FLOWS} flows, which are told apart at most");
            return Err(AgentError::Plan(sentence));
        }
        let flows = &mut self.flows;
        let number = self.numbers.entry(flow).or_insert_with(|| {
            flows.push(flow);
            next as u16
        });
        parsed.conversation = Conversation::Program(*number);
        // Bare acknowledgements are those of TCP.
        parsed.data |= protocol != TCP;
        Ok(())
    }
}

/// The observer.
pub struct Tap {
    ways: [Way; 2],
    known: Known,
    programs: Option<ProgramFlows>,
    out: BufWriter<Box<dyn Write>>,
    due: i64,
    /// What was read and not yet written.
    records: Vec<Watched>,
    /// Room for a batch.
    buffer: Vec<u8>,
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passed = self.ways.each_ref().map(|way| way.passed);
        f.debug_struct("Tap").field("passed", &passed).finish_non_exhaustive()
    }
}

impl Tap {
    /// An observer of the bottlenecks `up` and `down`, which appends a record ([`Watched::to_bytes`]) for each frame
    /// to `out`, in the order of time.
    #[must_use]
    pub fn new(up: Watch, down: Watch, load: &LoadPlan, out: Box<dyn Write>) -> Self {
        let way = |watch, down| Way {
            watch,
            down,
            socket: None,
            incoming: 0,
            outgoing: 0,
            passed: Passed::default(),
        };
        Self {
            ways: [way(up, false), way(down, true)],
            known: Known::of(load),
            programs: None,
            out: BufWriter::with_capacity(1 << 16, out),
            due: 0,
            records: Vec::new(),
            buffer: vec![0; BATCH * SNAP],
        }
    }

    /// The same, for a bed whose hosts, with these addresses, run programs: their flows are told apart.
    #[must_use]
    pub fn telling_programs(mut self, addresses: BTreeSet<IpAddr>) -> Self {
        self.programs = Some(ProgramFlows {
            addresses,
            ..ProgramFlows::default()
        });
        self
    }

    /// Reads all that has gathered, and writes it.
    fn drain(&mut self, world: &dyn World) -> Result<(), AgentError> {
        for way in &mut self.ways {
            way.read(
                &mut self.buffer,
                (&self.known, &mut self.programs),
                &mut self.records,
                world,
            )?;
        }
        // Stable: what happened in the same nanosecond stays in the order of its socket.
        self.records.sort_by_key(|r| r.at_ns);
        for record in self.records.drain(..) {
            self.out.write_all(&record.to_bytes()).doing(writing)?;
        }
        Ok(())
    }
}

impl Way {
    fn open(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        world.enter(self.watch.host)?;
        let router = &*self.watch.host.name();
        let socket = packets::socket(router)?;
        let index = |name: &String| packets::interface(&socket, name, router);
        let (incoming, outgoing) = (index(&self.watch.incoming)?, index(&self.watch.outgoing)?);
        packets::watch(&socket, &only_passing(incoming, outgoing), router)?;
        (self.incoming, self.outgoing) = (incoming as usize, outgoing as usize);
        self.socket = Some(socket);
        Ok(())
    }

    /// Reads until nothing is left.
    fn read(
        &mut self,
        buffer: &mut [u8],
        (known, programs): (&Known, &mut Option<ProgramFlows>),
        records: &mut Vec<Watched>,
        world: &dyn World,
    ) -> Result<(), AgentError> {
        let Some(socket) = &self.socket else { return Ok(()) };
        let fd = socket.as_raw_fd();
        let host = &*self.watch.host.name();
        packets::read(fd, buffer, SNAP, host, |frame| {
            records.extend(self.note(frame, (known, &mut *programs), world)?);
            Ok(())
        })
    }

    /// The record of one frame; `None` if it is not one of those that are watched.
    fn note(
        &mut self,
        frame: &packets::Frame<'_>,
        (known, programs): (&Known, &mut Option<ProgramFlows>),
        world: &dyn World,
    ) -> Result<Option<Watched>, AgentError> {
        let router = &*self.watch.host.name();
        let Some(address) = frame.address else {
            return Ok(None);
        };
        let left = match (address.ifindex(), address.pkttype() == OUTGOING) {
            (i, true) if i == self.outgoing => true,
            (i, false) if i == self.incoming => false,
            // From the moment before the filter was there.
            _ => return Ok(None),
        };
        let (seconds, nanoseconds) = frame.stamp(router)?;
        let at_ns = world.at(seconds, nanoseconds);
        if frame.length > LARGEST {
            let place = if left {
                format!("leaves {router} by {}", self.watch.outgoing)
            } else {
                format!("comes to {router} at {}", self.watch.incoming)
            };
            return Err(AgentError::Plan(format!(
                "a frame of {} bytes {place}, but more than {LARGEST} are possible only if an offload (TSO, GSO, GRO) is on",
                frame.length
            )));
        }
        self.passed.count(left);
        let mut parsed = parse(frame.bytes, known);
        if let Some(programs) = programs {
            programs.claim(&mut parsed, self.down)?;
        }
        Ok(Some(parsed.watched(at_ns, frame.length as u16, self.down, left)))
    }
}

impl Actor for Tap {
    fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        for way in &mut self.ways {
            way.open(world)?;
        }
        self.due = world.now() + EVERY_NS;
        world.set_timer(0, self.due);
        Ok(())
    }

    fn due(&mut self, _key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        let now = world.now();
        self.drain(world)?;
        if now >= world.end() {
            // The run may be over at any time, and `finish` cannot say that a disk is full.
            self.out.flush().doing(writing)?;
        }
        self.due = now + EVERY_NS;
        world.set_timer(0, self.due);
        Ok(())
    }

    fn window_ends(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        self.drain(world)?;
        self.out.flush().doing(writing)
    }

    fn finish(&mut self, measured: &mut Measured) {
        let [up, down] = self.ways.each_ref().map(|way| way.passed);
        (measured.up.passed, measured.down.passed) = (Some(up), Some(down));
        measured.program_flows = self.programs.take().map_or_else(Vec::new, |programs| programs.flows);
    }
}

fn writing() -> String {
    "writing what was seen at the bottlenecks".into()
}

/// Lets frames of IPv4 and IPv6 through that come in at one interface or leave by the other (classic BPF, with the extensions of
/// linux/filter.h for the interface and the type of a packet).
fn only_passing(incoming: u32, outgoing: u32) -> [SockFilter; 12] {
    let outgoing_type = u32::from(OUTGOING);
    [
        SockFilter::new(LOAD_HALF, 0, 0, 12),
        SockFilter::new(JUMP_IF_EQUAL, 1, 0, IPV4),
        SockFilter::new(JUMP_IF_EQUAL, 0, 8, IPV6),
        SockFilter::new(LOAD_WORD, 0, 0, INTERFACE),
        SockFilter::new(JUMP_IF_EQUAL, 0, 2, incoming),
        SockFilter::new(LOAD_WORD, 0, 0, PACKET_TYPE),
        SockFilter::new(JUMP_IF_EQUAL, 4, 3, outgoing_type),
        SockFilter::new(JUMP_IF_EQUAL, 0, 3, outgoing),
        SockFilter::new(LOAD_WORD, 0, 0, PACKET_TYPE),
        SockFilter::new(JUMP_IF_EQUAL, 0, 1, outgoing_type),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
        SockFilter::new(RETURN, 0, 0, 0),
    ]
}

#[cfg(test)]
mod tests;
