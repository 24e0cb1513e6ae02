//! The scheduler of Linux 6.12: examples worked by hand from its rules, and shares of airtime.

use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

const AC: AccessCategory = AccessCategory::BestEffort;

/// A hardware queue of two aggregates over stations with so many aggregates to send, and limits that a test sets.
struct Fake {
    queue: VecDeque<u16>,
    waiting: Vec<u64>,
    pending: Vec<Duration>,
    room: Vec<bool>,
    may_schedule: bool,
    /// Stations that wait with what they took.
    held_back: VecDeque<u16>,
    /// What an aggregate adds to what is pending.
    cost: Duration,
}

impl Fake {
    fn new(waiting: &[u64]) -> Self {
        Self {
            queue: VecDeque::new(),
            waiting: waiting.to_vec(),
            pending: vec![Duration::ZERO; waiting.len()],
            room: vec![true; waiting.len()],
            may_schedule: true,
            held_back: VecDeque::new(),
            cost: Duration::ZERO,
        }
    }

    fn queue(&self) -> Vec<u16> {
        self.queue.iter().copied().collect()
    }
}

impl Driver for Fake {
    fn hardware_queue_is_full(&self, _: AccessCategory) -> bool {
        self.queue.len() >= 2
    }
    fn queue_is_empty(&self, station: u16, _: AccessCategory) -> bool {
        self.waiting[usize::from(station)] == 0
    }
    fn window_is_closed(&self, _: u16, _: AccessCategory) -> bool {
        false
    }
    fn pending(&self, station: u16, _: AccessCategory) -> Duration {
        self.pending[usize::from(station)]
    }
    fn has_room(&self, station: u16, _: AccessCategory) -> bool {
        self.room[usize::from(station)]
    }
    fn may_schedule(&self, _: AccessCategory, _: usize) -> bool {
        self.may_schedule
    }
    fn held_back(&mut self, _: AccessCategory) -> Option<u16> {
        self.held_back.pop_front()
    }
    fn build_aggregate(&mut self, station: u16, _: AccessCategory) {
        self.waiting[usize::from(station)] -= 1;
        self.pending[usize::from(station)] += self.cost;
        self.queue.push_back(station);
    }
}

fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

fn at(us: u64) -> Time {
    Time::from_nanos(us * 1000)
}

fn deficits_us(s: &Mac80211Scheduler) -> Vec<i64> {
    (0..s.stations.len() / 4)
        .map(|i| s.deficit(i as u16, AC) / 1000)
        .collect()
}

/// Completes the aggregate at the head and schedules again; answers what is in the hardware queue.
fn complete(s: &mut Mac80211Scheduler, fake: &mut Fake, airtime: u64, now: u64) -> Vec<u16> {
    let station = fake.queue.pop_front().unwrap();
    s.charge(station, AC, us(airtime), at(now));
    s.schedule(AC, at(now), fake);
    fake.queue()
}

/// Station 0 sends aggregates of 1000 us, station 1 of 200 us; the quantum is 256 us.
#[test]
fn rounds_worked_by_hand() {
    let mut s = Mac80211Scheduler::new(true, &[256, 256]);
    let mut fake = Fake::new(&[10, 2]);
    s.wake(0, AC, at(0));
    s.schedule(AC, at(0), &mut fake);
    assert_eq!((fake.queue(), s.round), (vec![0, 0], 2), "one turn a round");
    s.wake(1, AC, at(0));

    // 0 owes 744 and stands behind 1, which came to the head.
    assert_eq!(complete(&mut s, &mut fake, 1000, 1000), [0, 1]);
    assert_eq!(deficits_us(&s), [-744, 256]);
    // 1 is the first still, and nobody was charged for what is queued.
    assert_eq!(complete(&mut s, &mut fake, 1000, 2000), [1, 1]);
    assert_eq!(deficits_us(&s), [-1744, 256]);
    // 1 has nothing more and is off the list. 0 is alone: 7 quanta until it owes nothing.
    assert_eq!(complete(&mut s, &mut fake, 200, 2200), [1, 0]);
    assert_eq!(deficits_us(&s), [48, 56]);
    assert_eq!(complete(&mut s, &mut fake, 200, 2400), [0, 0]);
    // The last charge: 1 owes 144; when it comes back it is the first, gets a quantum and stands behind 0, which gets
    // none.
    fake.waiting[1] = 1;
    s.wake(1, AC, at(2400));
    assert_eq!(complete(&mut s, &mut fake, 10, 2410), [0, 0]);
    assert_eq!(deficits_us(&s), [38, 112]);
}

#[test]
fn stations_without_room_get_quanta_as_long_as_anybody_has_room() {
    let mut s = Mac80211Scheduler::new(true, &[256, 512]);
    let mut fake = Fake::new(&[9, 9]);
    (fake.room[0], fake.pending[0], fake.pending[1]) = (false, us(6000), us(2000));
    s.wake(0, AC, at(0));
    s.wake(1, AC, at(0));
    s.schedule(AC, at(0), &mut fake);
    // 1 owes 2000 - 512, needs 3 quanta of 512; 0 owes as long, and gets one each time that it is passed over.
    assert_eq!(fake.queue(), [1, 1]);
    assert_eq!(deficits_us(&s), [256 + 3 * 256, 512 + 3 * 512]);
}

/// Station 0 has frames to be sent again that limits hold back, and owes much; 1 has room. 0 goes first all the same,
/// without a turn: its deficit stays, and the next place is that of 1. Where nobody may be scheduled it goes, too.
#[test]
fn what_limits_hold_back_goes_before_the_round_and_takes_no_turn() {
    for may_schedule in [true, false] {
        let mut s = Mac80211Scheduler::new(true, &[256, 256]);
        let mut fake = Fake::new(&[9, 9]);
        (fake.may_schedule, fake.held_back) = (may_schedule, VecDeque::from([0]));
        (fake.room[0], fake.pending[0]) = (false, us(6000));
        s.wake(0, AC, at(0));
        s.wake(1, AC, at(0));
        s.schedule(AC, at(0), &mut fake);
        assert_eq!(fake.queue(), if may_schedule { vec![0, 1] } else { vec![0] });
        assert_eq!(deficits_us(&s)[1], 256, "1 owes nothing");
    }
}

#[test]
fn if_limits_hold_back_all_the_round_ends_after_one_pass() {
    let mut s = Mac80211Scheduler::new(true, &[256, 256]);
    let mut fake = Fake::new(&[9, 9]);
    fake.room = vec![false, false];
    fake.pending = vec![us(300), us(100)];
    s.wake(0, AC, at(0));
    s.wake(1, AC, at(0));
    s.schedule(AC, at(0), &mut fake);
    assert!(fake.queue.is_empty());
    assert_eq!(deficits_us(&s), [512, 256], "only who owes gets a quantum");
    fake.room = vec![true, true];
    fake.may_schedule = false;
    s.schedule(AC, at(0), &mut fake);
    assert!(fake.queue.is_empty(), "the limit of the access category");
}

/// `ieee80211_sta_keep_active`: 100 ms.
#[test]
fn airtime_is_charged_for_100_ms_after_packets_came() {
    let mut s = Mac80211Scheduler::new(true, &[256]);
    s.charge(0, AC, us(10), at(0));
    assert_eq!(deficits_us(&s), [256], "it never had packets");
    s.wake(0, AC, at(1000));
    s.charge(0, AC, us(10), at(101_000));
    s.charge(0, AC, us(10), at(101_001));
    assert_eq!(deficits_us(&s), [246]);
}

/// `ieee80211_txq_keep_active`: what is pending counts as used.
#[test]
fn who_owes_stays_on_the_list_without_packets_for_100_ms() {
    for (now, stays) in [(100_000, true), (100_001, false)] {
        let mut s = Mac80211Scheduler::new(true, &[256]);
        let mut fake = Fake::new(&[2]);
        fake.cost = us(1000);
        s.wake(0, AC, at(0));
        fake.waiting[0] = 1;
        fake.queue.push_back(7);
        s.schedule(AC, at(now), &mut fake);
        assert_eq!(fake.queue(), [7, 0], "another's, and the last place");
        assert_eq!(s.listed[AC.index()] == 1, stays);
    }
}

#[test]
fn without_fairness_stations_take_turns() {
    let mut s = Mac80211Scheduler::new(false, &[256, 256]);
    let mut fake = Fake::new(&[9, 9]);
    s.wake(0, AC, at(0));
    s.wake(1, AC, at(0));
    s.schedule(AC, at(0), &mut fake);
    assert_eq!(fake.queue(), [0, 1], "both have had their turn in one round");
    assert_eq!(complete(&mut s, &mut fake, 5000, 5000), [1, 0]);
    assert_eq!(complete(&mut s, &mut fake, 200, 5200), [0, 1]);
    assert_eq!(deficits_us(&s), [256, 256]);
}

proptest! {
    /// Saturated stations share the airtime by weight, whatever their aggregates take.
    #[test]
    fn airtime_is_shared_by_weight(
        stations in prop::collection::vec((100u64..6000, 1u32..2000), 1..8),
    ) {
        let weights: Vec<u32> = stations.iter().map(|s| s.1).collect();
        let mut s = Mac80211Scheduler::new(true, &weights);
        let mut fake = Fake::new(&vec![u64::MAX; stations.len()]);
        for i in 0..stations.len() {
            s.wake(i as u16, AC, at(0));
        }
        s.schedule(AC, at(0), &mut fake);
        s.schedule(AC, at(0), &mut fake);
        let mut used = vec![0; stations.len()];
        let (mut now, all) = (0, u64::from(weights.iter().sum::<u32>()));
        // Long enough that each station has had 200 aggregates at least.
        let least = stations.iter().map(|s| 200 * s.0 * all / u64::from(s.1)).max().unwrap();
        while now < least {
            let station = usize::from(fake.queue[0]);
            now += stations[station].0;
            used[station] += stations[station].0;
            complete(&mut s, &mut fake, stations[station].0, now);
        }
        for (station, used) in stations.iter().zip(&used) {
            let fair = now * u64::from(station.1) / all;
            // Three aggregates of its own, and a quantum.
            let slack = 3 * station.0 + u64::from(station.1) * 2;
            prop_assert!(used.abs_diff(fair) <= slack + fair / 50, "{} used, {} fair", used, fair);
        }
    }
}
