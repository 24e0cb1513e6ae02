//! Aggregates: how large, in which order, how long on the air.

use super::*;
use crate::test_packet::{TestPacket, ms, rate, tid};

const FOUR_MS: Duration = Duration::from_millis(4);

fn limits(text: &str) -> AggregateLimits {
    AggregateLimits::new(rate(text), Band::Ghz5, 32, FOUR_MS)
}

/// Builds from an endless supply of packets of this size.
fn full(limits: &AggregateLimits, most: usize, size: u64, o: &mut Originator<TestPacket>) -> Aggregate<TestPacket> {
    let mut id = 0;
    let next = || {
        id += 1;
        Some((Queued::new(TestPacket::new(id, size, 0), ms(1)), Duration::ZERO))
    };
    build((NodeId(1), tid(0)), limits, most, o, next, ms(5), Vec::new()).unwrap()
}

fn sequences(a: &Aggregate<TestPacket>) -> Vec<u16> {
    a.frames.iter().map(|f| f.sequence).collect()
}

/// The stations of seed 002: 144.4 Mbit/s sends 32 frames, 7.2 Mbit/s two ("Ending the Anomaly", Table 1: 2914
/// bytes).
#[test]
fn full_aggregates_have_32_frames_or_4_ms() {
    for (text, frames) in [
        ("ht mcs 15 sgi", 32),
        ("ht mcs 0 sgi", 2),
        ("ht mcs 0", 2),
        ("ht mcs 1 sgi", 4),
        ("vht mcs 9 nss 2 80mhz sgi", 32),
    ] {
        let a = full(&limits(text), 32, 1514, &mut Originator::default());
        assert_eq!(a.frames.len(), frames, "{text}");
        // ath9k counts so: n frames of 1538 bytes with delimiter and padding, within 4 ms.
        let psdu = |n: u64| Bytes::new(1544 * n - 2);
        let n = frames as u64;
        assert!(a.rate.ppdu(psdu(n), Band::Ghz5) <= FOUR_MS);
        assert!(n == 32 || a.rate.ppdu(psdu(n + 1), Band::Ghz5) > FOUR_MS);
        assert_eq!(a.airtime, a.rate.exchange(psdu(n), Response::BlockAck, Band::Ghz5));
    }
}

#[test]
fn no_aggregate_exceeds_65535_bytes() {
    let limits = AggregateLimits::new(rate("vht mcs 9 nss 2 80mhz sgi"), Band::Ghz5, 64, FOUR_MS);
    let a = full(&limits, 64, 1514, &mut Originator::default());
    assert_eq!(a.frames.len(), 65_535 / 1544);
}

#[test]
fn a_frame_goes_alone_where_nothing_larger_may() {
    let ofdm = full(&limits("ofdm 54mbit"), 32, 1514, &mut Originator::default());
    assert!(ofdm.single);
    assert_eq!(
        ofdm.airtime,
        rate("ofdm 54mbit").exchange(Bytes::new(1538), Response::Ack, Band::Ghz5)
    );
    let short = AggregateLimits::new(rate("ht mcs 0"), Band::Ghz5, 32, Duration::from_nanos(1));
    let one = full(&short, 32, 1514, &mut Originator::default());
    assert_eq!((one.frames.len(), one.single), (1, true));
    assert_eq!(short.single(Bytes::new(1514)), one.airtime);
}

#[test]
fn a_packet_that_does_not_fit_is_the_first_of_the_next_aggregate() {
    let (limits, mut o) = (limits("ht mcs 0 sgi"), Originator::default());
    let mut sizes = [1514, 1000, 1514, 100].into_iter().enumerate();
    let mut next = || {
        sizes
            .next()
            .map(|(id, size)| (Queued::new(TestPacket::new(id as u64, size, 0), ms(1)), Duration::ZERO))
    };
    let mut ids = Vec::new();
    for _ in 0..2 {
        let a = build((NodeId(1), tid(0)), &limits, 32, &mut o, &mut next, ms(5), Vec::new()).unwrap();
        ids.push(a.frames.iter().map(|f| (f.packet.id, f.sequence)).collect::<Vec<_>>());
    }
    assert_eq!(ids, [vec![(0, 0), (1, 1)], vec![(2, 2), (3, 3)]]);
    assert!(build((NodeId(1), tid(0)), &limits, 32, &mut o, &mut next, ms(5), Vec::new()).is_err());
}

#[test]
fn frames_to_be_sent_again_lead_and_bound_the_window() {
    let (limits, mut o) = (limits("ht mcs 15 sgi"), Originator::default());
    let first = full(&limits, 32, 1514, &mut o);
    let second = full(&limits, 32, 1514, &mut o);
    assert_eq!(sequences(&second), (32..64).collect::<Vec<u16>>());
    for frame in first.frames {
        if [3, 9].contains(&frame.sequence) {
            o.retry(frame);
        } else {
            o.acknowledged(frame.sequence);
        }
    }
    o.advance();
    // 3 is the oldest: 66 is the last that may be sent.
    let third = full(&limits, 32, 1514, &mut o);
    assert_eq!(sequences(&third), [3, 9, 64, 65, 66]);
    assert_eq!(third.frames[0].dequeued, ms(5));
}

/// 32 frames of 1500 bytes of IP: 36 + 4 us of preamble, 16 us, 32 us of Block Ack, 43 us and 67.5 us before it.
#[test]
fn expected_throughput_is_that_of_full_aggregates() {
    let rate = rate("ht mcs 15 sgi");
    let airtime = rate.exchange(Bytes::new(32 * 1544 - 2), Response::BlockAck, Band::Ghz5);
    let seconds = airtime.as_secs_f64() + 110.5e-6;
    let expected = 32.0 * 1500.0 * 8.0 / seconds;
    let told = limits("ht mcs 15 sgi").expected_throughput().as_bps() as f64;
    assert!((told / expected - 1.0).abs() < 1e-6, "{told} {expected}");
}
