//! Bytes in any minute, to the millisecond.

use super::*;

/// What is spent within a tenth of a second counts from its end for a minute.
#[test]
fn what_was_spent_counts_for_a_minute_from_the_end_of_its_cell() {
    let mut budget = Budget::new(1000);
    budget.spend(600, at(0));
    budget.spend(100, at(99));
    assert_eq!((budget.left(at(99)), budget.entries()), (300, 1));
    budget.spend(300, at(100));
    assert_eq!((budget.left(at(100)), budget.entries()), (0, 2));
    for (ms, left) in [(60_099, 0), (60_100, 700), (60_199, 700), (60_200, 1000)] {
        assert_eq!(budget.left(at(ms)), left, "{ms}");
    }
    // A clock that steps back gives nothing.
    budget.spend(700, at(60_100));
    assert_eq!((budget.left(at(0)), budget.entries()), (0, 2));
}

#[test]
fn acknowledgements_within_a_second_are_kept_as_one() {
    let mut gate = Gate::new(settings());
    let flow = forced(0, "192.0.2.7", 1).flow;
    for ms in [0, 1, 500, 999] {
        gate.acknowledged(flow, 100, at(ms));
    }
    assert_eq!((gate.credit.cells(), gate.credit_left(flow.dst.ip())), (1, 400));
    gate.acknowledged(flow, 100, at(1000));
    assert_eq!((gate.credit.cells(), gate.credit_left(flow.dst.ip())), (2, 500));
}
