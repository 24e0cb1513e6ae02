//! From JSON to the text form, with messages for people who do not know how a parser sees their file.

use super::text::Text;
use super::{ScenarioError, fail};
use serde_json::Value;

/// Reads the text form.
///
/// # Errors
/// [`ScenarioError`] for what is not JSON, a value of the wrong type, an unknown key, or a key given twice.
pub(super) fn read(json: &str) -> Result<Text, ScenarioError> {
    let value: Value =
        serde_json::from_str(json).map_err(|e| ScenarioError(format!("scenario is not valid JSON: {e}")))?;
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
    }
    for key in ["flows", "probes", "web", "downloads"] {
        let items = value.get(key).and_then(Value::as_array).into_iter().flatten();
        for (i, item) in items.enumerate() {
            object(&format!("{key}[{i}]"), item)?;
        }
    }
    Ok(())
}

/// The same within key `wifi`.
fn check_wifi(wifi: &Value) -> Result<(), ScenarioError> {
    object("wifi", wifi)?;
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
        format!("{path} is {}, but must be {}", found_in_json(found), wanted(expected))
    } else {
        format!("{path} cannot be read: {message}")
    };
    ScenarioError(sentence)
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
