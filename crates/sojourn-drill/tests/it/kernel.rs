//! The scripts of Linux 7.3, of `tools/testing/selftests/net/packetdrill`, have the outcomes of the table. Their folder
//! is in `SOJOURN_PACKETDRILL`; without it the test says that it skips.

use serde::Deserialize;
use sojourn_drill::{parse, run};
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    script: Vec<Expected>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    name: String,
    outcome: String,
    why: Option<String>,
}

fn table() -> BTreeMap<String, Expected> {
    let table: Table = toml::from_str(include_str!("../../data/linux-7.3.toml")).expect("it is a table");
    table.script.into_iter().map(|one| (one.name.clone(), one)).collect()
}

#[test]
fn each_script_has_one_outcome_and_those_that_do_not_pass_a_reason() {
    let table = table();
    assert_eq!(table.len(), 165);
    for one in table.values() {
        assert!(
            ["passed", "failed", "not applicable"].contains(&one.outcome.as_str()),
            "{one:?}"
        );
        assert_eq!(one.why.is_none(), one.outcome == "passed", "{one:?}");
    }
}

/// The goal: of the scripts about what our TCP has, nine of ten pass.
#[test]
fn nine_of_ten_applicable_scripts_pass() {
    let count = |word: &str| table().values().filter(|one| one.outcome == word).count();
    assert!(count("passed") >= 9 * count("failed"));
}

#[test]
fn the_scripts_of_the_kernel_have_the_outcomes_of_the_table() {
    let Some(folder) = std::env::var_os("SOJOURN_PACKETDRILL") else {
        eprintln!("skipped: SOJOURN_PACKETDRILL does not name the folder of the kernel's scripts");
        return;
    };
    let mut differences = Vec::new();
    for (name, expected) in table() {
        let file = Path::new(&folder).join(&name);
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let outcome = match parse(&text) {
            Ok(script) => run(&script).outcome,
            Err(error) => panic!("{name}: {error}"),
        };
        if outcome.word() != expected.outcome {
            differences.push(format!("{name}: the table says {}, but {outcome}", expected.outcome));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
