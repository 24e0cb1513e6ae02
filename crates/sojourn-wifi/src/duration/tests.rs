use super::*;
use crate::{AmpduLength, mpdu};
use proptest::prelude::*;

fn rate(text: &str) -> PhyRate {
    PhyRate::parse(text).unwrap()
}

fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

#[test]
fn interframe_spaces_are_those_of_the_standard() {
    assert_eq!(Band::Ghz5.aifs(2), us(34));
    assert_eq!(Band::Ghz5.aifs(3), us(43));
    assert_eq!(Band::Ghz5.aifs(7), us(79));
    assert_eq!(Band::Ghz2.aifs(2), us(28));
    // EIFS at 5 GHz: 16 + 44 + 34 = 94 us.
    assert_eq!(Band::Ghz5.eifs_less_difs() + Band::Ghz5.aifs(2), us(94));
}

#[test]
fn preambles_grow_with_the_training_fields() {
    let preambles = |format: &str, all: &[&str]| -> Vec<u64> {
        all.iter()
            .map(|rest| rate(&format!("{format} {rest}")).preamble().as_micros())
            .collect()
    };
    assert_eq!(
        preambles("ht", &["mcs 0", "mcs 8", "mcs 16", "mcs 24"]),
        [36, 40, 48, 48]
    );
    let streams: Vec<_> = (1..=8).map(|n| format!("mcs 0 nss {n}")).collect();
    let streams: Vec<_> = streams.iter().map(String::as_str).collect();
    assert_eq!(preambles("vht", &streams), [40, 44, 52, 52, 60, 60, 68, 68]);
    assert_eq!(rate("ofdm 6mbit").preamble(), us(20));
}

#[test]
fn ppdus_worked_by_hand() {
    let at = |text, bytes| rate(text).ppdu(Bytes::new(bytes), Band::Ghz5).as_nanos();
    // OFDM 6 Mbit/s, 14 bytes: (16 + 112 + 6) / 24 = 5.6, 6 symbols.
    assert_eq!(at("ofdm 6mbit", 14), 44_000);
    // HT MCS 0, 1538 bytes: 12326 / 26 = 474.1, 475 symbols.
    assert_eq!(at("ht mcs 0", 1538), 36_000 + 475 * 4_000);
    // With the short guard interval 475 x 3.6 = 1710, rounded up to 1712 us.
    assert_eq!(at("ht mcs 0 sgi", 1538), 36_000 + 1_712_000);
    // HT MCS 15, 1538 bytes: 12326 / 520 = 23.7, 24 symbols: 86.4, rounded up to 88 us.
    assert_eq!(at("ht mcs 15 sgi", 1538), 40_000 + 88_000);
    // HT MCS 31, 40 MHz, two encoders: (16 + 12304 + 12) / 2160 = 5.7, 6 symbols.
    assert_eq!(at("ht mcs 31 40mhz", 1538), 48_000 + 24_000);
    // VHT MCS 9, 80 MHz, 1 stream: 390 Mbit/s; 12336 + 22 = 12358 / 1560 = 7.9, 8 symbols.
    assert_eq!(at("vht mcs 9 80mhz", 1542), 40_000 + 32_000);
    // VHT MCS 9, 160 MHz, 8 streams, 12 encoders: 8 x 65535 + 16 + 72 = 524368 / 24960 = 21.01, 22 symbols: 79.2, 80
    // us.
    assert_eq!(at("vht mcs 9 nss 8 160mhz sgi", 65_535), 68_000 + 80_000);
}

#[test]
fn the_signal_extension_is_paid_at_2_4_ghz_only() {
    let rate = rate("ht mcs 0");
    let (at5, at2) = (
        rate.ppdu(Bytes::new(100), Band::Ghz5),
        rate.ppdu(Bytes::new(100), Band::Ghz2),
    );
    assert_eq!(at2, at5 + us(6));
    assert_eq!(rate.response(Response::Ack, Band::Ghz2), us(50));
}

#[test]
fn answers_go_at_the_mandatory_rate_below() {
    let mbit = |text| rate(text).response_mbit();
    for (text, want) in [
        ("ofdm 6mbit", 6),
        ("ofdm 9mbit", 6),
        ("ofdm 12mbit", 12),
        ("ofdm 18mbit", 12),
        ("ofdm 24mbit", 24),
        ("ofdm 54mbit", 24),
        ("ht mcs 0", 6),
        ("ht mcs 1", 12),
        ("ht mcs 2", 12),
        ("ht mcs 3", 24),
        ("ht mcs 8", 6),
        ("ht mcs 15", 24),
        ("vht mcs 0", 6),
        ("vht mcs 9 80mhz", 24),
    ] {
        assert_eq!(mbit(text), want, "{text}");
    }
    let ack = |text| rate(text).response(Response::Ack, Band::Ghz5).as_micros();
    assert_eq!([ack("ht mcs 0"), ack("ht mcs 1"), ack("ht mcs 7")], [44, 32, 28]);
    let block_ack = |text| rate(text).response(Response::BlockAck, Band::Ghz5).as_micros();
    assert_eq!(
        [block_ack("ht mcs 0"), block_ack("ht mcs 1"), block_ack("ht mcs 7")],
        [68, 44, 32]
    );
}

/// ath9k limits an aggregate to what takes less than 4 ms: 3572 bytes at HT20 MCS 0 with short guard interval, 35744
/// at MCS 7, at MCS 15 the length field. Its table is in steps of 4 bytes (MCS 0) or whole symbols (MCS 7: 260 bits,
/// 32 bytes).
#[test]
fn four_milliseconds_hold_what_ath9k_puts_into_them() {
    let limit = us(4_000);
    let at = |text, bytes| rate(text).ppdu(Bytes::new(bytes), Band::Ghz5);
    assert_eq!(at("ht mcs 0 sgi", 3572), us(3_996));
    assert!(at("ht mcs 0 sgi", 3576) > limit);
    assert_eq!(at("ht mcs 7 sgi", 35_744), us(3_996));
    assert_eq!(at("ht mcs 7 sgi", 35_748), limit);
    assert!(at("ht mcs 7 sgi", 35_744 + 40) > limit);
    assert!(at("ht mcs 15 sgi", 65_532) < limit);
}

/// 20 MPDUs of 1538 bytes at 72.2 Mbit/s: A-MPDU 19 x 1544 + 1542 = 30878 bytes, (247024 + 22) / 260 = 950.2, 951
/// symbols, 3423.6 rounded up to 3424 us; 36 before, SIFS 16 and BlockAck 32 after: 3508. With DIFS 34 and 7.5 slots
/// 3609.5 us.
#[test]
fn twenty_frames_at_72_mbit_cost_3609_us() {
    let mut length = AmpduLength::default();
    for _ in 0..20 {
        length.push(mpdu(Bytes::new(1514)));
    }
    assert_eq!(length.bytes(), Bytes::new(30_878));
    let exchange = rate("ht mcs 7 sgi").exchange(length.bytes(), Response::BlockAck, Band::Ghz5);
    assert_eq!(exchange, us(3_508));
    let contention = Band::Ghz5.aifs(2) + Band::Ghz5.slot() * 15 / 2;
    assert_eq!((exchange + contention).as_micros(), 3_609);
}

proptest! {
    #[test]
    fn a_longer_psdu_never_takes_less_time(index in 0..700usize, bytes in 1u64..65_000, more in 0u64..500) {
        let all: Vec<_> = PhyRate::all().collect();
        let rate = all[index % all.len()];
        let (short, long) = (rate.ppdu(Bytes::new(bytes), Band::Ghz5), rate.ppdu(Bytes::new(bytes + more), Band::Ghz5));
        prop_assert!(short <= long);
        // Never faster than the nominal rate, and never a symbol and a rounding slower.
        let ideal = rate.nominal().time_to_send(Bytes::new(bytes));
        prop_assert!(short >= rate.preamble() + ideal);
        prop_assert!(short <= rate.preamble() + ideal + us(4 + 4) + rate.nominal().time_to_send(Bytes::new(11)));
    }
}
