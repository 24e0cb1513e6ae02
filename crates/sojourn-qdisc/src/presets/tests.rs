use super::*;
use crate::Discipline;

/// What `name` says at a rate, as the value of `word`.
fn cell(name: &str, mbit: u64, word: &str) -> String {
    let text = find(name).unwrap().at(Rate::from_mbit(mbit)).unwrap().to_string();
    let mut words = text.split(' ').skip_while(|&w| w != word);
    words.next().unwrap_or_else(|| panic!("{word} is not in {text}"));
    words.next().unwrap_or_default().to_owned()
}

/// Table 1 of seed 000, row by row: preset, parameter, cells at 1, 10 and 100 Mbit/s.
const TABLE_1: &[(&str, &str, [&str; 3])] = &[
    ("gbw:pfifo_fast", "limit", ["127", "127", "1000"]),
    ("gbw:ared", "min", ["1514", "12500", "125000"]),
    ("gbw:ared", "bandwidth", ["1mbit", "10mbit", "100mbit"]),
    ("gbw:ared", "max", ["3028", "37500", "375000"]),
    ("gbw:pie", "target", ["20ms", "20ms", "20ms"]),
    ("gbw:pie", "tupdate", ["30ms", "30ms", "30ms"]),
    ("gbw:pie", "limit", ["1000", "1000", "1000"]),
    ("gbw:codel", "target", ["13ms", "5ms", "5ms"]),
    ("gbw:codel", "interval", ["100ms", "100ms", "100ms"]),
    ("gbw:codel", "limit", ["1000", "1000", "1000"]),
    ("gbw:sfq", "limit", ["127", "127", "1000"]),
    ("gbw:fq_codel", "target", ["13ms", "5ms", "5ms"]),
    ("gbw:fq_codel", "interval", ["100ms", "100ms", "100ms"]),
    ("gbw:fq_codel", "limit", ["10240", "10240", "10240"]),
    ("gbw:fq_nocodel", "limit", ["127", "127", "1000"]),
    ("gbw:fq_nocodel", "target", ["100s", "100s", "100s"]),
    ("gbw:fq_nocodel", "interval", ["100s", "100s", "100s"]),
    // Not in the table: the values of the reference measurements, as the module's Deviation says.
    ("gbw:ared", "limit", ["400000", "400000", "1500000"]),
    ("gbw:ared", "avpkt", ["1000", "1000", "1000"]),
    ("gbw:ared", "burst", ["2", "20", "208"]),
];

#[test]
fn every_cell_of_table_1_is_as_published() {
    for (name, word, cells) in TABLE_1 {
        for (mbit, expected) in [1, 10, 100].into_iter().zip(cells) {
            assert_eq!(&cell(name, mbit, word), expected, "{name} {word} at {mbit} Mbit/s");
        }
    }
}

#[test]
fn the_papers_kernel_is_named_wherever_it_differs_from_todays() {
    for mbit in [1, 10, 100] {
        for preset in presets() {
            let Some(name) = preset.name.strip_prefix("gbw:") else {
                continue;
            };
            let text = preset.at(Rate::from_mbit(mbit)).unwrap().to_string();
            let old = ["pfifo_fast", "ared", "pie", "codel", "fq_codel", "fq_nocodel"].contains(&name);
            assert_eq!(text.ends_with("variant linux-3.14"), old, "{text}");
            let aqm = ["pie", "codel", "fq_codel", "fq_nocodel"].contains(&name);
            assert_eq!(text.contains(" noecn"), aqm, "{text}");
            assert!(!text.contains(" ecn"), "{text}");
        }
    }
}

#[test]
fn other_rates_follow_the_tables_rules() {
    assert_eq!(cell("gbw:codel", 2, "target"), "7ms", "a full frame takes 6.056 ms");
    assert_eq!(cell("gbw:codel", 50, "target"), "5ms");
    assert_eq!(cell("gbw:ared", 20, "min"), "25000");
    assert_eq!(cell("gbw:ared", 20, "max"), "75000");
    assert_eq!(
        [cell("gbw:sfq", 99, "limit"), cell("gbw:sfq", 1000, "limit")],
        ["127", "1000"]
    );
}

#[test]
fn every_preset_builds_from_64_kbit_to_10_gbit() {
    for preset in presets() {
        for bps in [64_000, 1_000_000, 1_300_000, 5_000_000, 1_000_000_000, 10_000_000_000] {
            let spec = preset
                .discipline_at(Rate::from_bps(bps))
                .unwrap_or_else(|e| panic!("{} at {bps}: {e}", preset.name));
            assert_eq!(Discipline::parse(&spec.to_string(), None).as_ref(), Ok(&spec));
        }
    }
}

#[test]
fn rural_presets_are_those_of_seed_001() {
    let text = |name| find(name).unwrap().at(Rate::from_mbit(1)).unwrap().to_string();
    assert_eq!(text("rural:codel"), "codel limit 25 target 65ms interval 300ms noecn");
    assert!(text("rural:fq_codel").starts_with("fq_codel limit 25 flows 1024 quantum 1514 target 65ms interval 300ms"));
    assert_eq!(text("rural:droptail"), "pfifo limit 25");
    assert!(text("rural:sfq").starts_with("sfq limit 25 "));
    assert_eq!(
        text("rural:codel_default"),
        "codel limit 25 target 5ms interval 100ms noecn"
    );
    let default = text("rural:fq_codel_default");
    assert!(default.starts_with("fq_codel limit 25 flows 1024 quantum 1514 target 5ms interval 100ms"));
    assert!(default.contains(" noecn") && !default.contains("variant"), "{default}");
    for (name, expected) in [
        (
            "rural:codel_ns2",
            "codel limit 25 target 65ms interval 300ms noecn variant ns2",
        ),
        (
            "rural:codel_default_ns2",
            "codel limit 25 target 5ms interval 100ms noecn variant ns2",
        ),
        (
            "rural:fq_codel_ns2",
            "fq_codel limit 25 flows 1024 quantum 0 target 65ms interval 300ms noecn variant ns2",
        ),
        (
            "rural:fq_codel_default_ns2",
            "fq_codel limit 25 flows 1024 quantum 0 target 5ms interval 100ms noecn variant ns2",
        ),
    ] {
        assert_eq!(text(name), expected);
    }
}

#[test]
fn no_two_presets_are_described_alike() {
    let all: std::collections::BTreeSet<_> = presets().into_iter().map(|preset| preset.summary).collect();
    assert_eq!(all.len(), TABLE.len());
}

/// By hand from `simple.qos`: at 20 Mbit/s a third is 6666 kbit/s, a sixth 3333, and a millisecond 2500 bytes.
#[test]
fn sqm_simple_builds_what_the_script_builds() {
    let class = "htb default 12 r2q 10 direct_qlen 1000 \
        ; class parent 1: classid 1:1 htb rate 20mbit ceil 20mbit burst 2500 cburst 2500 prio 0 quantum 2500 \
        ; class parent 1:1 classid 1:11 htb rate 128kbit ceil 6.666mbit burst 1600 cburst 1600 prio 1 quantum 2500 \
        ; class parent 1:1 classid 1:12 htb rate 3.333mbit ceil 19.984mbit burst 2500 cburst 2500 prio 2 quantum 2500 \
        ; class parent 1:1 classid 1:13 htb rate 3.333mbit ceil 19.984mbit burst 2500 cburst 2500 prio 3 quantum 2500";
    let leaf =
        "fq_codel limit 1001 flows 1024 quantum 300 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64";
    let expected = format!(
        "{class} ; qdisc parent 1:11 {leaf} ; qdisc parent 1:12 {leaf} ; qdisc parent 1:13 {leaf} \
         ; filter parent 1: dscp CS1 flowid 1:13 ; filter parent 1: dscp 4 AF22 AF42 EF CS6 52 flowid 1:11"
    );
    let simple = find("sqm:simple").unwrap();
    assert_eq!(simple.at(Rate::from_mbit(20)).unwrap().to_string(), expected);
    // At 1 Mbit/s a millisecond is 125 bytes; 1548 bytes are 33 cells of 53, 1749, and take 13992 us.
    let slow = simple.at(Rate::from_mbit(1)).unwrap().to_string();
    for part in [
        "burst 1749 cburst 1749 prio 0 quantum 1749",
        "rate 166kbit ceil 984kbit",
        "target 13.992ms interval 108.992ms",
    ] {
        assert!(slow.contains(part), "{part} in {slow}");
    }
}

#[test]
fn sqm_simplest_has_one_class_and_the_cakes_are_cakes() {
    let at = |name: &str| {
        find(name)
            .unwrap()
            .discipline_at(Rate::from_mbit(100))
            .unwrap()
            .to_string()
    };
    assert_eq!(
        at("sqm:simplest"),
        "htb default 10 r2q 10 direct_qlen 1000 \
         ; class parent 1: classid 1:1 htb rate 100mbit ceil 100mbit burst 12500 cburst 12500 prio 0 quantum 12500 \
         ; class parent 1:1 classid 1:10 htb rate 100mbit ceil 100mbit burst 12500 cburst 12500 prio 0 quantum 12500 \
         ; qdisc parent 1:10 fq_codel limit 1001 flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn \
         drop_batch 64"
    );
    for (name, word) in [("sqm:piece_of_cake", "besteffort"), ("sqm:layer_cake", "diffserv3")] {
        let text = at(name);
        assert!(
            text.starts_with("cake bandwidth 100mbit") && text.contains(word),
            "{text}"
        );
    }
}
