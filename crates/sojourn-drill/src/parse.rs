//! Reads a script.
//!
//! Source: the language of google/packetdrill, learned from its documents and from scripts; written anew.

mod call;
mod packet;
mod python;
mod words;

use crate::expr::{Act, Statement};
use crate::script::{Action, Event, Script, ScriptOption, When};
use sojourn_units::Duration;
use thiserror::Error;
use winnow::combinator::{alt, not, opt, preceded};
use winnow::error::{ContextError, ErrMode, StrContext, StrContextValue};
use winnow::prelude::*;
use winnow::token::{any, take_till, take_until, take_while};
use words::{expect, space, wrong};

/// The longest script that is read, bytes.
const LONGEST: usize = 1 << 20;
/// The latest time that a script may name.
const LATEST: Duration = Duration::from_secs(86_400);

/// A script that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: expected {expected}, but found {found}")]
pub struct ParseError {
    /// Line of the file, from 1.
    pub line: u32,
    /// What could stand there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

/// Reads a script.
///
/// # Errors
/// [`ParseError`] where the text stops being a script.
pub fn parse(text: &str) -> Result<Script, ParseError> {
    if text.len() > LONGEST {
        return Err(ParseError {
            line: 1,
            expected: "a script of at most 1 MiB".into(),
            found: format!("{} bytes", text.len()),
        });
    }
    let lines = Lines::new(text);
    let mut script = Script::default();
    let mut rest = text;
    loop {
        space(&mut rest);
        if rest.is_empty() {
            return Ok(script);
        }
        let line = lines.of(rest);
        let done = if script.events.is_empty() && rest.starts_with("--") {
            option(&mut rest).map(|(name, value)| script.options.push(ScriptOption { line, name, value }))
        } else {
            event(&lines, &mut rest).map(|(when, action)| script.events.push(Event { line, when, action }))
        };
        done.map_err(|error| problem(error, lines.of(rest), rest))?;
    }
}

/// Which line a rest of the text begins on.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        Self { text, starts }
    }

    fn of(&self, rest: &str) -> u32 {
        let at = self.text.len() - rest.len();
        self.starts.partition_point(|&start| start <= at) as u32 + 1
    }
}

fn problem(error: ErrMode<ContextError>, line: u32, rest: &str) -> ParseError {
    let context = error.into_inner().unwrap_or_default();
    let expected = context.context().find_map(|one| match one {
        StrContext::Expected(StrContextValue::Description(text)) => Some((*text).to_string()),
        _ => None,
    });
    let found = rest.lines().next().unwrap_or("").trim();
    let short: String = found.chars().take(40).collect();
    ParseError {
        line,
        expected: expected.unwrap_or_else(|| "an event".into()),
        found: match (rest.is_empty(), found.is_empty()) {
            (true, _) => "the end of the script".into(),
            (_, true) => "the end of the line".into(),
            _ => format!("`{short}`"),
        },
    }
}

fn option(i: &mut &str) -> ModalResult<(String, String)> {
    let name = preceded("--", take_while(1.., |c: char| c.is_ascii_alphanumeric() || c == '_'))
        .context(expect("the name of an option"))
        .parse_next(i)?;
    let value = opt(preceded('=', take_till(0.., char::is_whitespace))).parse_next(i)?;
    Ok((name.to_string(), value.unwrap_or("").to_string()))
}

fn event(lines: &Lines<'_>, i: &mut &str) -> ModalResult<(When, Action)> {
    if i.starts_with('`') {
        return Ok((When::After(Duration::ZERO), command(i)?));
    }
    let (when, ends) = time(i)?;
    space(i);
    let action = match i.chars().next() {
        Some('<') => packet::packet(i, Action::Arrives)?,
        Some('>') => packet::packet(i, Action::Leaves)?,
        Some('`') => command(i)?,
        Some('%') => check(lines, i)?,
        _ => Action::Call(call::call(i, ends)?),
    };
    Ok((when, action))
}

fn command(i: &mut &str) -> ModalResult<Action> {
    any.parse_next(i)?;
    let text = take_until(0.., '`')
        .context(expect("a backtick that ends the commands"))
        .parse_next(i)?;
    any.parse_next(i)?;
    Ok(Action::Command(text.to_string()))
}

fn check(lines: &Lines<'_>, i: &mut &str) -> ModalResult<Action> {
    "%{".context(expect("%{")).parse_next(i)?;
    let whole = *i;
    let Some(end) = whole.find("}%") else {
        *i = "";
        return Err(wrong("}% that ends the check"));
    };
    let mut code = python::Code::new(&whole[..end]);
    let mut statements = Vec::new();
    loop {
        code.gap();
        if code.rest.is_empty() {
            break;
        }
        let line = lines.of(&whole[end - code.rest.len()..]);
        match code.statement() {
            Ok(act) => statements.push(Statement { line, act }),
            Err(python::Stop::Unknown(missing)) => {
                let act = Act::Unknown(missing);
                statements.push(Statement { line, act });
                break;
            }
            Err(python::Stop::Broken(what)) => {
                *i = &whole[end - code.rest.len()..];
                return Err(wrong(what));
            }
        }
    }
    *i = &whole[end + 2..];
    Ok(Action::Check(statements))
}

/// When the event happens, and when a call that blocks ends.
fn time(i: &mut &str) -> ModalResult<(When, Option<Duration>)> {
    if opt('*').parse_next(i)?.is_some() {
        return Ok((When::Any, None));
    }
    let relative = opt('+').parse_next(i)?.is_some();
    let start = seconds(i)?;
    let when = if relative { When::After(start) } else { When::At(start) };
    let before = *i;
    space(i);
    if opt("...").parse_next(i)?.is_some() {
        space(i);
        opt('+').parse_next(i)?;
        let end = seconds(i)?;
        return Ok((when, Some(end)));
    }
    if opt('~').parse_next(i)?.is_some() {
        space(i);
        opt('+').parse_next(i)?;
        let end = seconds(i)?;
        let when = if relative {
            When::Within(start, end)
        } else {
            When::Between(start, end)
        };
        return Ok((when, None));
    }
    *i = before;
    Ok((when, None))
}

fn seconds(i: &mut &str) -> ModalResult<Duration> {
    let digits = || take_while(1.., |c: char| c.is_ascii_digit());
    let (whole, fraction): (&str, Option<&str>) = alt((
        (
            digits(),
            opt(preceded(('.', not('.')), take_while(0.., |c: char| c.is_ascii_digit()))),
        ),
        preceded('.', digits()).map(|fraction| ("0", Some(fraction))),
    ))
    .context(expect("a time"))
    .parse_next(i)?;
    let mut nanos = whole.parse::<u64>().ok().and_then(|s| s.checked_mul(1_000_000_000));
    let fraction: String = fraction
        .unwrap_or("")
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    nanos = nanos.and_then(|n| n.checked_add(fraction.parse().ok()?));
    match nanos.map(Duration::from_nanos) {
        Some(time) if time <= LATEST => Ok(time),
        _ => Err(wrong("a time of at most one day")),
    }
}

#[cfg(test)]
mod tests;
