//! The UDP flows of a plan: datagrams at a constant bit rate, whatever becomes of them.
//!
//! Both ends are in this process. When a datagram leaves follows from its number, so no rounding adds up. What has
//! arrived is read at short intervals, and at the end of each bin: nobody asks when a datagram came, only how many
//! have.

use crate::agent::actor::{Actor, AgentError, Doing, World, signed};
use crate::agent::observers::bins::Bins;
use crate::agent::traffic::mark::mark;
use crate::agent::traffic::route::Route;
use rustix::net::sockopt::set_socket_recv_buffer_size_force;
use sojourn_bed::{FlowMeasured, FlowPlan, LoadPlan, Measured, UdpMeasured, ports};
use sojourn_scenario::UDP_PAYLOAD;
use std::io::ErrorKind;
use std::net::UdpSocket;

/// Timers, in the order in which they go off at one instant.
const BINS: u32 = 0;
const READ: u32 = 1;
const SEND: u32 = 2;

/// Between two readings.
const EVERY_NS: i64 = 5_000_000;
/// The receive buffer, bytes: a fifth of a second of 1 Gbit/s. The kernel doubles it for its own needs.
const BUFFER: usize = 32 << 20;

/// A UDP flow.
#[derive(Debug)]
pub(crate) struct Flood {
    index: usize,
    plan: FlowPlan,
    bins: Bins,
    sender: Option<UdpSocket>,
    receiver: Option<UdpSocket>,
    stopped: bool,
    sent: u64,
    received: u64,
    /// The highest number received, and one.
    expected: u64,
    payload: Vec<u8>,
    seen: FlowMeasured,
}

impl Flood {
    /// The flow at place `index` of the plan.
    ///
    /// # Errors
    /// [`AgentError::Plan`] if it has no rate.
    pub(crate) fn new(index: usize, plan: &FlowPlan, load: &LoadPlan) -> Result<Self, AgentError> {
        if plan.rate.is_none() {
            return Err(AgentError::Plan(format!(
                "flows[{index}].rate is absent, but must be given for a UDP flow"
            )));
        }
        Ok(Self {
            index,
            plan: plan.clone(),
            bins: Bins::of(load),
            sender: None,
            receiver: None,
            stopped: false,
            sent: 0,
            received: 0,
            expected: 0,
            payload: vec![0; usize::from(UDP_PAYLOAD)],
            seen: FlowMeasured::default(),
        })
    }

    /// When the next datagram leaves.
    fn due_ns(&self) -> Option<i64> {
        let after = self.plan.application().datagram_due(self.sent)?;
        Some(self.plan.start_ns.saturating_add(signed(after.as_nanos())))
    }

    fn wait(&self, world: &mut dyn World) {
        match self.due_ns() {
            Some(at) => world.set_timer(SEND, at),
            None => world.cancel_timer(SEND),
        }
    }

    fn send(&mut self) -> Result<(), AgentError> {
        let Some(socket) = &self.sender else { return Ok(()) };
        self.payload[..8].copy_from_slice(&self.sent.to_be_bytes());
        self.sent += 1;
        match socket.send(&self.payload) {
            Ok(_) => Ok(()),
            // A host whose own queue is full drops the datagram: it is sent and lost.
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::OutOfMemory) => Ok(()),
            Err(e) if e.raw_os_error() == Some(nix::errno::Errno::ENOBUFS as i32) => Ok(()),
            Err(e) => Err(e).doing(|| format!("sending a datagram of {}", self.plan.name)),
        }
    }

    fn read(&mut self) -> Result<(), AgentError> {
        let Some(socket) = &self.receiver else { return Ok(()) };
        // The number is enough: the rest of the datagram is left behind.
        let mut number = [0; 8];
        loop {
            match socket.recv(&mut number) {
                Ok(8) => {
                    self.received += 1;
                    self.expected = self.expected.max(u64::from_be_bytes(number) + 1);
                }
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e).doing(|| format!("receiving for {}", self.plan.name)),
            }
        }
    }

    fn delivered(&self) -> u64 {
        self.received * u64::from(UDP_PAYLOAD)
    }
}

impl Actor for Flood {
    fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        let name = &self.plan.name;
        let route = Route::of(&self.plan, self.plan.direction, ports::FLOWS + self.index as u16);
        let ((from, to), (source, address)) = (route.hosts(), route.addresses(world));
        world.enter(to)?;
        let receiver = UdpSocket::bind(address).doing(|| format!("cannot receive at {address} for {name}"))?;
        receiver
            .set_nonblocking(true)
            .doing(|| format!("cannot receive for {name}"))?;
        // Without root's rights it stays as it is, and datagrams that do not fit count as lost.
        let _ = set_socket_recv_buffer_size_force(&receiver, BUFFER);
        world.enter(from)?;
        let sender = UdpSocket::bind((source, 0)).doing(|| format!("cannot bind to {source} for {name}"))?;
        sender
            .set_nonblocking(true)
            .doing(|| format!("cannot send for {name}"))?;
        sender
            .connect(address)
            .doing(|| format!("cannot connect {name} to {address}"))?;
        mark(&sender, self.plan.access, name)?;
        (self.sender, self.receiver) = (Some(sender), Some(receiver));
        self.wait(world);
        world.set_timer(READ, self.plan.start_ns);
        self.bins.wait(BINS, world);
        Ok(())
    }

    fn due(&mut self, key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        match key {
            BINS => {
                self.read()?;
                self.seen.delivered.push(self.delivered());
                for series in [&mut self.seen.cwnd, &mut self.seen.srtt_us, &mut self.seen.ssthresh] {
                    series.push(0);
                }
                self.bins.wait(BINS, world);
                Ok(())
            }
            READ => {
                world.set_timer(READ, world.now() + EVERY_NS);
                self.read()
            }
            _ if self.stopped || world.now() >= world.end() => Ok(()),
            _ => {
                self.send()?;
                self.wait(world);
                Ok(())
            }
        }
    }

    fn window_ends(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        self.stopped = true;
        world.cancel_timer(SEND);
        world.cancel_timer(READ);
        self.read()?;
        self.seen.delivered_total = self.delivered();
        self.seen.udp = Some(UdpMeasured {
            sent: self.sent,
            received: self.received,
            lost: self.expected - self.received,
        });
        Ok(())
    }

    fn finish(&mut self, measured: &mut Measured) {
        if let Some(place) = measured.flows.get_mut(self.index) {
            *place = std::mem::take(&mut self.seen);
        }
    }
}

#[cfg(test)]
mod tests;
