//! What rights `sojournd flush` has while it runs, as the kernel tells.
#![cfg(feature = "capture")]

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const DAEMON: &str = env!("CARGO_BIN_EXE_sojournd");
/// The configuration that does not name a user.
const BEGIN: &str = "ip link set lo up && exec \"$@\"";

/// Whether this is the machine's root, with a network namespace of its own and the programs that make groups; if not,
/// says why.
fn can() -> bool {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root, which gives its rights up: run the tests as root");
        return false;
    }
    for (program, words) in [("unshare", "-n true"), ("setpriv", "--groups 4 true"), ("ip", "-V")] {
        let run = Command::new(program).args(words.split(' ')).output();
        if !run.is_ok_and(|run| run.status.success()) {
            eprintln!("skipped: needs {program} and its rights: scripts/judges, and run the tests as root");
            return false;
        }
    }
    true
}

/// The daemon on the loopback device of a new namespace, with two more groups than it should have.
fn on_loopback(options: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new("unshare");
    command
        .args([
            "-n", "setpriv", "--groups", "4,24", "sh", "-c", BEGIN, "sh", DAEMON, "flush", "-i", "lo",
        ])
        .args(options)
        .env_remove("SUDO_UID")
        .env_remove("SUDO_GID")
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

fn log(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("rights-{name}.log"));
    let _ = std::fs::remove_file(&path);
    path
}

/// The fields of a process's status that tell of its rights.
fn status(of: &Child) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(format!("/proc/{}/status", of.id())).expect("it runs");
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    let words = |value: &str| value.split_whitespace().collect::<Vec<_>>().join(" ");
    fields.map(|(name, value)| (name.to_owned(), words(value))).collect()
}

fn wait_for(what: &str, there: impl Fn() -> bool) {
    for _ in 0..1000 {
        if there() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("waited in vain: {what}");
}

fn end(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// What the kernel says of a daemon that captures.
fn rights(name: &str, options: &[&str], environment: &[(&str, &str)]) -> BTreeMap<String, String> {
    let log = log(name);
    let mut command = on_loopback(options, environment);
    let child = command.arg("--log").arg(&log).spawn().expect("unshare is there");
    let says = || std::fs::read_to_string(&log).unwrap_or_default();
    wait_for("it captures", || says().contains("\"capturing\""));
    let status = status(&child);
    end(child);
    status
}

fn four(id: &str) -> String {
    [id; 4].join(" ")
}

/// `CAP_NET_RAW`, number 13, and no other.
const NET_RAW: &str = "0000000000002000";
const NONE: &str = "0000000000000000";

#[test]
fn root_is_given_up_and_root_remains_only_where_it_is_named() {
    if !can() {
        return;
    }
    let sudo = [("SUDO_UID", "1234"), ("SUDO_GID", "2345")];
    let by_root = [("SUDO_UID", "0"), ("SUDO_GID", "0")];
    for (name, options, environment, user, group) in [
        ("nobody", &[][..], &[][..], "65534", "65534"),
        ("sudo", &[], &sudo[..], "1234", "2345"),
        ("sudo-by-root", &[], &by_root[..], "65534", "65534"),
        ("named", &["--user", "daemon"], &sudo[..], "1", "1"),
        ("root", &["--user", "root"], &sudo[..], "0", "0"),
    ] {
        let status = rights(name, options, environment);
        let field = |name: &str| status[name].as_str();
        assert_eq!(
            (field("Uid"), field("Gid")),
            (four(user).as_str(), four(group).as_str()),
            "{name}"
        );
        assert_eq!(field("Groups"), "", "{name}");
        for set in ["CapEff", "CapPrm", "CapBnd"] {
            assert_eq!(field(set), NET_RAW, "{name}: {set}");
        }
        assert_eq!((field("CapInh"), field("CapAmb")), (NONE, NONE), "{name}");
        assert_eq!((field("NoNewPrivs"), field("Seccomp")), ("1", "2"), "{name}");
    }
}

#[test]
fn a_capture_is_read_without_any_rights() {
    if !can() {
        return;
    }
    let mut child = Command::new("setpriv")
        .args(["--groups", "4,24", DAEMON, "flush", "--read", "-"])
        .env_remove("SUDO_UID")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("setpriv is there");
    let mut input = child.stdin.take().expect("it is a pipe");
    // The header of a pcap file without frames.
    let mut header = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    for word in [0x0004_0002_u32, 0, 0, 65_535, 1] {
        header.extend_from_slice(&word.to_le_bytes());
    }
    input.write_all(&header).expect("it reads");
    wait_for("root gives itself up", || status(&child)["CapBnd"] == NONE);
    wait_for("root is somebody else", || status(&child)["Uid"] == four("65534"));
    wait_for("its rights are gone", || status(&child)["CapPrm"] == NONE);
    let found = status(&child);
    assert_eq!(
        (found["Gid"].as_str(), found["Groups"].as_str()),
        (four("65534").as_str(), "")
    );
    assert_eq!((found["CapEff"].as_str(), found["NoNewPrivs"].as_str()), (NONE, "1"));
    drop(input);
    assert!(child.wait().expect("it was there").success());
}

fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn where_there_is_nobody_else_root_must_be_named() {
    if !can() {
        return;
    }
    let mut command = Command::new("unshare");
    command.args(["-Urn", "sh", "-c", BEGIN, "sh", DAEMON, "flush", "-i", "lo"]);
    let done = command.env_remove("SUDO_UID").output().expect("unshare is there");
    assert_eq!(done.status.code(), Some(1));
    let sentence = "sojournd: root gives up its identity, but this user namespace has no other: name --user root to remain \
                    root\n";
    assert_eq!(stderr_of(&done), sentence);
}

/// Has the kernel refuse a filter of system calls to this thread and all that it starts, as one without seccomp
/// would.
fn forbid_seccomp() {
    let rule = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, 22).expect("PR_SET_SECCOMP");
    let rule = SeccompRule::new(vec![rule]).expect("one condition");
    let rules = BTreeMap::from([(libc::SYS_seccomp, vec![]), (libc::SYS_prctl, vec![rule])]);
    let refuse = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let architecture = TargetArch::try_from(std::env::consts::ARCH).expect("the library knows it");
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).expect("it is sound");
    apply_filter(&BpfProgram::try_from(filter).expect("it is short")).expect("this kernel has seccomp");
}

#[test]
fn without_seccomp_it_runs_only_if_that_is_said() {
    if !can() {
        return;
    }
    // The filter is this thread's and its children's alone.
    let both = std::thread::spawn(|| {
        forbid_seccomp();
        let refused = on_loopback(&[], &[]).output().expect("unshare is there");
        (refused, rights("unconfined", &["--no-seccomp"], &[]))
    });
    let (refused, status) = both.join().expect("no panic");
    assert_eq!(refused.status.code(), Some(1));
    let words = stderr_of(&refused);
    let last = words.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("sojournd: system calls cannot be confined by seccomp ("),
        "{words}"
    );
    assert!(last.ends_with("): give --no-seccomp to run all the same"), "{words}");
    assert_eq!(status["Uid"], four("65534"));
}
