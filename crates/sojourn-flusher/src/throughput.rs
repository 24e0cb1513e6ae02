//! Throughput. Source: seed 003 section 4.4, Eq. 4.2 and Listing 4.4.

use crate::outstanding::Covered;
use crate::rtt::smoothed;
use crate::{Acknowledged, Counted, FlusherParams, Restart, Span};
use sojourn_units::{Duration, Rate, Time};

/// Bytes acknowledged over an interval.
#[derive(Debug, Default)]
pub(crate) struct Throughput {
    bytes: u64,
    since: Option<Time>,
    value: Option<Rate>,
    /// The moving average of the values, a value of zero included, bit/s.
    smoothed: Option<u64>,
}

impl Throughput {
    pub(crate) const fn get(&self) -> Option<Rate> {
        self.value
    }

    /// What a flush is computed from. Source: seed 003 section 4.5.3.
    pub(crate) fn smoothed(&self) -> Option<Rate> {
        self.smoothed.filter(|bps| *bps > 0).map(Rate::from_bps)
    }

    /// Takes what an acknowledgement covers; the rate if an interval ended with it.
    pub(crate) fn update(
        &mut self,
        covered: &Covered,
        rtt: Option<Duration>,
        now: Time,
        params: &FlusherParams,
    ) -> Option<Rate> {
        let bytes = match (params.throughput_items, params.throughput_counts) {
            (Acknowledged::All, Counted::Wire) => covered.wire,
            (Acknowledged::All, Counted::Payload) => covered.payload,
            (Acknowledged::Youngest, Counted::Wire) => covered.youngest_wire,
            (Acknowledged::Youngest, Counted::Payload) => covered.youngest_payload,
        };
        let restart = match params.throughput_restart {
            Restart::Zero => 0,
            Restart::LastItem => bytes,
        };
        let Some(since) = self.since else {
            self.since = Some(now);
            self.bytes = restart;
            return None;
        };
        self.bytes = self.bytes.saturating_add(bytes);
        let interval = match params.throughput_span {
            Span::Interval => params.throughput_interval,
            Span::Rtt => rtt?,
        };
        let elapsed = now.since(since);
        if elapsed < interval || elapsed.is_zero() {
            return None;
        }
        let bits = u128::from(self.bytes) * 8 * u128::from(params.throughput_factor);
        let bps = u64::try_from(bits * 1_000_000_000 / u128::from(elapsed.as_nanos())).unwrap_or(u64::MAX);
        self.value = (bps > 0).then(|| Rate::from_bps(bps));
        self.smoothed = Some(smoothed(self.smoothed, bps, params.throughput_weight));
        self.bytes = restart;
        self.since = Some(now);
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` acknowledgements a `gap` apart, each for two packets of 1500 B that carry 1448 B.
    fn after(params: &FlusherParams, n: u64, gap: Duration) -> Option<u64> {
        let two = Covered {
            rtt: None,
            under_way: 0,
            payload: 2896,
            wire: 3000,
            answered: 3000,
            youngest_payload: 1448,
            youngest_wire: 1500,
        };
        let mut throughput = Throughput::default();
        for k in 0..=n {
            throughput.update(&two, Some(gap * 5), Time::from_nanos(gap.as_nanos() * k), params);
        }
        throughput.get().map(Rate::as_bps)
    }

    const GAP: Duration = Duration::from_millis(5);
    const TEXT: FlusherParams = FlusherParams::AS_DESCRIBED;

    /// 200 acknowledgements 5 ms apart, 3000 B each: 4.8 Mbit/s.
    #[test]
    fn an_interval_is_what_was_acknowledged_in_it_over_its_length() {
        assert_eq!(after(&TEXT, 199, GAP), None);
        assert_eq!(after(&TEXT, 200, GAP), Some(4_800_000));
    }

    /// Contradiction flu-x-03: 2896 of 3000 bytes are payload: 200 x 2896 x 8 = 4 633 600 bit.
    #[test]
    fn payload_counts_by_the_equation_and_packets_by_the_listing() {
        let params = FlusherParams {
            throughput_counts: Counted::Payload,
            ..TEXT
        };
        assert_eq!(after(&params, 200, GAP), Some(4_633_600));
    }

    /// Contradiction flu-x-02. The listing adds `item.totlen` of the one packet that matches the acknowledgement and
    /// doubles the sum. A receiver that acknowledges every second packet makes that right: 200 x 1500 x 8 x 2 = 4
    /// 800 000. With all packets counted the factor would be wrong by itself: 9 600 000.
    #[test]
    fn the_listings_factor_of_two_makes_up_for_the_packet_that_a_delayed_acknowledgement_hides() {
        let listing = FlusherParams {
            throughput_items: Acknowledged::Youngest,
            throughput_factor: 2,
            ..TEXT
        };
        assert_eq!(after(&listing, 200, GAP), Some(4_800_000));
        assert_eq!(
            after(
                &FlusherParams {
                    throughput_factor: 2,
                    ..TEXT
                },
                200,
                GAP
            ),
            Some(9_600_000)
        );
        assert_eq!(
            after(
                &FlusherParams {
                    throughput_items: Acknowledged::Youngest,
                    ..TEXT
                },
                200,
                GAP
            ),
            Some(2_400_000)
        );
    }

    /// Listing 4.4, line 8: the sum begins with the packet that ended the last one. 201 x 3000 x 8 = 4 824 000.
    #[test]
    fn the_listing_counts_the_packet_between_two_intervals_twice() {
        let params = FlusherParams {
            throughput_restart: Restart::LastItem,
            ..TEXT
        };
        assert_eq!(after(&params, 400, GAP), Some(4_824_000));
        assert_eq!(after(&TEXT, 400, GAP), Some(4_800_000));
    }

    /// Contradiction flu-x-04, "divided by the current RTT": an RTT of 25 ms is five acknowledgements, the same rate
    /// far sooner.
    #[test]
    fn an_interval_of_one_rtt_tells_the_same_rate_sooner() {
        let params = FlusherParams {
            throughput_span: Span::Rtt,
            ..TEXT
        };
        assert_eq!(after(&params, 4, GAP), None);
        assert_eq!(after(&params, 5, GAP), Some(4_800_000));
    }

    /// Section 4.5.3 and Eq. 4.1 with alpha 7/8: seconds of 4, 12 and 4 Mbit/s. The first is the average; then 7/8 x
    /// 4 + 1/8 x 12 = 5, and 7/8 x 5 + 1/8 x 4 = 4.875. The extreme one weighs an eighth; not smoothed, the
    /// average is the second itself.
    #[test]
    fn an_extreme_second_counts_an_eighth_in_the_smoothed_throughput() {
        let seconds = |weight| {
            let params = FlusherParams {
                throughput_weight: weight,
                ..TEXT
            };
            let mut throughput = Throughput::default();
            throughput.update(&Covered::default(), None, Time::ZERO, &params);
            [(1, 500_000), (2, 1_500_000), (3, 500_000)].map(|(second, wire)| {
                let covered = Covered {
                    wire,
                    ..Covered::default()
                };
                throughput.update(&covered, None, Time::from_secs(second), &params);
                throughput.smoothed().map(Rate::as_bps)
            })
        };
        assert_eq!(seconds(1), [Some(4_000_000), Some(5_000_000), Some(4_875_000)]);
        assert_eq!(seconds(8), [Some(4_000_000), Some(12_000_000), Some(4_000_000)]);
    }

    #[test]
    fn nothing_acknowledged_is_no_rate_rather_than_a_rate_of_zero() {
        let mut throughput = Throughput::default();
        throughput.update(&Covered::default(), None, Time::ZERO, &TEXT);
        throughput.update(&Covered::default(), None, Time::from_secs(2), &TEXT);
        assert_eq!(throughput.get(), None);
        assert_eq!(throughput.smoothed(), None);
    }
}
