//! The heads of many stored runs as rows of a table.
//!
//! A table of runs needs a few numbers of each `run.json`. Python reads the same files with all checks when a run is
//! opened; this reads ten thousand of them in a second, and checks what it takes from them.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::Path;
use std::{fs, thread};

/// Most bytes of a head. A run of thousands of flows has a few million.
const MOST_BYTES: u64 = 64 << 20;
/// Most characters of a text that is shown, as in `sojourn.shape`.
const MOST_TEXT: usize = 10_000;
/// Largest number that is measured, in any unit, as in `sojourn.shape`.
const MOST_NUMBER: f64 = 1e18;
/// Runs that are worth a thread of their own.
const RUNS_OF_A_THREAD: usize = 64;
const MOST_THREADS: usize = 8;
const FORMAT: &str = "sojourn-run/1";

/// The rows of many runs, and the settings that they name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Heads {
    /// One for each run.
    pub rows: Vec<Row>,
    /// What [`Known::setting`] counts: each different one once.
    pub settings: Vec<String>,
}

/// What the table says of one run. Units are in the names; a value that a run has not is `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The name of the run's folder.
    pub id: String,
    /// Why the run cannot be shown; then nothing else is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What is known of it.
    #[serde(flatten)]
    pub known: Option<Known>,
}

/// What `run.json` says of a run, flat.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Known {
    backend: String,
    code_version: String,
    seed: u64,
    #[serde(flatten)]
    scenario: Scenario,
    #[serde(flatten)]
    summary: Summary,
    #[serde(flatten)]
    rtt: Quantiles,
    voip_delay_ms: Option<f64>,
    voip_loss: Option<f64>,
    /// The place of what the run has in common with its repeats in [`Heads::settings`].
    pub setting: usize,
    /// The setting: JSON of the scenario without seed and name, and of what the run was made by.
    #[serde(skip)]
    setting_text: String,
}

#[derive(Deserialize)]
struct Head {
    format: String,
    backend: String,
    code_version: String,
    seed: u64,
    scenario: Map<String, Value>,
    #[serde(default)]
    kernel: Map<String, Value>,
    summary: Summary,
    probes: Vec<Probe>,
    stored: Stored,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Scenario {
    experiment: String,
    up: String,
    down: String,
    rtt: String,
    duration: String,
    qdisc_up: String,
    qdisc_down: String,
    /// How many there are.
    #[serde(deserialize_with = "length")]
    flows: usize,
}

fn length<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    Vec::<IgnoredAny>::deserialize(deserializer).map(|list| list.len())
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Summary {
    goodput_up_mbit: f64,
    goodput_down_mbit: f64,
    induced_latency_ms: Option<f64>,
    probe_loss: Option<f64>,
    jain_up: Option<f64>,
    jain_down: Option<f64>,
    /// What the run says; [`Known::rtt`] has what was measured.
    #[serde(skip_serializing)]
    rtt_ms: Quantiles,
    page_fetch_s: Option<f64>,
    fct_ms: Option<f64>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Quantiles {
    #[serde(skip_serializing)]
    count: u64,
    #[serde(rename(serialize = "rtt_mean_ms"))]
    mean: Option<f64>,
    #[serde(rename(serialize = "rtt_median_ms"))]
    median: Option<f64>,
    #[serde(rename(serialize = "rtt_p5_ms"))]
    p5: Option<f64>,
    #[serde(rename(serialize = "rtt_p95_ms"))]
    p95: Option<f64>,
    #[serde(rename(serialize = "rtt_p99_ms"))]
    p99: Option<f64>,
}

#[derive(Deserialize)]
struct Probe {
    kind: String,
    sent: u64,
    delay_ms: Option<Delay>,
}

#[derive(Deserialize)]
struct Delay {
    count: u64,
    mean: Option<f64>,
}

#[derive(Deserialize)]
struct Stored {
    id: String,
    bytes: u64,
}

/// Reads the heads of these runs of a store, in this order. A run that cannot be read is a row that says why.
#[must_use]
pub fn read_heads(store: &Path, names: &[String]) -> Heads {
    let threads = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(MOST_THREADS)
        .min(names.len() / RUNS_OF_A_THREAD + 1);
    let share = names.len().div_ceil(threads).max(1);
    let mut rows: Vec<Row> = thread::scope(|scope| {
        let parts: Vec<_> = names
            .chunks(share)
            .map(|part| scope.spawn(move || part.iter().map(|name| row(store, name)).collect::<Vec<_>>()))
            .collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let (mut places, mut settings) = (BTreeMap::new(), Vec::new());
    for known in rows.iter_mut().filter_map(|row| row.known.as_mut()) {
        let text = std::mem::take(&mut known.setting_text);
        known.setting = *places.entry(text.clone()).or_insert_with(|| {
            settings.push(text);
            settings.len() - 1
        });
    }
    Heads { rows, settings }
}

fn row(store: &Path, name: &str) -> Row {
    let (known, error) = match known(&store.join(name), name) {
        Ok(known) => (Some(known), None),
        Err(why) => (None, Some(why)),
    };
    Row {
        id: name.to_owned(),
        error,
        known,
    }
}

fn known(folder: &Path, name: &str) -> Result<Known, String> {
    // A link may lead out of the store, and a store may be somebody else's.
    for (what, path) in [
        ("its folder", folder),
        ("run.json", &folder.join("run.json")),
        ("series.parquet", &folder.join("series.parquet")),
    ] {
        if path.is_symlink() {
            return Err(format!("{what} is a symbolic link"));
        }
    }
    let bytes = read(&folder.join("run.json"))?;
    let head: Head = serde_json::from_slice(&bytes).map_err(|error| format!("run.json: {error}"))?;
    if head.format != FORMAT {
        let found: String = head.format.escape_debug().take(40).collect();
        return Err(format!("run.json has format \"{found}\", but must have \"{FORMAT}\""));
    }
    if head.stored.id != name {
        return Err("run.json is that of another run than its folder is named for".to_owned());
    }
    let series = fs::metadata(folder.join("series.parquet")).map_err(|error| format!("series.parquet: {error}"))?;
    if series.len() != head.stored.bytes {
        return Err(format!(
            "series.parquet has {} bytes, but must have {}",
            series.len(),
            head.stored.bytes
        ));
    }
    let scenario =
        Scenario::deserialize(Value::Object(head.scenario.clone())).map_err(|error| format!("run.json: {error}"))?;
    let known = flat(head, scenario);
    check(&known)?;
    Ok(known)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let found = fs::metadata(path).map_err(|error| format!("run.json: {error}"))?;
    if !found.is_file() {
        return Err("run.json is no regular file".to_owned());
    }
    if found.len() > MOST_BYTES {
        return Err(format!(
            "run.json has {} bytes, but must have at most {MOST_BYTES}",
            found.len()
        ));
    }
    fs::read(path).map_err(|error| format!("run.json: {error}"))
}

/// All that a run and its repeats have in common, as JSON.
fn setting(head: &Head) -> String {
    let mut all = head.scenario.clone();
    all.remove("seed");
    all.remove("experiment");
    all.insert("backend".to_owned(), Value::from(head.backend.as_str()));
    all.insert("code_version".to_owned(), Value::from(head.code_version.as_str()));
    for key in ["release", "version"] {
        if let Some(value) = head.kernel.get(key) {
            all.insert(format!("kernel {key}"), value.clone());
        }
    }
    Value::Object(all).to_string()
}

fn flat(head: Head, scenario: Scenario) -> Known {
    let setting_text = setting(&head);
    let (voip_delay_ms, voip_loss) = voice(&head.probes);
    let Head {
        mut summary,
        backend,
        code_version,
        seed,
        ..
    } = head;
    // Earlier records have a number where nothing was measured, as `sojourn.store.measured` says.
    let mut rtt = summary.rtt_ms;
    if rtt.count == 0 {
        rtt = Quantiles::default();
        summary.induced_latency_ms = None;
        summary.probe_loss = summary.probe_loss.filter(|&loss| loss > 0.0);
    }
    summary.jain_up = summary.jain_up.filter(|_| summary.goodput_up_mbit > 0.0);
    summary.jain_down = summary.jain_down.filter(|_| summary.goodput_down_mbit > 0.0);
    Known {
        backend,
        code_version,
        seed,
        scenario,
        summary,
        rtt,
        voip_delay_ms,
        voip_loss,
        setting: 0,
        setting_text,
    }
}

/// Mean delay and loss of all voice streams, as `sojourn.store.metrics` has them.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of packets are far below 2^53, and a mean needs no more"
)]
fn voice(probes: &[Probe]) -> (Option<f64>, Option<f64>) {
    let (mut sent, mut arrived, mut total) = (0.0, 0.0, 0.0);
    for probe in probes.iter().filter(|probe| probe.kind == "voip") {
        if let Some(delay) = &probe.delay_ms {
            arrived += delay.count as f64;
            total += delay.mean.unwrap_or(0.0) * delay.count as f64;
        }
        sent += probe.sent as f64;
    }
    (
        (arrived > 0.0).then(|| total / arrived),
        (sent > 0.0).then(|| 1.0 - arrived / sent),
    )
}

fn check(known: &Known) -> Result<(), String> {
    let Known {
        scenario, summary, rtt, ..
    } = known;
    let texts = [
        ("experiment", &scenario.experiment),
        ("backend", &known.backend),
        ("code_version", &known.code_version),
        ("up", &scenario.up),
        ("down", &scenario.down),
        ("rtt", &scenario.rtt),
        ("duration", &scenario.duration),
        ("qdisc_up", &scenario.qdisc_up),
        ("qdisc_down", &scenario.qdisc_down),
    ];
    for (field, text) in texts {
        if text.chars().count() > MOST_TEXT || text.chars().any(char::is_control) {
            return Err(format!(
                "{field} of run.json must be a text of at most {MOST_TEXT} printable characters"
            ));
        }
    }
    let numbers = [
        ("goodput_up_mbit", Some(summary.goodput_up_mbit)),
        ("goodput_down_mbit", Some(summary.goodput_down_mbit)),
        ("induced_latency_ms", summary.induced_latency_ms),
        ("rtt_ms.mean", rtt.mean),
        ("rtt_ms.median", rtt.median),
        ("rtt_ms.p5", rtt.p5),
        ("rtt_ms.p95", rtt.p95),
        ("rtt_ms.p99", rtt.p99),
        ("probe_loss", summary.probe_loss),
        ("jain_up", summary.jain_up),
        ("jain_down", summary.jain_down),
        ("page_fetch_s", summary.page_fetch_s),
        ("fct_ms", summary.fct_ms),
        ("delay_ms of voice", known.voip_delay_ms),
    ];
    for (field, number) in numbers {
        if let Some(number) = number.filter(|number| number.is_nan() || number.abs() > MOST_NUMBER) {
            return Err(format!(
                "{field} of run.json is {number:e}, but must be a number of at most 1e18"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Heads, read_heads, row};
    use std::fs;
    use std::path::PathBuf;

    const HEAD: &str = r#"{"format":"sojourn-run/1","backend":"sim","code_version":"0.1.0","seed":18446744073709551615,
        "unknown":[{"deep":[1,2]}],
        "scenario":{"experiment":"voip","up":"1mbit","down":"10mbit","rtt":"50ms","duration":"5s",
          "qdisc_up":"pfifo limit 9","qdisc_down":"<b>","flows":[{},{}]},
        "summary":{"goodput_up_mbit":0.5,"goodput_down_mbit":9,"induced_latency_ms":1.5,"probe_loss":0.0,"jain_up":1,
          "jain_down":1,"rtt_ms":{"count":1,"mean":51,"median":50,"p5":49,"p95":60,"p99":70},"page_fetch_s":null},
        "probes":[{"kind":"icmp","sent":7,"rtt_ms":{}},
          {"kind":"voip","sent":10,"delay_ms":{"count":3,"mean":20}},
          {"kind":"voip","sent":10,"delay_ms":{"count":1,"mean":40}}],
        "stored":{"id":"one","bytes":4,"crc32":"x"}}"#;

    /// A folder of this test, which is removed when it ends.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("sojourn-heads-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).expect("the folder for temporary files can be written");
            Self(path)
        }

        fn run(&self, name: &str, head: &str) {
            fs::create_dir_all(self.0.join(name)).expect("a folder can be made");
            fs::write(self.0.join(name).join("run.json"), head).expect("a file can be written");
            fs::write(self.0.join(name).join("series.parquet"), "PAR1").expect("a file can be written");
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_head_becomes_a_row_with_the_means_of_its_voice_streams() {
        let folder = Folder::new("row");
        folder.run("one", HEAD);
        let found = serde_json::to_value(row(&folder.0, "one")).expect("a row is JSON");
        assert_eq!(found["error"], serde_json::Value::Null);
        assert_eq!(found["seed"], u64::MAX);
        assert_eq!(found["qdisc_down"], "<b>");
        assert_eq!(found["flows"], 2);
        assert_eq!(found["rtt_p95_ms"], 60.0);
        assert_eq!(found["voip_delay_ms"], 25.0);
        assert_eq!(found["voip_loss"], 0.8);
    }

    #[test]
    fn what_was_not_measured_is_null_though_an_earlier_record_has_a_number() {
        let folder = Folder::new("null");
        let earlier = HEAD
            .replace("\"count\":1,\"mean\":51", "\"count\":0,\"mean\":0")
            .replace("mbit\":9", "mbit\":0");
        let today = earlier
            .replace("\"mean\":0", "\"mean\":null")
            .replace("down\":1,", "down\":null,");
        for head in [earlier, today] {
            folder.run("one", &head);
            let found = serde_json::to_value(row(&folder.0, "one")).expect("a row is JSON");
            for key in [
                "error",
                "induced_latency_ms",
                "rtt_mean_ms",
                "rtt_p99_ms",
                "probe_loss",
                "jain_down",
            ] {
                assert_eq!(found[key], serde_json::Value::Null, "{key} of {head}");
            }
            assert_eq!(found["jain_up"], 1.0);
        }
    }

    #[test]
    fn runs_that_differ_in_their_seed_alone_have_one_setting() {
        let folder = Folder::new("setting");
        let names = ["one", "two", "rtt", "kernel"].map(str::to_owned);
        for name in &names {
            let head = HEAD.replace("\"one\"", &format!("\"{name}\""));
            folder.run(name, &head.replace("18446744073709551615", "7"));
        }
        let changed = |name: &str, from: &str, to: &str| {
            folder.run(name, &HEAD.replace("\"one\"", &format!("\"{name}\"")).replace(from, to));
        };
        changed("two", "{\"experiment\"", "{\"seed\":3,\"experiment\"");
        changed("rtt", "\"rtt\":\"50ms\"", "\"rtt\":\"51ms\"");
        changed("kernel", "\"backend\"", "\"kernel\":{\"release\":\"6.1\"},\"backend\"");
        let found = read_heads(&folder.0, &names);
        let places: Vec<_> = found
            .rows
            .iter()
            .filter_map(|row| Some(row.known.as_ref()?.setting))
            .collect();
        assert_eq!(places, [0, 0, 1, 2]);
        assert!(found.settings[2].contains("\"kernel release\":\"6.1\"") && !found.settings[0].contains("voip"));
    }

    #[test]
    fn what_is_broken_is_a_row_that_says_why() {
        let folder = Folder::new("broken");
        let long = "x".repeat(10_001);
        for (name, head, why) in [
            ("cut", HEAD[..200].to_owned(), "EOF"),
            ("format", HEAD.replace("run/1", "run/9"), "must have \"sojourn-run/1\""),
            ("other", HEAD.to_owned(), "another run"),
            (
                "size",
                HEAD.replace("\"bytes\":4", "\"bytes\":5"),
                "has 4 bytes, but must have 5",
            ),
            ("huge", HEAD.replace("\"mean\":51", "\"mean\":1e19"), "rtt_ms.mean"),
            ("endless", HEAD.replace("\"mean\":51", "\"mean\":1e999"), "out of range"),
            ("text", HEAD.replace("<b>", "\\u0007"), "qdisc_down of run.json"),
            ("long", HEAD.replace("<b>", &long), "qdisc_down of run.json"),
            ("deep", HEAD.replace("[1,2]", &"[".repeat(100_000)), "expected value"),
        ] {
            let own = if name == "other" {
                head
            } else {
                head.replace("\"one\"", &format!("\"{name}\""))
            };
            folder.run(name, &own);
            let found = row(&folder.0, name);
            let error = found.error.expect(name);
            assert!(error.contains(why), "{name}: {error}");
            assert!(found.known.is_none());
        }
        fs::create_dir_all(folder.0.join("folder/run.json")).expect("a folder can be made");
        assert_eq!(
            row(&folder.0, "folder").error.as_deref(),
            Some("run.json is no regular file")
        );
        assert!(
            row(&folder.0, "none")
                .error
                .expect("there is no such run")
                .contains("run.json")
        );
    }

    #[test]
    fn rows_are_in_the_order_of_the_names_however_many_threads_read() {
        let folder = Folder::new("order");
        let names: Vec<String> = (0..300).map(|number| format!("run{number:03}")).rev().collect();
        for name in names.iter().step_by(2) {
            folder.run(name, &HEAD.replace("\"one\"", &format!("\"{name}\"")));
        }
        let Heads { rows, settings } = read_heads(&folder.0, &names);
        assert_eq!(settings.len(), 1);
        assert_eq!(rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>(), names);
        for (place, row) in rows.iter().enumerate() {
            assert_eq!(row.error.is_none(), place % 2 == 0, "{}", row.id);
        }
        assert!(read_heads(&folder.0, &[]).rows.is_empty());
    }
}
