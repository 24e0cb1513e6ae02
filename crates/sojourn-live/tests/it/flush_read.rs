//! `sojournd flush --read`, from outside.

use sojourn_flusher::FlusherParams;
use sojourn_live::flush::gate::GateSettings;
use sojourn_live::flush::line::{Detail, Line};
use sojourn_live::flush::pipeline::{Burst, Pipeline, PipelineSettings, World};
use sojourn_trace::{LinkType, Synthetic, Writer};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const FRAMES: usize = 60_000;

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn capture(frames: usize) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), LinkType::Ethernet, 96).expect("memory");
    for frame in Synthetic::new(2).take(frames) {
        writer.write(frame.at_ns, frame.wire, &frame.bytes).expect("memory");
    }
    writer.into_inner()
}

fn sojournd(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sojournd"))
        .arg("flush")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the daemon is built");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let feed = std::thread::spawn(move || {
        // Who refuses its arguments does not read.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("it ends");
    feed.join().expect("it was fed");
    output
}

fn lines(output: &[u8]) -> Vec<serde_json::Value> {
    let text = std::str::from_utf8(output).expect("text");
    text.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect()
}

/// The sentence and the exit status.
fn refusal(arguments: &[&str]) -> (String, i32) {
    let output = sojournd(arguments, b"");
    assert!(output.stdout.is_empty());
    (
        String::from_utf8(output.stderr).expect("text"),
        output.status.code().expect("a status"),
    )
}

#[test]
fn a_capture_gives_decisions_with_reasons_and_a_summary() {
    let output = sojournd(&["--read", "-", "--flusher", "as_described"], &capture(FRAMES));
    assert!(output.status.success() && output.stderr.is_empty());
    let lines = lines(&output.stdout);
    let (summary, decisions) = lines.split_last().expect("a summary");
    assert_eq!(summary["kind"], "summary");
    assert_eq!(summary["frames"], FRAMES);
    assert_eq!(summary["segments"], FRAMES);
    assert_eq!(summary["first_ns"], 1_700_000_000_000_000_000_u64);
    assert_eq!(
        (&summary["flows"], &summary["allowed"], &summary["bytes"]),
        (&2.into(), &0.into(), &0.into())
    );
    let flushes: Vec<_> = decisions.iter().filter(|l| l["kind"] == "flush").collect();
    assert!(flushes.len() > 2, "{} flushes", flushes.len());
    assert_eq!(summary["refused"]["passive"], flushes.len());
    for flush in flushes {
        assert_eq!(flush["verdict"], "refused");
        assert_eq!(flush["because"]["rule"], "passive");
        assert_eq!(flush["otherwise"]["rule"], "not_allowed");
        assert!(flush["toward"].as_str().is_some_and(|a| a.starts_with("198.51.100.")));
        assert!(flush["reason"]["kind"].is_string() && flush["at_ns"].is_u64());
    }
}

#[test]
fn an_active_configuration_is_judged_as_live_and_its_budget_kept() {
    let arguments = [
        "--read",
        "-",
        "--flusher",
        "as_described",
        "--active",
        "--allow",
        "198.51.100.0/24",
        "--bytes-per-minute",
        "400000",
        "--bytes-per-flush",
        "400000",
    ];
    let output = sojournd(&arguments, &capture(4 * FRAMES));
    let lines = lines(&output.stdout);
    let summary = lines.last().expect("a summary");
    let allowed: Vec<_> = lines.iter().filter(|l| l["verdict"] == "allowed").collect();
    assert_eq!(summary["allowed"], allowed.len());
    assert!(!allowed.is_empty() && !summary["refused"].as_object().expect("an object").is_empty());
    let sent: Vec<(u64, u64)> = allowed
        .iter()
        .map(|l| {
            let number = |name: &str| l[name].as_u64().expect("a number");
            (number("at_ns"), number("packets") * number("size"))
        })
        .collect();
    for (at, _) in &sent {
        let minute: u64 = sent
            .iter()
            .filter(|(t, _)| t <= at && at - t < 60_000_000_000)
            .map(|(_, b)| b)
            .sum();
        assert!(minute <= 400_000, "{minute} bytes in a minute");
    }
}

/// Frames handed over one by one, as a network interface does, and whatever comes out.
#[derive(Default)]
struct Collected {
    lines: Vec<u8>,
    bursts: Vec<Burst>,
}

impl World for Collected {
    fn line(&mut self, line: &Line) {
        serde_json::to_writer(&mut self.lines, line).expect("memory");
        self.lines.push(b'\n');
    }
    fn burst(&mut self, burst: Burst) {
        self.bursts.push(burst);
    }
}

#[test]
fn a_file_gives_byte_for_byte_what_the_same_frames_give_live() {
    for (name, flusher) in [
        ("as_written", FlusherParams::AS_WRITTEN),
        ("as_described", FlusherParams::AS_DESCRIBED),
        ("adaptive", FlusherParams::ADAPTIVE),
    ] {
        let gate = GateSettings {
            active: true,
            allow: vec!["198.51.100.0/24".parse().expect("a prefix")],
            ..GateSettings::default()
        };
        let mut pipeline = Pipeline::new(PipelineSettings {
            flusher,
            gate,
            detail: Detail::All,
        })
        .expect("presets are sound");
        let mut collected = Collected::default();
        let mut wakes = 0;
        for (n, frame) in Synthetic::new(2).take(FRAMES).enumerate() {
            // A daemon wakes up for what falls due, in time or too late: the file does not tell.
            while n % 3 > 0
                && let Some(due) = pipeline.due_ns().filter(|due| *due < frame.at_ns)
            {
                pipeline.wake(if n % 3 == 1 { due } else { frame.at_ns - 1 }, &mut collected);
                wakes += 1;
            }
            pipeline.frame(
                LinkType::Ethernet,
                frame.at_ns,
                frame.wire,
                &frame.bytes,
                &mut collected,
            );
        }
        pipeline.finish(&mut collected);
        assert_eq!(pipeline.overtaken(), 0);
        assert!(name != "adaptive" || wakes > 5, "{name}: it woke up {wakes} times");
        serde_json::to_writer(&mut collected.lines, &pipeline.summary()).expect("memory");
        collected.lines.push(b'\n');
        let arguments = [
            "--read",
            "-",
            "--flusher",
            name,
            "--active",
            "--allow",
            "198.51.100.0/24",
            "--events",
            "all",
        ];
        let output = sojournd(&arguments, &capture(FRAMES));
        assert!(output.stdout == collected.lines, "{name}: the decisions differ");
        assert_eq!(collected.bursts.len() as u64, pipeline.summary().allowed);
        assert!(!collected.bursts.is_empty(), "{name}: nothing was decided");
    }
}

#[test]
fn a_long_pause_or_a_wild_clock_neither_hangs_nor_panics() {
    let mut writer = Writer::new(Vec::new(), LinkType::Ethernet, 96).expect("memory");
    for (n, frame) in Synthetic::new(1).take(20_000).enumerate() {
        let at_ns = match n % 5_000 {
            0 => 0,
            1 => 4_000_000_000_000_000_000,
            _ => frame.at_ns,
        };
        writer.write(at_ns, frame.wire, &frame.bytes).expect("memory");
    }
    let output = sojournd(&["--read", "-"], &writer.into_inner());
    assert!(output.status.success());
    let lines = lines(&output.stdout);
    assert!(lines.last().expect("a summary")["clock_steps"].as_u64() >= Some(4));
}

#[test]
fn a_damaged_capture_gives_what_stood_before_the_damage_and_status_1() {
    let whole = capture(5_000);
    let output = sojournd(&["--read", "-"], &whole[..whole.len() - 7]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).expect("text");
    assert_eq!(
        told,
        "sojournd: -: the capture ends in the middle of a record, after 4999 whole ones\n"
    );
    assert_eq!(lines(&output.stdout).last().expect("a summary")["frames"], 4999);
}

/// Two frames without a time, as simple packet blocks, and one of an interface that is not described.
#[test]
fn frames_that_a_capture_says_too_little_of_are_counted() {
    for big in [false, true] {
        let block = |kind: u32, body: &[u32]| {
            let length = 12 + 4 * body.len() as u32;
            let words = [kind, length].into_iter().chain(body.iter().copied()).chain([length]);
            let bytes = |w: u32| if big { w.to_be_bytes() } else { w.to_le_bytes() };
            words.flat_map(bytes).collect::<Vec<u8>>()
        };
        let version = if big { 0x0001_0000 } else { 1 };
        let link = if big { 0x0001_0000 } else { 1 };
        let file = [
            block(0x0A0D_0D0A, &[0x1A2B_3C4D, version, u32::MAX, u32::MAX]),
            block(1, &[link, 0]),
            block(3, &[4, 7]),
            block(3, &[4, 7]),
            block(6, &[1, 0, 0, 4, 4, 7]),
        ]
        .concat();
        let output = sojournd(&["--read", "-"], &file);
        assert!(output.status.success());
        let summary = lines(&output.stdout).pop().expect("a summary");
        assert_eq!((&summary["frames"], &summary["segments"]), (&3.into(), &0.into()));
        assert_eq!(summary["skipped"], serde_json::json!({"no_time": 2, "no_interface": 1}));
    }
}

#[test]
fn what_cannot_be_used_is_one_sentence_and_status_2() {
    let case = |arguments: &[&str], sentence: &str| {
        assert_eq!(refusal(arguments), (format!("sojournd: {sentence}\n"), 2));
    };
    case(
        &["--read", "-", "--bytes-per-minute", "much"],
        "gate.bytes_per_minute is string \"much\", but must be a whole number >= 0",
    );
    case(
        &["--read", "-", "--metrics", "192.0.2.1:80"],
        "metrics.listen is \"192.0.2.1:80\", but must be a loopback address with a port, such as \"127.0.0.1:9469\" or \"[::1]:9469\"",
    );
    case(
        &["--read", "-", "--flusher", "best"],
        "flusher.preset is \"best\", but must be \"as_written\", \"as_described\" or \"adaptive\"",
    );
    case(
        &["--read", "/no/such.pcap"],
        "--read is /no/such.pcap, but must be a file that can be read: No such file or directory (os error 2)",
    );
    let config = scratch("bad.toml");
    std::fs::write(&config, "[gate]\nbytes_per_hour = 1\n").expect("a file");
    let (told, status) = refusal(&["--read", "-", "--config", config.to_str().expect("text")]);
    assert!(
        told.contains("gate.bytes_per_hour is not a key") && told.matches('\n').count() == 1,
        "{told}"
    );
    assert_eq!(status, 2);
    let collected = scratch("collected.jsonl");
    std::fs::write(&collected, "mine").expect("a file");
    let (told, status) = refusal(&["--read", "-", "--decisions", collected.to_str().expect("text")]);
    assert!(
        told.ends_with("but must be a new file (or give --force)\n") && status == 2,
        "{told}"
    );
    assert_eq!(std::fs::read(&collected).expect("it is there"), b"mine");
}
