//! The two ends of a connection over a UDP socket, on the machine's clock.
//!
//! Deviation: a socket of the standard library neither sets nor tells the ECN field, so nothing is ECN-capable here. In a
//! scenario that is `ecn = false`.

use crate::run::print;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;
use sojourn_scenario::Application;
use sojourn_sim::{Agent, Datagram, Opening, Stack, Stacks};
use sojourn_store::cost::Clock;
use sojourn_tcp::cc::Algorithm;
use sojourn_units::{Rate, Time};
use std::net::{SocketAddr, UdpSocket};

/// Longest payload of a UDP datagram, bytes.
const LONGEST: usize = 65_507;
/// Payload of a full segment, which an application makes at a time if it has a rate, bytes.
const SEGMENT: u64 = 1472;

/// How a connection is made.
#[derive(Debug)]
pub(crate) struct Means {
    pub(crate) seconds: f64,
    pub(crate) cc: Option<String>,
    pub(crate) rate: Option<Rate>,
    pub(crate) seed: u64,
}

/// Opens a connection, and sends.
pub(crate) fn send(stacks: &[Stack], name: &str, to: SocketAddr, means: &Means) -> Result<(), String> {
    let local = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(local).map_err(|error| format!("a UDP socket: {error}"))?;
    socket.connect(to).map_err(|error| format!("{to}: {error}"))?;
    let (mut agent, _) = ends(stacks, name, means)?;
    let application = Application {
        rate: means.rate,
        ..Application::default()
    };
    drive(&mut *agent, &socket, Some(application), means.seconds)
}

/// Waits for a connection, and reads it.
pub(crate) fn receive(stacks: &[Stack], name: &str, at: SocketAddr, means: &Means) -> Result<(), String> {
    let socket = UdpSocket::bind(at).map_err(|error| format!("{at}: {error}"))?;
    let (_, mut agent) = ends(stacks, name, means)?;
    drive(&mut *agent, &socket, None, means.seconds)
}

fn ends(stacks: &[Stack], name: &str, means: &Means) -> Result<sojourn_sim::stack::Ends, String> {
    let control = means.cc.as_deref().map(|word| {
        let named = Algorithm::ALL.iter().copied().find(|control| control.name() == word);
        named.ok_or_else(|| format!("--cc is {word:?}, but must be one of those that list shows"))
    });
    let opening = Opening {
        seed: means.seed,
        control: control.transpose()?,
        streams: 1,
    };
    Stacks(stacks).open(name, name, &opening)
}

/// Carries datagrams between the agent and the socket for so many seconds, and prints what the agent knows then. An end that
/// was not connected talks to whoever it heard first.
fn drive(
    agent: &mut dyn Agent,
    socket: &UdpSocket,
    mut application: Option<Application>,
    seconds: f64,
) -> Result<(), String> {
    socket
        .set_nonblocking(true)
        .map_err(|error| format!("the socket: {error}"))?;
    let clock = Clock::start();
    let now = || Time::from_nanos((clock.seconds() * 1e9) as u64);
    let end = Time::from_nanos((seconds * 1e9) as u64);
    let (mut made, mut due, mut timer) = (0, Some(Time::ZERO), Some(Time::ZERO));
    let mut heard = socket.peer_addr().is_ok();
    let mut buffer = vec![0; LONGEST];
    let (mut sent, mut refused) = (0u64, 0u64);
    while now() < end {
        let at = now();
        if let Some(writes) = application.filter(|_| due.is_some_and(|due| due <= at)) {
            let step = writes.step(made, SEGMENT, at.since(Time::ZERO));
            made += step.bytes.unwrap_or(0);
            due = step.again.map(|again| Time::ZERO + again);
            agent.on_application(step, at);
            application = Some(writes).filter(|_| due.is_some());
        }
        if timer.is_some_and(|timer| timer <= at) {
            agent.on_timeout(at);
        }
        while let Some(datagram) = agent.poll_transmit(now()) {
            match socket.send(&datagram.payload) {
                Ok(_) => sent += 1,
                // As a network that loses it: the agent finds out.
                Err(_) => refused += 1,
            }
        }
        timer = agent.poll_timeout();
        let next = timer
            .into_iter()
            .chain(due.filter(|_| application.is_some()))
            .chain([end])
            .min();
        let wait = next.map_or(0, |next| next.as_nanos().saturating_sub(now().as_nanos()));
        let wait = Timespec {
            tv_sec: (wait / 1_000_000_000).cast_signed(),
            tv_nsec: (wait % 1_000_000_000).cast_signed(),
        };
        // A socket's own time-out has the kernel's ticks, this has nanoseconds. What interrupts it is seen in the next turn.
        let _ = poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&wait));
        // One datagram a turn: as in the simulator, the agent may send before it gets the next one.
        if let Ok((length, from)) = socket.recv_from(&mut buffer) {
            if !heard {
                socket.connect(from).map_err(|error| format!("{from}: {error}"))?;
                heard = true;
            }
            agent.on_datagram(Datagram::udp(buffer[..length].to_vec()), now());
        }
    }
    let report = agent.report();
    let mbit = report.delivered as f64 * 8.0 / 1e6 / seconds;
    let answer = json!({
        "seconds": seconds, "delivered_bytes": report.delivered, "delivered_mbit": mbit, "datagrams_sent": sent,
        "datagrams_refused": refused, "lost": report.lost, "timeouts": report.timeouts, "error": report.error,
    });
    print(format!("{answer}\n").as_bytes())
}
