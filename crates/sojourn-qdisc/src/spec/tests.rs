use super::*;
use crate::kinds;
use sojourn_units::Rate;

fn show(text: &str) -> String {
    QdiscSpec::parse(text, None)
        .unwrap_or_else(|e| panic!("{text}: {e}"))
        .to_string()
}

fn error(text: &str) -> String {
    QdiscSpec::parse(text, None).expect_err(text).to_string()
}

#[test]
fn a_bare_kind_has_the_defaults_of_tc_and_of_the_current_kernel() {
    // Source: tc-pfifo(8), tc-codel(8), tc-fq_codel(8), tc-pie(8), tc-sfq(8), and *_init of the kernel's modules.
    for (text, canonical) in [
        ("pfifo", "pfifo limit 1000"),
        ("bfifo", "bfifo limit 1514000"),
        ("pfifo_fast", "pfifo_fast limit 1000"),
        ("codel", "codel limit 1000 target 5ms interval 100ms noecn"),
        (
            "fq_codel",
            "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64",
        ),
        ("pie", "pie limit 1000 target 15ms tupdate 15ms alpha 2 beta 20 noecn"),
        ("sfq", "sfq limit 127 depth 127 flows 128 divisor 1024 quantum 1514"),
    ] {
        assert_eq!(show(text), canonical);
    }
}

#[test]
fn texts_of_the_manual_are_understood() {
    for (text, canonical) in [
        (
            "codel limit 1000 target 13ms interval 100ms noecn",
            "codel limit 1000 target 13ms interval 100ms noecn",
        ),
        (
            "red limit 400000 min 12500 max 37500 avpkt 1000 burst 20 bandwidth 10mbit adaptive",
            "red limit 400000 min 12500 max 37500 avpkt 1000 burst 20 bandwidth 10mbit adaptive",
        ),
        (
            "red limit 400000 min 12500 avpkt 1000",
            "red limit 400000 min 12500 max 37500 avpkt 1000 burst 20 bandwidth 10mbit",
        ),
        (
            "red limit 60kb avpkt 1000",
            "red limit 61440 min 5120 max 15360 avpkt 1000 burst 8 bandwidth 10mbit",
        ),
        (
            "pie limit 1000 target 20ms tupdate 30ms noecn",
            "pie limit 1000 target 20ms tupdate 30ms alpha 2 beta 20 noecn",
        ),
        (
            "fq_codel limit 127 target 100s interval 100s noecn drop_batch 1",
            "fq_codel limit 127 flows 1024 quantum 1514 target 100s interval 100s memory_limit 32Mb noecn drop_batch 1",
        ),
        (
            "sfq limit 127",
            "sfq limit 127 depth 127 flows 128 divisor 1024 quantum 1514",
        ),
        (
            "tbf rate 10mbit burst 3028 limit 1000000",
            "tbf rate 10mbit burst 3028 limit 1000000",
        ),
        (
            "tbf rate 1mbit burst 1540 latency 50ms",
            "tbf rate 1mbit burst 1540 limit 7790",
        ),
        (
            "fq_codel limit 10240p flows 1024 quantum 1514 target 5.0ms interval 100.0ms memory_limit 32Mb ecn drop_batch 64",
            "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64",
        ),
        ("  codel   ecn ", "codel limit 1000 target 5ms interval 100ms ecn"),
    ] {
        assert_eq!(show(text), canonical, "{text}");
    }
}

#[test]
fn variants_bring_their_own_defaults() {
    assert_eq!(
        show("pie variant linux-3.14"),
        "pie limit 1000 target 20ms tupdate 30ms alpha 2 beta 20 noecn variant linux-3.14"
    );
    assert_eq!(
        show("pie variant rfc8033"),
        "pie limit 1000 target 15ms tupdate 15ms alpha 2 beta 20 noecn variant rfc8033"
    );
    assert_eq!(
        show("fq_codel variant linux-3.14 limit 127"),
        "fq_codel limit 127 flows 1024 quantum 1514 target 5ms interval 100ms ecn variant linux-3.14"
    );
    assert_eq!(show("codel variant linux"), show("codel"));
}

#[test]
fn canonical_text_says_the_same_again() {
    for text in [
        "pfifo limit 3",
        "bfifo limit 10kb",
        "pfifo_fast variant linux-3.14",
        "codel ce_threshold 1ms variant ns2",
        "codel target 1.5ms interval 30.5ms ecn variant rfc8289",
        "fq_codel flows 7 quantum 300 memory_limit 4Mb ce_threshold 2ms",
        "fq_codel ce_threshold 1ms ce_threshold_selector 0x01/0x01",
        "fq_codel ce_threshold 1ms ce_threshold_selector 184/252",
        "fq_codel variant linux-3.14 noecn",
        "fq_codel variant ns2",
        "fq_codel limit 25 flows 256 quantum 1500 target 65ms interval 300ms variant ns2",
        "pie dq_rate_estimator bytemode ecn alpha 0 beta 32",
        "pie variant linux-3.14 bytemode",
        "red limit 400000 avpkt 1000 probability 0.1 ecn harddrop nodrop adaptive",
        "sfq headdrop perturb 10 depth 5 flows 100 limit 500",
        "tbf rate 1.5mbit buffer 2kb latency 10ms",
        "netem latency 1.5ms limit 110",
        "dualpi2 max_rtt 100ms step_thresh 5p classic_protection 25% overflow",
    ] {
        let spec = QdiscSpec::parse(text, None).unwrap();
        assert_eq!(QdiscSpec::parse(&spec.to_string(), None).as_ref(), Ok(&spec), "{text}");
    }
}

#[test]
fn what_is_unknown_is_named_with_what_is_known() {
    let text = error("fifo limit 3");
    for part in [
        "\"fifo\"",
        "pfifo, bfifo, pfifo_fast, red, pie, codel, sfq, fq_codel, fq_pie, dualpi2, cake, fq, tbf, netem",
        "prio, drr, ets, htb",
        "gbw:codel",
        "rural:fq_codel",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(
        error("codel speed 3"),
        "\"speed\" is no parameter of codel; its parameters are limit, target, interval, ce_threshold, ecn, noecn, variant"
    );
    assert_eq!(
        error("pfifo variant x"),
        "\"variant\" is no parameter of pfifo; its parameters are limit"
    );
    assert_eq!(
        error("codel variant linux-2.6"),
        "codel.variant is \"linux-2.6\", but must be one of linux, linux-ticks, linux-3.14, rfc8289, ns2"
    );
}

#[test]
fn bad_values_name_field_value_and_rule() {
    for (text, message) in [
        (
            "codel target 2h",
            "codel.target is \"2h\", but must be a number >= 0 with unit s, ms or us, such as 5ms",
        ),
        (
            "codel target -5ms",
            "codel.target is \"-5ms\", but must be a number >= 0 with unit s, ms or us, such as 5ms",
        ),
        (
            "codel target 5000s",
            "codel.target is 5000s, but must be at most 4294.967295s (32 bits of microseconds)",
        ),
        ("codel limit", "codel.limit has no value, but must have one (packets)"),
        (
            "pie tupdate 1us",
            "pie.tupdate is 1us, but must be at least 1ms, a tick of the kernel's fastest clock, which times its updates",
        ),
        (
            "codel limit -1",
            "codel.limit is \"-1\", but must be a whole number >= 0",
        ),
        (
            "codel limit 1e3",
            "codel.limit is \"1e3\", but must be a whole number >= 0",
        ),
        (
            "codel limit 99999999999",
            "codel.limit is 99999999999, but must be <= 4294967295",
        ),
        (
            "tbf rate 1mbit rate 2mbit",
            "tbf.rate is given twice, but must be given once",
        ),
        ("fq_codel flows 70000", "fq_codel.flows is 70000, but must be <= 65536"),
        (
            "fq_codel memory_limit 4Mb variant linux-3.14",
            "fq_codel.memory_limit is 4194304b, but must be absent with variant linux-3.14",
        ),
        ("sfq divisor 1000", "sfq.divisor is 1000, but must be a power of two"),
        ("sfq limit 1", "sfq.limit is 1, but must be >= 2"),
        (
            "red avpkt 1000",
            "red.limit is missing, but must be given (tc has no default)",
        ),
        (
            "red limit 400000",
            "red.avpkt is missing, but must be given (tc has no default)",
        ),
        (
            "red limit 400000 avpkt 1000 min 5000 max 5000",
            "red.max is 5000, but must be > min = 5000",
        ),
        (
            "red limit 400000 avpkt 1000 min 12500 burst 3",
            "red.burst is 3, but must be >= min / avpkt, such as 13",
        ),
        ("pie alpha 33", "pie.alpha is 33, but must be <= 32"),
        (
            "tbf rate 1mbit limit 3000",
            "tbf.burst is missing, but must be given (tc has no default)",
        ),
        (
            "tbf rate 1mbit burst 1540",
            "tbf.limit is missing, but must be given (tc has no default)",
        ),
        (
            "tbf rate 0 burst 1540 limit 1",
            "tbf.rate is \"0\", but must be a number > 0 with unit bit, kbit, mbit, gbit (or bps, kbps, mbps for bytes), such as 10mbit",
        ),
        (
            "tbf rate 1mbit burst 1540 limit 1 latency 1s",
            "tbf.latency is 1s, but must be absent where limit is given",
        ),
        (
            "tbf rate 1bit burst 20000 limit 1",
            "tbf.rate is 1bit, but must be at least 8bit, a byte a second",
        ),
        (
            "",
            "a queue discipline is empty text, but must be a kind such as \"fq_codel\" or \"codel target 5ms\"",
        ),
    ] {
        assert_eq!(error(text), message, "{text}");
    }
}

#[test]
fn netem_has_a_limit_and_a_constant_delay_only() {
    for (text, message) in [
        ("netem limit 0 delay 1ms", "netem.limit is 0, but must be > 0"),
        (
            "netem delay 7200s",
            "netem.delay is 7200s, but must be at most 4294.967295s",
        ),
        (
            "netem delay 1ms 2ms",
            "netem is not modelled here with a jitter (a number behind the delay): jitter_up and jitter_down of a scenario do \
             it",
        ),
    ] {
        assert_eq!(error(text), message, "{text}");
    }
}

#[test]
fn a_selector_is_a_value_within_a_mask_and_belongs_to_a_threshold() {
    const RULE: &str = "a value and a mask, two bytes with a slash between, such as 0x01/0x01";
    for text in ["1", "1/", "/1", "0x/1", "256/255", "0x100/1", "-1/1", "1/1/1", "0x1g/1"] {
        assert_eq!(
            error(&format!("fq_codel ce_threshold 1ms ce_threshold_selector {text}")),
            format!("fq_codel.ce_threshold_selector is {text:?}, but must be {RULE}")
        );
    }
    assert_eq!(
        error("fq_codel ce_threshold 1ms ce_threshold_selector 2/1"),
        "fq_codel.ce_threshold_selector is 2/1, but must be a value within its mask: no packet is like that"
    );
    assert_eq!(
        error("fq_codel ce_threshold_selector 1/1"),
        "fq_codel.ce_threshold_selector is 0x01/0x01, but must be absent without ce_threshold"
    );
}

#[test]
fn fq_codel_of_ns2_takes_what_ns2_has() {
    for (text, message) in [
        (
            "fq_codel quantum 255 variant ns2",
            "fq_codel.quantum is 255, but must be >= 256",
        ),
        (
            "fq_codel variant ns2 ecn",
            "fq_codel.ecn is ecn, but must be noecn with variant ns2, which marks nothing",
        ),
        (
            "fq_codel variant ns2 ce_threshold 1ms",
            "fq_codel.ce_threshold is 1ms, but must be absent with variant ns2, which marks nothing",
        ),
        (
            "fq_codel variant ns2 ce_threshold_selector 1/1",
            "fq_codel.ce_threshold_selector is 0x01/0x01, but must be absent with variant ns2",
        ),
        (
            "fq_codel variant ns2 memory_limit 4Mb",
            "fq_codel.memory_limit is 4194304b, but must be absent with variant ns2",
        ),
        (
            "fq_codel variant ns2 drop_batch 2",
            "fq_codel.drop_batch is 2, but must be <= 1",
        ),
        (
            "fq_codel variant rfc8290",
            "fq_codel.variant is \"rfc8290\", but must be one of linux, linux-ticks, linux-3.14, ns2",
        ),
    ] {
        assert_eq!(error(text), message, "{text}");
    }
    assert_eq!(
        show("fq_codel variant ns2"),
        "fq_codel limit 50 flows 1024 quantum 0 target 5ms interval 100ms noecn variant ns2"
    );
}

#[test]
fn a_preset_needs_the_rate_and_stands_alone() {
    assert_eq!(
        error("gbw:codel"),
        "preset \"gbw:codel\" depends on the link's rate, but no rate is given"
    );
    let rate = Some(Rate::from_mbit(1));
    assert_eq!(
        QdiscSpec::parse("gbw:codel ecn", rate).unwrap_err().to_string(),
        "\"ecn\" follows preset \"gbw:codel\", but a preset must stand alone"
    );
    assert_eq!(
        QdiscSpec::parse("gbw:codel", rate).unwrap().to_string(),
        "codel limit 1000 target 13ms interval 100ms noecn variant linux-3.14"
    );
    assert!(QdiscSpec::parse("gbw:nonesuch", rate).is_err());
}

#[test]
fn the_catalogue_lists_every_kind_and_parses_what_it_lists() {
    let all = kinds();
    for kind in all {
        assert!(!kind.summary.is_empty() && !kind.source.is_empty());
        let mut text = kind.kind.to_owned();
        match kind.kind {
            "red" => text.push_str(" limit 400000 avpkt 1000"),
            "tbf" => text.push_str(" rate 1mbit burst 1540 limit 10000"),
            "ets" => text.push_str(" bands 3"),
            _ => {}
        }
        let canonical = show(&text);
        for parameter in kind.parameters {
            assert!(!parameter.help.is_empty());
            if let (Some(default), true) = (&parameter.default, parameter.unit != "flag") {
                let said = show(&format!("{text} {} {default}", parameter.name));
                // The text of `cake` has what was given.
                let given = format!("{canonical} {} {default}", parameter.name);
                assert_eq!(said, if kind.kind == "cake" { given } else { canonical.clone() });
            }
        }
    }
}
