use super::*;
use crate::testing::{TestPacket, bench, ms};

/// RFC 8033 section 4.2 with the seven levels of auto-tuning: the change of the probability, delays in seconds.
fn rfc_step(prob: f64, delay: f64, old: f64) -> f64 {
    let level = [
        (1e-6, 2048.0),
        (1e-5, 512.0),
        (1e-4, 128.0),
        (1e-3, 32.0),
        (1e-2, 8.0),
        (1e-1, 2.0),
    ];
    let scale = level.iter().find(|(below, _)| prob < *below).map_or(1.0, |(_, s)| *s);
    (0.125 * (delay - 0.015) + 1.25 * (delay - old)) / scale
}

const SECOND: f64 = 15_625_000.0;

#[test]
fn linux_steps_follow_the_rfc_at_every_level() {
    for prob in [0.0, 2e-6, 2e-5, 2e-4, 2e-3, 2e-2, 0.2] {
        let mut pie = LinuxPie::new();
        pie.prob = (prob * 2f64.powi(56)) as u64;
        (pie.delay, pie.old_delay) = ((0.020 * SECOND) as u64, (0.018 * SECOND) as u64);
        pie.update(&PieParams::LINUX, 10_000);
        let step = pie.probability() - prob;
        let want = rfc_step(prob, 0.020, 0.018);
        assert!((step / want - 1.0).abs() < 1e-3, "{prob}: {step} instead of {want}");
    }
}

#[test]
fn old_linux_has_three_levels() {
    // Below 1 % an eighth, below 10 % a half: seed 000 section 5.1.1 and Linux 3.14.
    for (prob, scale) in [(0.0, 8.0), (1e-4, 8.0), (0.009, 8.0), (0.05, 2.0), (0.3, 1.0)] {
        let mut pie = OldPie::new();
        // A rate of 20 (bytes per tick * 256), so 15625 bytes are 200000 ticks = 12.8 ms; before, 6.4 ms.
        pie.rate = known_rate(20);
        pie.delay = 100_000;
        pie.prob = (prob * 2f64.powi(32)) as u32;
        pie.update(&PieParams::LINUX_3_14, 15_625);
        let want = (0.125 * (0.0128 - 0.020) + 1.25 * 0.0064) / scale;
        let step = pie.probability() - prob;
        assert!((step / want - 1.0).abs() < 0.1, "{prob}: {step} instead of {want}");
    }
}

/// An estimator that has measured this rate, bytes per tick * 256: ten packets of 1000 bytes in the ticks it takes.
fn known_rate(rate: u64) -> estimator::RateEstimator {
    let mut estimator = estimator::RateEstimator::new(10_000);
    let ticks = 10_000 * 256 / rate;
    estimator.departed(ms(0), 1000, 20_000);
    assert!(estimator.departed(Time::from_nanos(ticks * 64), 9000, 20_000).is_some());
    assert_eq!(estimator.delay(rate), Some(256));
    estimator
}

#[test]
fn old_linux_measures_the_departure_rate_in_cycles_of_ten_thousand_bytes() {
    // 1000 bytes leave every 0.8 ms (10 Mbit/s). A cycle starts with a departure that leaves 10000 bytes behind and
    // ends with the tenth: 9 gaps, 7.2 ms = 112500 ticks; 10000 * 256 / 112500 = 22.75, cut to 22 (10.7 Mbit/s).
    // Later cycles take 8 ms: 20; the average is 22 - 2 + 2, so it stays.
    let mut b = bench("pie variant linux-3.14");
    b.put_many(ms(0), 40, 1000, 0);
    let at = |i: u64| Time::from_nanos(i * 800_000);
    for i in 0..9 {
        b.get(at(i));
        assert!(b.extra("avg_dq_rate").abs() < 1e-9, "{i}");
    }
    b.get(at(9));
    let rate = 22.0 * 15_625_000.0 / 256.0;
    assert!((b.extra("avg_dq_rate") - rate).abs() < 1.0);
    for i in 10..29 {
        b.get(at(i));
    }
    assert!((b.extra("avg_dq_rate") - rate).abs() < 1.0);
}

#[test]
fn old_linux_uses_its_burst_allowance_only_by_measured_cycles() {
    // 100 ms less 7.2 ms, then 8 ms per cycle: used up with the 13th cycle, after 7.2 + 12 * 8 = 103.2 ms.
    let mut pie = OldPie::new();
    let mut cycles = 0;
    for i in 0..200 {
        let before = pie.burst;
        pie.departed(
            &PieParams::LINUX_3_14,
            ms(0),
            Time::from_nanos(i * 800_000),
            1000,
            50_000,
        );
        cycles += u32::from(pie.burst < before);
        if pie.burst == 0 {
            break;
        }
    }
    assert_eq!(cycles, 13);
    // With less than 10000 bytes behind, no cycle starts and the allowance stays.
    let mut pie = OldPie::new();
    for i in 0..1000 {
        pie.departed(
            &PieParams::LINUX_3_14,
            ms(0),
            Time::from_nanos(i * 800_000),
            1000,
            9_999,
        );
    }
    assert_eq!(pie.burst, ticks::of(Duration::from_millis(100)));
}

#[test]
fn the_step_is_capped_at_two_percent_from_ten_percent_on() {
    let mut pie = LinuxPie::new();
    pie.prob = (0.2 * 2f64.powi(56)) as u64;
    (pie.delay, pie.old_delay) = ((0.200 * SECOND) as u64, 0);
    pie.update(&PieParams::LINUX, 100_000);
    assert!((pie.probability() - 0.22).abs() < 1e-6);
    // Above 250 ms two points more.
    (pie.delay, pie.old_delay) = ((0.251 * SECOND) as u64, 0);
    pie.update(&PieParams::LINUX, 100_000);
    assert!((pie.probability() - 0.26).abs() < 1e-6);
}

#[test]
fn without_delay_the_probability_decays_by_one_in_64() {
    let mut pie = LinuxPie::new();
    pie.prob = 1 << 55;
    pie.update(&PieParams::LINUX, 0);
    // First alpha * (0 - target) = -0.001875, then * 63/64.
    assert!((pie.probability() - (0.5 - 0.001_875) * 63.0 / 64.0).abs() < 1e-6);
}

#[test]
fn de_randomisation_keeps_drops_apart_and_forces_one_in_time() {
    // RFC 8033 section 5.4: at p = 0.1 none of the first eight arrivals after a drop is dropped (0.8 < 0.85), and one
    // is after 85 at the latest (8.5).
    let mut pie = LinuxPie::new();
    (pie.burst, pie.prob, pie.delay) = (0, (u64::MAX >> 8) / 10 + 1, 1 << 24);
    let mut stream = Stream::new(1);
    let (mut gap, mut gaps) = (0, Vec::new());
    for _ in 0..100_000 {
        gap += 1;
        if pie.signal(&PieParams::LINUX, 1500, 100_000, &mut stream) {
            pie.dropped();
            gaps.push(gap);
            gap = 0;
        }
    }
    assert!(gaps.iter().all(|g| (9..=85).contains(g)), "{:?}", gaps.iter().max());
    // Nothing before the ninth, then a coin of 0.1: mean 8 + 10.
    let mean = f64::from(gaps.iter().sum::<i32>()) / gaps.len() as f64;
    assert!((mean - 18.0).abs() < 0.5, "{mean}");
}

#[test]
fn old_linux_tosses_an_independent_coin() {
    let mut pie = OldPie::new();
    (pie.burst, pie.prob, pie.delay) = (0, u32::MAX / 10, 1 << 24);
    let mut stream = Stream::new(1);
    let n = 100_000;
    let drops: Vec<u32> = (0..n)
        .filter(|_| pie.signal(&PieParams::LINUX_3_14, 1500, 100_000, &mut stream))
        .collect();
    assert!(
        (drops.len() as f64 - 10_000.0).abs() < 4.0 * 9000f64.sqrt(),
        "{}",
        drops.len()
    );
    assert!(drops.windows(2).any(|w| w[1] - w[0] == 1));
}

#[test]
fn nothing_is_dropped_early_within_the_safeguards() {
    let mut stream = Stream::new(1);
    let busy = || {
        let mut pie = LinuxPie::new();
        (pie.burst, pie.prob, pie.delay, pie.accumulated) = (0, (u64::MAX >> 8) / 6, 1 << 24, u64::MAX >> 4);
        pie
    };
    let signals =
        |pie: &mut LinuxPie, backlog, stream: &mut Stream| pie.signal(&PieParams::LINUX, 1500, backlog, stream);
    assert!(signals(&mut busy(), 100_000, &mut stream));
    assert!(
        !signals(&mut LinuxPie { burst: 1, ..busy() }, 100_000, &mut stream),
        "burst allowance"
    );
    assert!(!signals(&mut busy(), 3027, &mut stream), "less than two frames queued");
    let half_target = ticks::of(Duration::from_micros(7500));
    assert!(
        !signals(
            &mut LinuxPie {
                delay: half_target - 1,
                ..busy()
            },
            100_000,
            &mut stream
        ),
        "half the target"
    );
    assert!(signals(
        &mut LinuxPie {
            delay: half_target - 1,
            prob: (u64::MAX >> 8) / 5,
            ..busy()
        },
        100_000,
        &mut stream
    ));
}

#[test]
fn a_standing_queue_is_dropped_from_only_after_the_burst_allowance() {
    // 50 packets stand; one leaves and one comes each ms, so the delay is 50 ms. Burst: 150 ms of departures.
    let mut b = bench("pie");
    b.put_many(ms(1000), 50, 1000, 0);
    let mut first = None;
    for t in 1001..4000 {
        b.get(ms(t));
        b.put(ms(t), 1000, 0);
        if first.is_none() && b.q.stats().dropped() > 0 {
            first = Some(t);
        }
        while b.packets() < 50 {
            b.put(ms(t), 1000, 0);
        }
    }
    assert!(first.is_some_and(|t| t > 1150), "{first:?}");
    assert!(b.extra("prob") > 0.0);
}

#[test]
fn linux_updates_a_tick_late() {
    // Worked by hand from the kernel's wheel at 1000 ticks a second. The first timer has 500 ticks to go, so its level
    // counts eights: 504. Each later one has 15, so its level counts ones, and it goes off at the tick after them.
    let changes = |text: &str| {
        let mut b = bench(text);
        b.put_many(ms(0), 100, 1000, 0);
        b.get(ms(400));
        let (mut before, mut at) = (b.extra("prob"), Vec::new());
        for t in 401..560 {
            // To look at the head runs the timer, and changes nothing else.
            b.q.peek(Time::from_nanos(t * 1_000_000 - 1), &mut b.drops);
            assert_eq!(b.extra("prob").to_bits(), before.to_bits(), "between ticks");
            b.q.peek(ms(t), &mut b.drops);
            if b.extra("prob").to_bits() != before.to_bits() {
                before = b.extra("prob");
                at.push(t);
            }
        }
        at
    };
    assert_eq!(changes("pie"), [504, 520, 536, 552]);
    assert_eq!(changes("pie tupdate 30ms"), [504, 535]);
    // Timers of Linux 3.14 are not rounded.
    assert_eq!(
        changes("pie variant linux-3.14 tupdate 15ms"),
        [] as [u64; 0],
        "without a measured rate"
    );
}

#[test]
fn a_long_tupdate_is_rounded_to_the_eighth_of_the_wheel() {
    // 100 ticks from 504, counted in eights: 604 / 8 = 75.5, and the next eight is 608.
    let mut updates = updates::Updates::on_ticks(Duration::from_millis(100));
    let mut at = Vec::new();
    for t in 0..1000 {
        updates.run(ms(t), |_| {
            at.push(t);
            true
        });
    }
    assert_eq!(at, [504, 608, 712, 816, 920]);
}

#[test]
fn the_rfc_updates_after_one_tupdate() {
    let mut b = bench("pie variant rfc8033");
    b.put_many(ms(0), 100, 1000, 0);
    b.get(ms(14));
    assert!(b.extra("prob").abs() < 1e-18);
    b.get(ms(15));
    let want = rfc_step(0.0, 0.014, 0.0);
    assert!((b.extra("prob") / want - 1.0).abs() < 1e-9);
}

#[test]
fn a_queue_left_alone_for_years_answers_at_once() {
    for text in [
        "pie",
        "pie dq_rate_estimator",
        "pie variant linux-3.14",
        "pie variant rfc8033",
    ] {
        let mut b = bench(text);
        b.put_many(ms(0), 100, 1000, 0);
        for t in 1..50 {
            b.get(ms(t * 40));
        }
        assert!(b.get(Time::from_nanos(1 << 62)).is_some());
    }
}

#[test]
fn marks_replace_drops_up_to_ten_percent() {
    let mut b = bench("pie ecn");
    b.put_many(ms(1000), 50, 1000, 0);
    let (mut drops, mut dropping) = (0, 0);
    for t in 1001..3000 {
        b.get(ms(t));
        b.put_packet(
            ms(t),
            TestPacket {
                ecn: sojourn_units::Ecn::Ect0,
                ..TestPacket::new(0, 1000, 0)
            },
        );
        let all = b.q.stats().drops[DropReason::Congestion.index()];
        if all > drops {
            drops = all;
            dropping += 1;
            assert!(b.extra("prob") > 0.1);
        }
    }
    assert!(b.q.stats().marks > 0 && dropping > 0);
    assert!((b.extra("ecn_mark") - b.q.stats().marks as f64).abs() < 0.5);
}

/// RFC 8033 section 4.2: the levels begin at the powers of ten themselves.
#[test]
fn the_rfc_steps_at_and_around_each_level() {
    let levels = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1];
    for prob in levels.into_iter().flat_map(|at: f64| [at * 0.999, at, at * 1.5]) {
        let mut pie = RfcPie::new();
        (pie.prob, pie.delay, pie.old_delay) = (prob, 0.020, 0.018);
        pie.update(&RFC, 0);
        let want = prob + rfc_step(prob, 0.020, 0.018);
        assert!((pie.prob - want).abs() < 1e-15, "{prob}: {} and not {want}", pie.prob);
        assert_eq!(pie.old_delay.to_bits(), 0.020_f64.to_bits());
    }
}

const RFC: PieParams = PieParams {
    variant: PieVariant::Rfc8033,
    ..PieParams::LINUX
};

/// RFC 8033 sections 4.2, 5.5: at most 2 % an update from a probability of 10 % on, 2 % of it less without delay, and
/// never below 0 or above 1.
#[test]
fn the_rfcs_steps_are_capped_and_its_probability_decays() {
    let after = |prob: f64, delay: f64, old: f64| {
        let mut pie = RfcPie::new();
        (pie.prob, pie.delay, pie.old_delay) = (prob, delay, old);
        pie.update(&RFC, 0);
        pie.prob
    };
    assert!((after(0.1, 0.5, 0.0) - 0.12).abs() < 1e-12);
    assert!(
        (after(0.099, 0.1, 0.0) - (0.099 + rfc_step(0.099, 0.1, 0.0))).abs() < 1e-12,
        "not capped"
    );
    let without = (0.5 + rfc_step(0.5, 0.0, 0.0)) * 0.98;
    assert!((after(0.5, 0.0, 0.0) - without).abs() < 1e-12);
    assert!(
        (after(0.5, 0.0, 0.001) - (0.5 + rfc_step(0.5, 0.0, 0.001))).abs() < 1e-12,
        "no decay"
    );
    assert!(
        (after(0.5, 0.001, 0.0) - (0.5 + rfc_step(0.5, 0.001, 0.0))).abs() < 1e-12,
        "no decay"
    );
    assert_eq!(after(0.0, 0.0, 1.0).to_bits(), 0.0_f64.to_bits());
    assert_eq!(after(0.999, 0.5, 0.0).to_bits(), 1.0_f64.to_bits());
}

/// RFC 8033 section 4.4: the burst allowance begins again when there is no probability and both delays are below half
/// the target; else it shrinks by the time between updates.
#[test]
fn the_rfcs_burst_allowance_begins_again_below_half_the_target() {
    let after = |prob: f64, delay: f64, old: f64| {
        let mut pie = RfcPie::new();
        (pie.prob, pie.delay, pie.old_delay, pie.burst) = (prob, delay, old, 0.1);
        pie.update(&RFC, 0);
        pie.burst
    };
    for (prob, delay, old, expected) in [
        (0.0, 0.0074, 0.0074, 0.150),
        (0.0, 0.0075, 0.0075, 0.085),
        (0.0, 0.0074, 0.0075, 0.085),
        (0.5, 0.0074, 0.0074, 0.085),
    ] {
        assert!(
            (after(prob, delay, old) - expected).abs() < 1e-12,
            "{prob} {delay} {old}"
        );
    }
}

/// Of the kernel: both delays below half the target, no probability left, and with the estimator a measured rate.
#[test]
fn linuxs_burst_allowance_begins_again_below_half_the_target() {
    let half = ticks::of(PieParams::LINUX.target) / 2;
    for (delay, old, fresh) in [
        (half - 1, half - 1, true),
        (half, half - 1, false),
        (half - 1, half, false),
    ] {
        let mut pie = LinuxPie::new();
        (pie.delay, pie.old_delay, pie.burst) = (delay, old, 7);
        pie.update(&PieParams::LINUX, 10_000);
        assert_eq!(pie.burst > 7, fresh, "{delay} {old}");
    }
    let estimated = PieParams {
        dq_rate_estimator: true,
        ..PieParams::LINUX
    };
    for known in [false, true] {
        let mut pie = LinuxPie::new();
        pie.burst = 7;
        if known {
            pie.rate = known_rate(20);
        }
        pie.update(&estimated, 0);
        assert_eq!(pie.burst > 7, known);
        let mut old = OldPie::new();
        old.burst = 7;
        if known {
            old.rate = known_rate(20);
        }
        old.update(&PieParams::LINUX_3_14, 0);
        assert_eq!(old.burst > 7, known);
    }
}

/// Delay at half the target, probability at a fifth, backlog at two frames: from there on packets are dropped.
#[test]
fn each_safeguard_ends_at_its_bound() {
    let mut stream = Stream::new(1);
    for (below_half, below_fifth, enough) in [
        (false, false, true),
        (false, true, true),
        (true, false, true),
        (true, true, true),
        (false, false, false),
    ] {
        let backlog = if enough { TWO_MTU } else { TWO_MTU - 1 };
        let dropped = enough && !(below_half && below_fifth);
        let mut linux = LinuxPie::new();
        let one = u64::MAX >> 8;
        linux.prob = one / 5 - u64::from(below_fifth);
        linux.delay = ticks::of(PieParams::LINUX.target) / 2 - u64::from(below_half);
        // Enough was added up for a drop at once.
        (linux.burst, linux.accumulated) = (0, one * 9);
        assert_eq!(linux.signal(&PieParams::LINUX, 1500, backlog, &mut stream), dropped);

        let mut old = OldPie::new();
        old.prob = u32::MAX / 5 - u32::from(below_fifth);
        old.delay = ticks::of(PieParams::LINUX_3_14.target) / 2 - u64::from(below_half);
        old.burst = 0;
        // A coin that falls so in a fifth of the throws.
        let some = (0..200).any(|_| old.signal(&PieParams::LINUX_3_14, 1500, backlog, &mut stream));
        assert_eq!(some, dropped);
    }
}

/// RFC 8033 sections 4.1 and 5.4: nothing is dropped while the delay was below half the target and the probability is
/// below a fifth, nor of a queue of two frames; after 0.85 was added up a coin is thrown, after 8.5 none.
#[test]
fn the_rfcs_safeguards_and_its_accumulated_probability_end_at_their_bounds() {
    let mut stream = Stream::new(1);
    let mut any = |pie: &RfcPie, backlog: u64| (0..200).any(|_| pie.clone().signal(&RFC, 1500, backlog, &mut stream));
    let busy = RfcPie {
        prob: 0.2,
        accumulated: 8.5,
        delay: 0.0075,
        old_delay: 0.0075,
        burst: 0.0,
    };
    assert!(any(&busy, TWO_MTU + 1));
    assert!(!any(&busy, TWO_MTU));
    assert!(!any(&RfcPie { burst: 0.001, ..busy }, 100_000));
    for (prob, old_delay, dropped) in [
        (0.2, 0.0074, true),
        (0.19, 0.0075, true),
        (0.19, 0.0074, false),
        (0.2, 0.0075, true),
    ] {
        let pie = RfcPie {
            prob,
            old_delay,
            ..busy
        };
        assert_eq!(any(&pie, 100_000), dropped, "{prob} {old_delay}");
    }
    // With this packet's: 0.849 is too little, 0.85 is for the coin, which falls so in some of 200 throws and not in
    // all.
    let added_up = |accumulated| RfcPie { accumulated, ..busy };
    assert!(!any(&added_up(0.649), 100_000));
    assert!(any(&added_up(0.65), 100_000));
    let mut all = |pie: &RfcPie| (0..200).all(|_| pie.clone().signal(&RFC, 1500, 100_000, &mut stream));
    assert!(!all(&added_up(0.65)));
    assert!(!all(&added_up(8.29)));
    assert!(all(&added_up(8.31)));
    // A packet of half the size has half the probability, if bytes count.
    let bytes = PieParams { bytemode: true, ..RFC };
    let mut half = added_up(0.75);
    assert!(!half.signal(&PieParams { bytemode: true, ..RFC }, 500, 100_000, &mut stream));
    assert!((half.accumulated - (0.75 + 0.2 * 500.0 / MTU.get() as f64)).abs() < 1e-12);
    let mut long = added_up(0.1);
    long.signal(&bytes, 9000, 100_000, &mut stream);
    assert!((long.accumulated - 0.3).abs() < 1e-12, "at most the probability itself");
}

#[test]
fn an_update_takes_a_tick_of_the_kernel_at_least() {
    let every = |tupdate| PieParams {
        tupdate,
        ..PieParams::LINUX
    };
    assert!(every(LEAST_UPDATE).validate().is_ok());
    assert!(
        every(Duration::from_nanos(LEAST_UPDATE.as_nanos() - 1))
            .validate()
            .is_err()
    );
}

/// Linux 3.14, `pie_calculate_probability` and `pie_qdisc_enqueue`: from 10 % on a step is capped at 2 %; a packet is
/// marked up to 10 % and dropped above.
#[test]
fn old_linux_caps_its_steps_and_marks_up_to_ten_percent() {
    let tenth = u32::MAX / 10;
    let mut pie = OldPie::new();
    for (prob, marks) in [(0, true), (tenth, true), (tenth + 1, false), (u32::MAX, false)] {
        pie.prob = prob;
        assert_eq!(pie.may_mark(), marks, "{prob}");
    }
    // 250 ms of delay after none: far more than 2 % in one step.
    let step = |prob: u32| {
        let mut pie = OldPie::new();
        pie.rate = known_rate(20);
        pie.prob = prob;
        pie.update(&PieParams::LINUX_3_14, 300_000);
        f64::from(pie.prob - prob) / f64::from(u32::MAX)
    };
    assert!((step(u32::MAX / 5) - 0.02).abs() < 1e-6, "{}", step(u32::MAX / 5));
    assert!(step(u32::MAX / 20) > 0.03, "{}", step(u32::MAX / 20));
}
