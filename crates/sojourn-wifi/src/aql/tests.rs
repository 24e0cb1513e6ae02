use super::*;

const BE: AccessCategory = AccessCategory::BestEffort;
const VO: AccessCategory = AccessCategory::Voice;

fn ms(t: u64) -> Duration {
    Duration::from_millis(t)
}

#[test]
fn room_is_what_the_check_of_mac80211_says() {
    // (pending of the station and category, pending of others, whether ieee80211_txq_airtime_check lets a frame go)
    for (own, others, goes) in [
        (0, 0, true),
        (4, 0, true),
        (4, 30, true),
        (5, 18, true),
        (5, 19, false),
        (11, 0, true),
        (12, 0, false),
        (13, 30, false),
    ] {
        let mut pending = Pending::new(Some(AqlSpec::LINUX), Variant::Paper, 2);
        pending.add(0, BE, ms(own));
        pending.add(0, VO, ms(others / 2));
        pending.add(1, BE, ms(others - others / 2));
        assert_eq!(pending.has_room(0, BE), goes, "{own} ms and {others} ms elsewhere");
    }
}

#[test]
fn completed_airtime_is_room_again() {
    let mut pending = Pending::new(Some(AqlSpec::LINUX), Variant::Paper, 1);
    assert_eq!(pending.add(0, BE, ms(3)), ms(3));
    assert_eq!(pending.add(0, BE, ms(9)), ms(12));
    assert!(!pending.has_room(0, BE));
    pending.remove(0, BE, ms(3));
    assert!(pending.has_room(0, BE));
    pending.remove(0, BE, ms(9));
    assert_eq!(pending.total, Duration::ZERO);
}

#[test]
fn without_limits_there_is_always_room() {
    let mut pending = Pending::new(None, Variant::Paper, 1);
    pending.add(0, BE, ms(10_000));
    assert_eq!((pending.has_room(0, BE), pending.limits()), (true, false));
}
