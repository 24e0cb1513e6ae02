//! For tests: a window and a rate that stay as they are.

use super::{Ack, CongestionControl, Listed, Needs, RateSample, Window};
use crate::variant::Variant;

/// The window it begins with, and the last sample.
#[derive(Clone, Debug)]
pub struct Fixed {
    rate: u64,
    pub(crate) last: Option<RateSample>,
}

/// What may be set on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FixedParams {
    /// Bytes in a second.
    pub rate: u64,
}

impl Listed for Fixed {
    const NAME: &'static str = "fixed";
    const NEEDS: Needs = Needs {
        samples: true,
        steers: true,
        pacing: true,
        ..Needs::NONE
    };
    type Params = FixedParams;

    fn new(params: &FixedParams, _: Variant) -> Self {
        Self {
            rate: params.rate,
            last: None,
        }
    }
}

impl CongestionControl for Fixed {
    fn grow(&mut self, _: &Ack, _: &mut Window) {}

    fn reduce(&mut self, window: &Window) -> u32 {
        window.cwnd
    }

    fn on_sample(&mut self, _: &Ack, sample: &RateSample, _: &mut Window) {
        self.last = Some(*sample);
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.rate)
    }
}
