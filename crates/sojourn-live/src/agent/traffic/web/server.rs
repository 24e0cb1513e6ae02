//! The web server.

use super::wire::{Arrived, Heard, Message, Request, bind_server, read, tcp_socket};
use crate::agent::actor::Doing;
use crate::agent::traffic::mark::mark;
use crate::agent::traffic::route::accept;
use crate::agent::{AgentError, World};
use rustix::fd::{AsFd, OwnedFd};
use rustix::net::listen;
use sojourn_bed::WebPlan;
use std::net::SocketAddrV4;

/// Connections that wait to be accepted. Linux allows no more (`net.core.somaxconn`).
const BACKLOG: i32 = 4096;
/// Most connections at a time: those of a page, and of earlier ones whose FIN is under way. More are turned away.
const MOST_CONNECTIONS: usize = 4096;
const READ_AT_ONCE: usize = 1 << 14;

/// Where a connection is in its exchange.
#[derive(Debug)]
enum Phase {
    /// It waits for a request, or for the rest of one.
    Listening(Request),
    /// An answer is being thought about.
    Thinking(Message),
    /// An answer is being sent.
    Answering(Message),
}

#[derive(Debug)]
struct Connection {
    socket: OwnedFd,
    /// The client's port.
    peer: u16,
    phase: Phase,
    /// Whether readiness for writing is waited for.
    writes: bool,
}

/// A web server: it reads a request, thinks, and answers, in turn, and closes a connection when the client has.
#[derive(Debug)]
pub(super) struct Server {
    plan: WebPlan,
    listener: OwnedFd,
    /// Key of the first connection's socket, and of its timer.
    first_key: u32,
    first_timer: u32,
    /// Each has a place of its own as long as it lives.
    connections: Vec<Option<Connection>>,
    buffer: Vec<u8>,
    /// Place of the connection and number of the object, of each answer.
    #[cfg(test)]
    pub(super) answered: Vec<(usize, usize)>,
}

impl Server {
    /// Opens it at `at`, in the namespace that the thread is in.
    pub(super) fn open(
        plan: &WebPlan,
        at: SocketAddrV4,
        key: u32,
        (first_key, first_timer): (u32, u32),
        world: &mut dyn World,
    ) -> Result<Self, AgentError> {
        let what = || format!("web client {}: a server at {at}", plan.name);
        // Connections that are accepted have the listener's congestion control and TCP_NODELAY.
        let listener = tcp_socket(plan.congestion_control.name()).doing(what)?;
        bind_server(listener.as_fd(), at).doing(what)?;
        mark(&listener, plan.access, &plan.name)?;
        listen(&listener, BACKLOG).doing(what)?;
        world.register(key, listener.as_fd(), false)?;
        Ok(Self {
            plan: plan.clone(),
            listener,
            first_key,
            first_timer,
            connections: Vec::new(),
            buffer: vec![0; READ_AT_ONCE],
            #[cfg(test)]
            answered: Vec::new(),
        })
    }

    /// Connections wait at the listener.
    pub(super) fn accept(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        let what = |name: &str| format!("web client {name}: accepting a connection");
        while let Some((socket, peer)) = accept(&self.listener).doing(|| what(&self.plan.name))? {
            let Some(place) = self.place() else { continue };
            world.register(self.first_key + place as u32, socket.as_fd(), false)?;
            self.connections[place] = Some(Connection {
                socket,
                peer: peer.port(),
                phase: Phase::Listening(Request::default()),
                writes: false,
            });
        }
        Ok(())
    }

    /// The first free place.
    fn place(&mut self) -> Option<usize> {
        let free = self.connections.iter().position(Option::is_none);
        if free.is_none() && self.connections.len() < MOST_CONNECTIONS {
            self.connections.push(None);
            return Some(self.connections.len() - 1);
        }
        free
    }

    /// The connection at `place` is ready, or was. `asks` says which object is asked for from a port of the client.
    pub(super) fn ready(
        &mut self,
        place: usize,
        asks: impl Fn(u16) -> Option<usize>,
        world: &mut dyn World,
    ) -> Result<(), AgentError> {
        loop {
            let Some(Some(connection)) = self.connections.get_mut(place) else {
                return Ok(());
            };
            let arrived = read(&connection.socket, &mut self.buffer);
            match (arrived, &mut connection.phase) {
                (Ok(Arrived::Nothing), _) => return self.answer(place, world),
                (Ok(Arrived::Bytes(count)), Phase::Listening(request)) => {
                    let object = match request.take(&self.buffer[..count], self.plan.request_bytes) {
                        Heard::Part => continue,
                        Heard::Whole(named) => named.or_else(|| asks(connection.peer)),
                        Heard::TooMuch => None,
                    };
                    let Some(object) = object.filter(|&object| object < self.plan.objects.len()) else {
                        return self.close(place, world);
                    };
                    #[cfg(test)]
                    self.answered.push((place, object));
                    let message = Message::answer(self.plan.header_bytes + self.plan.objects[object]);
                    let think = self.plan.think_time;
                    if think.is_zero() {
                        connection.phase = Phase::Answering(message);
                    } else {
                        connection.phase = Phase::Thinking(message);
                        let until = world.now().saturating_add_unsigned(think.as_nanos());
                        world.set_timer(self.first_timer + place as u32, until);
                    }
                }
                // The client has closed, or has failed, or does not wait for its answer.
                (Ok(Arrived::End | Arrived::Bytes(_)) | Err(_), _) => return self.close(place, world),
            }
        }
    }

    /// The connection at `place` has been thought about long enough.
    pub(super) fn due(&mut self, place: usize, world: &mut dyn World) -> Result<(), AgentError> {
        if let Some(Some(connection)) = self.connections.get_mut(place)
            && let Phase::Thinking(message) = connection.phase
        {
            connection.phase = Phase::Answering(message);
        }
        self.answer(place, world)
    }

    /// Sends what is owed, as far as it goes.
    fn answer(&mut self, place: usize, world: &mut dyn World) -> Result<(), AgentError> {
        let Some(Some(connection)) = self.connections.get_mut(place) else {
            return Ok(());
        };
        let Phase::Answering(message) = &mut connection.phase else {
            return Ok(());
        };
        if message.send(&connection.socket).is_err() {
            return self.close(place, world);
        }
        let writes = !message.is_sent();
        if !writes {
            connection.phase = Phase::Listening(Request::default());
        }
        if connection.writes != writes {
            connection.writes = writes;
            world.register(self.first_key + place as u32, connection.socket.as_fd(), writes)?;
        }
        Ok(())
    }

    fn close(&mut self, place: usize, world: &mut dyn World) -> Result<(), AgentError> {
        world.cancel_timer(self.first_timer + place as u32);
        match self.connections[place].take() {
            Some(connection) => world.deregister(self.first_key + place as u32, connection.socket.as_fd()),
            None => Ok(()),
        }
    }

    /// Nothing is sent or read from now on.
    pub(super) fn deregister(&self, key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        world.deregister(key, self.listener.as_fd())?;
        for (place, connection) in self.connections.iter().enumerate() {
            if let Some(connection) = connection {
                world.cancel_timer(self.first_timer + place as u32);
                world.deregister(self.first_key + place as u32, connection.socket.as_fd())?;
            }
        }
        Ok(())
    }

    /// Connections that live.
    #[cfg(test)]
    pub(super) fn connections(&self) -> usize {
        self.connections.iter().flatten().count()
    }
}
