use super::*;
use crate::policy::tests::{BE, Fake, us};

fn credits(s: &CreditScheduler) -> Vec<i64> {
    (0..s.weights.len()).map(|i| s.credit(i as u16, BE) / 1000).collect()
}

/// Weights 1, 1 and 2.
#[test]
fn worked_by_hand() {
    let mut s = CreditScheduler::new(&[256, 256, 512]);
    let mut fake = Fake::new(&[[0, 0, 9, 0], [0, 0, 1, 0], [0, 0, 9, 0]]);
    for station in 0..3 {
        s.wake(station, BE);
    }
    s.schedule(BE, &mut fake);
    assert_eq!(fake.queue[BE.index()], [0, 1], "equal credit: who waited longest");
    s.charge(fake.pop(BE).unwrap(), BE, us(800));
    assert_eq!(credits(&s), [-600, 200, 400]);
    s.schedule(BE, &mut fake);
    assert_eq!(fake.queue[BE.index()], [1, 2]);
    s.charge(fake.pop(BE).unwrap(), BE, us(400));
    assert_eq!(credits(&s), [-500, -100, 600]);
    // 1 is empty, but that is seen when it has its turn. 2 is not charged yet and has the most.
    s.schedule(BE, &mut fake);
    assert_eq!(fake.queue[BE.index()], [2, 2]);
    s.charge(fake.pop(BE).unwrap(), BE, us(1200));
    assert_eq!(credits(&s), [-200, 200, 0]);
    // 1 has the most and nothing to send: its credit goes.
    s.schedule(BE, &mut fake);
    assert_eq!(fake.queue[BE.index()], [2, 2]);
    assert_eq!(credits(&s), [-200, 0, 0]);
}

#[test]
fn charges_neither_make_nor_lose_credit() {
    let mut s = CreditScheduler::new(&[1, 7, 256, 1000]);
    for station in 0..3 {
        s.wake(station, BE);
    }
    for i in 0..1000_u64 {
        s.charge((i % 4) as u16, BE, Duration::from_nanos(i * 7919));
        assert_eq!((0..4).map(|station| s.credit(station, BE)).sum::<i64>(), 0);
    }
}

#[test]
fn a_station_alone_is_in_no_debt() {
    let mut s = CreditScheduler::new(&[256, 256]);
    s.charge(0, BE, us(5000));
    assert_eq!(credits(&s), [0, 0]);
}
