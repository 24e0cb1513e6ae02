//! From where to where a piece of traffic goes, and the TCP sockets at both ends.

use crate::agent::actor::Doing;
use crate::agent::kernel::tcp_info::Ends;
use crate::agent::traffic::mark::{mark, send_from};
use crate::agent::{AgentError, Host, World};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, acceptfrom_with, bind, connect, getsockname, listen, socket_with, sockopt,
};
use sojourn_bed::{AccessPlan, Planned};
use sojourn_scenario::{Direction, Traffic};
use sojourn_tcp::cc::Algorithm;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

/// From where to where a piece of traffic goes. The sender connects.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// Whose it is, for sentences.
    name: String,
    direction: Direction,
    path: usize,
    access: AccessPlan,
    /// The receiver's port.
    port: u16,
}

impl Route {
    /// The route of a piece of traffic whose receiver has this port.
    pub(crate) fn of<T: Traffic>(plan: &Planned<T>, direction: Direction, port: u16) -> Self {
        Self {
            name: plan.spec.name().to_owned(),
            direction,
            path: plan.path,
            access: plan.access,
            port,
        }
    }

    /// The hosts of sender and receiver.
    pub(crate) const fn hosts(&self) -> (Host, Host) {
        let client = Host::Client(self.access.station);
        match self.direction {
            Direction::Up => (client, Host::Server),
            Direction::Down => (Host::Server, client),
        }
    }

    /// The addresses of sender and receiver.
    pub(crate) fn addresses(&self, world: &dyn World) -> (Ipv4Addr, SocketAddrV4) {
        let (client, server) = (world.client(self.access), world.server(self.path, self.access));
        match self.direction {
            Direction::Up => (client, SocketAddrV4::new(server, self.port)),
            Direction::Down => (server, SocketAddrV4::new(client, self.port)),
        }
    }

    /// A TCP socket in the namespace in which this thread is.
    fn socket(&self, control: Algorithm) -> Result<OwnedFd, AgentError> {
        let (name, control) = (&self.name, control.name());
        let socket = nonblocking(SocketType::STREAM).doing(|| format!("cannot open a socket for {name}"))?;
        sockopt::set_tcp_congestion(&socket, control)
            .doing(|| format!("cannot use the congestion control {control} for {name}"))?;
        mark(&socket, self.access, name)?;
        Ok(socket)
    }

    /// A socket of the receiver, at which so many connections may wait.
    pub(crate) fn listen(
        &self,
        control: Algorithm,
        backlog: i32,
        world: &mut dyn World,
    ) -> Result<OwnedFd, AgentError> {
        world.enter(self.hosts().1)?;
        let socket = self.socket(control)?;
        let (_, address) = self.addresses(world);
        bind(&socket, &address)
            .and_then(|()| listen(&socket, backlog))
            .doing(|| format!("cannot listen at {address} for {}", self.name))?;
        Ok(socket)
    }

    /// A socket of the sender that is about to be connected, and its ends. With `at_once` a segment that is not full
    /// does not wait (TCP_NODELAY).
    pub(crate) fn connect(
        &self,
        control: Algorithm,
        at_once: bool,
        world: &mut dyn World,
    ) -> Result<(OwnedFd, Ends), AgentError> {
        world.enter(self.hosts().0)?;
        let (name, socket) = (&self.name, self.socket(control)?);
        if at_once {
            sockopt::set_tcp_nodelay(&socket, true).doing(|| format!("cannot set TCP_NODELAY for {name}"))?;
        }
        let (source, destination) = self.addresses(world);
        match self.direction {
            Direction::Up => send_from(&socket, self.access, name, world)?,
            Direction::Down => {
                bind(&socket, &SocketAddrV4::new(source, 0)).doing(|| format!("cannot bind to {source} for {name}"))?;
            }
        }
        match connect(&socket, &destination) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(e) => return Err(e).doing(|| format!("cannot connect {name} to {destination}")),
        }
        let own = getsockname(&socket).and_then(SocketAddrV4::try_from);
        let own = own.doing(|| format!("cannot find the port of {name}"))?;
        Ok((socket, (own, destination)))
    }

    /// Has `socket` close with a reset, whatever it has not sent.
    pub(crate) fn reset(&self, socket: &OwnedFd) -> Result<(), AgentError> {
        sockopt::set_socket_linger(socket, Some(Duration::ZERO)).doing(|| format!("cannot reset {}", self.name))
    }
}

/// A socket that does not wait, in the namespace in which this thread is.
pub(crate) fn nonblocking(kind: SocketType) -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    socket_with(AddressFamily::INET, kind, flags, None)
}

/// The next connection that waits at `listener`, and the address of its other end.
pub(crate) fn accept(listener: &OwnedFd) -> Result<Option<(OwnedFd, SocketAddrV4)>, Errno> {
    loop {
        match acceptfrom_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok((socket, peer)) => {
                if let Some(Ok(peer)) = peer.map(SocketAddrV4::try_from) {
                    return Ok(Some((socket, peer)));
                }
            }
            Err(Errno::INTR | Errno::CONNABORTED) => {}
            Err(Errno::AGAIN) => return Ok(None),
            Err(e) => return Err(e),
        }
    }
}
