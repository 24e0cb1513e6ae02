//! A discipline and its classes as statements, separated by semicolons: what one would type behind `tc`, without
//! `dev X`.
//!
//! The first statement is the discipline at the root; its handle is `1:`. The others are
//!
//! ```text
//! class parent HANDLE classid HANDLE KIND WORDS
//! qdisc parent HANDLE [handle HANDLE] KIND WORDS
//! filter parent HANDLE dscp CODEPOINT... flowid HANDLE
//! filter parent HANDLE matchall flowid HANDLE
//! ```
//!
//! and each may have `add` behind its first word. As in `tc`, handles are hexadecimal, and a statement names only what
//! was said before it. Filters are asked in the order of the text; the first that takes a packet decides.
//!
//! Deviation: `tc` has no word for a code point. A kernel gets one `u32` filter on the byte of the type of service for
//! each code point.

use super::QdiscSpec;
use crate::ParamError;
use crate::classful::names::{Handle, code_point};
use crate::classful::{Classes, Filter};
use crate::grammar::error::SpecError;
use sojourn_units::Rate;

/// The handle of the discipline at the root.
pub(crate) const ROOT: u16 = 1;
/// Most statements of a text.
const MOST_STATEMENTS: usize = 8192;
/// Most disciplines above each other. Source: Linux `check_loop_fn`, which refuses more than 7 below the first.
const MOST_LEVELS: usize = 8;

/// Reads the statements behind the first, which said `spec`.
pub(crate) fn read_below(mut spec: QdiscSpec, statements: &[&str], rate: Option<Rate>) -> Result<QdiscSpec, SpecError> {
    let kind = spec.kind();
    let Some(root) = spec.0.classes_mut() else {
        return if statements.is_empty() {
            Ok(spec)
        } else {
            Err(SpecError::NoClasses { kind })
        };
    };
    root.handle = ROOT;
    if statements.len() >= MOST_STATEMENTS {
        let value = (statements.len() + 1).to_string();
        return Err(ParamError::new(kind, "statements", value, format!("at most {MOST_STATEMENTS}")).into());
    }
    for (place, text) in statements.iter().enumerate() {
        statement(root, text, rate).map_err(|error| SpecError::Statement {
            number: place + 2,
            text: text.trim().to_owned(),
            error: Box::new(error),
        })?;
    }
    Ok(spec)
}

/// Reads one statement.
fn statement(root: &mut Classes<QdiscSpec>, text: &str, rate: Option<Rate>) -> Result<(), SpecError> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    if words.get(1) == Some(&"add") {
        words.remove(1);
    }
    match words.split_first() {
        Some((&"class", words)) => class(root, words),
        Some((&"qdisc", words)) => qdisc(root, words, rate),
        Some((&"filter", words)) => filter(root, words),
        first => Err(SpecError::UnknownStatement {
            word: first.map_or("", |first| first.0).to_owned(),
        }),
    }
}

/// The handle behind `key`, which must be the next word, and the words behind it.
fn handle<'a, 'b>(of: &str, key: &str, words: &'b [&'a str]) -> Result<(Handle, &'b [&'a str]), SpecError> {
    let field = format!("{of}.{key}");
    match words {
        [word, value, rest @ ..] if *word == key => Ok((Handle::parse(&field, value)?, rest)),
        [word] if *word == key => Err(SpecError::NoValue { field, unit: "handle" }),
        [word, ..] => Err(SpecError::Expected {
            word: (*word).to_owned(),
            expected: format!("{key} and a handle"),
        }),
        [] => Err(SpecError::NoValue { field, unit: "handle" }),
    }
}

/// The classes of the discipline whose major number a handle has.
fn classes_of<'a>(
    root: &'a mut Classes<QdiscSpec>,
    field: &str,
    handle: Handle,
) -> Result<&'a mut Classes<QdiscSpec>, SpecError> {
    root.of_major(handle.major).ok_or_else(|| {
        ParamError {
            field: field.to_owned(),
            value: handle.to_string(),
            rule: "of a discipline with classes that is there".to_owned(),
        }
        .into()
    })
}

/// Checks that a class is of the same discipline as the `parent`.
fn same_major(field: &str, handle: Handle, parent: Handle) -> Result<(), SpecError> {
    if handle.major == parent.major {
        return Ok(());
    }
    let rule = format!("a class of the discipline {:x}:", parent.major);
    Err(ParamError {
        field: field.to_owned(),
        value: handle.to_string(),
        rule,
    }
    .into())
}

fn class(root: &mut Classes<QdiscSpec>, words: &[&str]) -> Result<(), SpecError> {
    let (parent, words) = handle("class", "parent", words)?;
    let (id, words) = handle("class", "classid", words)?;
    let classes = classes_of(root, "class.parent", parent)?;
    same_major("class.classid", id, parent)?;
    let Some((kind, words)) = words.split_first() else {
        return Err(SpecError::NoValue {
            field: "class.kind".to_owned(),
            unit: "htb or drr",
        });
    };
    classes.add_class(parent.minor, id.minor, kind, words)
}

fn qdisc(root: &mut Classes<QdiscSpec>, words: &[&str], rate: Option<Rate>) -> Result<(), SpecError> {
    let (parent, mut words) = handle("qdisc", "parent", words)?;
    let mut own = None;
    if words.first() == Some(&"handle") {
        let (found, rest) = handle("qdisc", "handle", words)?;
        let wrong = |rule: &str| Err(ParamError::new("qdisc", "handle", found.to_string(), rule).into());
        if found.minor != 0 {
            return wrong("the number of a discipline, such as 11:");
        }
        if root.of_major(found.major).is_some() {
            return wrong("a number that no other discipline has");
        }
        (own, words) = (Some(found.major), rest);
    }
    let mut spec = QdiscSpec::parse_words(words, rate)?;
    let classes = classes_of(root, "qdisc.parent", parent)?;
    if let (Some(below), Some(major)) = (spec.0.classes_mut(), own) {
        below.handle = major;
    }
    classes.graft(parent.minor, spec)?;
    if root.depth() > MOST_LEVELS {
        let rule = format!("a class of at most {} disciplines above each other", MOST_LEVELS - 1);
        return Err(ParamError::new("qdisc", "parent", parent.to_string(), rule).into());
    }
    Ok(())
}

fn filter(root: &mut Classes<QdiscSpec>, words: &[&str]) -> Result<(), SpecError> {
    let (parent, words) = handle("filter", "parent", words)?;
    let (codes, rest) = match words.split_first() {
        Some((&"matchall", words)) => (u64::MAX, words),
        Some((&"dscp", words)) => {
            let mut codes = 0u64;
            let end = words.iter().position(|&word| word == "flowid").unwrap_or(words.len());
            if end == 0 {
                return Err(SpecError::NoValue {
                    field: "filter.dscp".to_owned(),
                    unit: "code points",
                });
            }
            for word in &words[..end] {
                let code = code_point(word).ok_or_else(|| {
                    let rule = "0 to 63, or a name: CS0 to CS7, AF11 to AF43, EF, VA or LE";
                    ParamError::new("filter", "dscp", format!("{word:?}"), rule)
                })?;
                codes |= 1 << code;
            }
            (codes, &words[end..])
        }
        other => {
            return Err(SpecError::Expected {
                word: other.map_or("", |other| other.0).to_owned(),
                expected: "dscp with code points, or matchall".to_owned(),
            });
        }
    };
    let (class, words) = handle("filter", "flowid", rest)?;
    if let Some(&word) = words.first() {
        return Err(SpecError::Expected {
            word: word.to_owned(),
            expected: "nothing behind flowid".to_owned(),
        });
    }
    let classes = classes_of(root, "filter.parent", parent)?;
    same_major("filter.flowid", class, parent)?;
    classes.add_filter(Filter {
        parent: parent.minor,
        codes,
        class: class.minor,
    })
}

#[cfg(test)]
mod tests;
