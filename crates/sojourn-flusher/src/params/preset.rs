//! The three named parameterisations.

use super::{
    Acknowledged, BaseKind, Clamp, Counted, Factor, FirstFlush, FlushRtt, FlusherParams, Forced, Growth, LastFlush,
    Method, Miss, Restart, Retransmissions, SampleOf, Samples, SizeRtt, Span, Test,
};
use sojourn_units::{Bytes, Duration};

impl FlusherParams {
    /// The thesis as its text describes it (sections 4.3 to 4.5), with the recommended threshold of 1.7 (section
    /// 6.3.1).
    ///
    /// Deviation: throughput counts whole packets, not payload as Eq. 4.2 has it: section 4.7 says "packet sizes",
    /// and the flush is counted in whole packets. It is divided by the time it took, not by the RTT (section 4.4
    /// says both).
    ///
    /// Deviation: the flood RTT grows from 2 x base RTT (section 4.5.2); section 4.5.3 takes the largest RTT instead.
    /// What it says of the maxima holds of both: they are those of the smoothed throughput and of the smoothed
    /// RTT. Section 4.7 speaks of "the maximum measured RTT", and by section 4.3 the RTT is the smoothed one.
    pub const AS_DESCRIBED: Self = Self {
        method: Method::Thesis,
        max_flows: 1024,
        max_outstanding: 2048,
        flow_timeout: Duration::from_secs(300),
        max_rtt: Duration::from_secs(60),
        max_packets: 10_000,
        packet: Bytes::new(1500),
        events: false,
        rtt_weight: 1,
        retransmissions: Retransmissions::NewestCopy,
        sample_of: SampleOf::AcknowledgedEnd,
        base: BaseKind::Renewed,
        base_window: Duration::from_secs(600),
        throughput_counts: Counted::Wire,
        throughput_items: Acknowledged::All,
        throughput_span: Span::Interval,
        throughput_interval: Duration::from_secs(1),
        throughput_factor: 1,
        throughput_restart: Restart::Zero,
        throughput_weight: 1,
        threshold: Factor::from_thousandths(1700),
        floor: Duration::from_millis(50),
        window_samples: 10,
        window_time: None,
        windows: 3,
        samples: Samples::Smoothed,
        test: Test::FilledWindow,
        miss: Miss::Reset,
        forced_after: Some(Duration::from_secs(30)),
        forced: Forced::AtOnce,
        last_flush: LastFlush::Recorded,
        settle: Factor::from_thousandths(1000),
        flush_rtt: FlushRtt::Growing,
        growth: Factor::from_thousandths(1200),
        growth_kept: Growth::Kept,
        first_flush: FirstFlush::TwiceBase,
        clamp: Clamp::Both,
        largest_rtt: Samples::Smoothed,
        size_rtt: SizeRtt::Clamped,
        small_packet: None,
        small_window: 8,
        window_rtts: Factor::from_thousandths(1000),
        min_window: 12,
        duty: Factor::from_thousandths(300),
        small_duty: Factor::from_thousandths(30),
        margin: 6,
        top_ups: 4,
        top_up_packets: 2,
        helped: Factor::from_thousandths(125),
        max_failures: 6,
        max_cool_down: Duration::from_secs(120),
    };

    /// The thesis as its listings are printed.
    ///
    /// Deviation: where a listing cannot run as it is printed it is completed, in one way for all: the extremes of
    /// Listing 4.2 are taken anew at each pass and not of a ring that is not full yet; `root` in Listings 4.2 and
    /// 4.4 is the flow itself, which Listing 4.2 passes as `flowRoot`; `flood`, which nothing clears, is cleared
    /// when the burst has left; `lastFlood`, which nothing writes, is the flow's beginning. So, 30 s after it
    /// began, a flow is flushed at every third acknowledgement: printed so, and hardly what was run.
    pub const AS_WRITTEN: Self = Self {
        rtt_weight: 7,
        throughput_items: Acknowledged::Youngest,
        throughput_factor: 2,
        throughput_restart: Restart::LastItem,
        throughput_weight: 8,
        test: Test::EveryAck,
        miss: Miss::Decrement,
        forced: Forced::Counted,
        last_flush: LastFlush::Never,
        settle: Factor::from_thousandths(0),
        growth_kept: Growth::Lost,
        first_flush: FirstFlush::Multiplied,
        clamp: Clamp::UpperOnly,
        largest_rtt: Samples::Raw,
        size_rtt: SizeRtt::Unclamped,
        ..Self::AS_DESCRIBED
    };

    /// Ours; the default.
    ///
    /// `threshold`, `duty` and `margin` were chosen on the bed of the thesis with CUBIC (5 Mbit/s; 10, 50 and 100 ms;
    /// 50 and 100 packets). There a duty of 0.1 costs a tenth of the throughput and leaves longer queues than
    /// `as_described` in the large buffers; 0.3 costs up to a quarter and leaves shorter ones in all six cells.
    /// `threshold` 1.3 is what CUBIC's reduction to 0.7 takes back (0.7 x 1.3 = 0.91 of the pipe); Reno's
    /// reduction to a half wants more, at the price of a longer queue. All of this was found with full packets.
    /// Small ones cost a twentieth, so `small_duty` is a tenth; 0.02 or 0.05 in its place moves the mean RTT by
    /// up to 10 ms and the goodput by up to 0.05 Mbit/s, one against the other.
    pub const ADAPTIVE: Self = Self {
        method: Method::Adaptive,
        retransmissions: Retransmissions::Karn,
        base: BaseKind::SlidingMinimum,
        throughput_weight: 8,
        threshold: Factor::from_thousandths(1300),
        floor: Duration::from_millis(15),
        window_samples: 4,
        windows: 1,
        samples: Samples::Raw,
        largest_rtt: Samples::Raw,
        small_packet: Some(Bytes::new(64)),
        ..Self::AS_DESCRIBED
    };
}
