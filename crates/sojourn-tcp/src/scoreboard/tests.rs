use super::*;

fn board(n: u64) -> Scoreboard {
    let mut b = Scoreboard::new(100);
    for i in 0..n {
        b.push(1 + 100 * i, 100, Time::from_nanos(i));
    }
    b
}

fn sacked(b: &mut Scoreboard, start: u64, end: u64) -> Vec<u64> {
    let mut v = Vec::new();
    b.sack(start, end, |s| v.push(s.seq));
    v
}

#[test]
fn a_retransmission_that_is_lost_after_its_mark_was_taken_back_waits_for_the_time_out() {
    let mut b = board(4);
    let at = Time::from_millis;
    // But for the oldest all are spared.
    b.mark_all_lost(|_| true);
    assert_eq!(b.next_lost(), Some(0));
    b.resend(0, at(10), true);
    b.unmark_lost();
    b.judge_losses(|s| {
        if s.sent_at == at(10) {
            Verdict::Lost
        } else {
            Verdict::Wait
        }
    });
    assert_eq!((b.lost_out(), b.retrans_out(), b.next_lost()), (1, 1, None));
    b.mark_all_lost(|_| true);
    assert_eq!((b.lost_out(), b.retrans_out(), b.next_lost()), (1, 0, Some(0)));
}

#[test]
fn a_block_tells_only_what_is_new() {
    let mut b = board(10);
    assert_eq!(sacked(&mut b, 201, 401), [201, 301]);
    assert_eq!(sacked(&mut b, 201, 401), [] as [u64; 0]);
    assert_eq!(sacked(&mut b, 201, 501), [401]);
    assert_eq!(sacked(&mut b, 701, 801), [701]);
    assert_eq!(sacked(&mut b, 101, 901), [101, 501, 601, 801]);
    assert_eq!(b.ranges, [(101, 901)]);
    assert_eq!((b.sacked_out(), b.in_flight()), (8, 2));
}

#[test]
fn an_acknowledgement_clears_ranges_and_counts() {
    let mut b = board(10);
    sacked(&mut b, 301, 501);
    sacked(&mut b, 701, 801);
    let mut n = 0;
    b.acknowledge(501, |_| n += 1);
    assert_eq!((n, b.packets_out(), b.sacked_out(), b.in_flight()), (5, 5, 1, 4));
    assert_eq!(b.ranges, [(701, 801)]);
    b.acknowledge(1001, |_| n += 1);
    assert_eq!((n, b.in_flight()), (10, 0));
}

#[test]
fn a_lost_retransmission_is_judged_again() {
    let mut b = board(5);
    sacked(&mut b, 101, 501);
    let before = |limit: u64| {
        move |s: &Sent| {
            if s.sent_at.as_nanos() < limit {
                Verdict::Lost
            } else {
                Verdict::Later
            }
        }
    };
    b.judge_losses(before(4));
    assert_eq!((b.lost_out(), b.in_flight(), b.next_lost()), (1, 0, Some(0)));
    b.resend(0, Time::from_nanos(20), true);
    assert_eq!((b.in_flight(), b.next_lost()), (1, None));
    b.judge_losses(before(20));
    assert_eq!(b.in_flight(), 1);
    b.judge_losses(before(21));
    assert_eq!((b.in_flight(), b.next_lost(), b.lost_total()), (0, Some(0), 2));
}

#[test]
fn an_original_that_was_sent_too_late_hides_the_retransmissions_sent_after_it() {
    let at = Time::from_millis;
    let mut b = Scoreboard::new(100);
    for seq in [1, 101, 201] {
        b.push(seq, 100, at(1));
    }
    sacked(&mut b, 101, 301);
    b.judge_losses(|_| Verdict::Lost);
    // At one instant two acknowledgements send an original each, and the first also the lost segment, between them.
    b.push(301, 100, at(5));
    b.resend(0, at(5), true);
    b.push(401, 100, at(5));
    let newest = |end: u64| {
        move |s: &Sent| {
            if (at(5), end) <= (s.sent_at, s.end()) {
                Verdict::Later
            } else {
                Verdict::Lost
            }
        }
    };
    // Nothing sent at that instant was delivered but what is older: the original at 301 is not older, and ends the
    // list.
    b.judge_losses(newest(301));
    assert_eq!((b.lost_out(), b.retrans_out()), (1, 1));
    // Once that was delivered, the retransmission is what was sent next.
    sacked(&mut b, 301, 401);
    b.judge_losses(newest(401));
    assert_eq!((b.lost_out(), b.retrans_out(), b.next_lost()), (1, 0, Some(0)));
}
