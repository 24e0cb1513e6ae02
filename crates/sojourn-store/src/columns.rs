//! The series of a record as columns: what is stored beside the record, and how to put it back.
//!
//! A series is taken apart by its shape alone: a list of numbers is a column of values, and the `t_s` beside it, or
//! else that of the record, holds its times. So a series that is added to the record is stored without a word here.

use crate::parquet::{Column, Damage, Holds, Rows as Filled, read, write};
use serde::Serialize;
use serde::ser::{Error as _, Impossible, SerializeMap, SerializeSeq, SerializeStruct, Serializer};
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
    /// The series.
    series: Node,
}

/// Takes a record apart.
///
/// # Errors
/// If `record` is not a struct of plain data.
pub fn split<T: Serialize>(record: &T) -> Result<Parts, Error> {
    record.serialize(Splitter)
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
        let Node::Group(fields) = &self.series else {
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
        fields: &[(String, Node)],
        times: Option<&[Option<f64>]>,
        path: &mut Vec<String>,
        directions: &BTreeMap<&str, &str>,
    ) -> Result<(), Error> {
        let own = fields.iter().find_map(|(name, node)| match node {
            Node::List { values, .. } if name == TIMES => Some(values.as_slice()),
            _ => None,
        });
        let times = own.or(times);
        if fields.is_empty() {
            self.lay_out(path, "empty", "rows", "0");
        }
        for (name, node) in fields {
            path.push(name.clone());
            match node {
                Node::Number { value, whole } => {
                    let value = match value {
                        Some(v) if *whole => (*v as u64).to_string(),
                        Some(v) => serde_json::to_string(v)?,
                        None => "null".to_owned(),
                    };
                    self.lay_out(path, "value", "value", &value);
                }
                Node::List { values, .. } if name == TIMES => {
                    self.lay_out(path, "times", "rows", &values.len().to_string());
                }
                Node::List { values, whole } => {
                    let times = times.filter(|t| t.len() == values.len());
                    let times =
                        times.ok_or_else(|| Error::custom(format!("series.{} has no times", path.join("."))))?;
                    let kind = if *whole { "whole" } else { "real" };
                    self.lay_out(path, kind, "rows", &values.len().to_string());
                    self.column(times, values, path, directions);
                }
                Node::Group(inner) => self.group(inner, times, path, directions)?,
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

/// A piece of the series.
#[derive(Debug)]
enum Node {
    Number { value: Option<f64>, whole: bool },
    List { values: Vec<Option<f64>>, whole: bool },
    Group(Vec<(String, Node)>),
}

/// The methods of a [`Serializer`] that have no place here.
macro_rules! refused {
    ($($method:ident($($argument:ty),*) -> $answer:ty;)*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<$answer, Error> {
            Err(Error::custom(concat!("a record holds no ", stringify!($method))))
        })*
    };
}

/// And those with a value of any type.
macro_rules! refused_generic {
    () => {
        fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, _: &T) -> Result<Self::Ok, Error> {
            Err(Error::custom("a record holds no newtype"))
        }
        fn serialize_newtype_variant<T: ?Sized + Serialize>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<Self::Ok, Error> {
            Err(Error::custom("a record holds no newtype variant"))
        }
    };
}

/// Takes the top level of a record apart.
struct Splitter;

impl Serializer for Splitter {
    type Ok = Parts;
    type Error = Error;
    type SerializeSeq = Impossible<Parts, Error>;
    type SerializeTuple = Impossible<Parts, Error>;
    type SerializeTupleStruct = Impossible<Parts, Error>;
    type SerializeTupleVariant = Impossible<Parts, Error>;
    type SerializeMap = Impossible<Parts, Error>;
    type SerializeStruct = SplitFields;
    type SerializeStructVariant = Impossible<Parts, Error>;

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<SplitFields, Error> {
        Ok(SplitFields {
            head: String::with_capacity(8192),
            series: Node::Group(Vec::new()),
        })
    }
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<Parts, Error> {
        value.serialize(self)
    }
    refused! {
        serialize_bool(bool) -> Parts; serialize_i8(i8) -> Parts; serialize_i16(i16) -> Parts;
        serialize_i32(i32) -> Parts; serialize_i64(i64) -> Parts; serialize_u8(u8) -> Parts;
        serialize_u16(u16) -> Parts; serialize_u32(u32) -> Parts; serialize_u64(u64) -> Parts;
        serialize_f32(f32) -> Parts; serialize_f64(f64) -> Parts; serialize_char(char) -> Parts;
        serialize_str(&str) -> Parts; serialize_bytes(&[u8]) -> Parts; serialize_none() -> Parts;
        serialize_unit() -> Parts; serialize_unit_struct(&'static str) -> Parts;
        serialize_unit_variant(&'static str, u32, &'static str) -> Parts;
        serialize_seq(Option<usize>) -> Self::SerializeSeq; serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }
    refused_generic!();
}

struct SplitFields {
    head: String,
    series: Node,
}

impl SerializeStruct for SplitFields {
    type Ok = Parts;
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        if key == "series" {
            self.series = value.serialize(Taker)?;
            return Ok(());
        }
        if !self.head.is_empty() {
            self.head.push(',');
        }
        self.head.push('"');
        self.head.push_str(key);
        self.head.push_str("\":");
        // Appended in place: to_writer wants bytes, and what it writes is text.
        let mut bytes = std::mem::take(&mut self.head).into_bytes();
        serde_json::to_writer(&mut bytes, value)?;
        self.head = String::from_utf8(bytes).map_err(Error::custom)?;
        Ok(())
    }

    fn end(self) -> Result<Parts, Error> {
        Ok(Parts {
            head: self.head,
            series: self.series,
        })
    }
}

/// Takes a series apart.
struct Taker;

fn whole(value: f64) -> Node {
    Node::Number {
        value: Some(value),
        whole: true,
    }
}

fn none() -> Node {
    // A list of nothing but nulls is real: what it would hold is a measured value.
    Node::Number {
        value: None,
        whole: false,
    }
}

impl Serializer for Taker {
    type Ok = Node;
    type Error = Error;
    type SerializeSeq = List;
    type SerializeTuple = Impossible<Node, Error>;
    type SerializeTupleStruct = Impossible<Node, Error>;
    type SerializeTupleVariant = Impossible<Node, Error>;
    type SerializeMap = Group;
    type SerializeStruct = Group;
    type SerializeStructVariant = Impossible<Node, Error>;

    fn serialize_u8(self, v: u8) -> Result<Node, Error> {
        Ok(whole(f64::from(v)))
    }
    fn serialize_u16(self, v: u16) -> Result<Node, Error> {
        Ok(whole(f64::from(v)))
    }
    fn serialize_u32(self, v: u32) -> Result<Node, Error> {
        Ok(whole(f64::from(v)))
    }
    /// Counters, far below 2^53.
    fn serialize_u64(self, v: u64) -> Result<Node, Error> {
        Ok(whole(v as f64))
    }
    fn serialize_f64(self, v: f64) -> Result<Node, Error> {
        Ok(Node::Number {
            value: v.is_finite().then_some(v),
            whole: false,
        })
    }
    fn serialize_none(self) -> Result<Node, Error> {
        Ok(none())
    }
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<Node, Error> {
        value.serialize(self)
    }
    fn serialize_seq(self, length: Option<usize>) -> Result<List, Error> {
        Ok(List {
            values: Vec::with_capacity(length.unwrap_or(0)),
            whole: true,
        })
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Group, Error> {
        Ok(Group::default())
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Group, Error> {
        Ok(Group::default())
    }
    refused! {
        serialize_bool(bool) -> Node; serialize_i8(i8) -> Node; serialize_i16(i16) -> Node; serialize_i32(i32) -> Node; serialize_i64(i64) -> Node;
        serialize_f32(f32) -> Node; serialize_char(char) -> Node; serialize_str(&str) -> Node;
        serialize_bytes(&[u8]) -> Node; serialize_unit() -> Node; serialize_unit_struct(&'static str) -> Node;
        serialize_unit_variant(&'static str, u32, &'static str) -> Node;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }
    refused_generic!();
}

struct List {
    values: Vec<Option<f64>>,
    whole: bool,
}

impl SerializeSeq for List {
    type Ok = Node;
    type Error = Error;

    fn serialize_element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        let Node::Number { value, whole } = value.serialize(Taker)? else {
            return Err(Error::custom("a list of a series holds numbers only"));
        };
        self.whole &= whole || value.is_none();
        self.values.push(value);
        Ok(())
    }

    fn end(self) -> Result<Node, Error> {
        let whole = self.whole && self.values.iter().any(Option::is_some);
        Ok(Node::List {
            values: self.values,
            whole,
        })
    }
}

#[derive(Default)]
struct Group {
    fields: Vec<(String, Node)>,
    key: Option<String>,
}

impl SerializeMap for Group {
    type Ok = Node;
    type Error = Error;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Error> {
        let serde_json::Value::String(key) = serde_json::to_value(key)? else {
            return Err(Error::custom("a key of a series must be text"));
        };
        self.key = Some(key);
        Ok(())
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        let key = self.key.take().unwrap_or_default();
        self.fields.push((key, value.serialize(Taker)?));
        Ok(())
    }

    fn end(self) -> Result<Node, Error> {
        Ok(Node::Group(self.fields))
    }
}

impl SerializeStruct for Group {
    type Ok = Node;
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        self.fields.push((key.to_owned(), value.serialize(Taker)?));
        Ok(())
    }

    fn end(self) -> Result<Node, Error> {
        Ok(Node::Group(self.fields))
    }
}
