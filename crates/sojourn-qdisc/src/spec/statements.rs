//! A discipline and its classes as statements, separated by semicolons: what one would type behind `tc`, without
//! `dev X`.
//!
//! The first statement is the discipline at the root; its handle is `1:`, if it says no other. The others are
//!
//! ```text
//! class parent HANDLE classid HANDLE KIND WORDS
//! qdisc parent HANDLE [handle HANDLE] KIND WORDS
//! filter parent HANDLE dscp CODEPOINT... flowid HANDLE
//! filter parent HANDLE matchall flowid HANDLE
//! filter parent HANDLE [protocol PROTOCOL] [prio NUMBER] u32 match ip tos VALUE MASK flowid HANDLE
//! ```
//!
//! and each may have `tc` before it, and behind its first word `add` or `replace`, and `dev X` and `root` where `tc` takes
//! them. As in `tc`, handles are hexadecimal, and a statement names only what was said before it. [Filters](super::filters)
//! have a page of their own.
//!
//! A `stab` becomes words for the link layer: of each class of `htb`, of `tbf`, or of `cake`. Deviation: it leaves quanta,
//! counters and the disciplines below alone, and its table is exact. Other kinds are refused with it.
//!
//! `mq` has a discipline for each queue of a device. A link here has one, so the one discipline below it stands for it.

use super::{QdiscSpec, filters, printed};
use crate::ParamError;
use crate::classful::Classes;
use crate::classful::names::Handle;
use crate::grammar::error::SpecError;
use crate::grammar::measures::Measure;
use crate::grammar::raw_value::RawValue;
use crate::htb::{Layer, LayerWord};
use crate::tbf::Framing;
use sojourn_units::Rate;

/// The handle of the discipline at the root.
pub(crate) const ROOT: u16 = 1;
/// Most statements of a text.
const MOST_STATEMENTS: usize = 8192;
/// Most disciplines above each other. Source: Linux `check_loop_fn`, which refuses more than 7 below the first.
const MOST_LEVELS: usize = 8;

/// What `tc` can do besides adding and replacing.
pub(super) const VERBS: &[&str] = &["del", "delete", "change", "link", "show", "list", "ls", "get"];

/// What stands before the kind of a statement, by key.
#[derive(Debug, Default)]
pub(crate) struct Place<'a> {
    parent: Option<&'a str>,
    handle: Option<&'a str>,
    classid: Option<&'a str>,
    pub(super) protocol: Option<&'a str>,
    pub(super) priority: Option<&'a str>,
    device: Option<&'a str>,
    stab: Option<Framing>,
    /// Whether it takes the place of another.
    replaces: bool,
}

impl<'a> Place<'a> {
    /// The words of a root of this kind, which says `own` without them, with those that its `stab` stands for; `None`
    /// where they are the same. Classes of `htb` get their own.
    pub(crate) fn framed(&self, kind: &'static str, own: &str, words: &[&'a str]) -> Result<Option<String>, SpecError> {
        let Some(stab) = self.stab.filter(|_| kind != "htb") else {
            return Ok(None);
        };
        let refused = |what| {
            let instead = "";
            Err(SpecError::NotModelled { kind, what, instead })
        };
        // What is `raw` counts from the Ethernet header on, as a `stab` does.
        let (before, layer) = match (kind, stab.layer) {
            ("tbf", Layer::Ethernet) => ("", "linklayer ethernet"),
            ("tbf", Layer::Atm) => ("", "linklayer atm"),
            ("cake", Layer::Ethernet) => ("raw ", "noatm"),
            ("cake", Layer::Atm) => ("raw ", "atm"),
            _ => return refused("stab"),
        };
        let own = own.replace(" raw overhead 0", "");
        let says = |word| own.split_whitespace().any(|own| own == word);
        if ["overhead", "mpu", "linklayer", "atm", "ptm"].into_iter().any(says) {
            return refused("stab besides words of its own for the link layer");
        }
        let (words, Framing { overhead, least, .. }) = (words.join(" "), stab);
        Ok(Some(format!("{words} {before}overhead {overhead} mpu {least} {layer}")))
    }
}

/// The statements of a text that `tc` has printed, or that has an `mq` at its root, whose one discipline below is the root
/// here; `None` for any other text.
///
/// # Errors
/// [`SpecError`] for what was not printed, and for an `mq` with no discipline below it, or with more.
pub(crate) fn translated<'a>(text: &'a str) -> Result<Option<String>, SpecError> {
    if let Some(statements) = printed::statements(text)? {
        return Ok(Some(statements.join(";")));
    }
    let statements = split(text);
    let words = |text: &'a str| -> Vec<&'a str> { text.split_whitespace().collect() };
    let Some((first, below)) = statements.split_first() else {
        return Ok(None);
    };
    let first = words(first);
    let Ok((own, ["mq"])) = root(&first) else {
        return Ok(None);
    };
    let major = own_handle(&own)?.map(|handle| handle.major);
    let under = |text: &&'a str| {
        let words = words(text);
        let parent = words
            .iter()
            .position(|&word| word == "parent")
            .map(|at| words[at + 1..].first());
        let parent = parent
            .flatten()
            .and_then(|handle| Handle::parse("qdisc.parent", handle).ok());
        parent.is_some_and(|handle| Some(handle.major) == major)
    };
    match below.split_first() {
        Some((queue, rest))
            if own.stab.is_none() && under(queue) && !rest.iter().any(under) && !words(queue).contains(&"mq") =>
        {
            let queue = words(queue);
            let at = queue.iter().position(|&word| word == "parent").unwrap_or_default();
            let root = [&queue[..at], &queue[(at + 2).min(queue.len())..]].concat().join(" ");
            Ok(Some([&[root.as_str()], rest].concat().join(";")))
        }
        _ => Err(SpecError::NotModelled {
            kind: "mq",
            what: "several queues of a device",
            instead: "a link here has one, so give the statements of one discipline below it",
        }),
    }
}

/// The statements of a text. What is behind `#` on a line is none of it.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let many = text.lines().count() > 1;
    let lines = lines.filter(|line| !many || !line.trim().is_empty());
    lines.flat_map(|line| line.split(';')).collect()
}

/// The words behind `tc`, whatever path it has and whatever a log says before it.
fn behind_tc<'a, 'b>(words: &'b [&'a str]) -> &'b [&'a str] {
    let at = words.windows(2).position(|pair| {
        (pair[0] == "tc" || pair[0].ends_with("/tc")) && matches!(pair[1], "qdisc" | "class" | "filter")
    });
    at.map_or(words, |at| &words[at + 1..])
}

/// What the first statement says before its kind, and the kind with its words.
pub(crate) fn root<'a, 'b>(words: &'b [&'a str]) -> Result<(Place<'a>, &'b [&'a str]), SpecError> {
    let behind_tc = behind_tc(words);
    let (place, rest) = place(behind_tc.strip_prefix(&["qdisc"]).unwrap_or(behind_tc))?;
    match place.parent {
        Some(word) => Err(SpecError::Expected {
            word: word.to_owned(),
            expected: "the discipline at the root".to_owned(),
        }),
        None => Ok((place, rest)),
    }
}

/// Reads what stands before a kind.
fn place<'a, 'b>(mut words: &'b [&'a str]) -> Result<(Place<'a>, &'b [&'a str]), SpecError> {
    let mut found = Place::default();
    if let [verb @ ("add" | "replace"), rest @ ..] = words {
        (found.replaces, words) = (*verb == "replace", rest);
    }
    if let Some(verb) = words.first().filter(|verb| VERBS.contains(verb)) {
        return Err(SpecError::Expected {
            word: (*verb).to_owned(),
            expected: "add or replace".to_owned(),
        });
    }
    loop {
        let (slot, rest) = match words {
            ["root", rest @ ..] => {
                words = rest;
                continue;
            }
            ["stab", rest @ ..] => {
                (found.stab, words) = stab(rest).map(|(stab, rest)| (Some(stab), rest))?;
                continue;
            }
            ["dev", rest @ ..] => (&mut found.device, rest),
            ["parent", rest @ ..] => (&mut found.parent, rest),
            ["handle", rest @ ..] => (&mut found.handle, rest),
            ["classid", rest @ ..] => (&mut found.classid, rest),
            ["protocol", rest @ ..] => (&mut found.protocol, rest),
            ["prio" | "priority" | "pref" | "preference", number, ..]
                if number.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                (&mut found.priority, &words[1..])
            }
            _ => return Ok((found, words)),
        };
        let Some((value, rest)) = rest.split_first() else {
            let field = format!("statement.{}", words[0]);
            return Err(SpecError::NoValue { field, unit: "value" });
        };
        *slot = Some(*value);
        words = rest;
    }
}

/// Reads a size table. Source: iproute2 `parse_size_table`.
fn stab<'a, 'b>(mut words: &'b [&'a str]) -> Result<(Framing, &'b [&'a str]), SpecError> {
    let mut framing = Framing::default();
    while let [
        key @ ("mtu" | "tsize" | "mpu" | "overhead" | "linklayer"),
        value,
        rest @ ..,
    ] = words
    {
        let raw = RawValue::new("stab", "size", value);
        match *key {
            "mpu" => framing.least = raw.count(10)?,
            "overhead" => framing.overhead = raw.count(10)?,
            "linklayer" => framing.layer = <LayerWord as Measure<Layer>>::read(&raw)?,
            // They say how fine the table is.
            _ => raw.count(10).map(|_| ())?,
        }
        words = rest;
    }
    Ok((framing, words))
}

/// Reads the statements behind the first, which said `spec` in its `place`.
pub(crate) fn read_below(
    mut spec: QdiscSpec,
    place: &Place<'_>,
    statements: &[&str],
    rate: Option<Rate>,
) -> Result<QdiscSpec, SpecError> {
    let kind = spec.kind();
    let Some(root) = spec.0.classes_mut() else {
        return if statements.is_empty() {
            Ok(spec)
        } else {
            Err(SpecError::NoClasses { kind })
        };
    };
    root.handle = own_handle(place)?.map_or(ROOT, |handle| handle.major);
    if statements.len() >= MOST_STATEMENTS {
        let value = (statements.len() + 1).to_string();
        return Err(ParamError::new(kind, "statements", value, format!("at most {MOST_STATEMENTS}")).into());
    }
    for (number, text) in statements.iter().enumerate() {
        statement(root, text, place, rate).map_err(|error| SpecError::Statement {
            number: number + 2,
            text: text.trim().to_owned(),
            error: Box::new(error),
        })?;
    }
    // The canonical text does not say the root's handle.
    let own = root.handle;
    if let Some(other) = root.of_major(ROOT).filter(|_| own != ROOT) {
        other.handle = own;
    }
    root.handle = ROOT;
    root.settle();
    Ok(spec)
}

/// Reads one statement.
fn statement(
    root: &mut Classes<QdiscSpec>,
    text: &str,
    first: &Place<'_>,
    rate: Option<Rate>,
) -> Result<(), SpecError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = behind_tc(&words);
    let (what, words) = match words.split_first() {
        Some((what @ (&"class" | &"qdisc" | &"filter"), words)) => (what, words),
        first => {
            return Err(SpecError::UnknownStatement {
                word: first.map_or("", |first| first.0).to_owned(),
            });
        }
    };
    let (place, words) = place(words)?;
    if let [kind @ ("ingress" | "clsact"), ..] = words {
        return Err(without_queue(kind));
    }
    if let (Some(own), Some(other)) = (
        place.device,
        first.device.filter(|&device| place.device != Some(device)),
    ) {
        let rule = format!("{other}, the device of the first statement: a text is for one link");
        return Err(ParamError::new(what, "dev", own, rule).into());
    }
    let parent = handle(
        what,
        "parent",
        place.parent.map(|text| complete(text, root.handle)).as_deref(),
        words,
    )?;
    match *what {
        "class" => class(root, parent, &place, words, first.stab),
        "qdisc" => qdisc(root, parent, &place, words, rate),
        _ => filters::read(root, parent, &place, words),
    }
}

/// Why a discipline of arrivals is none of a link.
pub(super) fn without_queue(kind: &str) -> SpecError {
    SpecError::NotModelled {
        kind: if kind == "clsact" { "clsact" } else { "ingress" },
        what: "what it does with arrivals",
        instead: "it has no queue, so give the statements of the device that it sends packets to",
    }
}

/// The handle of `key`, which must be there.
pub(super) fn handle(of: &str, key: &str, value: Option<&str>, words: &[&str]) -> Result<Handle, SpecError> {
    let field = format!("{of}.{key}");
    match (value, words.first()) {
        (Some(value), _) => Ok(Handle::parse(&field, value)?),
        (None, Some(word)) if *word != key => Err(SpecError::Expected {
            word: (*word).to_owned(),
            expected: format!("{key} and a handle"),
        }),
        _ => Err(SpecError::NoValue { field, unit: "handle" }),
    }
}

/// A handle with the number of its discipline, which `tc` and the kernel fill in where the text leaves it out.
fn complete(text: &str, major: u16) -> String {
    match text.split_once(':') {
        None => format!("{major:x}:{text}"),
        Some(("", minor)) => format!("{major:x}:{minor}"),
        Some(_) => text.to_owned(),
    }
}

/// The handle that a discipline is given; it needs no colon.
fn own_handle(place: &Place<'_>) -> Result<Option<Handle>, ParamError> {
    let Some(text) = place.handle else { return Ok(None) };
    let colon = if text.contains(':') { "" } else { ":" };
    let found = Handle::parse("qdisc.handle", &format!("{text}{colon}"))?;
    if found.minor == 0 {
        return Ok(Some(found));
    }
    let rule = "the number of a discipline, such as 11:";
    Err(ParamError::new("qdisc", "handle", found.to_string(), rule))
}

/// The classes of the discipline whose major number a handle has.
pub(super) fn classes_of<'a>(
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
pub(super) fn same_major(field: &str, handle: Handle, parent: Handle) -> Result<(), SpecError> {
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

fn class(
    root: &mut Classes<QdiscSpec>,
    parent: Handle,
    place: &Place<'_>,
    words: &[&str],
    stab: Option<Framing>,
) -> Result<(), SpecError> {
    let id = place.classid.map(|text| complete(text, parent.major));
    let id = handle("class", "classid", id.as_deref(), words)?;
    let classes = classes_of(root, "class.parent", parent)?;
    same_major("class.classid", id, parent)?;
    let Some((kind, words)) = words.split_first() else {
        return Err(SpecError::NoValue {
            field: "class.kind".to_owned(),
            unit: "htb or drr",
        });
    };
    classes.add_class(parent.minor, id.minor, kind, words, stab)
}

fn qdisc(
    root: &mut Classes<QdiscSpec>,
    parent: Handle,
    place: &Place<'_>,
    words: &[&str],
    rate: Option<Rate>,
) -> Result<(), SpecError> {
    let own = own_handle(place)?;
    if let Some(own) = own.filter(|own| root.of_major(own.major).is_some()) {
        let rule = "a number that no other discipline has";
        return Err(ParamError::new("qdisc", "handle", own.to_string(), rule).into());
    }
    let mut spec = QdiscSpec::parse_words(words, rate)?;
    if place.stab.is_some() {
        return Err(SpecError::NotModelled {
            kind: spec.kind(),
            what: "stab below another discipline",
            instead: "stab of an htb at the root does it",
        });
    }
    let classes = classes_of(root, "qdisc.parent", parent)?;
    if let (Some(below), Some(own)) = (spec.0.classes_mut(), own) {
        below.handle = own.major;
    }
    classes.graft(parent.minor, spec, place.replaces)?;
    if root.depth() > MOST_LEVELS {
        let rule = format!("a class of at most {} disciplines above each other", MOST_LEVELS - 1);
        return Err(ParamError::new("qdisc", "parent", parent.to_string(), rule).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
