//! The TUN device through which the kernel and the script exchange packets, and what it is told by netlink.
//!
//! The device takes segments that are larger than its packets, as packetdrill's does, so a burst of TCP is one packet
//! with the flags that TCP gave it. Layouts are those of `linux/rtnetlink.h`, `linux/pkt_sched.h` and
//! `linux/ethtool_netlink.h`; numbers are in the machine's byte order.

use crate::wire::{LOCAL, REMOTE};
use netlink_sys::{Socket, SocketAddr, protocols};
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketType};
use std::fmt;
use std::io;
use tun_rs::{DeviceBuilder, SyncDevice};

/// Its name in scripts.
pub(crate) const NAME: &str = "tun0";
/// `struct virtio_net_hdr`, which stands before each packet.
const VIRTIO: usize = 10;
/// `VIRTIO_NET_HDR_GSO_TCPV4`.
const GSO_TCP: u8 = 1;
/// Length of the prefix of the kernel's network. Source: `ksft_runner.sh` of the kernel's tests.
const PREFIX: u8 = 16;
/// The longest read.
const ROOM: usize = VIRTIO + 65_535;

const NEW_LINK: u16 = 16;
const NEW_ADDRESS: u16 = 20;
const NEW_ROUTE: u16 = 24;
const NEW_QDISC: u16 = 36;
const IFLA_MTU: u16 = 4;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
/// `TC_H_ROOT`.
const ROOT: u32 = 0xffff_ffff;
const CREATE: u16 = 0x400;
const REPLACE: u16 = 0x100;
/// `NLM_F_REQUEST` and `NLM_F_ACK`.
const REQUEST: u16 = 5;
const ERROR: u16 = 2;
const HEADER: usize = 16;
/// `NLA_F_NESTED`.
const NESTED: u16 = 0x8000;

/// The device, of which this holds the side that is no kernel's.
pub(crate) struct Device {
    tun: SyncDevice,
    buffer: Vec<u8>,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").finish_non_exhaustive()
    }
}

impl Device {
    /// Makes the device, and routes our side's network through it.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(crate) fn make() -> io::Result<Self> {
        let tun = DeviceBuilder::new()
            .name(NAME)
            .packet_information(false)
            .offload(true)
            .enable(false)
            .build_sync()?;
        tun.set_nonblocking(true)?;
        let mut route = Netlink::open(protocols::NETLINK_ROUTE)?;
        for index in [1, index()?] {
            route.request(NEW_LINK, 0, &up(index))?;
        }
        let mut body = vec![AddressFamily::INET.as_raw() as u8, PREFIX, 0, 0];
        body.extend_from_slice(&index()?.to_ne_bytes());
        push(&mut body, IFA_LOCAL, &LOCAL.octets());
        push(&mut body, IFA_ADDRESS, &LOCAL.octets());
        route.request(NEW_ADDRESS, CREATE, &body)?;
        // A network of 24 bits in the main table, static, of all scopes, unicast.
        let mut body = vec![AddressFamily::INET.as_raw() as u8, 24, 0, 0, 254, 4, 0, 1, 0, 0, 0, 0];
        let [a, b, c, _] = REMOTE.octets();
        push(&mut body, RTA_DST, &[a, b, c, 0]);
        push(&mut body, RTA_OIF, &index()?.to_ne_bytes());
        // The kernel is its own gateway, as in `ksft_runner.sh`.
        push(&mut body, RTA_GATEWAY, &LOCAL.octets());
        route.request(NEW_ROUTE, CREATE, &body)?;
        let buffer = vec![0; ROOM];
        Ok(Self { tun, buffer })
    }

    /// The next packet that has left; `None` if none has.
    ///
    /// # Errors
    /// If the device cannot be read.
    pub(crate) fn read(&mut self) -> io::Result<Option<&[u8]>> {
        match self.tun.recv(&mut self.buffer) {
            Ok(n) => Ok(Some(self.buffer.get(VIRTIO..n).unwrap_or(&[]))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A packet arrives. With `mss` it counts as made of segments of so many bytes.
    ///
    /// # Errors
    /// If the device cannot be written to.
    pub(crate) fn write(&self, packet: &[u8], mss: u16) -> io::Result<()> {
        let mut whole = vec![0; VIRTIO];
        if mss > 0 {
            // `gso_type` and `gso_size` of `struct virtio_net_hdr`.
            whole[1] = GSO_TCP;
            whole[4..6].copy_from_slice(&mss.to_ne_bytes());
        }
        whole.extend_from_slice(packet);
        self.tun.send(&whole).map(drop)
    }

    /// What is polled.
    pub(crate) fn descriptor(&self) -> &SyncDevice {
        &self.tun
    }
}

fn index() -> io::Result<u32> {
    let any = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    Ok(name_to_index(any, NAME)?)
}

/// A `struct ifinfomsg` that switches a device on.
fn up(index: u32) -> Vec<u8> {
    let mut body = vec![0; 4];
    body.extend_from_slice(&index.to_ne_bytes());
    body.extend_from_slice(&1_u32.to_ne_bytes());
    body.extend_from_slice(&1_u32.to_ne_bytes());
    body
}

/// Sets the largest packet of the device, bytes.
///
/// # Errors
/// If the kernel refuses.
pub(crate) fn set_mtu(bytes: u32) -> io::Result<()> {
    let mut body = up(index()?);
    push(&mut body, IFLA_MTU, &bytes.to_ne_bytes());
    Netlink::open(protocols::NETLINK_ROUTE)?.request(NEW_LINK, 0, &body)
}

/// Replaces the discipline of the device; `limit` is in packets.
///
/// # Errors
/// If the kernel refuses.
pub(crate) fn set_discipline(kind: &str, limit: Option<u32>) -> io::Result<()> {
    let mut body = vec![0; 4];
    body.extend_from_slice(&index()?.to_ne_bytes());
    body.extend_from_slice(&0_u32.to_ne_bytes());
    body.extend_from_slice(&ROOT.to_ne_bytes());
    body.extend_from_slice(&[0; 4]);
    push(&mut body, TCA_KIND, format!("{kind}\0").as_bytes());
    if let Some(limit) = limit {
        push(&mut body, TCA_OPTIONS, &limit.to_ne_bytes());
    }
    Netlink::open(protocols::NETLINK_ROUTE)?.request(NEW_QDISC, CREATE | REPLACE, &body)
}

/// A socket of generic netlink, and the number of a family.
fn family(name: &[u8]) -> io::Result<(Netlink, u16)> {
    /// `GENL_ID_CTRL`, `CTRL_CMD_GETFAMILY`, `CTRL_ATTR_FAMILY_NAME`, `CTRL_ATTR_FAMILY_ID`.
    const CONTROL: (u16, u8, u16, u16) = (16, 3, 2, 1);
    let mut generic = Netlink::open(protocols::NETLINK_GENERIC)?;
    let mut body = vec![CONTROL.1, 1, 0, 0];
    push(&mut body, CONTROL.2, name);
    let answers = generic.ask(CONTROL.0, 0, &body)?;
    let number = answers
        .iter()
        .find_map(|answer| u16_at(attribute(answer.get(4..)?, CONTROL.3)?, 0));
    Ok((generic, number.ok_or(io::ErrorKind::NotFound)?))
}

/// Lets the kernel forget what it knows of peers, also their cookies of TCP Fast Open.
///
/// # Errors
/// If the kernel refuses.
pub(crate) fn forget_peers() -> io::Result<()> {
    /// `TCP_METRICS_CMD_DEL`; without an address all are meant.
    const DELETE: u8 = 2;
    let (mut generic, metrics) = family(b"tcp_metrics\0")?;
    generic.request(metrics, 0, &[DELETE, 1, 0, 0])
}

/// Switches features of the device on or off, by the kernel's names, such as `tx-tcp-segmentation`.
///
/// # Errors
/// If the kernel refuses.
pub(crate) fn set_features(features: &[(&str, bool)]) -> io::Result<()> {
    /// `ETHTOOL_MSG_FEATURES_SET`.
    const FEATURES_SET: u8 = 12;
    let (mut generic, ethtool) = family(b"ethtool\0")?;
    let mut header = Vec::new();
    push(&mut header, 2, format!("{NAME}\0").as_bytes());
    let mut bits = Vec::new();
    for (name, on) in features {
        let mut bit = Vec::new();
        push(&mut bit, 2, format!("{name}\0").as_bytes());
        if *on {
            push(&mut bit, 3, &[]);
        }
        push(&mut bits, 1 | NESTED, &bit);
    }
    let mut wanted = Vec::new();
    push(&mut wanted, 3 | NESTED, &bits);
    let mut body = vec![FEATURES_SET, 1, 0, 0];
    push(&mut body, 1 | NESTED, &header);
    push(&mut body, 3 | NESTED, &wanted);
    generic.request(ethtool, 0, &body)
}

/// A netlink socket.
struct Netlink(Socket);

impl Netlink {
    fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self(socket))
    }

    fn request(&mut self, kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
        self.ask(kind, flags, body).map(drop)
    }

    /// Sends one message, and gives what the kernel answered before its acknowledgement.
    fn ask(&mut self, kind: u16, flags: u16, body: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let mut message = Vec::new();
        message.extend_from_slice(&((HEADER + body.len()) as u32).to_ne_bytes());
        message.extend_from_slice(&kind.to_ne_bytes());
        message.extend_from_slice(&(flags | REQUEST).to_ne_bytes());
        message.extend_from_slice(&[0; 8]);
        message.extend_from_slice(body);
        self.0.send(&message, 0)?;
        let mut answers = Vec::new();
        loop {
            let mut buffer = Vec::with_capacity(1 << 16);
            self.0.recv(&mut buffer, 0)?;
            let mut rest = &buffer[..];
            while let Some(length) = u32_at(rest, 0).filter(|n| *n as usize >= HEADER) {
                let body = rest.get(HEADER..length as usize).unwrap_or(&[]);
                if u16_at(rest, 4) == Some(ERROR) {
                    let code = u32_at(body, 0).unwrap_or(0).cast_signed();
                    return if code == 0 {
                        Ok(answers)
                    } else {
                        Err(io::Error::from_raw_os_error(-code))
                    };
                }
                answers.push(body.to_vec());
                rest = rest.get((length as usize).next_multiple_of(4)..).unwrap_or(&[]);
            }
        }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The value of an attribute among those that fill `bytes`.
fn attribute(mut bytes: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16_at(bytes, 0)?);
        let value = bytes.get(4..length)?;
        if u16_at(bytes, 2)? & !NESTED == kind {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
}

/// Appends an attribute.
fn push(message: &mut Vec<u8>, kind: u16, value: &[u8]) {
    message.extend_from_slice(&((4 + value.len()) as u16).to_ne_bytes());
    message.extend_from_slice(&kind.to_ne_bytes());
    message.extend_from_slice(value);
    message.resize(message.len().next_multiple_of(4), 0);
}
