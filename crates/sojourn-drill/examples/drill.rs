//! Runs packetdrill scripts: `cargo run -p sojourn-drill --example drill -- FILE...` prints a line for each, and how
//! many passed.

use sojourn_drill::{Outcome, parse, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    let (mut passed, mut failed, mut not_applicable) = (0, 0, 0);
    for file in std::env::args().skip(1) {
        let read = std::fs::read_to_string(&file).map_err(|error| error.to_string());
        let script = read.and_then(|text| parse(&text).map_err(|error| error.to_string()));
        let outcome = match script {
            Ok(script) => run(&script).outcome,
            Err(error) => {
                println!("{file}: {error}");
                failed += 1;
                continue;
            }
        };
        match outcome {
            Outcome::Passed => passed += 1,
            Outcome::Failed(_) => failed += 1,
            Outcome::NotApplicable { .. } => not_applicable += 1,
        }
        println!("{file}: {outcome}");
    }
    println!("{passed} passed, {failed} failed, {not_applicable} not applicable");
    ExitCode::from(u8::from(failed > 0))
}
