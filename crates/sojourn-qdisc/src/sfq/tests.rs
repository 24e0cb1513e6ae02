use crate::testing::{TestPacket, bench, ms};
use crate::{Admission, Qdisc};

#[test]
fn queues_take_turns_and_a_new_one_joins_the_end_of_the_round() {
    let mut b = bench("sfq");
    for flow in [1, 1, 1, 2, 2, 2] {
        b.put(ms(0), 1514, flow);
    }
    assert_eq!([b.get(ms(0)), b.get(ms(0))], [Some(0), Some(3)]);
    let new = b.put(ms(0), 100, 3);
    // 1514 bytes are all of an allotment (190 units of 8 bytes). The round stands at queue 2, which has spent its own
    // and goes to the end, behind the new one: 1, 3, 2, 1.
    assert_eq!(
        [b.get(ms(0)), b.get(ms(0)), b.get(ms(0)), b.get(ms(0))],
        [Some(1), Some(new), Some(4), Some(2)]
    );
}

#[test]
fn a_queue_is_served_while_its_allotment_lasts() {
    // 1514 bytes are 190 units; a packet of 400 bytes costs 50: four of them, the last beyond the allotment.
    let mut b = bench("sfq");
    for _ in 0..8 {
        b.put(ms(0), 400, 1); // even ids
        b.put(ms(0), 1514, 2); // odd ids
    }
    let order: Vec<u64> = (0..8).filter_map(|_| b.get(ms(0))).collect();
    // Second round of queue 1: allotment 190 - 200 + 190 = 180, again four packets.
    assert_eq!(order, [0, 2, 4, 6, 1, 8, 10, 12]);
}

#[test]
fn the_longest_queue_loses_its_tail() {
    let mut b = bench("sfq limit 5");
    for flow in [1, 1, 1, 2, 2] {
        b.put(ms(0), 100, flow);
    }
    assert_eq!(
        b.q.enqueue(TestPacket::new(9, 1500, 3), ms(0), &mut b.drops),
        Admission::Queued
    );
    assert_eq!(b.dropped(), [2], "queue 1 has three packets; bytes do not count");
}

#[test]
fn of_equally_long_queues_the_last_to_grow_loses() {
    let mut b = bench("sfq limit 4");
    for flow in [1, 1, 2, 2] {
        b.put(ms(0), 100, flow);
    }
    b.put(ms(0), 100, 3);
    assert_eq!(b.dropped(), [3]);
}

#[test]
fn an_arrival_that_makes_its_queue_the_longest_is_refused() {
    let mut b = bench("sfq limit 3");
    b.put_many(ms(0), 3, 100, 1);
    assert_eq!(
        b.q.enqueue(TestPacket::new(9, 100, 1), ms(0), &mut b.drops),
        Admission::Refused
    );
    assert_eq!(b.dropped(), [9]);
    let mut b = bench("sfq limit 3 headdrop");
    b.put_many(ms(0), 3, 100, 1);
    assert_eq!(
        b.q.enqueue(TestPacket::new(9, 100, 1), ms(0), &mut b.drops),
        Admission::Queued
    );
    assert_eq!(b.dropped(), [0]);
}

#[test]
fn with_one_packet_everywhere_the_next_in_the_round_goes() {
    // With as many queues as packets, an arrival of a new flow finds no free queue and is refused, as in Linux.
    let mut b = bench("sfq limit 3");
    for flow in 1..=4 {
        b.put(ms(0), 100, flow);
    }
    assert_eq!(b.dropped(), [3]);
    assert_eq!(
        (0..4).map(|_| b.get(ms(0))).collect::<Vec<_>>(),
        [Some(0), Some(1), Some(2), None]
    );
}

#[test]
fn one_queue_holds_at_most_its_depth() {
    // Source: seed 000, claim gbw-fair-08: with limit 1000 one flow still holds at most 127 packets.
    let mut b = bench("sfq limit 1000");
    b.put_many(ms(0), 200, 1514, 1);
    assert_eq!((b.packets(), b.dropped().len()), (127, 73));
    let mut b = bench("sfq limit 10 depth 2 headdrop");
    b.put_many(ms(0), 4, 100, 1);
    assert_eq!(b.dropped(), [0, 1]);
    assert_eq!([b.get(ms(0)), b.get(ms(0)), b.get(ms(0))], [Some(2), Some(3), None]);
}

#[test]
fn a_perturbation_reorders_no_flow_and_loses_nothing() {
    let mut b = bench("sfq perturb 10");
    for i in 0..100 {
        b.put(ms(0), 100, i % 10);
    }
    let mut last = [None; 10];
    let mut n = 0;
    while let Some(d) = b.take(ms(9_990 + n)) {
        assert!(last[d.packet.flow as usize] < Some(d.packet.id));
        last[d.packet.flow as usize] = Some(d.packet.id);
        n += 1;
    }
    assert_eq!((n, b.q.stats().dropped()), (100, 0));
}

#[test]
fn perturbation_moves_flows_between_buckets() {
    // Flows 0 and 1024 share a bucket of 1024 at first; after a perturbation they nearly surely do not.
    let order = |t: u64| {
        let mut b = bench("sfq perturb 1");
        b.get(ms(t));
        for flow in [0, 0, 0, 1024] {
            b.put(ms(t), 1514, flow);
        }
        (0..4).filter_map(|_| b.get(ms(t))).collect::<Vec<_>>()
    };
    assert_eq!(order(0), [0, 1, 2, 3]);
    assert_eq!(order(1000), [0, 3, 1, 2]);
}

/// A round that is walked turn by turn, with one unit of 8 bytes as the allotment: what the skipping of whole rounds
/// must equal.
fn walked(sizes: &[[u64; 2]]) -> Vec<u64> {
    let mut ring: std::collections::VecDeque<(usize, usize, i64)> = (0..sizes.len()).map(|flow| (flow, 0, 1)).collect();
    let mut order = Vec::new();
    while let Some((flow, place, mut allot)) = ring.pop_front() {
        if allot <= 0 {
            allot += 1;
            ring.push_back((flow, place, allot));
            continue;
        }
        order.push((2 * flow + place) as u64);
        if place == 0 {
            ring.push_front((flow, 1, allot - sizes[flow][0].div_ceil(8).cast_signed()));
        }
    }
    order
}

#[test]
fn rounds_without_anybody_served_are_skipped_and_change_nothing() {
    let sizes = [
        [8_000_000, 60],
        [7_999_992, 60],
        [8_000_008, 60],
        [4_000_000, 60],
        [60, 60],
    ];
    let mut b = bench("sfq quantum 1");
    for (flow, [first, second]) in sizes.into_iter().enumerate() {
        b.put(ms(0), first, flow as u32);
        b.put(ms(0), second, flow as u32);
    }
    let order: Vec<u64> = std::iter::from_fn(|| b.get(ms(0))).collect();
    assert_eq!(order, walked(&sizes));
    // Turn by turn these would take minutes.
    for flow in 0..60 {
        b.put(ms(1), u64::from(u32::MAX), flow);
        b.put(ms(1), u64::from(u32::MAX), flow);
    }
    assert_eq!(std::iter::from_fn(|| b.get(ms(1))).count(), 120);
}
