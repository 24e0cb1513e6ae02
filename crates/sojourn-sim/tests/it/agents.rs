//! Transports of others on the simulated network.

use sojourn_qdisc::{DropReason, QdiscSpec};
use sojourn_sim::agent::{Agent, AgentSpec, Datagram};
use sojourn_sim::network::{EgressSpec, LinkId, LinkSpec, Network, Shaping};
use sojourn_sim::simulator::{FlowSpec, Simulator};
use sojourn_units::{Duration, Ecn, Rate, Time};

/// Sends full datagrams at multiples of `gap`, `burst` at a time, each with its number.
#[derive(Debug)]
struct Ticker {
    gap: Duration,
    burst: u32,
    ecn: Ecn,
    due: Time,
    waiting: u32,
    sent: u32,
}

impl Ticker {
    fn new(gap: Duration, burst: u32, ecn: Ecn) -> Self {
        Self {
            gap,
            burst,
            ecn,
            due: Time::MAX,
            waiting: 0,
            sent: 0,
        }
    }
}

impl Agent for Ticker {
    fn on_datagram(&mut self, _: Datagram, _: Time) {
        panic!("nobody answers");
    }
    fn poll_transmit(&mut self, _: Time) -> Option<Datagram> {
        self.waiting = self.waiting.checked_sub(1)?;
        self.sent += 1;
        let mut payload = vec![0; 1472];
        payload[..4].copy_from_slice(&(self.sent - 1).to_le_bytes());
        Some(Datagram {
            ecn: self.ecn,
            ..Datagram::udp(payload)
        })
    }
    fn poll_timeout(&mut self) -> Option<Time> {
        Some(self.due)
    }
    fn on_timeout(&mut self, now: Time) {
        self.waiting += self.burst;
        self.due = now + self.gap;
    }
}

/// Notes when which datagram has come.
#[derive(Debug, Default)]
struct Listener {
    started: Option<Time>,
    heard: Vec<(Time, u32, Ecn)>,
}

impl Agent for Listener {
    fn on_datagram(&mut self, datagram: Datagram, now: Time) {
        assert_eq!((datagram.size, datagram.payload.len()), (1514, 1472));
        let number = datagram.payload[..4].try_into().expect("four bytes");
        self.heard.push((now, u32::from_le_bytes(number), datagram.ecn));
    }
    fn poll_transmit(&mut self, _: Time) -> Option<Datagram> {
        None
    }
    fn on_timeout(&mut self, now: Time) {
        self.started = Some(now);
    }
}

/// A wire of 10 Mbit/s behind `qdisc` and 10 ms in one direction, 10 ms back, and the links.
fn wire(qdisc: &str) -> (Simulator, LinkId, LinkId) {
    let mut net = Network::default();
    let (a, b) = (net.add_node("a"), net.add_node("b"));
    let egress = EgressSpec {
        shaping: Shaping::Wire,
        name: Some("forth".into()),
        ..EgressSpec::new(Rate::from_mbit(10), QdiscSpec::parse(qdisc, None).expect("valid"))
    };
    let (delay, tick) = (Duration::from_millis(10), Duration::ZERO);
    let forth = net.add_link(LinkSpec {
        from: a,
        to: b,
        egress: Some(egress),
        delay,
        tick,
    });
    let back = net.add_link(LinkSpec {
        from: b,
        to: a,
        egress: None,
        delay,
        tick,
    });
    let simulator = Simulator::new(&net, 1, Duration::from_millis(100)).expect("a network");
    (simulator, forth, back)
}

fn spec(name: &str, forth: LinkId, back: LinkId) -> AgentSpec {
    AgentSpec {
        start: Time::from_millis(7),
        ..AgentSpec::new(name, &[forth], &[back])
    }
}

/// By hand: 1514 bytes at 10 Mbit/s are 1,211,200 ns. Of a burst, each waits for those before it.
#[test]
fn datagrams_take_their_time_on_the_wire_and_the_delay() {
    let (mut sim, forth, back) = wire("pfifo limit 100");
    let ticker = Ticker::new(Duration::from_millis(20), 2, Ecn::NotEct);
    let added = sim
        .add_agents(&spec("ticks", forth, back), ticker, Listener::default())
        .expect("two routes");
    sim.run_until(Time::from_millis(40));
    let listener: &Listener = sim.agent(added.index, false).expect("it listens");
    assert_eq!(listener.started, Some(Time::from_millis(7)));
    let at = |ms: u64, frames: u64| Time::from_nanos(ms * 1_000_000 + frames * 1_211_200);
    let expected = [(at(17, 1), 0), (at(17, 2), 1), (at(37, 1), 2), (at(37, 2), 3)];
    let heard: Vec<(Time, u32)> = listener.heard.iter().map(|h| (h.0, h.1)).collect();
    assert_eq!(heard, expected);
    let stats = sim.egress_stats(forth).expect("it has an egress");
    let route = stats.route(added.routes.forth);
    assert_eq!((stats.packets(), stats.bytes(), route.sent), (4, 4 * 1514, 4));
    // The second of each burst waited for the first.
    assert!(
        (route.sojourn_max_ms.unwrap() - 1.2112).abs() < 1e-9 && (route.sojourn_mean_ms.unwrap() - 0.6056).abs() < 1e-9
    );
    assert!(sim.egress_stats(back).is_none());
}

#[test]
fn an_agent_is_found_by_its_type_and_side() {
    let (mut sim, forth, back) = wire("pfifo limit 100");
    let ticker = Ticker::new(Duration::from_millis(20), 2, Ecn::NotEct);
    sim.add_agents(&spec("ticks", forth, back), ticker, Listener::default())
        .expect("two routes");
    assert!(sim.agent::<Ticker>(0, true).is_some() && sim.agent::<Listener>(0, false).is_some());
    assert!(sim.agent::<Listener>(0, true).is_none() && sim.agent::<Ticker>(1, true).is_none());
}

#[test]
fn datagrams_arrive_once_and_in_order_or_are_dropped() {
    for (qdisc, reason) in [
        ("pfifo limit 20", DropReason::QueueLimit),
        ("codel noecn", DropReason::Congestion),
    ] {
        let (mut sim, forth, back) = wire(qdisc);
        // 12.1 Mbit/s, beside a TCP flow.
        let ticker = Ticker::new(Duration::from_millis(1), 1, Ecn::Ect0);
        let added = sim
            .add_agents(&spec("ticks", forth, back), ticker, Listener::default())
            .expect("two routes");
        sim.add_flow(FlowSpec::bulk("tcp", &[forth], &[back]))
            .expect("two routes");
        sim.run_until(Time::from_secs(20));
        let sent = sim.agent::<Ticker>(0, true).expect("it ticks").sent;
        let heard = &sim.agent::<Listener>(0, false).expect("it listens").heard;
        assert!(heard.is_sorted_by(|a, b| a.1 < b.1), "{qdisc}");
        let stats = sim.egress_stats(forth).expect("it has an egress");
        let route = stats.route(added.routes.forth);
        assert!(
            stats.drops(reason) > 1000 && stats.drops(reason) == stats.dropped(),
            "{qdisc}"
        );
        let inside = u64::from(sent) - heard.len() as u64 - route.dropped;
        // In the queue, and in 10 ms of delay and a frame.
        assert!(inside <= stats.backlog().packets + 10, "{qdisc}: {inside}");
        assert!(stats.backlog_max().packets >= stats.backlog().packets);
        assert!(stats.sojourn_mean_ms() <= stats.sojourn_quantile_ms(1.0) && stats.sojourn_max_ms().unwrap() < 2000.0);
    }
}

#[test]
fn a_discipline_marks_what_is_capable_and_the_mark_arrives() {
    let (mut sim, forth, back) = wire("codel ecn");
    let ticker = Ticker::new(Duration::from_millis(1), 1, Ecn::Ect0);
    sim.add_agents(&spec("ticks", forth, back), ticker, Listener::default())
        .expect("two routes");
    sim.run_until(Time::from_secs(5));
    let marks = sim.egress_stats(forth).expect("it has an egress").marks();
    let heard = &sim.agent::<Listener>(0, false).expect("it listens").heard;
    let marked = heard.iter().filter(|h| h.2 == Ecn::Ce).count() as u64;
    // Marks that have left the queue are on the wire for 10 ms and a frame, some nine frames.
    assert!(
        marked > 10 && marked <= marks && marks <= marked + 9,
        "{marked} of {marks}"
    );
}

/// The measured window ends: TCP has stopped, and so have agents.
#[test]
fn nothing_is_sent_after_the_window() {
    let (mut sim, forth, back) = wire("pfifo limit 100");
    let ticker = Ticker::new(Duration::from_millis(1), 1, Ecn::NotEct);
    sim.add_agents(&spec("ticks", forth, back), ticker, Listener::default())
        .expect("two routes");
    sim.begin_window(Time::ZERO);
    sim.run_until(Time::from_secs(1));
    sim.end_window(Time::from_secs(1));
    let count = |sim: &Simulator| sim.agent::<Ticker>(0, true).map(|t| t.sent);
    let before = count(&sim);
    sim.run_until(Time::from_secs(2));
    assert_eq!((count(&sim), sim.carries_packets()), (before, false));
}

/// Asks for the time that it is.
struct Impatient(Time);

impl Agent for Impatient {
    fn on_datagram(&mut self, _: Datagram, _: Time) {}
    fn poll_transmit(&mut self, _: Time) -> Option<Datagram> {
        None
    }
    fn poll_timeout(&mut self) -> Option<Time> {
        Some(self.0)
    }
    fn on_timeout(&mut self, now: Time) {
        self.0 = now;
    }
}

#[test]
#[should_panic(expected = "an agent asks for a timer at 0.007000000s, which has just gone off")]
fn a_timer_that_would_go_off_for_ever_is_refused() {
    let (mut sim, forth, back) = wire("pfifo limit 100");
    sim.add_agents(&spec("hurry", forth, back), Impatient(Time::ZERO), Listener::default())
        .expect("two routes");
    sim.run_until(Time::from_secs(1));
}
