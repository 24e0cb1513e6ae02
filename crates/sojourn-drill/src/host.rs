//! The host under test: descriptors, connections, and what they have sent.

use crate::connection::Connection;
use crate::options::SocketOptions;
use crate::script::Packet;
use crate::settings::{COUNTERS, Settings, commands_of, counted};
use crate::target::Trouble;
use crate::wire::{self, Clocks};
use crate::words::Missing;
use sojourn_tcp::{ConnectionState, Segment};
use sojourn_units::Time;
use std::collections::{BTreeMap, VecDeque};

/// Segments that one event may bring forth: more are a fault.
const MOST: usize = 100_000;

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A socket that nothing was done with.
    Fresh,
    /// It waits for connections.
    Listening,
    /// A connection, by its number.
    Connected(usize),
}

/// A descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descriptor {
    pub(crate) kind: Kind,
    /// Calls do not wait.
    pub(crate) nonblocking: bool,
    /// What the application has set as its send buffer, bytes.
    pub(crate) send_buffer: Option<i64>,
    /// A read tells what is left.
    pub(crate) tells_rest: bool,
    pub(crate) options: SocketOptions,
}

/// A segment that has left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) at: Time,
    pub(crate) segment: Segment,
    pub(crate) connection: usize,
    /// It follows another segment that left at the same time, so that segmentation offload could have made one of both.
    pub(crate) joins: bool,
}

/// The host.
#[derive(Debug, Default)]
pub(crate) struct Host {
    pub(crate) settings: Settings,
    pub(crate) descriptors: BTreeMap<i64, Descriptor>,
    pub(crate) connections: Vec<Connection>,
    /// A socket has begun to listen since the last connection.
    pub(crate) listens: bool,
    /// What has left and no event has asked for yet.
    pub(crate) left: VecDeque<Left>,
    pub(crate) clocks: Clocks,
    /// What the kernel's counters were when they were asked for last.
    counted: [u64; COUNTERS.len()],
}

impl Host {
    /// Commands of a shell. What the kernel looks at with each segment holds for connections that are there, too.
    pub(crate) fn command(&mut self, text: &str) -> Result<(), Trouble> {
        self.settings.run(text)?;
        for command in commands_of(text) {
            if command.starts_with("nstat") {
                self.compare_counters(&command)?;
            }
        }
        for connection in &mut self.connections {
            connection.endpoint.set_accecn_option(self.settings.accecn.option);
            connection.endpoint.set_device_full(self.settings.device_drops);
        }
        Ok(())
    }

    /// What an `nstat` looks for must be there. Without `-s` the next one counts from now.
    fn compare_counters(&mut self, command: &str) -> Result<(), Trouble> {
        let mut now = [0; COUNTERS.len()];
        for held in self
            .connections
            .iter()
            .filter_map(|c| c.endpoint.receiver().held_memory())
        {
            for (sum, count) in now.iter_mut().zip([held.beyond_window, held.no_room, held.shut]) {
                *sum += count;
            }
        }
        if let Some((i, expected)) = counted(command) {
            let came = now[i] - self.counted[i];
            if came != expected {
                return Err(Trouble::Wrong(format!("{} is {came}, not {expected}", COUNTERS[i])));
            }
        }
        if !command.contains("-s") {
            self.counted = now;
        }
        Ok(())
    }

    /// The connection that the script is about: the last one.
    pub(crate) fn current(&self) -> Option<usize> {
        self.connections.len().checked_sub(1)
    }

    /// Takes what the connection wants to send.
    pub(crate) fn pump(&mut self, connection: usize, now: Time) {
        let mut end = None;
        for _ in 0..MOST {
            let Some(segment) = self.connections[connection].endpoint.poll_transmit(now) else {
                break;
            };
            if self.settings.device_drops {
                continue;
            }
            let joins = end == Some(segment.seq);
            end = (segment.len > 0).then(|| segment.seq + u64::from(segment.len));
            self.left.push_back(Left {
                at: now,
                segment,
                connection,
                joins,
            });
        }
        let sizes = self.sizes(connection);
        let Connection { memory, endpoint, .. } = &mut self.connections[connection];
        memory.follow(endpoint, sizes);
        self.note_time(connection, now);
    }

    /// Notes what the time of the connection's sender is spent on from now on.
    pub(crate) fn note_time(&mut self, connection: usize, now: Time) {
        let connection = &mut self.connections[connection];
        connection
            .spent
            .note(&connection.endpoint, connection.waiting.is_some(), now);
    }

    /// When the next timer goes off.
    pub(crate) fn timer(&self) -> Option<Time> {
        self.connections.iter().filter_map(|c| c.endpoint.timeout()).min()
    }

    /// Its time has come.
    pub(crate) fn fire(&mut self, now: Time) {
        for i in 0..self.connections.len() {
            if self.connections[i].endpoint.timeout().is_some_and(|due| due <= now) {
                self.connections[i].on_timeout(now);
                self.pump(i, now);
            }
        }
    }

    /// A segment arrives.
    pub(crate) fn arrive(&mut self, packet: &Packet, now: Time) -> Result<(), Missing> {
        let syn = packet.has('S') && !packet.has('.');
        if syn && self.opens() {
            self.clocks = Clocks::default();
            self.listens = false;
            let options = self.listener().map_or_else(SocketOptions::default, |d| d.options);
            self.connections
                .push(Connection::server(&self.settings, options, packet, now));
        }
        let Some(i) = self.current() else {
            return Err(Missing::new(
                "a segment of no connection",
                "our TCP neither sends nor takes resets",
            ));
        };
        let connection = &mut self.connections[i];
        if connection.endpoint.state() == ConnectionState::SynSent && packet.has('S') && packet.has('.') {
            connection.learn(packet, now);
        }
        let segment = wire::segment(packet, connection, &self.clocks);
        connection.largest_window = connection.largest_window.max(segment.window_bytes());
        if segment.len > 0 {
            connection.last_data = now;
        }
        connection.endpoint.on_segment(&segment, now);
        self.pump(i, now);
        Ok(())
    }

    /// Whether a SYN that comes now begins a connection: somebody listens, and since the last connection began,
    /// or that is not in its handshake or in the hands of the application.
    fn opens(&self) -> bool {
        let busy = self.connections.last().is_some_and(|c| {
            !c.released
                && c.endpoint.state() != ConnectionState::Closed
                && c.endpoint.state() != ConnectionState::Listen
        });
        self.listener().is_some() && (self.listens || !busy)
    }

    /// The socket that listens.
    fn listener(&self) -> Option<&Descriptor> {
        self.descriptors.values().find(|d| d.kind == Kind::Listening)
    }

    /// A connection that is established and that nobody has accepted.
    pub(crate) fn acceptable(&self) -> Option<usize> {
        let ready = |c: &Connection| !c.accepted && c.endpoint.state() > ConnectionState::SynReceived && !c.released;
        self.connections.iter().position(ready)
    }
}
