use super::*;
use crate::testing::{Bench, TestPacket, bench, ms};
use crate::{Pie, QdiscSpec};
use proptest::prelude::*;
use sojourn_units::{Duration, Ecn};

fn fq_pie(params: FqPieParams) -> Bench<FqPie<TestPacket>> {
    Bench::new(FqPie::new(params, 1).unwrap())
}

proptest! {
    /// With one queue there is nobody to take turns with: it is PIE, whose steps are the RFC's by its own tests.
    #[test]
    fn one_queue_is_pie(
        steps in prop::collection::vec((0u64..40, 0u32..6, 40u64..1515), 1..400),
        ecn in any::<bool>(), bytemode in any::<bool>(), dq_rate_estimator in any::<bool>(),
    ) {
        let pie = PieParams { limit: 60, ecn, bytemode, dq_rate_estimator, ..PieParams::LINUX };
        let params = FqPieParams { pie, flows: 1, ..FqPieParams::LINUX };
        let (mut many, mut one) = (fq_pie(params), Bench::new(Pie::new(pie, 1).unwrap()));
        let mut now = ms(0);
        for (wait, arrivals, size) in steps {
            now += Duration::from_millis(wait);
            for _ in 0..arrivals {
                let packet = TestPacket { ecn: Ecn::Ect0, ..TestPacket::new(0, size, arrivals) };
                many.put_packet(now, packet);
                one.put_packet(now, packet);
            }
            prop_assert_eq!(many.take(now), one.take(now));
            prop_assert_eq!(many.dropped(), one.dropped());
            prop_assert_eq!(many.q.backlog(), one.q.backlog());
            let own = many.q.flows[0].pie.probability();
            prop_assert_eq!(own.to_bits(), one.q.probability().to_bits());
        }
        for name in ["pkts_in", "dropped", "overlimit", "ecn_mark"] {
            prop_assert_eq!(many.extra(name).to_bits(), one.extra(name).to_bits(), "{}", name);
        }
    }

    /// Leaving out the queues that no update changes is no difference to any.
    #[test]
    fn a_queue_that_sleeps_misses_nothing(steps in prop::collection::vec((0u64..400, 0u32..5, 0u64..6), 1..120)) {
        let params = FqPieParams { flows: 5, ..FqPieParams::LINUX };
        let (mut lazy, mut all) = (fq_pie(params), fq_pie(params));
        let mut now = ms(0);
        for (wait, flow, arrivals) in steps {
            now += Duration::from_millis(wait);
            // All queues of the second are updated each time.
            all.q.awake = (0..5).collect();
            all.q.flows.iter_mut().for_each(|flow| flow.awake = true);
            for b in [&mut lazy, &mut all] {
                b.put_many(now, arrivals, 1000, flow);
            }
            prop_assert_eq!(lazy.take(now), all.take(now));
            for (a, b) in lazy.q.flows.iter().zip(&all.q.flows) {
                prop_assert_eq!(&a.pie, &b.pie);
            }
        }
    }
}

/// A queue of 100 ms and one of a packet now and then, served at 1000 packets a second.
#[test]
fn each_queue_has_a_probability_of_its_own() {
    let mut b = bench("fq_pie flows 2");
    b.put_many(ms(0), 200, 1000, 0);
    let mut sparse = Vec::new();
    for t in 1..3000 {
        b.put(ms(t), 1000, 0);
        if t % 20 == 0 {
            sparse.push(b.put(ms(t), 100, 1));
        }
        b.get(ms(t));
    }
    let dropped = b.dropped();
    assert!(dropped.len() > 50, "{}", dropped.len());
    assert!(sparse.iter().all(|id| !dropped.contains(id)), "{dropped:?}");
}

/// `fq_pie_qdisc_enqueue`: the mark instead of the drop while the probability is at most `ecn_prob` per cent.
#[test]
fn marks_replace_drops_up_to_ecn_prob() {
    let marks = |percent: u32, prob: f64| {
        let pie = PieParams {
            ecn: true,
            ..FqPieParams::LINUX.pie
        };
        let mut b = fq_pie(FqPieParams {
            pie,
            ecn_prob: percent,
            ..FqPieParams::LINUX
        });
        b.put_many(ms(0), 10, 1000, 0);
        let flow = &mut b.q.flows[0].pie;
        (flow.burst, flow.delay) = (0, 10_000_000);
        // More than 8.5 is added up: the next packet is signalled.
        (flow.prob, flow.accumulated) = ((prob * ONE as f64) as u64, ONE / 2 * 17);
        let packet = TestPacket {
            ecn: Ecn::Ect0,
            ..TestPacket::new(0, 1000, 0)
        };
        b.put_packet(ms(1), packet);
        assert_eq!(b.q.stats().marks + b.dropped().len() as u64, 1);
        b.q.stats().marks == 1
    };
    assert!(marks(10, 0.0999) && !marks(10, 0.1001));
    assert!(marks(25, 0.2499) && !marks(25, 0.2501));
    assert!(!marks(0, 0.001) && marks(100, 0.99));
}

/// As in Linux 6.1, where the limit of memory drops nothing.
#[test]
fn an_arrival_beyond_the_memory_limit_is_counted_and_taken_in() {
    let mut b = bench("fq_pie memory_limit 1000");
    // A frame of 1514 bytes takes 2304: the third finds 4608, more than 1000 + 2304.
    b.put_many(ms(0), 4, 1514, 0);
    assert_eq!(
        (b.packets(), b.extra("overmemory"), b.extra("memory_used")),
        (4, 2.0, 9216.0)
    );
}

#[test]
fn a_quantum_below_256_is_256() {
    let mut b = bench("fq_pie quantum 1");
    b.put_many(ms(0), 4, 100, 1); // 0 to 3
    b.put_many(ms(0), 2, 100, 2);
    // Three packets of 100 bytes use up 256.
    let order: Vec<u64> = (0..6).filter_map(|_| b.get(ms(0))).collect();
    assert_eq!(order, [0, 1, 2, 4, 5, 3]);
}

#[test]
fn parameters_have_the_ranges_of_the_kernels_checks() {
    for (text, want) in [
        ("fq_pie flows 65537", "fq_pie.flows is 65537, but must be <= 65536"),
        ("fq_pie ecn_prob 101", "fq_pie.ecn_prob is 101, but must be <= 99"),
        ("fq_pie alpha 33", "fq_pie.alpha is 33, but must be <= 32"),
    ] {
        assert_eq!(QdiscSpec::parse(text, None).unwrap_err().to_string(), want);
    }
    let text = QdiscSpec::parse("fq_pie", None).unwrap().to_string();
    let want = "fq_pie limit 10240 flows 1024 target 15ms tupdate 15ms alpha 2 beta 20 quantum 1514 memory_limit 32Mb \
                ecn_prob 10 noecn";
    assert_eq!(text, want);
}
