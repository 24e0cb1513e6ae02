//! From JSON to the text form, with messages for people who do not know how a parser sees their file.

use crate::limits::{FLOWS_MAX, GROUPS_MAX, STATIONS_MAX, check_list};
use crate::text::Text;
use crate::{ScenarioError, fail};
use serde_json::Value;

/// Reads the text form.
///
/// # Errors
/// [`ScenarioError`] for what is not JSON, a value of the wrong type, an unknown key, or a key given twice.
pub(crate) fn read(json: &str) -> Result<Text, ScenarioError> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let value: Value = serde_path_to_error::deserialize(&mut reader).map_err(|e| not_json(json, &e))?;
    reader
        .end()
        .map_err(|e| ScenarioError(format!("scenario is not valid JSON: {e}")))?;
    check_objects(&value)?;
    // From the text again, because a value has lost the keys that were given twice.
    let mut reader = serde_json::Deserializer::from_str(json);
    serde_path_to_error::deserialize(&mut reader).map_err(|e| {
        let path = e.path().to_string();
        let message = e.inner().to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        explain(&path, message)
    })
}

/// The sentence for what is no JSON. A number that JSON does not have, such as NaN, is told with its field.
fn not_json(json: &str, error: &serde_path_to_error::Error<serde_json::Error>) -> ScenarioError {
    let inner = error.inner();
    let path = error.path().to_string();
    let found = token(json, inner.line(), inner.column());
    let digits = found.trim_start_matches('-');
    let number = ["NaN", "Infinity"].contains(&digits) || digits.starts_with(|c: char| c.is_ascii_digit());
    let of_it = ["expected value", "invalid number", "number out of range"];
    let of_it = of_it.iter().any(|what| inner.to_string().starts_with(what));
    if !of_it || !number || [".", "?"].contains(&path.as_str()) {
        return ScenarioError(format!("scenario is not valid JSON: {inner}"));
    }
    let found = if found.len() > TOKEN_SHOWN {
        format!("a number of {} digits", found.len())
    } else {
        found.to_owned()
    };
    let path = on_one_line(&path);
    ScenarioError(format!(
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
    if let Some(flusher) = value.get("flusher") {
        object("flusher", flusher)?;
        check_list("flusher.watch", flusher.get("watch"), FLOWS_MAX)?;
    }
    check_traffic(value)?;
    for key in TRAFFIC {
        let items = value.get(key).and_then(Value::as_array).into_iter().flatten();
        for (i, item) in items.enumerate() {
            object(&format!("{key}[{i}]"), item)?;
        }
    }
    Ok(())
}

/// Lists of traffic.
const TRAFFIC: [&str; 4] = ["flows", "probes", "web", "downloads"];

/// Refuses more traffic than routes can be numbered for, before anything is made of it.
fn check_traffic(value: &Value) -> Result<(), ScenarioError> {
    let count = |key| value.get(key).and_then(Value::as_array).map_or(0, Vec::len);
    let n: usize = TRAFFIC.into_iter().map(count).sum();
    if n > FLOWS_MAX {
        return fail(
            "number of flows, probes, web clients and downloads",
            n,
            format!("at most {FLOWS_MAX} together"),
        );
    }
    Ok(())
}

/// The same within key `wifi`.
fn check_wifi(wifi: &Value) -> Result<(), ScenarioError> {
    object("wifi", wifi)?;
    check_list("wifi.stations", wifi.get("stations"), STATIONS_MAX)?;
    check_list("wifi.groups", wifi.get("groups"), GROUPS_MAX)?;
    let stations = wifi.get("stations").and_then(Value::as_array).into_iter().flatten();
    for (i, station) in stations.enumerate() {
        object(&format!("wifi.stations[{i}]"), station)?;
    }
    let groups = wifi.get("groups").and_then(Value::as_array).into_iter().flatten();
    for (i, group) in groups.enumerate() {
        object(&format!("wifi.groups[{i}]"), group)?;
    }
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

/// The sentence for a message of serde about the value at `path`.
fn explain(path: &str, message: &str) -> ScenarioError {
    // serde_path_to_error ends the path of an unknown key with the key, and that of a repeated one with its parent.
    let sentence = if let Some(rest) = message.strip_prefix("unknown field `") {
        let (key, expected) = rest.split_once("`, expected ").unwrap_or((rest, ""));
        let expected = expected.trim_start_matches("one of ").replace('`', "");
        let parent = path.strip_suffix(key).unwrap_or(path).trim_end_matches('.');
        format!("key {:?} is unknown, but must be one of {expected}", join(parent, key))
    } else if let Some(key) = message.strip_prefix("duplicate field `") {
        let key = key.trim_end_matches('`');
        let parent = path.strip_suffix(key).unwrap_or(path).trim_end_matches('.');
        format!("key {:?} is given twice, but must be given once", join(parent, key))
    } else if let Some((found, expected)) = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))
        .and_then(|rest| rest.rsplit_once(", expected "))
    {
        let path = on_one_line(path);
        format!("{path} is {}, but must be {}", found_in_json(found), wanted(expected))
    } else {
        format!("{} cannot be read: {}", on_one_line(path), on_one_line(message))
    };
    ScenarioError(sentence)
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
