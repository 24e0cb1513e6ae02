//! Reads assertions.

use super::words::{expect, name, number, quoted, skip, wrong};
use crate::expr::{Expr, Scalar, Statement};
use winnow::prelude::*;

/// Parentheses in parentheses are read so far.
const DEEPEST: u32 = 32;
/// The longest condition, bytes.
const LONGEST: usize = 1000;

/// Binary operators by how loosely they bind. Longer ones stand before their beginnings.
const LEVELS: [&[&str]; 5] = [&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"]];
const PRODUCTS: &[&str] = &["//", "*", "/", "%"];
const COMPARISONS: &[&str] = &["==", "!=", "<=", ">=", "<", ">"];

/// Skips blanks between statements: also line ends, semicolons and comments.
pub(super) fn gap(i: &mut &str) {
    loop {
        let rest = i.trim_start_matches([' ', '\t', '\r', '\n', ';', '\\']);
        *i = if rest.starts_with('#') || rest.starts_with("//") {
            rest.find(['\n']).map_or(&rest[rest.len()..], |at| &rest[at..])
        } else {
            rest
        };
        if i.len() == rest.len() {
            return;
        }
    }
}

/// Skips blanks inside a statement, which a backslash carries on to the next line.
fn inner(i: &mut &str) {
    loop {
        let rest = i.trim_start_matches([' ', '\t']);
        *i = rest.strip_prefix("\\\n").unwrap_or(rest);
        if i.len() == rest.len() {
            return;
        }
    }
}

pub(super) fn statement(i: &mut &str, line: u32) -> ModalResult<Statement> {
    if i.is_empty() {
        return Err(wrong("}% that ends the check"));
    }
    if !skip(i, "assert") || i.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(wrong("assert"));
    }
    inner(i);
    let before = *i;
    let condition = expression(i, 0)?;
    let text = &before[..before.len() - i.len()];
    if text.len() > LONGEST {
        *i = before;
        return Err(wrong("a shorter condition"));
    }
    let text = text.trim().to_string();
    inner(i);
    let message = if skip(i, ",") {
        inner(i);
        Some(expression(i, 0)?)
    } else {
        None
    };
    inner(i);
    if !(i.is_empty() || i.starts_with(['\n', '\r', ';', '#']) || i.starts_with("}%") || i.starts_with("//")) {
        return Err(wrong("the end of the assertion"));
    }
    Ok(Statement {
        line,
        text,
        condition,
        message,
    })
}

fn keyword(i: &mut &str, word: &'static str) -> bool {
    let rest = i.strip_prefix(word);
    if let Some(rest) = rest
        && !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    {
        *i = rest;
        return true;
    }
    false
}

fn boxed(op: &'static str, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(right))
}

fn expression(i: &mut &str, depth: u32) -> ModalResult<Expr> {
    if depth > DEEPEST {
        return Err(wrong("fewer parentheses inside each other"));
    }
    let mut left = conjunction(i, depth)?;
    while keyword(i, "or") {
        inner(i);
        left = boxed("or", left, conjunction(i, depth)?);
    }
    Ok(left)
}

fn conjunction(i: &mut &str, depth: u32) -> ModalResult<Expr> {
    let mut left = negation(i, depth)?;
    while keyword(i, "and") {
        inner(i);
        left = boxed("and", left, negation(i, depth)?);
    }
    Ok(left)
}

fn negation(i: &mut &str, depth: u32) -> ModalResult<Expr> {
    if depth > DEEPEST {
        return Err(wrong("fewer operators before each other"));
    }
    if keyword(i, "not") {
        inner(i);
        return Ok(Expr::Unary("not", Box::new(negation(i, depth + 1)?)));
    }
    let first = level(i, 0, depth)?;
    let mut rest = Vec::new();
    while let Some(op) = COMPARISONS.iter().find(|op| skip(i, op)) {
        inner(i);
        rest.push((*op, level(i, 0, depth)?));
    }
    Ok(if rest.is_empty() {
        first
    } else {
        Expr::Chain(Box::new(first), rest)
    })
}

fn level(i: &mut &str, at: usize, depth: u32) -> ModalResult<Expr> {
    let operators = LEVELS.get(at).copied().unwrap_or(PRODUCTS);
    let operand = |i: &mut &str| {
        if at < LEVELS.len() {
            level(i, at + 1, depth)
        } else {
            unary(i, depth)
        }
    };
    let mut left = operand(i)?;
    // The end of the check is no remainder.
    while let Some(op) = operators.iter().find(|op| !i.starts_with("}%") && skip(i, op)) {
        inner(i);
        left = boxed(op, left, operand(i)?);
    }
    Ok(left)
}

fn unary(i: &mut &str, depth: u32) -> ModalResult<Expr> {
    if depth > DEEPEST {
        return Err(wrong("fewer operators before each other"));
    }
    for op in ["-", "~"] {
        if skip(i, op) {
            inner(i);
            return Ok(Expr::Unary(op, Box::new(unary(i, depth + 1)?)));
        }
    }
    let value = atom(i, depth)?;
    inner(i);
    Ok(value)
}

fn atom(i: &mut &str, depth: u32) -> ModalResult<Expr> {
    match i.chars().next() {
        Some('(') => {
            *i = &i[1..];
            inner(i);
            let value = expression(i, depth + 1)?;
            if skip(i, ")") { Ok(value) } else { Err(wrong(")")) }
        }
        Some('"' | '\'') => Ok(Expr::Constant(Scalar::Text(quoted(i)?.to_string()))),
        Some('0'..='9') => {
            let before = *i;
            let whole = number(i)?;
            if !i.starts_with('.') {
                return Ok(Expr::Constant(Scalar::Int(whole)));
            }
            let end = before
                .find(|c: char| c != '.' && !c.is_ascii_digit())
                .unwrap_or(before.len());
            *i = &before[end..];
            before[..end]
                .parse()
                .map(|x| Expr::Constant(Scalar::Float(x)))
                .map_err(|_| wrong("a number"))
        }
        _ => match name.context(expect("a value")).parse_next(i)? {
            "True" => Ok(Expr::Constant(Scalar::Int(1))),
            "False" => Ok(Expr::Constant(Scalar::Int(0))),
            word => Ok(Expr::Name(word.to_string())),
        },
    }
}
