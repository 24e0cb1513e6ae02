//! When the daemon looks: it reads frames in a loop, and between two looks it sleeps or waits.

use sojourn_flusher::Segment;
use sojourn_flusher::rhythm::{GATHER, MARGIN, WAIT};
use sojourn_units::{Duration, Time};
use std::collections::VecDeque;

/// How much later the kernel wakes a program that sleeps. Source: Linux `timer_slack_ns`.
const SLACK: Duration = Duration::from_micros(50);

/// Where the loop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It waits for a frame, until this time at the latest.
    Wait(Time),
    /// It sleeps, and frames gather.
    Gather(Time),
    /// It hands over what its socket takes; whether it has read a frame since it woke up.
    Pump(bool),
    /// It reads frames.
    Look(bool),
}

/// What it does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Hands over a packet of the burst that is leaving, if the socket takes it.
    Pump,
    /// Handles this frame, which was stamped then.
    Frame(Segment, Time),
    /// Does what has fallen due by then.
    Due(Time),
    /// Nothing, before it wakes up.
    Sleep,
}

/// The loop of `sojournd flush`. Decisions go by the stamps of the frames and do not change by it; bursts that a
/// frame begins leave later by up to [`GATHER`], and what falls due without one by [`MARGIN`].
#[derive(Clone, Debug)]
pub(crate) struct Daemon {
    phase: Phase,
    frames: VecDeque<(Segment, Time)>,
}

impl Default for Daemon {
    fn default() -> Self {
        Self {
            phase: Phase::Wait(Time::ZERO),
            frames: VecDeque::new(),
        }
    }
}

impl Daemon {
    /// A frame comes; it is read at the next look.
    pub(crate) fn sees(&mut self, segment: Segment, at: Time) {
        self.frames.push_back((segment, at));
    }

    /// The next step at `now`, if the next thing to happen without a frame falls due at `due`.
    pub(crate) fn step(&mut self, now: Time, due: Option<Time>) -> Step {
        match self.phase {
            Phase::Wait(until) if until <= now || !self.frames.is_empty() => self.phase = Phase::Pump(false),
            Phase::Gather(until) if until <= now => self.phase = Phase::Pump(false),
            Phase::Wait(_) | Phase::Gather(_) => return Step::Sleep,
            Phase::Pump(_) | Phase::Look(_) => {}
        }
        if let Phase::Pump(_) = self.phase {
            return Step::Pump;
        }
        let Phase::Look(read) = self.phase else {
            return Step::Sleep;
        };
        if let Some((segment, at)) = self.frames.pop_front() {
            self.phase = Phase::Look(true);
            return Step::Frame(segment, at);
        }
        if due.is_some_and(|due| due + MARGIN <= now) {
            self.phase = Phase::Pump(false);
            return Step::Due(now - MARGIN);
        }
        let until = |pause: Duration| due.map_or(now + pause, |due| (due + MARGIN).min(now + pause)) + SLACK;
        self.phase = if read {
            Phase::Gather(until(GATHER))
        } else {
            Phase::Wait(until(WAIT))
        };
        Step::Sleep
    }

    /// The socket took all, or no more: it goes on reading.
    pub(crate) fn pumped(&mut self) {
        if let Phase::Pump(read) = self.phase {
            self.phase = Phase::Look(read);
        }
    }

    /// A frame began a burst, which is handed over before the next frame is read.
    pub(crate) fn begins_burst(&mut self) {
        if let Phase::Look(read) = self.phase {
            self.phase = Phase::Pump(read);
        }
    }

    /// When it wakes up, if something depends on it: `awaited` says that a burst waits, or something falls due.
    pub(crate) fn wakes(&self, awaited: bool, now: Time) -> Option<Time> {
        match self.phase {
            Phase::Wait(_) if !self.frames.is_empty() => Some(now),
            Phase::Wait(until) => awaited.then_some(until),
            Phase::Gather(until) => Some(until),
            Phase::Pump(_) | Phase::Look(_) => Some(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, SocketAddr};

    fn frame() -> Segment {
        let end = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        Segment {
            src: end,
            dst: end,
            seq: 1,
            ack: 1,
            flags: sojourn_flusher::Flags::default(),
            payload: 0,
            wire: 52,
            timestamps: None,
            window: 0,
            sack: false,
            station: None,
        }
    }

    /// What it does at these times, in microseconds, and when it wakes up then.
    fn steps(daemon: &mut Daemon, us: u64, leaving: bool) -> (Vec<&'static str>, Option<u64>) {
        steps_due(daemon, us, leaving, None)
    }

    fn steps_due(daemon: &mut Daemon, us: u64, awaited: bool, due: Option<u64>) -> (Vec<&'static str>, Option<u64>) {
        let mut due = due.map(|us| Time::from_nanos(us * 1000));
        let now = Time::from_nanos(us * 1000);
        let mut done = Vec::new();
        loop {
            match daemon.step(now, due) {
                Step::Pump => {
                    done.push("pump");
                    daemon.pumped();
                }
                Step::Frame(..) => done.push("frame"),
                Step::Due(until) => {
                    assert!(due.take().is_some_and(|due| due <= until));
                    done.push("due");
                }
                Step::Sleep => break,
            }
        }
        (done, daemon.wakes(awaited, now).map(|at| at.as_nanos() / 1000))
    }

    #[test]
    fn a_frame_wakes_it_and_the_next_ones_gather_for_two_milliseconds() {
        let mut daemon = Daemon::default();
        daemon.sees(frame(), Time::from_nanos(500_000));
        assert_eq!(steps(&mut daemon, 500, false), (vec!["pump", "frame"], Some(2550)));
        daemon.sees(frame(), Time::from_millis(1));
        daemon.sees(frame(), Time::from_millis(2));
        assert_eq!(steps(&mut daemon, 2000, false), (vec![], Some(2550)));
        assert_eq!(
            steps(&mut daemon, 2550, false),
            (vec!["pump", "frame", "frame"], Some(4600))
        );
        // Nothing has come: it waits, and nobody cares unless a burst is leaving.
        assert_eq!(steps(&mut daemon, 4600, true), (vec!["pump"], Some(14_650)));
        assert_eq!(daemon.wakes(false, Time::from_millis(5)), None);
        assert_eq!(steps(&mut daemon, 14_650, true), (vec!["pump"], Some(24_700)));
    }

    #[test]
    fn it_wakes_up_for_what_falls_due_and_reads_what_has_come_before() {
        let mut daemon = Daemon::default();
        daemon.sees(frame(), Time::ZERO);
        // 200 us after it fell due, and 50 us of the kernel's.
        assert_eq!(
            steps_due(&mut daemon, 0, true, Some(1000)),
            (vec!["pump", "frame"], Some(1250))
        );
        daemon.sees(frame(), Time::from_nanos(900_000));
        let (done, next) = steps_due(&mut daemon, 1250, true, Some(1000));
        assert_eq!((done, next), (vec!["pump", "frame", "due", "pump"], Some(11_300)));
        // What is due later than the next look waits for that.
        assert_eq!(steps_due(&mut daemon, 11_300, true, Some(90_000)).1, Some(21_350));
    }

    #[test]
    fn a_burst_leaves_before_the_next_frame_is_read() {
        let mut daemon = Daemon::default();
        daemon.sees(frame(), Time::ZERO);
        daemon.sees(frame(), Time::ZERO);
        assert_eq!(daemon.step(Time::ZERO, None), Step::Pump);
        daemon.pumped();
        assert!(matches!(daemon.step(Time::ZERO, None), Step::Frame(..)));
        daemon.begins_burst();
        assert_eq!(steps(&mut daemon, 0, true).0, ["pump", "frame"]);
    }
}
