//! Web clients of a plan: a browser in miniature, its server and its resolver, on sockets of the kernel.
//!
//! It does what `WebClient` of the simulator does, step by step, and leaves to the kernel what the kernel does. A
//! page begins from nothing: the first worker looks the name up, connects and gets the main document; then all
//! workers take the other objects in order, each over a connection of its own with a look-up of its own; when the
//! last object is there all connections are closed, and the next page begins `interval_ns` after the beginning of
//! this one, or at once. The resolver stands beside the server and answers at once; the server answers after
//! `think_ns`. A segment that is not full leaves at once at both ends (TCP_NODELAY).
//!
//! A request names its object in its first two bytes. One of a single byte cannot; then the server is told by the
//! client, which lives in the same process, what was asked for on the connection. Nobody else speaks to the server:
//! each client of a plan has ports of its own.
//!
//! A connection that fails (the kernel gives up after its last SYN, or its last retransmission) stays failed, as in
//! the simulator: its object never comes, and no fetch is completed after it.
//!
//! Deviation: when the measured window ends the sockets are left alone, open and unread, until the run is over. A
//! kernel goes on to acknowledge and to send what is in its buffers; the simulator's hosts fall silent.

mod client;
mod dns;
mod server;
mod wire;

#[cfg(test)]
mod tests;

use crate::agent::actor::within;
use crate::agent::{Actor, AgentError, Host, World};
use client::Client;
use dns::Resolver;
use server::Server;
use sojourn_bed::{LoadPlan, Measured, WebPlan, ports};
use std::net::SocketAddrV4;

const KEY_SERVER: u32 = 0;
const KEY_RESOLVER: u32 = 1;
/// Those of the workers; those of the server's connections follow.
const KEY_WORKERS: u32 = 2;
/// Most bytes of a request, and of an answer before the object's.
const MESSAGE_MAX: u64 = 1 << 20;
/// Most bytes of an object.
const OBJECT_MAX: u64 = 1 << 40;
/// Most workers.
const WORKERS_MAX: usize = 64;

/// A web client of a plan.
#[derive(Debug)]
pub struct Web {
    index: usize,
    plan: WebPlan,
    /// Both ends, from the start to the end of the window.
    ends: Option<Ends>,
    /// Afterwards: sockets that are open, but not served.
    left: Option<Ends>,
}

#[derive(Debug)]
struct Ends {
    client: Client,
    server: Server,
    resolver: Resolver,
}

impl Web {
    /// Web client `index` of a plan.
    ///
    /// # Errors
    /// [`AgentError::Plan`] for one that cannot be carried out.
    pub fn new(index: usize, plan: &WebPlan, load: &LoadPlan) -> Result<Self, AgentError> {
        let field = |name: &str| format!("web[{index}].{name}");
        if index >= ports::MOST_WEB {
            return Err(AgentError::Plan(format!(
                "the plan has a web client {index}, but at most {} have ports",
                ports::MOST_WEB
            )));
        }
        let count = plan.objects.len();
        if !(1..=wire::MOST_OBJECTS).contains(&count) {
            let rule = format!("a list of 1 to {}", wire::MOST_OBJECTS);
            return Err(AgentError::field(field("objects"), format!("a list of {count}"), rule));
        }
        for (place, &bytes) in plan.objects.iter().enumerate() {
            within(field(&format!("objects[{place}]")), bytes, &(1..=OBJECT_MAX), " bytes")?;
        }
        within(field("workers"), plan.workers, &(1..=WORKERS_MAX), "")?;
        within(field("request_bytes"), plan.request_bytes, &(1..=MESSAGE_MAX), "")?;
        within(field("header_bytes"), plan.header_bytes, &(0..=MESSAGE_MAX), "")?;
        if plan.interval.is_zero() {
            return Err(AgentError::field(field("interval"), 0, "greater than 0"));
        }
        if plan.path >= load.paths.len() {
            let rule = format!("less than {}, the number of paths", load.paths.len());
            return Err(AgentError::field(field("path"), plan.path, rule));
        }
        Ok(Self {
            index,
            plan: plan.clone(),
            ends: None,
            left: None,
        })
    }
}

impl Actor for Web {
    fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        let host = world.server(self.plan.path, self.plan.access);
        let server = SocketAddrV4::new(host, ports::WEB + self.index as u16);
        let resolver = SocketAddrV4::new(host, ports::DNS + self.index as u16);
        let firsts = (KEY_WORKERS + self.plan.workers as u32, Client::timers(&self.plan));
        world.enter(Host::Server)?;
        let mut ends = Ends {
            server: Server::open(&self.plan, server, KEY_SERVER, firsts, world)?,
            resolver: Resolver::open(&self.plan, resolver, KEY_RESOLVER, world)?,
            client: Client::new(self.plan.clone(), server, resolver, KEY_WORKERS),
        };
        ends.client.start(world)?;
        self.ends = Some(ends);
        Ok(())
    }

    fn ready(&mut self, key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        let Some(Ends {
            client,
            server,
            resolver,
        }) = &mut self.ends
        else {
            return Ok(());
        };
        let workers = self.plan.workers as u32;
        match key {
            KEY_SERVER => server.accept(world),
            KEY_RESOLVER => {
                resolver.ready();
                Ok(())
            }
            key if key - KEY_WORKERS < workers => client.ready((key - KEY_WORKERS) as usize, world),
            key => {
                let place = (key - KEY_WORKERS - workers) as usize;
                server.ready(place, |port| client.asks(port), world)
            }
        }
    }

    fn due(&mut self, key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        let Some(Ends { client, server, .. }) = &mut self.ends else {
            return Ok(());
        };
        match key.checked_sub(Client::timers(&self.plan)) {
            None => client.due(key, world),
            Some(place) => server.due(place as usize, world),
        }
    }

    fn window_ends(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        if let Some(ends) = self.ends.take() {
            ends.client.deregister(world)?;
            ends.server.deregister(KEY_SERVER, world)?;
            ends.resolver.deregister(KEY_RESOLVER, world)?;
            self.left = Some(ends);
        }
        Ok(())
    }

    fn finish(&mut self, measured: &mut Measured) {
        let Some(ends) = self.left.take().or(self.ends.take()) else {
            return;
        };
        if measured.web.len() <= self.index {
            measured.web.resize_with(self.index + 1, Default::default);
        }
        measured.web[self.index].fetches = ends.client.fetches;
    }
}
