//! The series of a record as columns: what is stored beside the record, and how to put it back.
//!
//! A series is taken apart by its shape alone: a list of numbers is a column of values, and the `t_s` beside it, or
//! else that of the record, holds its times. So a series that is added to the record is stored without a word here.

use crate::parquet::{Column, Damage, Holds, Rows as Filled, read, write};
use ciborium::Value;
use serde::ser::{Error as _, Serialize, Serializer};
use std::collections::BTreeMap;

/// Why a value cannot be taken apart.
pub type Error = serde_json::Error;

/// Name of a list of times.
const TIMES: &str = "t_s";

/// A record, taken apart.
#[derive(Debug)]
pub struct Parts {
    /// Every field but `series`, as the inside of a JSON object, in the order of the record.
    pub head: String,
    /// The series, its fields in the order of the record.
    series: Value,
}

/// Takes a record apart.
///
/// # Errors
/// If `record` is not a struct of plain data.
pub fn split<T: Serialize>(record: &T) -> Result<Parts, Error> {
    let Value::Map(mut fields) = Value::serialized(record).map_err(Error::custom)? else {
        return Err(Error::custom("a record must be an object"));
    };
    let place = fields.iter().position(|(key, _)| key.as_text() == Some("series"));
    let place = place.ok_or_else(|| Error::custom("a record must have series"))?;
    let (_, series) = fields.remove(place);
    let mut head = serde_json::to_string(&Json(&Value::Map(fields)))?;
    // Without the braces.
    head.pop();
    head.remove(0);
    Ok(Parts { head, series })
}

impl Parts {
    /// The series as a Parquet file in long form, and its layout: what [`Parts::head`] lacks to be the whole record.
    ///
    /// The columns are `t_s`, `metric`, `name`, `direction` and `value`; `directions` holds the direction of each
    /// flow.
    ///
    /// # Errors
    /// If a column is not as long as its times.
    pub fn store(&self, directions: &BTreeMap<&str, &str>) -> Result<(Vec<u8>, String), Error> {
        let Value::Map(fields) = &self.series else {
            return Err(Error::custom("series must be an object"));
        };
        let mut rows = Rows::default();
        rows.group(fields, None, &mut Vec::new(), directions)?;
        let count = rows.values.len();
        let file = write(
            count,
            &[
                Column::numbers(TIMES, rows.times),
                Column::labels("metric", rows.metrics),
                Column::labels("name", rows.names),
                Column::labels("direction", rows.directions),
                Column::numbers("value", rows.values),
            ],
        );
        Ok((file, format!("{{\"rows\":{count},\"parts\":[{}]}}", rows.layout)))
    }
}

/// The columns of a file that [`Parts::store`] made, each of `rows` rows.
///
/// # Errors
/// If it is not such a file.
pub fn load(file: &[u8], rows: usize) -> Result<Vec<Filled>, Damage> {
    let columns = [
        (TIMES, Holds::Numbers),
        ("metric", Holds::Labels),
        ("name", Holds::Labels),
        ("direction", Holds::Labels),
        ("value", Holds::Numbers),
    ];
    read(file, rows, &columns)
}

/// The long form while it grows: numbers row by row, labels as (label, rows) runs.
#[derive(Debug, Default)]
struct Rows {
    times: Vec<Option<f64>>,
    metrics: Vec<(Option<String>, usize)>,
    names: Vec<(Option<String>, usize)>,
    directions: Vec<(Option<String>, usize)>,
    values: Vec<Option<f64>>,
    /// For each part of the series its path and what it is: JSON objects, separated by commas.
    layout: String,
}

impl Rows {
    fn group(
        &mut self,
        fields: &[(Value, Value)],
        times: Option<&[Option<f64>]>,
        path: &mut Vec<String>,
        directions: &BTreeMap<&str, &str>,
    ) -> Result<(), Error> {
        let own = fields.iter().find(|(key, _)| key.as_text() == Some(TIMES));
        let own = own.and_then(|(_, list)| list.as_array()).map(|list| numbers(list));
        let own = own.transpose()?;
        let times = own.as_ref().map(|(times, _)| times.as_slice()).or(times);
        if fields.is_empty() {
            self.lay_out(path, "empty", "rows", "0");
        }
        for (key, value) in fields {
            let name = key.as_text();
            let name = name.ok_or_else(|| Error::custom("a key of a series must be text"))?;
            path.push(name.to_owned());
            match value {
                Value::Map(inner) => self.group(inner, times, path, directions)?,
                Value::Array(list) if name == TIMES => {
                    self.lay_out(path, "times", "rows", &list.len().to_string());
                }
                Value::Array(list) => {
                    let (values, whole) = numbers(list)?;
                    let times = times.filter(|t| t.len() == values.len());
                    let times =
                        times.ok_or_else(|| Error::custom(format!("series.{} has no times", path.join("."))))?;
                    let kind = if whole { "whole" } else { "real" };
                    self.lay_out(path, kind, "rows", &values.len().to_string());
                    self.column(times, &values, path, directions);
                }
                value => {
                    number(value)?;
                    self.lay_out(path, "value", "value", &serde_json::to_string(&Json(value))?);
                }
            }
            path.pop();
        }
        Ok(())
    }

    /// Notes a part. A name in a path is a scenario's (letters, digits and a few signs), so it needs no escapes.
    fn lay_out(&mut self, path: &[String], kind: &str, key: &str, value: &str) {
        let comma = if self.layout.is_empty() { "" } else { "," };
        for piece in [
            comma,
            "{\"path\":[\"",
            &path.join("\",\""),
            "\"],\"is\":\"",
            kind,
            "\",\"",
            key,
            "\":",
            value,
            "}",
        ] {
            self.layout.push_str(piece);
        }
    }

    fn column(
        &mut self,
        times: &[Option<f64>],
        values: &[Option<f64>],
        path: &[String],
        directions: &BTreeMap<&str, &str>,
    ) {
        let metric = match path {
            [group, _, leaf] if !leaf.starts_with(group.as_str()) => format!("{group}_{leaf}"),
            [_, _, leaf] => leaf.clone(),
            [group, ..] => group.clone(),
            [] => String::new(),
        };
        let name = path.get(1).cloned();
        let direction = name.as_deref().and_then(|name| directions.get(name));
        let rows = values.len();
        self.times.extend_from_slice(times);
        self.values.extend_from_slice(values);
        self.metrics.push((Some(metric), rows));
        self.directions.push((direction.map(ToString::to_string), rows));
        self.names.push((name, rows));
    }
}

/// The numbers of a list, and whether they are counts. A list of nothing but nulls is not: what it would hold is a
/// measured value.
fn numbers(list: &[Value]) -> Result<(Vec<Option<f64>>, bool), Error> {
    let values: Vec<Option<f64>> = list.iter().map(number).collect::<Result<_, _>>()?;
    let whole = list.iter().all(|value| value.is_integer() || value.is_null());
    let whole = whole && values.iter().any(Option::is_some);
    Ok((values, whole))
}

/// A number; `None` for what is null, or not finite. A count is far below 2^53.
fn number(value: &Value) -> Result<Option<f64>, Error> {
    match value {
        Value::Integer(count) => Ok(Some(u64::try_from(*count).map_err(Error::custom)? as f64)),
        Value::Float(number) => Ok(Some(*number).filter(|number| number.is_finite())),
        Value::Null => Ok(None),
        _ => Err(Error::custom("a series holds numbers only")),
    }
}

/// A value in JSON's types, which have no `f32`: ciborium writes one where it is exact, and its digits are fewer.
struct Json<'a>(&'a Value);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Float(number) => serializer.serialize_f64(*number),
            Value::Array(list) => serializer.collect_seq(list.iter().map(Json)),
            Value::Map(fields) => serializer.collect_map(fields.iter().map(|(key, value)| (Json(key), Json(value)))),
            other => other.serialize(serializer),
        }
    }
}
