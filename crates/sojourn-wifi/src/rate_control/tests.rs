use super::*;

fn rate(text: &str) -> PhyRate {
    PhyRate::parse(text).unwrap()
}

/// Sends aggregates of 32; `carries` says how many of them arrive at a rate. Answers the rates used.
fn run(learner: &mut Learner, aggregates: usize, carries: impl Fn(PhyRate) -> u32) -> Vec<PhyRate> {
    let mut next = learner.ladder[learner.best].rate;
    (0..aggregates)
        .map(|_| {
            let used = next;
            next = learner.sent(used, 32, carries(used));
            used
        })
        .collect()
}

fn share(rates: &[PhyRate], rate: PhyRate) -> f64 {
    rates.iter().filter(|&&r| r == rate).count() as f64 / rates.len() as f64
}

#[test]
fn the_ladder_goes_up_in_bit_rate_and_beyond_the_links_rate() {
    let learner = Learner::new(rate("ht mcs 7 sgi"));
    let rates: Vec<String> = learner.ladder.iter().map(|rung| rung.rate.to_string()).collect();
    let mcs: Vec<&str> = rates.iter().map(|r| r.split(' ').nth(2).unwrap()).collect();
    assert_eq!(mcs, ["0", "1", "2", "3", "4", "5", "6", "7", "12", "13", "14", "15"]);
    assert_eq!(learner.first(), rate("ht mcs 0 sgi"));
}

#[test]
fn it_climbs_to_the_best_rate_that_the_link_carries_and_stays() {
    let best = rate("ht mcs 7 sgi");
    let mut learner = Learner::new(best);
    let carries = |rate: PhyRate| if rate.nominal() <= best.nominal() { 30 } else { 0 };
    run(&mut learner, 16 * 8, carries);
    let used = run(&mut learner, 1_600, carries);
    assert!(share(&used, best) > 0.92, "{}", share(&used, best));
    // What is not sent at the best rate is a probe of the one above it.
    assert!((share(&used, best) + share(&used, rate("ht mcs 12 sgi")) - 1.0).abs() < 1e-12);
}

#[test]
fn it_takes_a_lower_rate_when_that_carries_more() {
    // At MCS 7 (72.2 Mbit/s) half arrives, at MCS 5 (57.8) nine tenths: 36 against 52 Mbit/s.
    let mut learner = Learner::new(rate("ht mcs 7 sgi"));
    let carries = |rate: PhyRate| match rate.mcs() {
        0..=5 => 29,
        6 => 20,
        7 => 16,
        _ => 0,
    };
    run(&mut learner, 300, carries);
    let used = run(&mut learner, 1_600, carries);
    assert!(share(&used, rate("ht mcs 5 sgi")) > 0.9);
}

#[test]
fn it_comes_down_when_the_link_gets_worse() {
    let mut learner = Learner::new(rate("ht mcs 7 sgi"));
    run(&mut learner, 300, |_| 32);
    let worse = |rate: PhyRate| if rate.mcs() <= 3 { 32 } else { 0 };
    run(&mut learner, 300, worse);
    let used = run(&mut learner, 160, worse);
    assert!(share(&used, rate("ht mcs 3 sgi")) > 0.9);
}
