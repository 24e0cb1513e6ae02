//! How much to flush, after the thesis. Source: seed 003, Listing 4.7 and section 4.5.2.

use crate::{Clamp, FirstFlush, FlushRtt, FlusherParams, Growth, SizeRtt};
use sojourn_units::{Bytes, Duration, Rate};

/// What is known of a flow when it is to be flushed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) throughput: Rate,
    pub(crate) base: Duration,
    /// The largest RTT ever; see [`FlusherParams::largest_rtt`].
    pub(crate) largest: Duration,
    /// The largest value of the window.
    pub(crate) window_max: Duration,
}

/// A size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) packets: u32,
    /// The flood RTT that it comes from.
    pub(crate) rtt: Duration,
    /// The flood RTT that the next flush begins with, once this one has been sent.
    pub(crate) carry: Option<Duration>,
}

/// Whole packets of `size` that `rate` carries in `time`, at most `most`. Source: Listing 4.7, line 22; Eq. 6.1.
pub(crate) fn packets_in(rate: Rate, time: Duration, size: Bytes, most: u32) -> u32 {
    let bits = u128::from(rate.as_bps()) * u128::from(time.as_nanos());
    let packets = bits / (8_000_000_000 * u128::from(size.get().max(1)));
    u32::try_from(packets).unwrap_or(u32::MAX).min(most)
}

/// The next flush of a flow whose last one left the flood RTT `carried`.
///
/// Deviation: `max_packets` bounds it; the thesis has no bound but the clamps.
pub(crate) fn next_flush(known: &Known, carried: Option<Duration>, params: &FlusherParams) -> Size {
    let low = known.base.saturating_mul(2);
    let high = known.largest.saturating_mul(2);
    let (rtt, used, carry) = match params.flush_rtt {
        FlushRtt::WindowMax => (known.window_max, known.window_max, None),
        FlushRtt::Growing => {
            let raw = match carried {
                None if params.first_flush == FirstFlush::TwiceBase => low,
                before => params.growth.of(before.unwrap_or(low)),
            };
            let clamped = match params.clamp {
                Clamp::Both => raw.max(low).min(high),
                Clamp::UpperOnly => raw.min(high),
            };
            let used = match params.size_rtt {
                SizeRtt::Clamped => clamped,
                SizeRtt::Unclamped => raw,
            };
            (used, used, (params.growth_kept == Growth::Kept).then_some(clamped))
        }
    };
    Size {
        packets: packets_in(known.throughput, used, params.packet, params.max_packets),
        rtt,
        carry,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Factor;

    const TEXT: FlusherParams = FlusherParams::AS_DESCRIBED;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// The bed of the thesis: 5 Mbit/s, 50 ms, a buffer of 100 packets: RTTs up to 290 ms.
    const BED: Known = Known {
        throughput: Rate::from_mbit(5),
        base: ms(50),
        largest: ms(290),
        window_max: ms(120),
    };

    fn sizes(params: &FlusherParams, known: &Known, n: usize) -> Vec<u32> {
        let mut carried = None;
        (0..n)
            .map(|_| {
                let size = next_flush(known, carried, params);
                carried = size.carry;
                size.packets
            })
            .collect()
    }

    /// Section 4.5.2: 2 x 50 ms, then 120, 144, 172.8, 207.36 ms, at 5 Mbit/s over 12 000 bits: 41.7, 50, 60, 72,
    /// 86.4.
    #[test]
    fn the_text_begins_with_twice_the_base_and_adds_a_fifth_each_time() {
        assert_eq!(sizes(&TEXT, &BED, 5), [41, 50, 60, 72, 86]);
    }

    /// Contradiction flu-x-12: the listing multiplies the first time too: 120, 144, 172.8 ms.
    #[test]
    fn the_listing_multiplies_the_first_flush_too() {
        let params = FlusherParams {
            first_flush: FirstFlush::Multiplied,
            ..TEXT
        };
        assert_eq!(sizes(&params, &BED, 3), [50, 60, 72]);
    }

    /// Contradiction flu-x-10: `rttFlood` is written, `floodRtt` is read: 1.2 x 100 ms for ever.
    #[test]
    fn in_the_listing_growth_never_accumulates() {
        assert_eq!(sizes(&FlusherParams::AS_WRITTEN, &BED, 4), [50, 50, 50, 50]);
    }

    /// The upper bound is twice the largest RTT: 580 ms, 241 packets; it is reached with the eleventh flush (100 x
    /// 1.2^10 = 619 ms).
    #[test]
    fn growth_ends_at_twice_the_largest_rtt() {
        let sizes = sizes(&TEXT, &BED, 14);
        assert_eq!(sizes[9], 214);
        assert_eq!(sizes[10..], [241; 4]);
    }

    /// Contradiction flu-x-09: after the base RTT rose from 50 to 150 ms, the flood RTT of 120 ms is below 2 x 150;
    /// only where both bounds hold is it lifted to 300 ms, 125 packets.
    #[test]
    fn the_lower_bound_is_lost_in_the_listing() {
        let risen = Known { base: ms(150), ..BED };
        let both = next_flush(&risen, Some(ms(100)), &TEXT);
        assert_eq!((both.rtt, both.packets), (ms(300), 125));
        let upper = next_flush(
            &risen,
            Some(ms(100)),
            &FlusherParams {
                clamp: Clamp::UpperOnly,
                ..TEXT
            },
        );
        assert_eq!((upper.rtt, upper.packets), (ms(120), 50));
    }

    /// Contradiction flu-x-11: 1.2 x 560 = 672 ms is above 2 x 290 ms; the listing computes the packets from 672 ms
    /// all the same: 280 instead of 241.
    #[test]
    fn the_listing_computes_packets_before_it_clamps() {
        assert_eq!(next_flush(&BED, Some(ms(560)), &TEXT).packets, 241);
        let params = FlusherParams {
            size_rtt: SizeRtt::Unclamped,
            ..TEXT
        };
        let size = next_flush(&BED, Some(ms(560)), &params);
        assert_eq!((size.packets, size.carry), (280, Some(ms(580))));
    }

    /// Contradiction flu-x-13: section 4.5.3 multiplies the largest throughput with the largest RTT of the window: 5
    /// Mbit/s x 120 ms / 12 000 = 50, at every flush.
    #[test]
    fn section_4_5_3_takes_the_largest_rtt_of_the_window() {
        let params = FlusherParams {
            flush_rtt: FlushRtt::WindowMax,
            ..TEXT
        };
        assert_eq!(sizes(&params, &BED, 3), [50, 50, 50]);
    }

    /// Claim flu-74: with the largest RTT doubled, the bound doubles: 482 = 2 x 241, but for rounding.
    #[test]
    fn a_spike_of_twice_the_largest_rtt_doubles_the_bound() {
        let spiked = Known {
            largest: ms(580),
            ..BED
        };
        assert_eq!(next_flush(&spiked, Some(ms(5000)), &TEXT).packets, 483);
    }

    #[test]
    fn the_bound_of_packets_holds_whatever_was_measured() {
        let absurd = Known {
            throughput: Rate::from_bps(u64::MAX),
            base: Duration::MAX,
            largest: Duration::MAX,
            window_max: Duration::MAX,
        };
        let growth = Factor::from_thousandths(10_000);
        for first_flush in [FirstFlush::TwiceBase, FirstFlush::Multiplied] {
            let params = FlusherParams {
                first_flush,
                growth,
                max_packets: 77,
                ..TEXT
            };
            assert_eq!(sizes(&params, &absurd, 3), [77; 3]);
        }
    }

    /// Table 6.1: 41, 20 and 4 packets at 5 Mbit/s and 100, 50 and 10 ms.
    #[test]
    fn packets_of_the_pipe_are_those_of_table_6_1() {
        let pipe = |rtt| packets_in(Rate::from_mbit(5), ms(rtt), Bytes::new(1500), u32::MAX);
        assert_eq!([pipe(100), pipe(50), pipe(10)], [41, 20, 4]);
    }
}
