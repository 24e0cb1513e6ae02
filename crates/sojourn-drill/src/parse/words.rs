//! What all parts of the language are made of.

use winnow::error::{ContextError, ErrMode, StrContext, StrContextValue};
use winnow::prelude::*;
use winnow::token::take_while;

/// What could stand here.
pub(super) const fn expect(what: &'static str) -> StrContext {
    StrContext::Expected(StrContextValue::Description(what))
}

/// An error that no other reading can mend.
pub(super) fn wrong(what: &'static str) -> ErrMode<ContextError> {
    let mut error = ContextError::new();
    error.push(expect(what));
    ErrMode::Cut(error)
}

/// Skips blanks, line ends and comments.
pub(super) fn space(i: &mut &str) {
    loop {
        let rest = i.trim_start();
        *i = if rest.starts_with("//") || rest.starts_with('#') {
            rest.find('\n').map_or(&rest[rest.len()..], |at| &rest[at..])
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(&rest[rest.len()..], |at| &comment[at + 2..])
        } else {
            rest
        };
        if i.len() == rest.len() {
            return;
        }
    }
}

/// Skips blanks of one line.
pub(super) fn blank(i: &mut &str) {
    *i = i.trim_start_matches([' ', '\t']);
}

/// A name.
pub(super) fn name<'a>(i: &mut &'a str) -> ModalResult<&'a str> {
    take_while(1.., |c: char| c.is_ascii_alphanumeric() || c == '_').parse_next(i)
}

/// A whole number: decimal or hexadecimal.
pub(super) fn number(i: &mut &str) -> ModalResult<i64> {
    let negative = i.starts_with('-');
    let digits = i.strip_prefix('-').unwrap_or(i);
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => (hex, 16),
        None => (digits, 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    match i64::from_str_radix(&digits[..end], radix) {
        Ok(n) => {
            *i = &digits[end..];
            Ok(if negative { -n } else { n })
        }
        Err(_) => Err(wrong("a number")),
    }
}

/// A whole number of type `T`.
pub(super) fn bounded<T: TryFrom<i64>>(i: &mut &str) -> ModalResult<T> {
    let before = *i;
    let n = number(i)?;
    T::try_from(n).map_err(|_| {
        *i = before;
        wrong("a smaller number")
    })
}

/// A fixed text.
pub(super) fn literal(i: &mut &str, text: &'static str) -> ModalResult<()> {
    match i.strip_prefix(text) {
        Some(rest) => {
            *i = rest;
            Ok(())
        }
        None => Err(wrong(text)),
    }
}

/// Whether this text stands here; if so it is skipped.
pub(super) fn skip(i: &mut &str, text: &str) -> bool {
    if let Some(rest) = i.strip_prefix(text) {
        *i = rest;
        return true;
    }
    false
}

/// Whether this word stands here; if so it is skipped, with what separates it from the next.
pub(super) fn keyword(i: &mut &str, word: &str) -> bool {
    let found = name(&mut { *i }) == Ok(word) && skip(i, word);
    if found {
        space(i);
    }
    found
}

/// A text in quotes.
pub(super) fn quoted<'a>(i: &mut &'a str) -> ModalResult<&'a str> {
    let quote = i
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\''))
        .ok_or_else(|| wrong("a text in quotes"))?;
    let inner = &i[1..];
    let end = inner.find(quote).ok_or_else(|| wrong("a quote that ends the text"))?;
    *i = &inner[end + 1..];
    Ok(&inner[..end])
}
