//! What was acknowledged bounds what passes.

use super::*;

/// A plan of `packets` of 1500 bytes, judged by what was acknowledged so far.
fn try_it(gate: &mut Gate, id: u64, to: &str, packets: u32, ms: u64) -> Answer {
    gate.judge(&forced(id, to, packets), at(ms), at(ms))
}

fn flow_to(to: &str, port: u16) -> FlowKey {
    FlowKey {
        src: SocketAddr::from(([198, 51, 100, 1], port)),
        dst: SocketAddr::new(address(to), 50_000),
    }
}

#[test]
fn no_more_bytes_pass_than_were_acknowledged_and_each_byte_once() {
    let mut gate = Gate::new(settings());
    let (a, b) = ("192.0.2.1", "192.0.2.2");
    assert_eq!(try_it(&mut gate, 0, a, 1, 0), no(Refusal::Unacknowledged(1500, 0)));
    gate.acknowledged(flow_to(a, 80), 2999, at(0));
    assert_eq!(try_it(&mut gate, 1, a, 2, 0), no(Refusal::Unacknowledged(3000, 2999)));
    assert_eq!(try_it(&mut gate, 2, b, 1, 0), no(Refusal::Unacknowledged(1500, 0)));
    // Another flow to the same destination.
    gate.acknowledged(flow_to(a, 81), 1, at(0));
    assert_eq!(gate.credit_left(address(a)), 3000);
    assert_eq!(try_it(&mut gate, 3, a, 2, 0), Answer::Allowed);
    assert_eq!(gate.credit_left(address(a)), 0);
    assert_eq!(try_it(&mut gate, 4, a, 1, 1000), no(Refusal::Unacknowledged(1500, 0)));
    // What a refused plan would have cost is not taken.
    gate.acknowledged(flow_to(a, 80), 1500, at(1000));
    assert_eq!(
        try_it(&mut gate, 5, a, 2, 1000),
        no(Refusal::Unacknowledged(3000, 1500))
    );
    assert_eq!(try_it(&mut gate, 6, a, 1, 1000), Answer::Allowed);
}

#[test]
fn small_packets_are_paid_with_their_own_bytes() {
    let mut gate = Gate::new(settings());
    gate.acknowledged(flow_to("192.0.2.1", 80), 6400, at(0));
    let small = FlushPlan {
        size: Bytes::new(64),
        ..forced(0, "192.0.2.1", 100)
    };
    assert_eq!(gate.judge(&small, at(0), at(0)), Answer::Allowed);
    assert_eq!(gate.budget_left(), settings().bytes_per_minute - 150_000);
    assert_eq!(gate.credit_left(small.toward), 0);
}

#[test]
fn credit_is_forgotten_after_ten_seconds() {
    let mut credit = Credit::default();
    let (flow, to) = (flow_to("192.0.2.1", 80), address("192.0.2.1"));
    credit.earn(flow, 10, at(1200));
    credit.earn(flow, 20, at(2000));
    assert_eq!(credit.left(to, at(10_999)), 30);
    assert_eq!(credit.left(to, at(11_000)), 20);
    // A time before the last one is taken for that.
    assert_eq!(credit.left(to, at(0)), 20);
    credit.earn(flow, 5, at(0));
    assert_eq!(credit.left(to, at(12_000)), 5);
    credit.spend(to, 5, at(12_000));
    assert_eq!(credit.left(to, at(12_000)), 0);
}

#[test]
fn the_oldest_credit_is_spent_first() {
    let mut credit = Credit::default();
    let (flow, to) = (flow_to("192.0.2.1", 80), address("192.0.2.1"));
    credit.earn(flow, 10, at(1000));
    credit.earn(flow, 20, at(2000));
    credit.spend(to, 12, at(2000));
    assert_eq!(credit.left(to, at(11_000)), 18);
    assert_eq!(credit.left(to, at(12_000)), 0);
}

#[test]
#[should_panic(expected = "more is spent than was earned")]
fn more_than_was_earned_cannot_be_spent() {
    let mut credit = Credit::default();
    credit.earn(flow_to("192.0.2.1", 80), 10, at(0));
    credit.spend(address("192.0.2.1"), 11, at(0));
}

#[test]
fn a_reset_takes_what_its_flow_has_earned_and_bars_it_for_ten_seconds() {
    let mut gate = Gate::new(settings());
    let to = "192.0.2.1";
    gate.acknowledged(flow_to(to, 80), 1000, at(0));
    gate.acknowledged(flow_to(to, 81), 200, at(0));
    gate.reset(flow_to(to, 80), at(0));
    gate.acknowledged(flow_to(to, 80), 1000, at(9999));
    assert_eq!(
        try_it(&mut gate, 0, to, 1, 9999),
        no(Refusal::Unacknowledged(1500, 200))
    );
    gate.acknowledged(flow_to(to, 80), 1300, at(10_000));
    assert_eq!(
        try_it(&mut gate, 1, to, 1, 10_000),
        no(Refusal::Unacknowledged(1500, 1300))
    );
}

#[test]
fn sources_that_are_not_in_the_list_are_refused_and_earn_nothing() {
    let mut gate = Gate::new(GateSettings {
        from: vec!["198.51.101.0/24".parse().expect("a prefix")],
        ..settings()
    });
    let to = "192.0.2.1";
    gate.acknowledged(flow_to(to, 80), 1_000_000, at(0));
    assert_eq!(try_it(&mut gate, 0, to, 1, 0), no(Refusal::SourceNotAllowed));
    assert_eq!(gate.credit_left(address(to)), 0);
    gate.set(settings());
    gate.acknowledged(flow_to(to, 80), 1500, at(0));
    assert_eq!(try_it(&mut gate, 1, to, 1, 0), Answer::Allowed);
}

#[test]
fn accounts_take_bounded_memory_and_make_room_when_they_are_empty() {
    let mut credit = Credit::default();
    let flow = |n: usize| flow_to(&format!("10.0.{}.{}", n / 256, n % 256), 80);
    for n in 0..CREDITED_FLOWS + 10 {
        credit.earn(flow(n), 10, at(0));
    }
    assert_eq!(credit.flows(), CREDITED_FLOWS);
    let (last, other) = (flow(CREDITED_FLOWS), flow(CREDITED_FLOWS + 1));
    assert_eq!(credit.left(last.dst.ip(), at(0)), 0);
    // Those that have one already go on earning.
    credit.earn(flow(0), 5, at(0));
    assert_eq!(credit.left(flow(0).dst.ip(), at(0)), 15);
    credit.spend(flow(0).dst.ip(), 15, at(0));
    // The table was looked through in this second; in the next one the empty account is found.
    credit.earn(last, 10, at(999));
    assert_eq!(credit.left(last.dst.ip(), at(999)), 0);
    credit.earn(last, 10, at(1000));
    assert_eq!(credit.left(last.dst.ip(), at(1000)), 10);
    credit.earn(other, 10, at(1000));
    assert_eq!(
        (credit.left(other.dst.ip(), at(1000)), credit.flows()),
        (0, CREDITED_FLOWS)
    );
    // One that was reset is kept, though it is empty.
    credit.reset(last, at(1000));
    credit.earn(other, 10, at(2000));
    assert_eq!(credit.left(other.dst.ip(), at(2000)), 0);
    credit.earn(other, 10, at(11_000));
    assert_eq!((credit.left(other.dst.ip(), at(11_000)), credit.flows()), (10, 1));
}
