//! A download of a plan: files of one size, one after the other, each over a TCP connection of its own.
//!
//! It does what `Downloader` of the simulator does, and leaves to the kernel what the kernel does: the sender
//! connects, writes the file and closes; the file is complete when the receiver has read its last byte; then the next
//! idle time of the plan runs. Receiver and sender close when the receiver has read the end. The kernel may still be
//! busy with the end of one connection when the next begins.
//!
//! Segments are counted when the receiver has read the end: what the sender's kernel still sends again after that is
//! not.

use crate::agent::actor::Doing;
use crate::agent::kernel::netlink::Netlink;
use crate::agent::kernel::tcp_info::{self, Ends};
use crate::agent::traffic::route::{Route, accept};
use crate::agent::{Actor, AgentError, World};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown, sockopt};
use sojourn_bed::{DownloadMeasured, DownloadPlan, FileMeasured, Measured, ports};
use std::collections::VecDeque;

/// What a sender gives to the kernel at a time; the kernel takes what it has room for.
const WRITE: usize = 1 << 18;
/// Most that a receiver takes from the kernel at a time. `MSG_TRUNC` drops it there, so nothing is copied.
const READ: usize = 1 << 22;
/// Connections that wait to be accepted.
const BACKLOG: i32 = 16;
const LISTENER: u32 = 0;
/// Keys of sockets: this many for each place, from 1 on.
const KEYS: u32 = 2;
const SENDER: u32 = 0;
const RECEIVER: u32 = 1;
/// The only timer.
const NEXT: u32 = 0;

/// A download.
#[derive(Debug)]
pub(crate) struct Download {
    index: usize,
    plan: DownloadPlan,
    route: Route,
    /// Idle times that are still to come.
    gaps: VecDeque<u64>,
    listener: Option<OwnedFd>,
    /// Tells of the sockets of the sending host.
    diagnosis: Option<Netlink>,
    /// Each has a place of its own as long as it lives.
    connections: Vec<Option<Connection>>,
    /// The place of the file that is under way.
    current: Option<usize>,
    zeros: Vec<u8>,
    sink: Vec<u8>,
    seen: DownloadMeasured,
}

#[derive(Debug)]
struct Connection {
    sender: OwnedFd,
    receiver: Option<OwnedFd>,
    ends: Ends,
    connected: bool,
    syn_retransmissions: u32,
    unwritten: u64,
    /// Whether the sender is woken when it can write.
    waits_to_write: bool,
    read: u64,
}

impl Download {
    /// Download `index` of a plan.
    pub(crate) fn new(index: usize, plan: &DownloadPlan) -> Self {
        Self {
            index,
            route: Route::of(plan, plan.direction, ports::DOWNLOADS + index as u16),
            gaps: plan.gaps_ns.iter().copied().collect(),
            plan: plan.clone(),
            listener: None,
            diagnosis: None,
            connections: Vec::new(),
            current: None,
            zeros: vec![0; WRITE],
            sink: vec![0; READ],
            seen: DownloadMeasured::default(),
        }
    }

    /// The first free place.
    fn place(&mut self) -> usize {
        let free = self.connections.iter().position(Option::is_none);
        free.unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        })
    }

    fn begin_file(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        let start_ns = world.now();
        let (socket, ends) = self.route.connect(self.plan.congestion_control, false, world)?;
        let place = self.place();
        world.register(key(place, SENDER), socket.as_fd(), true)?;
        self.connections[place] = Some(Connection {
            sender: socket,
            receiver: None,
            ends,
            connected: false,
            syn_retransmissions: 0,
            unwritten: self.plan.bytes,
            waits_to_write: true,
            read: 0,
        });
        self.current = Some(place);
        self.seen.files.push(FileMeasured {
            start_ns,
            time_ns: None,
        });
        Ok(())
    }

    fn accept(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        while let Some(listener) = &self.listener {
            let accepted = accept(listener).doing(|| format!("cannot accept a connection of {}", self.plan.name))?;
            let Some((socket, peer)) = accepted else { break };
            let found = self.connections.iter_mut().enumerate().find_map(|(place, c)| {
                let c = c.as_mut()?;
                (c.ends.0 == peer && c.receiver.is_none()).then_some((place, c))
            });
            if let Some((place, connection)) = found {
                world.register(key(place, RECEIVER), socket.as_fd(), false)?;
                connection.receiver = Some(socket);
            }
        }
        Ok(())
    }

    /// A sender can write, or has news.
    fn sender_ready(&mut self, place: usize, world: &mut dyn World) -> Result<(), AgentError> {
        let Some(Some(c)) = self.connections.get_mut(place) else {
            return Ok(());
        };
        match sockopt::socket_error(&c.sender) {
            Ok(Ok(())) => {}
            Ok(Err(e)) | Err(e) => return self.fail(place, e, world),
        }
        if !c.connected {
            c.connected = true;
            // Nothing but SYNs was sent until now.
            let ends = c.ends;
            let info = self.look(ends)?;
            if let Some(Some(c)) = self.connections.get_mut(place) {
                c.syn_retransmissions = info.map_or(0, |info| info.retransmissions);
            }
        }
        self.write(place, world)
    }

    /// Gives the kernel what it takes, and closes after the last byte.
    fn write(&mut self, place: usize, world: &mut dyn World) -> Result<(), AgentError> {
        let Some(Some(c)) = self.connections.get_mut(place) else {
            return Ok(());
        };
        if !c.waits_to_write {
            return Ok(());
        }
        while c.unwritten > 0 {
            let size = c.unwritten.min(self.zeros.len() as u64) as usize;
            // What does not fill a segment waits for what follows (`MSG_MORE`): data, or the FIN, which then rides on
            // it.
            match send(&c.sender, &self.zeros[..size], SendFlags::NOSIGNAL | SendFlags::MORE) {
                Ok(taken) => c.unwritten -= taken as u64,
                Err(Errno::AGAIN) => return Ok(()),
                Err(e) => return self.fail(place, e, world),
            }
        }
        shutdown(&c.sender, Shutdown::Write).doing(|| format!("cannot close {}", self.plan.name))?;
        c.waits_to_write = false;
        world.register(key(place, SENDER), c.sender.as_fd(), false)
    }

    /// A receiver has data or news.
    fn receiver_ready(&mut self, place: usize, world: &mut dyn World) -> Result<(), AgentError> {
        let now = world.now();
        let Some((ended, error)) = self.read(place) else {
            return Ok(());
        };
        if self.current == Some(place)
            && let Some(Some(c)) = self.connections.get(place)
            && c.read >= self.plan.bytes
        {
            self.current = None;
            if let Some(file) = self.seen.files.last_mut() {
                file.time_ns = Some(now.saturating_sub(file.start_ns).max(0).unsigned_abs());
            }
            if let Some(gap) = self.gaps.pop_front() {
                world.set_timer(NEXT, now.saturating_add_unsigned(gap));
            }
        }
        if let Some(e) = error {
            return self.fail(place, e, world);
        }
        if ended {
            self.count(place)?;
            self.close(place, world)?;
        }
        Ok(())
    }

    /// Reads all that is there: whether that is the end, and the error if there is one. `None` without a receiver.
    fn read(&mut self, place: usize) -> Option<(bool, Option<Errno>)> {
        let c = self.connections.get_mut(place)?.as_mut()?;
        let receiver = c.receiver.as_ref()?;
        loop {
            match recv(receiver, &mut self.sink[..], RecvFlags::TRUNC | RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Some((true, None)),
                Ok((count, _)) => {
                    c.read += count as u64;
                    self.seen.delivered += count as u64;
                }
                Err(Errno::AGAIN) => return Some((false, None)),
                Err(e) => return Some((false, Some(e))),
            }
        }
    }

    /// Asks the kernel for a sender.
    fn look(&mut self, ends: Ends) -> Result<Option<tcp_info::TcpInfo>, AgentError> {
        let Some(socket) = &mut self.diagnosis else {
            return Ok(None);
        };
        let answers = tcp_info::ask(socket, &[ends]).doing(|| {
            format!(
                "cannot read the state of the TCP sockets of {} (tcp_diag)",
                self.plan.name
            )
        })?;
        Ok(answers.into_iter().next().flatten())
    }

    /// Adds what the sender at `place` has sent.
    fn count(&mut self, place: usize) -> Result<(), AgentError> {
        let Some(Some(c)) = self.connections.get(place) else {
            return Ok(());
        };
        let (ends, connected, before) = (c.ends, c.connected, c.syn_retransmissions);
        if let Some(info) = self.look(ends)? {
            let syns = if connected { before } else { info.retransmissions };
            self.seen.segments_sent += u64::from(info.data_segments);
            self.seen.syn_retransmissions += u64::from(syns);
            self.seen.retransmissions += u64::from(info.retransmissions.saturating_sub(syns));
        }
        Ok(())
    }

    /// The download ends early, and the run goes on.
    fn fail(&mut self, place: usize, error: Errno, world: &mut dyn World) -> Result<(), AgentError> {
        if self.current == Some(place) {
            self.seen
                .error
                .get_or_insert_with(|| std::io::Error::from(error).to_string());
        }
        self.count(place)?;
        self.close(place, world)
    }

    /// Closes both ends.
    fn close(&mut self, place: usize, world: &mut dyn World) -> Result<(), AgentError> {
        if let Some(c) = self.connections[place].take() {
            world.deregister(key(place, SENDER), c.sender.as_fd())?;
            if let Some(receiver) = &c.receiver {
                world.deregister(key(place, RECEIVER), receiver.as_fd())?;
            }
        }
        Ok(())
    }
}

/// The key of a connection's socket.
const fn key(place: usize, part: u32) -> u32 {
    1 + place as u32 * KEYS + part
}

impl Actor for Download {
    fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        world.enter(self.route.hosts().0)?;
        self.diagnosis = Some(Netlink::socket_diagnosis().doing(|| "cannot open a netlink socket".into())?);
        let socket = self.route.listen(self.plan.congestion_control, BACKLOG, world)?;
        world.register(LISTENER, socket.as_fd(), false)?;
        self.listener = Some(socket);
        world.set_timer(NEXT, self.plan.start_ns);
        Ok(())
    }

    fn ready(&mut self, key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        let Some(n) = key.checked_sub(1) else {
            return self.accept(world);
        };
        let place = (n / KEYS) as usize;
        if n % KEYS == SENDER {
            self.sender_ready(place, world)
        } else {
            self.receiver_ready(place, world)
        }
    }

    fn due(&mut self, _key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        self.begin_file(world)
    }

    fn window_ends(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        world.cancel_timer(NEXT);
        if let Some(listener) = self.listener.take() {
            world.deregister(LISTENER, listener.as_fd())?;
        }
        for place in 0..self.connections.len() {
            self.read(place);
            self.count(place)?;
            if let Some(c) = &self.connections[place] {
                // Both ends at once, with a reset, whatever they have not sent.
                for socket in [Some(&c.sender), c.receiver.as_ref()].into_iter().flatten() {
                    self.route.reset(socket)?;
                }
            }
            self.close(place, world)?;
        }
        Ok(())
    }

    fn finish(&mut self, measured: &mut Measured) {
        if let Some(place) = measured.downloads.get_mut(self.index) {
            *place = std::mem::take(&mut self.seen);
        }
    }
}
