//! A transport of one's own beside TCP: a sender that paces datagrams, adds to its rate each second, and halves it on
//! a loss. Both go through FQ-CoDel at 10 Mbit/s. It prints, of both, the goodput and the mean sojourn time in the
//! queue.
//!
//! ```sh
//! cargo run --release -p sojourn-sim --example own_endpoint
//! ```

use sojourn_sim::network::EgressSpec;
use sojourn_sim::sojourn_qdisc::QdiscSpec;
use sojourn_sim::sojourn_units::{Duration, Rate, Time};
use sojourn_sim::topology::{DumbbellSpec, dumbbell};
use sojourn_sim::{Agent, AgentSpec, Datagram, FlowSpec, Simulator};

/// The sender: datagrams of 1514 bytes, 1448 of them data, each with its number; `rate` of them a second, and 100 at
/// least.
#[derive(Default)]
struct Paced {
    rate: f64,
    due: Time,
    sent: u64,
    expected: u64,
    halved_at: u64,
}

impl Agent for Paced {
    fn on_datagram(&mut self, echo: Datagram, _: Time) {
        let number = u64::from_le_bytes(echo.payload.try_into().expect("eight bytes"));
        // The path keeps the order, so a gap is a loss. A loss among the packets that were sent before the last halving
        // belongs to the same event.
        if number > self.expected && number >= self.halved_at {
            (self.rate, self.halved_at) = (self.rate / 2.0, self.sent);
        }
        // Each second, 20 a second more.
        (self.rate, self.expected) = (self.rate + 20.0 / self.rate.max(100.0), number + 1);
    }
    fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
        let number = (self.due <= now).then_some(self.sent)?;
        self.due = now + Duration::from_secs_f64(1.0 / self.rate.max(100.0));
        self.sent += 1;
        Some(Datagram::new(1514, number.to_le_bytes().to_vec()))
    }
    fn poll_timeout(&mut self) -> Option<Time> {
        Some(self.due)
    }
}

/// The receiver sends each number back.
struct Echo(Option<Datagram>);

impl Agent for Echo {
    fn on_datagram(&mut self, datagram: Datagram, _: Time) {
        self.0 = Some(Datagram::udp(datagram.payload));
    }
    fn poll_transmit(&mut self, _: Time) -> Option<Datagram> {
        self.0.take()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let side = EgressSpec::new(Rate::from_mbit(10), QdiscSpec::parse("fq_codel", None)?);
    let net = dumbbell(&DumbbellSpec::new(side.clone(), side, Duration::from_millis(50)), None);
    let (up, down) = (net.paths[0].up.links(), net.paths[0].down.links());
    let mut sim = Simulator::new(net.topology.network(), 1, Duration::from_millis(100))?;
    let cubic = sim.add_flow(FlowSpec::bulk("cubic", &up, &down))?;
    let paced = sim.add_agents(&AgentSpec::new("paced", &up, &down), Paced::default(), Echo(None))?;
    sim.run_until(Time::from_secs(60));
    let queue = sim.egress_stats(net.up).ok_or("no queue")?;
    for (name, added) in [("cubic", cubic), ("paced", paced)] {
        let of = queue.route(added.routes.forth);
        let mbit = of.sent as f64 * 1448.0 * 8.0 / 60e6;
        println!(
            "{name}: {mbit:.2} Mbit/s, {:.1} ms in the queue",
            of.sojourn_mean_ms.unwrap_or(f64::NAN)
        );
    }
    Ok(())
}
