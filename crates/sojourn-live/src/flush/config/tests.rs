use super::*;
use sojourn_units::Duration;

fn error(text: &str) -> String {
    Config::parse(text, &[]).expect_err(text).to_string()
}

#[test]
fn an_empty_file_is_passive_and_allows_nothing() {
    let config = Config::parse("", &[]).expect("defaults");
    assert!(!config.pipeline.gate.active);
    assert!(config.pipeline.gate.allow.is_empty());
    assert_eq!(config.pipeline.flusher, FlusherParams::ADAPTIVE);
    assert_eq!((config.port, config.interface, config.metrics), (9, None, None));
}

#[test]
fn each_key_is_read() {
    let text = r#"
        interface = "eth0"
        promiscuous = true
        user = "nobody"
        active = true
        events = "all"
        decisions = "/var/log/decisions"
        [flusher]
        preset = "as_described"
        threshold = 1.5
        [gate]
        allow = ["192.0.2.0/24", "2001:db8::/32", "198.51.100.7"]
        from = ["10.1.0.0/16", "10.2.0.1"]
        bytes_per_minute = 200000
        bytes_per_flush = 100000
        bdp_multiple = 1.25
        max_rtt = "2s"
        cool_down = "500ms"
        max_cool_down = "30s"
        kill_file = "/run/stop"
        [send]
        port = 10
        [log]
        file = "/var/log/flush"
        [metrics]
        listen = "[::1]:9469"
    "#;
    let config = Config::parse(text, &[]).expect("all of it");
    let gate = &config.pipeline.gate;
    assert!(gate.active && config.promiscuous);
    assert_eq!((gate.allow.len(), gate.from.len()), (3, 2));
    assert_eq!(
        (gate.bytes_per_minute, gate.bytes_per_flush, gate.bdp_thousandths),
        (200_000, 100_000, 1250)
    );
    assert_eq!(gate.max_rtt, Duration::from_secs(2));
    assert_eq!(
        (gate.cool_down, gate.max_cool_down),
        (Duration::from_millis(500), Duration::from_secs(30))
    );
    assert_eq!(config.pipeline.flusher.threshold.thousandths(), 1500);
    assert_eq!(config.pipeline.detail, Detail::All);
    assert_eq!(config.port, 10);
    assert_eq!(config.kill_file, Some("/run/stop".into()));
    assert_eq!(config.metrics.expect("an address").port(), 9469);
    // The command line is laid over it.
    let over = [
        ("interface", Value::from("wlan0")),
        ("gate.allow", Value::Array(vec!["10.0.0.0/8".into()])),
        ("flusher.threshold", Value::from(2.0)),
    ];
    let config = Config::parse(text, &over).expect("all of it");
    assert_eq!(config.interface.as_deref(), Some("wlan0"));
    assert_eq!(config.pipeline.gate.allow.len(), 1);
    assert_eq!(config.pipeline.flusher.threshold.thousandths(), 2000);
    assert_eq!(config.pipeline.gate.bytes_per_flush, 100_000);
}

#[test]
fn what_cannot_be_used_is_told_in_one_sentence_with_field_value_and_rule() {
    for (text, sentence) in [
        (
            "[gate]\nbytes_per_minute = -5",
            "gate.bytes_per_minute is integer `-5`, but must be a whole number >= 0",
        ),
        (
            "[gate]\nbytes_per_minute = 'much'",
            "gate.bytes_per_minute is string \"much\", but must be a whole number >= 0",
        ),
        (
            "[gate]\nbytes_per_minute = 2000000000",
            "gate.bytes_per_minute is 2000000000, but must be at most 1000000000",
        ),
        (
            "[gate]\nbytes_per_minute = 1000\nbytes_per_flush = 1001",
            "gate.bytes_per_flush is 1001, but must be at most 1000, which is gate.bytes_per_minute",
        ),
        (
            "[gate]\nbdp_multiple = 4.5",
            "gate.bdp_multiple is 4.5, but must be from 0.001 to 4, of at most three decimals",
        ),
        (
            "[gate]\nbdp_multiple = nan",
            "gate.bdp_multiple is NaN, but must be from 0.001 to 4, of at most three decimals",
        ),
        (
            "[gate]\nallow = ['0.0.0.0/0']",
            "gate.allow is \"0.0.0.0/0\", but must be a prefix of at least 8 bits of IPv4, or 16 of IPv6",
        ),
        (
            "[gate]\nallow = ['192.0.2.1/24']",
            "gate.allow is \"192.0.2.1/24\", but must be a prefix without bits beyond its length",
        ),
        (
            "[gate]\nfrom = ['0.0.0.0/0']",
            "gate.from is \"0.0.0.0/0\", but must be a prefix of at least 8 bits of IPv4, or 16 of IPv6",
        ),
        (
            "[gate]\nallow = ['example.net']",
            "gate.allow is \"example.net\", but must be a prefix such as \"192.0.2.0/24\" or \"2001:db8::/32\", or an address",
        ),
        (
            "[gate]\ncool_down = '1ms'",
            "gate.cool_down is 1ms, but must be from 100ms to 86400s",
        ),
        (
            "[gate]\ncool_down = '5'",
            "gate.cool_down is \"5\", but must be a time with its unit, such as \"500ms\" or \"2s\"",
        ),
        (
            "[gate]\ncool_down = '20s'\nmax_cool_down = '10s'",
            "gate.max_cool_down is 10s, but must be from 20s to 86400s",
        ),
        (
            "[metrics]\nlisten = '0.0.0.0:9469'",
            "metrics.listen is \"0.0.0.0:9469\", but must be a loopback address with a port, such as \"127.0.0.1:9469\" or \"[::1]:9469\"",
        ),
        ("[send]\nport = 0", "send.port is 0, but must be from 1 to 65535"),
        (
            "interface = 'eth0/1'",
            "interface is \"eth0/1\", but must be the name of a network interface, of 1 to 15 bytes without blanks and slashes",
        ),
        ("active = 1", "active is integer `1`, but must be true or false"),
        (
            "[flusher]\nthreshold = 0.5",
            "flusher.threshold is 0.5, but must be from 1.001 to 100",
        ),
    ] {
        assert_eq!(error(text), sentence);
    }
    let unknown = error("[gate]\nallowed = []");
    assert!(
        unknown.starts_with("gate.allowed is not a key of the configuration, but must be one of `allow`"),
        "{unknown}"
    );
    let unknown = error("[flusher]\ntreshold = 2.0");
    assert!(unknown.contains("treshold") && !unknown.contains('\n'), "{unknown}");
    let variant = error("events = 'everything'");
    assert!(
        variant.starts_with("events is \"everything\", but must be one of `decisions`"),
        "{variant}"
    );
    let syntax = error("active = true\nactive == false");
    assert!(
        syntax.starts_with("line 2 is not TOML: ") && !syntax.contains('\n'),
        "{syntax}"
    );
}
