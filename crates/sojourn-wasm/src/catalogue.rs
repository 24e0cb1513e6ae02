//! What there is to choose from.

use serde_json::{Value, json};
use sojourn_qdisc::{kinds, presets};
use wasm_bindgen::prelude::wasm_bindgen;

/// Disciplines with their words, presets, and congestion controls, as `sojourn list --json` names them: a JSON object.
#[must_use]
#[wasm_bindgen]
pub fn catalogue() -> String {
    let word = |p: sojourn_qdisc::ParameterInfo| json!({"name": p.name, "about": p.help, "default": p.default, "unit": p.unit});
    let disciplines: Vec<Value> = kinds()
        .into_iter()
        .map(|kind| {
            let words: Vec<Value> = kind.parameters.into_iter().map(word).collect();
            json!({"name": kind.kind, "about": kind.summary, "words": words, "source": kind.source})
        })
        .collect();
    let presets: Vec<Value> = presets()
        .into_iter()
        .map(|preset| json!({"name": preset.name, "about": preset.summary}))
        .collect();
    let controls: Vec<&str> = sojourn_tcp::cc::Algorithm::ALL
        .iter()
        .map(|control| control.name())
        .collect();
    json!({"disciplines": disciplines, "presets": presets, "controls": controls}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_has_what_the_simulator_has() {
        let all: Value = serde_json::from_str(&catalogue()).unwrap();
        let names = |key: &str| -> Vec<String> {
            let list = all[key].as_array().unwrap().iter();
            list.map(|one| one["name"].as_str().unwrap_or_default().to_owned())
                .collect()
        };
        assert_eq!(names("disciplines").len(), kinds().len());
        assert!(names("disciplines").contains(&"fq_codel".to_owned()));
        assert!(names("presets").contains(&"gbw:codel".to_owned()));
        assert!(all["controls"].as_array().unwrap().contains(&json!("cubic")));
        for one in all["disciplines"].as_array().unwrap() {
            for word in one["words"].as_array().unwrap() {
                assert!(!word["about"].as_str().unwrap().is_empty(), "{one}");
            }
        }
    }
}
