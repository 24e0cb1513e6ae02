//! Numbers are those in the messages that `tc` of iproute2 6.1 sends (`strace -e trace=sendmsg tc qdisc add ...`).

use super::*;
use crate::OptionValue;
use crate::netlink::Options;
use sojourn_units::Rate;
use std::collections::BTreeMap;

fn options(text: &str) -> Options {
    kernel_options(text, Some(Rate::from_mbit(10)))
        .unwrap_or_else(|e| panic!("{text}: {e}"))
        .options
}

fn error(text: &str) -> String {
    kernel_options(text, None).expect_err(text).to_string()
}

fn is(text: &str, expected: &[(&str, OptionValue)]) {
    let options = options(text);
    let found: Vec<_> = options
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()))
        .collect();
    let mut expected = expected.to_vec();
    expected.sort_by_key(|(name, _)| *name);
    assert_eq!(found, expected, "{text}");
}

const fn n(n: i64) -> OptionValue {
    OptionValue::Number(n)
}

const ON: OptionValue = OptionValue::Flag(true);
const OFF: OptionValue = OptionValue::Flag(false);

fn word(text: &str) -> OptionValue {
    OptionValue::Text(text.to_owned())
}

/// `table` as (value, how often it stands there) in order.
fn stab(table: &[(u8, usize)]) -> OptionValue {
    let bytes = table
        .iter()
        .flat_map(|&(value, count)| std::iter::repeat_n(value, count));
    OptionValue::Text(bytes.fold(String::new(), |text, b| format!("{text}{b:02x}")))
}

#[test]
fn red_is_told_as_tc_computes_it() {
    let mut counts = vec![
        (0, 12),
        (1, 12),
        (2, 12),
        (3, 12),
        (4, 12),
        (5, 11),
        (6, 12),
        (7, 12),
        (8, 12),
        (9, 12),
        (10, 12),
    ];
    counts.extend([
        (11, 11),
        (12, 12),
        (13, 12),
        (14, 12),
        (15, 12),
        (16, 11),
        (17, 12),
        (18, 12),
        (19, 12),
        (20, 12),
    ]);
    counts.extend([(21, 6), (31, 1)]);
    is(
        "red limit 400000 min 12500 max 37500 avpkt 1000 burst 20 bandwidth 10mbit adaptive",
        &[
            ("limit_bytes", n(400_000)),
            ("min_bytes", n(12_500)),
            ("max_bytes", n(37_500)),
            ("wlog", n(4)),
            ("plog", n(21)),
            ("scell_log", n(14)),
            ("max_p", n(85_899_345)),
            ("ecn", OFF),
            ("harddrop", OFF),
            ("nodrop", OFF),
            ("adaptive", ON),
            ("stab", stab(&counts)),
        ],
    );
    let second = options("red limit 61440 min 5120 max 15360 avpkt 1000 probability 0.1 ecn harddrop bandwidth 1mbit");
    for (name, value) in [
        ("wlog", n(3)),
        ("plog", n(17)),
        ("scell_log", n(16)),
        ("max_p", n(429_496_729)),
        ("harddrop", ON),
    ] {
        assert_eq!(second[name], value, "{name}");
    }
    let OptionValue::Text(table) = &second["stab"] else {
        panic!("a table is text");
    };
    assert!(table.starts_with(&"00".repeat(15)) && !table.starts_with(&"00".repeat(16)));
    assert!(table.ends_with(&format!("{}1f", "11".repeat(12))), "{table}");
    assert_eq!(table.len(), 512);
}

#[test]
fn cake_is_told_as_tc_tells_it() {
    is(
        "cake lan wash",
        &[("rtt_us", n(1000)), ("target_us", n(50)), ("wash", ON)],
    );
    is("cake rtt 10us", &[("rtt_us", n(10)), ("target_us", n(1))]);
    is("cake", &[]);
    is(
        "cake bandwidth 10mbit ethernet ether-vlan ack-filter dual-srchost nat besteffort",
        &[
            ("bandwidth_bps", n(10_000_000)),
            ("diffserv", word("besteffort")),
            ("flow_mode", word("dual-srchost")),
            ("overhead", n(42)),
            ("mpu", n(84)),
            ("nat", ON),
            ("ack_filter", word("ack-filter")),
        ],
    );
    is(
        "cake conservative unlimited internet fwmark 0xff memlimit 4mb",
        &[
            ("bandwidth_bps", n(0)),
            ("overhead", n(48)),
            ("atm", word("atm")),
            ("rtt_us", n(100_000)),
            ("target_us", n(5000)),
            ("memlimit_bytes", n(4_194_304)),
            ("fwmark", n(255)),
        ],
    );
}

#[test]
fn fq_is_told_as_tc_tells_it() {
    // Source of the defaults: `fq_init`, for an Ethernet device.
    let told = |changed: &[(&'static str, OptionValue)]| {
        let mut all = BTreeMap::from([
            ("limit", n(10_000)),
            ("flow_limit", n(100)),
            ("buckets", n(1024)),
            ("orphan_mask", n(1023)),
            ("quantum_bytes", n(3028)),
            ("initial_quantum_bytes", n(15_140)),
            ("low_rate_threshold_bps", n(8 * 68_750)),
            ("pacing", ON),
            ("refill_delay_us", n(40_000)),
            ("timer_slack_ns", n(10_000)),
            ("horizon_us", n(10_000_000)),
            ("horizon_drop", ON),
        ]);
        all.extend(changed.iter().cloned());
        all.into_iter().collect::<Vec<_>>()
    };
    is("fq", &told(&[]));
    is(
        "fq limit 100 flow_limit 10p buckets 64 maxrate 10mbit nopacing",
        &told(&[
            ("limit", n(100)),
            ("flow_limit", n(10)),
            ("buckets", n(64)),
            ("maxrate_bps", n(8 * 1_250_000)),
            ("pacing", OFF),
        ]),
    );
    is(
        "fq low_rate_threshold 80kbit orphan_mask 0xff timer_slack 20us ce_threshold 4ms horizon 1s horizon_cap",
        &told(&[
            ("low_rate_threshold_bps", n(8 * 10_000)),
            ("orphan_mask", n(255)),
            ("timer_slack_ns", n(20_000)),
            ("ce_threshold_us", n(4000)),
            ("horizon_us", n(1_000_000)),
            ("horizon_drop", OFF),
        ]),
    );
    is(
        "fq weights 16384 16384 20000 priomap 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0",
        &told(&[
            ("priomap", word("0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0")),
            ("weights", word("16384 16384 20000")),
        ]),
    );
}

#[test]
fn modelled_kinds_are_told_every_parameter() {
    is(
        "fq_pie flows 16 tupdate 20ms alpha 4 quantum 300 memory_limit 1mb ecn_prob 20 ecn",
        &[
            ("limit", n(10_240)),
            ("flows", n(16)),
            ("target_us", n(15_000)),
            ("tupdate_us", n(20_000)),
            ("alpha", n(4)),
            ("beta", n(20)),
            ("quantum_bytes", n(300)),
            ("memory_limit_bytes", n(1_048_576)),
            ("ecn_prob", n(20)),
            ("ecn", ON),
            ("bytemode", OFF),
            ("dq_rate_estimator", OFF),
        ],
    );
    is("pfifo limit 127", &[("limit", n(127))]);
    is("bfifo limit 10kb", &[("limit_bytes", n(10_240))]);
    is("pfifo_fast limit 127 variant linux-3.14", &[("limit", n(127))]);
    is(
        "codel target 13ms ce_threshold 1ms",
        &[
            ("limit", n(1000)),
            ("target_us", n(13_000)),
            ("interval_us", n(100_000)),
            ("ce_threshold_us", n(1000)),
            ("ecn", OFF),
        ],
    );
    is(
        "gbw:pie",
        &[
            ("limit", n(1000)),
            ("target_us", n(20_000)),
            ("tupdate_us", n(30_000)),
            ("alpha", n(2)),
            ("beta", n(20)),
            ("ecn", OFF),
            ("bytemode", OFF),
            ("dq_rate_estimator", OFF),
        ],
    );
    is(
        "gbw:fq_codel",
        &[
            ("limit", n(10_240)),
            ("flows", n(1024)),
            ("quantum_bytes", n(1514)),
            ("target_us", n(5000)),
            ("interval_us", n(100_000)),
            ("memory_limit_bytes", n(32 << 20)),
            ("drop_batch", n(64)),
            ("ecn", OFF),
        ],
    );
    is(
        "sfq limit 127 perturb 10",
        &[
            ("limit", n(127)),
            ("depth", n(127)),
            ("flows", n(128)),
            ("divisor", n(1024)),
            ("quantum_bytes", n(1514)),
            ("perturb_s", n(10)),
            ("headdrop", OFF),
        ],
    );
    is(
        "tbf rate 10mbit burst 3028 limit 100000",
        &[
            ("rate_bps", n(10_000_000)),
            ("burst_bytes", n(3028)),
            ("limit_bytes", n(100_000)),
            ("overhead", n(0)),
            ("mpu_bytes", n(0)),
            ("linklayer", word("ethernet")),
        ],
    );
    is(
        "netem delay 15ms limit 110",
        &[("limit", n(110)), ("delay_ns", n(15_000_000))],
    );
}

#[test]
fn canonical_text_of_a_kernels_discipline_says_the_same_again() {
    for (text, canonical) in [
        ("  cake ", "cake"),
        ("cake wash bandwidth 1000kbit lan", "cake bandwidth 1mbit rtt 1ms wash"),
        ("cake docsis ether-vlan", "cake overhead 22 mpu 64 noatm"),
        ("cake ether-vlan ether-vlan ptm", "cake overhead 8 ptm"),
        (
            "cake overhead 9 atm raw overhead -4 egress",
            "cake raw overhead -4 egress",
        ),
        ("cake fwmark 0x10", "cake fwmark 16"),
        (
            "fq nopacing limit 10p orphan_mask 0xff",
            "fq limit 10 flow_limit 100 buckets 1024 orphan_mask 255 quantum 3028 initial_quantum 15140 \
             low_rate_threshold 550kbit nopacing refill_delay 40ms timer_slack 10us horizon 10s horizon_drop",
        ),
        (
            "fq weights 65536 32768 16384 maxrate 1gbit",
            "fq limit 10000 flow_limit 100 buckets 1024 orphan_mask 1023 quantum 3028 initial_quantum 15140 \
             maxrate 1gbit low_rate_threshold 550kbit pacing refill_delay 40ms timer_slack 10us horizon 10s \
             horizon_drop weights 65536 32768 16384 variant linux-7.3",
        ),
        (
            "fq_pie dq_rate_estimator bytemode memory_limit 1mb",
            "fq_pie limit 10240 flows 1024 target 15ms tupdate 15ms alpha 2 beta 20 quantum 1514 memory_limit 1Mb \
             ecn_prob 10 noecn bytemode dq_rate_estimator",
        ),
    ] {
        let spec = Discipline::parse(text, None).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(spec.to_string(), canonical);
        assert_eq!(Discipline::parse(canonical, None), Ok(spec));
    }
}

#[test]
fn a_kernel_is_not_told_of_variants() {
    for (text, canonical) in [
        (
            "pie variant linux-3.14",
            "pie limit 1000 target 20ms tupdate 30ms alpha 2 beta 20 noecn",
        ),
        ("codel variant ns2", "codel limit 1000 target 5ms interval 100ms noecn"),
        (
            "fq_codel limit 127 variant linux-3.14",
            "fq_codel limit 127 flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64",
        ),
        (
            "fq_codel limit 25 target 65ms interval 300ms variant ns2",
            "fq_codel limit 25 flows 1024 quantum 1514 target 65ms interval 300ms memory_limit 32Mb noecn drop_batch 64",
        ),
        (
            "fq_codel quantum 300 variant ns2",
            "fq_codel limit 50 flows 1024 quantum 300 target 5ms interval 100ms memory_limit 32Mb noecn drop_batch 64",
        ),
        ("pfifo_fast variant linux-3.14", "pfifo_fast limit 1000"),
        (
            "fq variant linux-7.3",
            "fq limit 10000 flow_limit 100 buckets 1024 orphan_mask 1023 quantum 3028 initial_quantum 15140 \
             low_rate_threshold 550kbit pacing refill_delay 40ms timer_slack 10us horizon 10s horizon_drop",
        ),
        ("cake", "cake"),
    ] {
        let spec = Discipline::parse(text, None).unwrap().for_kernel();
        assert_eq!(spec.to_string(), canonical);
        assert_eq!(Discipline::parse(canonical, None), Ok(spec));
    }
}

#[test]
fn what_is_no_discipline_of_a_kernel_is_refused_with_a_sentence() {
    for (text, sentence) in [
        ("cake rtt", "cake.rtt has no value, but must have one (time)"),
        ("cake internet lan", "cake.lan is given twice, but must be given once"),
        ("cake overhead 500", "cake.overhead is 500, but must be <= 256"),
        ("cake mpu -1", "cake.mpu is -1, but must be >= 0"),
        (
            "cake rtt 1500ns",
            "cake.rtt is \"1500ns\", but must be a number >= 0 with unit s, ms or us, such as 5ms",
        ),
        (
            "cake fwmark 0xz",
            "cake.fwmark is \"0xz\", but must be a whole number >= 0",
        ),
        (
            "cake overhead 0x5",
            "cake.overhead is \"0x5\", but must be a whole number",
        ),
        ("cake overhead -", "cake.overhead is \"-\", but must be a whole number"),
        ("fq buckets 3", "fq.buckets is 3, but must be a power of two"),
        (
            "fq maxrate 7bit",
            "fq.maxrate is 7bit, but must be at least 8bit, a byte a second",
        ),
        (
            "fq maxrate 100gbit",
            "fq.maxrate is 100gbit, but must be <= 34359738352",
        ),
        ("fq quantum 0", "fq.quantum is 0, but must be > 0"),
        (
            "fq quantum 255 variant linux-7.3",
            "fq.quantum is 255, but must be >= 256",
        ),
        ("fq weights 1 2", "fq.weights is 1 2, but must be 3 numbers"),
        (
            "fq weights 1 2 3",
            "fq.weights is 1 2 3, but must be 3 weights, each from 16384 to 2147483647",
        ),
        (
            "fq priomap 0 1 2 3 0 0 0 0 0 0 0 0 0 0 0 0",
            "fq.priomap is 0 1 2 3 0 0 0 0 0 0 0 0 0 0 0 0, but must be 16 bands, each 0 to 2",
        ),
        (
            "fq priomap variant linux-7.3",
            "fq.priomap has no value, but must have one (numbers)",
        ),
        (
            "fq horizon 1500ns",
            "fq.horizon is \"1500ns\", but must be a number >= 0 with unit s, ms or us, such as 5ms",
        ),
        (
            "fq orphan_mask 0x+1",
            "fq.orphan_mask is \"0x+1\", but must be a whole number >= 0",
        ),
        (
            "fq_pie alpha x",
            "fq_pie.alpha is \"x\", but must be a whole number >= 0",
        ),
        ("fq_pie ecn_prob 100", "fq_pie.ecn_prob is 100, but must be <= 99"),
        (
            "red limit 400000000 min 12500000 max 37500000 avpkt 1000 bandwidth 10gbit",
            "red.min is 12500000, but must be less than 2^17 with this burst, as the kernel takes it",
        ),
    ] {
        assert_eq!(error(text), sentence, "{text}");
    }
    assert!(error("fq foo").starts_with("\"foo\" is no parameter of fq; its parameters are limit, "));
    assert_eq!(
        QdiscSpec::parse("cake fwmark 0xff", None).unwrap_err().to_string(),
        "cake.fwmark needs a kernel's firewall marks: use the linux back end"
    );
}
