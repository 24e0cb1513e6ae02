//! Algorithm 3: an example worked by hand, and shares of airtime.

use super::*;
use proptest::prelude::*;
use sojourn_units::Stream;
use std::collections::VecDeque;

const AC: AccessCategory = AccessCategory::BestEffort;

/// A hardware queue of two aggregates over stations with so many aggregates to send.
struct Fake {
    queue: VecDeque<u16>,
    waiting: Vec<u64>,
    /// The station whose window is closed.
    closed: Option<u16>,
}

impl Fake {
    fn new(waiting: &[u64]) -> Self {
        Self {
            queue: VecDeque::new(),
            waiting: waiting.to_vec(),
            closed: None,
        }
    }
}

impl Driver for Fake {
    fn hardware_queue_is_full(&self, _: AccessCategory) -> bool {
        self.queue.len() >= 2
    }
    fn queue_is_empty(&self, station: u16, _: AccessCategory) -> bool {
        self.waiting[usize::from(station)] == 0
    }
    fn window_is_closed(&self, station: u16, _: AccessCategory) -> bool {
        self.closed == Some(station)
    }
    fn build_aggregate(&mut self, station: u16, _: AccessCategory) {
        self.waiting[usize::from(station)] -= 1;
        self.queue.push_back(station);
    }
}

fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

/// Completes the aggregate at the head and schedules again; answers what is in the hardware queue.
fn complete(s: &mut AirtimeScheduler, fake: &mut Fake, airtime: Duration) -> Vec<u16> {
    let station = fake.queue.pop_front().unwrap();
    s.charge(station, AC, airtime);
    s.schedule(AC, fake);
    fake.queue.iter().copied().collect()
}

fn credits_us(s: &AirtimeScheduler) -> Vec<i64> {
    (0..s.quantum.len()).map(|i| s.credit(i as u16, AC) / 1000).collect()
}

/// Station 0 sends aggregates of 1000 us, station 1 of 200 us; the quantum is 300 us.
#[test]
fn algorithm_3_worked_by_hand() {
    let mut s = AirtimeScheduler::new(us(300), &[256, 256]);
    let mut fake = Fake::new(&[10, 2]);
    s.wake(0, AC);
    s.schedule(AC, &mut fake);
    assert_eq!(fake.queue, [0, 0], "it has credit and is alone");
    s.wake(1, AC);
    s.schedule(AC, &mut fake);
    assert_eq!(fake.queue, [0, 0], "the hardware queue is full");

    // 0 has -700, gets a quantum and becomes old; 1 is new.
    assert_eq!(complete(&mut s, &mut fake, us(1000)), [0, 1]);
    assert_eq!(credits_us(&s), [-400, 300]);
    // Nobody was charged for what is still queued: 1 builds again.
    assert_eq!(complete(&mut s, &mut fake, us(1000)), [1, 1]);
    assert_eq!(credits_us(&s), [-1400, 300]);
    // 1 has 100 left but nothing queued and becomes old. 0: -1100; 1: empty, off the list; 0: -800, -500, -200, 100.
    assert_eq!(complete(&mut s, &mut fake, us(200)), [1, 0]);
    assert_eq!(credits_us(&s), [100, 100]);
    assert_eq!(complete(&mut s, &mut fake, us(200)), [0, 0]);
    assert_eq!(credits_us(&s), [100, -100]);

    // 1 comes back without credit: it is no new station, but waits its turn.
    fake.waiting[1] = 1;
    s.wake(1, AC);
    assert!(s.categories[AC.index()].new_stations.first().is_none());
    // 0: -900 + 300, behind 1; 1: 200, behind 0; 0: -300; 1: builds.
    assert_eq!(complete(&mut s, &mut fake, us(1000)), [0, 1]);
    assert_eq!(credits_us(&s), [-300, 200]);
}

#[test]
fn a_sparse_station_is_served_first() {
    let mut s = AirtimeScheduler::new(us(300), &[256; 4]);
    let mut fake = Fake::new(&[1000, 1000, 1000, 0]);
    for station in 0..3 {
        s.wake(station, AC);
    }
    s.schedule(AC, &mut fake);
    for _ in 0..20 {
        complete(&mut s, &mut fake, us(2000));
    }
    fake.waiting[3] = 1;
    s.wake(3, AC);
    assert_eq!(complete(&mut s, &mut fake, us(2000)).last(), Some(&3));
}

#[test]
fn coming_and_going_brings_no_airtime() {
    let mut s = AirtimeScheduler::new(us(300), &[256; 2]);
    let mut fake = Fake::new(&[u64::MAX, 1]);
    let mut used = [0_u64; 2];
    s.wake(0, AC);
    s.wake(1, AC);
    s.schedule(AC, &mut fake);
    for _ in 0..100_000 {
        used[usize::from(fake.queue[0])] += 1;
        complete(&mut s, &mut fake, us(1000));
        // It leaves the lists after each aggregate, and is woken when that is on its way.
        if fake.waiting[1] == 0 && !s.stations[AC.of(1)].listed {
            fake.waiting[1] = 1;
            s.wake(1, AC);
            s.schedule(AC, &mut fake);
        }
    }
    assert!(used[1] <= used[0] + 2, "{used:?}");
    assert!(used[1] > 20_000, "{used:?}");
}

#[test]
fn a_station_with_a_closed_window_keeps_its_turn() {
    let mut s = AirtimeScheduler::new(us(300), &[256; 2]);
    let mut fake = Fake::new(&[10, 10]);
    fake.closed = Some(0);
    s.wake(0, AC);
    s.wake(1, AC);
    s.schedule(AC, &mut fake);
    assert!(fake.queue.is_empty());
    fake.closed = None;
    s.schedule(AC, &mut fake);
    assert_eq!(fake.queue, [0, 0]);
}

#[test]
fn categories_have_lists_and_credit_of_their_own() {
    let mut s = AirtimeScheduler::new(us(300), &[256]);
    s.charge(0, AccessCategory::Voice, us(5000));
    assert_eq!(
        (s.credit(0, AccessCategory::Voice), s.credit(0, AC)),
        (-4_700_000, 300_000)
    );
    let mut fake = Fake::new(&[1]);
    s.wake(0, AC);
    s.schedule(AccessCategory::Voice, &mut fake);
    assert!(fake.queue.is_empty());
    s.schedule(AC, &mut fake);
    assert_eq!(fake.queue, [0]);
}

/// What an aggregate takes at this rate in Mbit/s: 32 frames of 1538 bytes or 4 ms, 60 us for preamble and answer.
fn aggregate(mbit: f64) -> Duration {
    let frame = 1538.0 * 8.0 / mbit;
    let frames = (4000.0 / frame).floor().clamp(1.0, 32.0);
    Duration::from_secs_f64((frames * frame + 60.0) / 1e6)
}

/// The airtime of saturated stations over `span` by share, where each aggregate may be cut short and some uplink
/// airtime is charged.
fn shares(mbits: &[f64], weights: &[u32], uplink: &[f64], seed: u64, span: Duration) -> Vec<f64> {
    let mut s = AirtimeScheduler::new(us(300), weights);
    let mut fake = Fake::new(&vec![u64::MAX; mbits.len()]);
    let mut used = vec![Duration::ZERO; mbits.len()];
    let mut stream = Stream::new(seed);
    for station in 0..mbits.len() {
        s.wake(station as u16, AC);
    }
    s.schedule(AC, &mut fake);
    let mut total = Duration::ZERO;
    while total < span {
        let station = fake.queue[0];
        let full = aggregate(mbits[usize::from(station)]).as_nanos();
        let airtime = Duration::from_nanos(full / 2 + stream.below(full / 2));
        let answer = Duration::from_secs_f64(airtime.as_secs_f64() * uplink[usize::from(station)]);
        s.charge(station, AC, answer);
        complete(&mut s, &mut fake, airtime);
        used[usize::from(station)] += airtime + answer;
        total += airtime + answer;
    }
    used.iter().map(|u| u.as_secs_f64() / total.as_secs_f64()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn shares_of_airtime_are_equal_within_one_percent(
        stations in prop::collection::vec((6.5_f64..866.7, 0.0_f64..0.3), 2..12), seed: u64,
    ) {
        let (mbits, uplink): (Vec<f64>, Vec<f64>) = stations.into_iter().unzip();
        let n = mbits.len();
        let span = Duration::from_secs(5) * n as u64;
        for share in shares(&mbits, &vec![256; n], &uplink, seed, span) {
            prop_assert!((share * n as f64 - 1.0).abs() < 0.01, "{share} of {n}");
        }
    }

    #[test]
    fn shares_of_airtime_follow_weights_within_one_percent(
        stations in prop::collection::vec((6.5_f64..866.7, 32_u32..2048), 2..8), seed: u64,
    ) {
        let (mbits, weights): (Vec<f64>, Vec<u32>) = stations.into_iter().unzip();
        let total = f64::from(weights.iter().sum::<u32>());
        let least = f64::from(*weights.iter().min().unwrap()) / total;
        // So long that the lightest station has 4 s.
        let span = Duration::from_secs_f64(4.0 / least);
        let shares = shares(&mbits, &weights, &vec![0.0; mbits.len()], seed, span);
        for (share, weight) in shares.iter().zip(&weights) {
            let fair = f64::from(*weight) / total;
            prop_assert!((share / fair - 1.0).abs() < 0.01, "{share}, not {fair}");
        }
    }
}
