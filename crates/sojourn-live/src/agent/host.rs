//! On the kernel of this machine: as root, or else as root of a user namespace of its own. Namespaces end with the
//! process, so nothing is left behind.

use crate::agent::AgentError;
use crate::agent::actor::Doing;
use crate::agent::carry_out;
use nix::sched::{CloneFlags, unshare};
use rustix::process::{getgid, getuid};
use std::path::Path;

/// Does what `job.json` in `directory` says.
///
/// # Errors
/// One sentence.
pub fn run(directory: &Path) -> Result<(), AgentError> {
    let directory = directory
        .canonicalize()
        .doing(|| format!("cannot find {}", directory.display()))?;
    become_root()?;
    // What the job does before it makes its own namespaces (it checks, say) shall not touch the machine's.
    unshare(CloneFlags::CLONE_NEWNET).doing(|| "cannot make a network namespace".into())?;
    carry_out(&directory)
}

/// Makes a user namespace in which this process is root, unless it is root already.
///
/// # Errors
/// If the kernel refuses.
pub(crate) fn become_root() -> Result<(), AgentError> {
    let (user, group) = (getuid(), getgid());
    if user.is_root() {
        return Ok(());
    }
    unshare(CloneFlags::CLONE_NEWUSER).doing(|| "cannot make a user namespace".into())?;
    let lines = [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {} 1", user.as_raw())),
        ("gid_map", format!("0 {} 1", group.as_raw())),
    ];
    for (file, line) in lines {
        let path = format!("/proc/self/{file}");
        std::fs::write(&path, line).doing(|| format!("cannot write {path}"))?;
    }
    Ok(())
}
