//! What a scenario may say, and what is answered to one that says anything else.

mod backend;
pub(crate) mod cases;
mod flusher;
mod identity;
mod limits;
mod traffic;
mod wifi;
mod wifi_kernel;
mod wifi_latency;

use crate::common::with;
use cases::{base, check, controls, error, flow, probe, web};
use serde_json::{Value, json};
use sojourn_sim::{Scenario, run};

#[test]
fn unknown_keys_are_named_with_their_place_and_what_may_stand_there() {
    check(&[
        (
            with(&base(), json!({"color": "red"})),
            "key \"color\" is unknown, but must be one of experiment, duration, lead, up, down, qdisc_up, qdisc_down, \
             burst_up, burst_down, service_interval_up, service_interval_down, trace_up, trace_down, loss_up, loss_down, jitter_up, jitter_down, rtt, edge_rate, edge_burst, edge_limit, delay_tick, \
             start_jitter, spare_acks, sample_interval, tcp, flows, probes, web, downloads, games, programs, wifi, topology, flusher, \
             seed",
        ),
        (
            with(&base(), json!({"tcp": {"cwnd": 1}})),
            "key \"tcp.cwnd\" is unknown, but must be one of variant, mss, initial_window, receive_window, receive_buffer, \
             hystart, ecn, abe, ecn_low, bbr2_ecn_max_rtt, delayed_ack, gso, min_rto, save_metrics, prague_fallback, \
             prague_rtt, prague_version, vegas_beta",
        ),
        (
            flow(json!({"cc": "reno"})),
            "key \"flows[0].cc\" is unknown, but must be one of name, kind, protocol, direction, stack, streams, congestion_control, ecn, rtt, \
             start, stop, bytes, rate, write, write_interval, client, server, station, dscp, \
             ends",
        ),
        (
            probe("icmp", json!({"period": "1s"})),
            "key \"probes[0].period\" is unknown, but must be one of name, kind, direction, interval, timeout, size, codec, \
             frame, bitrate, headers, rtt, client, server, station, dscp, ends",
        ),
    ]);
}

#[test]
fn values_of_the_wrong_type_are_told_as_they_stand_in_the_file() {
    let whole = "a whole number from 0 to 18446744073709551615";
    let of = |key: &str, value: Value| with(&base(), json!({ key: value }));
    check(&[
        (json!([1]), "scenario is a list, but must be an object"),
        (json!("x"), "scenario is \"x\", but must be an object"),
        (json!(null), "scenario is null, but must be an object"),
        (of("duration", json!(5)), "duration is 5, but must be text in quotes"),
        (of("lead", json!(null)), "lead is null, but must be text in quotes"),
        (of("up", json!(["1mbit"])), "up is a list, but must be text in quotes"),
        (
            of("down", json!({"rate": 1})),
            "down is an object, but must be text in quotes",
        ),
        (of("rtt", json!(0.05)), "rtt is 0.05, but must be text in quotes"),
        (
            of("spare_acks", json!("yes")),
            "spare_acks is \"yes\", but must be true or false",
        ),
        (of("spare_acks", json!(1)), "spare_acks is 1, but must be true or false"),
        (of("seed", json!(-1)), &format!("seed is -1, but must be {whole}")),
        (of("seed", json!(1.5)), &format!("seed is 1.5, but must be {whole}")),
        (
            of("seed", json!(1e300)),
            &format!("seed is 1e+300, but must be {whole}"),
        ),
        (
            of("seed", json!("1, expected `2`")),
            &format!("seed is \"1, expected `2`\", but must be {whole}"),
        ),
        (of("flows", json!({"a": 1})), "flows is an object, but must be a list"),
        (
            of("flows", json!(["bulk"])),
            "flows[0] is \"bulk\", but must be an object",
        ),
        (
            of("flows", json!([{"name": "a", "direction": "up"}, []])),
            "flows[1] is a list, but must be an object",
        ),
        (of("probes", json!([null])), "probes[0] is null, but must be an object"),
        (of("tcp", json!([1448])), "tcp is a list, but must be an object"),
        (of("tcp", json!(null)), "tcp is null, but must be an object"),
        (
            of("tcp", json!({"mss": 70000})),
            "tcp.mss is 70000, but must be a whole number from 0 to 65535",
        ),
        (
            of("tcp", json!({"ecn": 1})),
            "tcp.ecn is 1, but must be true, false or \"accecn\"",
        ),
        (
            of("tcp", json!({"abe": true})),
            "tcp.abe is true, but must be false without tcp.ecn, whose echoes it is about",
        ),
        (
            of("tcp", json!({"initial_window": -3})),
            "tcp.initial_window is -3, but must be a whole number from 0 to 4294967295",
        ),
        (
            flow(json!({"bytes": "1mb"})),
            &format!("flows[0].bytes is \"1mb\", but must be {whole}"),
        ),
        (
            flow(json!({"bytes": -1})),
            &format!("flows[0].bytes is -1, but must be {whole}"),
        ),
        (
            flow(json!({"name": 7})),
            "flows[0].name is 7, but must be text in quotes",
        ),
        (
            probe("icmp", json!({"size": 1e3})),
            "probes[0].size is 1000.0, but must be a whole number from 0 to 65535",
        ),
    ]);
}

#[test]
fn values_out_of_range_are_told_with_the_range() {
    let of = |key: &str, value: &str| with(&base(), json!({ key: value }));
    let day = "1ms to 86400s";
    check(&[
        (json!({}), "duration is missing, but must be given, such as 60s"),
        (of("duration", "0s"), &format!("duration is 0s, but must be {day}")),
        (
            of("duration", "999us"),
            &format!("duration is 999us, but must be {day}"),
        ),
        (
            of("duration", "86401s"),
            &format!("duration is 86401s, but must be {day}"),
        ),
        (
            of("lead", "2h"),
            "lead: \"2h\" is not a time: it must be a number >= 0 with unit s, ms, us or ns, such as 5ms",
        ),
        (of("lead", "3601s"), "lead is 3601s, but must be 0s to 3600s"),
        (of("rtt", "0ms"), "rtt is 0ms, but must be 1us to 60s"),
        (of("rtt", "61s"), "rtt is 61s, but must be 1us to 60s"),
        (of("start_jitter", "6s"), "start_jitter is 6s, but must be 0s to 5s"),
        (
            of("sample_interval", "0.9ms"),
            &format!("sample_interval is 0.9ms, but must be {day}"),
        ),
        (
            with(&of("sample_interval", "1ms"), json!({"duration": "86400s"})),
            "sample_interval is 1ms, but must be at least a 1000000th of the duration",
        ),
        (of("up", "999bit"), "up is 999bit, but must be 1kbit to 100gbit"),
        (of("down", "101gbit"), "down is 101gbit, but must be 1kbit to 100gbit"),
        (
            of("edge_rate", "1bit"),
            "edge_rate is 1bit, but must be 1kbit to 100gbit",
        ),
        (
            with(&of("edge_burst", "1513b"), json!({"edge_rate": "10mbit"})),
            "edge_burst is 1513b, but must be at least the largest frame (1514 bytes) and at most 1gb",
        ),
        (
            of("edge_burst", "1514b"),
            "edge_burst is 1514b, but must be absent without edge_rate: infinitely fast links have no bucket",
        ),
        (
            of("burst_up", "1513b"),
            "burst_up is 1513b, but must be at least the largest frame (1514 bytes) and at most 1gb",
        ),
        (
            of("burst_down", "2gb"),
            "burst_down is 2gb, but must be at least the largest frame (1514 bytes) and at most 1gb",
        ),
        (
            with(&of("burst_up", "1gb"), json!({"up": "1kbit"})),
            "burst_up is 1gb, but must be at most what 1kbit sends in a day",
        ),
        (
            of("service_interval_up", "50us"),
            "service_interval_up is 50us, but must be 100us to 100ms",
        ),
        (
            of("qdisc_up", "fq_codel flows 70000"),
            "qdisc_up: fq_codel.flows is 70000, but must be <= 65536",
        ),
    ]);
}

#[test]
fn values_of_flows_probes_and_tcp_out_of_range_are_told_with_the_range() {
    check(&[
        (flow(json!({"bytes": 0})), "flows[0].bytes is 0, but must be at least 1"),
        (
            flow(json!({"start": "6s"})),
            "flows[0].start is 6s, but must be 0s to 5s",
        ),
        (
            flow(json!({"rtt": "1ns"})),
            "flows[0].rtt is 1ns, but must be 1us to 60s",
        ),
        (
            flow(json!({"rate": "1bit"})),
            "flows[0].rate is 1bit, but must be 1kbit to 100gbit",
        ),
        (
            probe("icmp", json!({"interval": "0s"})),
            "probes[0].interval is 0s, but must be 1ms to 60s",
        ),
        (
            probe("poisson", json!({"interval": "61s"})),
            "probes[0].interval is 61s, but must be 1ms to 60s",
        ),
        (
            probe("udp_rr", json!({"timeout": "0s"})),
            "probes[0].timeout is 0s, but must be 1ms to 60s",
        ),
        (
            probe("icmp", json!({"size": 59})),
            "probes[0].size is 59, but must be 60 to 1514 bytes",
        ),
        (
            probe("icmp", json!({"size": 1515})),
            "probes[0].size is 1515, but must be 60 to 1514 bytes",
        ),
        (
            probe("icmp", json!({"rtt": "2m"})),
            "probes[0].rtt: \"2m\" is not a time: it must be a number >= 0 with unit s, ms, us or ns, such as 5ms",
        ),
        (
            with(&base(), json!({"tcp": {"mss": 0}})),
            "tcp.mss is 0, but must be 1 to 8948 bytes",
        ),
        (
            with(&base(), json!({"tcp": {"initial_window": 0}})),
            "tcp.initial_window is 0, but must be 1 to 1000 segments",
        ),
        (
            with(&base(), json!({"tcp": {"receive_window": "1kb"}})),
            "tcp.receive_window is 1024b, but must be at least two segments and at most 16776960 bytes",
        ),
        (
            with(&base(), json!({"tcp": {"receive_buffer": "large"}})),
            "tcp.receive_buffer is \"large\", but must be \"auto\" or \"locked\"",
        ),
        (
            with(&base(), json!({"tcp": {"receive_buffer": null}})),
            "tcp.receive_buffer is null, but must be text in quotes",
        ),
        (
            with(&base(), json!({"tcp": {"vegas_beta": 1}})),
            "tcp.vegas_beta is 1, but must be 2 to 1000 segments",
        ),
        (
            with(&base(), json!({"tcp": {"min_rto": "0s"}})),
            "tcp.min_rto is 0s, but must be 1ms to 120s",
        ),
    ]);
}

#[test]
fn text_that_is_no_quantity_is_refused_whatever_a_float_parser_thinks() {
    for text in [
        "NaN", "nans", "inf", "infs", "-1s", "+1s", "1e3s", "1_000s", " 1s", "1s ", "", "s", "1..2s", "0x1s", "1 s",
        "٣s",
    ] {
        for key in ["duration", "lead", "rtt", "start_jitter", "sample_interval"] {
            let message = error(&with(&base(), json!({ key: text })).to_string());
            assert!(
                message.starts_with(&format!("{key}: {text:?} is not a time: ")),
                "{message}"
            );
        }
    }
    for text in [
        "NaNmbit",
        "infmbit",
        "-1mbit",
        "0mbit",
        "1e3mbit",
        "",
        "mbit",
        "10 mbit",
        "10mb",
        "9999999tbit",
    ] {
        for key in ["up", "down", "edge_rate"] {
            let message = error(&with(&base(), json!({ key: text })).to_string());
            assert!(
                message.starts_with(&format!("{key}: {text:?} is not a rate: ")),
                "{message}"
            );
        }
    }
    for text in ["NaN", "-1b", "1.5b", "", "kb", "99999999gb"] {
        for key in ["burst_up", "burst_down"] {
            let message = error(&with(&base(), json!({ key: text })).to_string());
            assert!(
                message.starts_with(&format!("{key}: {text:?} is not a size: ")),
                "{message}"
            );
        }
    }
}

#[test]
fn names_and_words_are_checked() {
    let rule = "1 to 64 letters, digits, '_', '-' or '.'";
    for bad in ["", "a b", "ü", "a/b", "a\n", &"x".repeat(65)] {
        assert_eq!(
            error(&flow(json!({"name": bad})).to_string()),
            format!("flows[0].name is {bad:?}, but must be {rule}")
        );
        assert_eq!(
            error(&probe("icmp", json!({"name": bad})).to_string()),
            format!("probes[0].name is {bad:?}, but must be {rule}")
        );
    }
    check(&[
        (
            flow(json!({"direction": "sideways"})),
            "flows[0].direction is \"sideways\", but must be \"up\" or \"down\"",
        ),
        (
            with(&base(), json!({"flows": [{"name": "a"}]})),
            "flows[0].direction is missing, but must be given, such as \"up\"",
        ),
        (
            flow(json!({"kind": "udp"})),
            "flows[0].kind is \"udp\", but must be \"tcp\"",
        ),
        (
            flow(json!({"congestion_control": "westwood"})),
            format!(
                "flows[0].congestion_control is \"westwood\", but must be one of: {}",
                controls()
            )
            .as_str(),
        ),
        (
            probe("ping", json!({})),
            "probes[0].kind is \"ping\", but must be \"icmp\", \"udp_rr\", \"isochronous\", \"poisson\" or \"voip\"",
        ),
        (
            with(&flow(json!({})), json!({"probes": [{"name": "a", "kind": "icmp"}]})),
            "name is \"a\" twice, but must be unique among flows, probes, web clients, downloads and games",
        ),
        (
            with(
                &base(),
                json!({"probes": [{"name": "a", "kind": "icmp"}, {"name": "a", "kind": "udp_rr"}]}),
            ),
            "name is \"a\" twice, but must be unique among flows, probes, web clients, downloads and games",
        ),
    ]);
    let message = error(&with(&base(), json!({"qdisc_up": "fq_cuddle"})).to_string());
    assert!(
        message.starts_with("qdisc_up: ") && message.contains("fq_cuddle") && message.contains("fq_codel"),
        "{message}"
    );
}

#[test]
fn the_free_name_of_an_experiment_cannot_steer_a_terminal_or_fill_a_page() {
    let named = |name: &str| with(&base(), json!({ "experiment": name }));
    let rule = "at most 200 printable characters, without '$'";
    let long = "x".repeat(201);
    check(&[
        (
            named(&long),
            &format!("experiment is a text of 201 characters, but must be {rule}"),
        ),
        (
            named("a\u{1b}[2Jb"),
            &format!("experiment is \"a\\u{{1b}}[2Jb\", but must be {rule}"),
        ),
        (
            named("$\\frac{$"),
            &format!("experiment is \"$\\\\frac{{$\", but must be {rule}"),
        ),
        (named("a\nb"), &format!("experiment is \"a\\nb\", but must be {rule}")),
        (
            named("a\u{9b}31m"),
            &format!("experiment is \"a\\u{{9b}}31m\", but must be {rule}"),
        ),
        (
            named("a\u{202e}b"),
            &format!("experiment is \"a\\u{{202e}}b\", but must be {rule}"),
        ),
    ]);
    for fine in ["", "rrul, 10 flows (café)", "測試", &"é".repeat(200)] {
        let text = named(fine).to_string();
        assert_eq!(Scenario::from_json(&text).expect("a printable name").experiment, fine);
    }
}

#[test]
fn keys_that_do_not_fit_the_kind_of_probe_are_refused() {
    for (kind, key, value) in [
        ("icmp", "timeout", "1s"),
        ("icmp", "direction", "up"),
        ("udp_rr", "interval", "1s"),
        ("udp_rr", "direction", "down"),
        ("isochronous", "timeout", "1s"),
        ("poisson", "timeout", "1s"),
    ] {
        assert_eq!(
            error(&probe(kind, json!({ key: value })).to_string()),
            format!("probes[0].{key} is given, but must be absent for kind {kind:?}")
        );
    }
}

#[test]
fn a_bucket_must_hold_the_largest_frame_of_all_flows_and_probes() {
    // A frame that the bucket cannot hold would never leave.
    let small = json!({"tcp": {"mss": 100}, "burst_up": "166b", "burst_down": "166b"});
    assert!(Scenario::from_json(&with(&base(), small.clone()).to_string()).is_ok());
    let with_probe = with(&probe("icmp", json!({"size": 167})), small);
    assert_eq!(
        error(&with_probe.to_string()),
        "burst_up is 166b, but must be at least the largest frame (167 bytes) and at most 1gb"
    );
    let tiny = with(&base(), json!({"tcp": {"mss": 1}, "burst_up": "67b"}));
    assert_eq!(
        error(&tiny.to_string()),
        "burst_up is 67b, but must be at least the largest frame (94 bytes) and at most 1gb"
    );
    let jumbo = with(
        &base(),
        json!({"tcp": {"mss": 8948, "receive_window": "1mb"}, "burst_up": "9013b"}),
    );
    assert!(error(&jumbo.to_string()).contains("(9014 bytes)"));
}

#[test]
fn too_many_flows_are_refused() {
    let flows: Vec<Value> = (0..10_001)
        .map(|i| json!({"name": format!("f{i}"), "direction": "up"}))
        .collect();
    assert_eq!(
        error(&with(&base(), json!({ "flows": flows })).to_string()),
        "number of flows, probes, web clients, downloads and games is 10001, but must be at most 10000 together"
    );
}

#[test]
fn text_that_is_not_json_is_told_with_its_place() {
    for (text, what) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        (
            "{\"duration\": \"1s\"",
            "EOF while parsing an object at line 1 column 17",
        ),
        ("{\"duration\": \"1s\"} x", "trailing characters at line 1 column 20"),
        ("duration = \"1s\"", "expected value at line 1 column 1"),
    ] {
        assert_eq!(error(text), format!("scenario is not valid JSON: {what}"));
    }
    assert_eq!(
        error("{\"duration\": \"1s\", \"duration\": \"2s\"}"),
        "key \"duration\" is given twice, but must be given once"
    );
    assert_eq!(
        error("{\"duration\": \"1s\", \"tcp\": {\"mss\": 1, \"mss\": 2}}"),
        "key \"tcp.mss\" is given twice, but must be given once"
    );
    assert!(error(&"[".repeat(10_000)).contains("recursion limit"));
}

#[test]
fn defaults_are_written_out() {
    let canonical: Value =
        serde_json::from_str(&Scenario::from_json(&base().to_string()).expect("valid").to_json()).expect("JSON");
    assert_eq!(
        canonical,
        json!({
            "experiment": "custom", "duration": "5s", "lead": "2s", "up": "10mbit", "delay_tick": "0s", "down": "10mbit", "rtt": "50ms",
            "qdisc_up": canonical["qdisc_up"], "qdisc_down": canonical["qdisc_up"],
            "burst_up": "3028b", "burst_down": "3028b", "start_jitter": "50ms", "spare_acks": false,
            "sample_interval": "200ms", "flows": [], "probes": [], "web": [], "seed": 1,
            "tcp": {"mss": 1448, "initial_window": 10, "receive_window": "3145728b", "hystart": true, "ecn": false,
                    "delayed_ack": true, "min_rto": "200ms", "variant": "linux-6.1"},
        })
    );
    assert!(
        canonical["qdisc_up"]
            .as_str()
            .expect("text")
            .starts_with("fq_codel limit 10240 ")
    );
    let of = |scenario: Value, key: &str| -> Value {
        let text = Scenario::from_json(&scenario.to_string()).expect("valid").to_json();
        serde_json::from_str::<Value>(&text).expect("JSON")[key][0].clone()
    };
    assert_eq!(
        of(flow(json!({})), "flows"),
        json!({"name": "a", "kind": "tcp", "direction": "up", "congestion_control": "cubic", "rtt": "50ms", "start": "0s"})
    );
    assert_eq!(
        of(web(json!({})), "web"),
        json!({"name": "w", "page": "custom", "objects": [5000], "workers": 4, "interval": "200ms",
               "congestion_control": "cubic", "rtt": "50ms", "start": "0s", "think_time": "0s", "request_bytes": 100,
               "header_bytes": 300, "dns": true})
    );
    for (codec, bitrate) in [("g711", "64kbit"), ("opus", "24kbit")] {
        assert_eq!(
            of(probe("voip", json!({"codec": codec})), "probes"),
            json!({"name": "p", "kind": "voip", "direction": "up", "codec": codec, "frame": "20ms", "bitrate": bitrate,
                   "headers": 40, "rtt": "50ms"})
        );
    }
    for (kind, more) in [
        ("icmp", json!({"interval": "200ms", "size": 98})),
        ("udp_rr", json!({"timeout": "2s", "size": 60})),
        (
            "isochronous",
            json!({"interval": "200ms", "direction": "up", "size": 214}),
        ),
        ("poisson", json!({"interval": "200ms", "direction": "up", "size": 214})),
    ] {
        let expected = with(&json!({"name": "p", "kind": kind, "rtt": "50ms"}), more);
        assert_eq!(of(probe(kind, json!({})), "probes"), expected);
    }
    // A bucket holds half a millisecond of a fast link: 100 Mbit/s send 6250 bytes in it.
    let fast = Scenario::from_json(&with(&base(), json!({"up": "100mbit"})).to_string()).expect("valid");
    assert_eq!(fast.up.burst.map(sojourn_units::Bytes::get), Some(6250));
}

/// A scenario in which nothing has its default.
fn everything() -> Value {
    json!({
        "experiment": "all", "duration": "3s", "lead": "1.5s", "up": "1.5mbit", "down": "7mbit", "rtt": "31ms",
        "qdisc_up": "codel limit 900 target 7ms interval 90ms noecn", "qdisc_down": "pfifo limit 77",
        "burst_up": "4000b", "burst_down": "5000b", "edge_rate": "1gbit", "edge_burst": "3000b", "delay_tick": "1ms", "start_jitter": "1ms", "spare_acks": true,
        "sample_interval": "100ms", "seed": 18_446_744_073_709_551_615u64,
        "tcp": {"mss": 1000, "initial_window": 3, "receive_window": "65536b", "hystart": false, "ecn": true,
                "delayed_ack": false, "min_rto": "1s", "variant": "linux-3.14"},
        "flows": [{"name": "f", "kind": "tcp", "direction": "down", "congestion_control": "reno", "rtt": "7ms", "start": "250ms",
                   "bytes": 5000, "rate": "300kbit"}],
        "probes": [
            {"name": "a", "kind": "icmp", "interval": "1.5ms", "size": 60, "rtt": "3us"},
            {"name": "b", "kind": "udp_rr", "timeout": "70ms", "size": 1514, "rtt": "3ms"},
            {"name": "c", "kind": "isochronous", "interval": "1ms", "size": 99, "rtt": "2s", "direction": "down"},
            {"name": "d", "kind": "poisson", "interval": "1ms", "size": 99, "rtt": "2s", "direction": "down"},
            {"name": "e", "kind": "voip", "direction": "down", "codec": "opus", "frame": "40ms", "bitrate": "30kbit",
             "headers": 60, "rtt": "2s"},
        ],
        "web": [{"name": "w", "page": "mine", "objects": [5000, 1, 70], "workers": 2, "interval": "1.5s",
                 "congestion_control": "reno", "rtt": "7ms", "start": "250ms", "think_time": "3ms", "request_bytes": 1,
                 "header_bytes": 0, "dns": false}],
    })
}

#[test]
fn every_field_survives_the_round_trip() {
    let canonical = Scenario::from_json(&everything().to_string()).expect("valid").to_json();
    let mut back: Value = serde_json::from_str(&canonical).expect("JSON");
    // The discipline's text is longer than what was written, as all its defaults are.
    assert!(
        back["qdisc_up"]
            .as_str()
            .expect("text")
            .starts_with("codel limit 900 target 7ms interval 90ms")
    );
    back["qdisc_up"] = everything()["qdisc_up"].clone();
    assert_eq!(back, everything());
    let again = Scenario::from_json(&canonical)
        .expect("the canonical form is valid")
        .to_json();
    assert_eq!(again, canonical);
    run(Scenario::from_json(&canonical).expect("valid")).expect("it runs");
}

#[test]
fn presets_are_expanded_at_the_rate_of_their_direction() {
    let s = Scenario::from_json(
        &with(
            &base(),
            json!({"up": "1mbit", "qdisc_up": "gbw:codel", "qdisc_down": "gbw:codel"}),
        )
        .to_string(),
    )
    .expect("valid");
    for (link, target) in [(&s.up, "target 13ms"), (&s.down, "target 5ms")] {
        assert!(
            link.qdisc.as_ref().is_some_and(|text| text.contains(target)),
            "{link:?}"
        );
    }
}
