//! Fades: times in which a link loses more than it usually does, as a Gilbert-Elliott channel has them.

use crate::WifiError;
use sojourn_units::{Duration, Stream, Time};

/// Fades of the link between a station and the access point.
///
/// The link is in one of two states, good or faded, for exponential times: a Markov chain in continuous time. It is
/// faded for `length / (length + gap)` of the time. Both directions fade together.
///
/// Source: E. N. Gilbert, Capacity of a burst-noise channel, Bell System Technical Journal 39 (1960); E. O. Elliott,
/// Estimates of error rates for codes on burst-noise channels, ibid. 42 (1963).
///
/// Deviation: theirs has a step for each symbol; here states last for times, so that they do not depend on what is
/// sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FadeSpec {
    /// Mean length of a fade, 100 us to an hour.
    pub length: Duration,
    /// Mean time from the end of a fade to the start of the next, 100 us to an hour.
    pub gap: Duration,
    /// The chance that an MPDU is lost in a fade, above 0 and up to 1, in the place of the link's own.
    pub error: f64,
}

/// The shortest mean: less than a frame exchange has no meaning, and each change of state costs a draw.
const SHORTEST: Duration = Duration::from_micros(100);
const LONGEST: Duration = Duration::from_secs(3600);

impl FadeSpec {
    /// Checks the fades of `who`; fields are named as in scenarios: `fade`, `fade_gap`, `fade_error`.
    ///
    /// # Errors
    /// [`WifiError`] for the first value that breaks its rule.
    pub fn validate(&self, who: &str) -> Result<(), WifiError> {
        for (field, time) in [("fade", self.length), ("fade_gap", self.gap)] {
            WifiError::unless_in(SHORTEST..=LONGEST, who, field, time, "100us to 3600s")?;
        }
        if !(self.error > 0.0 && self.error <= 1.0) {
            let rule = "above 0 and up to 1";
            return Err(WifiError::new(who, "fade_error", self.error.to_string(), rule));
        }
        Ok(())
    }
}

/// The state of a link that fades, followed as time goes on.
#[derive(Clone, Debug)]
pub(crate) struct Fading {
    spec: FadeSpec,
    stream: Stream,
    faded: bool,
    /// When the state changes next.
    until: Time,
}

impl Fading {
    /// From time zero on, in the states' long-run shares, by the stream of `name`.
    ///
    /// What is left of an exponential time is distributed as all of it, so the first state needs no special length.
    pub(crate) fn new(spec: FadeSpec, seed: u64, name: &str) -> Self {
        let mut stream = Stream::named(seed, name);
        let share = spec.length.as_secs_f64() / (spec.length.as_secs_f64() + spec.gap.as_secs_f64());
        let faded = stream.unit() < share;
        let until = Time::ZERO + stream.exponential(if faded { spec.length } else { spec.gap });
        Self {
            spec,
            stream,
            faded,
            until,
        }
    }

    /// The chance that an MPDU is lost at `now`, if the link is faded then. A state ends before the nanosecond at
    /// which the next begins. `now` must not be before that of an earlier call; when and how often this is called
    /// changes no state.
    pub(crate) fn error(&mut self, now: Time) -> Option<f64> {
        while self.until <= now {
            self.faded = !self.faded;
            let mean = if self.faded { self.spec.length } else { self.spec.gap };
            self.until += self.stream.exponential(mean);
        }
        self.faded.then_some(self.spec.error)
    }
}

#[cfg(test)]
mod tests;
