//! One run in the simulator.

use sojourn_sim::{Backend, Limits, Record, Scenario, Stack, Stacks, run_with};
use sojourn_store::Packed;
use sojourn_store::cost::{Clock, peak_rss_mb};
use std::io::{Read, Write, stdin, stdout};

/// Prints bytes on standard output.
pub(crate) fn print(bytes: &[u8]) -> Result<(), String> {
    let mut out = stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    written.map_err(|error| format!("standard output: {error}"))
}

/// Runs the scenario on standard input, and prints its record; or, of a run that a store keeps by an id and a build, a line
/// with the lengths of its head, its series and its summary, and those.
pub(crate) fn answer(stacks: &[Stack], stored: Option<(String, String)>) -> Result<(), String> {
    let mut text = String::new();
    let read = stdin().read_to_string(&mut text);
    read.map_err(|error| format!("standard input: {error}"))?;
    let scenario = Scenario::within(&text, Backend::Sim, Limits::allowed()?).map_err(|error| error.to_string())?;
    let clock = Clock::start();
    let mut record = run_with(scenario, Stacks(stacks)).map_err(|error| error.to_string())?;
    record.cost.wall_s = clock.seconds();
    record.cost.peak_rss_mb = peak_rss_mb();
    match stored {
        None => print(format!("{}\n", record.to_json()).as_bytes()),
        Some((id, build)) => print(&packed(&record, &id, &build)?),
    }
}

fn packed(record: &Record, id: &str, build: &str) -> Result<Vec<u8>, String> {
    let directions = record.flows.iter().map(|flow| (flow.name.as_str(), flow.direction));
    let packed = sojourn_store::pack(record, &record.summary, directions, id, build);
    let Packed { head, series, summary } = packed.map_err(|error| error.to_string())?;
    let lengths = format!("{} {} {}\n", head.len(), series.len(), summary.len());
    Ok([lengths.as_bytes(), head.as_bytes(), &series, summary.as_bytes()].concat())
}
