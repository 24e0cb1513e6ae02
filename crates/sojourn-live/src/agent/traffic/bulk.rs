//! The TCP flows of a plan (those of UDP are in `flood`): senders and receivers, and what the kernel tells of them at
//! the end of each bin.
//!
//! One actor has all flows, so that there is one timer for the bins. A sender is an application that always has data:
//! it writes as much as the kernel takes, and again when a third of the kernel's buffer is free (which is when
//! `epoll` tells). A receiver reads each segment as it comes. (With `SO_RCVLOWAT` at four segments a run would cost
//! half, but the kernel would not acknowledge at once what ends with PSH, as it does for an application that reads.)

use crate::agent::actor::{Doing, signed};
use crate::agent::kernel::netlink::Netlink;
use crate::agent::kernel::tcp_info::{self, Ends, TcpInfo};
use crate::agent::observers::bins::Bins;
use crate::agent::traffic::route::Route;
use crate::agent::{Actor, AgentError, Host, World};
use nix::sys::socket::sockopt::Timestamping;
use nix::sys::socket::{TimestampingFlag, setsockopt};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, SocketFlags, accept_with, recv, send, shutdown, sockopt};
use sojourn_bed::{EcnMeasured, FlowMeasured, FlowPlan, LoadPlan, Measured, ports};
use sojourn_scenario::{Step, Transport};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

/// What a sender without a rate gives to the kernel at a time; the kernel takes what it has room for.
const WRITE: usize = 1 << 20;
/// Most that a receiver takes from the kernel at a time. `MSG_TRUNC` drops it there, so nothing is copied.
const READ: usize = 1 << 22;
/// What an application that is limited in rate writes at a time: a full segment, as the simulator's does.
const CHUNK: u64 = 1448;
/// Timer of the bins; timer `1 + i` is that of flow `i`.
const BINS: u32 = 0;
/// Keys of sockets: this many for each flow.
const KEYS: u32 = 3;
const LISTENER: u32 = 0;
const RECEIVER: u32 = 1;
const SENDER: u32 = 2;
/// `SOF_TIMESTAMPING_SOFTWARE`, `_OPT_ID`, `_TX_ACK` and `_OPT_TSONLY` (`linux/net_tstamp.h`): the kernel tells on
/// the socket's error queue when the last byte of the next write is acknowledged.
const TELL_ACKNOWLEDGEMENT: u32 = 1 << 4 | 1 << 7 | 1 << 9 | 1 << 11;

/// The receive buffer of a flow in a cell, bytes, once its first segment has come, which has set the window for good.
///
/// A whole aggregate arrives before the application reads a segment of it. The kernel acknowledges every other
/// segment only if unread data does not narrow the window that it would offer (`__tcp_ack_snd_check`); else it waits
/// for the application, and acknowledges an aggregate once. So there is room beside the window.
const ROOM: usize = 64 << 20;

/// All TCP flows.
#[derive(Debug)]
pub(crate) struct Bulk {
    flows: Vec<Flow>,
    bins: Bins,
    /// Sockets that tell of the TCP sockets of each host that sends.
    diagnosis: BTreeMap<Host, Netlink>,
    zeros: Vec<u8>,
    /// Where nothing is ever written: see [`READ`].
    sink: Vec<u8>,
}

/// How far a sender is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The connection is not there yet.
    Connecting,
    /// It has data to send, or may have.
    Open,
    /// It has closed its direction, and waits for the last acknowledgement.
    Closed,
    /// It has given the connection up.
    GivenUp,
}

#[derive(Debug)]
struct Flow {
    plan: FlowPlan,
    route: Route,
    listener: Option<OwnedFd>,
    receiver: Option<OwnedFd>,
    sender: Option<OwnedFd>,
    ends: Option<Ends>,
    stage: Stage,
    /// What the application has made so far, bytes, if it has an end or makes a part at a time.
    made: u64,
    /// Of a thin stream: the writes that the receiver has not read: where each ends, and when it was made.
    pending: VecDeque<(u64, i64)>,
    /// What it has made and the kernel has not taken; `None` without end.
    unwritten: Option<u64>,
    /// When the application began, and then when it makes its next chunk.
    next: i64,
    /// Whether the sender is woken when it can write.
    waits_to_write: bool,
    /// Whether the receiver has read the end.
    ended: bool,
    delivered: u64,
    /// Whether the receiver makes room once data has come: see [`ROOM`].
    makes_room: bool,
    latest: Option<TcpInfo>,
    seen: FlowMeasured,
}

impl Bulk {
    /// The flows of a plan.
    pub(crate) fn new(plan: &LoadPlan) -> Self {
        Self {
            flows: plan
                .flows
                .iter()
                .enumerate()
                .map(|(i, flow)| Flow {
                    makes_room: plan.wifi.is_some(),
                    ..Flow::new(i, flow.clone())
                })
                .collect(),
            bins: Bins::of(plan),
            diagnosis: BTreeMap::new(),
            zeros: vec![0; WRITE],
            sink: vec![0; READ],
        }
    }

    /// Asks the kernel for all senders that have sockets.
    fn look(&mut self, only: Option<usize>) -> Result<(), AgentError> {
        for (&host, socket) in &mut self.diagnosis {
            let wanted = |(i, flow): (usize, &Flow)| {
                let here = flow.sending_host() == host && flow.sender.is_some() && only.is_none_or(|o| o == i);
                here.then_some((i, flow.ends?))
            };
            let (indices, ends): (Vec<usize>, Vec<Ends>) = self.flows.iter().enumerate().filter_map(wanted).unzip();
            let answers = tcp_info::ask(socket, &ends)
                .doing(|| format!("cannot read the state of the TCP sockets of {} (tcp_diag)", host.name()))?;
            for (i, info) in indices.into_iter().zip(answers) {
                if info.is_some() {
                    self.flows[i].latest = info;
                }
            }
        }
        Ok(())
    }

    /// Reads what has arrived and writes down the state of each flow.
    fn end_bin(&mut self, now: i64) -> Result<(), AgentError> {
        for flow in &mut self.flows {
            flow.read(&mut self.sink);
            flow.read_writes(now);
        }
        self.look(None)?;
        for flow in &mut self.flows {
            let info = flow.latest.unwrap_or_default();
            flow.seen.delivered.push(flow.delivered);
            flow.seen.cwnd.push(info.cwnd);
            flow.seen.srtt_us.push(info.srtt_us);
            flow.seen.ssthresh.push(info.ssthresh);
        }
        Ok(())
    }

    /// A sender can write, or has news.
    fn sender_ready(&mut self, i: usize, world: &mut dyn World) -> Result<(), AgentError> {
        let flow = &mut self.flows[i];
        let Some(sender) = &flow.sender else {
            return Ok(());
        };
        // One that has something to write learns of an error when it writes.
        if flow.stage == Stage::Connecting || flow.unwritten == Some(0) {
            match sockopt::socket_error(sender) {
                Ok(Ok(())) => {}
                Ok(Err(e)) | Err(e) => return flow.fail(i, e, world),
            }
        }
        if flow.stage == Stage::Connecting {
            flow.stage = Stage::Open;
            flow.seen.connected_ns = Some(world.now());
            self.look(Some(i))?;
            let flow = &mut self.flows[i];
            flow.seen.syn_retransmissions = flow.latest.map_or(0, |info| info.retransmissions);
        }
        let flow = &mut self.flows[i];
        if flow.stage == Stage::Closed && flow.acknowledged() {
            flow.seen.completed_ns = Some(world.now());
            // Before the receiver closes, too: then the kernel forgets the connection.
            self.look(Some(i))?;
            self.flows[i].close(i, world)?;
            return Ok(());
        }
        self.flows[i].write(i, &self.zeros, world)
    }
}

impl Flow {
    fn new(i: usize, plan: FlowPlan) -> Self {
        Self {
            route: Route::of(&plan, plan.direction, ports::FLOWS + i as u16),
            made: 0,
            pending: VecDeque::new(),
            next: plan.start_ns,
            plan,
            listener: None,
            receiver: None,
            sender: None,
            ends: None,
            stage: Stage::Connecting,
            unwritten: Some(0),
            waits_to_write: true,
            ended: false,
            delivered: 0,
            makes_room: false,
            latest: None,
            seen: FlowMeasured::default(),
        }
    }

    /// Whether another actor carries it.
    fn is_udp(&self) -> bool {
        self.plan.transport() == Transport::Udp
    }

    /// Whether the connection is to be closed behind what the application has made.
    fn has_made_all(&self) -> bool {
        self.plan.bytes == Some(self.made)
    }

    fn sending_host(&self) -> Host {
        self.route.hosts().0
    }

    fn listen(&mut self, i: usize, world: &mut dyn World) -> Result<(), AgentError> {
        let socket = self
            .route
            .listen(self.plan.congestion_control.unwrap_or_default(), 1, world)?;
        world.register(key(i, LISTENER), socket.as_fd(), false)?;
        self.listener = Some(socket);
        Ok(())
    }

    fn accept(&mut self, i: usize, world: &mut dyn World) -> Result<(), AgentError> {
        let Some(listener) = &self.listener else {
            return Ok(());
        };
        let socket = match accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok(socket) => socket,
            Err(Errno::AGAIN | Errno::CONNABORTED) => return Ok(()),
            Err(e) => return Err(e).doing(|| format!("cannot accept the connection of {}", self.plan.name)),
        };
        world.deregister(key(i, LISTENER), listener.as_fd())?;
        self.listener = None;
        world.register(key(i, RECEIVER), socket.as_fd(), false)?;
        self.receiver = Some(socket);
        Ok(())
    }

    fn connect(&mut self, i: usize, world: &mut dyn World) -> Result<(), AgentError> {
        let control = self.plan.congestion_control.unwrap_or_default();
        let at_once = self.plan.application().writes.is_some();
        let (socket, ends) = self.route.connect(control, at_once, world)?;
        world.register(key(i, SENDER), socket.as_fd(), true)?;
        (self.sender, self.ends) = (Some(socket), Some(ends));
        Ok(())
    }

    /// What the application does now.
    fn step(&self) -> Step {
        let after = self.next.saturating_sub(self.plan.start_ns).max(0).unsigned_abs();
        let after = sojourn_units::Duration::from_nanos(after);
        self.plan.application().step(self.made, CHUNK, after)
    }

    /// The application makes data: all of it, one write of a thin stream, or one chunk if it is limited in rate.
    fn make(&mut self, i: usize, step: Step, world: &mut dyn World) {
        self.unwritten = self.unwritten.zip(step.bytes).map(|(bytes, more)| bytes + more);
        self.made += step.bytes.unwrap_or(0);
        if self.plan.application().writes.is_some() {
            self.pending.push_back((self.made, world.now()));
            self.seen.writes.get_or_insert_default().count += 1;
        }
        if let Some(again) = step.again {
            self.next = self.plan.start_ns.saturating_add(signed(again.as_nanos()));
            world.set_timer(1 + i as u32, self.next);
        }
    }

    /// Writes down which writes of a thin stream the receiver has read by now.
    fn read_writes(&mut self, now: i64) {
        while let Some(&(end, made)) = self.pending.front()
            && end <= self.delivered
        {
            self.pending.pop_front();
            let writes = self.seen.writes.get_or_insert_default();
            writes.delays_ns.push(now.saturating_sub(made).max(0).unsigned_abs());
        }
    }

    /// Gives the kernel what it takes.
    fn write(&mut self, i: usize, zeros: &[u8], world: &mut dyn World) -> Result<(), AgentError> {
        let Some(sender) = &self.sender else {
            return Ok(());
        };
        if self.stage != Stage::Open {
            return Ok(());
        }
        while self.unwritten != Some(0) {
            let size = self.unwritten.unwrap_or(u64::MAX).min(zeros.len() as u64) as usize;
            let rest = self.unwritten.filter(|_| self.has_made_all());
            // The last byte is written by itself, for the kernel tells of the last byte of a write; the one before it
            // is held back until then (`MSG_MORE`), so the segments are those of one write.
            let (size, flags) = match rest {
                Some(1) => {
                    setsockopt(
                        sender,
                        Timestamping,
                        &TimestampingFlag::from_bits_retain(TELL_ACKNOWLEDGEMENT),
                    )
                    .doing(|| format!("cannot ask for the last acknowledgement of {}", self.plan.name))?;
                    (1, SendFlags::NOSIGNAL)
                }
                Some(rest) if rest == size as u64 => (size - 1, SendFlags::NOSIGNAL | SendFlags::MORE),
                _ => (size, SendFlags::NOSIGNAL),
            };
            match send(sender, &zeros[..size], flags) {
                Ok(taken) => {
                    self.unwritten = self.unwritten.map(|bytes| bytes - taken as u64);
                    if taken < size {
                        break;
                    }
                }
                Err(Errno::AGAIN) => break,
                Err(e) => return self.fail(i, e, world),
            }
        }
        if self.unwritten == Some(0) && self.has_made_all() {
            shutdown(sender, Shutdown::Write).doing(|| format!("cannot close {}", self.plan.name))?;
            self.stage = Stage::Closed;
        }
        let wait = self.unwritten != Some(0);
        if wait != self.waits_to_write {
            self.waits_to_write = wait;
            world.register(key(i, SENDER), sender.as_fd(), wait)?;
        }
        Ok(())
    }

    /// Whether the kernel told that the last byte was acknowledged.
    fn acknowledged(&self) -> bool {
        let Some(sender) = &self.sender else {
            return false;
        };
        let mut told = false;
        let mut nothing = [0; 0];
        while recv(sender, &mut nothing[..], RecvFlags::ERRQUEUE | RecvFlags::DONTWAIT).is_ok() {
            told = true;
        }
        told
    }

    /// Reads all that is there.
    fn read(&mut self, sink: &mut [u8]) {
        let Some(receiver) = &self.receiver else {
            return;
        };
        while !self.ended {
            match recv(receiver, &mut *sink, RecvFlags::TRUNC | RecvFlags::DONTWAIT) {
                Ok((0, _)) => self.ended = true,
                Ok((count, _)) => {
                    self.delivered += count as u64;
                    if std::mem::take(&mut self.makes_room) {
                        // Without root's rights acknowledgements come as they come.
                        let _ = sockopt::set_socket_recv_buffer_size_force(receiver, ROOM);
                    }
                    if count < sink.len() {
                        return;
                    }
                }
                Err(Errno::AGAIN) => return,
                Err(Errno::CONNRESET) if self.stage == Stage::GivenUp => self.ended = true,
                Err(e) => {
                    self.ended = true;
                    self.seen.error.get_or_insert_with(|| format!("the receiver: {e}"));
                }
            }
        }
    }

    /// A receiver has data or news.
    fn receiver_ready(&mut self, i: usize, sink: &mut [u8], world: &mut dyn World) -> Result<(), AgentError> {
        self.read(sink);
        self.read_writes(world.now());
        if self.ended
            && let Some(receiver) = &self.receiver
        {
            world.deregister(key(i, RECEIVER), receiver.as_fd())?;
        }
        Ok(())
    }

    /// The flow ends early, and the run goes on.
    fn fail(&mut self, i: usize, error: Errno, world: &mut dyn World) -> Result<(), AgentError> {
        self.seen
            .error
            .get_or_insert_with(|| std::io::Error::from(error).to_string());
        world.cancel_timer(1 + i as u32);
        self.close(i, world)
    }

    /// Closes both ends.
    fn close(&mut self, i: usize, world: &mut dyn World) -> Result<(), AgentError> {
        for (part, socket) in [(LISTENER, &mut self.listener), (SENDER, &mut self.sender)] {
            if let Some(socket) = socket.take() {
                world.deregister(key(i, part), socket.as_fd())?;
            }
        }
        if let Some(socket) = self.receiver.take()
            && !self.ended
        {
            world.deregister(key(i, RECEIVER), socket.as_fd())?;
        }
        Ok(())
    }

    /// The sender gives the connection up, with a reset. The receiver reads what was under way.
    fn stop(&mut self, i: usize, world: &mut dyn World) -> Result<(), AgentError> {
        self.stage = Stage::GivenUp;
        if let Some(sender) = self.sender.take() {
            self.route.reset(&sender)?;
            world.deregister(key(i, SENDER), sender.as_fd())?;
        }
        Ok(())
    }

    /// Closes both ends at once, with a reset, whatever they have not sent.
    fn abort(&mut self, i: usize, world: &mut dyn World) -> Result<(), AgentError> {
        for socket in [&self.sender, &self.receiver].into_iter().flatten() {
            self.route.reset(socket)?;
        }
        self.close(i, world)
    }
}

/// The key of a flow's socket.
fn key(i: usize, part: u32) -> u32 {
    i as u32 * KEYS + part
}

impl Actor for Bulk {
    fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        if self.flows.iter().all(Flow::is_udp) {
            return Ok(());
        }
        for host in self.flows.iter().filter(|flow| !flow.is_udp()).map(Flow::sending_host) {
            if let Entry::Vacant(vacant) = self.diagnosis.entry(host) {
                world.enter(host)?;
                vacant.insert(Netlink::socket_diagnosis().doing(|| "cannot open a netlink socket".into())?);
            }
        }
        for (i, flow) in self.flows.iter_mut().enumerate() {
            if flow.is_udp() {
                continue;
            }
            flow.listen(i, world)?;
            world.set_timer(1 + i as u32, flow.next);
        }
        self.bins.wait(BINS, world);
        Ok(())
    }

    fn ready(&mut self, key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        let i = (key / KEYS) as usize;
        match key % KEYS {
            LISTENER => self.flows[i].accept(i, world),
            RECEIVER => self.flows[i].receiver_ready(i, &mut self.sink, world),
            _ => self.sender_ready(i, world),
        }
    }

    fn due(&mut self, key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        if key == BINS {
            self.end_bin(world.now())?;
            self.bins.wait(BINS, world);
            return Ok(());
        }
        let i = key as usize - 1;
        let step = self.flows[i].step();
        if step.stops {
            self.look(Some(i))?;
            return self.flows[i].stop(i, world);
        }
        let flow = &mut self.flows[i];
        if flow.sender.is_none() {
            flow.connect(i, world)?;
        }
        flow.make(i, step, world);
        flow.write(i, &self.zeros, world)
    }

    fn window_ends(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        for flow in &mut self.flows {
            flow.read(&mut self.sink);
            flow.read_writes(world.now());
        }
        self.look(None)?;
        for (i, flow) in self.flows.iter_mut().enumerate() {
            flow.seen.delivered_total = flow.delivered;
            if let Some(info) = flow.latest {
                if flow.stage == Stage::Connecting {
                    flow.seen.syn_retransmissions = info.retransmissions;
                }
                flow.seen.segments_sent = u64::from(info.data_segments);
                flow.seen.retransmissions =
                    u64::from(info.retransmissions.saturating_sub(flow.seen.syn_retransmissions));
                flow.seen.timeouts = info.timeouts.map(u64::from);
                flow.seen.ecn = Some(EcnMeasured {
                    agreed: info.ecn,
                    delivered_ce: info.delivered_ce.map(u64::from),
                });
            }
            world.cancel_timer(1 + i as u32);
            flow.abort(i, world)?;
        }
        Ok(())
    }

    fn finish(&mut self, measured: &mut Measured) {
        for (flow, place) in self.flows.iter_mut().zip(&mut measured.flows) {
            if flow.is_udp() {
                continue;
            }
            *place = std::mem::take(&mut flow.seen);
        }
    }
}
