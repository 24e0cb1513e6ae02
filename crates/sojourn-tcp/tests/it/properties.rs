//! What holds for every script of drops, delays and duplicates, and for segments that no peer of ours would send.

use crate::net::{Dir, Fate, Net, Sent, params};
use proptest::prelude::*;
use sojourn_tcp::cc::{Algorithm, CubicParams, Params, SlowStart};
use sojourn_tcp::{
    AccEcnOption, AccEcnParams, ConnectionState, EcnMode, Endpoint, FieldOrder, Flags, OptionUse, ReceiveBuffer,
    SackBlock, Segment, TcpParams, Variant,
};
use sojourn_units::{Bytes, Duration, Ecn, Time};

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Deliver),
        3 => Just(Fate::Drop),
        2 => (1..120u64).prop_map(|ms| Fate::Delay(Duration::from_millis(ms))),
        1 => Just(Fate::Twice),
    ]
}

/// What befalls the first transmissions of each direction, the handshake included; the others are delivered.
#[derive(Clone, Debug)]
struct Script {
    data: Vec<Fate>,
    ack: Vec<Fate>,
}

fn script() -> impl Strategy<Value = Script> {
    let fates = || prop::collection::vec(fate(), 0..150);
    (fates(), fates()).prop_map(|(data, ack)| Script { data, ack })
}

impl Script {
    /// When a transfer is over: each lost transmission costs the longest time-out at most (120 s), and the rest 900 s.
    fn end(&self) -> Time {
        let fates = self.data.iter().chain(&self.ack);
        Time::from_secs(900 + 120 * fates.filter(|fate| **fate == Fate::Drop).count() as u64)
    }

    fn fates(self) -> impl FnMut(&Sent) -> Fate + 'static {
        move |s| {
            // Seven lost handshakes, and it would rightly give up.
            if s.segment.flags.has(Flags::SYN) && s.nth >= 4 {
                return Fate::Deliver;
            }
            let fates = if s.dir == Dir::Data { &self.data } else { &self.ack };
            fates.get(s.nth as usize).copied().unwrap_or(Fate::Deliver)
        }
    }
}

fn tcp_params() -> impl Strategy<Value = TcpParams> {
    (
        prop::sample::select(Algorithm::ALL),
        any::<[bool; 5]>(),
        prop::sample::select(&[SlowStart::Plain, SlowStart::HyStart, SlowStart::HyStartPlusPlus][..]),
        1..30u32,
        5_000..200_000u64,
        prop::sample::select(&Variant::ALL[..]),
    )
        .prop_map(
            |(algorithm, [ecn, accurate, delayed_ack, locked, pacing], slow_start, initial_window, window, variant)| {
                // A scalable control needs AccECN, which Linux 3.14 does not have.
                let scalable = algorithm.is_scalable() && variant == Variant::Linux314;
                let algorithm = if scalable { Algorithm::Cubic } else { algorithm };
                TcpParams {
                    variant,
                    receive_buffer: ReceiveBuffer::ALL[usize::from(locked)],
                    heads: variant.heads(),
                    cc: Params {
                        cubic: CubicParams { slow_start },
                        ..Params::default()
                    },
                    ecn: match (ecn, accurate) {
                        (true, true) if variant != Variant::Linux314 => EcnMode::Accurate,
                        (ecn, _) => ecn.into(),
                    },
                    ecn_low: ecn && locked,
                    accecn: AccEcnParams {
                        option: [OptionUse::Minimum, OptionUse::Always][usize::from(delayed_ack)],
                        ..AccEcnParams::default()
                    },
                    delayed_ack,
                    pacing,
                    initial_window,
                    receive_window: Bytes::new(window),
                    ..params(algorithm)
                }
            },
        )
}

/// A transfer in steps, with the checks that hold after each. (The receiver's window is checked by [`Net`] itself.)
fn checked_transfer(p: &TcpParams, segments: u64, script: Script) -> Result<Net, TestCaseError> {
    let end = script.end();
    let mut net = Net::new(p, script.fates());
    net.write(segments);
    let mut received = 0;
    while net.client.sender().bytes_pending() > 0 {
        let before = (net.client.sender().in_flight(), *net.client.sender().stats());
        prop_assert!(net.step(end), "the transfer hangs at {}", net.now);
        let s = net.client.sender();
        let sample = net.samples[net.samples.len() - 1];
        // A probe goes out whatever the window (RFC 8985 section 7.3); all else only below it.
        let probes = (s.stats().loss_probes - before.1.loss_probes) as u32;
        if sample.sent > probes {
            prop_assert!(s.in_flight() <= s.cwnd() + probes, "{sample:?}");
        }
        // Everything in flight was sent and is not acknowledged: at most the original and one retransmission of each.
        let highest = net
            .log
            .iter()
            .rev()
            .take(60)
            .filter_map(|t| t.data)
            .max()
            .unwrap_or(0)
            .max(received);
        prop_assert!(u64::from(s.in_flight()) <= 2 * (highest + 1), "{sample:?}");
        prop_assert!(s.cwnd() >= 1);
        // In order, nothing twice, nothing that was not written; acknowledged only once received.
        let in_order = net.server.receiver().bytes_in_order();
        prop_assert!(in_order >= received && in_order <= segments * crate::net::MSS);
        prop_assert!(s.bytes_acked() <= in_order);
        received = in_order;
    }
    prop_assert_eq!(net.server.receiver().bytes_in_order(), segments * crate::net::MSS);
    prop_assert_eq!(net.client.sender().in_flight(), 0);
    Ok(net)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_data_arrives_in_order_exactly_once(p in tcp_params(), segments in 1..250u64, script in script()) {
        let net = checked_transfer(&p, segments, script)?;
        let stats = net.server.receiver().stats();
        let sent = net.client.sender().stats();
        prop_assert!(stats.segments >= segments);
        if p.ecn == EcnMode::Accurate || p.congestion_control.is_scalable() {
            // Segments with the option are smaller.
            prop_assert!(sent.segments_sent >= segments + sent.retransmissions);
        } else {
            prop_assert_eq!(sent.segments_sent, segments + sent.retransmissions);
        }
        prop_assert_eq!(net.log.iter().filter(|s| s.data.is_some()).count() as u64, sent.segments_sent);
    }

    /// RFC 9768: where nothing is lost, each mark that comes to the receiver comes to the sender, by number and by bytes.
    #[test]
    fn no_mark_is_forgotten_or_counted_twice(
        p in tcp_params(),
        option in prop::sample::select(&[OptionUse::Never, OptionUse::Minimum, OptionUse::Always][..]),
        segments in 1..250u64,
        marks in prop::collection::vec(any::<bool>(), 0..250),
    ) {
        let variant = if p.variant == Variant::Linux314 { Variant::Linux61 } else { p.variant };
        let accecn = AccEcnParams { option, ..AccEcnParams::default() };
        let p = TcpParams { ecn: EcnMode::Accurate, variant, heads: variant.heads(), accecn, ..p };
        let mut net = Net::new(&p, move |s| {
            let marked = s.dir == Dir::Data && s.data.is_some() && marks.get(s.nth as usize) == Some(&true);
            if marked { Fate::Mark } else { Fate::Deliver }
        });
        net.write(segments);
        while net.client.sender().bytes_pending() > 0 {
            prop_assert!(net.step(Time::from_secs(900)), "the transfer hangs at {}", net.now);
        }
        let (client, server) = (net.client.accecn().expect("agreed"), net.server.accecn().expect("agreed"));
        prop_assert_eq!(client.delivered_ce(), server.received_ce());
        prop_assert_eq!(net.client.sender().stats().delivered_ce, u64::from(server.received_ce()));
        if option == OptionUse::Always {
            for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
                prop_assert_eq!(client.delivered_bytes(ecn), server.received_bytes(ecn));
            }
        }
    }

    /// The FIN is a segment as others are: it may be lost, late or doubled.
    #[test]
    fn a_connection_closes_after_all_its_data(p in tcp_params(), bytes in 1..300_000u64, script in script()) {
        let mut net = Net::new(&p, script.fates());
        net.client.write(bytes);
        net.close();
        while (net.client.state(), net.server.state()) != (ConnectionState::TimeWait, ConnectionState::Closed) {
            prop_assert!(net.step(Time::from_secs(3600)), "{:?} and {:?}", net.client.state(), net.server.state());
            prop_assert!(!net.server.receiver().is_finished() || net.server.receiver().bytes_in_order() == bytes);
        }
        prop_assert_eq!(net.client.sender().bytes_acked(), bytes);
        prop_assert_eq!(net.client.sender().bytes_pending(), 0);
        prop_assert_eq!(net.server.sender().bytes_acked(), 0);
        let fin = |s: &&Sent| s.segment.flags.has(Flags::FIN);
        prop_assert!(net.log.iter().filter(fin).all(|s| s.dir == Dir::Ack || s.segment.seq + u64::from(s.segment.len) == 1 + bytes));
    }

    /// RFC 9293 section 3.10.5: at once, and for good; what was under way may still arrive.
    #[test]
    fn a_connection_given_up_sends_nothing_more(p in tcp_params(), at_ms in 0..2000u64, script in script()) {
        let mut net = Net::new(&p, script.fates());
        net.client.write(u64::MAX / 2);
        while net.now < Time::from_millis(at_ms) && net.step(Time::from_secs(3600)) {}
        let given_up = net.now;
        net.client.abort();
        for _ in 0..2000 {
            if !net.step(Time::from_secs(3600)) {
                break;
            }
        }
        prop_assert_eq!(net.client.state(), ConnectionState::Closed);
        prop_assert_eq!((net.client.timeout(), net.client.poll_transmit(net.now)), (None, None));
        prop_assert!(net.log.iter().all(|s| s.dir == Dir::Ack || s.at <= given_up));
        let ends = net.log.iter().filter(|s| s.dir == Dir::Data).map(|s| s.segment.seq + u64::from(s.segment.len));
        prop_assert!(net.server.receiver().bytes_in_order() < ends.max().unwrap_or(1).max(1));
    }

    #[test]
    fn the_same_script_twice_sends_the_same_segments(p in tcp_params(), segments in 1..150u64, script in script()) {
        let one = checked_transfer(&p, segments, script.clone())?;
        let two = checked_transfer(&p, segments, script)?;
        prop_assert_eq!(one.log, two.log);
    }
}

/// A number near what the endpoint knows, or nowhere near.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..80_000u64, 4 => (0..60u64).prop_map(|k| 1 + k * 1448), 1 => any::<u64>()]
}

fn offset() -> impl Strategy<Value = i32> {
    const EXTREMES: &[i32] = &[i32::MIN, i32::MIN + 1, -1, 0, 1, i32::MAX];
    prop_oneof![4 => -80_000..80_000i32, 4 => (-50..50i32).prop_map(|k| k * 1448), 1 => prop::sample::select(EXTREMES)]
}

fn flags() -> impl Strategy<Value = Flags> {
    let all = [
        Flags::SYN,
        Flags::ECE,
        Flags::CWR,
        Flags::AE,
        Flags::ECT0,
        Flags::ECT1,
        Flags::CE,
        Flags::FIN,
        Flags::RST,
    ];
    let some = prop::sample::subsequence(all.to_vec(), 0..3);
    (some, 0..8u8).prop_map(|(some, n)| {
        let ack = if n > 0 { Flags::ACK } else { Flags::NONE };
        // A SYN or a reset only now and then: in the handshake it would be all there is.
        some.into_iter()
            .filter(|&f| (f != Flags::SYN || n < 2) && (f != Flags::RST || n < 1))
            .fold(ack, |a, b| a | b)
    })
}

/// An AccECN option of any shape, or none.
fn accecn() -> impl Strategy<Value = AccEcnOption> {
    let order = prop::sample::select(&[FieldOrder::Ect0First, FieldOrder::Ect1First][..]);
    let fields = prop::collection::vec(prop_oneof![any::<u32>(), 0..3000u32], 0..5);
    prop::option::of((order, fields))
        .prop_map(|some| some.map_or(AccEcnOption::NONE, |(order, fields)| AccEcnOption::new(order, &fields)))
}

fn hostile_segment() -> impl Strategy<Value = Segment> {
    let blocks = prop::array::uniform3((offset(), offset()).prop_map(|(start, end)| SackBlock { start, end }));
    let len = prop_oneof![2 => Just(0u16), 2 => Just(1448u16), 1 => any::<u16>()];
    let count = prop_oneof![8 => 0..4u8, 1 => any::<u8>()];
    (
        number(),
        number(),
        blocks,
        any::<(u32, u32)>(),
        prop_oneof![3 => any::<u16>(), 1 => 0..8u16],
        len,
        flags(),
        count,
        accecn(),
    )
        .prop_map(
            |(seq, ack, sack, (ts_val, ts_ecr), window, len, flags, sack_count, accecn)| Segment {
                seq,
                ack,
                sack,
                ts_val,
                ts_ecr: if ts_ecr % 3 == 0 { ts_ecr % 4096 } else { ts_ecr },
                window,
                len,
                flags,
                sack_count,
                window_rest: (ack % 256) as u8,
                accecn,
            },
        )
}

/// Takes what it wants to send, as a driver would; a peer could make it send forever otherwise.
fn drain(endpoint: &mut Endpoint, now: Time) -> Result<(), TestCaseError> {
    for _ in 0..100_000 {
        let Some(segment) = endpoint.poll_transmit(now) else {
            return Ok(());
        };
        prop_assert!(segment.sack_count <= 3);
        prop_assert!(segment.len <= 1448);
        prop_assert!(segment.wire_size() <= 1514 + 28, "its options have 40 bytes at most");
    }
    Err(TestCaseError::fail("it never stops sending"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_segment_makes_an_endpoint_panic(
        p in tcp_params(),
        client in any::<bool>(),
        established in prop::bool::weighted(0.9),
        close in any::<bool>(),
        resets in any::<bool>(),
        sack in any::<bool>(),
        steps in prop::collection::vec((hostile_segment(), 0..400u64), 1..60),
    ) {
        let sack = sack || p.variant == Variant::Linux314;
        let p = TcpParams { resets, sack, ..p };
        let mut endpoint = if client { Endpoint::client(&p) } else { Endpoint::server(&p) }.expect("valid parameters");
        endpoint.write(50 * 1448);
        if close {
            endpoint.close();
        }
        let mut now = Time::from_millis(1);
        endpoint.connect(now);
        drain(&mut endpoint, now)?;
        if established {
            let segment = Segment { ack: 1, window: 400, ts_val: 1, ts_ecr: 1, ..Segment::default() };
            // With what agrees to ECN, which an end that does not want it passes over.
            let mut flags = if client { Flags::ACK | Flags::ECE } else { Flags::ECE | Flags::CWR } | Flags::SYN;
            if p.ecn == EcnMode::Accurate || p.congestion_control.is_scalable() {
                flags |= Flags::AE;
            }
            endpoint.on_segment(&Segment { flags, ..segment }, now);
            drain(&mut endpoint, now)?;
            endpoint.on_segment(&Segment { seq: 1, flags: Flags::ACK, ..segment }, now);
            prop_assert!(endpoint.is_established());
            drain(&mut endpoint, now)?;
        }
        for (segment, ms) in &steps {
            now += Duration::from_millis(*ms);
            endpoint.on_timeout(now);
            drain(&mut endpoint, now)?;
            endpoint.on_segment(segment, now);
            drain(&mut endpoint, now)?;
            prop_assert!(endpoint.sender().bytes_acked() <= 50 * 1448);
            prop_assert!(endpoint.sender().bytes_pending() <= 50 * 1448);
            prop_assert!(endpoint.sender().in_flight() <= 100, "{}", endpoint.sender().in_flight());
            prop_assert!(endpoint.sender().cwnd() >= 1);
        }
    }
}

#[test]
fn names_of_controls_parse_and_a_wrong_one_lists_them() {
    for control in Algorithm::ALL {
        assert_eq!(control.name().parse(), Ok(*control));
    }
    assert_eq!(
        "westwood".parse::<Algorithm>().unwrap_err(),
        "congestion_control is \"westwood\", but must be one of: cubic, reno, bbr, dctcp, ledbat++, bbr2, bbr2-l4s, bbr3, prague, vegas"
    );
}
