//! Requests and responses in turn: the next request leaves when the response to the last has come, or after a
//! time-out; as netperf's UDP_RR.
//!
//! The probe has both ends. Its server sends each request back as it is. On a virtual clock that takes no time; on a
//! real one the wake-up of the server is part of the round trip, as it is with netperf. That of the client is not:
//! the kernel notes when a response came.
//!
//! The response to a request that has timed out is ignored: to its sender the request is lost. A transaction that the
//! end of the window cuts off is no sample. Both as in the simulator.

use crate::agent::actor::{Actor, AgentError, Doing, Host, World};
use crate::agent::traffic::mark::mark;
use crate::agent::traffic::probe::{Identity, Samples, Stamp};
use crate::agent::traffic::receive::{Inbox, stamp};
use rustix::fd::AsFd;
use sojourn_bed::{LoadPlan, Measured, ProbePlan};
use sojourn_scenario::ProbeKindScenario;
use std::io;
use std::net::{SocketAddrV4, UdpSocket};

/// The timer: the start, then the time-out of the transaction under way.
const SEND: u32 = 0;
/// Sockets.
const RESPONSES: u32 = 0;
const REQUESTS: u32 = 1;

/// A request-response probe.
#[derive(Debug)]
pub struct UdpRr {
    me: Identity,
    timeout: i64,
    client: Option<UdpSocket>,
    server: Option<UdpSocket>,
    samples: Samples,
    /// The transaction under way.
    pending: Option<u32>,
    stopped: bool,
    payload: Vec<u8>,
    inbox: Inbox,
}

impl UdpRr {
    /// The probe at place `index` of the plan.
    ///
    /// # Errors
    /// [`AgentError::Plan`] if the plan is of another kind of probe, or cannot be carried out.
    pub fn new(index: usize, plan: &ProbePlan, load: &LoadPlan) -> Result<Self, AgentError> {
        let me = Identity::new(index, plan, load)?;
        let ProbeKindScenario::UdpRr(timeout) = plan.kind() else {
            return Err(me.wrong_kind("udp_rr"));
        };
        Ok(Self {
            timeout: me.time("timeout", timeout)?,
            payload: vec![0; me.payload],
            me,
            client: None,
            server: None,
            samples: Samples::default(),
            pending: None,
            stopped: false,
            inbox: Inbox::default(),
        })
    }

    fn request(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        let now = world.now();
        if self.stopped || now >= world.end() {
            return Ok(());
        }
        let Some(socket) = &self.client else { return Ok(()) };
        let stamp = Stamp {
            index: self.me.index,
            number: self.samples.next(),
            sent_ns: now,
        };
        stamp.write(&mut self.payload);
        self.samples.send(now);
        self.pending = Some(stamp.number);
        world.set_timer(SEND, now + self.timeout);
        let sent = socket.send(&self.payload);
        sent.doing(|| format!("sending a request of {} on client", self.me.what))
            .map(drop)
    }

    /// The server's part.
    fn respond(&mut self) -> Result<(), AgentError> {
        let Some(socket) = &self.server else { return Ok(()) };
        let what = |doing: &str| format!("{doing} {} on server", self.me.what);
        let mut request = [0; 2048];
        loop {
            match socket.recv_from(&mut request) {
                Ok((length, from)) => {
                    let request = &request[..length];
                    if length == self.me.payload && Stamp::read(request).is_some_and(|s| s.index == self.me.index) {
                        socket.send_to(request, from).doing(|| what("responding to"))?;
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e).doing(|| what("receiving for")),
            }
        }
    }

    /// The client's.
    fn receive(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        let Some(socket) = &self.client else { return Ok(()) };
        let mut answered = false;
        while let Some((payload, at)) = self.inbox.next(socket, world, &self.me.what)? {
            if payload.len() == self.me.payload
                && let Some(stamp) = Stamp::read(payload)
                && stamp.index == self.me.index
                && self.pending == Some(stamp.number)
                && self.samples.arrive(&stamp, at, &self.me.what)?
            {
                self.pending = None;
                answered = true;
            }
        }
        if answered {
            self.request(world)?;
        }
        Ok(())
    }
}

impl Actor for UdpRr {
    fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        let address = SocketAddrV4::new(world.server(self.me.path, self.me.access), self.me.port());
        world.enter(Host::Server)?;
        let what = |doing: &str, host: &str| format!("{doing} the socket of {} on {host}", self.me.what);
        let server = UdpSocket::bind(address).doing(|| what("opening", "server"))?;
        server.set_nonblocking(true).doing(|| what("opening", "server"))?;
        mark(&server, self.me.access, &self.me.what)?;
        world.register(REQUESTS, server.as_fd(), false)?;
        world.enter(Host::Client(self.me.access.station))?;
        let client = UdpSocket::bind((world.client(self.me.access), 0)).doing(|| what("opening", "client"))?;
        client.set_nonblocking(true).doing(|| what("opening", "client"))?;
        stamp(&client, &self.me.what)?;
        mark(&client, self.me.access, &self.me.what)?;
        client.connect(address).doing(|| what("connecting", "client"))?;
        world.register(RESPONSES, client.as_fd(), false)?;
        world.set_timer(SEND, self.me.start_ns);
        (self.server, self.client) = (Some(server), Some(client));
        Ok(())
    }

    fn ready(&mut self, key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        match key {
            REQUESTS => self.respond(),
            _ => self.receive(world),
        }
    }

    fn due(&mut self, _key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        self.request(world)
    }

    fn window_ends(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        self.stopped = true;
        world.cancel_timer(SEND);
        if self.pending.take().is_some() {
            self.samples.forget_last();
        }
        self.samples.dismiss();
        Ok(())
    }

    fn finish(&mut self, measured: &mut Measured) {
        self.samples.finish(self.me.index, measured);
    }
}

#[cfg(test)]
mod tests;
