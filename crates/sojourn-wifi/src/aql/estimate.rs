//! How long a frame will be on the air, as mac80211 guesses when it leaves its queue.

use crate::{Format, Guard, PhyRate};
use sojourn_units::{Bytes, Duration};

/// The packet for which the durations of the table hold, in bytes.
const AVERAGE: u32 = 1024;

/// What an 802.11 `QoS` header and LLC/SNAP have more than the Ethernet header that they replace: 26 + 8 - 14.
const LONGER_HEADER: u32 = 20;

/// What the estimate adds to the length of the 802.11 frame.
const ADDED: u32 = 38;

/// `ieee80211_calc_expected_tx_airtime` of Linux 6.12 for a packet of this size (an Ethernet frame) at `rate`, in the
/// steps of 4 us and up to the 4092 us that a packet's control block holds. `aggregated` is what mac80211 assumes of
/// every category but voice.
///
/// The duration of 1024 bytes without preamble is scaled to the packet's length; the overhead of preamble and
/// training fields is divided by an aggregate's size that is guessed from the rate, a power of two. No Block Ack, no
/// backoff.
pub(super) fn expected_airtime(rate: PhyRate, size: Bytes, aggregated: bool) -> Duration {
    let length = size.get() as u32 + LONGER_HEADER + ADDED;
    let us = if rate.format() == Format::Ofdm {
        let bits_per_us_tenths = (rate.nominal().as_bps() / 100_000) as u32;
        36 + length * 80 / bits_per_us_tenths
    } else {
        let average = average_duration(rate);
        let data = (u64::from(average) * u64::from(length) / u64::from(AVERAGE) / 1024) as u32;
        let overhead = 36 + 4 * u32::from(rate.streams());
        let shift = if aggregated { aggregate_shift(average) } else { 0 };
        data + (overhead >> shift)
    };
    Duration::from_micros(u64::from(us.clamp(4, 4095) & !3))
}

/// Of 1024 bytes in 1/1024 us, with the digits that the 16 bits of the kernel's table keep.
fn average_duration(rate: PhyRate) -> u32 {
    let slowest = slowest_of_group(rate);
    let shift = 16_u32.saturating_sub(exact_duration(rate, slowest).leading_zeros());
    exact_duration(rate, rate.bits_per_symbol()) >> shift << shift
}

fn exact_duration(rate: PhyRate, bits_per_symbol: u32) -> u32 {
    let kilosymbols = (AVERAGE * 8 * 1024).div_ceil(bits_per_symbol);
    match rate.guard() {
        Guard::Long => kilosymbols * 4,
        Guard::Short => kilosymbols * 4 * 18 / 20,
    }
}

/// Bits of a symbol at MCS 0, which is BPSK 1/2, with the rate's streams and width.
fn slowest_of_group(rate: PhyRate) -> u32 {
    rate.width().subcarriers() * u32::from(rate.streams()) / 2
}

/// The logarithm of the size of aggregates that mac80211 takes for granted at a rate.
const fn aggregate_shift(average: u32) -> u32 {
    if average > 400 * 1024 {
        1
    } else if average > 250 * 1024 {
        2
    } else if average > 150 * 1024 {
        3
    } else if average > 70 * 1024 {
        4
    } else {
        5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(text: &str, wire: u64, aggregated: bool) -> u64 {
        let rate = PhyRate::parse(text).expect("a rate");
        expected_airtime(rate, Bytes::new(wire), aggregated).as_nanos() / 1000
    }

    /// By hand, from what 802.11 says of a symbol. A full frame is 1514 + 20 + 38 = 1572 bytes, 12,576 bits, a short
    /// one (60) 944 bits; preamble and training take 40 us, with two streams 44. As mac80211's comments have it,
    /// that is halved up to VHT20 MCS 2, quartered at MCS 3, an eighth at MCS 5, a sixteenth below MCS 5 with two
    /// streams, and a thirty-second above. Results are in steps of 4 us.
    #[test]
    fn guesses_are_symbols_and_a_share_of_the_preamble() {
        for (rate, wire, alone, aggregated) in [
            ("ht mcs 0 20mhz sgi", 1514, 1780, 1760), // 483.69 symbols of 3.6 us, 1741.3 us: + 40, + 20
            ("vht mcs 0 20mhz lgi", 1514, 1972, 1952), // 483.69 of 4 us, 1934.8 us: + 40, + 20
            ("vht mcs 2 20mhz lgi", 1514, 684, 664),  // 161.23 of 4 us, 644.9 us: + 40, + 20
            ("ht mcs 3 20mhz sgi", 1514, 472, 444),   // 120.92 of 3.6 us, 435.3 us: + 40, + 10
            ("vht mcs 5 20mhz lgi", 1514, 280, 244),  // 60.46 of 4 us, 241.8 us: + 40, + 5
            ("ht mcs 7 20mhz lgi", 1514, 232, 192),   // 48.37 of 4 us, 193.5 us: + 40, + 2
            ("ht mcs 15 20mhz sgi", 1514, 128, 88),   // 24.18 of 3.6 us, 87.1 us: + 44, + 1
            ("vht mcs 9 nss 2 80mhz sgi", 1514, 56, 12), // 4.03 of 3.6 us, 14.5 us: + 44, + 1
            ("ht mcs 7 20mhz lgi", 60, 52, 16),       // 3.63 of 4 us, 14.5 us: + 40, + 2
        ] {
            assert_eq!(
                (us(rate, wire, false), us(rate, wire, true)),
                (alone, aggregated),
                "{rate}, {wire} bytes"
            );
        }
    }

    /// Long frames at the slowest rate do not fit into 10 bits of 4 us.
    #[test]
    fn no_guess_is_above_4092_us_or_below_4() {
        assert_eq!(us("ht mcs 0 20mhz lgi", 4000, true), 4092);
        assert_eq!(us("ofdm 6mbit", 4000, false), 4092);
        assert!(us("vht mcs 9 nss 2 80mhz sgi", 60, true) >= 4);
    }

    #[test]
    fn legacy_rates_have_preamble_and_sifs_and_no_aggregates() {
        // 12,576 bits take 232.9 us at 54 Mbit/s and 524 us at 24, after 36 us.
        assert_eq!(
            (us("ofdm 54mbit", 1514, false), us("ofdm 54mbit", 1514, true)),
            (268, 268)
        );
        assert_eq!(
            (us("ofdm 24mbit", 1514, false), us("ofdm 24mbit", 1514, true)),
            (560, 560)
        );
    }
}
