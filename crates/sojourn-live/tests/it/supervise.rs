//! The keeper of guests, as the program that it is, with shells that stand for guests.

use rustix::process::{Pid, test_kill_process, test_kill_process_group};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const AGENT: &str = env!("CARGO_BIN_EXE_sojourn-agent");

/// A shell that writes down its process group and that of a child, and then both sleep for long.
const FAMILY: &str = "sleep 600 & echo $$ $! >pids; mv pids family; sleep 600";

const PATIENCE: usize = 500;

/// A new directory.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("supervise-{name}"));
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("cannot remove what an earlier test left");
    }
    std::fs::create_dir_all(&path).expect("cannot make a directory");
    path
}

/// The keeper of a shell in a folder, with a bound in seconds.
fn keeper(folder: &Path, master: &str, bound: &str, script: &str) -> Command {
    let mut command = Command::new(AGENT);
    command
        .args(["supervise", "--master", master, "--seconds", bound, "--folder"])
        .arg(folder)
        .args(["--", "/bin/sh", "-c", script])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn status(folder: &Path, bound: &str, script: &str) -> Option<i32> {
    let me = std::process::id().to_string();
    let status = keeper(folder, &me, bound, script).status();
    status.expect("no agent").code()
}

fn wait_for(what: &str, there: impl Fn() -> bool) {
    for _ in 0..PATIENCE {
        if there() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("waited in vain: {what}");
}

/// The process group of the guest in a folder, and its child.
fn family(folder: &Path) -> [Pid; 2] {
    let path = folder.join("family");
    wait_for("the guest begins", || path.exists());
    let text = std::fs::read_to_string(path).expect("no family");
    let mut pids = text.split_whitespace().map(|word| {
        let number = word.parse().expect("a process has a number");
        Pid::from_raw(number).expect("no process has the number 0")
    });
    [(); 2].map(|()| pids.next().expect("two processes"))
}

fn gone([group, child]: [Pid; 2]) -> bool {
    test_kill_process_group(group).is_err() && test_kill_process(child).is_err()
}

fn end(mut keeper: Child) -> Option<i32> {
    keeper.wait().expect("the keeper was there").code()
}

#[test]
fn the_status_of_a_guest_is_passed_on() {
    let folder = directory("status");
    for wanted in [0, 1, 7, 255] {
        assert_eq!(status(&folder, "60", &format!("exit {wanted}")), Some(wanted));
    }
    assert_eq!(status(&folder, "60", "kill -9 $$"), Some(1));
    assert!(folder.exists());
}

#[test]
fn what_a_guest_leaves_running_is_ended() {
    let folder = directory("leftover");
    let script = "sleep 600 & echo $$ $! >family; exit 5";
    assert_eq!(status(&folder, "60", script), Some(5));
    assert!(gone(family(&folder)));
}

#[test]
fn a_guest_that_takes_too_long_is_ended_with_its_group() {
    let folder = directory("long");
    assert_eq!(status(&folder, "0.5", FAMILY), Some(3));
    assert!(gone(family(&folder)));
    // Its contents are the master's, who wants to know what it said.
    assert!(folder.exists());
}

#[test]
fn a_guest_whose_keeper_is_told_to_stop_leaves_nothing() {
    use rustix::process::{Signal, kill_process};
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let folder = directory("stopped");
        let me = std::process::id().to_string();
        let keeper = keeper(&folder, &me, "60", FAMILY).spawn().expect("no agent");
        let family = family(&folder);
        kill_process(Pid::from_child(&keeper), signal).expect("the keeper is there");
        assert_eq!(end(keeper), Some(4));
        assert!(gone(family));
        assert!(!folder.exists());
    }
}

#[test]
fn a_guest_whose_master_is_killed_leaves_nothing() {
    let folder = directory("orphan");
    // A shell in between is the master; it is killed as the kernel's memory killer would.
    let mut command = Command::new("/bin/sh");
    let script = format!(
        "{AGENT} supervise --master $$ --seconds 60 --folder '{}' -- /bin/sh -c '{FAMILY}' & wait",
        folder.display()
    );
    let mut master = command
        .args(["-c", &script])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .spawn()
        .expect("no shell");
    let family = family(&folder);
    master.kill().expect("the master is there");
    master.wait().expect("the master was there");
    wait_for("the guest ends", || gone(family));
    wait_for("its folder is removed", || !folder.exists());
}

/// A guest whose processes leave its group and ignore signals, as far as a signal can be ignored.
const STUBBORN: &str =
    "trap '' TERM INT HUP; setsid sleep 600 & echo $$ $! >pids; mv pids family; while :; do sleep 600; done";

/// The process that a keeper has started to keep the guest.
fn below(keeper: &Child) -> Pid {
    let path = format!("/proc/{0}/task/{0}/children", keeper.id());
    let text = std::fs::read_to_string(path).expect("the keeper is there");
    let number = text.trim().parse().expect("one child");
    Pid::from_raw(number).expect("no process has the number 0")
}

/// Waits until both processes are gone, for two seconds at most.
fn gone_soon(family: [Pid; 2]) {
    for _ in 0..200 {
        if family.iter().all(|pid| test_kill_process(*pid).is_err()) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the guest was there after two seconds");
}

#[test]
fn a_guest_whose_keeper_is_killed_leaves_nothing() {
    for (name, script) in [("killed", FAMILY), ("killed-stubborn", STUBBORN)] {
        let folder = directory(name);
        let me = std::process::id().to_string();
        let mut keeper = keeper(&folder, &me, "60", script).spawn().expect("no agent");
        let family = family(&folder);
        keeper.kill().expect("the keeper is there");
        gone_soon(family);
        keeper.wait().expect("the keeper was there");
        wait_for("its folder is removed", || !folder.exists());
    }
}

#[test]
fn a_guest_whose_inner_keeper_is_killed_leaves_nothing() {
    use rustix::process::{Signal, kill_process};
    for (name, script) in [("inner", FAMILY), ("inner-stubborn", STUBBORN)] {
        let folder = directory(name);
        let me = std::process::id().to_string();
        let keeper = keeper(&folder, &me, "60", script).spawn().expect("no agent");
        let family = family(&folder);
        kill_process(below(&keeper), Signal::KILL).expect("it is there");
        gone_soon(family);
        assert_eq!(end(keeper), Some(1));
    }
}

#[test]
fn a_guest_whose_keepers_group_is_killed_leaves_nothing() {
    use rustix::process::{Signal, kill_process_group};
    use std::os::unix::process::CommandExt as _;
    let folder = directory("group");
    let me = std::process::id().to_string();
    let mut command = keeper(&folder, &me, "60", STUBBORN);
    let mut keeper = command.process_group(0).spawn().expect("no agent");
    let family = family(&folder);
    kill_process_group(Pid::from_child(&keeper), Signal::KILL).expect("the keeper is there");
    gone_soon(family);
    keeper.wait().expect("the keeper was there");
}

#[test]
fn a_master_that_is_not_the_parent_is_gone() {
    let folder = directory("stranger");
    // No process has so large a number.
    let keeper = keeper(&folder, "999999999", "60", FAMILY).spawn().expect("no agent");
    assert_eq!(end(keeper), Some(4));
    assert!(!folder.exists());
}

#[test]
fn a_guest_that_cannot_be_started_is_told() {
    let folder = directory("nothing");
    let me = std::process::id().to_string();
    let said = Command::new(AGENT)
        .args(["supervise", "--master", &me, "--seconds", "60", "--folder"])
        .arg(&folder)
        .args(["--", "/nonexistent/linux"])
        .output()
        .expect("no agent");
    assert_eq!(said.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&said.stderr).starts_with("sojourn-agent: cannot run /nonexistent/linux: "));
}

#[test]
fn bounds_that_are_no_numbers_are_refused() {
    let folder = directory("bounds");
    for bound in ["", "soon", "-1", "nan", "inf"] {
        assert_eq!(status(&folder, bound, "exit 0"), Some(2), "{bound}");
    }
}
