//! What a program sees and may do: the agent's own program, started again, takes everything else away and becomes it.
//!
//! The machine's files are there, read-only, and so is the working folder. `/var/tmp` is the program's own folder;
//! `/dev/shm` is empty and its own. It knows the hosts of the bed by their names. It has root's number, because the kernel outside
//! judges by the user who runs the guest, but few of root's rights: none that mounts, loads, or looks into the agent.

use super::FILE_MAX;
use crate::agent::actor::{AgentError, Doing};
use crate::flush::privileges::keep_only;
use caps::Capability;
use nix::sched::{CloneFlags, unshare};
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, unmount};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The exit status if the program could not be started, and how its sentence begins.
pub(super) const EXEC_FAILED: i32 = 127;
pub(super) const PREFIX: &str = "sojourn-agent: ";

const OWN: &str = "/var/tmp";
const FILES: u64 = 4096;

/// Rights of a program: to serve low ports, to send echo requests, and to become another user, as servers do.
const RIGHTS: [Capability; 8] = [
    Capability::CAP_CHOWN,
    Capability::CAP_DAC_OVERRIDE,
    Capability::CAP_FOWNER,
    Capability::CAP_KILL,
    Capability::CAP_SETGID,
    Capability::CAP_SETUID,
    Capability::CAP_NET_BIND_SERVICE,
    Capability::CAP_NET_RAW,
];

/// `sojourn-agent program FOLDER FOLDERS START (host|router) PATH WORD...`: becomes the program; returns only if it cannot.
#[must_use]
pub fn become_program(arguments: &[OsString]) -> ExitCode {
    let why = match arguments {
        [folder, folders, start, kind, path, first, words @ ..] => {
            let prepared = prepare([folder, folders, start].map(Path::new), kind == "router");
            prepared.map_or_else(
                |e| e.to_string(),
                |()| {
                    let error = Command::new(path).arg0(first).args(words).exec();
                    format!("{} cannot be started: {error}", Path::new(path).display())
                },
            )
        }
        _ => "its arguments are not those of a program".to_owned(),
    };
    eprintln!("{PREFIX}{why}");
    ExitCode::from(EXEC_FAILED as u8)
}

fn prepare([folder, folders, start]: [&Path; 3], router: bool) -> Result<(), AgentError> {
    unshare(CloneFlags::CLONE_NEWNS).doing(|| "cannot leave the agent's mounts".into())?;
    for (name, place) in [("hosts", "/etc/hosts"), ("resolv.conf", "/etc/resolv.conf")] {
        if Path::new(place).exists() {
            mount_bind(folders.join(name), place).doing(|| format!("cannot mount {place}"))?;
        }
    }
    mount("tmpfs", "/dev/shm", "tmpfs", MountFlags::empty(), c"size=64m").doing(|| "cannot mount /dev/shm".into())?;
    mount_bind(folder.join("own"), OWN).doing(|| format!("cannot mount {OWN}"))?;
    // The run's folder is in the agent's /tmp; below that is the machine's.
    for place in ["/tmp/work", "/tmp"] {
        unmount(place, UnmountFlags::DETACH).doing(|| format!("cannot unmount {place}"))?;
    }
    std::env::set_current_dir(start).doing(|| format!("cannot go to {}", start.display()))?;
    std::fs::write("/proc/self/oom_score_adj", "0").doing(|| "cannot be a program when memory is short".into())?;
    for (resource, most) in [
        (Resource::Fsize, FILE_MAX),
        (Resource::Nofile, FILES),
        (Resource::Core, 0),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit).doing(|| format!("cannot limit {resource:?}"))?;
    }
    let more = router.then_some(Capability::CAP_NET_ADMIN);
    let kept: Vec<Capability> = RIGHTS.into_iter().chain(more).collect();
    keep_only(&kept).map_err(AgentError::Plan)
}
