//! What a kernel is told of disciplines, byte by byte. Attribute numbers and structures: `linux/pkt_sched.h` of Linux
//! 6.1.

use sojourn_qdisc::{Counters, Discipline, OptionValue, descriptor, kernel_options};
use std::collections::BTreeMap;

/// Attributes by number, as `linux/netlink.h` lays them: length, type, payload, padding to four bytes.
fn attributes(mut data: &[u8]) -> BTreeMap<u16, Vec<u8>> {
    let mut found = BTreeMap::new();
    while let [a, b, c, d, ..] = *data {
        let length = usize::from(u16::from_ne_bytes([a, b]));
        assert!((4..=data.len()).contains(&length), "{length}");
        found.insert(u16::from_ne_bytes([c, d]), data[4..length].to_vec());
        data = &data[length.next_multiple_of(4).min(data.len())..];
    }
    found
}

fn payload(text: &str) -> Vec<u8> {
    let options = kernel_options(text, None).expect(text);
    options.encode().expect(text).payload.expect(text)
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

/// Each option of the kinds whose options are attributes, with a value that nothing else has: its number and its
/// bytes.
#[test]
fn attributes_have_the_numbers_of_the_kernels_header() {
    let byte = |n: u8| vec![n];
    let word = |n: u32| n.to_ne_bytes().to_vec();
    let long = |n: u64| n.to_ne_bytes().to_vec();
    let cases: &[(&str, u16, Vec<u8>)] = &[
        ("codel target 7ms", 1, word(7000)),
        ("codel limit 77", 2, word(77)),
        ("codel interval 77ms", 3, word(77_000)),
        ("codel ecn", 4, word(1)),
        ("codel noecn", 4, word(0)),
        ("codel ce_threshold 3ms", 5, word(3000)),
        ("fq_codel target 7ms", 1, word(7000)),
        ("fq_codel limit 77", 2, word(77)),
        ("fq_codel interval 77ms", 3, word(77_000)),
        ("fq_codel noecn", 4, word(0)),
        ("fq_codel flows 64", 5, word(64)),
        ("fq_codel quantum 300", 6, word(300)),
        ("fq_codel ce_threshold 3ms", 7, word(3000)),
        ("fq_codel drop_batch 7", 8, word(7)),
        ("fq_codel memory_limit 3Mb", 9, word(3 << 20)),
        ("pie target 7ms", 1, word(7000)),
        ("pie limit 77", 2, word(77)),
        ("pie tupdate 33ms", 3, word(33_000)),
        ("pie alpha 3", 4, word(3)),
        ("pie beta 17", 5, word(17)),
        ("pie ecn", 6, word(1)),
        ("fq limit 77", 1, word(77)),
        ("fq flow_limit 7", 2, word(7)),
        ("fq quantum 3000", 3, word(3000)),
        ("fq initial_quantum 9000", 4, word(9000)),
        ("fq nopacing", 5, word(0)),
        ("fq maxrate 8mbit", 7, word(1_000_000)),
        ("fq buckets 2048", 8, word(11)),
        ("fq refill_delay 7ms", 9, word(7000)),
        ("fq orphan_mask 0x3ff", 10, word(0x3ff)),
        ("fq low_rate_threshold 80kbit", 11, word(10_000)),
        ("fq ce_threshold 3ms", 12, word(3000)),
        ("fq timer_slack 3us", 13, word(3000)),
        ("fq horizon 3s", 14, word(3_000_000)),
        ("fq horizon_cap", 15, byte(0)),
        (
            "fq priomap 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0",
            16,
            [word(3), [0, 1, 2].repeat(5), vec![0]].concat(),
        ),
        ("fq weights 16384 16385 16386", 17, words(&[16_384, 16_385, 16_386])),
        ("fq_pie limit 77", 1, word(77)),
        ("fq_pie flows 64", 2, word(64)),
        ("fq_pie target 7ms", 3, word(7000)),
        ("fq_pie tupdate 33ms", 4, word(33_000)),
        ("fq_pie alpha 3", 5, word(3)),
        ("fq_pie beta 17", 6, word(17)),
        ("fq_pie quantum 300", 7, word(300)),
        ("fq_pie memory_limit 3Mb", 8, word(3 << 20)),
        ("fq_pie ecn_prob 20", 9, word(20)),
        ("fq_pie ecn", 10, word(1)),
        ("fq_pie bytemode", 11, word(1)),
        ("fq_pie dq_rate_estimator", 12, word(1)),
        ("dualpi2 limit 77", 1, word(77)),
        ("dualpi2 limit 77", 2, word(77 * 3028)),
        ("dualpi2 memlimit 3145728", 2, word(3 << 20)),
        ("dualpi2 target 7ms", 3, word(7000)),
        ("dualpi2 tupdate 33ms", 4, word(33_000)),
        ("dualpi2 alpha 0.3", 5, word(76)),
        ("dualpi2 beta 5", 6, word(1280)),
        ("dualpi2 step_thresh 3p", 7, word(3)),
        ("dualpi2 step_thresh 3ms", 8, word(3000)),
        ("dualpi2 min_qlen_step 4", 9, word(4)),
        ("dualpi2 coupling_factor 3", 10, byte(3)),
        ("dualpi2 overflow", 11, byte(0)),
        ("dualpi2 drop_enqueue", 12, byte(1)),
        ("dualpi2 classic_protection 25%", 13, byte(25)),
        ("dualpi2 any_ect", 14, byte(3)),
        ("dualpi2 no_split_gso", 15, byte(0)),
        ("cake bandwidth 8mbit", 2, long(1_000_000)),
        ("cake diffserv8", 3, word(2)),
        ("cake ptm", 4, word(2)),
        ("cake dual-dsthost", 5, word(6)),
        ("cake overhead -4", 6, word((-4i32).cast_unsigned())),
        ("cake rtt 20ms", 7, word(20_000)),
        ("cake rtt 20ms", 8, word(1000)),
        ("cake autorate-ingress", 9, word(1)),
        ("cake memlimit 3Mb", 10, word(3 << 20)),
        ("cake nat", 11, word(1)),
        ("cake raw", 12, word(1)),
        ("cake wash", 13, word(1)),
        ("cake mpu 84", 14, word(84)),
        ("cake ingress", 15, word(1)),
        ("cake ack-filter-aggressive", 16, word(2)),
        ("cake no-split-gso", 17, word(0)),
        ("cake fwmark 0xf0", 18, word(0xf0)),
    ];
    for (text, number, bytes) in cases {
        assert_eq!(attributes(&payload(text)).get(number), Some(bytes), "{text}");
    }
}

/// `tc_red_qopt`, the table of idle times, the probability and the flags with their selector.
///
/// The thresholds are 12500 and 37500: W is 2^-4 by `tc_red_eval_ewma`, and 0.02 / 25000 can be doubled 20 times.
#[test]
fn red_has_a_structure_a_table_a_probability_and_flags() {
    let text = "red limit 400000 min 12500 max 37500 avpkt 1000 burst 20 bandwidth 10mbit";
    for (flags, bits) in [
        ("", 0),
        (" ecn", 1),
        (" ecn harddrop", 3),
        (" adaptive", 4),
        (" ecn nodrop", 9),
    ] {
        let found = attributes(&payload(&format!("{text}{flags}")));
        let [structure, table, probability, switches] = [1, 2, 3, 4].map(|n| &found[&n]);
        assert_eq!(structure[..12], words(&[400_000, 12_500, 37_500]), "{flags}");
        assert_eq!((structure.len(), structure[12], structure[15]), (16, 4, 0), "{flags}");
        // 256 entries that fall from that of no idle time.
        assert_eq!(table.len(), 256);
        assert!(table[0] == 0 && table[255] > 0, "{table:?}");
        // 0.02 of 2^32, cut off as `tc` does it.
        assert_eq!(*probability, words(&[85_899_345]), "{flags}");
        assert_eq!(*switches, words(&[bits, 15]), "{flags}");
    }
}

/// `tc_netem_qopt`: latency, limit, loss, gap, duplicate, jitter; then `TCA_NETEM_LATENCY64` (10) and, with jitter, a
/// rate (`TCA_NETEM_RATE64`, 8), which keeps packets in order, and `TCA_NETEM_JITTER64` (11).
#[test]
fn netem_has_a_structure_and_times_of_64_bits() {
    let of = |jitter: i64| {
        let mut options = kernel_options("netem limit 77 delay 20ms", None).expect("known");
        options.options.insert("loss".into(), OptionValue::Number(1 << 30));
        options.options.insert("jitter_ns".into(), OptionValue::Number(jitter));
        let payload = options.encode().expect("known").payload.expect("some");
        assert_eq!(payload[..24], words(&[0, 77, 1 << 30, 0, 0, 0]), "{jitter}");
        attributes(&payload[24..])
    };
    let long = |n: u64| n.to_ne_bytes().to_vec();
    for jitter in [0, 1] {
        assert_eq!(of(jitter), BTreeMap::from([(10, long(20_000_000))]), "{jitter}");
    }
    for (jitter, half) in [(2, 1), (3, 1), (10_000_000, 5_000_000)] {
        let found = of(jitter);
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [8, 10, 11], "{jitter}");
        assert_eq!(
            (&found[&10], &found[&11]),
            (&long(20_000_000 + half), &long(half)),
            "{jitter}"
        );
    }
}

#[test]
fn words_tell_disciplines_of_a_kind_apart() {
    let [cake, wash] = ["cake", "cake wash"].map(|text| Discipline::parse(text, None).expect(text));
    assert_ne!(cake, wash);
    assert_eq!(cake, Discipline::parse("cake", None).expect("known"));
}

/// The members of each kind's `tc_*_xstats`, with their sizes in bytes; padding and the type of a union have no name.
#[test]
fn counters_lie_where_the_kernels_structures_have_them() {
    let members = |kind: &str| -> Vec<(&str, usize)> {
        match descriptor(kind).expect(kind).counters {
            Counters::Members(rows) => rows.iter().map(|(name, form)| (*name, form.size())).collect(),
            Counters::Attributes { .. } => panic!("{kind} has attributes"),
        }
    };
    let words = |names: &[&'static str]| -> Vec<(&str, usize)> { names.iter().map(|name| (*name, 4)).collect() };
    for kind in ["pfifo", "bfifo", "pfifo_fast", "tbf", "netem", "sfq"] {
        assert_eq!(members(kind), [], "{kind}");
    }
    assert_eq!(members("red"), words(&["early", "pdrop", "other", "marked"]));
    let codel = [
        "maxpacket",
        "count",
        "lastcount",
        "ldelay",
        "drop_next",
        "drop_overlimit",
        "ecn_mark",
        "dropping",
        "ce_mark",
    ];
    assert_eq!(members("codel"), words(&codel));
    let fq_codel = [
        "",
        "maxpacket",
        "drop_overlimit",
        "ecn_mark",
        "new_flow_count",
        "new_flows_len",
        "old_flows_len",
        "ce_mark",
        "memory_used",
        "drop_overmemory",
    ];
    assert_eq!(members("fq_codel"), words(&fq_codel));
    let mut pie = words(&[
        "delay",
        "avg_dq_rate",
        "dq_rate_estimating",
        "pkts_in",
        "dropped",
        "overlimit",
        "maxq",
        "ecn_mark",
    ]);
    pie.insert(0, ("prob", 8));
    assert_eq!(members("pie"), pie);
    let fq_pie = [
        "pkts_in",
        "dropped",
        "overlimit",
        "overmemory",
        "ecn_mark",
        "new_flow_count",
        "new_flows_len",
        "old_flows_len",
        "memory_used",
    ];
    assert_eq!(members("fq_pie"), words(&fq_pie));
    // Seven counters and a time of 64 bits, four of 32, three of 64; from Linux 6.8 on four of 64 and three of 32.
    assert_eq!(
        members("fq").iter().map(|(_, size)| size).sum::<usize>(),
        8 * 8 + 4 * 4 + 3 * 8 + 4 * 8 + 3 * 4
    );
    assert_eq!(
        (members("fq")[15], members("fq")[19]),
        (("fastpath", 8), ("band0_pkts", 4))
    );
    assert_eq!(members("fq")[8], ("flows", 4));
}

/// `red_check_params`: a threshold of n bits and a weight of 2^-w fit while n + w < 32.
#[test]
fn reds_thresholds_fit_into_32_bits_with_their_weight() {
    // `tc_red_eval_ewma`: 201 <= (1 - (1 - W)^700) / W holds for W = 2^-8 (239) and not for 2^-7 (127).
    let text = |min: u32, max: u32| {
        format!("red limit 4000000000 min {min} max {max} avpkt 1000 burst 700 bandwidth 1gbit probability 0.9")
    };
    let fits = payload(&text(500_000, (1 << 23) - 1));
    assert_eq!(attributes(&fits)[&1][12], 8);
    let error = kernel_options(&text(500_000, 1 << 23), None).expect_err("24 bits and 8");
    assert_eq!(
        error.to_string(),
        "red.max is 8388608, but must be less than 2^23 with this burst, as the kernel takes it"
    );
}
