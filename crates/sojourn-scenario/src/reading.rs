//! From JSON to a scenario, with messages for people who do not know how a parser sees their file.

use crate::limits::{FLOWS_MAX, GROUPS_MAX, STATIONS_MAX, check_list};
use crate::scenario::DEFAULT_RTT;
use crate::topology::LINKS_MAX;
use crate::traffic::{KINDS, LISTS};
use crate::{Scenario, ScenarioError, fail, flat};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use sojourn_units::Duration;
use std::fmt;

/// Reads a scenario: the value that it was read from, and the scenario with its defaults, but for what is completed.
///
/// # Errors
/// [`ScenarioError`] for what is not JSON, a value of the wrong type, an unknown key, or a key that stands there twice.
pub(crate) fn read(json: &str) -> Result<(Value, Scenario), ScenarioError> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let Unique(mut value) = serde_path_to_error::deserialize(&mut reader).map_err(|e| not_json(json, &e))?;
    let ended = reader.end();
    ended.map_err(|e| ScenarioError::because(format!("scenario is not valid JSON: {e}")))?;
    check_objects(&value)?;
    inherit_rtt(&mut value);
    flat::nest(&mut value);
    let scenario = serde_path_to_error::deserialize(&value);
    let scenario = scenario.map_err(|e| explain(&flat::flat_path(&e.path().to_string()), &e.inner().to_string()))?;
    flat::flatten(&mut value);
    if value.get("duration").is_none_or(Value::is_null) {
        return fail("duration", "missing", "given, such as 60s");
    }
    Ok((value, scenario))
}

/// Traffic without a base RTT of its own has the path's.
fn inherit_rtt(value: &mut Value) {
    if value.get("topology").is_some_and(|topology| !topology.is_null()) {
        // There it follows from the links.
        return;
    }
    let rtt = match value.get("rtt") {
        None => Value::from(DEFAULT_RTT.to_string()),
        Some(rtt) => rtt.clone(),
    };
    if Duration::deserialize(&rtt).is_err() {
        // It is refused with its own name.
        return;
    }
    for key in LISTS {
        let entries = value.get_mut(key).and_then(Value::as_array_mut);
        for object in entries.into_iter().flatten().filter_map(Value::as_object_mut) {
            if object.get("rtt").is_none_or(Value::is_null) {
                object.insert("rtt".to_owned(), rtt.clone());
            }
        }
    }
}

/// A value whose objects have each key once.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Unique;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }
            fn visit_unit<E>(self) -> Result<Unique, E> {
                Ok(Unique(Value::Null))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_str<E>(self, value: &str) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Unique, A::Error> {
                let mut values = Vec::new();
                while let Some(Unique(value)) = list.next_element()? {
                    values.push(value);
                }
                Ok(Unique(values.into()))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Unique, A::Error> {
                let mut object = Map::new();
                while let Some((key, Unique(value))) = entries.next_entry::<String, Unique>()? {
                    if object.contains_key(&key) {
                        return Err(A::Error::custom(format!("duplicate field `{key}`")));
                    }
                    object.insert(key, value);
                }
                Ok(Unique(object.into()))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// The sentence for what is no JSON. A number that JSON does not have, such as NaN, is told with its field.
fn not_json(json: &str, error: &serde_path_to_error::Error<serde_json::Error>) -> ScenarioError {
    let inner = error.inner();
    let path = error.path().to_string();
    let message = inner.to_string();
    if let Some((key, _)) = message
        .strip_prefix("duplicate field `")
        .and_then(|rest| rest.rsplit_once("` at line "))
    {
        let parent = if path == "." { "" } else { &path };
        let sentence = format!("key {:?} is given twice, but must be given once", join(parent, key));
        return ScenarioError::because(sentence);
    }
    let found = token(json, inner.line(), inner.column());
    let digits = found.trim_start_matches('-');
    let number = ["NaN", "Infinity"].contains(&digits) || digits.starts_with(|c: char| c.is_ascii_digit());
    let of_it = ["expected value", "invalid number", "number out of range"];
    let of_it = of_it.iter().any(|what| message.starts_with(what));
    if !of_it || !number || [".", "?"].contains(&path.as_str()) {
        return ScenarioError::because(format!("scenario is not valid JSON: {inner}"));
    }
    let found = if found.len() > TOKEN_SHOWN {
        format!("a number of {} digits", found.len())
    } else {
        found.to_owned()
    };
    let path = on_one_line(&path);
    ScenarioError::because(format!(
        "{path} is {found}, but must be a finite number that JSON can hold"
    ))
}

/// Longest number that is told as it stands.
const TOKEN_SHOWN: usize = 40;

/// The word, or the number, at a place that an error names: the column is that of its first character, or of one in or after it.
fn token(json: &str, line: usize, column: usize) -> &str {
    let line = json.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let ends = |c: char| matches!(c, ',' | ':' | '[' | ']' | '{' | '}' | '"') || c.is_whitespace();
    let mut at = column.saturating_sub(1).min(line.len());
    while !line.is_char_boundary(at) {
        at -= 1;
    }
    let (before, after) = line.split_at(at);
    let begin = before.rfind(ends).map_or(0, |i| i + 1);
    let end = after.find(ends).map_or(line.len(), |i| at + i);
    line.get(begin..end).unwrap_or_default()
}

/// Checks that objects are where they must be: serde would take a list for an object, its values in order.
fn check_objects(value: &Value) -> Result<(), ScenarioError> {
    object("scenario", value)?;
    if let Some(tcp) = value.get("tcp") {
        object("tcp", tcp)?;
    }
    if let Some(wifi) = value.get("wifi") {
        check_wifi(wifi)?;
    }
    if let Some(topology) = value.get("topology").filter(|topology| !topology.is_null()) {
        object("topology", topology)?;
        check_list("topology.links", topology.get("links"), LINKS_MAX)?;
        objects("topology.links", topology.get("links"))?;
    }
    if let Some(flusher) = value.get("flusher") {
        object("flusher", flusher)?;
        check_list("flusher.watch", flusher.get("watch"), FLOWS_MAX)?;
    }
    objects("programs", value.get("programs"))?;
    check_traffic(value)?;
    LISTS.iter().try_for_each(|key| objects(key, value.get(key)))
}

/// Refuses more traffic than routes can be numbered for, before anything is made of it.
fn check_traffic(value: &Value) -> Result<(), ScenarioError> {
    let count = |key: &&str| value.get(*key).and_then(Value::as_array).map_or(0, Vec::len);
    let n: usize = LISTS.iter().map(count).sum();
    if n > FLOWS_MAX {
        let rule = format!("at most {FLOWS_MAX} together");
        return fail(&format!("number of {KINDS}"), n, rule);
    }
    Ok(())
}

/// The same within key `wifi`.
fn check_wifi(wifi: &Value) -> Result<(), ScenarioError> {
    object("wifi", wifi)?;
    check_list("wifi.stations", wifi.get("stations"), STATIONS_MAX)?;
    check_list("wifi.groups", wifi.get("groups"), GROUPS_MAX)?;
    objects("wifi.stations", wifi.get("stations"))?;
    objects("wifi.groups", wifi.get("groups"))?;
    let Some(edca) = wifi.get("edca") else { return Ok(()) };
    object("wifi.edca", edca)?;
    for (of, table) in edca.as_object().into_iter().flatten() {
        object(&format!("wifi.edca.{of}"), table)?;
        for (category, parameters) in table.as_object().into_iter().flatten() {
            object(&format!("wifi.edca.{of}.{category}"), parameters)?;
        }
    }
    Ok(())
}

/// Checks that a list, if there is one, holds nothing but objects.
fn objects(field: &str, list: Option<&Value>) -> Result<(), ScenarioError> {
    let mut items = list.and_then(Value::as_array).into_iter().flatten().enumerate();
    items.try_for_each(|(i, item)| object(&format!("{field}[{i}]"), item))
}

fn object(field: &str, value: &Value) -> Result<(), ScenarioError> {
    if value.is_object() {
        Ok(())
    } else {
        fail(field, kind(value), "an object")
    }
}

fn kind(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    }
}

/// Examples of what must be there, by the last key of its name.
const EXAMPLES: [(&str, &str); 5] = [
    ("bytes", "1700000"),
    ("direction", "\"up\""),
    ("gap", "9.5s"),
    ("kind", "\"icmp\""),
    ("rate", "\"ht mcs 15 20mhz sgi\""),
];

/// The sentence for a message of serde about the value at `path`.
fn explain(path: &str, message: &str) -> ScenarioError {
    // serde_path_to_error ends the path of an unknown key with the key, and that of a repeated or missing one with its parent.
    let of = |key: &str| {
        let parent = path.strip_suffix(key).unwrap_or(path).trim_end_matches('.');
        join(parent, key)
    };
    let field = on_one_line(path);
    let sentence = if let Some(rest) = message.strip_prefix("unknown field `") {
        let (key, expected) = rest.split_once("`, expected ").unwrap_or((rest, ""));
        let expected = match path.strip_suffix(key) {
            Some("") => flat::keys().join(", "),
            _ => expected.trim_start_matches("one of ").replace('`', ""),
        };
        format!("key {:?} is unknown, but must be one of {expected}", of(key))
    } else if let Some(key) = message.strip_prefix("missing field `") {
        let key = key.trim_end_matches('`');
        let example = EXAMPLES.iter().find(|(name, _)| *name == key);
        let such = example.map(|(_, example)| format!(", such as {example}"));
        format!("{} is missing, but must be given{}", of(key), such.unwrap_or_default())
    } else if let Some((found, expected)) = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))
        .and_then(|rest| rest.rsplit_once(", expected "))
    {
        format!("{field} is {}, but must be {}", found_in_json(found), wanted(expected))
    } else if message.starts_with("is ") {
        format!("{field} {}", on_one_line(message))
    } else if message.starts_with(path) {
        // It names a field within this one.
        on_one_line(message)
    } else {
        format!("{field}: {}", on_one_line(message))
    };
    ScenarioError::because(sentence)
}

/// Text of the file, of which keys may have any characters, as a sentence can hold it.
fn on_one_line(text: &str) -> String {
    let escaped = |c: char| c.is_control().then(|| c.escape_default().to_string());
    text.chars().map(|c| escaped(c).unwrap_or_else(|| c.into())).collect()
}

fn join(parent: &str, key: &str) -> String {
    if parent.is_empty() {
        key.to_owned()
    } else {
        format!("{parent}.{key}")
    }
}

/// What serde found, as JSON has it: "integer `5`" is 5.
fn found_in_json(found: &str) -> String {
    match found {
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        _ => match (found.strip_prefix("string "), found.split_once('`')) {
            (Some(text), _) => text.to_owned(),
            (None, Some((_, value))) => value.trim_end_matches('`').to_owned(),
            (None, None) => found.to_owned(),
        },
    }
}

fn wanted(expected: &str) -> String {
    match expected {
        "a string" => "text in quotes".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a sequence" => "a list".to_owned(),
        "u8" => format!("a whole number from 0 to {}", u8::MAX),
        "u16" => format!("a whole number from 0 to {}", u16::MAX),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" | "usize" => format!("a whole number from 0 to {}", u64::MAX),
        other => other.to_owned(),
    }
}
