//! Voice streams and web clients.

use super::cases::{base, check, error, probe, web};
use super::common::with;
use serde_json::json;

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
    for key in ["codec", "frame", "bitrate"] {
        check(&[(
            probe("icmp", json!({key: "opus"})),
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
            with(&base(), json!({"web": ["w"]})),
            "web[0] is \"w\", but must be an object",
        ),
        (
            with(&base(), json!({"web": {}})),
            "web is an object, but must be a list",
        ),
        (
            with(&web(json!({})), json!({"flows": [{"name": "w", "direction": "up"}]})),
            "name is \"w\" twice, but must be unique among flows, probes and web clients",
        ),
    ]);
    let unknown = error(&web(json!({"congestion_control": "vegas"})).to_string());
    assert!(
        unknown.starts_with("web[0].congestion_control is \"vegas\", but must be"),
        "{unknown}"
    );
    let unknown = error(&web(json!({"worker": 1})).to_string());
    assert!(unknown.starts_with("key \"web[0].worker\" is unknown"), "{unknown}");
}
