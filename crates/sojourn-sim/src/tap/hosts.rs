//! Addresses and ports of the simulated hosts: what the simulation leaves open, filled in so that it is stable and a
//! reader can tell flows apart. Captures and the flusher know the same ones.
//!
//! - Flow, probe, web client or download number n of the run has the client address 10.0.x.y and the server address
//!   10.1.x.y with x = n / 250 and y = n % 250 + 1; the resolver of a web client has 10.2.x.y. If the scenario says
//!   which hosts there are, a capture has these addresses for host n of the side instead. A server is another host for
//!   each base RTT.
//! - The opener's port is from Linux's ephemeral range; that of a flow or probe comes from its hash, and the
//!   connections and look-ups of a web client count up from there (RFC 6056 section 3.3.3). The other end's is that
//!   of the service.

use super::Protocol;

/// Linux's ephemeral ports, `net.ipv4.ip_local_port_range`.
const EPHEMERAL: (u16, u16) = (32_768, 60_999);
const PORT_ECHO: u16 = 7;
const PORT_DISCARD: u16 = 9;
const PORT_DNS: u16 = 53;
const PORT_HTTP: u16 = 80;
/// Source: RFC 3551 section 8.
const PORT_RTP: u16 = 5004;

/// Which end of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client.
    Client,
    /// The server.
    Server,
    /// The resolver beside the server.
    Resolver,
}

/// The IPv4 address of one end of flow, probe, web client or download `number`, or of host `number` of that side.
#[must_use]
pub const fn address(number: u32, end: End) -> [u8; 4] {
    [10, end as u8, (number / 250) as u8, (number % 250 + 1) as u8]
}

/// The port of the opener of a conversation, from [`super::Conversation::port`].
#[must_use]
pub const fn opener_port(port: u32) -> u16 {
    let (low, high) = EPHEMERAL;
    low + (port % (high - low + 1) as u32) as u16
}

/// The port of the other end.
#[must_use]
pub const fn service_port(protocol: Protocol) -> u16 {
    match protocol {
        Protocol::UdpEcho => PORT_ECHO,
        Protocol::Dns => PORT_DNS,
        Protocol::Voice(_) => PORT_RTP,
        Protocol::Tcp { web: true, .. } => PORT_HTTP,
        Protocol::Tcp { web: false, .. } | Protocol::Icmp | Protocol::Udp => PORT_DISCARD,
    }
}
