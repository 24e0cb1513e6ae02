use super::*;
use crate::bianchi::frames_per_second;
use crate::{AccessCategory, EdcaParams};
use proptest::prelude::*;

const BAND: Band = Band::Ghz5;
const BE: u32 = AccessCategory::BestEffort.index() as u32;
const VI: u32 = AccessCategory::Video.index() as u32;

fn stations(n: usize) -> Vec<Contender> {
    let edca = EdcaTable::STATION;
    vec![Contender { edca, retries: 255 }; n]
}

fn us(n: u64) -> Time {
    Time::ZERO + Duration::from_micros(n)
}

/// Everybody who transmits next, and when.
fn next(contention: &mut Contention) -> (Time, Vec<EdcafId>) {
    let due = contention.due().expect("somebody waits");
    let mut winners = Vec::new();
    contention.transmit(&mut winners);
    (due, winners)
}

/// Sets the counter of a contender that waits, as if it had drawn this at the last boundary.
fn set_counter(contention: &mut Contention, id: EdcafId, counter: u64) {
    contention.edcafs[id as usize].zero_at = contention.classes[contention.edcafs[id as usize].class].clock + counter;
}

#[test]
fn a_frame_on_an_idle_medium_waits_for_aifs_and_a_slot_boundary() {
    let mut contention = Contention::new(BAND, &stations(1), 1);
    contention.wants(BE, Time::ZERO);
    assert_eq!(contention.due(), Some(us(43)), "SIFS and three slots");

    let mut late = Contention::new(BAND, &stations(1), 1);
    late.wants(BE, us(1_000));
    // Boundaries are at 16 + 9 n: the first not before 1000 is n = 110, at 1006.
    assert_eq!(late.due(), Some(us(1_006)));

    let mut exact = Contention::new(BAND, &stations(1), 1);
    exact.wants(BE, us(1_006));
    assert_eq!(exact.due(), Some(us(1_006)));
}

#[test]
fn a_frame_during_somebody_elses_transmission_draws_a_backoff() {
    let mut drawn = [false; 16];
    for seed in 0..200 {
        let mut contention = Contention::new(BAND, &stations(2), seed);
        contention.wants(BE, Time::ZERO);
        assert_eq!(next(&mut contention), (us(43), vec![BE]));
        contention.wants(4 + BE, us(50));
        contention.finished(BE, Outcome::Answered, false);
        contention.idle(us(300));
        let due = contention.due().unwrap().since(us(300 + 43)).as_micros();
        assert_eq!(due % 9, 0);
        drawn[(due / 9) as usize] = true;
    }
    assert_eq!(drawn, [true; 16], "uniform in 0 to 15");
}

/// Counters 2 and 5 with AIFSN 3, worked by hand from section 10.23.2.4: the first transmits at boundary 3 + 2. The
/// second has then taken off one at each of the boundaries 3, 4 and 5, and has 2 left.
#[test]
fn a_counter_freezes_after_the_boundary_at_which_the_medium_became_busy() {
    let mut contention = Contention::new(BAND, &stations(2), 1);
    set_counter(&mut contention, BE, 2);
    set_counter(&mut contention, 4 + BE, 5);
    contention.wants(BE, Time::ZERO);
    contention.wants(4 + BE, Time::ZERO);
    assert_eq!(next(&mut contention), (us(43 + 18), vec![BE]));
    contention.finished(BE, Outcome::Answered, false);
    contention.idle(us(1_000));
    assert_eq!(next(&mut contention), (us(1_000 + 43 + 18), vec![4 + BE]));
}

/// With AIFSN 2 video sees one boundary more than best effort in each busy period.
#[test]
fn a_smaller_aifsn_sees_boundaries_earlier() {
    let mut contention = Contention::new(BAND, &stations(2), 1);
    set_counter(&mut contention, BE, 4);
    set_counter(&mut contention, 4 + VI, 3);
    contention.wants(BE, Time::ZERO);
    contention.wants(4 + VI, Time::ZERO);
    // Video: boundary 2 + 3 = 5. Best effort has seen 3, 4, 5 and has 1 left: boundary 3 + 1 after the next idle.
    assert_eq!(next(&mut contention), (us(16 + 45), vec![4 + VI]));
    contention.finished(4 + VI, Outcome::Answered, false);
    contention.idle(us(500));
    assert_eq!(next(&mut contention), (us(500 + 16 + 36), vec![BE]));
}

#[test]
fn two_that_are_zero_at_one_boundary_collide_and_double_their_windows() {
    let mut contention = Contention::new(BAND, &stations(2), 1);
    for id in [BE, 4 + BE] {
        set_counter(&mut contention, id, 7);
        contention.wants(id, Time::ZERO);
    }
    assert_eq!(next(&mut contention), (us(43 + 63), vec![BE, 4 + BE]));
    for (id, window) in [(BE, 31), (4 + BE, 31)] {
        contention.finished(id, Outcome::Unanswered, true);
        assert_eq!(contention.edcafs[id as usize].cw, window);
    }
}

#[test]
fn the_window_doubles_to_its_maximum_and_starts_over_with_an_answer_or_a_frame_given_up() {
    let spec = Contender {
        edca: EdcaTable::STATION,
        retries: 10,
    };
    let mut contention = Contention::new(BAND, &[spec], 1);
    let mut windows = Vec::new();
    contention.wants(BE, Time::ZERO);
    for _ in 0..11 {
        let (_, winners) = next(&mut contention);
        contention.finished(winners[0], Outcome::Unanswered, true);
        windows.push(contention.edcafs[BE as usize].cw);
        contention.idle(us(0));
    }
    assert_eq!(windows, [31, 63, 127, 255, 511, 1023, 1023, 1023, 1023, 15, 31]);
    let (_, winners) = next(&mut contention);
    contention.finished(winners[0], Outcome::Answered, true);
    assert_eq!(contention.edcafs[BE as usize].cw, 15);
}

#[test]
fn of_two_categories_of_a_node_the_urgent_one_transmits_and_the_other_backs_off() {
    let mut contention = Contention::new(BAND, &stations(2), 3);
    set_counter(&mut contention, VI, 1);
    set_counter(&mut contention, BE, 0);
    set_counter(&mut contention, 4 + BE, 0);
    for id in [BE, VI, 4 + BE] {
        contention.wants(id, Time::ZERO);
    }
    // All three are zero at boundary 3; the two nodes collide.
    assert_eq!(next(&mut contention), (us(43), vec![VI, 4 + BE]));
    assert_eq!(contention.internal_collisions(), 1);
    assert_eq!(contention.edcafs[BE as usize].cw, 31);
    assert_eq!(
        contention.edcafs[BE as usize].state,
        State::Waiting,
        "it still has its frame"
    );
}

#[test]
fn a_counter_runs_on_without_a_frame() {
    let mut contention = Contention::new(BAND, &stations(1), 1);
    contention.wants(BE, Time::ZERO);
    next(&mut contention);
    contention.finished(BE, Outcome::Answered, false);
    set_counter(&mut contention, BE, 10);
    contention.idle(us(200));
    assert_eq!(contention.due(), None, "nothing to send");
    // Four boundaries from 243 on have passed by 279: 243, 252, 261 and 270.
    contention.wants(BE, us(275));
    assert_eq!(contention.due(), Some(us(243 + 90)));
}

/// Every contender with a counter of its own, looked at at every boundary: section 10.23.2.4 word for word.
struct Naive {
    nodes: Vec<Contender>,
    streams: Vec<Stream>,
    counters: Vec<u64>,
    windows: Vec<u16>,
    failures: Vec<u8>,
    waiting: Vec<bool>,
}

impl Naive {
    fn params(&self, id: usize) -> EdcaParams {
        self.nodes[id / 4].edca.categories[id % 4]
    }

    fn draw(&mut self, id: usize) {
        self.counters[id] = self.streams[id / 4].below(u64::from(self.windows[id]) + 1);
    }

    fn boundary(&mut self, number: u64) -> Vec<usize> {
        let mut winners: Vec<usize> = Vec::new();
        let mut losers = Vec::new();
        for id in 0..self.counters.len() {
            if number < u64::from(self.params(id).aifsn) {
                continue;
            }
            if self.counters[id] > 0 {
                self.counters[id] -= 1;
            } else if self.waiting[id] {
                if winners.last().is_some_and(|last| last / 4 == id / 4) {
                    losers.push(id);
                } else {
                    winners.push(id);
                }
            }
        }
        for &id in &winners {
            self.waiting[id] = false;
        }
        for id in losers {
            self.finish(id, Outcome::Unanswered, true);
        }
        winners
    }

    fn finish(&mut self, id: usize, outcome: Outcome, more: bool) {
        let params = self.params(id);
        match outcome {
            Outcome::Answered => (self.failures[id], self.windows[id]) = (0, params.cw_min),
            Outcome::Unanswered => {
                self.failures[id] += 1;
                self.windows[id] = params.cw_max.min(self.windows[id] * 2 + 1);
                if self.failures[id] == self.nodes[id / 4].retries {
                    (self.failures[id], self.windows[id]) = (0, params.cw_min);
                }
            }
        }
        self.draw(id);
        self.waiting[id] = more;
    }
}

proptest! {
    /// The same arrivals and outcomes give the same transmissions at the same boundaries as counting slot by slot.
    #[test]
    fn it_agrees_with_counting_every_slot(
        seed in any::<u64>(),
        retries in 1u8..9,
        access_point in any::<bool>(),
        script in prop::collection::vec((0u32..20, 0u64..400, any::<bool>(), any::<bool>(), 0u64..300), 1..120),
    ) {
        let mut nodes = vec![Contender { edca: EdcaTable::STATION, retries }; 5];
        if access_point {
            nodes[0].edca = EdcaTable::ACCESS_POINT;
        }
        let mut fast = Contention::new(BAND, &nodes, seed);
        let mut naive = Naive {
            streams: (0..5).map(|node| Stream::named(seed, &format!("wifi backoff {node}"))).collect(),
            counters: vec![0; 20],
            windows: nodes.iter().flat_map(|node| node.edca.categories.map(|p| p.cw_min)).collect(),
            failures: vec![0; 20],
            waiting: vec![false; 20],
            nodes,
        };
        let mut idle = 0;
        let mut boundary = 0;
        let mut now = 0;
        let at = |ns: u64| Time::from_nanos(ns);
        let mut winners = Vec::new();
        for (id, gap, answered, more, busy) in script {
            // An arrival on the idle medium, `gap` us on, unless somebody transmits first.
            let arrival = now + gap * 1_000;
            loop {
                let next = idle + 16_000 + 9_000 * boundary;
                let told = fast.due();
                if next >= arrival {
                    prop_assert!(told.is_none_or(|due| due >= at(arrival)));
                    break;
                }
                let sent = naive.boundary(boundary);
                boundary += 1;
                if sent.is_empty() {
                    prop_assert!(told.is_none_or(|due| due > at(next)));
                    continue;
                }
                prop_assert_eq!(told, Some(at(next)));
                fast.transmit(&mut winners);
                let fast_sent: Vec<usize> = winners.iter().map(|&id| id as usize).collect();
                prop_assert_eq!(&fast_sent, &sent);
                prop_assert_eq!(fast.due(), None);
                // An arrival while the medium is busy.
                let other = (id as usize + 7) % 20;
                if !naive.waiting[other] && !sent.contains(&other) {
                    if naive.counters[other] == 0 {
                        naive.draw(other);
                    }
                    naive.waiting[other] = true;
                    fast.wants(other as u32, at(next + 1));
                }
                let outcome = if sent.len() == 1 && answered { Outcome::Answered } else { Outcome::Unanswered };
                for &id in &sent {
                    naive.finish(id, outcome, more);
                    fast.finished(id as u32, outcome, more);
                }
                idle = next + busy * 1_000 + 1;
                boundary = 0;
                fast.idle(at(idle));
            }
            now = arrival.max(idle);
            naive.waiting[id as usize] = true;
            fast.wants(id, at(now));
        }
    }
}

/// Single frames of 1514 bytes at 54 Mbit/s: PPDU 252 us, SIFS 16, Ack 28.
#[test]
fn saturation_throughput_is_bianchis() {
    let (exchange, collision) = (
        Duration::from_micros(252 + 16 + 28),
        Duration::from_micros(252) + BAND.eifs_less_difs(),
    );
    let aifs = BAND.aifs(3);
    for n in [1, 2, 5, 10, 20, 50] {
        let mut contention = Contention::new(BAND, &stations(usize::from(n)), 11);
        for node in 0..u32::from(n) {
            contention.wants(4 * node + BE, Time::ZERO);
        }
        let mut sent = 0u64;
        let mut winners = Vec::new();
        let end = Time::from_secs(40);
        while let Some(now) = contention.due().filter(|&due| due < end) {
            contention.transmit(&mut winners);
            let (outcome, lasts) = if winners.len() == 1 {
                sent += 1;
                (Outcome::Answered, exchange)
            } else {
                (Outcome::Unanswered, collision)
            };
            for &id in &winners {
                contention.finished(id, outcome, true);
            }
            contention.idle(now + lasts);
        }
        let slot = |busy: Duration| (busy + aifs).as_secs_f64();
        let want = frames_per_second(n, slot(exchange), slot(collision));
        let got = sent as f64 / 40.0;
        println!(
            "{n} stations: {got:.1} frames/s, Bianchi {want:.1}: {:+.2} %",
            (got / want - 1.0) * 100.0
        );
        assert!(
            (got / want - 1.0).abs() < 0.03,
            "{n} stations: {got} frames/s, not {want}"
        );
    }
}
