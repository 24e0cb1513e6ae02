//! When to flush, after the thesis. Source: seed 003, Listing 4.2 and section 4.5.1.

use crate::{FlusherParams, Forced, LastFlush, Miss, Test};
use sojourn_units::{Duration, Rate, Time};
use std::collections::VecDeque;

/// The windows of one flow.
#[derive(Debug)]
pub(crate) struct Detector {
    window: VecDeque<(Duration, Option<Rate>)>,
    /// Windows above the trigger.
    count: u32,
    above: bool,
    last_flush: Time,
}

/// What a sample led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The window was tested.
    pub(crate) tested: Option<Tested>,
    /// A flush is due.
    pub(crate) due: Option<Due>,
}

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tested {
    pub(crate) least: Duration,
    pub(crate) count: u32,
}

/// A flush that is due, with the extremes of the window that it is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    /// The least RTT, if it is above the trigger; else the flush is forced.
    pub(crate) above: Option<Duration>,
    pub(crate) max_rtt: Duration,
    pub(crate) max_throughput: Option<Rate>,
}

/// What the least RTT of a window must exceed. Source: section 4.5.1; contradiction flu-x-30.
pub(crate) fn trigger(base: Duration, params: &FlusherParams) -> Duration {
    params.threshold.of(base).max(params.floor)
}

impl Detector {
    pub(crate) const fn new(now: Time) -> Self {
        Self {
            window: VecDeque::new(),
            count: 0,
            above: false,
            last_flush: now,
        }
    }

    /// Whether the window tested last stood above the trigger.
    pub(crate) const fn above(&self) -> bool {
        self.above
    }

    /// A flush is under way: the sample does not count. Source: section 4.5.1, "the counter is set to 0".
    pub(crate) fn on_sample_during_flush(&mut self, params: &FlusherParams) {
        if params.test == Test::FilledWindow {
            self.window.clear();
        }
    }

    /// Takes a sample: its RTT and the throughput at its time.
    pub(crate) fn on_sample(
        &mut self,
        rtt: Duration,
        throughput: Option<Rate>,
        base: Duration,
        now: Time,
        params: &FlusherParams,
    ) -> Finding {
        let size = params.window_samples as usize;
        if self.window.len() == size {
            self.window.pop_front();
        }
        self.window.push_back((rtt, throughput));
        let full = self.window.len() == size;
        let overdue = params
            .forced_after
            .is_some_and(|after| now.since(self.last_flush) > after);
        let mut finding = Finding::default();
        let mut due = overdue && params.forced == Forced::AtOnce;
        if params.test == Test::EveryAck || full {
            let least = self.window.iter().map(|(rtt, _)| *rtt).min().unwrap_or(rtt);
            self.above = full && least > trigger(base, params);
            if self.above || overdue && params.forced == Forced::Counted {
                self.count += 1;
            } else {
                self.count = match params.miss {
                    Miss::Reset => 0,
                    Miss::Decrement => self.count.saturating_sub(1),
                };
            }
            finding.tested = Some(Tested {
                least,
                count: self.count,
            });
            due |= self.count >= params.windows;
        }
        if due {
            let least = self.window.iter().map(|(rtt, _)| *rtt).min();
            finding.due = Some(Due {
                above: least.filter(|_| self.above && finding.tested.is_some() && self.count >= params.windows),
                max_rtt: self.window.iter().map(|(rtt, _)| *rtt).max().unwrap_or(rtt),
                max_throughput: self.window.iter().filter_map(|(_, rate)| *rate).max(),
            });
            self.count = 0;
        }
        if full && params.test == Test::FilledWindow {
            self.window.clear();
        }
        finding
    }

    /// A flush was proposed for this flow, or has left.
    pub(crate) fn flushed(&mut self, now: Time, params: &FlusherParams) {
        if params.last_flush == LastFlush::Recorded {
            self.last_flush = now;
        }
    }
}
