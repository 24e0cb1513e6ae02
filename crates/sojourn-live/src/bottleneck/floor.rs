//! The floor: how late the machine wakes a thread that does nothing else.
//!
//! It runs beside the bottleneck in the same process, under the same scheduling policy and priority, and sleeps until
//! a time again and again (`clock_nanosleep`, absolute, on the monotonic clock). How late it wakes up is the
//! machine's and the kernel's doing alone; what departures are late beyond it is the bottleneck's.

use super::engine::monotonic_ns;
use super::lateness::{Lateness, Punctuality};
use nix::errno::Errno;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};
use sojourn_units::Duration;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

const SECOND: i64 = 1_000_000_000;

/// A thread that wakes up again and again.
#[derive(Debug)]
pub struct Floor {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Lateness>,
}

impl Floor {
    /// Lets it wake up every `interval`, from an interval from now on.
    ///
    /// # Errors
    /// If there cannot be another thread.
    pub fn start(interval: Duration) -> io::Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        let thread = std::thread::Builder::new()
            .name("floor".into())
            .spawn(move || watch(interval, &told))?;
        Ok(Self { over, thread })
    }

    /// Ends it: how late it was each time.
    ///
    /// # Errors
    /// If its thread panicked.
    pub fn stop(self) -> io::Result<Punctuality> {
        self.over.store(true, Ordering::Relaxed);
        let lateness = self
            .thread
            .join()
            .map_err(|_| io::Error::other("the floor's thread panicked"))?;
        Ok(lateness.punctuality())
    }
}

fn watch(interval: Duration, over: &AtomicBool) -> Lateness {
    // As the bottleneck's own thread.
    let _ = rustix::process::setpriority_process(None, -20);
    let interval = interval.as_nanos().cast_signed();
    let mut lateness = Lateness::default();
    let mut due = monotonic_ns() + interval;
    while !over.load(Ordering::Relaxed) {
        let until = TimeSpec::new(due / SECOND, due % SECOND);
        let absolute = ClockNanosleepFlags::TIMER_ABSTIME;
        while clock_nanosleep(ClockId::CLOCK_MONOTONIC, absolute, &until) == Err(Errno::EINTR) {}
        // Like departures: what fell due while the machine did other things is late each by its own time.
        let now = monotonic_ns();
        while due <= now {
            lateness.add(Duration::from_nanos((now - due).cast_unsigned()));
            due += interval;
        }
    }
    lateness
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_wakes_up_as_often_as_the_time_allows_and_never_early() {
        let begun = monotonic_ns();
        let floor = Floor::start(Duration::from_millis(2)).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
        let told = floor.stop().unwrap();
        let most = (monotonic_ns() - begun) / 2_000_000;
        assert!(told.packets >= 1 && told.packets.cast_signed() <= most, "{told:?}");
        assert!(told.p50_us > 0.0 && told.max_us >= told.p50_us, "{told:?}");
    }
}
