//! What a device of a network namespace is told: messages of rtnetlink (linux/if_link.h, if_addr.h, rtnetlink.h).

use crate::agent::AgentError;
use crate::agent::actor::Doing;
use crate::agent::kernel::netlink::{CREATE, EXCLUSIVE, IFLA_GSO_MAX_SEGS, Netlink, message, push_attribute};
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketType};
use std::net::IpAddr;

const NEW_LINK: u16 = 16;
const NEW_ADDRESS: u16 = 20;
const NEW_ROUTE: u16 = 24;
/// `IFF_UP`.
const UP: u32 = 1;
const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
/// `IFA_F_NODAD`: nobody else can have it.
const NO_DUPLICATES: u8 = 2;
const RTA_OIF: u16 = 4;
const RTA_METRICS: u16 = 8;
/// `RT_TABLE_MAIN`, `RTPROT_STATIC`, `RT_SCOPE_LINK`, `RTN_UNICAST`.
const ROUTE: [u8; 4] = [254, 4, 253, 1];

/// A metric of a route: its number (`RTAX_*`) and its value.
pub type Metric = (u16, u32);
/// `RTAX_LOCK`: a set of bits by the numbers of the metrics that the kernel may not change.
pub const LOCK: u16 = 1;
/// `RTAX_INITCWND`, segments.
pub const INITIAL_WINDOW: u16 = 11;
/// `RTAX_RTO_MIN`, milliseconds.
pub const MIN_RTO: u16 = 13;
/// `RTAX_QUICKACK`, 0 or 1.
pub const QUICK_ACK: u16 = 15;

/// What a device is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its number in its namespace.
    pub index: u32,
    /// The largest packet.
    pub mtu: u32,
    /// Packets that may wait between it and this program.
    pub queue_length: u32,
}

/// The links of the namespace in which it was opened.
#[derive(Debug)]
pub struct Links(Netlink);

impl Links {
    /// Opens a socket in the namespace of this thread.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn here() -> Result<Self, AgentError> {
        Netlink::route()
            .map(Self)
            .doing(|| "cannot open a netlink socket".into())
    }

    /// The number of a device.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn index(name: &str) -> Result<u32, AgentError> {
        let any = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)
            .doing(|| "cannot open a socket".into())?;
        name_to_index(any, name).doing(|| format!("cannot find the device {name}"))
    }

    /// Switches the loopback device on.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn loopback_up(&mut self) -> Result<(), AgentError> {
        self.send(NEW_LINK, 0, &link_message(1), || "cannot bring lo up".into())
    }

    /// Sets a device up and switches it on. One segment of TCP is one packet.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn up(&mut self, link: Link) -> Result<(), AgentError> {
        let mut set = link_message(link.index);
        // Its length first: packets come as soon as it is up.
        push_attribute(&mut set, IFLA_TXQLEN, &link.queue_length.to_ne_bytes());
        push_attribute(&mut set, IFLA_MTU, &link.mtu.to_ne_bytes());
        push_attribute(&mut set, IFLA_GSO_MAX_SEGS, &1_u32.to_ne_bytes());
        self.send(NEW_LINK, 0, &set, || "cannot bring the device up".into())
    }

    /// Gives a device an address.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn address(&mut self, index: u32, ip: IpAddr, prefix: u8) -> Result<(), AgentError> {
        let (family, octets) = parts(ip);
        let mut body = vec![family, prefix, NO_DUPLICATES, 0];
        body.extend_from_slice(&index.to_ne_bytes());
        push_attribute(&mut body, IFA_LOCAL, &octets);
        push_attribute(&mut body, IFA_ADDRESS, &octets);
        let what = || format!("cannot give the device the address {ip}/{prefix}");
        self.send(NEW_ADDRESS, CREATE | EXCLUSIVE, &body, what)
    }

    /// Routes all IPv4 through a device.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn default_route(&mut self, index: u32, metrics: &[Metric]) -> Result<(), AgentError> {
        let (family, _) = parts(IpAddr::from([0, 0, 0, 0]));
        let mut body = vec![family, 0, 0, 0];
        body.extend_from_slice(&ROUTE);
        body.extend_from_slice(&[0; 4]);
        push_attribute(&mut body, RTA_OIF, &index.to_ne_bytes());
        let mut all = Vec::new();
        for (number, value) in metrics {
            push_attribute(&mut all, *number, &value.to_ne_bytes());
        }
        if !all.is_empty() {
            push_attribute(&mut body, RTA_METRICS, &all);
        }
        self.send(NEW_ROUTE, CREATE | EXCLUSIVE, &body, || {
            "cannot route through the device".into()
        })
    }

    fn send(&mut self, kind: u16, flags: u16, body: &[u8], what: impl FnOnce() -> String) -> Result<(), AgentError> {
        self.0.request(message(kind, flags, 0, body)).map(drop).doing(what)
    }
}

/// A `struct ifinfomsg` that switches the device on.
fn link_message(index: u32) -> Vec<u8> {
    [0, index, UP, UP].iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// The number of an address family, and the bytes of an address.
fn parts(ip: IpAddr) -> (u8, Vec<u8>) {
    match ip {
        IpAddr::V4(v4) => (AddressFamily::INET.as_raw() as u8, v4.octets().to_vec()),
        IpAddr::V6(v6) => (AddressFamily::INET6.as_raw() as u8, v6.octets().to_vec()),
    }
}
