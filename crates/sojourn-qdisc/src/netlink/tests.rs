use super::*;
use crate::{Discipline, descriptors};

/// A text of each kind that says all its words.
fn counters_of(kind: &str) -> String {
    let words = match kind {
        "red" => "limit 400000 avpkt 1000 ecn",
        "tbf" => "rate 40gbit burst 64kb limit 1mb",
        "ets" => "strict 1 quanta 3000 1000",
        "codel" => "ce_threshold 1ms",
        "fq_codel" => "ce_threshold 1ms ce_threshold_selector 1/1",
        "cake" => {
            "bandwidth 8mbit besteffort raw ptm hosts overhead 18 rtt 20ms autorate-ingress memlimit 1mb nat wash mpu 64 \
             ingress ack-filter split-gso fwmark 1"
        }
        "fq" => {
            "limit 9 flow_limit 9 buckets 64 orphan_mask 1 quantum 999 initial_quantum 9 maxrate 8mbit \
             low_rate_threshold 8bit nopacing refill_delay 1ms timer_slack 1us ce_threshold 1ms horizon 1s horizon_drop \
             priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 2 weights 16384 16384 16384"
        }
        "fq_pie" => {
            "limit 9 flows 9 target 1ms tupdate 1ms alpha 1 beta 1 quantum 9 memory_limit 1mb ecn_prob 1 ecn bytemode \
             dq_rate_estimator"
        }
        _ => "",
    };
    format!("{kind} {words}")
}

/// What a kernel is told of each kind's options.
fn encoded(text: &str) -> NetlinkOptions {
    let options = Discipline::parse(text, None)
        .unwrap()
        .for_kernel()
        .kernel_options()
        .unwrap();
    options.encode().unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn every_option_of_every_kind_has_its_place() {
    for about in descriptors() {
        let text = counters_of(about.kind);
        let found = encoded(&text);
        assert_eq!(found.payload.is_none(), about.kind == "pfifo_fast", "{text}");
        if let Layout::Attributes(table) = about.layout {
            let options = Discipline::parse(&text, None)
                .unwrap()
                .for_kernel()
                .kernel_options()
                .unwrap();
            let names: Vec<&str> = options.options.keys().map(String::as_str).collect();
            let mut placed: Vec<&str> = table.iter().map(|row| row.0).filter(|name| !name.is_empty()).collect();
            placed.sort_unstable();
            assert_eq!(names, placed, "{text}");
        }
    }
}

/// The numbers are those of `linux/pkt_sched.h`; values are little-endian words.
#[test]
fn attributes_are_these_bytes() {
    let mut options = Discipline::parse("fq buckets 512 maxrate 8mbit horizon_cap", None)
        .unwrap()
        .kernel_options()
        .unwrap();
    options
        .options
        .retain(|name, _| ["buckets", "maxrate_bps", "horizon_drop"].contains(&name.as_str()));
    let found = options.encode().unwrap();
    assert!(found.nested);
    // TCA_FQ_BUCKETS_LOG 8, TCA_FQ_HORIZON_DROP 15 (one byte), TCA_FQ_FLOW_MAX_RATE 7 (bytes a second).
    let bytes = [
        [8, 0, 8, 0, 9, 0, 0, 0],
        [5, 0, 15, 0, 0, 0, 0, 0],
        [8, 0, 7, 0, 0x40, 0x42, 0x0f, 0],
    ];
    assert_eq!(found.payload, Some(bytes.concat()));
}

/// `TCA_FQ_CODEL_CE_THRESHOLD_SELECTOR` is 10 and `TCA_FQ_CODEL_CE_THRESHOLD_MASK` is 11, a byte each.
#[test]
fn a_selector_is_two_attributes() {
    let payload = encoded("fq_codel ce_threshold 1ms ce_threshold_selector 0x01/0x03")
        .payload
        .unwrap();
    let bytes = [[5, 0, 11, 0, 3, 0, 0, 0], [5, 0, 10, 0, 1, 0, 0, 0]].concat();
    assert!(payload.windows(16).any(|found| found == bytes), "{payload:?}");
    let without = encoded("fq_codel ce_threshold 1ms").payload.unwrap();
    assert_eq!(payload.len(), without.len() + 16);
}

/// A list of another length than the kernel's structure has no place.
#[test]
fn lists_have_as_many_numbers_as_their_place() {
    let mut options = Discipline::parse("fq", None).unwrap().kernel_options().unwrap();
    for (name, list, fits) in [
        ("weights", "1 2 3", true),
        ("weights", "1 2", false),
        ("weights", "1 2 x", false),
        ("priomap", "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 255", true),
        ("priomap", "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 256", false),
        ("priomap", "0", false),
    ] {
        options
            .options
            .insert(name.to_owned(), OptionValue::Text(list.to_owned()));
        assert_eq!(options.encode().is_ok(), fits, "{name} {list}");
        options.options.remove(name);
    }
}

/// As `tc qdisc add dev lo root tbf rate 40gbit burst 64kb limit 1mb` fills the words that are used here.
#[test]
fn tbf_is_a_structure_and_what_does_not_fit_there() {
    let found = encoded(&counters_of("tbf"));
    let payload = found.payload.unwrap();
    assert!(!found.nested);
    assert_eq!(payload[..4], [40, 0, 1, 0]);
    assert_eq!(payload[4 + 8..4 + 12], [0xff; 4]);
    assert_eq!(payload[4 + 24..4 + 28], 1_048_576_u32.to_le_bytes());
    assert_eq!(payload[40..48], [8, 0, 6, 0, 0, 0, 1, 0]);
    assert_eq!(payload[48..52], [12, 0, 4, 0]);
    assert_eq!(payload[52..], 5_000_000_000_u64.to_le_bytes());
}

#[test]
fn pfifo_fast_has_its_limit_from_the_device() {
    let found = encoded("pfifo_fast limit 77");
    assert_eq!(
        (found.payload, found.nested, found.queue_length),
        (None, false, Some(77))
    );
}

#[test]
fn what_is_no_kind_or_no_option_is_refused_with_a_sentence() {
    let mut options = Discipline::parse("codel", None).unwrap().kernel_options().unwrap();
    options.options.insert("colour".to_owned(), OptionValue::Flag(true));
    let error = options.encode().unwrap_err().to_string();
    assert_eq!(
        error,
        "codel.colour is Flag(true), but must be an option that a kernel takes"
    );
    options.kind = "blue".to_owned();
    let error = options.encode().unwrap_err().to_string();
    assert_eq!(error, "kind is \"blue\", but must be a queue discipline");
}
