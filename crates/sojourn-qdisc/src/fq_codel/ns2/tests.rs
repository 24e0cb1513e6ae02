//! Traces worked by hand from the rules of ns-2's `sfqcodel.cc`; target 5 ms and interval 100 ms throughout.

use crate::testing::{Bench, bench, ms};
use crate::{Admission, DropReason, FqCodel, FqCodelParams, Qdisc, SfqCodel};

/// Takes `n` packets; answers their ids.
fn take(b: &mut Bench, at: u64, n: usize) -> Vec<u64> {
    (0..n).map(|_| b.get(ms(at)).unwrap()).collect()
}

#[test]
fn a_turn_is_one_packet_of_any_size() {
    let mut b = bench("fq_codel variant ns2");
    b.put_many(ms(0), 3, 1500, 1); // 0..3
    b.put_many(ms(0), 3, 100, 2); // 3..6
    assert_eq!(take(&mut b, 0, 6), [0, 3, 1, 4, 2, 5]);
    assert_eq!(b.get(ms(0)), None);
}

#[test]
fn with_a_quantum_turns_are_of_equal_bytes() {
    // Both begin with 1500. Bin 1 sends 1500 and has 0: it gets 1500 and bin 2 is next, which sends 3 x 100 and is empty.
    // Bin 1 then sends 1500, has 0, gets 1500, and is alone.
    let mut b = bench("fq_codel quantum 1500 variant ns2");
    b.put_many(ms(0), 3, 1500, 1); // 0..3
    b.put_many(ms(0), 3, 100, 2); // 3..6
    assert_eq!(take(&mut b, 0, 6), [0, 3, 4, 5, 1, 2]);
    // Quantum 900: bin 1 has 900 - 1500 + 900 = 300 at its second turn; 300 - 1500 + 900 = -300 at its third, which passes;
    // then 600. Bin 2 sends one packet in each of its turns.
    let mut b = bench("fq_codel quantum 900 variant ns2");
    b.put_many(ms(0), 3, 1500, 1); // 0..3
    b.put_many(ms(0), 5, 900, 2); // 3..8
    assert_eq!(take(&mut b, 0, 8), [0, 3, 1, 4, 5, 2, 6, 7]);
}

#[test]
fn a_new_bin_is_served_before_two_old_ones() {
    let mut b = bench("fq_codel variant ns2");
    b.put_many(ms(0), 4, 1500, 1); // 0..4
    b.put_many(ms(0), 4, 1500, 2); // 4..8
    assert_eq!(take(&mut b, 0, 2), [0, 4]);
    // The ring is 1 2, both old, the turn is bin 1's: bin 3 comes before it and has the turn, bin 4 comes after bin 3.
    b.put(ms(0), 100, 3); // 8
    b.put(ms(0), 100, 4); // 9
    assert_eq!((b.extra("new_flows_len"), b.extra("old_flows_len")), (2.0, 2.0));
    assert_eq!(take(&mut b, 0, 4), [8, 9, 1, 5]);
}

#[test]
fn a_new_bin_beside_a_single_old_one_waits_for_a_packet_of_it() {
    let mut b = bench("fq_codel variant ns2");
    b.put_many(ms(0), 4, 1500, 1); // 0..4
    assert_eq!(take(&mut b, 0, 1), [0]);
    // Bin 1 is not new and closes the ring: bin 2 comes after it.
    b.put(ms(0), 100, 2); // 4
    // Now bin 1 is followed by bin 2, so bin 3 comes before bin 1, and so overtakes bin 2.
    b.put(ms(0), 100, 3); // 5
    assert_eq!(take(&mut b, 0, 4), [5, 1, 4, 2]);
}

#[test]
fn a_bin_that_empties_keeps_its_place_until_its_turn() {
    let mut b = bench("fq_codel variant ns2");
    b.put_many(ms(0), 4, 1500, 1); // 0..4
    b.put(ms(0), 100, 2); // 4
    assert_eq!(take(&mut b, 0, 2), [0, 4]);
    b.put(ms(0), 100, 2); // 5
    assert!((b.extra("new_flow_count") - 2.0).abs() < 0.5, "it is in the ring");
    assert_eq!(take(&mut b, 0, 2), [1, 5]);
    // The cursor finds bin 2 empty after packets 2: it leaves, and is new at its next packet.
    assert_eq!(take(&mut b, 0, 2), [2, 3]);
    b.put(ms(0), 100, 2);
    assert!((b.extra("new_flow_count") - 3.0).abs() < 0.5);
}

#[test]
fn a_full_buffer_refuses_the_arrival_whosever_queue_is_long() {
    let mut b = bench("fq_codel limit 3 variant ns2");
    b.put_many(ms(0), 3, 1500, 1);
    b.put(ms(0), 100, 2);
    assert_eq!(
        b.drops.iter().map(|d| (d.packet.id, d.reason)).collect::<Vec<_>>(),
        [(3, DropReason::QueueLimit)]
    );
    assert!((b.extra("drop_overlimit") - 1.0).abs() < 0.5);
    b.get(ms(0));
    let packet = crate::testing::TestPacket::new(9, 100, 2);
    assert_eq!(b.q.enqueue(packet, ms(0), &mut b.drops), Admission::Queued);
}

/// Takes a packet each millisecond in `from..to`; answers at which of them packets were dropped.
fn drop_times(b: &mut Bench, from: u64, to: u64) -> Vec<u64> {
    let mut times = Vec::new();
    for t in from..to {
        b.get(ms(t));
        times.extend(b.dropped().iter().map(|_| t));
    }
    times
}

/// One bin that has had `n` drops, after the last of which it is emptied: the count is `n`.
///
/// Below target at 0; above from 5 ms, so the first drop is at 105 (at or after). Then 100/sqrt(1) later, 205;
/// 100/sqrt(2) = 70.71: 275.71, at the call at 276; 100/sqrt(3) = 57.74: 333.45, at 334; 100/sqrt(4): 383.45, at 384;
/// 100/sqrt(5) = 44.72: 428.17.
fn episode(n: usize) -> Bench {
    const TIMES: [u64; 5] = [105, 205, 276, 334, 384];
    let mut b = bench("fq_codel limit 1000 variant ns2");
    b.put_many(ms(0), 600, 1000, 1);
    b.get(ms(0));
    let end = TIMES[n - 1] + 1;
    assert_eq!(drop_times(&mut b, 5, end), TIMES[..n]);
    while b.get(ms(end)).is_some() {}
    assert!(b.drops.is_empty() && b.packets() == 0);
    b
}

#[test]
fn soon_after_an_episode_the_first_drop_comes_sooner_and_count_is_two_less() {
    for (n, above, first, second) in [
        // 410 + 100/sqrt(5) = 454.72; then count 5 - 2 = 3, 455 + 57.74 = 512.74.
        (5, 410, 455, 513),
        // 428.17 + 8 intervals = 1228.17. Still before it: 1228 + 44.72 = 1272.72. After it: count 1.
        (5, 1228, 1273, 1373),
        // After it: one interval, and count 1.
        (5, 1229, 1329, 1429),
        // 360 + 100/sqrt(4) = 410; then count 4 - 2 = 2, 410 + 70.71 = 480.71.
        (4, 360, 410, 481),
        // 300 + 57.74 = 357.74; then count 3 - 2 = 1.
        (3, 300, 358, 458),
        // 230 + 70.71 = 300.71; then count 1, as 2 is not above 2.
        (2, 230, 301, 401),
        // Count 1: an interval.
        (1, 130, 230, 330),
    ] {
        let mut b = episode(n);
        b.put_many(ms(above - 10), 300, 1000, 1);
        assert_eq!(drop_times(&mut b, above, second + 1), [first, second], "{n} {above}");
    }
}

#[test]
fn a_drop_after_which_the_next_packet_is_in_time_does_not_count() {
    let mut b = bench("fq_codel variant ns2");
    b.put_many(ms(0), 10, 1000, 1); // 0..10
    // In time; above target since 5; drop of packet 2 at 105, count 1, the next is due at 205.
    assert_eq!(
        [b.get(ms(0)), b.get(ms(5)), b.get(ms(105))],
        [Some(0), Some(1), Some(3)]
    );
    for t in 106..110 {
        b.get(ms(t)); // 4..8
    }
    b.put_many(ms(203), 5, 1000, 1); // 10..15
    assert_eq!(b.get(ms(204)), Some(8));
    // Packet 9 is dropped; packet 10 has waited 2 ms, which ends the episode. The count stays 1.
    assert_eq!(b.get(ms(205)), Some(10));
    assert_eq!(b.dropped(), [2, 9]);
    b.put_many(ms(206), 10, 1000, 1); // 15..25
    // Above target since 208. With count 1 that is one interval until 308; count 2 would give 70.71 ms, until 278.71.
    assert_eq!(
        [b.get(ms(208)), b.get(ms(279)), b.get(ms(307))],
        [Some(11), Some(12), Some(13)]
    );
    assert_eq!((b.get(ms(308)), b.dropped()), (Some(15), vec![14]));
}

#[test]
fn the_first_packet_of_a_bin_must_be_in_time_while_others_are_backlogged() {
    for (at, others, lost) in [(5, 10, true), (4, 10, false), (5, 2, false)] {
        let mut b = bench("fq_codel variant ns2");
        b.put_many(ms(0), others, 1500, 1);
        let first = b.put(ms(0), 100, 2);
        assert_eq!(b.get(ms(0)), Some(0));
        // Behind it are 9 x 1500 bytes, or one packet of 1500, which is not above the largest packet.
        assert_eq!(b.get(ms(at)), Some(if lost { 1 } else { first }));
        assert_eq!(b.dropped(), if lost { vec![first] } else { vec![] });
    }
}

#[test]
fn a_bin_that_a_drop_empties_is_new_again_and_leaves_dropping_with_a_packet_in_time() {
    let mut b = bench("fq_codel variant ns2");
    b.put_many(ms(0), 10, 1500, 1); // 0..10
    b.put(ms(0), 100, 2); // 10, to be dropped at 5
    assert_eq!([b.get(ms(0)), b.get(ms(5))], [Some(0), Some(1)]);
    assert!((b.extra("old_flows_len") - 1.0).abs() < 0.5, "bin 2 has left the ring");
    b.put(ms(6), 100, 2); // 11
    assert!((b.extra("new_flow_count") - 3.0).abs() < 0.5);
    assert_eq!([b.get(ms(6)), b.get(ms(10))], [Some(2), Some(11)]);
    // Late from 25 on, until 125: the episode is over, so packet 12 is not dropped though 105 has passed.
    b.put(ms(11), 100, 2); // 12
    b.get(ms(24));
    assert_eq!(b.get(ms(25)), Some(12));
    assert_eq!(b.drops.iter().map(|d| d.packet.id).collect::<Vec<_>>(), [10]);
}

#[test]
fn what_codel_remembers_of_a_bin_outlives_its_packets() {
    for (at, lost) in [(123, false), (124, true)] {
        let mut b = bench("fq_codel limit 1000 variant ns2");
        b.put_many(ms(0), 100, 1500, 1); // 0..100
        b.put(ms(0), 100, 2); // 100
        assert_eq!([b.get(ms(0)), b.get(ms(1))], [Some(0), Some(100)]);
        b.put(ms(10), 100, 2); // 101: late at 20, so a late packet may be dropped from 120 on
        assert_eq!([b.get(ms(10)), b.get(ms(20))], [Some(1), Some(101)]);
        // Bin 2 is empty and leaves the ring at its turn.
        assert_eq!([b.get(ms(90)), b.get(ms(91))], [Some(2), Some(3)]);
        b.put(ms(100), 100, 2); // 102: late, but before 120
        assert_eq!([b.get(ms(101)), b.get(ms(119))], [Some(4), Some(102)]);
        b.put(ms(119), 100, 2); // 103
        // Bin 1 was above target since 10: packet 5 goes at 119, and its next drop is due at 219.
        assert_eq!((b.get(ms(119)), b.dropped()), (Some(6), vec![5]));
        assert_eq!(b.get(ms(at)), Some(if lost { 7 } else { 103 }));
        assert_eq!(b.dropped(), if lost { vec![103] } else { vec![] });
    }
}

#[test]
fn the_largest_packet_counts_as_256_bytes_at_least() {
    // Late from the first. Three packets of 100 bytes: 200 are left, not above 256. Four: 300.
    for (n, lost) in [(3, vec![]), (4, vec![0])] {
        let mut b = bench("fq_codel variant ns2");
        b.put_many(ms(0), n, 100, 1);
        assert_eq!(b.get(ms(5)), Some(lost.len() as u64));
        assert_eq!(b.dropped(), lost, "{n} packets");
    }
}

#[test]
fn bins_are_by_flow() {
    let mut b = bench("fq_codel flows 10 variant ns2");
    b.put(ms(0), 1500, 3);
    b.put(ms(0), 1500, 13); // the same bin
    b.put(ms(0), 1500, 4);
    assert_eq!(take(&mut b, 0, 3), [0, 2, 1]);
}

#[test]
fn each_form_takes_its_own_variants() {
    type P = crate::testing::TestPacket;
    assert_eq!(
        SfqCodel::<P>::new(FqCodelParams::LINUX_3_14).unwrap_err().to_string(),
        "fq_codel.variant is linux-3.14, but must be ns2: the others are FqCodel"
    );
    assert_eq!(
        FqCodel::<P>::new(FqCodelParams::NS2).unwrap_err().to_string(),
        "fq_codel.variant is ns2, but must be linux or linux-3.14: ns2 is SfqCodel"
    );
}
