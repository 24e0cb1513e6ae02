//! How long a frame will be on the air, as mac80211 guesses when it leaves its queue.

use crate::{Format, Guard, PhyRate};
use sojourn_units::{Bytes, Duration};

/// The packet for which the durations of the table hold, in bytes.
const AVERAGE: u32 = 1024;

/// What an 802.11 `QoS` header and LLC/SNAP have more than the Ethernet header that they replace: 26 + 8 - 14.
const LONGER_HEADER: u32 = 20;

/// What the estimate adds to the length of the 802.11 frame.
const ADDED: u32 = 38;

/// `ieee80211_calc_expected_tx_airtime` of Linux 6.12 for a packet of this size (an Ethernet frame) at `rate`, in the steps of 4 us and up
/// to the 4092 us that a packet's control block holds. `aggregated` is what mac80211 assumes of every category but voice.
///
/// The duration of 1024 bytes without preamble is scaled to the packet's length; the overhead of preamble and training fields is
/// divided by an aggregate's size that is guessed from the rate, a power of two. No Block Ack, no backoff.
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

    /// By hand from the formula: 1024 bytes at 26 bits a symbol are 322639 symbols/1024, 3.6 us each: 1161500; the table keeps
    /// steps of 32. (1514 + 58) / 1024 of it and half of 40 us.
    #[test]
    fn a_full_frame_at_mcs_0_is_guessed_as_1760_us() {
        let kilosymbols: u64 = 322_639;
        let table = kilosymbols * 4 * 18 / 20 / 32 * 32;
        let by_hand = table * 1572 / 1024 / 1024 + 20;
        assert_eq!(us("ht mcs 0 20mhz sgi", 1514, true), by_hand / 4 * 4);
        assert_eq!(us("ht mcs 0 20mhz sgi", 1514, false), (by_hand + 20) / 4 * 4);
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
        assert_eq!(us("ofdm 54mbit", 1514, true), (36 + 1572 * 8 * 10 / 540) / 4 * 4);
    }
}
