//! What a script is run against: our TCP, or a kernel.
//!
//! The runner has the order of events, their times and the comparison of answers. A target has the rest: it carries
//! segments and calls, lets time pass, and compares what has left, because only it knows which numbers are which.

use crate::script::{Call, Packet, Script};
use crate::value::Scalar;
use crate::words::Missing;
use sojourn_units::{Duration, Time};
use std::borrow::Cow;

/// What a call answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A number.
    Done(i64),
    /// An error, by its name.
    Error(Cow<'static, str>),
    /// Nothing yet: it waits.
    Waits,
    /// An argument that the call fills has another value than the script expects; a clause that says so.
    Filled(String),
}

/// What has left, compared with the segment that a script expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Nothing yet.
    Nothing,
    /// A beginning of it, up to this sequence number.
    Part(u64),
    /// All of it, and when its last part left.
    Whole(Time),
    /// Something else: a clause that says what.
    Other(String),
}

/// Why a target cannot do what a script asks of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It has nothing for a word of the script. The script is not applicable.
    Missing(Missing),
    /// It did, and the result is wrong: a clause that says how. The script fails.
    Wrong(String),
}

impl From<Missing> for Trouble {
    fn from(missing: Missing) -> Self {
        Self::Missing(missing)
    }
}

/// What a script is run against.
pub trait Target {
    /// The first thing that the script needs and this does not have, with its line. It is asked before the script runs.
    fn first_missing(&self, script: &Script) -> Option<(u32, Missing)>;

    /// Which time it is.
    fn now(&self) -> Time;

    /// The script begins, after the commands that stand before it. Answers when.
    ///
    /// # Errors
    /// A clause, if it cannot begin.
    fn begin(&mut self) -> Result<Time, Trouble>;

    /// How long the runner waits for an event that may come at any time.
    fn patience(&self) -> Duration;

    /// Lets time pass until something happens, at the latest until `to`. Answers whether something happened.
    ///
    /// # Errors
    /// A clause, if time cannot pass.
    fn step(&mut self, to: Time) -> Result<bool, Trouble>;

    /// A segment arrives.
    ///
    /// # Errors
    /// If it has nothing for the segment.
    fn arrive(&mut self, packet: &Packet) -> Result<(), Trouble>;

    /// A packet that is no TCP segment arrives: the rest of its line. It is known not to be missing.
    ///
    /// # Errors
    /// If it has nothing for the packet.
    fn arrive_foreign(&mut self, word: &str, rest: &str) -> Result<(), Trouble>;

    /// Takes what has left, up to all of the segment that the script expects. `tick` is the length of a tick of the
    /// script's timestamps, if they are to be compared.
    fn take(&mut self, expected: &Packet, tick: Option<Duration>) -> Taken;

    /// The application calls, or asks again after [`Answer::Waits`].
    ///
    /// # Errors
    /// If it has nothing for the call.
    fn call(&mut self, call: &Call, again: bool) -> Result<Answer, Trouble>;

    /// Runs the commands of a script.
    ///
    /// # Errors
    /// If it has nothing for one of them, or one fails.
    fn command(&mut self, text: &str) -> Result<(), Trouble>;

    /// The value of a name of an assertion, such as `tcpi_rtt`.
    fn value(&self, name: &str) -> Option<Scalar>;
}
