//! What a user reads when a script does not pass.

use sojourn_drill::{parse, run};

const CONNECT: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0...0.01 connect(3, ..., ...) = 0
+0 > S 0:0(0) <...>
+.01 < S. 0:0(0) ack 1 win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 8>
+0 > . 1:1(0) ack 1
";

fn outcome(rest: &str) -> String {
    let script = parse(&format!("{CONNECT}{rest}")).expect("it is a script");
    run(&script).outcome.to_string()
}

#[test]
fn a_failure_tells_line_expectation_and_what_came() {
    for (rest, sentence) in [
        (
            "+0 write(3, ..., 500) = 500\n+0 > P. 1:501(500) ack 2",
            "failed at line 7: expected P. 1:501(500) ack 2, but P. 1:501(500) ack 1 came",
        ),
        (
            "+0 write(3, ..., 500) = 500\n+0 > P. 1:401(400) ack 1",
            "failed at line 7: expected P. 1:401(400) ack 1, but 1:501(500) came",
        ),
        (
            "+0 > P. 1:401(400) ack 1",
            "failed at line 6: expected P. 1:401(400) ack 1, but nothing came until 0.014000 s",
        ),
        (
            "* > P. 1:401(400) ack 1",
            "failed at line 6: expected P. 1:401(400) ack 1, but nothing came ever",
        ),
        (
            "+0 write(3, ..., 500) = 500\n+.5 > P. 1:501(500) ack 1",
            "failed at line 7: expected P. 1:501(500) ack 1 at 0.510000 s, but it came at 0.010000 s",
        ),
        (
            "+0 %{\nassert 1 == 1\nassert tcpi_snd_cwnd == 11, tcpi_snd_cwnd }%",
            "failed at line 8: expected tcpi_snd_cwnd == 11, but tcpi_snd_cwnd is 10",
        ),
        (
            "+0 %{ most = 9 }%\n+0 %{ assert tcpi_snd_cwnd < most, '%d %%' % most }%",
            "failed at line 7: expected tcpi_snd_cwnd < most, but tcpi_snd_cwnd is 10 and most is 9 (9 %)",
        ),
        (
            "+0 shutdown(3, SHUT_WR) = 0\n+0 write(3, ..., 500) = 500",
            "failed at line 7: expected write = 500, but it answered -1 EPIPE",
        ),
        (
            "+0 read(3, ..., 500) = 500\n+0 write(3, ..., 1) = 1",
            "failed at line 6: expected an answer of read, but it still waits",
        ),
        (
            "+0 ioctl(3, SIOCOUTQ, [7]) = 0",
            "failed at line 6: expected what ioctl fills, but SIOCOUTQ is 0, not 7",
        ),
        (
            "0 `true`",
            "failed at line 6: expected the event at 0.000000 s, but it was 0.010000 s already",
        ),
    ] {
        assert_eq!(outcome(rest), sentence);
    }
}

#[test]
fn what_our_tcp_does_not_have_is_named_with_its_reason() {
    for (rest, sentence) in [
        (
            "+0 < PU. 1:2(1) ack 1 urg 1",
            "not applicable: line 6 needs U, and our TCP has no urgent data",
        ),
        (
            "+0 poke(3) = 0",
            "not applicable: line 6 needs poke, and this call is not known to sojourn-drill",
        ),
        (
            "+0 `sysctl -w net.ipv4.tcp_new=1`",
            "not applicable: line 6 needs net.ipv4.tcp_new=1, and this setting is not known to sojourn-drill",
        ),
        (
            "+0 %{ assert tcpi_new == 1 }%",
            "not applicable: line 6 needs tcpi_new, and this info is not known to sojourn-drill",
        ),
        (
            "+0 %{ x = 1\nfor y in (1, 2): pass }%",
            "not applicable: line 7 needs for, and this part of Python is not known to sojourn-drill",
        ),
        (
            "+0 `sysctl -w net.ipv4.tcp_rto_max_ms=1`",
            "not applicable: line 6 needs net.ipv4.tcp_rto_max_ms=1, and Linux has 1000 to 120000",
        ),
    ] {
        assert_eq!(outcome(rest), sentence);
    }
}

/// The names of `tcp_info` are bound anew before each part of the script's Python; its own stay.
#[test]
fn what_a_script_prints_is_told_with_its_line_and_has_a_bound() {
    let text = "+0 %{ print('cwnd', tcpi_snd_cwnd); tcpi_snd_cwnd = 3; mine = tcpi_snd_cwnd }%
+0 %{ print(tcpi_snd_cwnd, mine) }%
";
    let many = "+0 %{ print(1) }%\n".repeat(200);
    let script = parse(&format!("{CONNECT}{text}{many}")).expect("it is a script");
    let run = run(&script);
    assert_eq!(run.outcome.to_string(), "passed");
    assert_eq!(run.printed.len(), 100);
    assert_eq!(run.printed[..2], [(6, "cwnd 10".to_string()), (7, "10 3".to_string())]);
}
