use super::*;
use crate::network::RoutePair;
use crate::traffic::flood::Flood;
use serde_json::{Value, json};

fn start(more: &Value) -> Run {
    let mut all = json!({"duration": "3s", "lead": "0s", "up": "1gbit", "down": "1gbit", "rtt": "1ms", "start_jitter": "0s",
        "wifi": {"stations": [{"name": "a", "rate": "ht mcs 15 20mhz sgi", "error": 0.2},
                              {"name": "b", "rate": "ht mcs 0 20mhz sgi", "error_up": 0.3}], "retries": 3}});
    for (key, value) in more.as_object().into_iter().flatten() {
        match (value, &mut all[key]) {
            (Value::Object(more), Value::Object(part)) => part.extend(more.clone()),
            (_, part) => *part = value.clone(),
        }
    }
    Run::new(Scenario::from_json(&all.to_string()).expect("valid")).expect("a network")
}

/// Packets offered are delivered, dropped, or still there.
#[test]
fn a_cell_loses_and_invents_no_packet() {
    let udp = |name: &str, direction: &str, station: &str, dscp: &str| json!({"name": name, "direction": direction, "station": station, "protocol": "udp", "rate": "90mbit", "dscp": dscp});
    let load = json!({"flows": [udp("1", "down", "a", "CS0"), udp("2", "down", "b", "EF"), udp("3", "up", "a", "CS1"),
                                udp("4", "up", "b", "CS6")]});
    for scheme in ["fifo", "fq_codel", "fq_mac", "airtime"] {
        let mut run = start(&json!({"flows": load["flows"], "wifi": {"scheme": scheme, "limit": 500}}));
        while let Progress::Running(_) = run.advance() {
            let s = &run.simulator;
            let radio = &s.fabric.radios[0];
            assert_eq!(radio.held, radio.cell.packets(), "{scheme}");
            let out = |way: usize| -> (u64, u64) {
                let meters = radio.meters.iter().map(|both| &both[way]);
                meters.fold((0, 0), |(n, drops), m| {
                    (n + m.hardware.count(), drops + m.drops.iter().sum::<u64>())
                })
            };
            let ((up, up_drops), (down, down_drops)) = (out(0), out(1));
            let on_wires: u64 = s
                .fabric
                .links
                .iter()
                .map(|l| l.line.len() as u64 + l.egress.as_ref().map_or(0, |e| e.meter.backlog().packets))
                .sum();
            let wire_drops: u64 = s
                .fabric
                .links
                .iter()
                .filter_map(|l| l.egress.as_ref())
                .map(|e| e.meter.dropped())
                .sum();
            let sent: u64 = s.sources::<Flood>().map(|f| f.measured().sent).sum();
            let received: u64 = s.sources::<Flood>().map(|f| f.measured().received).sum();
            assert_eq!(
                sent,
                received + up_drops + down_drops + wire_drops + radio.held + on_wires,
                "{scheme}: {up} up and {down} down"
            );
            assert!(down <= sent && up <= sent);
        }
        let drops: u64 = run.simulator.fabric.radios[0]
            .meters
            .iter()
            .flatten()
            .flat_map(|m| m.drops)
            .sum();
        assert!(drops > 1000, "{scheme}: the cell is overloaded, but dropped {drops}");
    }
}

/// Each TCP segment that is neither at its host nor dropped is in a queue, on a wire or in the cell: none is left
/// behind.
#[test]
fn dropped_packets_give_their_segments_back() {
    let tcp =
        |name: &str, direction: &str, station: &str| json!({"name": name, "direction": direction, "station": station});
    let flows = json!([
        tcp("1", "down", "a"),
        tcp("2", "down", "b"),
        tcp("3", "up", "a"),
        tcp("4", "up", "b")
    ]);
    for scheme in ["fifo", "airtime"] {
        let mut run = start(
            &json!({"flows": flows, "wifi": {"scheme": scheme, "driver_frames": 20, "limit": 40, "qdisc": if scheme == "fifo" { json!("pfifo limit 30") } else { Value::Null }}}),
        );
        while let Progress::Running(_) = run.advance() {}
        let s = &run.simulator;
        let drops: u64 = s.fabric.radios[0].meters.iter().flatten().flat_map(|m| m.drops).sum();
        assert!(drops > 20, "{scheme}: {drops}");
        let on_wires: usize = s
            .fabric
            .links
            .iter()
            .map(|l| l.line.len() + l.egress.as_ref().map_or(0, |e| e.meter.backlog().packets as usize))
            .sum();
        assert_eq!(
            s.segments_under_way(),
            on_wires + s.fabric.radios[0].held as usize,
            "{scheme}"
        );
    }
}

/// Of each flow, probe, web client and download: the identity of what its opener sends, and of what comes back.
fn identities(more: &Value) -> Vec<[crate::Identity; 2]> {
    let mut all = json!({"duration": "1s", "up": "10mbit", "down": "10mbit", "rtt": "20ms"});
    all.as_object_mut()
        .expect("an object")
        .extend(more.as_object().expect("an object").clone());
    let run = Run::new(Scenario::from_json(&all.to_string()).expect("valid")).expect("a network");
    let of = |routes: RoutePair| routes.both().map(|route| run.simulator.identity(route));
    run.places.traffic.iter().map(|added| of(added.routes)).collect()
}

#[test]
fn packets_are_of_the_hosts_and_the_code_point_that_their_traffic_has() {
    let found = identities(&json!({
        "flows": [
            {"name": "a", "direction": "up"},
            {"name": "b", "direction": "down", "client": 2, "dscp": "CS1"},
            {"name": "c", "direction": "up", "client": 2, "server": 2},
            {"name": "d", "direction": "up", "rtt": "90ms"},
        ],
        "probes": [{"name": "p", "kind": "icmp", "server": 2, "dscp": 46}],
        "web": [{"name": "w", "objects": [1], "client": 2, "server": 2}],
        "downloads": [{"name": "f", "direction": "down", "bytes": 1, "gap": "1s"}],
    }));
    let [plain, down, both, far, ping, page, file] = found.try_into().expect("seven pairs of routes");
    for [forth, back] in [plain, down, both, far, ping, page, file] {
        assert_eq!(back, forth.reversed());
        assert_ne!(forth.source, forth.destination);
    }
    let marks = [plain, down, both, ping].map(|pair| pair[0].dscp);
    assert_eq!(marks, [0, 8, 0, 46]);
    assert_eq!(down[0].source, plain[0].destination, "one server");
    assert_ne!(down[0].destination, plain[0].source, "two clients");
    assert_eq!(both[0].source, down[0].destination);
    assert_eq!(both[0].destination, ping[0].destination);
    assert_ne!(both[0].destination, plain[0].destination, "two servers");
    assert_eq!(far[0].source, plain[0].source);
    assert_ne!(
        far[0].destination, plain[0].destination,
        "a server has another address for another RTT"
    );
    assert_eq!(page[0], both[0]);
    assert_eq!(
        file[0], plain[1],
        "a file down goes as the acknowledgements of a flow up"
    );
}
