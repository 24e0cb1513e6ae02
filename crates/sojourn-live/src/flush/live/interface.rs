//! An interface that may vanish and come back.

use super::super::source::Source;
use std::time::{Duration, Instant};

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The interface, open or not. While it is gone it is tried again after 0.5, 1, 2 ... 30 s.
pub(super) struct Interface {
    name: String,
    promiscuous: bool,
    source: Option<Source>,
    retry: Option<Instant>,
    pause: Duration,
    opened: u64,
    /// Frames dropped by the kernel: of captures before this one, and of this one when it was last asked.
    dropped_before: u64,
    dropped: u64,
}

impl Interface {
    pub(super) fn new(name: String, promiscuous: bool, source: Source) -> Self {
        Self {
            name,
            promiscuous,
            source: Some(source),
            retry: None,
            pause: FIRST_PAUSE,
            opened: 1,
            dropped_before: 0,
            dropped: 0,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
    pub(super) const fn is_open(&self) -> bool {
        self.source.is_some()
    }
    pub(super) const fn source(&mut self) -> Option<&mut Source> {
        self.source.as_mut()
    }
    pub(super) const fn opened(&self) -> u64 {
        self.opened
    }
    pub(super) const fn pause(&self) -> Duration {
        self.pause
    }

    /// It gave an error.
    pub(super) fn lost(&mut self, now: Instant) {
        self.dropped_before += self.dropped;
        self.dropped = 0;
        self.source = None;
        self.pause = FIRST_PAUSE;
        self.retry = Some(now + self.pause);
    }

    /// Whether it is time to try again.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.source.is_none() && self.retry.is_some_and(|at| now >= at)
    }

    /// Tries again; after an error the next pause is twice as long.
    pub(super) fn reopen(&mut self, now: Instant) -> Result<(), String> {
        match Source::open(&self.name, self.promiscuous) {
            Ok(source) => {
                self.source = Some(source);
                self.opened += 1;
                Ok(())
            }
            Err(why) => {
                self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                self.retry = Some(now + self.pause);
                Err(why)
            }
        }
    }

    /// Frames dropped by the kernel so far.
    pub(super) fn dropped(&mut self) -> u64 {
        if let Some(source) = &mut self.source {
            self.dropped = source.dropped();
        }
        self.last_dropped()
    }

    /// The same, as of when it was last asked.
    pub(super) const fn last_dropped(&self) -> u64 {
        self.dropped_before + self.dropped
    }
}
