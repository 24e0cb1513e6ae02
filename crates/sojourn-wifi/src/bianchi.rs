//! Bianchi's model of saturated stations, an oracle for tests.

/// Bianchi's fixed point for n saturated stations: the chance p that a transmission collides and tau that a station
/// transmits in a slot. Source: Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function",
/// 2000, equations 7 and 9.
pub(crate) fn fixed_point(n: u16, window: f64, stages: i32) -> (f64, f64) {
    let tau_of = |p: f64| {
        // Equation 7 with (1 - (2p)^m) / (1 - 2p) as the sum it stands for.
        let sum: f64 = (0..stages).map(|i| (2.0 * p).powi(i)).sum();
        2.0 / (1.0 + window + p * window * sum)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let p = f64::midpoint(low, high);
        let collides = 1.0 - (1.0 - tau_of(p)).powi(i32::from(n) - 1);
        if collides > p { low = p } else { high = p }
    }
    (low, tau_of(low))
}

/// Saturation throughput with CWmin 15, CWmax 1023 and slots of 9 us in frames a second, equation 13. `success` and
/// `collision` are how many seconds lie between the boundary at which a transmission began and the next one, if it
/// was alone or not.
pub(crate) fn frames_per_second(n: u16, success: f64, collision: f64) -> f64 {
    let (_, tau) = fixed_point(n, 16.0, 6);
    let transmits = 1.0 - (1.0 - tau).powi(i32::from(n));
    let alone = f64::from(n) * tau * (1.0 - tau).powi(i32::from(n) - 1);
    alone / ((1.0 - transmits) * 9e-6 + alone * success + (transmits - alone) * collision)
}

#[test]
fn the_fixed_point_is_that_of_the_paper() {
    // n = 1 never collides: tau = 2 / (W + 1).
    let (p, tau) = fixed_point(1, 16.0, 6);
    assert!(p < 1e-9 && (tau - 2.0 / 17.0).abs() < 1e-9);
    // A window that never grows: tau = 2 / (W + 1) for any n.
    let (p, tau) = fixed_point(10, 32.0, 0);
    assert!((tau - 2.0 / 33.0).abs() < 1e-9, "{tau}");
    assert!((p - (1.0 - (31.0_f64 / 33.0).powi(9))).abs() < 1e-9, "{p}");
}
