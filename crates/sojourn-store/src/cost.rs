//! What a run costs: wall-clock time and memory, for the record alone.

/// The wall clock: for the cost that a record reports, never for the simulation.
#[derive(Debug)]
pub struct Clock(std::time::Instant);

impl Clock {
    /// A clock that starts now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the cost of a run is measured in real time")]
    pub fn start() -> Self {
        Self(std::time::Instant::now())
    }

    /// Since its start, s.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Peak resident memory of this process in MB (10^6 bytes), as Linux tells it; 0 where it cannot be asked.
#[must_use]
pub fn peak_rss_mb() -> f64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
            let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
            Some(kib * 1024.0 / 1e6)
        })
        .unwrap_or(0.0)
}
