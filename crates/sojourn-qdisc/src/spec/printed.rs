//! What `tc -d qdisc show`, `tc -d class show` and `tc filter show` print of a device, as statements.
//!
//! `tc` prints some words otherwise than it reads them, in any order, and with facts that are no words of its own. Without
//! `-d` it prints neither a `stab` nor the quantum of a class of `htb`; a class without a quantum is refused here.

use super::statements::VERBS;
use crate::grammar::error::SpecError;

/// Facts that are printed with a value.
const FACTS: &[&str] = &[
    "refcnt",
    "direct_packets_stat",
    "ver",
    "leaf",
    "level",
    "chain",
    "fh",
    "order",
    "ht",
    "bkt",
    "dev",
    "parent",
];
/// Facts that are printed alone.
const FLAGS: &[&str] = &["root", "offloaded", "key", "not_in_hw", "in_hw"];

/// A statement, with what it makes and what it stands on.
struct Made {
    id: String,
    on: String,
    text: String,
}

/// The statements that say what `tc` has printed; `None` for text that it has not.
///
/// # Errors
/// [`SpecError`] for a class of `htb` whose quantum was not printed.
pub(super) fn statements(text: &str) -> Result<Option<Vec<String>>, SpecError> {
    // Each line with the indented lines that belong to it.
    let mut lines: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (words.as_slice(), lines.last_mut()) {
            (["linklayer", ..], Some((_, below))) if is_below(line) => below.extend(words),
            // What a filter has besides its keys, such as an action, is refused with it.
            (_, Some((head, below))) if is_below(line) && head[0] == "filter" => below.extend(words),
            (_, Some(_)) if is_below(line) => {}
            (["filter", "parent", ..], _) if words.contains(&"pref") => lines.push((words, Vec::new())),
            (["qdisc" | "class", kind, handle, ..], _) if !is_key(kind) && handle.contains(':') => {
                lines.push((words, Vec::new()));
            }
            _ => return Ok(None),
        }
    }
    let mut waiting = Vec::new();
    for (words, below) in &lines {
        waiting.extend(statement(words, below)?);
    }
    // A statement stands behind what it stands on. Bands are there with their discipline.
    let mut made: Vec<Made> = Vec::new();
    while !waiting.is_empty() {
        let is_ready = |next: &Made| {
            let discipline = next.on.split_inclusive(':').next().unwrap_or_default();
            let there = |id: &str| id.is_empty() || made.iter().any(|statement| statement.id == id);
            there(&next.on) || there(discipline) && !waiting.iter().any(|other: &Made| other.id == next.on)
        };
        let next = waiting.iter().position(is_ready).unwrap_or_default();
        made.push(waiting.remove(next));
    }
    let texts: Vec<String> = made.into_iter().map(|statement| statement.text).collect();
    Ok((!texts.is_empty()).then_some(texts))
}

/// Whether a line belongs to the one above.
fn is_below(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

/// Whether a word stands where a kind stands in what is printed, in a text that is typed.
fn is_key(word: &str) -> bool {
    VERBS.contains(&word)
        || matches!(
            word,
            "add" | "replace" | "dev" | "root" | "parent" | "handle" | "classid" | "stab"
        )
}

/// The statement of a line; `None` for one that says nothing.
fn statement(words: &[&str], below: &[&str]) -> Result<Option<Made>, SpecError> {
    let behind = |key: &str| words.iter().skip_while(|&&word| word != key).nth(1).copied();
    let [what, kind, handle, own @ ..] = words else {
        return Ok(None);
    };
    let parent = behind("parent").unwrap_or_default();
    // The value and the mask of a key are printed with a slash between them.
    let more = below
        .iter()
        .filter(|word| !FLAGS.contains(word))
        .map(|word| match word.split_once('/') {
            Some((value, mask)) => format!("u32 0x{value} {mask}"),
            None => (*word).to_owned(),
        });
    let more = more.collect::<Vec<_>>().join(" ");
    if *what == "filter" {
        let class = ["*flowid", "flowid", "classid"].into_iter().find_map(behind);
        return Ok(class.map(|class| {
            let own = words
                .split(|word| word.ends_with("flowid") || *word == "classid")
                .next();
            let own = plain(&own.unwrap_or_default()[1..]).replace(" handle 0x1", "");
            Made {
                id: String::new(),
                on: class.to_owned(),
                text: format!("filter parent {parent} {own} {more} flowid {class}"),
            }
        }));
    }
    let own = plain(own);
    let (on, text) = match (*what, parent) {
        ("class", _) if !matches!(*kind, "htb" | "drr") => return Ok(None),
        ("class", _) if *kind == "htb" && behind("leaf").is_some() && behind("quantum").is_none() => {
            return Err(SpecError::Expected {
                word: format!("class htb {handle}"),
                expected: "the line of tc -d class show, which says its quantum,".to_owned(),
            });
        }
        ("class", _) => {
            let discipline = handle.split_inclusive(':').next().unwrap_or_default();
            let on = if parent.is_empty() { discipline } else { parent };
            (on, format!("class parent {on} classid {handle} {kind} {own}"))
        }
        (_, "") if below.is_empty() => ("", format!("qdisc handle {handle} {kind} {own}")),
        (_, "") => ("", format!("qdisc handle {handle} stab {more} {kind} {own}")),
        _ => (parent, format!("qdisc parent {parent} handle {handle} {kind} {own}")),
    };
    Ok(Some(Made {
        id: (*handle).to_owned(),
        on: on.to_owned(),
        text,
    }))
}

/// Printed words as `tc` reads them, without what is none of them.
fn plain<'a>(words: &[&'a str]) -> String {
    let mut read = Vec::new();
    // Behind the size of a cell no space is printed.
    let split = |word: &&'a str| match word.strip_suffix("mpu").filter(|size| size.contains('/')) {
        Some(size) => vec![size, "mpu"],
        None => vec![*word],
    };
    let mut words = words.iter().flat_map(split).peekable();
    while let Some(word) = words.next() {
        let unit = match word {
            "limit" | "flow_limit" => "p",
            "perturb" => "sec",
            "mpu" | "overhead" => "b",
            _ => "",
        };
        let value = |words: &mut std::iter::Peekable<_>| words.next().map_or("", |value: &str| value);
        if FACTS.contains(&word) {
            words.next();
        } else if unit.is_empty() {
            // A size with that of a cell.
            read.extend((!FLAGS.contains(&word)).then(|| word.strip_suffix("b/1").unwrap_or(word)));
        } else {
            let value = value(&mut words);
            let value = value.strip_suffix(unit).unwrap_or(value);
            // `htb` prints it for each of its buckets.
            if word != "mpu" || value != "0" {
                read.extend([word, value]);
            }
        }
    }
    read.join(" ")
}
