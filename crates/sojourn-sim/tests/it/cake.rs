//! CAKE on a link, against arithmetic: its rate, the shares of hosts, and acknowledgements that it leaves out.

use crate::common::{FRAME, PAYLOAD, record, with};
use serde_json::{Value, json};

/// A link of 20 Mbit/s with these keys too.
fn link(more: Value) -> Value {
    let base = json!({"duration": "20s", "up": "20mbit", "down": "20mbit", "rtt": "30ms"});
    with(&base, more)
}

#[test]
fn it_shapes_inside_a_faster_link() {
    let flows = json!([{"name": "a", "direction": "up"}, {"name": "b", "direction": "up"}]);
    let r = record(&link(json!({"flows": flows, "qdisc_up": "cake bandwidth 18mbit"})));
    let most = 18.0 * PAYLOAD / FRAME;
    let found = r.summary.goodput_up_mbit;
    assert!(
        (0.95 * most..=1.001 * most).contains(&found),
        "{found} of {most} Mbit/s"
    );
    // With an overhead of 48 bytes from the IP header on, in cells of ATM, 1500 bytes become 1749.
    let r = record(&link(
        json!({"flows": flows, "qdisc_up": "cake bandwidth 18mbit conservative"}),
    ));
    let most = 18.0 * PAYLOAD / 1749.0;
    let found = r.summary.goodput_up_mbit;
    assert!(
        (0.95 * most..=1.001 * most).contains(&found),
        "{found} of {most} Mbit/s"
    );
}

#[test]
fn a_host_with_one_flow_gets_as_much_as_one_with_three() {
    let share = |mode: &str| {
        let flow = |name: &str, client: u64| json!({"name": name, "direction": "up", "client": client});
        let flows = json!([flow("a", 1), flow("b", 1), flow("c", 1), flow("alone", 2)]);
        let r = record(&link(
            json!({"flows": flows, "qdisc_up": format!("cake bandwidth 18mbit {mode}")}),
        ));
        let all: f64 = r.flows.iter().map(|flow| flow.goodput_mbit).sum();
        r.flows[3].goodput_mbit / all
    };
    for (mode, expected) in [
        ("flows", 0.25),
        ("dual-dsthost", 0.25),
        ("dual-srchost", 0.5),
        // Both hosts send to one server, which has four bulk flows: the busier host of each flow counts.
        ("triple-isolate", 0.25),
    ] {
        let found = share(mode);
        assert!((found - expected).abs() < 0.03, "{mode}: {found}");
    }
}

/// A download of 20 Mbit/s has 860 acknowledgements a second, one for two segments: 455 kbit/s of them. Half of these
/// fit through an upload of 230 kbit/s.
#[test]
fn superfluous_acknowledgements_do_not_slow_a_download() {
    let down = |filter: &str| {
        let more = json!({
            "up": "230kbit", "flows": [{"name": "a", "direction": "down"}], "qdisc_up": format!("cake {filter}"),
        });
        let r = record(&link(more));
        (r.summary.goodput_down_mbit, r.bottleneck.up.extra["ack_drops"])
    };
    let (plain, none) = down("no-ack-filter");
    assert!(none < 0.5, "{none} were left out");
    let most = 20.0 * PAYLOAD / FRAME;
    for filter in ["ack-filter", "ack-filter-aggressive"] {
        let (filtered, left_out) = down(filter);
        assert!(left_out > 1000.0, "{filter}: {left_out} were left out");
        assert!(
            filtered > 0.9 * most && filtered > plain - 0.2,
            "{filter}: {filtered} Mbit/s, {plain} without"
        );
    }
}
