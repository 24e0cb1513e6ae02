use super::*;

const FADES: FadeSpec = FadeSpec {
    length: Duration::from_millis(60),
    gap: Duration::from_millis(540),
    error: 1.0,
};
/// The share of time in a fade, and the time constant with which the state at one time is forgotten.
const SHARE: f64 = 0.1;
const FORGOTTEN: f64 = 0.054;

fn fading() -> Fading {
    Fading::new(FADES, 7, "wifi fade a")
}

/// How long `n` fades last, and `n` gaps.
fn lengths(n: usize) -> [Vec<f64>; 2] {
    let mut fading = fading();
    let mut found = [Vec::new(), Vec::new()];
    while found[0].len() < n || found[1].len() < n {
        let began = fading.until;
        fading.error(began);
        found[usize::from(!fading.faded)].push(fading.until.since(began).as_secs_f64());
    }
    found.map(|all| all[..n].to_vec())
}

/// Whether the link is faded at each of `n` times, `every` apart.
fn probed(every: Duration, n: usize) -> Vec<bool> {
    let mut fading = fading();
    let mut now = Time::ZERO;
    (0..n)
        .map(|_| {
            now += every;
            fading.error(now).is_some()
        })
        .collect()
}

#[test]
fn lengths_and_gaps_are_exponential() {
    let n = 10_000;
    for (mut found, mean) in lengths(n).into_iter().zip([0.06, 0.54]) {
        found.sort_by(f64::total_cmp);
        let worst = found
            .iter()
            .enumerate()
            .map(|(i, x)| {
                let below = 1.0 - libm::exp(-x / mean);
                let (low, high) = (i as f64 / n as f64, (i + 1) as f64 / n as f64);
                (below - low).abs().max((high - below).abs())
            })
            .fold(0.0, f64::max);
        // Kolmogorov and Smirnov: one in a thousand is beyond.
        assert!(worst * (n as f64).sqrt() < 1.95, "{worst} with the mean {mean}");
    }
}

#[test]
fn a_periodic_probe_finds_the_share_of_time_in_fades() {
    let (every, n) = (Duration::from_millis(20), 1_000_000);
    let share = probed(every, n).iter().filter(|&&faded| faded).count() as f64 / n as f64;
    // Neighbours are correlated by r, so the variance is (1 + r) / (1 - r) times that of independent ones.
    let r = libm::exp(-0.02 / FORGOTTEN);
    let deviation = (SHARE * (1.0 - SHARE) / n as f64 * (1.0 + r) / (1.0 - r)).sqrt();
    assert!(
        (share - SHARE).abs() < 4.0 * deviation,
        "{share}, deviation {deviation}"
    );
}

#[test]
fn bursts_of_a_periodic_probe_are_geometric() {
    let found = probed(Duration::from_millis(20), 1_000_000);
    let bursts: Vec<usize> = found
        .chunk_by(|a, b| a == b)
        .filter(|run| run[0])
        .map(<[bool]>::len)
        .collect();
    // The chain seen every 20 ms is one of discrete steps, Gilbert's own.
    let stays = SHARE + (1.0 - SHARE) * libm::exp(-0.02 / FORGOTTEN);
    let longest = 20;
    let n = bursts.len() as f64;
    let mut statistic = 0.0;
    for length in 1..=longest {
        let share = stays.powi(length - 1) * if length < longest { 1.0 - stays } else { 1.0 };
        let counted = bursts
            .iter()
            .filter(|&&burst| burst.min(longest as usize) == length as usize);
        let (seen, expected) = (counted.count() as f64, n * share);
        assert!(expected > 5.0, "{expected} bursts of {length}");
        statistic += (seen - expected).powi(2) / expected;
    }
    // Chi-square with 19 degrees of freedom: one in a thousand is beyond.
    assert!(statistic < 43.8, "{statistic} of {n} bursts");
}

#[test]
fn the_first_state_has_the_shares_of_the_long_run() {
    let runs = 20_000;
    let faded = (0..runs).filter(|&seed| Fading::new(FADES, seed, "x").faded).count() as f64 / runs as f64;
    let deviation = (SHARE * (1.0 - SHARE) / runs as f64).sqrt();
    assert!((faded - SHARE).abs() < 4.0 * deviation, "{faded}");
}

#[test]
fn states_do_not_depend_on_who_looks() {
    let (mut often, mut seldom) = (fading(), fading());
    for step in 1..=1_000_000u64 {
        let now = Time::from_nanos(step * 37_123);
        let state = often.error(now);
        if step % 997 == 0 {
            assert_eq!(state, seldom.error(now), "at {now}");
        }
    }
    assert_eq!(often.until, seldom.until);
}

#[test]
fn a_state_changes_at_its_nanosecond() {
    let mut fading = fading();
    let until = fading.until;
    let before = fading.error(Time::from_nanos(until.as_nanos() - 1));
    assert_ne!(fading.error(until), before);
}

#[test]
fn each_station_and_each_seed_has_its_own_fades() {
    let until = |seed, name| Fading::new(FADES, seed, name).until;
    assert_eq!(until(1, "a"), until(1, "a"));
    assert_ne!(until(1, "a"), until(1, "b"));
    assert_ne!(until(1, "a"), until(2, "a"));
}

#[test]
fn what_breaks_a_rule_is_refused_with_it() {
    let told = |change: fn(&mut FadeSpec)| {
        let mut spec = FADES;
        change(&mut spec);
        spec.validate("wifi.stations[0]").unwrap_err().to_string()
    };
    assert_eq!(FADES.validate("wifi.stations[0]"), Ok(()));
    assert_eq!(
        told(|s| s.length = Duration::ZERO),
        "wifi.stations[0].fade is 0s, but must be 100us to 3600s"
    );
    assert_eq!(
        told(|s| s.gap = Duration::from_secs(3601)),
        "wifi.stations[0].fade_gap is 3601s, but must be 100us to 3600s"
    );
    for error in [0.0, -0.5, 1.5, f64::NAN] {
        let spec = FadeSpec { error, ..FADES };
        let told = spec.validate("wifi.stations[0]").unwrap_err().to_string();
        assert_eq!(
            told,
            format!("wifi.stations[0].fade_error is {error}, but must be above 0 and up to 1")
        );
    }
}
