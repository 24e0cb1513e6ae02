//! As the first process of a guest (User-Mode Linux with the machine's root as its own, read-only): mounts what is
//! needed, does the job, and switches the guest off whatever happens.

use crate::agent::AgentError;
use crate::agent::actor::Doing;
use crate::agent::carry_out;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::panic::catch_unwind;
use std::path::Path;

/// Where the job is.
const WORK: &str = "/tmp/work";
/// Settings of the whole kernel, not of a namespace, each with a value that never matters. The first is how many
/// packets wait between two devices: many senders can send at one instant, and a packet that is lost before the
/// bottleneck is lost by nobody's choice. The second is how many pages all TCP sockets may have: under what the
/// kernel calls pressure, which with the little memory of a guest begins at a few flows, it makes windows small.
const SETTINGS: [(&str, &str); 2] = [
    ("/proc/sys/net/core/netdev_max_backlog", "100000"),
    ("/proc/sys/net/ipv4/tcp_mem", "1048576 1048576 1048576"),
];

/// All that the first process does. Never returns, unless the kernel refuses to switch itself off.
pub fn first_process() {
    let done = catch_unwind(|| mounts().and_then(|()| carry_out(Path::new(WORK))));
    match done {
        Ok(Ok(())) => {}
        Ok(Err(e)) => {
            eprintln!("sojourn-agent: {e}");
            // The job's own errors are there already; this one may be older than the job.
            let path = Path::new(WORK).join("error.txt");
            if !path.exists() {
                report(&path, &e.to_string());
            }
        }
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            let text = format!(
                "the agent panicked: {}",
                text.as_deref().unwrap_or("it did not say why")
            );
            report(&Path::new(WORK).join("error.txt"), &text);
        }
    }
    rustix::fs::sync();
    if let Err(e) = reboot(RebootCommand::PowerOff) {
        eprintln!("sojourn-agent: cannot switch the guest off: {e}");
    }
}

fn report(path: &Path, text: &str) {
    if let Err(e) = std::fs::write(path, format!("{text}\n")) {
        eprintln!("sojourn-agent: cannot write {}: {e}", path.display());
    }
}

fn mounts() -> Result<(), AgentError> {
    // The link is one of the machine outside: it leads to the directory in which the guest's kernel was started.
    let link = "/proc/self/cwd";
    let work = std::fs::read_link(link).doing(|| format!("cannot read the link {link}"))?;
    let work = CString::new(work.as_os_str().as_bytes()).doing(|| "the directory's name has a zero byte".into())?;
    for (kind, target) in [("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/tmp")] {
        mount(kind, target, kind, MountFlags::empty(), None).doing(|| format!("cannot mount {target}"))?;
    }
    std::fs::create_dir(WORK).doing(|| format!("cannot make {WORK}"))?;
    mount("none", WORK, "hostfs", MountFlags::empty(), work.as_c_str()).doing(|| format!("cannot mount {WORK}"))?;
    for (path, value) in SETTINGS {
        std::fs::write(path, value).doing(|| format!("cannot write {value} to {path}"))?;
    }
    Ok(())
}
