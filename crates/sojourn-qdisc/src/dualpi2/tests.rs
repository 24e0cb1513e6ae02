//! What chance decides, and what `tc` works out.

use crate::QdiscSpec;
use crate::testing::{Bench, TestPacket, bench, ms};
use sojourn_units::{Ecn, Time};

fn put(bench: &mut Bench, now: Time, id: u64, ecn: Ecn) {
    let mut packet = TestPacket::new(id, 1500, 0);
    packet.ecn = ecn;
    bench.put_packet(now, packet);
}

/// 20000 packets of each kind come behind three others. An update at 4 s has made the base probability p: 16/256 and
/// 1/256 Hz are 17 and 1 per 64 ns, so that a delay of 4 s comes to (17 + 1) * 4e9 / 64 of 2^32. The L queue is marked
/// with 2 p, the classic queue marked or dropped with p squared; four standard deviations are allowed.
#[test]
fn the_low_latency_queue_is_marked_in_proportion_and_the_classic_one_by_the_square() {
    const MANY: u64 = 20_000;
    let p = (18.0 * 4e9 - 17.0 * 1000.0) / 64.0 / f64::from(u32::MAX);
    for (ecn, probability) in [(Ecn::Ect1, 2.0 * p), (Ecn::Ect0, p * p), (Ecn::NotEct, p * p)] {
        let mut b = bench(
            "dualpi2 limit 60000 drop_enqueue step_thresh 60000p target 1us tupdate 4s alpha 0.0625 beta 0.00390625",
        );
        for id in 0..3 {
            put(&mut b, Time::ZERO, id, Ecn::NotEct);
        }
        for id in 3..3 + MANY {
            put(&mut b, ms(4000), id, ecn);
        }
        assert!((b.extra("prob") - p).abs() < 1e-9, "{}", b.extra("prob"));
        let dropped = b.drops.len() as f64;
        let signals = if ecn == Ecn::NotEct {
            dropped
        } else {
            b.extra("ecn_mark")
        };
        let expected = probability * MANY as f64;
        let deviation = (expected * (1.0 - probability)).sqrt();
        assert!(
            (signals - expected).abs() < 4.0 * deviation,
            "{ecn:?}: {signals} of {expected}"
        );
        assert_eq!(b.drops.is_empty(), ecn != Ecn::NotEct);
    }
}

#[test]
fn round_trip_times_set_the_controller_as_tc_does() {
    let text = |words: &str| QdiscSpec::parse(words, None).map(|spec| spec.to_string());
    // By hand: 100 ms: typical 16666 us; tupdate the same; alpha 0.1 * 0.016666 / 0.01 = 0.16666, 42 of 256ths;
    // beta 0.3 / 0.1 = 3, which single precision makes 3.0000001: 768.
    let max = text("dualpi2 max_rtt 100ms").expect("it can be used");
    assert!(
        max.contains("target 16.666ms tupdate 16.666ms alpha 0.1640625 beta 3 step_thresh 1ms"),
        "{max}"
    );
    assert_eq!(
        text("dualpi2 typical_rtt 16.666ms max_rtt 100ms").as_ref(),
        Ok(&max),
        "the same"
    );
    // The update comes no later than a third of the longest round trip.
    let both = text("dualpi2 typical_rtt 50ms max_rtt 60ms").expect("it can be used");
    assert!(
        both.contains("target 50ms tupdate 20ms alpha 0.5546875 beta 5 "),
        "{both}"
    );
    for (words, sentence) in [
        (
            "typical_rtt 2s max_rtt 1s",
            "dualpi2.typical_rtt is 2s, but must be at least 1us, and no longer than max_rtt",
        ),
        (
            "max_rtt 100s",
            "dualpi2.max_rtt is 100s, but must be shorter, for alpha or beta would be rounded to 0",
        ),
        (
            "alpha 0",
            "dualpi2.alpha is 0, but must be at least 1/256 (0.00390625) and less than 2^23",
        ),
        ("step_thresh 0p", "dualpi2.step_thresh is 0, but must be > 0"),
        (
            "tupdate 999ns",
            "dualpi2.tupdate is \"999ns\", but must be a number >= 0 with unit s, ms or us, such as 5ms",
        ),
        (
            "tupdate 5s",
            "dualpi2.tupdate is 5s, but must be at most 4.294967295s (32 bits of nanoseconds)",
        ),
        ("coupling_factor 0", "dualpi2.coupling_factor is 0, but must be > 0"),
        (
            "coupling_factor 256",
            "dualpi2.coupling_factor is 256, but must be <= 255",
        ),
        (
            "classic_protection 101%",
            "dualpi2.classic_protection is \"101%\", but must be a percentage of at most 100, such as 10%",
        ),
    ] {
        let error = text(&format!("dualpi2 {words}")).expect_err(words);
        assert_eq!(error.to_string(), sentence);
    }
}

#[test]
fn canonical_text_is_that_of_tc() {
    let text = |words: &str| QdiscSpec::parse(words, None).expect(words).to_string();
    let defaults = "dualpi2 limit 10000 memlimit 30280000 target 15ms tupdate 16ms alpha 0.16015625 beta 3.19921875 step_thresh 1ms \
                    min_qlen_step 0 coupling_factor 2 drop_on_overload drop_dequeue classic_protection 10% l4s_ect split_gso";
    assert_eq!(text("dualpi2"), defaults);
    assert_eq!(text(defaults), defaults);
    let others = text("dualpi2 step_thresh 5pkts classic_protection 25.5 overflow drop_enqueue any_ect no_split_gso");
    assert!(
        others.ends_with(
            "step_thresh 5p min_qlen_step 0 coupling_factor 2 overflow drop_enqueue classic_protection 26% any_ect no_split_gso"
        ),
        "{others}"
    );
    assert_eq!(text(&others), others);
}

/// An update is due at 16, 32 and 48 ms; a queue that was empty since 20 ms has none left to come down from at 48 ms.
#[test]
fn updates_that_are_due_see_the_queue_as_it_was() {
    let mut b = bench("dualpi2");
    put(&mut b, Time::ZERO, 0, Ecn::NotEct);
    assert!(b.get(ms(20)).is_some());
    assert!((b.extra("prob") - 220_437_500.0 / 4_294_967_295.0).abs() < 1e-9);
    assert!(b.get(ms(1000)).is_none());
    assert!(b.extra("prob").abs() < 1e-12);
}
