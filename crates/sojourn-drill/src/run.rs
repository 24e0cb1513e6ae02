//! Runs a script: the clock, the events in their order, and what is compared.

use crate::calls::Answer;
use crate::expr::Statement;
use crate::host::Host;
use crate::info;
use crate::matching::{self, Run};
use crate::outcome::{Failure, Outcome};
use crate::scope;
use crate::script::{Action, Call, Event, Packet, Script, When};
use crate::show::seconds;
use crate::words::Missing;
use sojourn_units::{Duration, Time};

/// When the script begins: between two ticks of the kernel's clock.
const START: Time = Time::from_nanos(500_000);
/// A run that takes longer never ends.
const LONGEST: Duration = Duration::from_secs(7 * 86_400);
/// A run in which more timers go off never ends.
const MOST_TIMERS: u32 = 1_000_000;
/// How far the time of an event may be off, if the script does not say.
const TOLERANCE: Duration = Duration::from_millis(4);

/// What ends a run early.
enum Stop {
    Failed(Failure),
    Missing(u32, Missing),
}

/// A call that waits.
struct Waiting<'a> {
    call: &'a Call,
    line: u32,
    /// When it must end, if the script says.
    ends: Option<Time>,
}

struct Runner<'a> {
    host: Host,
    now: Time,
    tolerance: Duration,
    /// Length of a tick of the timestamps, if the script has them compared.
    tick: Option<Duration>,
    waiting: Option<Waiting<'a>>,
    timers: u32,
    /// When the event before was, and whether a segment arrived.
    last: (Time, bool),
}

/// Runs a script against our TCP.
#[must_use]
pub fn run(script: &Script) -> Outcome {
    if let Some((line, missing)) = scope::first_missing(script) {
        return Outcome::NotApplicable { line, missing };
    }
    let micros = |name: &str| {
        let option = script.options.iter().rev().find(|option| option.name == name)?;
        option.value.parse().ok().map(Duration::from_micros)
    };
    let mut runner = Runner {
        host: Host::default(),
        now: START,
        tolerance: micros("tolerance_usecs").unwrap_or(TOLERANCE),
        tick: micros("tcp_ts_tick_usecs"),
        waiting: None,
        timers: 0,
        last: (START, false),
    };
    match runner.all(script) {
        Ok(()) => Outcome::Passed,
        Err(Stop::Failed(failure)) => Outcome::Failed(failure),
        Err(Stop::Missing(line, missing)) => Outcome::NotApplicable { line, missing },
    }
}

fn failed<T>(line: u32, expected: impl Into<String>, got: impl Into<String>) -> Result<T, Stop> {
    let (expected, got) = (expected.into(), got.into());
    Err(Stop::Failed(Failure { line, expected, got }))
}

impl<'a> Runner<'a> {
    fn all(&mut self, script: &'a Script) -> Result<(), Stop> {
        for event in &script.events {
            let arrives = matches!(event.action, Action::Arrives(_));
            // Segments that arrive one after the other are counted from each other.
            let base = if arrives && self.last.1 { self.last.0 } else { self.now };
            let (from, to) = match event.when {
                When::At(d) => (START + d, START + d),
                When::After(d) => (base + d, base + d),
                When::Between(a, b) => (START + a, START + b),
                When::Within(a, b) => (base + a, base + b),
                When::Any => (self.now, START + LONGEST),
            };
            self.one(event, base, from, to)?;
            self.last = (self.now, arrives);
        }
        self.finish_call()
    }

    fn one(&mut self, event: &'a Event, base: Time, from: Time, to: Time) -> Result<(), Stop> {
        let line = event.line;
        if let Action::Leaves(packet) = &event.action {
            return self.expect(packet, event, from, to);
        }
        if from + self.tolerance < self.now {
            let got = format!("it was {} s already", seconds_of(self.now));
            return failed(line, format!("the event at {} s", seconds_of(from)), got);
        }
        self.advance(from.max(self.now), line)?;
        match &event.action {
            Action::Arrives(packet) => {
                let arrived = self.host.arrive(packet, self.now);
                arrived.map_err(|missing| Stop::Missing(line, missing))?;
                self.settle()
            }
            Action::Call(call) => self.call(call, line, base),
            Action::Command(text) => {
                let done = self.host.settings.run(text);
                done.map_err(|missing| Stop::Missing(line, missing))
            }
            Action::Check(statements) => statements.iter().try_for_each(|one| self.check(one)),
            Action::Leaves(_) | Action::Foreign(_) => Ok(()),
        }
    }

    /// Lets time pass, with all that the host does by itself.
    fn advance(&mut self, to: Time, line: u32) -> Result<(), Stop> {
        while let Some(due) = self.host.timer().filter(|due| *due <= to) {
            self.fire(due, line)?;
        }
        self.now = self.now.max(to);
        Ok(())
    }

    fn fire(&mut self, due: Time, line: u32) -> Result<(), Stop> {
        self.timers += 1;
        if self.timers > MOST_TIMERS {
            return failed(line, "an end", "the script never ends: a million timers went off");
        }
        self.now = self.now.max(due);
        self.host.fire(self.now);
        self.settle()
    }

    /// How far an event at `at` may be off. Source: packetdrill's rule: an eighth of the time since the event before,
    /// if that is more.
    fn slack(&self, at: Time) -> Duration {
        self.tolerance.max(at.since(self.last.0) / 8)
    }

    // ---------------------------------------------------------------- segments

    /// The next segments that leave must be `packet`.
    fn expect(&mut self, packet: &'a Packet, event: &Event, from: Time, to: Time) -> Result<(), Stop> {
        let any = event.when == When::Any;
        let slack = if any { Duration::ZERO } else { self.slack(to) };
        let mut run = Run::default();
        while !run.is_whole(packet) {
            if let Some(left) = self.host.left.pop_front() {
                // What earlier connections still send is not what the script is about.
                if Some(left.connection) != self.host.current() {
                    continue;
                }
                if let Err(got) = run.add(left, packet) {
                    return failed(event.line, format!("{packet}"), got);
                }
                continue;
            }
            if let Some(due) = self.host.timer().filter(|due| *due <= to + slack) {
                self.fire(due, event.line)?;
                continue;
            }
            let until = if any {
                "ever".to_string()
            } else {
                format!("until {} s", seconds_of(to + slack))
            };
            let got = match run.end() {
                Some(end) => format!("no more than up to {end} came {until}"),
                None => format!("nothing came {until}"),
            };
            return failed(event.line, format!("{packet}"), got);
        }
        let at = run.at();
        let connection = &self.host.connections[run.connection()];
        let compared = matching::compare(
            packet,
            &run,
            connection,
            &self.host.settings,
            &self.host.clocks,
            self.tick,
        );
        if let Err(got) = compared {
            return failed(event.line, format!("{packet}"), got);
        }
        if !any && (at + slack < from || at > to + slack) {
            let time = if from == to {
                format!("{} s", seconds_of(from))
            } else {
                format!("{} to {} s", seconds_of(from), seconds_of(to))
            };
            let got = format!("it came at {} s", seconds_of(at));
            return failed(event.line, format!("{packet} at {time}"), got);
        }
        matching::note_clock(packet, &run, &mut self.host.clocks);
        self.now = self.now.max(at);
        Ok(())
    }

    // ---------------------------------------------------------------- calls

    fn call(&mut self, call: &'a Call, line: u32, base: Time) -> Result<(), Stop> {
        self.finish_call()?;
        let answer = self.host.call(call, false, self.now);
        let answer = answer.map_err(|missing| Stop::Missing(line, missing))?;
        let ends = call.ends.map(|after| base + after);
        if answer == Answer::Waits {
            self.waiting = Some(Waiting { call, line, ends });
            return Ok(());
        }
        self.answered(&Waiting { call, line, ends }, &answer)
    }

    /// Asks again for a call that waits.
    fn settle(&mut self) -> Result<(), Stop> {
        let Some(waiting) = self.waiting.take() else {
            return Ok(());
        };
        let answer = self.host.call(waiting.call, true, self.now);
        let answer = answer.map_err(|missing| Stop::Missing(waiting.line, missing))?;
        if answer == Answer::Waits {
            self.waiting = Some(waiting);
            return Ok(());
        }
        self.answered(&waiting, &answer)
    }

    /// A call that waits must end now, or when the script says.
    fn finish_call(&mut self) -> Result<(), Stop> {
        let Some(waiting) = &self.waiting else {
            return Ok(());
        };
        let (line, name) = (waiting.line, waiting.call.name.clone());
        if let Some(ends) = waiting.ends {
            self.advance(ends + self.tolerance, line)?;
        }
        if self.waiting.is_some() {
            return failed(line, format!("an answer of {name}"), "it still waits");
        }
        Ok(())
    }

    fn answered(&self, waiting: &Waiting<'_>, answer: &Answer) -> Result<(), Stop> {
        let (call, line) = (waiting.call, waiting.line);
        let (got, right) = match answer {
            Answer::Done(n) => (n.to_string(), call.result.is_none_or(|result| result == *n)),
            Answer::Error(name) => {
                let named = call.error.as_deref().is_none_or(|error| error == *name);
                (
                    format!("-1 {name}"),
                    named && call.result.is_none_or(|result| result == -1),
                )
            }
            Answer::Filled(got) => return failed(line, format!("what {} fills", call.name), got.clone()),
            Answer::Waits => ("nothing".into(), false),
        };
        if !right {
            let result = call.result.map_or_else(|| "...".into(), |n| n.to_string());
            let error = call
                .error
                .as_ref()
                .map_or_else(String::new, |error| format!(" {error}"));
            return failed(
                line,
                format!("{} = {result}{error}", call.name),
                format!("it answered {got}"),
            );
        }
        if let Some(ends) = waiting.ends
            && (self.now + self.slack(ends) < ends || self.now > ends + self.slack(ends))
        {
            let got = format!("it ended at {} s", seconds_of(self.now));
            return failed(line, format!("the end of {} at {} s", call.name, seconds_of(ends)), got);
        }
        Ok(())
    }

    // ---------------------------------------------------------------- assertions

    fn check(&self, statement: &Statement) -> Result<(), Stop> {
        let connection = self.host.current().map(|i| &self.host.connections[i]);
        let name = |word: &str| info::value(word, connection, self.now);
        match statement.condition.value(&name) {
            Ok(value) if value.is_true() => Ok(()),
            Ok(_) => {
                let mut values = Vec::new();
                statement.condition.each_name(&mut |word| {
                    if word.starts_with("tcpi_")
                        && let Some(value) = name(word)
                    {
                        values.push(format!("{word} is {value}"));
                    }
                });
                failed(statement.line, &*statement.text, values.join(" and "))
            }
            Err(got) => failed(statement.line, &*statement.text, got),
        }
    }
}

/// Seconds since the script began.
fn seconds_of(at: Time) -> String {
    seconds(Time::ZERO + at.since(START))
}
