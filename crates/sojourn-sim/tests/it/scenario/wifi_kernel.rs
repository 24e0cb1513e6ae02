//! Cells on the linux back end: what its kernel cannot be asked for, and what it is told.

use super::cases::base;
use crate::common::with;
use serde_json::{Value, json};
use sojourn_scenario::Transport;
use sojourn_sim::bed::load_plan;
use sojourn_sim::{Backend, Scenario};
use sojourn_units::Rate;

const FAST: &str = "ht mcs 15 20mhz sgi";

/// A cell with these keys, of two stations if it names none.
fn wifi(more: Value) -> Value {
    let two = json!({"stations": [{"name": "a", "rate": FAST}, {"name": "b", "rate": "vht mcs 3 nss 2 80mhz lgi"}]});
    with(&base(), json!({"wifi": with(&two, more)}))
}

fn station(more: Value) -> Value {
    wifi(json!({"stations": [{"name": "a", "rate": FAST}, with(&json!({"name": "b", "rate": FAST}), more)]}))
}

fn refused(scenario: &Value) -> String {
    assert!(
        Scenario::from_json(&scenario.to_string()).is_ok(),
        "the simulator runs {scenario}"
    );
    Scenario::for_backend(&scenario.to_string(), Backend::Linux)
        .expect_err("refused")
        .to_string()
}

#[test]
fn what_a_kernel_cannot_do_is_refused_with_field_value_and_rule() {
    let none = "but must be left out on the linux back end: mac80211 has no such policy";
    let neither = "but must be left out on the linux back end: neither mac80211 nor its radio has it";
    for (scenario, sentence) in [
        (
            wifi(json!({"groups": [{"name": "g"}]})),
            format!("wifi.groups is 1 groups, {none}"),
        ),
        (
            wifi(json!({"scheduler": "credit"})),
            format!("wifi.scheduler is \"credit\", {none}"),
        ),
        (wifi(json!({"vo_in_aggregate": true})), format!("wifi.vo_in_aggregate is true, {none}")),
        (wifi(json!({"demote": "20ms"})), format!("wifi.demote is 20ms, {none}")),
        (wifi(json!({"qos": "fairness"})), format!("wifi.qos is \"fairness\", {none}")),
        (wifi(json!({"defer": "1ms"})), format!("wifi.defer is 1ms, {neither}")),
        (wifi(json!({"retry_time": "9ms"})), format!("wifi.retry_time is 9ms, {neither}")),
        (
            wifi(json!({"band": "2.4ghz", "stations": [{"name": "a", "rate": FAST}]})),
            "wifi.band is \"2.4ghz\", but must be \"5ghz\" on the linux back end, whose cells are there".into(),
        ),
        (
            wifi(json!({"rate_control": "simple"})),
            "wifi.rate_control is \"simple\", but must be \"fixed\" on the linux back end: simple is the simulator's own".into(),
        ),
        (
            wifi(json!({"codel_target": "5ms"})),
            "wifi.codel_target is 5ms, but must be 20ms on the linux back end, as mac80211 has it".into(),
        ),
        (
            wifi(json!({"queues": 64})),
            "wifi.queues is 64, but must be 4096 on the linux back end, as mac80211 has it".into(),
        ),
        (
            wifi(json!({"ecn": false})),
            "wifi.ecn is false, but must be true on the linux back end, as mac80211 has it".into(),
        ),
        (
            wifi(json!({"airtime_quantum": "1ms"})),
            "wifi.airtime_quantum is 1ms, but must be left out, or 256us at the weight 256, on the linux back end, as \
             mac80211 has it"
                .into(),
        ),
        (
            station(json!({"rate": "vht mcs 5 160mhz"})),
            "wifi.stations[1].rate is \"vht mcs 5 nss 1 160mhz lgi\", but must be at most 80 MHz and 4 streams on the linux \
             back end"
                .into(),
        ),
        (
            station(json!({"min_rate": "1mbit"})),
            "wifi.stations[1].min_rate is given, but must be left out on the linux back end: mac80211 has no minimum rates"
                .into(),
        ),
        (
            station(json!({"fade": "60ms", "fade_gap": "25s"})),
            "wifi.stations[1].fade is 60ms, but must be left out on the linux back end, whose radio draws the loss of each frame \
             on its own"
                .into(),
        ),
        (
            station(json!({"aggregate_frames": 1})),
            "wifi.stations[1].aggregate_frames is 1, but must be that of the access point on the linux back end, whose radios have one limit"
                .into(),
        ),
        (
            station(json!({"scheme": "fq_mac"})),
            "wifi.stations[1].scheme is \"fq_mac\" with other queues, but must be as that of the first station on the linux back end, whose \
             radios have one setting for all stations"
                .into(),
        ),
    ] {
        assert_eq!(refused(&scenario), sentence);
    }
}

#[test]
fn the_keys_of_a_cell_become_the_plan_of_its_radios() {
    let scenario = wifi(json!({
        "scheme": "airtime", "aql": "5ms", "airtime_rx": false, "aggregate_time": "2ms", "retries": 7, "limit": 99,
        "stations": [
            {"name": "a", "rate": FAST, "error": 0.5, "weight": 512},
            {"name": "b", "rate": "ofdm 24mbit", "rate_up": "vht mcs 3 nss 2 80mhz lgi"},
        ],
    }));
    let valid = Scenario::for_backend(&scenario.to_string(), Backend::Linux).expect("a kernel can do it");
    let plan = load_plan(&valid, Backend::Linux).expect("few of everything");
    let cell = plan.wifi.expect("a cell");
    assert_eq!((cell.channel_mhz, cell.vht, cell.airtime_flags), (80, true, 1));
    assert_eq!((cell.aggregate_us, cell.retries, cell.fq_limit), (2000, 7, 99));
    let aql = cell.aql.expect("limits");
    assert_eq!((aql.low_us, aql.high_us, aql.total_us), (5000, 12_000, 24_000));
    assert_eq!((cell.access_point.fifo, cell.station.fifo), (0, 256));
    assert_eq!(cell.station.qdisc.expect("a discipline").kind, "pfifo_fast");
    let [a, b] = [&cell.stations[0], &cell.stations[1]];
    assert_eq!((a.weight, a.down.error, a.up.error), (512, 1 << 31, 1 << 31));
    assert_eq!(
        (a.down.format.as_str(), a.down.mcs, a.down.streams, a.down.short_guard),
        ("ht", 15, 2, true)
    );
    // 24 Mbit/s are 48 units of 500 kbit/s.
    assert_eq!((b.down.format.as_str(), b.down.mcs), ("legacy", 48));
    assert_eq!(
        (b.up.format.as_str(), b.up.mcs, b.up.streams, b.up.mhz),
        ("vht", 3, 2, 80)
    );
    let voice = cell.edca_access_point[0];
    assert_eq!(
        (voice.aifsn, voice.cw_min, voice.cw_max, voice.txop_us),
        (1, 3, 7, 1500)
    );
}

#[test]
fn traffic_of_a_cell_keeps_its_station_and_its_class() {
    let flow =
        json!({"name": "f", "direction": "down", "protocol": "udp", "rate": "1mbit", "station": "b", "dscp": "EF"});
    let scenario = with(&wifi(json!({})), json!({"flows": [flow]}));
    let valid = Scenario::for_backend(&scenario.to_string(), Backend::Linux).expect("a kernel can do it");
    let plan = load_plan(&valid, Backend::Linux).expect("few of everything");
    let flow = &plan.flows[0];
    assert_eq!(flow.transport(), Transport::Udp);
    assert_eq!((flow.access.station, flow.access.dscp, flow.access.tos()), (1, 46, 184));
    assert_eq!(flow.rate, Some(Rate::from_mbit(1)));
}
