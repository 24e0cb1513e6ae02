//! Cells, what goes through them, and UDP flows.

use super::cases::{base, check, error, flow};
use crate::common::with;
use serde_json::{Value, json};
use sojourn_sim::{Backend, Scenario};

const FAST: &str = "ht mcs 15 20mhz sgi";

/// A cell with these keys, of two stations if it names none.
fn wifi(more: Value) -> Value {
    let two = json!({"stations": [{"name": "a", "rate": FAST}, {"name": "b", "rate": FAST}]});
    with(&base(), json!({"wifi": with(&two, more)}))
}

/// The same with these keys in its second station.
fn station(more: Value) -> Value {
    wifi(json!({"stations": [{"name": "a", "rate": FAST}, with(&json!({"name": "b", "rate": FAST}), more)]}))
}

fn wifi_flow(more: Value) -> Value {
    with(
        &wifi(json!({})),
        json!({"flows": [with(&json!({"name": "f", "direction": "down"}), more)]}),
    )
}

fn canonical(scenario: &Value) -> Value {
    let valid = Scenario::from_json(&scenario.to_string()).unwrap_or_else(|e| panic!("{e}: {scenario}"));
    serde_json::from_str(&valid.to_json()).expect("JSON")
}

#[test]
fn stations_are_checked() {
    check(&[
        (
            wifi(json!({"stations": []})),
            "wifi.stations is 0 stations, but must be 1 to 2007 stations",
        ),
        (
            station(json!({"rate": "ht mcs 99"})),
            "wifi.stations[1].rate is \"ht mcs 99\", but HT has MCS 0 to 31",
        ),
        (
            station(json!({"rate_up": "vht mcs 9 20mhz"})),
            "wifi.stations[1].rate_up is \"vht mcs 9 20mhz\", but the standard leaves this combination of MCS, streams and \
             width out (IEEE 802.11-2020 section 21.5)",
        ),
        (
            wifi(json!({"stations": [{"name": "a"}]})),
            "wifi.stations[0].rate is missing, but must be given, such as \"ht mcs 15 20mhz sgi\"",
        ),
        (
            station(json!({"name": "a"})),
            "wifi.stations[1].name is \"a\", but must be a name that no other station has",
        ),
        (
            station(json!({"name": "b c"})),
            "wifi.stations[1].name is \"b c\", but must be 1 to 64 letters, digits, '_', '-' or '.'",
        ),
        (
            station(json!({"weight": 0})),
            "wifi.stations[1].weight is 0, but must be 1 to 65535",
        ),
        (
            station(json!({"error": 1})),
            "wifi.stations[1].error is 1, but must be 0 to below 1",
        ),
        (
            station(json!({"error_up": -0.1})),
            "wifi.stations[1].error_up is -0.1, but must be 0 to below 1",
        ),
        (
            station(json!({"fade": "60ms"})),
            "wifi.stations[1].fade is 60ms, but must be left out without wifi.stations[1].fade_gap",
        ),
        (
            station(json!({"fade_gap": "25s"})),
            "wifi.stations[1].fade_gap is 25s, but must be left out without wifi.stations[1].fade",
        ),
        (
            station(json!({"fade_error": 0.5})),
            "wifi.stations[1].fade_error is 0.5, but must be left out without wifi.stations[1].fade",
        ),
        (
            station(json!({"fade": "1us", "fade_gap": "1s"})),
            "wifi.stations[1].fade is 1us, but must be 100us to 3600s",
        ),
        (
            station(json!({"fade": "1ms", "fade_gap": "1s", "fade_error": 1.5})),
            "wifi.stations[1].fade_error is 1.5, but must be above 0 and up to 1",
        ),
        (
            station(json!({"scheme": "fair"})),
            "wifi.stations[1].scheme is \"fair\", but must be \"fifo\", \"fq_codel\", \"fq_mac\" or \"airtime\"",
        ),
        (
            station(json!({"driver_frames": 0})),
            "wifi.stations[1].driver_frames is 0, but must be 1 to 65536",
        ),
        (
            station(json!({"qdisc": "cake nat"})),
            "wifi.stations[1].qdisc is \"cake nat\", but a cell has only disciplines that are modelled",
        ),
        (
            station(json!({"speed": 1})),
            "key \"wifi.stations[1].speed\" is unknown, but must be one of name, rate, rate_up, error, error_up, fade, fade_gap, fade_error, \
             weight, group, min_rate, scheme, qdisc, driver_frames, aggregate_frames",
        ),
        (
            station(json!({"aggregate_frames": 0})),
            "wifi.stations[1].aggregate_frames is 0, but must be 1 to 64 (the Block Ack window)",
        ),
        (
            wifi(json!({"stations": [["a"]]})),
            "wifi.stations[0] is a list, but must be an object",
        ),
    ]);
}

#[test]
fn what_all_nodes_share_is_checked() {
    check(&[
        (
            with(&base(), json!({"wifi": [1]})),
            "wifi is a list, but must be an object",
        ),
        (
            wifi(json!({"scheme": "best"})),
            "wifi.scheme is \"best\", but must be \"fifo\", \"fq_codel\", \"fq_mac\" or \"airtime\"",
        ),
        (
            wifi(json!({"qdisc": "pfifo limit 5"})),
            "wifi.qdisc is \"pfifo limit 5\", but must be left out with the scheme airtime, which has none",
        ),
        (
            with(&wifi(json!({})), json!({"tcp": {"mss": 2245}})),
            "tcp.mss is 2245, but must be at most 2244 with wifi, whose MSDUs have 2304 bytes at most",
        ),
        (
            wifi(json!({"band": "6ghz"})),
            "wifi.band is \"6ghz\", but must be \"5ghz\" or \"2.4ghz\"",
        ),
        (
            wifi(json!({"rate_control": "minstrel"})),
            "wifi.rate_control is \"minstrel\", but must be \"fixed\" or \"simple\"",
        ),
        (
            wifi(json!({"aggregate_frames": 65})),
            "wifi.aggregate_frames is 65, but must be 1 to 64 (the Block Ack window)",
        ),
        (
            wifi(json!({"aggregate_time": "6ms"})),
            "wifi.aggregate_time is 6ms, but must be 1ns to 5.484ms (the longest PPDU)",
        ),
        (wifi(json!({"retries": 0})), "wifi.retries is 0, but must be 1 to 255"),
        (
            wifi(json!({"retries": 256})),
            "wifi.retries is 256, but must be a whole number from 0 to 255",
        ),
        (
            wifi(json!({"airtime_quantum": "0s"})),
            "wifi.airtime_quantum is 0s, but must be 1us to 1s",
        ),
        (
            wifi(json!({"variant": "linux"})),
            "wifi.variant is \"linux\", but must be \"paper\" or \"linux-6.12\"",
        ),
        (
            wifi(json!({"variant": "linux-6.12", "airtime_quantum": "300us"})),
            "wifi.airtime_quantum is 300us, but must be left out with the variant \"linux-6.12\", where a turn is the weight in microseconds",
        ),
        (
            wifi(json!({"variant": "linux-6.12", "scheduler": "credit"})),
            "wifi.variant is \"linux-6.12\", but must be \"paper\" where groups, a scheduler or another policy are set, which Linux does not have",
        ),
        (
            wifi(json!({"airtime_tx": 1})),
            "wifi.airtime_tx is 1, but must be true or false",
        ),
        (
            wifi(json!({"edca": {"ap": {"be": {"cw_min": 14}}}})),
            "wifi.edca.ap.be.cw_min is 14, but must be a power of two less one, 0 to 32767",
        ),
        (
            wifi(json!({"edca": {"station": {"vo": {"txop": "9ms"}}}})),
            "wifi.edca.station.vo.txop is 9ms, but must be 0s to 8.16ms",
        ),
        (
            wifi(json!({"edca": {"ap": {"be": [3]}}})),
            "wifi.edca.ap.be is a list, but must be an object",
        ),
        (
            wifi(json!({"edca": {"sta": {}}})),
            "key \"wifi.edca.sta\" is unknown, but must be one of ap or station",
        ),
    ]);
}

#[test]
fn stations_and_code_points_of_traffic_are_checked() {
    let rule = "0 to 63, or a name: CS0 to CS7, AF11 to AF43, EF, VA or LE";
    check(&[
        (
            wifi_flow(json!({"station": "c"})),
            "flows[0].station is \"c\", but must be the name of one of wifi.stations",
        ),
        (
            wifi_flow(json!({"dscp": 64})),
            &format!("flows[0].dscp is 64, but must be {rule}"),
        ),
        (
            wifi_flow(json!({"dscp": -1})),
            &format!("flows[0].dscp is -1, but must be {rule}"),
        ),
        (
            wifi_flow(json!({"dscp": 1.5})),
            &format!("flows[0].dscp is 1.5, but must be {rule}"),
        ),
        (
            wifi_flow(json!({"dscp": "CS8"})),
            &format!("flows[0].dscp is \"CS8\", but must be {rule}"),
        ),
        (
            flow(json!({"station": "a"})),
            "flows[0].station is \"a\", but must be absent without wifi",
        ),
        (
            wifi_flow(json!({"client": 1})),
            "flows[0].client is 1, but must be absent with wifi, where each station is a client",
        ),
        (
            with(
                &wifi(json!({})),
                json!({"web": [{"name": "w", "objects": [1], "station": "x"}]}),
            ),
            "web[0].station is \"x\", but must be the name of one of wifi.stations",
        ),
        (
            with(
                &wifi(json!({})),
                json!({"downloads": [{"name": "d", "direction": "down", "bytes": 1, "gap": "1s", "dscp": "AF44"}]}),
            ),
            &format!("downloads[0].dscp is \"AF44\", but must be {rule}"),
        ),
    ]);
}

#[test]
fn udp_flows_are_checked() {
    let udp = |more| flow(with(&json!({"protocol": "udp"}), more));
    let absent = |key: &str| format!("flows[0].{key} is given, but must be absent for protocol \"udp\"");
    check(&[
        (
            udp(json!({})),
            "flows[0].rate is missing, but must be given with protocol \"udp\", such as 50mbit",
        ),
        (
            flow(json!({"protocol": "quic"})),
            "flows[0].protocol is \"quic\", but must be \"tcp\" or \"udp\"",
        ),
        (
            udp(json!({"rate": "1mbit", "congestion_control": "reno"})),
            &absent("congestion_control"),
        ),
        (udp(json!({"rate": "1mbit", "bytes": 5})), &absent("bytes")),
        (udp(json!({"rate": "1mbit", "kind": "tcp"})), &absent("kind")),
        (
            udp(json!({"rate": "1mbit", "write": "1kb", "write_interval": "1s"})),
            &absent("write"),
        ),
        (
            udp(json!({"rate": "1mbit", "write_interval": "1s"})),
            &absent("write_interval"),
        ),
    ]);
}

#[test]
fn the_live_back_end_has_neither_cells_nor_udp_flows() {
    let refused = |scenario: &Value| {
        Scenario::for_backend(&scenario.to_string(), Backend::Live)
            .expect_err("refused")
            .to_string()
    };
    assert_eq!(
        refused(&wifi(json!({}))),
        "wifi is given, but the live back end has wires only: use sim or linux"
    );
    assert_eq!(
        refused(&flow(json!({"protocol": "udp", "rate": "1mbit"}))),
        "flows[0].protocol is \"udp\", but the live back end has no such flows: use sim or linux"
    );
}

#[test]
fn every_key_of_a_cell_survives_the_round_trip() {
    let category = json!({"aifsn": 4, "cw_min": 7, "cw_max": 127, "txop": "1ms"});
    let table = json!({"vo": category, "vi": category, "be": category, "bk": category});
    let cell = json!({
        "scheme": "fifo", "qdisc": "pfifo limit 77", "band": "2.4ghz",
        "stations": [
            {"name": "a", "rate": "ht mcs 7 40mhz lgi", "rate_up": "ofdm 54mbit", "error": 0.25, "error_up": 0.125,
             "weight": 512, "scheme": "fq_codel", "qdisc": "sfq", "driver_frames": 99, "aggregate_frames": 1},
            {"name": "b", "rate": "ofdm 6mbit", "rate_up": "ht mcs 0 20mhz sgi", "error": 0.0, "error_up": 0.5,
             "fade": "60ms", "fade_gap": "25s", "fade_error": 0.75, "weight": 1, "scheme": "fq_mac", "driver_frames": 7},
        ],
        "driver_frames": 11, "hardware_queue": 3, "aggregate_frames": 12, "aggregate_time": "3ms", "retries": 4,
        "queues": 64, "limit": 100, "memory": "1000000b", "quantum": 1514, "airtime_quantum": "1ms", "airtime_tx": false,
        "airtime_rx": false, "codel_target": "5ms", "codel_interval": "50ms", "ecn": false, "slow_station_codel": true,
        "edca": {"ap": table, "station": table}, "rate_control": "simple",
    });
    let flow = json!({"name": "f", "direction": "up", "protocol": "udp", "rate": "7mbit", "rtt": "9ms", "start": "1s",
                      "station": "b", "dscp": 46});
    let scenario = with(
        &base(),
        json!({"wifi": cell, "flows": [flow],
               "probes": [{"name": "p", "kind": "icmp", "station": "b", "dscp": "cs1"}],
               "web": [{"name": "w", "objects": [9], "station": "a", "dscp": 63}],
               "downloads": [{"name": "d", "direction": "up", "bytes": 9, "gap": "1s", "station": "b", "dscp": "AF41"}]}),
    );
    let once = canonical(&scenario);
    let mut expected = cell;
    expected["stations"][0]["qdisc"] = once["wifi"]["stations"][0]["qdisc"].clone();
    assert_eq!(once["wifi"], expected);
    assert_eq!(
        once["wifi"]["stations"][0]["qdisc"].as_str().map(|q| &q[..3]),
        Some("sfq")
    );
    assert_eq!(once["flows"][0], flow);
    assert_eq!(
        (&once["probes"][0]["station"], &once["probes"][0]["dscp"]),
        (&json!("b"), &json!(8))
    );
    assert_eq!(
        (&once["web"][0]["station"], &once["web"][0]["dscp"]),
        (&json!("a"), &json!(63))
    );
    assert_eq!(
        (&once["downloads"][0]["station"], &once["downloads"][0]["dscp"]),
        (&json!("b"), &json!(34))
    );
    assert_eq!(canonical(&once), once);
}

#[test]
fn a_station_without_aggregates_of_its_own_has_those_of_all() {
    let own = |more: Value, frames: u32| {
        let mut scenario = station(more);
        scenario["wifi"]["aggregate_frames"] = json!(frames);
        canonical(&scenario)["wifi"]["stations"][1]["aggregate_frames"].clone()
    };
    assert_eq!(own(json!({}), 12), Value::Null);
    assert_eq!(
        own(json!({"aggregate_frames": 12}), 12),
        Value::Null,
        "the same said twice"
    );
    assert_eq!(own(json!({"aggregate_frames": 7}), 12), json!(7));
}

#[test]
fn a_fade_loses_everything_unless_told_otherwise() {
    let fading = canonical(&station(json!({"fade": "60ms", "fade_gap": "25s"})));
    assert_eq!(fading["wifi"]["stations"][1]["fade_error"], json!(1.0));
    assert_eq!(canonical(&fading), fading);
    assert!(!canonical(&station(json!({}))).to_string().contains("fade"));
}

#[test]
fn the_variant_of_linux_is_kept_and_has_no_quantum() {
    let once = canonical(&wifi(json!({"variant": "linux-6.12", "aql": "5ms"})));
    assert_eq!(once["wifi"]["variant"], "linux-6.12");
    assert!(once["wifi"].get("airtime_quantum").is_none());
    assert_eq!(canonical(&once), once);
    let paper = canonical(&wifi(json!({"variant": "paper"})));
    assert!(paper["wifi"].get("variant").is_none(), "as before there were variants");
}

#[test]
fn defaults_are_written_out() {
    let once = canonical(&wifi_flow(json!({})));
    assert_eq!(
        (&once["flows"][0]["station"], &once["flows"][0]["dscp"]),
        (&json!("a"), &json!(0))
    );
    let cell = &once["wifi"];
    assert_eq!((&cell["scheme"], &cell["band"]), (&json!("airtime"), &json!("5ghz")));
    assert_eq!(cell["qdisc"], Value::Null, "the scheme has none");
    assert_eq!(
        cell["stations"][1],
        json!({"name": "b", "rate": FAST, "rate_up": FAST, "error": 0.0, "error_up": 0.0, "weight": 256,
               "scheme": "fifo", "qdisc": cell["stations"][0]["qdisc"], "driver_frames": 256})
    );
    assert_eq!(
        cell["edca"]["ap"]["be"],
        json!({"aifsn": 3, "cw_min": 15, "cw_max": 63, "txop": "0s"})
    );
    assert_eq!(canonical(&once), once);
}

#[test]
fn without_the_new_keys_the_canonical_text_has_none_of_them() {
    let text = canonical(&flow(json!({}))).to_string();
    for key in ["wifi", "station", "dscp", "protocol"] {
        assert!(!text.contains(key), "{key} in {text}");
    }
}

#[test]
fn names_of_rates_may_come_in_any_order_and_are_one_text() {
    let rate = |text: &str| canonical(&station(json!({"rate": text})))["wifi"]["stations"][1]["rate"].clone();
    assert_eq!(rate("vht sgi 80mhz nss 2 mcs 9"), rate("vht mcs 9 nss 2 80mhz sgi"));
    assert!(
        error(&station(json!({"rate": ""})).to_string())
            .starts_with("wifi.stations[1].rate is \"\", but it must be like")
    );
}

#[test]
fn policies_are_checked() {
    check(&[
        (
            wifi(json!({"scheduler": "fair"})),
            "wifi.scheduler is \"fair\", but must be \"deficit\" or \"credit\"",
        ),
        (
            wifi(json!({"qos": "voice"})),
            "wifi.qos is \"voice\", but must be \"priority\" or \"fairness\"",
        ),
        (
            wifi(json!({"vo_in_aggregate_max": 4})),
            "wifi.vo_in_aggregate_max is 4, but must be absent unless vo_in_aggregate is true",
        ),
        (
            wifi(json!({"vo_in_aggregate_hold": 1})),
            "wifi.vo_in_aggregate_hold is 1, but must be absent unless vo_in_aggregate is true",
        ),
        (
            wifi(json!({"groups": [{"name": "guest", "cap": 2}]})),
            "wifi.groups[0].cap is 2, but must be 0.000001 to 1",
        ),
        (
            wifi(json!({"groups": [["guest"]]})),
            "wifi.groups[0] is a list, but must be an object",
        ),
        (
            station(json!({"group": "guest"})),
            "wifi.stations[1].group is \"guest\", but must be the name of one of wifi.groups",
        ),
        (
            station(json!({"min_rate": "200mbit"})),
            "wifi.stations[1].min_rate is 200mbit, but must be at most the station's rate, 144.444444mbit",
        ),
        (
            wifi(json!({"scheme": "fq_mac", "demote": "20ms"})),
            "wifi.demote is 20ms, but must be left out with the scheme fq_mac: it belongs to airtime",
        ),
    ]);
}

#[test]
fn policies_that_are_off_are_not_in_the_canonical_text() {
    let plain = canonical(&wifi(json!({})));
    let off = json!({"groups": [], "scheduler": "deficit", "accounting_delay": "0ms", "vo_in_aggregate": false, "qos": "priority"});
    assert_eq!(canonical(&wifi(off)), plain);
    for key in [
        "groups",
        "scheduler",
        "accounting_delay",
        "vo_in_aggregate",
        "vo_in_aggregate_hold",
        "demote",
        "qos",
    ] {
        assert!(plain["wifi"].get(key).is_none(), "{key}");
    }
}

#[test]
fn policies_come_back_from_the_canonical_text() {
    let all = json!({"groups": [{"name": "guest", "cap": 0.25}], "accounting_delay": "10ms", "vo_in_aggregate": true,
                     "demote": "20ms", "qos": "fairness",
                     "stations": [{"name": "a", "rate": FAST, "group": "guest", "min_rate": "2500kbit"}]});
    let once = canonical(&wifi(all));
    assert_eq!(canonical(&once), once);
    let wifi = &once["wifi"];
    assert_eq!(wifi["groups"], json!([{"name": "guest", "weight": 256, "cap": 0.25}]));
    assert_eq!((&wifi["demote"], &wifi["qos"]), (&json!("20ms"), &json!("fairness")));
    assert_eq!(
        (&wifi["vo_in_aggregate_max"], &wifi["vo_in_aggregate_hold"]),
        (&json!(8), &json!(0))
    );
    assert_eq!(wifi["stations"][0]["min_rate"], json!("2.5mbit"));
}
