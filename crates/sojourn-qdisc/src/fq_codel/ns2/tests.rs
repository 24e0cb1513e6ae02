//! Traces worked by hand from the rules of ns-2's `sfqcodel.cc`; target 5 ms and interval 100 ms throughout.

use crate::testing::{Bench, bench, ms};
use crate::{DropReason, FqCodel, FqCodelParams, SfqCodel};

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
    // Both begin with 1500. Bin 1 sends 1500 and has 0: it gets 1500 and bin 2 is next, which sends 3 x 100 and is
    // empty. Bin 1 then sends 1500, has 0, gets 1500, and is alone.
    let mut b = bench("fq_codel quantum 1500 variant ns2");
    b.put_many(ms(0), 3, 1500, 1); // 0..3
    b.put_many(ms(0), 3, 100, 2); // 3..6
    assert_eq!(take(&mut b, 0, 6), [0, 3, 4, 5, 1, 2]);
    // Quantum 900: bin 1 has 900 - 1500 + 900 = 300 at its second turn; 300 - 1500 + 900 = -300 at its third, which
    // passes; then 600. Bin 2 sends one packet in each of its turns.
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
fn a_full_buffer_loses_the_youngest_packet_of_the_longest_bin() {
    let mut b = bench("fq_codel limit 4 variant ns2");
    let mut lost = |flows: &[u32]| {
        for &flow in flows {
            b.put(ms(0), if flow == 1 { 100 } else { 1500 }, flow);
        }
        b.drops.drain(..).map(|d| (d.packet.id, d.reason)).collect::<Vec<_>>()
    };
    assert_eq!(lost(&[1, 2, 1, 2]), []);
    // Bins 1 and 2 hold two packets each, whatever their bytes: the later one loses its second, packet 3.
    assert_eq!(lost(&[3]), [(3, DropReason::QueueLimit)]);
    // Bin 1 holds two: packet 2.
    assert_eq!(lost(&[3]), [(2, DropReason::QueueLimit)]);
    // Bin 3 holds two, packets 4 and 5, and the arrival is of bin 3 too.
    assert_eq!(lost(&[3]), [(5, DropReason::QueueLimit)]);
    // Bin 3 still holds the most, so it is dropped from again.
    assert_eq!(lost(&[1]), [(6, DropReason::QueueLimit)]);
    // Bin 1 holds two, packets 0 and 7.
    assert_eq!(lost(&[2]), [(7, DropReason::QueueLimit)]);
    assert!((b.extra("drop_overlimit") - 5.0).abs() < 0.5);
    assert_eq!(b.packets(), 4);
}

#[test]
fn of_bins_of_one_length_not_the_last_one_is_dropped_from_again() {
    let mut b = bench("fq_codel limit 2 variant ns2");
    b.put(ms(0), 1500, 1);
    b.put(ms(0), 1500, 2);
    b.put(ms(0), 1500, 3); // packet 1 of bin 2 goes
    b.put(ms(0), 1500, 2); // packet 2 of bin 3 goes, as bin 2 is passed over
    b.put(ms(0), 1500, 3); // bin 2 again, the higher one beside bin 1
    assert_eq!(b.dropped(), [1, 2, 3]);
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
fn soon_after_an_episode_the_count_is_two_less() {
    for (n, above, first, second) in [
        // The first drop comes after a whole interval. Count 5 - 2 = 3: 510 + 57.74 = 567.74.
        (5, 410, 510, 568),
        // The last drop would have been due at 428.17; 8 intervals after it is 1228.17. Before it: 1228 + 57.74 =
        // 1285.74.
        (5, 1128, 1228, 1286),
        // After it: count 1.
        (5, 1129, 1229, 1329),
        // Count 4 - 2 = 2: 460 + 70.71 = 530.71.
        (4, 360, 460, 531),
        // Count 3 - 2 = 1.
        (3, 300, 400, 500),
        // Count 1, as 2 is not above 2.
        (2, 230, 330, 430),
        (1, 130, 230, 330),
    ] {
        let mut b = episode(n);
        b.put_many(ms(above - 10), 300, 1000, 1);
        assert_eq!(drop_times(&mut b, above, second + 1), [first, second], "{n} {above}");
    }
}

#[test]
fn a_drop_after_which_the_next_packet_is_in_time_does_not_count() {
    let mut b = bench("fq_codel limit 1000 variant ns2");
    b.put_many(ms(0), 400, 1000, 1);
    b.get(ms(0));
    // Three drops that count, the last at 276; the next is due at 333.45.
    assert_eq!(drop_times(&mut b, 5, 333), [105, 205, 276]);
    b.put_many(ms(332), 5, 1000, 1); // 400..405
    while b.get(ms(333)) != Some(398) {}
    // Packet 399 is dropped; packet 400 has waited 2 ms, which ends the episode. The count stays 3.
    assert_eq!((b.get(ms(334)), b.dropped()), (Some(400), vec![399]));
    b.put_many(ms(335), 300, 1000, 1);
    // Above target since 340, so the next episode begins at 440, with count 3 - 2 = 1: an interval until 540. Count 4
    // would give 2: 510.71.
    assert_eq!(drop_times(&mut b, 340, 541), [440, 540]);
}

#[test]
fn the_first_packet_of_a_bin_must_be_in_time_while_others_are_backlogged() {
    for (at, others, mine, lost) in [
        (5, 10, 2, true),
        (4, 10, 2, false),
        // The last packet of a bin is never dropped: a SYN gets through.
        (5, 10, 1, false),
        // Behind it are 100 bytes, which is not above the largest packet.
        (5, 1, 2, false),
    ] {
        let mut b = bench("fq_codel variant ns2");
        b.put_many(ms(0), others, 1500, 1);
        let first = b.put(ms(0), 100, 2);
        b.put_many(ms(0), mine - 1, 100, 2);
        assert_eq!(b.get(ms(0)), Some(0));
        assert_eq!(b.get(ms(at)), Some(first + u64::from(lost)));
        assert_eq!(b.dropped(), if lost { vec![first] } else { vec![] });
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
