//! An ICMP echo request every interval, whether or not the last was answered; as ping.
//!
//! The other end is the server's kernel. A raw socket is connected to the server and has a filter, so only the
//! answers to this probe wake it.
//!
//! A request has left at [`World::now`]. On a virtual clock no time passes between that and the first interface. On a
//! real one the event loop reads its clock once for a wake-up, so what it did earlier in the same wake-up, and the
//! way from the system call to the queue of the first interface, count as part of the round trip: some microseconds,
//! as for ping.
//!
//! Read first: RFC 792 (echo), RFC 1071 (the checksum).

use crate::agent::actor::{Actor, AgentError, Doing, Host, World};
use crate::agent::kernel::packets::filter::{JUMP_IF_EQUAL, RETURN};
use crate::agent::traffic::mark::{mark, send_from};
use crate::agent::traffic::probe::{Identity, LINGER_NS, Samples, Stamp};
use crate::agent::traffic::receive::{Inbox, stamp};
use rustix::fd::AsFd;
use socket2::{Domain, Protocol, SockFilter, Socket, Type};
use sojourn_bed::{LoadPlan, Measured, ProbePlan};
use sojourn_scenario::ProbeKindScenario;
use std::net::SocketAddrV4;

/// Timers.
const SEND: u32 = 0;
const LINGER: u32 = 1;
/// The socket.
const ANSWERS: u32 = 0;

/// Type of an echo request and of its answer.
const REQUEST: u8 = 8;
const ANSWER: u8 = 0;
/// Bytes of the header of an echo message.
const HEADER: usize = 8;

/// An echo probe.
#[derive(Debug)]
pub struct Icmp {
    me: Identity,
    interval: i64,
    socket: Option<Socket>,
    samples: Samples,
    /// When the next request is to leave.
    due: i64,
    stopped: bool,
    message: Vec<u8>,
    inbox: Inbox,
}

impl Icmp {
    /// The probe at place `index` of the plan.
    ///
    /// # Errors
    /// [`AgentError::Plan`] if the plan is of another kind of probe, or cannot be carried out.
    pub fn new(index: usize, plan: &ProbePlan, load: &LoadPlan) -> Result<Self, AgentError> {
        let me = Identity::new(index, plan, load)?;
        let ProbeKindScenario::Icmp(interval) = plan.kind() else {
            return Err(me.wrong_kind("icmp"));
        };
        Ok(Self {
            interval: me.time("interval", interval)?,
            due: me.start_ns,
            message: vec![0; HEADER + me.payload],
            me,
            socket: None,
            samples: Samples::default(),
            stopped: false,
            inbox: Inbox::default(),
        })
    }

    fn send(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        let Some(socket) = &self.socket else { return Ok(()) };
        let stamp = Stamp {
            index: self.me.index,
            number: self.samples.next(),
            sent_ns: world.now(),
        };
        stamp.write(&mut self.message[HEADER..]);
        write_header(&mut self.message, self.me.port(), stamp.number as u16);
        self.samples.send(stamp.sent_ns);
        let sent = socket.send(&self.message);
        sent.doing(|| format!("sending a request of {} on client", self.me.what))
            .map(drop)
    }
}

impl Actor for Icmp {
    fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        world.enter(Host::Client(self.me.access.station))?;
        let what = |doing: &str| format!("{doing} the socket of {} on client", self.me.what);
        let socket =
            Socket::new(Domain::IPV4, Type::RAW.nonblocking(), Some(Protocol::ICMPV4)).doing(|| what("opening"))?;
        stamp(&socket, &self.me.what)?;
        mark(&socket, self.me.access, &self.me.what)?;
        send_from(&socket, self.me.access, &self.me.what, world)?;
        socket
            .attach_filter(&only_answers_to(self.me.port()))
            .doing(|| what("filtering at"))?;
        socket
            .connect(&SocketAddrV4::new(world.server(self.me.path, self.me.access), 0).into())
            .doing(|| what("connecting"))?;
        world.register(ANSWERS, socket.as_fd(), false)?;
        world.set_timer(SEND, self.due);
        self.socket = Some(socket);
        Ok(())
    }

    fn ready(&mut self, _key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        let Some(socket) = &self.socket else { return Ok(()) };
        while let Some((packet, at)) = self.inbox.next(socket, world, &self.me.what)? {
            if let Some(stamp) = read_answer(packet, self.me.port(), self.message.len())
                && stamp.index == self.me.index
            {
                self.samples.arrive(&stamp, at, &self.me.what)?;
            }
        }
        Ok(())
    }

    fn due(&mut self, key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        if key == LINGER {
            self.samples.dismiss();
            return Ok(());
        }
        if self.stopped || world.now() >= world.end() {
            return Ok(());
        }
        // From the time at which it was due: a wake-up that is late does not put off those that follow.
        self.due += self.interval;
        world.set_timer(SEND, self.due);
        self.send(world)
    }

    fn window_ends(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        self.stopped = true;
        world.cancel_timer(SEND);
        world.set_timer(LINGER, world.end() + LINGER_NS);
        Ok(())
    }

    fn awaits(&self) -> bool {
        self.samples.awaits()
    }

    fn linger_ns(&self) -> i64 {
        LINGER_NS
    }

    fn finish(&mut self, measured: &mut Measured) {
        self.samples.finish(self.me.index, measured);
    }
}

/// Makes an echo request of a message whose payload is there (RFC 792: type, code, checksum, identifier, sequence
/// number).
fn write_header(message: &mut [u8], identifier: u16, sequence: u16) {
    message[..4].copy_from_slice(&[REQUEST, 0, 0, 0]);
    message[4..6].copy_from_slice(&identifier.to_be_bytes());
    message[6..8].copy_from_slice(&sequence.to_be_bytes());
    let sum = checksum(message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
}

/// The checksum of the internet (RFC 1071): the complement of the sum of all 16-bit words in ones' complement
/// arithmetic.
fn checksum(message: &[u8]) -> u16 {
    let words = message.chunks(2).map(|w| match *w {
        [a, b] => u32::from(u16::from_be_bytes([a, b])),
        [a] => u32::from(a) << 8,
        _ => 0,
    });
    // At most 757 words of 16 bits: no overflow.
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

/// The stamp of an echo answer, from a packet that begins with its IPv4 header, as raw sockets give it; `None` if it
/// is something else. Sequence numbers have 16 bits and come around; the number in the stamp does not.
fn read_answer(packet: &[u8], identifier: u16, length: usize) -> Option<Stamp> {
    let header = usize::from(packet.first()? & 0x0f) * 4;
    let message = packet.get(header..)?;
    let [ANSWER, 0, _, _, i0, i1, s0, s1] = *message.first_chunk::<HEADER>()? else {
        return None;
    };
    let stamp = Stamp::read(&message[HEADER..])?;
    let ours = u16::from_be_bytes([i0, i1]) == identifier
        && u16::from_be_bytes([s0, s1]) == stamp.number as u16
        && message.len() == length;
    ours.then_some(stamp)
}

/// Lets answers with this identifier through (classic BPF; the packet begins with its IPv4 header).
fn only_answers_to(identifier: u16) -> [SockFilter; 7] {
    const LOAD_HEADER_LENGTH: u16 = 0xb1; // ldxb 4*([k]&0xf)
    const LOAD_BYTE: u16 = 0x50; // ldb [x+k]
    const LOAD_HALF: u16 = 0x48; // ldh [x+k]
    [
        SockFilter::new(LOAD_HEADER_LENGTH, 0, 0, 0),
        SockFilter::new(LOAD_BYTE, 0, 0, 0),
        SockFilter::new(JUMP_IF_EQUAL, 0, 3, u32::from(ANSWER)),
        SockFilter::new(LOAD_HALF, 0, 0, 4),
        SockFilter::new(JUMP_IF_EQUAL, 0, 1, u32::from(identifier)),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
        SockFilter::new(RETURN, 0, 0, 0),
    ]
}

#[cfg(test)]
mod tests;
