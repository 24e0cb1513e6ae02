//! The keys of the path's two links stand among those of a scenario: `burst_up` is the `burst` of link `up`.

use crate::scenario::{DEFAULT_RATE, QDISC};
use crate::{Direction, LinkScenario, Scenario, schema};
use schemars::Schema;
use serde_json::{Map, Value, json};

/// Keys that a link of a topology has, and the path has for both of its links, or not at all.
const OF_A_TOPOLOGY: [&str; 4] = ["between", "one_way", "delay", "delay_tick"];

/// What key `key` of the link in this direction is called among the keys of a scenario: the rate is `up` or `down`.
pub(crate) fn flat(key: &str, direction: Direction) -> String {
    match (key, direction.name()) {
        ("rate", way) => way.to_owned(),
        (key, way) => format!("{key}_{way}"),
    }
}

/// The keys of a link that the path has for each of its own.
pub(crate) fn of_the_path() -> impl Iterator<Item = &'static str> {
    let keys = schema::keys::<LinkScenario>().into_iter();
    keys.filter(|key| !OF_A_TOPOLOGY.contains(key))
}

/// The keys of a scenario, in order.
pub(crate) fn keys() -> Vec<String> {
    let keys = schema::keys::<Scenario>().into_iter();
    let both = |key| Direction::ALL.map(|direction| flat(key, direction));
    keys.flat_map(|key| match key {
        "up" => of_the_path().flat_map(both).collect(),
        "down" => Vec::new(),
        key => vec![key.to_owned()],
    })
    .collect()
}

/// Moves the keys of the path's links, which stand among those of a scenario, into the links.
pub(crate) fn nest(scenario: &mut Value) {
    let Some(scenario) = scenario.as_object_mut() else {
        return;
    };
    for direction in Direction::ALL {
        let keys = of_the_path().filter_map(|key| Some((key.to_owned(), scenario.remove(&flat(key, direction))?)));
        let link: Map<_, _> = keys.collect();
        scenario.insert(direction.name().to_owned(), link.into());
    }
}

/// Undoes [`nest`].
pub(crate) fn flatten(scenario: &mut Value) {
    let Some(scenario) = scenario.as_object_mut() else {
        return;
    };
    for direction in Direction::ALL {
        let Some(Value::Object(mut link)) = scenario.remove(direction.name()) else {
            continue;
        };
        let keys = of_the_path().filter_map(|key| Some((flat(key, direction), link.remove(key)?)));
        scenario.extend(keys);
    }
}

/// The name of a key as a file has it, of one that serde found in a link of the path.
pub(crate) fn flat_path(path: &str) -> String {
    let of = |direction: &Direction| {
        let key = path.strip_prefix(direction.name())?.strip_prefix('.')?;
        Some(flat(key, *direction))
    };
    Direction::ALL.iter().find_map(of).unwrap_or_else(|| path.to_owned())
}

/// Puts the keys of the path's links into the schema of a scenario. Those of a topology's links explain them, but for what
/// the path has if nothing is said.
pub(crate) fn describe(schema: &mut Schema) {
    let link = schema.pointer("/$defs/Link/properties").cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = schema.pointer_mut("/properties") else {
        return;
    };
    for (direction, way) in [
        (Direction::Up, "client to server"),
        (Direction::Down, "server to client"),
    ] {
        properties.remove(direction.name());
        for key in of_the_path() {
            let mut property = link.get(key).cloned().unwrap_or_default();
            let own = match (key, direction) {
                ("rate", _) => Some((format!("Rate of the bottleneck from {way}."), DEFAULT_RATE.to_string())),
                ("qdisc", Direction::Up) => Some((
                    "Discipline from client to server: `tc` text or a preset such as `\"gbw:codel\"`; those of `sojourn \
                     list linux` on `linux` only."
                        .to_owned(),
                    QDISC.to_owned(),
                )),
                ("qdisc", Direction::Down) => Some(("Discipline from server to client.".to_owned(), QDISC.to_owned())),
                (_, Direction::Up) => None,
                (_, Direction::Down) => {
                    property["description"] = "The same from server to client.".into();
                    None
                }
            };
            if let Some((description, default)) = own {
                property["description"] = description.into();
                property["default"] = json!(default);
                property["type"] = "string".into();
            }
            properties.insert(flat(key, direction), property);
        }
    }
}
