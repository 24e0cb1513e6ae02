//! Our TCP as a target: the host under test, and its clock.

use crate::host::Host;
use crate::info;
use crate::matching::{self, Run};
use crate::scope;
use crate::script::{Call, Packet, Script};
use crate::target::{Answer, Taken, Target, Trouble};
use crate::value::Scalar;
use crate::words::{Missing, unknown};
use sojourn_units::{Duration, Time};

/// When the script begins: between two ticks of the kernel's clock.
const START: Time = Time::from_nanos(500_000);
/// A run that takes longer never ends.
const LONGEST: Duration = Duration::from_secs(7 * 86_400);

/// Our TCP, and its clock.
#[derive(Debug)]
pub(crate) struct Ours {
    host: Host,
    now: Time,
    /// What has left of the segment that the script expects.
    run: Run,
}

impl Ours {
    /// For a script, whose options tell of the peer.
    pub(crate) fn of(script: &Script) -> Self {
        let mss = script.options.iter().rev().find(|option| option.name == "mss");
        let mut host = Host::default();
        host.settings.parts = mss.and_then(|option| option.value.parse().ok()).filter(|mss| *mss > 0);
        Self {
            host,
            now: START,
            run: Run::default(),
        }
    }
}

impl Target for Ours {
    fn first_missing(&self, script: &Script) -> Option<(u32, Missing)> {
        scope::first_missing(script)
    }

    fn now(&self) -> Time {
        self.now
    }

    fn begin(&mut self) -> Result<Time, Trouble> {
        Ok(self.now)
    }

    fn patience(&self) -> Duration {
        LONGEST
    }

    fn step(&mut self, to: Time) -> Result<bool, Trouble> {
        let Some(due) = self.host.timer().filter(|due| *due <= to) else {
            self.now = self.now.max(to);
            return Ok(false);
        };
        self.now = self.now.max(due);
        self.host.fire(self.now);
        Ok(true)
    }

    fn arrive(&mut self, packet: &Packet) -> Result<(), Trouble> {
        Ok(self.host.arrive(packet, self.now)?)
    }

    fn arrive_foreign(&mut self, word: &str, _: &str) -> Result<(), Trouble> {
        Err(unknown("packet", word).into())
    }

    fn take(&mut self, expected: &Packet, tick: Option<Duration>) -> Taken {
        while !self.run.is_whole(expected) {
            let Some(left) = self.host.left.pop_front() else {
                return self.run.end().map_or(Taken::Nothing, Taken::Part);
            };
            // What earlier connections still send is not what the script is about.
            if Some(left.connection) != self.host.current() {
                continue;
            }
            if let Err(got) = self.run.add(left, expected) {
                return Taken::Other(got);
            }
        }
        let run = std::mem::take(&mut self.run);
        let connection = &mut self.host.connections[run.connection()];
        if expected.has('S') {
            connection.begins[0].get_or_insert(expected.start);
        }
        let connection = &*connection;
        let clocks = &mut self.host.clocks;
        if let Err(got) = matching::compare(expected, &run, connection, &self.host.settings, clocks, tick) {
            return Taken::Other(got);
        }
        matching::note_clock(expected, &run, clocks);
        Taken::Whole(run.at())
    }

    fn call(&mut self, call: &Call, again: bool) -> Result<Answer, Trouble> {
        Ok(self.host.call(call, again, self.now)?)
    }

    fn command(&mut self, text: &str) -> Result<(), Trouble> {
        self.host.command(text)
    }

    fn value(&self, name: &str) -> Option<Scalar> {
        let connection = self.host.current().map(|i| &self.host.connections[i]);
        info::value(name, connection, self.now)
    }
}
