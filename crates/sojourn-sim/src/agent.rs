//! Transports of others: a simulation carries their datagrams beside its own traffic.
//!
//! An [`Agent`] is one end of a conversation, as a plain value that is told the time: it opens no socket and reads no
//! clock. [`crate::simulator::Simulator::add_agents`] puts two of them at the ends of a path.

mod end;

use crate::network::LinkId;
pub(crate) use end::{AgentEnd, EndCounts};

use sojourn_scenario::{Step, UDP_FRAME, UDP_PAYLOAD};
use sojourn_units::{Duration, Ecn, Rate, Time};
use std::any::Any;

/// What a datagram has around its payload on the wire: Ethernet, IPv4 and UDP headers, bytes.
const HEADERS: usize = (UDP_FRAME - UDP_PAYLOAD) as usize;

/// A datagram from one [`Agent`] to the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Size on the wire, Ethernet header included, bytes. Links and queues know this size only.
    pub size: u16,
    /// The codepoint with which it leaves, and that with which it arrives.
    pub ecn: Ecn,
    /// What the other end gets. The network does not look at it.
    pub payload: Vec<u8>,
}

impl Datagram {
    /// A datagram of `size` bytes on the wire that is not ECN-capable. Its payload may be shorter than it claims to
    /// be, so that a transport which is only simulated carries no padding.
    #[must_use]
    pub fn new(size: u16, payload: Vec<u8>) -> Self {
        Self {
            size,
            ecn: Ecn::NotEct,
            payload,
        }
    }

    /// A UDP datagram over IPv4 that is not ECN-capable: 42 bytes of headers before its payload.
    ///
    /// ```
    /// assert_eq!(sojourn_sim::agent::Datagram::udp(vec![0; 1472]).size, 1514);
    /// ```
    ///
    /// # Panics
    /// If the payload has more than 65,493 bytes.
    #[must_use]
    pub fn udp(payload: Vec<u8>) -> Self {
        let size = u16::try_from(payload.len() + HEADERS).expect("a payload has at most 65,493 bytes");
        Self::new(size, payload)
    }
}

/// One end of a conversation whose algorithm is not of this crate, such as a QUIC connection.
///
/// The simulator calls it at the start of the conversation ([`Agent::on_timeout`]), when a datagram arrives and when
/// its timer goes off. After each of these calls it takes what the agent wants to send, until there is nothing more,
/// and then asks for the next timer. Whatever is random in an agent must come from a seed; then a run repeats to the
/// byte.
pub trait Agent: Any + Send {
    /// A datagram has arrived.
    fn on_datagram(&mut self, datagram: Datagram, now: Time);

    /// The next datagram to send now; `None` if there is none, or if it must wait for a timer or a datagram.
    fn poll_transmit(&mut self, now: Time) -> Option<Datagram>;

    /// When [`Agent::on_timeout`] is to be called next; `None` for never. A time that has passed is due at once.
    fn poll_timeout(&mut self) -> Option<Time> {
        None
    }

    /// The conversation starts, or the time of [`Agent::poll_timeout`] has come. All timers that are due go off here:
    /// what [`Agent::poll_timeout`] answers next must be later than `now`.
    fn on_timeout(&mut self, now: Time) {
        let _ = now;
    }

    /// The application of the opener makes more to send, closes or gives up, as a flow of a scenario says.
    fn on_application(&mut self, step: Step, now: Time) {
        let _ = (step, now);
    }

    /// What it knows of itself, for the record of a scenario.
    fn report(&self) -> Report {
        Report::default()
    }
}

/// What an [`Agent`] knows of itself. `None` is what it does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Payload that has arrived and that its application has read, bytes.
    pub delivered: u64,
    /// Congestion window, bytes.
    pub window: Option<u64>,
    /// Largest payload of a datagram now, bytes: in such units a record has windows (RFC 9002, `max_datagram_size`).
    pub datagram: Option<u16>,
    /// What is sent and neither acknowledged nor taken for lost, bytes.
    pub in_flight: Option<u64>,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Pacing rate.
    pub pacing_rate: Option<Rate>,
    /// Packets that it took for lost.
    pub lost: Option<u64>,
    /// Probe time-outs (RFC 9002, section 6.2).
    pub timeouts: Option<u64>,
    /// Why the conversation ended early, if it did.
    pub error: Option<String>,
}

/// A conversation of two agents, as [`crate::simulator::FlowSpec`] is one of TCP.
///
/// Both directions are one flow for disciplines that hash: each direction has one hash, drawn from the seed and the
/// name.
#[derive(Clone, Debug)]
pub struct AgentSpec {
    /// Unique name.
    pub name: String,
    /// From the opener to the other end.
    pub route: Vec<LinkId>,
    /// And back.
    pub back: Vec<LinkId>,
    /// When [`Agent::on_timeout`] is first called, at the opener first.
    pub start: Time,
}

impl AgentSpec {
    /// A conversation that starts with the run.
    #[must_use]
    pub fn new(name: &str, route: &[LinkId], back: &[LinkId]) -> Self {
        Self {
            name: name.to_owned(),
            route: route.to_vec(),
            back: back.to_vec(),
            start: Time::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::EgressSpec;
    use crate::simulator::Simulator;
    use crate::topology::{DumbbellSpec, dumbbell};
    use sojourn_qdisc::QdiscSpec;
    use sojourn_scenario::Impairment;
    use sojourn_units::{Duration, Rate, Time};

    /// A datagram each millisecond.
    struct Ticker(Time);

    impl Agent for Ticker {
        fn on_datagram(&mut self, _: Datagram, _: Time) {}
        fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
            (self.0 <= now).then(|| {
                self.0 = now + Duration::from_millis(1);
                Datagram::new(1514, vec![1])
            })
        }
        fn poll_timeout(&mut self) -> Option<Time> {
            Some(self.0)
        }
    }

    /// Payloads are given back, whether a datagram arrives, is refused, or is lost on the way.
    #[test]
    fn no_payload_is_kept_of_what_is_no_longer_under_way() {
        let qdisc = QdiscSpec::parse("pfifo limit 5", None).expect("valid");
        let mut side = EgressSpec::new(Rate::from_mbit(1), qdisc);
        side.impairment = Impairment {
            loss: 0.3,
            ..Impairment::default()
        };
        let net = dumbbell(&DumbbellSpec::new(side.clone(), side, Duration::from_millis(10)), None);
        let (up, down) = (net.paths[0].up.links(), net.paths[0].down.links());
        let mut sim = Simulator::new(net.topology.network(), 1, Duration::from_secs(1)).expect("a network");
        let spec = AgentSpec::new("ticks", &up, &down);
        sim.add_agents(&spec, Ticker(Time::ZERO), Ticker(Time::ZERO))
            .expect("two routes");
        sim.run_until(Time::from_secs(5));
        let stats = sim.egress_stats(net.up).expect("a queue");
        assert!(stats.dropped() > 1000 && stats.packets() > 300);
        let lost = sim
            .fabric
            .links
            .iter()
            .filter_map(|link| link.weather())
            .map(|w| w.lost)
            .sum::<u64>();
        assert!(lost > 100);
        // Of each direction: five in the queue, and one on a link of 5 ms, where a frame comes each 12 ms.
        assert!(
            (1..=12).contains(&sim.segments_under_way()),
            "{}",
            sim.segments_under_way()
        );
    }
}
