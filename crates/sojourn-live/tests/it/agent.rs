//! The agent on real kernels: this machine's, and a guest's if `SOJOURN_TEST_KERNEL` names a virtual-time kernel.

use crate::bed::{Bed, flow};
use nix::sys::personality::{self, Persona};
use serde_json::{Value, json};
use sojourn_bed::{Measured, QdiscMeasured};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a test of the bed on this machine's kernel needs, and who provides it.
const BED: &str = "needs network namespaces and TUN devices: run the tests on Linux, as root, with the module tun";

/// What a test in virtual time needs: `scripts/test` names the kernel in `SOJOURN_TEST_KERNEL` if there is one.
const KERNEL: &str = "needs a kernel in virtual time: scripts/kernels";

const AGENT: &str = env!("CARGO_BIN_EXE_sojourn-agent");

/// A new directory with a job.
fn directory(name: &str, job: &Value) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("cannot remove what an earlier test left");
    }
    std::fs::create_dir_all(&path).expect("cannot make a directory");
    std::fs::write(path.join("job.json"), job.to_string()).expect("cannot write the job");
    path
}

fn measured(directory: &Path) -> (Vec<u8>, Measured) {
    let bytes = std::fs::read(directory.join("measured.json")).expect("nothing was measured");
    let measured = serde_json::from_slice(&bytes).expect("measured.json is not what it should be");
    (bytes, measured)
}

/// Runs the agent on this kernel; the error is what it wrote.
fn run_here(directory: &Path) -> Result<(), String> {
    let status = Command::new(AGENT)
        .arg("run")
        .arg(directory)
        .stderr(Stdio::null())
        .status()
        .expect("no agent");
    if status.success() {
        return Ok(());
    }
    Err(std::fs::read_to_string(directory.join("error.txt")).unwrap_or_else(|_| "no namespaces".into()))
}

/// Whether this kernel lacks what the error tells of, and why.
fn lacks(error: &str) -> bool {
    [
        "no namespaces",
        "Operation not permitted",
        "Operation not supported",
        "No such file",
        "Read-only",
        "tcp_diag",
    ]
    .iter()
    .any(|reason| error.contains(reason))
}

fn counters_agree(seen: &QdiscMeasured, bins: usize, rate: f64) {
    assert_eq!(seen.samples.len(), bins + 1);
    for pair in seen.samples.windows(2) {
        assert!(pair[0].packets <= pair[1].packets && pair[0].drops <= pair[1].drops);
        let seconds = (pair[1].at_ns - pair[0].at_ns) as f64 * 1e-9;
        let most = rate / 8.0 * seconds + 2.0 * 3028.0;
        assert!(
            (pair[1].bytes - pair[0].bytes) as f64 <= most,
            "{pair:?} at {rate} bit/s"
        );
    }
}

#[test]
fn flows_of_this_kernel_are_measured_and_stay_below_the_rate() {
    let bed = Bed {
        rate: 10_000_000,
        kind: "pfifo",
        options: Some(100_u32.to_ne_bytes().to_vec()),
        rtt_ns: 0,
    };
    let flows = json!([
        flow("up", "up", None),
        flow("down", "down", None),
        flow("short", "up", Some(100_001))
    ]);
    let directory = directory("here", &bed.job(2_000_000_000, &flows));
    if let Err(error) = run_here(&directory) {
        assert!(lacks(&error), "{error}");
        eprintln!("skipped: {BED} -- {error}");
        return;
    }
    let (_, measured) = measured(&directory);
    assert_eq!(measured.up.kind, "pfifo");
    counters_agree(&measured.up, 10, 1e7);
    counters_agree(&measured.down, 10, 1e7);
    for flow in &measured.flows {
        assert_eq!(flow.error, None);
        assert!(flow.connected_ns.is_some());
        assert_eq!(flow.delivered.len(), 10);
        assert!(flow.delivered.is_sorted() && flow.delivered_total >= flow.delivered[9]);
        assert!(flow.delivered_total as f64 <= 1e7 / 8.0 * 2.2);
        assert!(flow.segments_sent * 1448 >= flow.delivered_total);
    }
    assert_eq!(measured.flows[2].delivered_total, 100_001);
    assert!(measured.flows[2].completed_ns > measured.flows[2].connected_ns);
    assert_eq!(measured.flows[0].completed_ns, None);
    assert_eq!(measured.counters["client"]["ActiveOpens"], 2);
    assert_eq!(measured.counters["client"]["PassiveOpens"], 1);
}

#[test]
fn a_step_that_fails_is_told_by_its_own_words() {
    let bed = Bed {
        rate: 10_000_000,
        kind: "no_such_kind",
        options: None,
        rtt_ns: 0,
    };
    let directory = directory("step", &bed.job(1_000_000_000, &json!([])));
    let error = run_here(&directory).expect_err("there is no such discipline");
    if !error.starts_with("add no_such_kind on r1: ") {
        assert!(lacks(&error), "{error}");
        eprintln!("skipped: {BED} -- {error}");
        return;
    }
    assert!(error.contains("No such file or directory"), "{error}");
    assert!(!directory.join("measured.json").exists());
}

#[test]
fn a_job_that_is_none_is_refused_in_one_sentence() {
    let good = Bed {
        rate: 10_000_000,
        kind: "pfifo",
        options: None,
        rtt_ns: 0,
    }
    .job(1_000_000_000, &json!([flow("a", "up", None)]));
    let changed = |pointer: &str, value: Value| {
        let mut job = good.clone();
        *job.pointer_mut(pointer).expect("the job has it") = value;
        job
    };
    let host = |key: &str| {
        let mut job = good.clone();
        job["load"]["flows"][0][key] = json!(1);
        job
    };
    let mut unknown = good.clone();
    unknown["colour"] = json!("red");
    for (name, job, says) in [
        (
            "format",
            json!({"format": "sojourn-job/2"}),
            "format of the job is \"sojourn-job/2\", but must be sojourn-job/1",
        ),
        ("unknown", unknown, "unknown field `colour`"),
        (
            "hex",
            changed("/bed/steps/0/netlink", json!("0g")),
            "not an even number of hexadecimal digits",
        ),
        (
            "whole",
            changed("/bed/steps/0/netlink", json!("00")),
            "not one whole netlink message",
        ),
        (
            "host",
            changed("/bed/steps/0/host", json!("moon")),
            "host of a step is \"moon\", which is not in bed.namespaces",
        ),
        (
            "path",
            changed("/load/flows/0/path", json!(1)),
            "path of a is 1, but there are 1",
        ),
        (
            "time",
            changed("/load/duration_ns", json!(0)),
            "load.duration_ns is 0, but must be > 0",
        ),
        (
            "long",
            changed("/load/duration_ns", json!(u64::MAX)),
            "load.duration_ns is 18446744073709551615",
        ),
        (
            "server",
            changed("/bed/server", json!([])),
            "bed.server has 0 addresses",
        ),
        ("client", host("client"), "client of a is 1, but there are 1"),
        ("second server", host("server"), "server of a is 1, but there are 1"),
        (
            "sysctl",
            changed(
                "/bed/steps/0",
                json!({"host": "r1", "says": "x", "sysctl": "net/../kernel/core_pattern", "value": "1"}),
            ),
            "sysctl is \"net/../kernel/core_pattern\"",
        ),
    ] {
        let directory = directory(name, &job);
        let error = run_here(&directory).expect_err(name);
        if error == "no namespaces" {
            eprintln!("skipped: {BED}");
            return;
        }
        assert!(error.contains(says) && error.lines().count() == 1, "{name}: {error}");
    }
}

/// Boots the kernel with the agent as its first process.
fn boot(kernel: &str, directory: &Path) {
    std::fs::copy(AGENT, directory.join("init")).expect("cannot copy the agent");
    // The size of the guest's memory, and so what its kernel does when there is little, follows the layout of the
    // kernel's own address space.
    let fixed = Persona::ADDR_NO_RANDOMIZE;
    personality::set(personality::get().expect("no personality") | fixed).expect("cannot fix the address space");
    let arguments = "mem=256M root=none rootfstype=hostfs rootflags=/ ro init=/proc/self/cwd/init con=null con0=null,fd:1 \
                     quiet loglevel=1 time-travel=inf-cpu time-travel-start=0 sojourn.seed=1";
    let status = Command::new(kernel)
        .args(arguments.split_whitespace())
        .current_dir(directory)
        .env("HOME", directory)
        .env("TMPDIR", "/dev/shm")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.expect("the kernel does not start");
    let error = std::fs::read_to_string(directory.join("error.txt"));
    assert!(error.is_err(), "{error:?}");
}

#[test]
fn one_cubic_flow_through_fq_codel_gets_in_virtual_time_what_linux_gives_it() {
    let Ok(kernel) = std::env::var("SOJOURN_TEST_KERNEL") else {
        eprintln!("skipped: {KERNEL}");
        return;
    };
    let bed = Bed {
        rate: 10_000_000,
        kind: "fq_codel",
        options: None,
        rtt_ns: 50_000_000,
    };
    let job = bed.job(30_000_000_000, &json!([flow("up", "up", None)]));
    let runs = ["guest-1", "guest-2"].map(|name| {
        let directory = directory(name, &job);
        boot(&kernel, &directory);
        measured(&directory)
    });
    assert!(runs[0].0 == runs[1].0, "two runs of one job differ");
    let measured = &runs[0].1;
    assert!(measured.kernel.virtual_time);
    // All neighbours know each other before: the handshake takes a round trip and no time else.
    let handshake = measured.flows[0].connected_ns.expect("no connection");
    assert!((50_000_000..50_100_000).contains(&handshake), "{handshake}");
    counters_agree(&measured.up, 150, 1e7);
    // The same scenario with other programs as sender and receiver on Linux 6.1.176: 9.160 Mbit/s and 20 drops.
    let goodput = measured.flows[0].delivered_total as f64 * 8e-6 / 30.0;
    assert!((goodput - 9.160).abs() < 0.05, "{goodput}");
    let drops = measured.up.samples[150].drops;
    assert!((15..=25).contains(&drops), "{drops}");
    // 20 bytes of TCP header with 12 of options, 20 of IPv4 and 14 of Ethernet beside each 1448 bytes of payload.
    assert!(goodput < 10.0 * 1448.0 / 1514.0);
    assert_eq!(
        measured.flows[0].retransmissions,
        measured.counters["client"]["RetransSegs"]
    );
}

/// RFC 5681 section 3.1 by hand, as in the simulator's tests: a round trip for the handshake, then 10 and 20
/// segments, and half a round trip for the last byte. And a write of a thin stream takes half a round trip; the first
/// waits for the handshake.
#[test]
fn a_file_and_a_thin_stream_over_an_idle_path_take_in_virtual_time_what_the_rounds_say() {
    let Ok(kernel) = std::env::var("SOJOURN_TEST_KERNEL") else {
        eprintln!("skipped: {KERNEL}");
        return;
    };
    let bed = Bed {
        rate: 1_000_000_000,
        kind: "pfifo",
        options: Some(1000_u32.to_ne_bytes().to_vec()),
        rtt_ns: 100_000_000,
    };
    let thin = |name: &str, direction: &str| {
        let mut flow = flow(name, direction, None);
        flow["spec"]["write"] = json!("150b");
        flow["spec"]["write_interval"] = json!("300ms");
        flow
    };
    let mut job = bed.job(4_900_000_000, &json!([thin("up", "up"), thin("down", "down")]));
    let file = |name: &str, direction: &str, bytes: u64| {
        json!({
            "spec": {"name": name, "direction": direction, "congestion_control": "reno", "bytes": bytes, "gap": "1s"},
            "path": 0, "start_ns": 0, "gaps_ns": [200_000_000, 1, 300_000_000, 4_000_000_000_u64],
        })
    };
    job["load"]["downloads"] = json!([file("one", "up", 1448), file("two", "down", 30 * 1448)]);
    let directory = directory("files", &job);
    boot(&kernel, &directory);
    let (_, measured) = measured(&directory);
    for (download, ms) in measured.downloads.iter().zip([150.0, 250.0]) {
        assert_eq!(
            (
                download.error.as_deref(),
                download.retransmissions,
                download.syn_retransmissions
            ),
            (None, 0, 0)
        );
        // After the fourth idle time the run is over.
        let times: Vec<f64> = download
            .files
            .iter()
            .map(|f| f.time_ns.expect("complete") as f64 / 1e6)
            .collect();
        assert_eq!(times.len(), 4, "{times:?}");
        assert!(times.iter().all(|t| (ms..ms + 1.5).contains(t)), "{times:?}");
        for (pair, gap) in download.files.windows(2).zip([200_000_000, 1, 300_000_000]) {
            let took = i64::try_from(pair[0].time_ns.expect("complete")).expect("less than centuries");
            let idle = pair[1].start_ns - pair[0].start_ns - took;
            assert!((gap..gap + 1_000_000).contains(&idle), "{idle}");
        }
    }
    assert_eq!(
        (measured.downloads[0].delivered, measured.downloads[1].delivered),
        (4 * 1448, 120 * 1448)
    );
    assert_eq!(measured.downloads[0].segments_sent, 4);
    for flow in &measured.flows {
        let writes = flow.writes.as_ref().expect("a thin stream");
        assert_eq!((writes.count, writes.delays_ns.len(), flow.segments_sent), (17, 17, 17));
        let ms = |ns: u64| ns as f64 / 1e6;
        assert!((150.0..151.0).contains(&ms(writes.delays_ns[0])), "{writes:?}");
        assert!(
            writes.delays_ns[1..].iter().all(|&d| (50.0..50.5).contains(&ms(d))),
            "{writes:?}"
        );
    }
}

#[test]
fn a_guest_tells_what_its_kernel_can_do() {
    let Ok(kernel) = std::env::var("SOJOURN_TEST_KERNEL") else {
        eprintln!("skipped: {KERNEL}");
        return;
    };
    let directory = directory("check", &json!({"format": "sojourn-check/1", "modules": []}));
    boot(&kernel, &directory);
    let text = std::fs::read_to_string(directory.join("check.json")).expect("no check.json");
    let check: Value = serde_json::from_str(&text).expect("check.json is no JSON");
    assert_eq!(check["virtual_time"], json!(true));
    for kind in ["fq_codel", "netem", "tbf"] {
        assert!(
            check["disciplines"].as_array().unwrap().contains(&json!(kind)),
            "{kind}: {text}"
        );
    }
}
