//! The frames at the bottleneck.

use super::*;

fn with_qdisc(text: &str) -> Scenario {
    let mut more = one_flow();
    more["qdisc_up"] = json!(text);
    scenario(&more)
}

/// Two frames wait for 10 and 20 ms; a third comes when both are there, and is refused.
///
/// The backlog is 2 for 10 ms and 1 for 10 ms of a second: its mean is 0.03, the mean of its square 0.05.
#[test]
fn a_fifo_is_measured_by_what_came_and_left() {
    let s = with_qdisc("pfifo limit 2");
    let mut m = nothing(&s);
    with_drops(&mut m, 1, &[]);
    let (first, second) = (data(1, 100), data(2, 100));
    let frames = [first, second, data(3, 105), left(first, 110), left(second, 120)];
    let up = record(&s, &m, &frames).bottleneck.up;
    assert_eq!(
        (up.packets, up.bytes, up.backlog_packets.max, up.backlog_bytes.max),
        (2, 3028, 2, 3028)
    );
    assert_eq!(
        up.drops,
        [("congestion", 0), ("memory_limit", 0), ("queue_limit", 1)].into()
    );
    assert_eq!(up.first_drop_s, [("queue_limit", 0.105)].into());
    near(up.backlog_packets.mean, 0.03);
    near(up.backlog_packets.std.unwrap_or_default(), (0.05f64 - 0.0009).sqrt());
    near(up.backlog_bytes.mean, 0.03 * 1514.0);
    near(up.sojourn_ms.mean.unwrap(), 15.0);
    near(up.sojourn_ms.max.unwrap(), 20.0);
    assert_eq!(up.extra["drops_unmatched"].to_bits(), 0f64.to_bits());
    assert_eq!((up.qdisc.as_str(), up.qdisc_text.as_str()), ("pfifo", "pfifo limit 2"));
}

/// The second of three is dropped out of the queue: it counts as queued (29 ms) until the third leaves.
#[test]
fn codel_drops_when_the_next_frame_leaves() {
    let s = with_qdisc("codel");
    let mut m = nothing(&s);
    with_drops(&mut m, 1, &[("drop_overlimit", 0.0), ("count", 1.0)]);
    let (first, third) = (data(1, 100), data(3, 102));
    let r = record(
        &s,
        &m,
        &[first, data(2, 101), third, left(first, 110), left(third, 130)],
    );
    let up = r.bottleneck.up;
    assert_eq!((up.drops["congestion"], up.drops["queue_limit"]), (1, 0));
    assert_eq!(up.first_drop_s, [("congestion", 0.13)].into());
    near(up.backlog_packets.mean, 0.010 + 0.029 + 0.028);
    assert_eq!(up.backlog_packets.max, 3);
    near(up.sojourn_ms.mean.unwrap(), 19.0);
    assert_eq!(
        (up.extra["count"].to_bits(), r.flows[0].data_dropped),
        (1f64.to_bits(), 1)
    );
    near(r.flows[0].sojourn_ms.mean.unwrap(), 19.0);
}

/// Under fq_codel a frame of another conversation tells nothing: the drop is when the flow is served again.
#[test]
fn fq_codel_drops_when_the_conversation_is_served_again() {
    let mut more = one_flow();
    more["qdisc_up"] = json!("fq_codel");
    more["probes"] = json!([{"name": "ping", "kind": "icmp"}]);
    let s = scenario(&more);
    let mut m = nothing(&s);
    with_drops(&mut m, 1, &[("drop_overlimit", 0.0), ("drop_overmemory", 0.0)]);
    for (sample, queued) in m.up.samples[1..].iter_mut().zip([3, 1, 0, 1, 0]) {
        (sample.queued, sample.backlog) = (queued, 100 * queued);
    }
    let (a, b) = (data(1, 100), data(2, 101));
    let ping = Watched {
        conversation: Conversation::Probe(0),
        data: false,
        length: 98,
        ..data(3, 102)
    };
    let up = record(&s, &m, &[a, b, ping, left(ping, 103), left(b, 120)])
        .bottleneck
        .up;
    assert_eq!(up.first_drop_s, [("congestion", 0.12)].into());
    // The frames cannot tell when one left the queue, so the backlog is that of the samples.
    near(up.backlog_packets.mean, 1.0);
    near(up.backlog_packets.std.unwrap_or_default(), (11.0f64 / 5.0 - 1.0).sqrt());
    near(up.backlog_bytes.mean, 100.0);
    assert_eq!((up.backlog_packets.max, up.backlog_bytes.max), (3, 300));
}

/// Both frames came and neither left; the kernel says that one is still queued, which is the later one.
#[test]
fn what_is_queued_at_the_end_of_the_window_was_not_dropped() {
    for qdisc in ["pfifo limit 10", "codel", "fq_codel"] {
        let s = with_qdisc(qdisc);
        let mut m = nothing(&s);
        with_drops(&mut m, 1, &[]);
        m.up.samples[5].queued = 1;
        let r = record(&s, &m, &[data(1, 900), data(2, 990)]);
        assert_eq!((r.bottleneck.up.packets, r.flows[0].data_dropped), (0, 1), "{qdisc}");
        let mean = match qdisc {
            "codel" => 0.1 + 0.01,
            // One sample of five.
            "fq_codel" => 0.2,
            _ => 0.01,
        };
        near(r.bottleneck.up.backlog_packets.mean, mean);
        assert_eq!(r.series.backlog_packets.up, [0, 0, 0, 0, 1]);
    }
}

#[test]
fn what_leaves_after_the_window_is_neither_sent_nor_dropped() {
    let s = with_qdisc("pfifo limit 10");
    let mut m = nothing(&s);
    m.up.samples[5].queued = 2;
    let (first, second) = (data(1, 900), data(2, 990));
    let r = record(&s, &m, &[first, second, left(first, 1005), left(second, 1010)]);
    assert_eq!((r.bottleneck.up.packets, r.flows[0].data_dropped), (0, 0));
    near(r.bottleneck.up.backlog_packets.mean, 0.11);
}

#[test]
fn what_was_queued_when_the_window_began_counts_from_there() {
    let s = with_qdisc("pfifo limit 10");
    let frame = data(1, -50);
    let up = record(&s, &nothing(&s), &[frame, left(frame, 20)]).bottleneck.up;
    assert_eq!(up.packets, 1);
    near(up.sojourn_ms.mean.unwrap(), 70.0);
    near(up.backlog_packets.mean, 0.02);
}

#[test]
fn drops_before_the_window_are_not_counted() {
    let s = with_qdisc("pfifo limit 10");
    let mut m = nothing(&s);
    for sample in &mut m.up.samples {
        sample.drops = 7;
    }
    let r = record(&s, &m, &[data(1, -50)]);
    assert_eq!((r.bottleneck.up.drops["queue_limit"], r.flows[0].data_dropped), (0, 0));
}

#[test]
fn a_key_that_comes_again_is_a_new_frame() {
    let s = with_qdisc("pfifo limit 10");
    let mut m = nothing(&s);
    with_drops(&mut m, 1, &[]);
    let again = data(1, 500);
    let r = record(&s, &m, &[data(1, 100), again, left(again, 510)]);
    near(r.bottleneck.up.sojourn_ms.max.unwrap(), 10.0);
    assert_eq!(r.flows[0].data_dropped, 1);
    assert_eq!(r.bottleneck.up.first_drop_s, [("queue_limit", 0.1)].into());
}

#[test]
fn places_may_write_out_of_order() {
    let s = with_qdisc("pfifo limit 10");
    let (a, b) = (data(1, 100), data(2, 105));
    let ordered = record(&s, &nothing(&s), &[a, b, left(a, 110), left(b, 120)]);
    let shuffled = record(&s, &nothing(&s), &[left(a, 110), left(b, 120), b, a]);
    assert_eq!(ordered.to_json(), shuffled.to_json());
}

/// Gaps of 10 and 30 ms between drops of data: mean 20 ms, standard deviation 10 ms. The acknowledgement and the SYN
/// of the other direction count for themselves.
#[test]
fn drops_are_told_by_what_was_dropped() {
    let s = with_qdisc("pfifo limit 10");
    let mut m = nothing(&s);
    with_drops(&mut m, 3, &[]);
    m.down.samples[5].drops = 2;
    let back = |key, syn| Watched {
        down: true,
        data: false,
        syn,
        length: 66,
        ..data(key, 300)
    };
    let syn = Watched {
        data: false,
        syn: true,
        ..data(9, 400)
    };
    let frames = [
        data(1, 100),
        data(2, 110),
        data(3, 140),
        back(4, false),
        back(5, true),
        syn,
        left(syn, 401),
    ];
    let r = record(&s, &m, &frames);
    let (flow, up, down) = (&r.flows[0], &r.bottleneck.up, &r.bottleneck.down);
    assert_eq!((flow.data_dropped, flow.acks_dropped, down.ack_drops), (3, 1, 1));
    assert_eq!((flow.drop_gaps_ms.count, flow.drop_gaps_ms.mean), (2, Some(20.0)));
    near(flow.drop_gaps_ms.cv.unwrap_or_default(), 0.5);
    assert_eq!((up.syn.offered, up.syn.dropped), (1, 0));
    assert_eq!((down.syn.offered, down.syn.dropped), (1, 1));
}

#[test]
fn only_a_mark_of_this_queue_is_one() {
    let s = with_qdisc("pfifo limit 10");
    let fresh = data(1, 100);
    let old = Watched {
        marked: true,
        ..data(2, 100)
    };
    let marked = |frame, ms| Watched {
        marked: true,
        ..left(frame, ms)
    };
    let up = record(&s, &nothing(&s), &[fresh, old, marked(fresh, 110), marked(old, 120)])
        .bottleneck
        .up;
    assert_eq!(up.marks, 1);
}

#[test]
fn frames_of_nobody_that_do_not_leave_were_for_the_router() {
    let s = with_qdisc("pfifo limit 10");
    let arp = Watched {
        conversation: Conversation::Other,
        data: false,
        ..data(1, 100)
    };
    let through = Watched { key: 2, ..arp };
    let own = Watched {
        key: 3,
        ..left(arp, 200)
    };
    let up = record(&s, &nothing(&s), &[arp, through, left(through, 110), own])
        .bottleneck
        .up;
    assert_eq!((up.packets, up.backlog_packets.max), (1, 1));
}

/// Ten drops by the kernel's count, of which its own counters say so much.
#[test]
fn reasons_are_the_kernels() {
    type Case<'a> = (&'a str, &'a [(&'a str, f64)], [u64; 3]);
    // Of the limit, of memory, and of congestion.
    let cases: [Case<'_>; 12] = [
        ("pfifo", &[], [10, 0, 0]),
        ("bfifo", &[], [10, 0, 0]),
        ("pfifo_fast", &[], [10, 0, 0]),
        ("sfq", &[], [10, 0, 0]),
        ("fq", &[("flows_plimit", 10.0)], [10, 0, 0]),
        (
            "red limit 400000 min 12500 avpkt 1000",
            &[("early", 8.0), ("pdrop", 2.0), ("other", 0.0)],
            [2, 0, 8],
        ),
        ("codel", &[("drop_overlimit", 3.0)], [3, 0, 7]),
        (
            "fq_codel",
            &[("drop_overlimit", 6.0), ("drop_overmemory", 2.0)],
            [4, 2, 4],
        ),
        ("pie", &[("dropped", 10.0), ("overlimit", 1.0)], [1, 0, 9]),
        (
            "fq_pie",
            &[("dropped", 10.0), ("overlimit", 1.0), ("overmemory", 4.0)],
            // Arrivals beyond the memory limit are taken in.
            [1, 0, 9],
        ),
        ("cake", &[("memory_used", 5.0)], [0, 0, 10]),
        ("pie", &[("dropped", 10.0)], [0, 0, 10]),
    ];
    for (qdisc, extra, [limit, memory, congestion]) in cases {
        let s = with_qdisc(qdisc);
        let mut m = nothing(&s);
        with_drops(&mut m, 10, extra);
        let frames: Vec<Watched> = (0u8..10).map(|k| data(k.into(), 100 + 10 * i64::from(k))).collect();
        let r = record(&s, &m, &frames);
        let expected = [
            ("queue_limit", limit),
            ("memory_limit", memory),
            ("congestion", congestion),
        ];
        assert_eq!(r.bottleneck.up.drops, expected.into(), "{qdisc}");
        assert_eq!(r.flows[0].data_dropped, 10, "{qdisc}");
    }
}

/// A queue of two packets: what comes when it is full is put down to the limit, what comes before to congestion.
#[test]
fn the_first_drop_of_each_reason_is_told() {
    let s = with_qdisc("pie limit 2");
    let mut m = nothing(&s);
    with_drops(&mut m, 2, &[("overlimit", 1.0)]);
    let (first, third) = (data(1, 100), data(3, 120));
    let frames = [
        first,
        data(2, 110),
        third,
        data(4, 130),
        left(first, 140),
        left(third, 150),
    ];
    let up = record(&s, &m, &frames).bottleneck.up;
    assert_eq!(up.first_drop_s, [("congestion", 0.11), ("queue_limit", 0.13)].into());
}

#[test]
fn frames_and_counters_must_fit_together() {
    let s = with_qdisc("pfifo limit 10");
    let lost: Vec<Watched> = (0..117).map(|k| data(k, 100)).collect();
    let mut m = nothing(&s);
    with_drops(&mut m, 100, &[]);
    let r = record(&s, &m, &lost);
    assert_eq!(r.bottleneck.up.extra["drops_unmatched"].to_bits(), 17f64.to_bits());
    assert_eq!(r.bottleneck.up.drops["queue_limit"], 100);
    with_drops(&mut m, 98, &[]);
    assert_eq!(
        error(&s, &m, &lost),
        "number of drops up by watched frames is 117, but must be 98, as the kernel counted, give or take 17"
    );
    let strays: Vec<Watched> = (0..17).map(|k| left(data(k, 100), 100)).collect();
    assert_eq!(
        error(&s, &nothing(&s), &strays),
        "number of watched frames that left up and had not come is 17, but must be at most 16 of 17"
    );
}

#[test]
fn resets_after_the_window_may_have_one_key() {
    let s = with_qdisc("pfifo limit 10");
    let resets: Vec<Watched> = (0..100)
        .flat_map(|k| [data(1, 1001 + k / 50), left(data(1, 0), 1003 + k / 50)])
        .collect();
    assert_eq!(record(&s, &nothing(&s), &resets).bottleneck.up.packets, 0);
}
