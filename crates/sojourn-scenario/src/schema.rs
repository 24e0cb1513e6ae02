//! The keys of a scenario as data, for editors, documents and other languages.

use crate::wifi_keys::{Categories, Category, Edca, Group, Station, Wifi};
use crate::{FlusherScenario, LinkScenario, ProgramScenario, Scenario, TopologyScenario, flat, traffic};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, Deserialize, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use serde_json::{Value, json};
use sojourn_tcp::TcpParams;
use std::fmt;

/// The keys of a scenario as a JSON Schema: their types, defaults and meaning. Each object has its keys in the order in which
/// they are explained, as `x-order`. What another language is to know is in `x-python`.
#[must_use]
pub fn schema() -> Schema {
    let mut generator = SchemaGenerator::default();
    let mut schema = generator.root_schema_for::<Scenario>();
    schema.insert("x-order".to_owned(), json!(flat::keys()));
    let others = [
        named::<TcpParams>(),
        named::<Wifi>(),
        named::<Station>(),
        named::<Group>(),
        named::<Edca>(),
        named::<Categories>(),
        named::<Category>(),
        named::<FlusherScenario>(),
        named::<TopologyScenario>(),
        named::<LinkScenario>(),
        named::<ProgramScenario>(),
    ];
    for (name, order) in traffic::keys().into_iter().chain(others) {
        if let Some(Value::Object(object)) = schema.pointer_mut(&format!("/$defs/{name}")) {
            object.insert("x-order".to_owned(), json!(order));
        }
    }
    flat::describe(&mut schema);
    schema
}

pub(crate) fn named<T: JsonSchema + for<'de> Deserialize<'de>>() -> (String, Vec<&'static str>) {
    (T::schema_name().into_owned(), keys::<T>())
}

/// The keys of a struct, in the order of its declaration.
pub(crate) fn keys<T: for<'de> Deserialize<'de>>() -> Vec<&'static str> {
    match T::deserialize(Ask) {
        Err(Keys(keys)) => keys.to_vec(),
        Ok(_) => Vec::new(),
    }
}

/// A deserializer that answers with the keys of the struct that asks it.
struct Ask;

/// Its answer.
#[derive(Debug)]
struct Keys(&'static [&'static str]);

impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

impl std::error::Error for Keys {}

impl de::Error for Keys {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(&[])
    }
}

impl<'de> Deserializer<'de> for Ask {
    type Error = Keys;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Keys> {
        Err(Keys(&[]))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Keys> {
        Err(Keys(fields))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_has_its_keys_in_order() {
        let schema = schema();
        let objects = schema.get("$defs").and_then(Value::as_object).expect("definitions");
        let mut count = 0;
        for (name, object) in objects.iter().map(|(name, object)| (name.as_str(), object)) {
            let properties = object["properties"].as_object().expect("keys");
            let mut order: Vec<&str> = object["x-order"]
                .as_array()
                .unwrap_or_else(|| panic!("{name} has no order"))
                .iter()
                .filter_map(Value::as_str)
                .collect();
            order.sort_unstable();
            assert_eq!(order, properties.keys().collect::<Vec<_>>(), "{name}");
            for (key, property) in properties {
                assert!(property.get("description").is_some(), "{name}.{key} is not explained");
            }
            count += 1;
        }
        assert!(count >= 12, "{count}");
    }

    #[test]
    fn keys_are_in_the_order_of_the_declaration() {
        assert_eq!(keys::<Group>(), ["name", "weight", "cap"]);
    }
}
