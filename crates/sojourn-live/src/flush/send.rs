//! Sends what the gate let through.
//!
//! An ordinary UDP socket, bound to an address of the device; nothing raw. Each datagram is checked once more,
//! against the allow-list and against a budget by the machine's steady clock: the gate's time is that of the capture,
//! which somebody may have set.

use super::gate::{Budget, GateSettings, Refusal, STALE, permitted};
use super::pipeline::Burst;
use sojourn_units::{Duration, Time};
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

/// A burst that has not left by then is given up.
const PATIENCE: Duration = Duration::from_secs(2);
const IPV4_UDP: u32 = 28;
const IPV6_UDP: u32 = 48;

/// How a datagram leaves. In tests, nowhere.
pub trait Wire {
    /// Sends one datagram with this many bytes of payload.
    ///
    /// # Errors
    /// `WouldBlock` if it should be tried again.
    fn send(&mut self, to: SocketAddr, payload: usize) -> io::Result<()>;
}

/// What came of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// All of it has left.
    All {
        /// The number of the plan.
        id: u64,
        /// Its packets.
        packets: u32,
    },
    /// Only a part has.
    Part {
        /// The number of the plan.
        id: u64,
        /// Packets that have left.
        packets: u32,
        /// Why not the others.
        because: Unsent,
    },
}

/// Why packets did not leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsent {
    /// The second check refused them.
    Guard(Refusal),
    /// They did not leave within two seconds.
    TooSlow,
    /// The device or its address is gone, or there is no route.
    NoWay(io::ErrorKind),
    /// The system refused in another way; the daemon is passive from here on.
    Refused(io::ErrorKind),
    /// An earlier burst is still leaving.
    Busy,
}

/// Sends one burst at a time, without waiting.
#[derive(Debug)]
pub struct Sender<W> {
    wire: W,
    port: u16,
    settings: GateSettings,
    budget: Budget,
    current: Option<(Burst, u32, Time)>,
    /// Datagrams and bytes (with IP headers) that have left.
    packets: u64,
    bytes: u64,
}

impl<W: Wire> Sender<W> {
    /// To UDP port `port` of the destinations.
    #[must_use]
    pub fn new(wire: W, port: u16, settings: GateSettings) -> Self {
        Self {
            wire,
            port,
            budget: Budget::new(settings.bytes_per_minute),
            settings,
            current: None,
            packets: 0,
            bytes: 0,
        }
    }

    /// Takes other settings; what was spent stays spent.
    pub fn set(&mut self, port: u16, settings: GateSettings) {
        self.port = port;
        self.budget.set_limit(settings.bytes_per_minute);
        self.settings = settings;
    }

    /// Another socket, say after the device came back.
    pub fn set_wire(&mut self, wire: W) {
        self.wire = wire;
    }

    /// Gives up what has not left.
    pub fn stop(&mut self) {
        self.current = None;
        self.settings.active = false;
    }

    /// Datagrams that have left, and their bytes.
    #[must_use]
    pub const fn totals(&self) -> (u64, u64) {
        (self.packets, self.bytes)
    }

    /// Whether there is something to send.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        self.current.is_some()
    }

    /// Begins a burst that was decided `age` ago. `now` is a steady clock's.
    ///
    /// # Errors
    /// [`Unsent::Busy`] if another is under way; [`Refusal::Stale`] if it is too old, after the daemon was stopped
    /// for a while, say.
    pub fn start(&mut self, burst: Burst, age: Duration, now: Time) -> Result<(), Unsent> {
        if age > STALE {
            return Err(Unsent::Guard(Refusal::Stale));
        }
        if self.current.is_some() {
            return Err(Unsent::Busy);
        }
        self.current = Some((burst, 0, now));
        Ok(())
    }

    /// Sends what can be sent now; tells once of each burst how it ended.
    pub fn pump(&mut self, now: Time) -> Option<Sent> {
        let (burst, mut packets, began) = self.current?;
        let because = loop {
            if packets == burst.packets {
                break None;
            }
            if now.since(began) > PATIENCE {
                break Some(Unsent::TooSlow);
            }
            match self.one(burst, now) {
                Ok(()) => packets += 1,
                Err(Unsent::NoWay(io::ErrorKind::WouldBlock)) => {
                    self.current = Some((burst, packets, began));
                    return None;
                }
                Err(because) => break Some(because),
            }
        };
        self.current = None;
        let id = burst.id;
        Some(match because {
            None => Sent::All { id, packets },
            Some(because) => Sent::Part { id, packets, because },
        })
    }

    fn one(&mut self, burst: Burst, now: Time) -> Result<(), Unsent> {
        if !self.settings.active {
            return Err(Unsent::Guard(Refusal::Passive));
        }
        permitted(burst.toward, &self.settings.allow).map_err(Unsent::Guard)?;
        let bytes = u64::from(burst.size);
        let left = self.budget.left(now);
        if bytes > left {
            return Err(Unsent::Guard(Refusal::Budget(bytes, left)));
        }
        let headers = match burst.toward {
            IpAddr::V4(_) => IPV4_UDP,
            IpAddr::V6(_) => IPV6_UDP,
        };
        let Some(payload) = burst.size.checked_sub(headers) else {
            return Err(Unsent::Guard(Refusal::BadPlan));
        };
        let to = SocketAddr::new(burst.toward, self.port);
        self.wire.send(to, payload as usize).map_err(|e| match e.kind() {
            // A device's queue that is full will have room.
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Unsent::NoWay(io::ErrorKind::WouldBlock),
            _ if e.raw_os_error() == Some(rustix::io::Errno::NOBUFS.raw_os_error()) => {
                Unsent::NoWay(io::ErrorKind::WouldBlock)
            }
            kind @ (io::ErrorKind::NetworkDown
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NotConnected
            | io::ErrorKind::AddrNotAvailable) => Unsent::NoWay(kind),
            kind => Unsent::Refused(kind),
        })?;
        self.budget.spend(bytes, now);
        self.packets += 1;
        self.bytes += bytes;
        Ok(())
    }
}

/// UDP sockets bound to a device's addresses. Each datagram begins with its number, in eight bytes.
#[derive(Debug, Default)]
pub struct DeviceWire {
    v4: Option<UdpSocket>,
    v6: Option<UdpSocket>,
    /// The payload, zeros but for the number at its beginning.
    payload: Vec<u8>,
    number: u64,
}

impl DeviceWire {
    /// Sockets on the first IPv4 and the first global IPv6 address of `interface`, as far as it has them.
    ///
    /// # Errors
    /// If the addresses cannot be had, or a socket not be bound.
    pub fn on(interface: &str) -> io::Result<Self> {
        let mut wire = Self {
            payload: vec![0; 65_535],
            ..Self::default()
        };
        for found in nix::ifaddrs::getifaddrs()?.filter(|a| a.interface_name == interface) {
            let Some(address) = found.address else { continue };
            if let Some(v4) = address.as_sockaddr_in()
                && wire.v4.is_none()
            {
                wire.v4 = Some(bound(v4.ip().into())?);
            } else if let Some(v6) = address.as_sockaddr_in6()
                && wire.v6.is_none()
                && !v6.ip().is_unicast_link_local()
            {
                wire.v6 = Some(bound(v6.ip().into())?);
            }
        }
        Ok(wire)
    }
}

fn bound(address: IpAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((address, 0))?;
    socket.set_nonblocking(true)?;
    // As large as the system permits: a burst should leave at once.
    let _ = socket2::SockRef::from(&socket).set_send_buffer_size(4 << 20);
    Ok(socket)
}

impl Wire for DeviceWire {
    fn send(&mut self, to: SocketAddr, payload: usize) -> io::Result<()> {
        let socket = if to.is_ipv4() { &self.v4 } else { &self.v6 };
        let socket = socket
            .as_ref()
            .ok_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable))?;
        // By their numbers captures tell them apart: a kernel identifies none of the packets of such a socket.
        self.payload[..8].copy_from_slice(&self.number.to_be_bytes());
        socket.send_to(&self.payload[..payload], to)?;
        self.number += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Remembers what was sent; errors come first.
    #[derive(Debug, Default)]
    struct Fake {
        sent: Vec<(SocketAddr, usize)>,
        errors: VecDeque<Option<io::ErrorKind>>,
    }

    impl Fake {
        fn failing(errors: &[Option<io::ErrorKind>]) -> Self {
            Self {
                errors: errors.iter().copied().collect(),
                ..Self::default()
            }
        }
    }

    impl Wire for &mut Fake {
        fn send(&mut self, to: SocketAddr, payload: usize) -> io::Result<()> {
            if let Some(Some(kind)) = self.errors.pop_front() {
                return Err(kind.into());
            }
            self.sent.push((to, payload));
            Ok(())
        }
    }

    fn settings() -> GateSettings {
        GateSettings {
            active: true,
            allow: vec!["192.0.2.0/24".parse().expect("a prefix")],
            bytes_per_minute: 15_000,
            ..GateSettings::default()
        }
    }

    fn burst(toward: &str, packets: u32) -> Burst {
        Burst {
            id: 7,
            at_ns: 0,
            toward: toward.parse().expect("an address"),
            packets,
            size: 1500,
        }
    }

    #[test]
    fn a_burst_leaves_as_datagrams_of_the_planned_length() {
        let mut fake = Fake::failing(&[None, None, Some(io::ErrorKind::WouldBlock)]);
        let mut sender = Sender::new(&mut fake, 9, settings());
        sender
            .start(burst("192.0.2.7", 4), Duration::ZERO, Time::ZERO)
            .expect("it is idle");
        assert_eq!(
            sender.start(burst("192.0.2.8", 1), Duration::ZERO, Time::ZERO),
            Err(Unsent::Busy)
        );
        assert_eq!(sender.pump(Time::ZERO), None);
        assert!(sender.is_busy());
        assert_eq!(sender.pump(Time::from_millis(1)), Some(Sent::All { id: 7, packets: 4 }));
        assert_eq!((sender.pump(Time::from_millis(2)), sender.totals()), (None, (4, 6000)));
        assert_eq!(fake.sent, [("192.0.2.7:9".parse().expect("an address"), 1472); 4]);
    }

    #[test]
    fn nothing_leaves_beyond_the_budget_the_list_or_when_passive_whatever_the_gate_said() {
        let unsent = |settings: GateSettings, burst: Burst| {
            let mut fake = Fake::default();
            let mut sender = Sender::new(&mut fake, 9, settings);
            sender.start(burst, Duration::ZERO, Time::ZERO).expect("it is idle");
            let sent = sender.pump(Time::ZERO);
            (sent, fake.sent.len())
        };
        let part = |packets, because| {
            let sent = Sent::Part {
                id: 7,
                packets,
                because,
            };
            (Some(sent), packets as usize)
        };
        let budget = Unsent::Guard(Refusal::Budget(1500, 0));
        assert_eq!(unsent(settings(), burst("192.0.2.7", 11)), part(10, budget));
        let foreign = Unsent::Guard(Refusal::NotAllowed);
        assert_eq!(unsent(settings(), burst("198.51.100.7", 1)), part(0, foreign));
        let passive = GateSettings {
            active: false,
            ..settings()
        };
        assert_eq!(
            unsent(passive, burst("192.0.2.7", 1)),
            part(0, Unsent::Guard(Refusal::Passive))
        );
        let mut fake = Fake::default();
        let mut sender = Sender::new(&mut fake, 9, settings());
        let stale = sender.start(burst("192.0.2.7", 1), STALE + Duration::from_nanos(1), Time::ZERO);
        assert_eq!((stale, sender.is_busy()), (Err(Unsent::Guard(Refusal::Stale)), false));
        let short = Burst {
            size: 27,
            ..burst("192.0.2.7", 1)
        };
        assert_eq!(unsent(settings(), short), part(0, Unsent::Guard(Refusal::BadPlan)));
    }

    #[test]
    fn what_does_not_leave_is_told_with_its_reason() {
        for (kind, because) in [
            (io::ErrorKind::NetworkDown, Unsent::NoWay(io::ErrorKind::NetworkDown)),
            (
                io::ErrorKind::PermissionDenied,
                Unsent::Refused(io::ErrorKind::PermissionDenied),
            ),
        ] {
            let mut fake = Fake::failing(&[None, Some(kind)]);
            let mut sender = Sender::new(&mut fake, 9, settings());
            sender
                .start(burst("192.0.2.7", 3), Duration::ZERO, Time::ZERO)
                .expect("it is idle");
            assert_eq!(
                sender.pump(Time::ZERO),
                Some(Sent::Part {
                    id: 7,
                    packets: 1,
                    because
                })
            );
        }
        let mut fake = Fake::failing(&[Some(io::ErrorKind::WouldBlock); 2]);
        let mut sender = Sender::new(&mut fake, 9, settings());
        sender
            .start(burst("192.0.2.7", 3), Duration::ZERO, Time::ZERO)
            .expect("it is idle");
        assert_eq!(sender.pump(Time::from_secs(2)), None);
        let because = Unsent::TooSlow;
        assert_eq!(
            sender.pump(Time::from_nanos(2_000_000_001)),
            Some(Sent::Part {
                id: 7,
                packets: 0,
                because
            })
        );
    }
}
