//! A congestion control of one's own: Reno with two numbers of one's own, increase by two segments and decrease to 0.8.
//!
//! ```sh
//! cargo run --release -p sojourn-sim --example own_control
//! ```

use sojourn_tcp::cc::{Ack, CongestionControl, Needs, OwnControl, Window, register};

/// Additive increase of `increase` segments a round trip, multiplicative decrease to `decrease` of the window.
#[derive(Clone, Debug)]
struct Aimd {
    increase: u32,
    decrease: f64,
}

impl CongestionControl for Aimd {
    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
        }
        if acked > 0 {
            let round = window.cwnd;
            window.additive_increase((round / self.increase).max(1), acked);
        }
    }

    fn reduce(&mut self, window: &Window) -> u32 {
        ((f64::from(window.cwnd) * self.decrease) as u32).max(2)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    register(OwnControl {
        name: "aimd-2-08",
        needs: Needs::NONE,
        scalable: false,
        build: || {
            Box::new(Aimd {
                increase: 2,
                decrease: 0.8,
            })
        },
    })?;
    // One flow of each on a link of 20 Mbit/s and 50 ms with a queue of one bandwidth-delay product.
    let flow = |name: &str| format!(r#"{{"name": "{name}", "direction": "up", "congestion_control": "{name}"}}"#);
    let flows = ["reno", "aimd-2-08"].map(flow).join(", ");
    let text = format!(r#"{{"duration": "60s", "up": "20mbit", "qdisc_up": "pfifo limit 83", "flows": [{flows}]}}"#);
    let record = sojourn_sim::run(sojourn_sim::Scenario::from_json(&text)?)?;
    for flow in &record.flows {
        println!("{}: {:.2} Mbit/s", flow.congestion_control, flow.goodput_mbit);
    }
    Ok(())
}
