use super::*;
use crate::{NodeId, Tid};
use proptest::prelude::*;
use sojourn_units::Bytes;

fn frame(sequence: u16) -> Frame<u16> {
    Frame {
        packet: sequence,
        peer: NodeId::ACCESS_POINT,
        tid: Tid::BEST_EFFORT,
        size: Bytes::new(1514),
        enqueued: Time::ZERO,
        dequeued: Time::ZERO,
        sequence,
        transmissions: 1,
        pending: sojourn_units::Duration::ZERO,
    }
}

struct Receiver {
    reorder: Reorder<u16>,
    released: Vec<u16>,
}

impl Default for Receiver {
    fn default() -> Self {
        Self::new(false)
    }
}

impl Receiver {
    fn new(impatient: bool) -> Self {
        Self {
            reorder: Reorder::new(impatient),
            released: Vec::new(),
        }
    }

    /// False for a frame that came back.
    fn receive(&mut self, sequence: u16) -> bool {
        let released = &mut self.released;
        let back = self
            .reorder
            .receive(frame(sequence), Time::ZERO, |f, _| released.push(f.sequence));
        back.is_none()
    }

    fn receive_at(&mut self, sequence: u16, ms: f64) -> bool {
        let released = &mut self.released;
        let came = Time::from_nanos((ms * 1e6) as u64);
        let back = self
            .reorder
            .receive(frame(sequence), came, |f, _| released.push(f.sequence));
        back.is_none()
    }

    fn due_ms(&self) -> Option<f64> {
        self.reorder.due().map(|due| due.as_nanos() as f64 / 1e6)
    }

    fn give_up_waiting(&mut self, ms: f64) {
        let released = &mut self.released;
        let now = Time::from_nanos((ms * 1e6) as u64);
        self.reorder.give_up_waiting(now, |f, _| released.push(f.sequence));
    }

    fn announced(&mut self, start: u16) {
        let released = &mut self.released;
        self.reorder.announced(start, |f, _| released.push(f.sequence));
    }
}

#[test]
fn a_gap_holds_back_what_is_behind_it_until_it_is_filled() {
    let mut receiver = Receiver::default();
    for sequence in [0, 2, 3, 5] {
        assert!(receiver.receive(sequence));
    }
    assert_eq!(receiver.released, [0]);
    assert_eq!(receiver.reorder.holds(), 3);
    receiver.receive(1);
    assert_eq!(receiver.released, [0, 1, 2, 3]);
    receiver.receive(4);
    assert_eq!(receiver.released, [0, 1, 2, 3, 4, 5]);
    assert_eq!(receiver.reorder.holds(), 0);
}

#[test]
fn the_senders_window_start_releases_what_waited_for_a_frame_that_was_given_up() {
    let mut receiver = Receiver::default();
    for sequence in [1, 2, 4] {
        receiver.receive(sequence);
    }
    receiver.announced(1);
    assert_eq!(receiver.released, [1, 2]);
    receiver.announced(4);
    assert_eq!(receiver.released, [1, 2, 4]);
    assert!(receiver.receive(5));
    assert_eq!(receiver.released, [1, 2, 4, 5]);
    receiver.announced(2);
    assert!(receiver.receive(6), "a window does not move back");
}

/// By hand from `ieee80211_sta_reorder_release` of Linux 6.12 at HZ 1000: a frame that is stored in tick 5 has a
/// timer at tick 5 + 1 + 100. That is 101 ticks off, where the wheel has steps of eight: after 106 the next is 112
/// (`calc_index`).
#[test]
fn mac80211_waits_for_a_frame_until_its_timer_goes_off() {
    let mut receiver = Receiver::new(true);
    receiver.receive_at(1, 5.7);
    assert_eq!(receiver.due_ms(), Some(112.0));
    receiver.give_up_waiting(111.9);
    assert_eq!(receiver.released, [] as [u16; 0]);
    receiver.give_up_waiting(112.0);
    assert_eq!(
        (receiver.released.as_slice(), receiver.due_ms()),
        ([1].as_slice(), None)
    );
    assert!(!receiver.receive_at(0, 113.0), "what it waited for comes too late");
    assert!(receiver.receive_at(2, 114.0));
    assert_eq!(receiver.released, [1, 2]);
}

/// A frame that is stored looks, too: the time of what came in tick 5 is over when the tick is later than 5 + 100,
/// and the first frame behind the gap is released with those that follow it.
#[test]
fn a_frame_that_is_stored_lets_out_what_has_waited_long_enough() {
    let mut receiver = Receiver::new(true);
    receiver.receive_at(1, 5.7);
    receiver.receive_at(3, 105.9);
    assert_eq!(receiver.released, [] as [u16; 0]);
    receiver.receive_at(2, 106.0);
    assert_eq!(receiver.released, [1, 2, 3]);
    // A receiver of the paper's waits for as long as it takes.
    let mut patient = Receiver::new(false);
    patient.receive_at(1, 5.7);
    patient.receive_at(2, 500.0);
    assert_eq!((patient.released.len(), patient.due_ms()), (0, None));
}

/// By hand from the same loop: 1 and 2 are released together, and over the gap at 3 it goes on to 4, which came with
/// them. Over the gap at 5 it does not, because 6 came 50 ms later; the timer is set to 151, which is near: it goes
/// off a tick later.
#[test]
fn over_the_next_gap_mac80211_goes_on_only_if_what_is_behind_it_has_waited_as_long() {
    let mut receiver = Receiver::new(true);
    for (sequence, ms) in [(1, 0.2), (2, 0.2), (4, 0.9), (6, 50.0)] {
        receiver.receive_at(sequence, ms);
    }
    assert_eq!(receiver.due_ms(), Some(104.0));
    receiver.give_up_waiting(104.0);
    assert_eq!(receiver.released, [1, 2, 4]);
    assert_eq!(receiver.due_ms(), Some(152.0));
    receiver.receive_at(5, 110.0);
    assert_eq!(receiver.released, [1, 2, 4, 5, 6]);
}

/// The timer is that of the first frame held by number, whenever others came.
#[test]
fn the_timer_is_that_of_the_first_frame_that_waits() {
    let mut receiver = Receiver::new(true);
    receiver.receive_at(5, 10.0);
    receiver.receive_at(2, 30.0);
    assert_eq!(receiver.due_ms(), Some(136.0));
    receiver.give_up_waiting(136.0);
    assert_eq!(receiver.released, [2, 5]);
}

/// By hand from `ieee80211_rx_h_ctrl`: a BlockAckReq releases what lies before the window that it tells of, and the
/// timer stays.
#[test]
fn what_follows_a_window_that_mac80211_was_told_of_waits_for_the_next_frame() {
    let mut receiver = Receiver::new(true);
    for sequence in [1, 2, 4] {
        receiver.receive_at(sequence, 1.0);
    }
    receiver.announced(2);
    assert_eq!(
        (receiver.released.as_slice(), receiver.due_ms()),
        ([1].as_slice(), Some(104.0))
    );
    receiver.receive_at(6, 3.0);
    assert_eq!(receiver.released, [1, 2]);
    receiver.announced(6);
    assert_eq!(receiver.released, [1, 2, 4]);
    receiver.give_up_waiting(104.0);
    assert_eq!(
        (receiver.released.as_slice(), receiver.due_ms()),
        ([1, 2, 4, 6].as_slice(), None)
    );
}

#[test]
fn a_frame_beyond_the_window_moves_it() {
    let mut receiver = Receiver::default();
    for sequence in [1, 3, 63] {
        receiver.receive(sequence);
    }
    assert_eq!(receiver.released, [] as [u16; 0]);
    // The window becomes 2 to 65: 1 is released, the gap at 2 remains.
    receiver.receive(65);
    assert_eq!(receiver.released, [1]);
    receiver.receive(2);
    assert_eq!(receiver.released, [1, 2, 3]);
}

#[test]
fn duplicates_and_frames_from_behind_the_window_come_back() {
    let mut receiver = Receiver::default();
    assert!(receiver.receive(0));
    assert!(!receiver.receive(0));
    assert!(receiver.receive(2));
    assert!(!receiver.receive(2));
    assert!(!receiver.receive(4095));
}

#[test]
fn sequence_numbers_wrap() {
    let mut receiver = Receiver::default();
    receiver.announced(2000);
    receiver.announced(4000);
    receiver.announced(4094);
    for sequence in [4095, 1, 0, 4094] {
        assert!(receiver.receive(sequence));
    }
    assert_eq!(receiver.released, [4094, 4095, 0, 1]);
}

proptest! {
    /// Whatever comes, from anywhere: releases are in order, and every frame is released, held or comes back.
    #[test]
    fn nothing_is_released_out_of_order_or_lost(
        steps in prop::collection::vec((0u16..90, any::<bool>()), 1..300),
    ) {
        let mut receiver = Receiver::default();
        let (mut base, mut taken) = (0u16, 0usize);
        for (step, announce) in steps {
            if announce && step % 5 == 0 {
                base = (base + step / 5) % 4096;
                receiver.announced(base);
            } else {
                taken += usize::from(receiver.receive((base + step) % 4096));
            }
        }
        prop_assert_eq!(receiver.released.len() + usize::from(receiver.reorder.holds()), taken);
        for pair in receiver.released.windows(2) {
            let step = ahead(pair[1], pair[0]);
            prop_assert!((1..HALF).contains(&step), "{:?}", pair);
        }
    }
}
