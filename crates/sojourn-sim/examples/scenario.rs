//! Runs a scenario (JSON on standard input) and prints its record (JSON).
//!
//! ```sh
//! echo '{"duration": "10s", "flows": [{"name": "bulk", "direction": "up"}]}' |
//!     cargo run --release -p sojourn-sim --example scenario
//! ```

use std::io::Read;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut text = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut text) {
        eprintln!("standard input: {error}");
        return ExitCode::from(2);
    }
    let record = sojourn_sim::Scenario::from_json(&text)
        .map_err(|e| e.to_string())
        .and_then(|scenario| sojourn_sim::run(scenario).map_err(|e| e.to_string()));
    match record {
        Ok(record) => {
            println!("{}", record.to_json());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
