//! The browser: pages, and the workers that fetch their objects.

use super::dns;
use super::wire::{Arrived, Message, read, tcp_socket, udp_socket};
use crate::agent::actor::Doing;
use crate::agent::kernel::netlink::Netlink;
use crate::agent::kernel::tcp_info;
use crate::agent::traffic::mark::{mark, send_from};
use crate::agent::{AgentError, Host, World};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{SendFlags, connect, getpeername, getsockname, send, sockopt};
use sojourn_bed::{Fetch, WebPlan};
use std::net::SocketAddrV4;

/// Timer of the next page. Those of the workers' queries follow.
const TIMER_PAGE: u32 = 0;
const READ_AT_ONCE: usize = 1 << 14;

/// What a worker is doing.
#[derive(Debug)]
enum Phase {
    /// It has no connection and no object.
    Unused,
    /// It waits for the answer to a query, which is repeated every [`dns::TIMEOUT_NS`].
    Looking { socket: OwnedFd, number: u16, since: i64 },
    /// It waits for a connection.
    Connecting { socket: OwnedFd, since: i64 },
    /// It has a connection, and may be waiting for an object.
    Open(Open),
    /// Its connection has failed: there will be no object.
    Failed,
}

/// A connection in use.
#[derive(Debug)]
struct Open {
    socket: OwnedFd,
    /// Its port here.
    port: u16,
    request: Message,
    /// Whether readiness for writing is waited for.
    writes: bool,
    /// Bytes of the answer that have not arrived.
    awaited: u64,
}

#[derive(Debug)]
struct Worker {
    /// The object that it has or gets.
    object: usize,
    phase: Phase,
}

/// A page that is being fetched.
#[derive(Debug)]
struct Page {
    fetch: Fetch,
    /// The object that is handed out next, and how many are there.
    next: usize,
    complete: usize,
}

/// A web client.
#[derive(Debug)]
pub(super) struct Client {
    plan: WebPlan,
    server: SocketAddrV4,
    resolver: SocketAddrV4,
    /// Key of the first worker's socket.
    first_key: u32,
    workers: Vec<Worker>,
    page: Option<Page>,
    queries: u16,
    buffer: Vec<u8>,
    /// Tells of the client's sockets; from the start on.
    diagnosis: Option<Netlink>,
    pub(super) fetches: Vec<Fetch>,
}

impl Client {
    /// A client of the server and the resolver at these addresses. Keys of its sockets begin with `first_key`, those
    /// of its timers with 0.
    pub(super) fn new(plan: WebPlan, server: SocketAddrV4, resolver: SocketAddrV4, first_key: u32) -> Self {
        let unused = || Worker {
            object: 0,
            phase: Phase::Unused,
        };
        Self {
            server,
            resolver,
            first_key,
            workers: (0..plan.workers).map(|_| unused()).collect(),
            page: None,
            queries: 0,
            buffer: vec![0; READ_AT_ONCE],
            diagnosis: None,
            fetches: Vec::new(),
            plan,
        }
    }

    /// How many timers it has.
    pub(super) fn timers(plan: &WebPlan) -> u32 {
        1 + plan.workers as u32
    }

    /// Sets the timer of the first page.
    pub(super) fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        world.enter(Host::Client(self.plan.access.station))?;
        let opened = Netlink::socket_diagnosis().doing(|| self.what("opening a netlink socket"))?;
        self.diagnosis = Some(opened);
        world.set_timer(TIMER_PAGE, self.plan.start_ns);
        Ok(())
    }

    /// A timer is due.
    pub(super) fn due(&mut self, key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        if key == TIMER_PAGE {
            return if self.page.is_none() {
                self.begin_page(world)
            } else {
                Ok(())
            };
        }
        let worker = key as usize - 1;
        if let Phase::Looking { .. } = self.workers[worker].phase {
            if let Some(page) = &mut self.page {
                page.fetch.dns_retried += 1;
            }
            self.query(worker, world);
        }
        Ok(())
    }

    /// The socket of a worker is ready, or was.
    pub(super) fn ready(&mut self, worker: usize, world: &mut dyn World) -> Result<(), AgentError> {
        match self.workers[worker].phase {
            Phase::Looking { .. } => self.answered(worker, world),
            Phase::Connecting { .. } => self.connected(worker, world),
            Phase::Open(_) => self.progress(worker, world),
            Phase::Unused | Phase::Failed => Ok(()),
        }
    }

    /// Which object is being asked for from this port of the client.
    pub(super) fn asks(&self, from: u16) -> Option<usize> {
        self.workers.iter().find_map(|worker| match &worker.phase {
            Phase::Open(open) if open.port == from && open.awaited > 0 => Some(worker.object),
            _ => None,
        })
    }

    /// Nothing is sent or read from now on.
    pub(super) fn deregister(&self, world: &mut dyn World) -> Result<(), AgentError> {
        for (worker, w) in self.workers.iter().enumerate() {
            world.cancel_timer(timer(worker));
            match &w.phase {
                Phase::Looking { socket, .. } | Phase::Connecting { socket, .. } | Phase::Open(Open { socket, .. }) => {
                    world.deregister(self.key(worker), socket.as_fd())?;
                }
                Phase::Unused | Phase::Failed => {}
            }
        }
        world.cancel_timer(TIMER_PAGE);
        Ok(())
    }

    fn key(&self, worker: usize) -> u32 {
        self.first_key + worker as u32
    }

    /// What it was doing, for an error.
    fn what(&self, doing: &str) -> String {
        format!("web client {}: {doing}", self.plan.name)
    }

    // ------------------------------------------------------------------ a page

    fn begin_page(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        self.page = Some(Page {
            fetch: Fetch {
                start_ns: world.now(),
                dns_ns: 0,
                connect_ns: 0,
                time_ns: 0,
                syn_retransmitted: 0,
                dns_retried: 0,
            },
            next: 0,
            complete: 0,
        });
        self.hand_out(0, world)
    }

    /// Gives `worker` the next object, if there is one left.
    fn hand_out(&mut self, worker: usize, world: &mut dyn World) -> Result<(), AgentError> {
        let Some(page) = &mut self.page else { return Ok(()) };
        if page.next == self.plan.objects.len() {
            return Ok(());
        }
        self.workers[worker].object = page.next;
        page.next += 1;
        match self.workers[worker].phase {
            Phase::Open(_) => self.ask(worker, world),
            _ if self.plan.dns && self.plan.look_ups.include(worker) => self.look_up(worker, world),
            _ => self.connect(worker, self.server, world),
        }
    }

    /// `worker` has its object.
    fn completed(&mut self, worker: usize, world: &mut dyn World) -> Result<(), AgentError> {
        let Some(page) = &mut self.page else { return Ok(()) };
        page.complete += 1;
        if page.complete == self.plan.objects.len() {
            self.end_page(world)
        } else if page.complete == 1 && page.next == 1 {
            // The main document tells what else there is.
            (0..self.workers.len()).try_for_each(|worker| self.hand_out(worker, world))
        } else {
            self.hand_out(worker, world)
        }
    }

    fn end_page(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        let Some(Page { mut fetch, .. }) = self.page.take() else {
            return Ok(());
        };
        let now = world.now();
        fetch.time_ns = now.saturating_sub(fetch.start_ns) as u64;
        self.fetches.push(fetch);
        for worker in 0..self.workers.len() {
            // All has been read, so closing a connection sends a FIN and no reset.
            self.set_phase(worker, Phase::Unused, world)?;
        }
        let next = fetch.start_ns.saturating_add_unsigned(self.plan.interval.as_nanos());
        if next > now {
            world.set_timer(TIMER_PAGE, next);
            return Ok(());
        }
        self.begin_page(world)
    }

    /// Closes the socket of a worker's phase, if it has one, and begins another phase.
    fn set_phase(&mut self, worker: usize, phase: Phase, world: &mut dyn World) -> Result<(), AgentError> {
        match std::mem::replace(&mut self.workers[worker].phase, phase) {
            Phase::Looking { socket, .. } => {
                world.cancel_timer(timer(worker));
                world.deregister(self.key(worker), socket.as_fd())
            }
            Phase::Connecting { socket, .. } | Phase::Open(Open { socket, .. }) => {
                world.deregister(self.key(worker), socket.as_fd())
            }
            Phase::Unused | Phase::Failed => Ok(()),
        }
    }

    // ------------------------------------------------------------------ a look-up

    fn look_up(&mut self, worker: usize, world: &mut dyn World) -> Result<(), AgentError> {
        world.enter(Host::Client(self.plan.access.station))?;
        let what = || self.what("opening a socket for a look-up");
        let socket = udp_socket().doing(what)?;
        mark(&socket, self.plan.access, &self.plan.name)?;
        send_from(&socket, self.plan.access, &self.plan.name, world)?;
        connect(&socket, &self.resolver).doing(what)?;
        world.register(self.key(worker), socket.as_fd(), false)?;
        let phase = Phase::Looking {
            socket,
            number: self.queries,
            since: world.now(),
        };
        self.queries = self.queries.wrapping_add(1);
        self.set_phase(worker, phase, world)?;
        self.query(worker, world);
        Ok(())
    }

    /// Sends the query of a worker, and repeats it when it has not been answered in time.
    fn query(&self, worker: usize, world: &mut dyn World) {
        if let Phase::Looking { socket, number, .. } = &self.workers[worker].phase {
            // A query that the kernel does not take is lost, as one on the path would be.
            let _ = send(socket, &dns::query(*number), SendFlags::empty());
            world.set_timer(timer(worker), world.now().saturating_add(dns::TIMEOUT_NS));
        }
    }

    fn answered(&mut self, worker: usize, world: &mut dyn World) -> Result<(), AgentError> {
        let Phase::Looking { socket, number, since } = &self.workers[worker].phase else {
            return Ok(());
        };
        let mut bytes = [0; dns::ANSWER + 1];
        while let Arrived::Bytes(count) = dns::read(socket, &mut bytes) {
            if let Some(host) = dns::address(&bytes[..count], *number) {
                if let (0, Some(page)) = (worker, &mut self.page) {
                    page.fetch.dns_ns = world.now().saturating_sub(*since) as u64;
                }
                return self.connect(worker, SocketAddrV4::new(host, self.server.port()), world);
            }
        }
        Ok(())
    }

    // ------------------------------------------------------------------ a connection

    fn connect(&mut self, worker: usize, to: SocketAddrV4, world: &mut dyn World) -> Result<(), AgentError> {
        self.set_phase(worker, Phase::Unused, world)?;
        world.enter(Host::Client(self.plan.access.station))?;
        let what = || self.what("opening a connection");
        let socket = tcp_socket(self.plan.congestion_control.name()).doing(what)?;
        mark(&socket, self.plan.access, &self.plan.name)?;
        send_from(&socket, self.plan.access, &self.plan.name, world)?;
        match connect(&socket, &to) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(e) => return Err(e).doing(what),
        }
        world.register(self.key(worker), socket.as_fd(), true)?;
        let since = world.now();
        self.set_phase(worker, Phase::Connecting { socket, since }, world)
    }

    /// A connection may be there, or have failed.
    fn connected(&mut self, worker: usize, world: &mut dyn World) -> Result<(), AgentError> {
        let Phase::Connecting { socket, since } = &self.workers[worker].phase else {
            return Ok(());
        };
        let what = || self.what("opening a connection");
        if sockopt::socket_error(socket).doing(what)?.is_err() {
            return self.set_phase(worker, Phase::Failed, world);
        }
        let there = match getpeername(socket) {
            Ok(Some(there)) => SocketAddrV4::try_from(there).doing(what)?,
            // The handshake is not over.
            Ok(None) | Err(Errno::NOTCONN) => return Ok(()),
            Err(e) => return Err(e).doing(what),
        };
        let here = getsockname(socket).and_then(SocketAddrV4::try_from).doing(what)?;
        let asked = self.diagnosis.as_mut().map(|d| tcp_info::ask(d, &[(here, there)]));
        let info = match asked {
            Some(told) => told.doing(|| self.what("asking for TCP_INFO"))?[0],
            None => None,
        };
        if let Some(page) = &mut self.page {
            page.fetch.syn_retransmitted += info.map_or(0, |info| info.retransmissions);
            if worker == 0 {
                page.fetch.connect_ns = world.now().saturating_sub(*since) as u64;
            }
        }
        // The socket stays registered under its key, so this is no change of phase that closes it.
        let before = std::mem::replace(&mut self.workers[worker].phase, Phase::Unused);
        if let Phase::Connecting { socket, .. } = before {
            self.workers[worker].phase = Phase::Open(Open {
                socket,
                port: here.port(),
                request: Message::request(0, 0),
                writes: true,
                awaited: 0,
            });
        }
        self.ask(worker, world)
    }

    /// Asks for the worker's object.
    fn ask(&mut self, worker: usize, world: &mut dyn World) -> Result<(), AgentError> {
        let object = self.workers[worker].object;
        if let Phase::Open(open) = &mut self.workers[worker].phase {
            open.request = Message::request(object, self.plan.request_bytes);
            open.awaited = self.plan.header_bytes + self.plan.objects[object];
        }
        self.write(worker, world)
    }

    fn write(&mut self, worker: usize, world: &mut dyn World) -> Result<(), AgentError> {
        let key = self.key(worker);
        let Phase::Open(open) = &mut self.workers[worker].phase else {
            return Ok(());
        };
        if open.request.send(&open.socket).is_err() {
            return self.set_phase(worker, Phase::Failed, world);
        }
        let writes = !open.request.is_sent();
        if open.writes != writes {
            open.writes = writes;
            world.register(key, open.socket.as_fd(), writes)?;
        }
        Ok(())
    }

    /// A connection can be read or written.
    fn progress(&mut self, worker: usize, world: &mut dyn World) -> Result<(), AgentError> {
        self.write(worker, world)?;
        while let Phase::Open(open) = &mut self.workers[worker].phase {
            match read(&open.socket, &mut self.buffer) {
                Ok(Arrived::Nothing) => return Ok(()),
                Ok(Arrived::Bytes(count)) if count as u64 <= open.awaited => {
                    open.awaited -= count as u64;
                    if open.awaited == 0 {
                        return self.completed(worker, world);
                    }
                }
                // More than was asked for, the end of what was not complete, or an error.
                Ok(_) | Err(_) => return self.set_phase(worker, Phase::Failed, world),
            }
        }
        Ok(())
    }
}

/// The timer of a worker's query.
fn timer(worker: usize) -> u32 {
    1 + worker as u32
}
