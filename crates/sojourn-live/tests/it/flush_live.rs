//! `sojournd flush` on interfaces of namespaces that each test makes for itself: no packet leaves them.
#![cfg(feature = "capture")]

use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const BED: &str = include_str!("flush_live/bed.sh");
const DAEMON: &str = env!("CARGO_BIN_EXE_sojournd");

/// Whether this machine can have the bed; if not, says why.
fn can() -> bool {
    for program in ["unshare", "nsenter", "ip", "tc", "python3"] {
        let version = if program == "ip" || program == "tc" {
            "-V"
        } else {
            "--version"
        };
        let run = Command::new(program)
            .arg(version)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if run.is_err() {
            eprintln!("skipped: needs {program}: scripts/judges");
            return false;
        }
    }
    let script =
        "ip link add s0 type veth peer name r0 && tc qdisc add dev s0 root tbf rate 5mbit burst 5kb limit 120kb";
    let made = Command::new("unshare")
        .args(["-Urn", "sh", "-c", script])
        .output()
        .expect("it is installed");
    if !made.status.success() {
        let why = String::from_utf8_lossy(&made.stderr);
        eprintln!(
            "skipped: needs namespaces with veth and tbf: run the tests as root -- {}",
            why.trim()
        );
        return false;
    }
    true
}

/// Runs a script on the bed; its files are in the directory that is returned.
fn on_bed(name: &str, script: &str) -> Option<PathBuf> {
    if !can() {
        return None;
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("flush-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory");
    let done = Command::new("unshare")
        .args(["-Urn", "bash", "-c", &format!("{BED}{script}")])
        .env("DIR", &directory)
        .env("DAEMON", DAEMON)
        .env("NAME", name)
        .output()
        .expect("it is installed");
    if !done.status.success() {
        let mut told = String::from_utf8_lossy(&done.stderr).into_owned();
        let log = std::fs::read_to_string(directory.join(format!("{name}.log"))).unwrap_or_default();
        let _ = write!(told, "\nlog:\n{log}");
        panic!("{name}: {:?}: {told}", done.status);
    }
    Some(directory)
}

fn text(directory: &Path, name: &str) -> String {
    std::fs::read_to_string(directory.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn lines(directory: &Path, name: &str) -> Vec<Value> {
    let text = text(directory, name);
    text.lines()
        .map(|l| serde_json::from_str(l).expect("a line of JSON"))
        .collect()
}

/// Packets and bytes that came to each address's port 9.
fn counts(directory: &Path) -> Value {
    serde_json::from_str(&text(directory, "counts.json")).expect("JSON")
}

/// Datagrams that left the sender: `OutDatagrams` of its `Udp:` lines.
fn datagrams(directory: &Path) -> u64 {
    let text = text(directory, "snmp");
    let mut rows = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>());
    let (names, values) = (rows.next().expect("names"), rows.next().expect("values"));
    let at = names.iter().position(|n| *n == "OutDatagrams").expect("a counter");
    values[at].parse().expect("a number")
}

/// That the capture written live gives, read again, the same bytes.
fn reads_the_same(directory: &Path, name: &str, options: &[&str]) {
    let read = Command::new(DAEMON)
        .args(["flush", "--read"])
        .arg(directory.join(format!("{name}.pcap")))
        .arg("--config")
        .arg(directory.join("bed.toml"))
        .args(options)
        .output()
        .expect("the daemon is built");
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let live = text(directory, &format!("{name}.jsonl"));
    assert!(live.lines().count() > 1, "nothing was decided");
    assert!(
        live.as_bytes() == read.stdout,
        "live and read decisions differ in {}",
        directory.display()
    );
}

#[test]
fn passive_sends_nothing_and_decides_as_its_capture_read_again() {
    let script = "
        daemon --events flows
        python3 sender.py 10.77.2.1 6
        stop
        finish
    ";
    let Some(directory) = on_bed("passive", script) else {
        return;
    };
    let decisions = lines(&directory, "passive.jsonl");
    let flushes = decisions.iter().filter(|l| l["kind"] == "flush");
    let mut proposed = 0;
    for flush in flushes {
        assert_eq!(
            (&flush["verdict"], &flush["because"]["rule"]),
            (&"refused".into(), &"passive".into())
        );
        proposed += 1;
    }
    assert!(proposed > 0, "the queue was not seen");
    assert_eq!(datagrams(&directory), 0, "a passive flusher sent");
    assert_eq!(counts(&directory)["10.77.2.1"], serde_json::json!([0, 0]));
    reads_the_same(&directory, "passive", &["--events", "flows"]);
}

#[test]
fn active_sends_within_the_budget_and_decides_as_its_capture_read_again() {
    let options = [
        "--active",
        "--allow",
        "10.77.2.0/24",
        "--bytes-per-minute",
        "400000",
        "--bytes-per-flush",
        "300000",
        "--cool-down",
        "500ms",
    ];
    let script = format!(
        "
        daemon {}
        python3 sender.py 10.77.2.1 8
        stop
        finish
        ",
        options.join(" ")
    );
    let Some(directory) = on_bed("active", &script) else {
        return;
    };
    let decisions = lines(&directory, "active.jsonl");
    let summary = decisions.last().expect("a summary");
    let allowed: Vec<_> = decisions.iter().filter(|l| l["verdict"] == "allowed").collect();
    assert!(!allowed.is_empty(), "nothing was flushed: {summary}");
    assert!(allowed.iter().all(|l| l["toward"] == "10.77.2.1"));
    let log = lines(&directory, "active.log");
    let stopped = log.last().expect("an end");
    assert_eq!(stopped["message"], "stopped");
    let sent = stopped["sent_packets"].as_u64().expect("a number");
    assert_eq!(datagrams(&directory), sent);
    assert_eq!(
        summary["bytes"], stopped["sent_bytes"],
        "what was allowed was not what was sent"
    );
    let bytes = stopped["sent_bytes"].as_u64().expect("a number");
    assert!((1500..=400_000).contains(&bytes), "{bytes} bytes in less than a minute");
    let counts = counts(&directory);
    assert_eq!(counts["10.77.3.1"], serde_json::json!([0, 0]), "sent beyond the list");
    // The bursts overflow the queue, so not all of them arrive.
    let arrived = counts["10.77.2.1"][0].as_u64().expect("a number");
    assert!(arrived > 0 && arrived <= sent, "{arrived} of {sent} arrived");
    reads_the_same(&directory, "active", &options);
}

#[test]
fn active_sends_nothing_to_hosts_beyond_the_list() {
    let script = "
        daemon --active --allow 10.77.2.0/24
        python3 sender.py 10.77.3.1 6
        stop
        finish
    ";
    let Some(directory) = on_bed("beyond", script) else {
        return;
    };
    let decisions = lines(&directory, "beyond.jsonl");
    let flushes: Vec<_> = decisions.iter().filter(|l| l["kind"] == "flush").collect();
    assert!(!flushes.is_empty(), "nothing was proposed beyond the list");
    for flush in flushes {
        assert_eq!(
            (&flush["toward"], &flush["because"]["rule"]),
            (&"10.77.3.1".into(), &"not_allowed".into())
        );
    }
    assert_eq!(datagrams(&directory), 0, "sent beyond the list");
}

#[test]
fn an_interface_that_goes_down_or_away_is_waited_for() {
    let script = "
        daemon --metrics 127.0.0.1:9469
        python3 sender.py 10.77.2.1 2
        ip link set s0 down
        sleep 0.7
        ip link set s0 up
        ip route replace 10.77.0.0/16 via 10.77.1.2
        python3 sender.py 10.77.2.1 2
        ip link del s0
        logged 'the interface is gone' 1
        sleep 1
        near_link
        logged 'the interface is back' 1
        fetch() { python3 -c 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:9469/metrics\").read().decode())'; }
        sleep 0.5
        fetch > before
        python3 sender.py 10.77.2.1 2
        sleep 0.5
        fetch > after
        stop
        finish
    ";
    let Some(directory) = on_bed("away", script) else {
        return;
    };
    let metric = |file: &str, name: &str| -> u64 {
        let text = text(&directory, file);
        let line = text
            .lines()
            .find(|l| l.starts_with(&format!("sojourn_flush_{name} ")))
            .expect("a metric");
        line.rsplit(' ').next().expect("a value").parse().expect("a number")
    };
    assert!(metric("before", "opened_total") >= 2);
    let (before, after) = (metric("before", "segments_total"), metric("after", "segments_total"));
    assert!(before > 500, "{before} segments before");
    assert!(
        after > before + 300,
        "{before} segments before, {after} after it came back"
    );
    let lines = lines(&directory, "away.jsonl");
    assert!(lines.last().expect("a summary")["segments"].as_u64() >= Some(after));
    reads_the_same(&directory, "away", &[]);
}

#[test]
fn signals_reload_and_kill_and_rights_are_given_up() {
    let script = "
        cat > flush.toml <<'EOF'
active = true
[gate]
allow = ['10.77.2.0/24']
kill_file = 'stop'
EOF
        touch stop
        CONFIG=flush.toml
        daemon
        logged 'flushing is switched off' 1
        cp /proc/$PID/status status
        sed -i s,2.0/24,2.0/4, flush.toml
        kill -HUP $PID
        logged 'the old one stays' 1
        printf '[gate]\\nallow = [\"10.77.2.0/24\"]\\n[metrics]\\nlisten = \"127.0.0.1:9470\"\\n' > flush.toml
        kill -HUP $PID
        logged 'was read again' 1
        kill -USR1 $PID
        logged 'switched off' 2
        rm stop
        python3 sender.py 10.77.2.1 5
        stop
        finish
    ";
    let Some(directory) = on_bed("signals", script) else {
        return;
    };
    let log = lines(&directory, "signals.log");
    let said = |message: &str| {
        log.iter()
            .find(|l| l["message"] == message)
            .unwrap_or_else(|| panic!("no {message}"))
    };
    let refused = said("the new configuration is refused, and the old one stays");
    assert!(
        refused["why"]
            .as_str()
            .is_some_and(|w| w.starts_with("gate.allow is \"10.77.2.0/4\"")),
        "{refused}"
    );
    let again = said("the configuration was read again");
    assert_eq!(again["only_after_a_restart"], serde_json::json!(["metrics.listen"]));
    assert_eq!(datagrams(&directory), 0, "it was killed");
    let status = text(&directory, "status");
    let field = |name: &str| {
        let line = status.lines().find(|l| l.starts_with(name)).expect("a field");
        line.split_whitespace().nth(1).expect("a value").to_owned()
    };
    // CAP_NET_RAW is number 13.
    for set in ["CapEff:", "CapPrm:", "CapBnd:"] {
        assert_eq!(field(set), "0000000000002000", "{set}");
    }
    assert_eq!((field("CapInh:"), field("CapAmb:")), ("0".repeat(16), "0".repeat(16)));
    assert_eq!((field("NoNewPrivs:").as_str(), field("Seccomp:").as_str()), ("1", "2"));
}
