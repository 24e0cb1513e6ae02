//! What D-SACKs (RFC 2883) and SACKs tell after a probe or a time-out, by Linux 6.1.

use super::spurious::{MSS, Sender, at};
use sojourn_tcp::CaState;

/// The probe goes out 2 x 20 + 2 ms after the flight of 20 ms, at the end of that tick. What it repeats had arrived: its
/// D-SACK comes when nothing is outstanding any more, and ends the probe without a reduction (RFC 8985 section 7.4.2).
#[test]
fn a_d_sack_of_the_probe_that_comes_last_prevents_a_reduction() {
    for reported in [true, false] {
        let (mut sender, first) = Sender::with_bytes(5 * MSS);
        assert_eq!(first, [0, 1, 2, 3, 4]);
        assert_eq!(sender.wakes(), (63, vec![4]));
        sender.acknowledge_all(70, 5, &[], 20);
        if reported {
            sender.acknowledge_all(75, 5, &[(4, 5)], 63);
        }
        let cwnd = sender.endpoint.sender().cwnd();
        sender.endpoint.write(5 * MSS);
        assert_eq!(sender.sent(80), [5, 6, 7, 8, 9]);
        sender.acknowledge_all(100, 10, &[], 80);
        // Without it the probe is taken to have repaired a loss.
        let found = sender.endpoint.sender();
        assert_eq!(found.ssthresh().is_none(), reported);
        assert_eq!(found.cwnd() >= cwnd, reported);
        assert_eq!(found.stats().duplicates, u64::from(reported));
    }
}

/// RFC 6298 section 5 doubles the time-out until a round trip is measured, and Linux measures one by SACK as well.
///
/// The handshake took 20 ms: SRTT is 20 and four times the deviation 40. Samples of 20, 21 and 22 ms make them 20.36 and
/// 19.5, the last one of 500 ms makes them 80.31 and 494.27.
#[test]
fn a_sack_that_measures_a_round_trip_ends_the_doubling_of_the_time_out() {
    let (mut sender, _) = Sender::with_bytes(1 << 30);
    for (ms, end) in [(40, 2), (41, 3), (42, 4)] {
        sender.acknowledge_all(ms, 0, &[(1, end)], 20);
    }
    assert_eq!(sender.endpoint.sender().state(), CaState::Recovery);
    // In recovery a time-out is not suspected to be false (RFC 5682 section 3.1), so a SACK does not undo it.
    while sender.endpoint.sender().stats().timeouts < 1 {
        sender.wakes();
    }
    assert_eq!(
        sender.acknowledge_all(520, 0, &[(9, 10), (1, 4)], 20),
        Vec::<u64>::new()
    );
    assert_eq!(sender.endpoint.sender().state(), CaState::Loss);
    // 520 + 575 is 1095. Timers that are so far off go off at multiples of 64 ms.
    assert_eq!(sender.endpoint.timeout(), Some(at(1152)));
}

/// RFC 6937 with Linux's `tcp_dsack_seen`: what arrived in vain was delivered as well, and lets another segment go.
#[test]
fn a_duplicate_counts_as_delivered_in_recovery() {
    let (mut sender, _) = Sender::with_bytes(1 << 30);
    // A window of 11 loses its first segment. 13 are out, of which 3 have arrived and 1 is lost.
    assert_eq!(sender.acknowledge_all(40, 1, &[], 20), [10, 11]);
    assert_eq!(sender.acknowledge_all(41, 1, &[(2, 3)], 20), [12]);
    assert_eq!(sender.acknowledge_all(42, 1, &[(2, 4)], 20), [13]);
    // CUBIC's threshold is 7: of 11 segments delivered 7 may go, so ceil(7 / 11) now.
    assert_eq!(sender.acknowledge_all(43, 1, &[(2, 5)], 20), [1]);
    // ceil(2 x 7 / 11) have gone after the second.
    assert_eq!(sender.acknowledge_all(44, 1, &[(0, 1), (2, 5)], 20), [14]);
    // More than was sent again cannot have come twice.
    for ms in [45, 46] {
        assert_eq!(sender.acknowledge_all(ms, 1, &[(0, 1), (2, 5)], 20), Vec::<u64>::new());
    }
    assert_eq!(sender.endpoint.sender().stats().duplicates, 3);
}
