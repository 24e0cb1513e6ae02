//! Measurements that no bed can have made.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

#[test]
fn a_measurement_of_another_scenario_is_refused_with_a_sentence() {
    type Change = fn(&mut Measured);
    let cases: [(Change, &str); 14] = [
        (
            |m| m.format = "x".into(),
            "format of the measurement is \"x\", but must be \"sojourn-measured/1\"",
        ),
        (
            |m| m.flows.clear(),
            "number of measured flows is 0, but must be 1, as in the scenario",
        ),
        (
            |m| m.probes.clear(),
            "number of measured probes is 0, but must be 1, as in the scenario",
        ),
        (
            |m| m.web.push(WebMeasured::default()),
            "number of measured web clients is 1, but must be 0, as in the scenario",
        ),
        (
            |m| m.flows[0].cwnd.truncate(2),
            "number of samples of cwnd of flow 0 is 2, but must be 5, one for each bin",
        ),
        (
            |m| m.flows[0].delivered = vec![0, 3, 2, 3, 4],
            "delivered of flow 0 is 2 after 3, but must be a count, which only rises",
        ),
        (
            |m| m.flows[0].delivered[4] = 9,
            "delivered_total of flow 0 is 0, but must be at least 9, what was delivered at the end of the last bin",
        ),
        (
            |m| {
                m.probes[0].samples.push(sojourn_bed::Sample {
                    sent_ns: i64::MIN,
                    delay_ns: None,
                });
            },
            "a sample of probe 0 is sent at -9223372036854775808 ns and 0 ns under way, but must be within 172800000000000 ns",
        ),
        (
            |m| m.up.kind = "sfq".into(),
            "kind of the discipline up is \"sfq\", but must be \"pfifo\", as in the scenario",
        ),
        (
            |m| m.down.samples.clear(),
            "number of samples of the discipline down is 0, but must be 6, one at the beginning and one for each bin",
        ),
        (
            |m| m.up.samples[0].drops = 4,
            "a sample of the discipline up is 0 packets and 0 drops after 0 and 4, but must be of counters, which only rise",
        ),
        (
            |m| m.down.samples[2].packets = 1,
            "a sample of the discipline down is 0 packets and 0 drops after 1 and 0, but must be of counters, which only rise",
        ),
        (
            |m| {
                m.down.kind = "codel".into();
            },
            "kind of the discipline down is \"codel\", but must be \"pfifo\", as in the scenario",
        ),
        (
            |m| m.down.samples.push(QdiscSample::default()),
            "number of samples of the discipline down is 7, but must be 6, one at the beginning and one for each bin",
        ),
    ];
    let s = scenario(&json!({"flows": [{"name": "a", "direction": "up"}], "probes": [{"name": "p", "kind": "icmp"}]}));
    for (change, sentence) in cases {
        let mut m = nothing(&s);
        change(&mut m);
        assert_eq!(error(&s, &m, &[]), sentence);
    }
}

#[test]
fn counters_of_a_discipline_that_fall_are_refused() {
    let mut more = one_flow();
    more["qdisc_up"] = json!("codel");
    let s = scenario(&more);
    let mut m = nothing(&s);
    m.up.extra_begin.insert("drop_overlimit".to_owned(), 5.0);
    assert_eq!(
        error(&s, &m, &[]),
        "drop_overlimit of the discipline up is risen by -5, but must be a counter, which only rises"
    );
    with_drops(&mut m, 3, &[("drop_overlimit", 10.0)]);
    assert_eq!(
        error(&s, &m, &[]),
        "drops of the discipline up is 3, but must be at least 5, those for want of room"
    );
}

#[test]
fn frames_that_no_agent_writes_are_refused() {
    let s = scenario(&one_flow());
    let frames = bytes(&[data(1, 100)]);
    let refused = |bytes: &[u8]| {
        measured_record(&s, Backend::Linux, &nothing(&s), bytes)
            .expect_err("damaged")
            .to_string()
    };
    assert_eq!(
        refused(&frames[..23]),
        "length of the watched frames is 23, but must be a multiple of 24, of less than 2^32 frames"
    );
    let mut damaged = frames;
    damaged[20] = 9;
    assert_eq!(
        refused(&damaged),
        "watched frame 0 is damaged, but must be a record as the agent writes it"
    );
    let stranger = Watched {
        conversation: Conversation::Flow(1),
        ..data(1, 100)
    };
    assert_eq!(
        refused(&bytes(&[stranger])),
        "flow of watched frame 0 is 1, but must be less than 1, which the scenario has"
    );
    assert_eq!(
        refused(&bytes(&[data(1, 1_000_000_000)])),
        "time of watched frame 0 is 1000000000000000, but must be -172800000000000 to 172800000000000 ns"
    );
}

const QDISCS: [&str; 8] = [
    "pfifo limit 3",
    "codel limit 2",
    "fq_codel",
    "sfq",
    "pie limit 2",
    "cake",
    "fq limit 2",
    "bfifo limit 3kb",
];

fn hostile_scenario(qdisc: &str) -> Scenario {
    scenario(&json!({"qdisc_up": qdisc, "qdisc_down": qdisc, "duration": "1.1s",
        "flows": [{"name": "a", "direction": "up"}, {"name": "b", "direction": "down"}],
        "probes": [{"name": "p", "kind": "icmp"}, {"name": "r", "kind": "udp_rr"}, {"name": "v", "kind": "voip"}],
        "web": [{"name": "w", "objects": [1]}]}))
}

prop_compose! {
    /// Frames of few keys and few times, so that anything may happen to them.
    fn any_frame()(
        at in prop_oneof![-2000i64..3000, Just(-172_800_000), Just(172_800_000)],
        key in 0u64..6, length: u16, who in 0u16..7, flags: [bool; 5],
    ) -> Watched {
        let [down, left, data, syn, marked] = flags;
        let conversation = match who {
            0 => Conversation::Flow(0),
            1 => Conversation::Flow(1),
            2 => Conversation::Probe(2),
            3 => Conversation::Web(0),
            4 => Conversation::Dns(0),
            _ => Conversation::Other,
        };
        Watched { at_ns: at * MS, key, length, conversation, down, left, data, syn, marked }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_a_record_or_a_sentence(bytes in vec(any::<u8>(), 0..200)) {
        let s = hostile_scenario("codel");
        if let Err(error) = measured_record(&s, Backend::Linux, &nothing(&s), &bytes) {
            prop_assert!(error.to_string().contains("must be"));
        }
    }

    /// What came is what left, what was dropped, and what is queued.
    #[test]
    fn any_frames_give_a_record_or_a_sentence(
        frames in vec(any_frame(), 0..60), qdisc in 0..QDISCS.len(), queued in 0u64..4, drops in 0u64..30,
    ) {
        let s = hostile_scenario(QDISCS[qdisc]);
        let mut m = nothing(&s);
        m.up.samples[5].queued = queued;
        with_drops(&mut m, drops, &[]);
        match measured_record(&s, Backend::Linux, &m, &bytes(&frames)) {
            Ok(r) => {
                let up = &r.bottleneck.up;
                let dropped = (up.extra["drops_unmatched"] + drops as f64) as usize;
                let came = frames.iter().filter(|f| !f.left && !f.down).count();
                prop_assert!(up.packets as usize + dropped <= came);
                // The largest backlog is that after an arrival in the window.
                let before = frames.iter().filter(|f| !f.left && !f.down && f.at_ns < 0).count() as u64;
                prop_assert!(up.backlog_packets.mean <= up.backlog_packets.max.max(before) as f64 + 1e-9);
                prop_assert!(up.backlog_packets.max as usize <= came.max(queued as usize));
            }
            Err(error) => prop_assert!(error.to_string().contains("must be"), "{error}"),
        }
    }

    /// A measurement with any one value replaced, read as JSON.
    #[test]
    fn any_measurement_gives_a_record_or_a_sentence(
        path in 0usize..200, value in prop_oneof![
            Just(json!(null)), Just(json!(-1)), Just(json!(1e300)), Just(json!(-1e300)), Just(json!(u64::MAX)), Just(json!(i64::MIN)),
            Just(json!(0.5)), Just(json!([])), Just(json!({})), Just(json!("x")), Just(json!(u32::MAX)),
        ],
    ) {
        let s = hostile_scenario("fq_codel");
        let mut m = nothing(&s);
        m.probes[0].samples = vec![sojourn_bed::Sample { sent_ns: 5, delay_ns: Some(7) }];
        m.probes[2].samples = vec![sojourn_bed::Sample { sent_ns: 5, delay_ns: Some(7) }; 3];
        m.web[0].fetches = vec![sojourn_bed::Fetch { start_ns: 1, dns_ns: 2, connect_ns: 3, time_ns: 4, syn_retransmitted: 0, dns_retried: 0 }];
        with_drops(&mut m, 3, &[("drop_overlimit", 1.0), ("drop_overmemory", 1.0)]);
        let mut json = serde_json::to_value(&m).expect("plain");
        let mut leaves = 0;
        replace(&mut json, path, &value, &mut leaves);
        if let Ok(m) = serde_json::from_value::<Measured>(json)
            && let Err(error) = measured_record(&s, Backend::Linux, &m, &bytes(&[data(1, 100)]))
        {
            prop_assert!(error.to_string().contains("must be"), "{error}");
        }
    }
}

/// Replaces the leaf of this number.
fn replace(json: &mut Value, number: usize, by: &Value, seen: &mut usize) {
    match json {
        Value::Array(all) => all.iter_mut().for_each(|v| replace(v, number, by, seen)),
        Value::Object(all) => all.iter_mut().for_each(|(_, v)| replace(v, number, by, seen)),
        leaf => {
            if *seen == number {
                *leaf = by.clone();
            }
            *seen += 1;
        }
    }
}
