//! Voice streams and web clients.

use super::cases::{base, check, controls, error, flow, probe, web};
use crate::common::with;
use serde_json::json;
use sojourn_sim::Scenario;

#[test]
fn voice_streams_are_checked() {
    let voip = |more| probe("voip", more);
    check(&[
        (
            voip(json!({"codec": "gsm"})),
            "probes[0].codec is \"gsm\", but must be \"g711\" or \"opus\"",
        ),
        (
            voip(json!({"frame": "0.5ms"})),
            "probes[0].frame is 0.5ms, but must be 1ms to 1s",
        ),
        (
            voip(json!({"frame": "2s"})),
            "probes[0].frame is 2s, but must be 1ms to 1s",
        ),
        (
            voip(json!({"bitrate": "12"})),
            "probes[0].bitrate is 12, but must be 1kbit to 100gbit",
        ),
        (
            voip(json!({"frame": "1.3ms"})),
            "probes[0].bitrate is 64kbit, but must be a rate that fills each frame of 1.3ms with a whole number of bytes",
        ),
        (
            voip(json!({"bitrate": "1mbit"})),
            "probes[0].bitrate is 1mbit, but must be a rate that makes packets of 60 to 1514 bytes (with 40 bytes of \
             headers they have 2554)",
        ),
        (
            voip(json!({"bitrate": "4kbit", "frame": "2ms", "headers": 0})),
            "probes[0].bitrate is 4kbit, but must be a rate that makes packets of 60 to 1514 bytes (with 0 bytes of \
             headers they have 15)",
        ),
        (
            voip(json!({"direction": "both"})),
            "probes[0].direction is \"both\", but must be \"up\" or \"down\"",
        ),
        (
            voip(json!({"headers": -1})),
            "probes[0].headers is -1, but must be a whole number from 0 to 65535",
        ),
        (
            voip(json!({"size": 100})),
            "probes[0].size is given, but must be absent for kind \"voip\"",
        ),
        (
            voip(json!({"interval": "20ms"})),
            "probes[0].interval is given, but must be absent for kind \"voip\"",
        ),
        (
            voip(json!({"timeout": "20ms"})),
            "probes[0].timeout is given, but must be absent for kind \"voip\"",
        ),
    ]);
    for (key, value) in [("codec", "opus"), ("frame", "20ms"), ("bitrate", "64kbit")] {
        check(&[(
            probe("icmp", json!({key: value})),
            &format!("probes[0].{key} is given, but must be absent for kind \"icmp\""),
        )]);
    }
    check(&[(
        probe("poisson", json!({"headers": 40})),
        "probes[0].headers is given, but must be absent for kind \"poisson\"",
    )]);
}

#[test]
fn web_clients_are_checked() {
    check(&[
        (
            web(json!({"name": ""})),
            "web[0].name is \"\", but must be 1 to 64 letters, digits, '_', '-' or '.'",
        ),
        (
            web(json!({"page": "a b"})),
            "web[0].page is \"a b\", but must be 1 to 64 letters, digits, '_', '-' or '.'",
        ),
        (
            web(json!({"objects": []})),
            "web[0].objects is a list of 0, but must be a list of 1 to 10000 sizes in bytes",
        ),
        (
            web(json!({"objects": [7, 0]})),
            "web[0].objects[1] is 0, but must be 1 to 1099511627776 bytes",
        ),
        (web(json!({"objects": 7})), "web[0].objects is 7, but must be a list"),
        (
            web(json!({"objects": [1.5]})),
            "web[0].objects[0] is 1.5, but must be a whole number from 0 to 18446744073709551615",
        ),
        (web(json!({"workers": 0})), "web[0].workers is 0, but must be 1 to 64"),
        (web(json!({"workers": 65})), "web[0].workers is 65, but must be 1 to 64"),
        (
            web(json!({"interval": "0s"})),
            "web[0].interval is 0s, but must be 1ms to 3600s",
        ),
        (
            with(
                &web(json!({"interval": "1ms"})),
                json!({"duration": "2000s", "sample_interval": "1s"}),
            ),
            "web[0].interval is 1ms, but must be at least a 1000000th of the duration",
        ),
        (web(json!({"start": "6s"})), "web[0].start is 6s, but must be 0s to 5s"),
        (
            web(json!({"think_time": "2m"})),
            "web[0].think_time: \"2m\" is not a time: it must be a number >= 0 with unit s, ms, us or ns, such as 5ms",
        ),
        (
            web(json!({"think_time": "61s"})),
            "web[0].think_time is 61s, but must be 0s to 60s",
        ),
        (web(json!({"rtt": "0s"})), "web[0].rtt is 0s, but must be 1us to 60s"),
        (
            web(json!({"request_bytes": 0})),
            "web[0].request_bytes is 0, but must be 1 to 1048576",
        ),
        (
            web(json!({"header_bytes": 2_000_000})),
            "web[0].header_bytes is 2000000, but must be 0 to 1048576",
        ),
        (
            web(json!({"dns": "no"})),
            "web[0].dns is \"no\", but must be true or false",
        ),
        (
            web(json!({"look_ups": "once"})),
            "web[0].look_ups is \"once\", but must be \"connection\" or \"page\"",
        ),
        (
            web(json!({"look_ups": "page", "dns": false})),
            "web[0].look_ups is page, but must be absent with dns false",
        ),
        (
            with(&base(), json!({"web": ["w"]})),
            "web[0] is \"w\", but must be an object",
        ),
        (
            with(&base(), json!({"web": {}})),
            "web is an object, but must be a list",
        ),
        (
            with(&web(json!({})), json!({"flows": [{"name": "w", "direction": "up"}]})),
            "name is \"w\" twice, but must be unique among flows, probes, web clients, downloads and games",
        ),
    ]);
    let unknown = error(&web(json!({"congestion_control": "westwood"})).to_string());
    assert!(
        unknown.starts_with("web[0].congestion_control is \"westwood\", but must be"),
        "{unknown}"
    );
    let unknown = error(&web(json!({"worker": 1})).to_string());
    assert!(unknown.starts_with("key \"web[0].worker\" is unknown"), "{unknown}");
}

#[test]
fn downloads_are_checked() {
    let download = |more| {
        with(
            &base(),
            json!({"downloads": [with(&json!({"name": "d", "direction": "up", "bytes": 1000, "gap": "1s"}), more)]}),
        )
    };
    check(&[
        (
            download(json!({"name": ""})),
            "downloads[0].name is \"\", but must be 1 to 64 letters, digits, '_', '-' or '.'",
        ),
        (
            download(json!({"direction": "both"})),
            "downloads[0].direction is \"both\", but must be \"up\" or \"down\"",
        ),
        (
            download(json!({"bytes": 0})),
            "downloads[0].bytes is 0, but must be 1 to 1099511627776 bytes",
        ),
        (
            download(json!({"bytes": null})),
            "downloads[0].bytes is null, but must be a whole number from 0 to 18446744073709551615",
        ),
        (
            json!({"duration": "5s", "downloads": [{"name": "d", "direction": "up", "gap": "1s"}]}),
            "downloads[0].bytes is missing, but must be given, such as 1700000",
        ),
        (
            json!({"duration": "5s", "downloads": [{"name": "d", "direction": "up", "bytes": 1}]}),
            "downloads[0].gap is missing, but must be given, such as 9.5s",
        ),
        (
            download(json!({"gap": "0s"})),
            "downloads[0].gap is 0s, but must be 1ms to 86400s",
        ),
        (
            download(json!({"persistent": "yes"})),
            "downloads[0].persistent is \"yes\", but must be true or false",
        ),
        (
            download(json!({"congestion_control": "westwood"})),
            format!(
                "downloads[0].congestion_control is \"westwood\", but must be one of: {}",
                controls()
            )
            .as_str(),
        ),
        (
            download(json!({"start": "6s"})),
            "downloads[0].start is 6s, but must be 0s to 5s",
        ),
        (
            with(
                &download(json!({})),
                json!({"flows": [{"name": "d", "direction": "up"}]}),
            ),
            "name is \"d\" twice, but must be unique among flows, probes, web clients, downloads and games",
        ),
        (
            with(&base(), json!({"downloads": [3]})),
            "downloads[0] is 3, but must be an object",
        ),
    ]);
}

#[test]
fn thin_streams_are_checked() {
    check(&[
        (
            flow(json!({"write": "150b"})),
            "flows[0].write_interval is missing, but must be given with write, such as 300ms",
        ),
        (
            flow(json!({"start": "3s", "stop": "3s"})),
            "flows[0].stop is 3s, but must be later than start, 3s, and at most 5s",
        ),
        (
            flow(json!({"stop": "10001ms"})),
            "flows[0].stop is 10001ms, but must be later than start, 0s, and at most 5s",
        ),
        (
            flow(json!({"write_interval": "300ms"})),
            "flows[0].write is missing, but must be given with write_interval, such as 150b",
        ),
        (
            flow(json!({"write": "150b", "write_interval": "300ms", "rate": "1mbit"})),
            "flows[0].rate is given, but must be absent with write: a thin stream writes at intervals",
        ),
        (
            flow(json!({"write": "0b", "write_interval": "300ms"})),
            "flows[0].write is 0b, but must be 1 to 1048576 bytes",
        ),
        (
            flow(json!({"write": "150b", "write_interval": "0s"})),
            "flows[0].write_interval is 0s, but must be 1ms to 3600s",
        ),
    ]);
}

#[test]
fn the_long_link_is_checked() {
    let path = |more| with(&base(), more);
    check(&[
        (
            path(json!({"edge_limit": 300})),
            "edge_limit is 300, but must be absent without edge_rate: infinitely fast links have no queue",
        ),
        (
            path(json!({"edge_limit": 0, "edge_rate": "100mbit"})),
            "edge_limit is 0, but must be 1 to 1000000 packets",
        ),
        (
            path(json!({"loss_up": 1.0})),
            "loss_up is 1, but must be a probability, at least 0 and less than 1",
        ),
        (
            path(json!({"loss_down": -0.5})),
            "loss_down is -0.5, but must be a probability, at least 0 and less than 1",
        ),
        (
            path(json!({"loss_down": "1%"})),
            "loss_down is \"1%\", but must be a number",
        ),
        (
            path(json!({"jitter_up": "11s"})),
            "jitter_up is 11s, but must be 0s to 10s",
        ),
    ]);
}

#[test]
fn defaults_of_the_long_link_are_left_out_of_the_canonical_text() {
    let of = |more| {
        Scenario::from_json(&with(&base(), more).to_string())
            .expect("valid")
            .to_json()
    };
    let plain = of(json!({"edge_rate": "1gbit"}));
    let spelled = json!({"edge_rate": "1gbit", "edge_limit": 1000, "loss_up": 0, "loss_down": -0.0, "jitter_up": "0s",
                         "jitter_down": "0ms", "downloads": []});
    assert_eq!(of(spelled), plain);
    let full = of(json!({
        "edge_rate": "1gbit", "edge_limit": 300, "loss_up": 0.001, "jitter_down": "20ms",
        "flows": [{"name": "t", "direction": "up", "write": "150b", "write_interval": "300ms"}],
        "downloads": [{"name": "d", "direction": "up", "bytes": 1_700_000, "gap": "9.5s"}],
    }));
    assert_eq!(Scenario::from_json(&full).expect("valid").to_json(), full);
    for part in [
        "\"edge_limit\":300",
        "\"loss_up\":0.001",
        "\"jitter_down\":\"20ms\"",
        "\"write\":\"150b\"",
        "\"write_interval\":\"300ms\"",
        "\"gap\":\"9.5s\"",
    ] {
        assert!(full.contains(part), "{part}: {full}");
    }
}
