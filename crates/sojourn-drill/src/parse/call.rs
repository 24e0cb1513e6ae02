//! Reads a system call.

use super::words::{blank, expect, literal, name, number, quoted, skip, space, wrong};
use crate::script::{Call, Value};
use sojourn_units::Duration;
use winnow::prelude::*;
use winnow::token::take_till;

/// Lists in lists are read so far.
const DEEPEST: u32 = 16;

pub(super) fn call(i: &mut &str, ends: Option<Duration>) -> ModalResult<Call> {
    let called = name
        .context(expect("a packet, a system call, a command or a check"))
        .parse_next(i)?
        .to_string();
    blank(i);
    literal(i, "(").map_err(|_| wrong("the arguments of a system call"))?;
    let args = values(i, ")", 0)?;
    blank(i);
    literal(i, "=").map_err(|_| wrong("= and the result of the system call"))?;
    blank(i);
    let result = if skip(i, "...") { None } else { Some(number(i)?) };
    blank(i);
    let error = if i.starts_with(|c: char| c.is_ascii_uppercase()) {
        Some(name(i)?.to_string())
    } else {
        None
    };
    blank(i);
    if i.starts_with('(') {
        // A remark, such as the error in words.
        take_till(0.., [')', '\n']).parse_next(i)?;
        literal(i, ")")?;
    }
    Ok(Call {
        name: called,
        args,
        result,
        error,
        ends,
    })
}

/// Values up to `end`, which is skipped.
fn values(i: &mut &str, end: &'static str, depth: u32) -> ModalResult<Vec<Value>> {
    let mut values = Vec::new();
    loop {
        space(i);
        if skip(i, end) {
            return Ok(values);
        }
        values.push(value(i, depth)?);
        separator(i, end)?;
    }
}

fn separator(i: &mut &str, end: &'static str) -> ModalResult<()> {
    space(i);
    if skip(i, ",") || i.starts_with(end) {
        return Ok(());
    }
    Err(wrong("a comma or the end of the arguments"))
}

fn value(i: &mut &str, depth: u32) -> ModalResult<Value> {
    if depth > DEEPEST {
        return Err(wrong("fewer lists inside each other"));
    }
    if skip(i, "...") {
        return Ok(Value::Any);
    }
    match i.chars().next() {
        Some('[') => {
            *i = &i[1..];
            Ok(Value::List(values(i, "]", depth + 1)?))
        }
        Some('{') => {
            *i = &i[1..];
            fields(i, depth + 1)
        }
        Some('"' | '\'') => Ok(Value::Text(quoted(i)?.to_string())),
        Some('0'..='9' | '-') => Ok(Value::Number(number(i)?)),
        _ => words(i),
    }
}

fn words(i: &mut &str) -> ModalResult<Value> {
    let mut words = Vec::new();
    loop {
        let word = name.context(expect("an argument")).parse_next(i)?;
        words.push(word.to_string());
        blank(i);
        // A macro with arguments, such as htons(80).
        if skip(i, "(") {
            take_till(0.., [')', '\n']).parse_next(i)?;
            literal(i, ")")?;
            blank(i);
        }
        space(i);
        if !skip(i, "|") {
            return Ok(Value::Words(words));
        }
        space(i);
    }
}

fn fields(i: &mut &str, depth: u32) -> ModalResult<Value> {
    let mut fields = Vec::new();
    loop {
        space(i);
        if skip(i, "}") {
            return Ok(Value::Fields(fields));
        }
        let before = *i;
        let field = name(i).unwrap_or("");
        if skip(i, "(") {
            take_till(0.., [')', '\n']).parse_next(i)?;
            literal(i, ")")?;
        }
        space(i);
        let field = if !field.is_empty() && skip(i, "=") {
            field
        } else {
            *i = before;
            ""
        };
        space(i);
        fields.push((field.to_string(), value(i, depth)?));
        separator(i, "}")?;
    }
}
