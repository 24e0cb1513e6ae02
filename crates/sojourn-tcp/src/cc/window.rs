//! The congestion window and its slow-start threshold.

/// How large a window slow start makes. Without a bound it is larger than any with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Threshold {
    /// So many segments.
    Segments(u32),
    /// There has been no congestion yet.
    Unbounded,
}

impl Threshold {
    /// The segments; `None` without a bound.
    #[must_use]
    pub const fn segments(self) -> Option<u32> {
        match self {
            Self::Segments(n) => Some(n),
            Self::Unbounded => None,
        }
    }

    /// Whether a window of `cwnd` segments is below it.
    #[inline]
    #[must_use]
    pub fn is_above(self, cwnd: u32) -> bool {
        self > Self::Segments(cwnd)
    }
}

/// The window that a controller steers, in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u32,
    /// Slow-start threshold.
    pub ssthresh: Threshold,
    /// Segments acknowledged towards the next increase in congestion avoidance.
    pub credit: u32,
}

impl Window {
    /// Whether slow start applies (RFC 5681 section 3.1).
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.ssthresh.is_above(self.cwnd)
    }

    /// Slow start is over.
    pub fn leave_slow_start(&mut self) {
        self.ssthresh = Threshold::Segments(self.cwnd);
    }

    /// One segment for each acknowledged, up to the threshold; answers how many acknowledged are left over.
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let grown = self.cwnd.saturating_add(acked);
        let cwnd = self.ssthresh.segments().map_or(grown, |most| grown.min(most));
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd;
        left
    }

    /// One segment for every `per_segment` acknowledged.
    pub fn additive_increase(&mut self, per_segment: u32, acked: u32) {
        if self.credit >= per_segment {
            self.credit = 0;
            self.cwnd += 1;
        }
        self.credit += acked;
        if self.credit >= per_segment {
            let n = self.credit / per_segment;
            self.credit -= n * per_segment;
            self.cwnd += n;
        }
    }
}
