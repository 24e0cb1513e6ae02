//! Runs a script: the clock, the events in their order, and what is compared.

use crate::expr::{Act, Expr, Names, Statement};
use crate::ours::Ours;
use crate::outcome::{Failure, Outcome, Run};
use crate::script::{Action, Call, Event, Packet, Script, When};
use crate::show::seconds;
use crate::target::{Answer, Taken, Target, Trouble};
use crate::value::Scalar;
use sojourn_units::{Duration, Time};

/// A run in which more happens never ends.
const MOST_STEPS: u32 = 1_000_000;
/// How far the time of an event may be off, if the script does not say.
const TOLERANCE: Duration = Duration::from_millis(4);

/// The most that is told of what a script prints: texts, and characters of each.
const MOST_PRINTED: (usize, usize) = (100, 1000);

/// What ends a run early: any outcome but that it passed.
type Stop = Outcome;

/// A call that waits.
struct Waiting<'a> {
    call: &'a Call,
    line: u32,
    began: Time,
    /// When it must end, if the script says.
    ends: Option<Time>,
}

impl Waiting<'_> {
    /// How far its end may be off. Source: packetdrill's rule: an eighth of how long it should take, if that is more.
    fn slack(&self, tolerance: Duration) -> Duration {
        let length = self
            .ends
            .map_or(Duration::ZERO, |ends| ends.since(self.began.min(ends)));
        tolerance.max(length / 8)
    }
}

struct Runner<'a, T> {
    target: T,
    start: Time,
    tolerance: Duration,
    /// Length of a tick of the timestamps, if the script has them compared.
    tick: Option<Duration>,
    waiting: Option<Waiting<'a>>,
    steps: u32,
    /// When the event before was, and whether a segment arrived.
    last: (Time, bool),
    /// Names that the script has given.
    names: Names,
    printed: Vec<(u32, String)>,
}

/// Runs a script against our TCP.
#[must_use]
pub fn run(script: &Script) -> Run {
    run_on(script, Ours::of(script))
}

/// Runs a script against `target`.
#[must_use]
pub fn run_on(script: &Script, target: impl Target) -> Run {
    if let Some((line, missing)) = target.first_missing(script) {
        let (outcome, printed) = (Outcome::NotApplicable { line, missing }, Vec::new());
        return Run { outcome, printed };
    }
    let micros = |name: &str| {
        let option = script.options.iter().rev().find(|option| option.name == name)?;
        option.value.parse().ok().map(Duration::from_micros)
    };
    let start = target.now();
    let mut runner = Runner {
        target,
        start,
        tolerance: micros("tolerance_usecs").unwrap_or(TOLERANCE),
        tick: micros("tcp_ts_tick_usecs"),
        waiting: None,
        steps: 0,
        last: (start, false),
        names: Names::new(),
        printed: Vec::new(),
    };
    let outcome = runner.all(script).err().unwrap_or(Outcome::Passed);
    let printed = runner.printed;
    Run { outcome, printed }
}

/// The beginning of a text of a script.
fn cut(text: &str) -> String {
    text.chars().take(MOST_PRINTED.1).collect()
}

fn failed<T>(line: u32, expected: impl Into<String>, got: impl Into<String>) -> Result<T, Stop> {
    let (expected, got) = (expected.into(), got.into());
    Err(Stop::Failed(Failure { line, expected, got }))
}

/// What a target could not do is told of `line`, where the script expects `expected`.
fn stop(line: u32, expected: impl Into<String>) -> impl FnOnce(Trouble) -> Stop {
    move |trouble| match trouble {
        Trouble::Missing(missing) => Stop::NotApplicable { line, missing },
        Trouble::Wrong(got) => Stop::Failed(Failure {
            line,
            expected: expected.into(),
            got,
        }),
    }
}

impl<'a, T: Target> Runner<'a, T> {
    fn all(&mut self, script: &'a Script) -> Result<(), Stop> {
        // The commands before all other events are run before the script begins, as in packetdrill.
        let is_early =
            |event: &&Event| matches!(event.action, Action::Command(_)) && event.when == When::After(Duration::ZERO);
        let early = script.events.iter().take_while(is_early).count();
        let (commands, events) = script.events.split_at(early);
        for event in commands {
            self.action(event, self.start)?;
        }
        let line = events.first().map_or(1, |event| event.line);
        self.start = self.target.begin().map_err(stop(line, "the script to begin"))?;
        self.last = (self.start, false);
        for event in events {
            let arrives = matches!(event.action, Action::Arrives(_));
            // Segments that arrive one after the other are counted from each other.
            let base = if arrives && self.last.1 {
                self.last.0
            } else {
                self.target.now()
            };
            let (from, to) = match event.when {
                When::At(d) => (self.start + d, self.start + d),
                When::After(d) => (base + d, base + d),
                When::Between(a, b) => (self.start + a, self.start + b),
                When::Within(a, b) => (base + a, base + b),
                When::Any => (self.target.now(), self.start + self.target.patience()),
            };
            self.one(event, base, from, to)?;
            self.last = (self.target.now(), arrives);
        }
        self.finish_call()
    }

    fn one(&mut self, event: &'a Event, base: Time, from: Time, to: Time) -> Result<(), Stop> {
        let line = event.line;
        if let Action::Leaves(packet) = &event.action {
            return self.expect(packet, event, from, to);
        }
        if from + self.tolerance < self.target.now() {
            let got = format!("it was {} s already", self.seconds_of(self.target.now()));
            return failed(line, format!("the event at {} s", self.seconds_of(from)), got);
        }
        self.advance(from.max(self.target.now()), line)?;
        self.action(event, base)
    }

    /// Does what happens now.
    fn action(&mut self, event: &'a Event, base: Time) -> Result<(), Stop> {
        let line = event.line;
        match &event.action {
            Action::Arrives(packet) => {
                let arrived = self.target.arrive(packet);
                arrived.map_err(stop(line, format!("{packet} to arrive")))?;
                self.settle()
            }
            Action::Call(call) => self.call(call, line, base),
            Action::Command(text) => {
                let done = self.target.command(text);
                done.map_err(stop(line, format!("`{}` to succeed", text.trim())))
            }
            Action::Check(statements) => {
                // packetdrill binds its names anew before each part.
                let target = &self.target;
                self.names.retain(|name, _| target.value(name).is_none());
                statements.iter().try_for_each(|one| self.statement(one))
            }
            Action::Foreign { word, rest, arrives } => {
                if *arrives {
                    let arrived = self.target.arrive_foreign(word, rest);
                    arrived.map_err(stop(line, format!("{word} to arrive")))?;
                }
                self.settle()
            }
            Action::Leaves(_) | Action::Unknown(_) => Ok(()),
        }
    }

    /// Lets time pass, with all that the target does by itself.
    fn advance(&mut self, to: Time, line: u32) -> Result<(), Stop> {
        while self.step(to, line)? {}
        Ok(())
    }

    /// Lets time pass until something happens, at the latest until `to`.
    fn step(&mut self, to: Time, line: u32) -> Result<bool, Stop> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return failed(line, "an end", "the script never ends: a million timers went off");
        }
        let happened = self.target.step(to).map_err(stop(line, "time to pass"))?;
        if happened {
            self.settle()?;
        }
        Ok(happened)
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
        let at = loop {
            let taken = self.target.take(packet, self.tick);
            match taken {
                Taken::Whole(at) => break at,
                Taken::Other(got) => return failed(event.line, format!("{packet}"), got),
                Taken::Nothing | Taken::Part(_) => {}
            }
            if self.step(to + slack, event.line)? {
                continue;
            }
            let until = if any {
                "ever".to_string()
            } else {
                format!("until {} s", self.seconds_of(to + slack))
            };
            let got = match taken {
                Taken::Part(end) => format!("no more than up to {end} came {until}"),
                _ => format!("nothing came {until}"),
            };
            return failed(event.line, format!("{packet}"), got);
        };
        if !any && (at + slack < from || at > to + slack) {
            let time = if from == to {
                format!("{} s", self.seconds_of(from))
            } else {
                format!("{} to {} s", self.seconds_of(from), self.seconds_of(to))
            };
            let got = format!("it came at {} s", self.seconds_of(at));
            return failed(event.line, format!("{packet} at {time}"), got);
        }
        Ok(())
    }

    // ---------------------------------------------------------------- calls

    fn call(&mut self, call: &'a Call, line: u32, base: Time) -> Result<(), Stop> {
        self.finish_call()?;
        let answer = self.target.call(call, false);
        let answer = answer.map_err(stop(line, format!("{} to be called", call.name)))?;
        let (began, ends) = (self.target.now(), call.ends.map(|after| base + after));
        let waiting = Waiting {
            call,
            line,
            began,
            ends,
        };
        if answer == Answer::Waits {
            self.waiting = Some(waiting);
            if ends.is_none() {
                // The script says that it does not block. It may take as long as an event may be late.
                let latest = began + self.tolerance;
                while self.waiting.is_some() && self.step(latest, line)? {}
                self.finish_call()?;
            }
            return Ok(());
        }
        self.answered(&waiting, &answer)
    }

    /// Asks again for a call that waits.
    fn settle(&mut self) -> Result<(), Stop> {
        let Some(waiting) = self.waiting.take() else {
            return Ok(());
        };
        let answer = self.target.call(waiting.call, true);
        let answer = answer.map_err(stop(waiting.line, format!("{} to be called", waiting.call.name)))?;
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
            self.advance(ends + waiting.slack(self.tolerance), line)?;
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
                let named = call.error.as_deref().is_none_or(|error| error == name);
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
        let (now, slack) = (self.target.now(), waiting.slack(self.tolerance));
        if let Some(ends) = waiting.ends
            && (now + slack < ends || now > ends + slack)
        {
            let got = format!("it ended at {} s", self.seconds_of(now));
            let expected = format!("the end of {} at {} s", call.name, self.seconds_of(ends));
            return failed(line, expected, got);
        }
        Ok(())
    }

    // ---------------------------------------------------------------- Python

    fn value(&self, expression: &Expr, line: u32, expected: &str) -> Result<Scalar, Stop> {
        let value = expression.value(&|word| self.names.get(word).cloned().or_else(|| self.target.value(word)));
        value.map_err(stop(line, expected))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Stop> {
        let line = statement.line;
        match &statement.act {
            Act::Assert(text, condition, message) => {
                if self.value(condition, line, text)?.is_true() {
                    return Ok(());
                }
                failed(line, text, self.denial(condition, message.as_ref(), line))
            }
            Act::Assign(name, value) => {
                let value = self.value(value, line, &format!("a value of {name}"))?;
                self.names.insert(name.clone(), value);
                Ok(())
            }
            Act::Print(values) => {
                let value = |one| Ok(self.value(one, line, "a value to print")?.to_string());
                let texts: Vec<String> = values.iter().map(value).collect::<Result<_, Stop>>()?;
                if self.printed.len() < MOST_PRINTED.0 {
                    self.printed.push((line, cut(&texts.join(" "))));
                }
                Ok(())
            }
            Act::Compute(value) => self.value(value, line, "a value").map(drop),
            Act::Unknown(missing) => Err(Stop::NotApplicable {
                line,
                missing: missing.clone(),
            }),
        }
    }

    /// Why an assertion does not hold: the values in it, and its message.
    fn denial(&self, condition: &Expr, message: Option<&Expr>, line: u32) -> String {
        let mut values = Vec::new();
        condition.each_name(&mut |word| {
            let value = self.names.get(word).cloned();
            let field = || {
                self.target
                    .value(word)
                    .filter(|_| word.starts_with("tcpi_") || word.starts_with("SK_"))
            };
            values.extend(value.or_else(field).map(|value| cut(&format!("{word} is {value}"))));
        });
        values.dedup();
        let clause = if values.is_empty() {
            "it is false".into()
        } else {
            values.join(" and ")
        };
        match message.map(|message| self.value(message, line, "a message")) {
            Some(Ok(Scalar::Text(text))) => format!("{clause} ({})", cut(&text)),
            _ => clause,
        }
    }

    /// Seconds since the script began.
    fn seconds_of(&self, at: Time) -> String {
        seconds(Time::ZERO + at.since(self.start))
    }
}
