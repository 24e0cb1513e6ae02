//! As the first process of a guest (User-Mode Linux with the machine's root as its own, read-only): mounts what is
//! needed, runs the script, and switches the guest off whatever happens.

use crate::report::Report;
use crate::target::Kernel;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};
use sojourn_drill::{Outcome, Run, run_on};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::panic::catch_unwind;
use std::path::Path;

/// Where the script is.
const WORK: &str = "/tmp/work";

/// All that the first process does. Never returns, unless the kernel refuses to switch itself off.
pub(crate) fn first_process() {
    let done = catch_unwind(|| mounts().and_then(|()| script()));
    let trouble = match done {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some("the program that runs scripts panicked".to_owned()),
    };
    if let Some(text) = trouble {
        eprintln!("sojourn-drill: {text}");
        let _ = std::fs::write(Path::new(WORK).join("error.txt"), format!("{text}\n"));
    }
    rustix::fs::sync();
    if let Err(error) = reboot(RebootCommand::PowerOff) {
        eprintln!("sojourn-drill: cannot switch the guest off: {error}");
    }
}

/// An error with what was tried.
fn doing<T>(what: &str, result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| io::Error::new(error.kind(), format!("{what}: {error}")))
}

fn script() -> io::Result<()> {
    let work = Path::new(WORK);
    let text = doing(
        "cannot read the script",
        std::fs::read_to_string(work.join("script.pkt")),
    )?;
    let mut trouble = None;
    let report = Report::of(&text, |script| match Kernel::new(script) {
        Ok(kernel) => run_on(script, kernel),
        Err(error) => {
            trouble = Some(error);
            Run {
                outcome: Outcome::Passed,
                printed: Vec::new(),
            }
        }
    });
    if let Some(error) = trouble {
        return doing("cannot make the device tun0", Err(error));
    }
    let path = work.join("outcome.json");
    doing("cannot write the outcome", std::fs::write(path, report.as_json()))
}

fn mounts() -> io::Result<()> {
    // The link is one of the machine outside: it leads to the directory in which the guest's kernel was started.
    let link = "/proc/self/cwd";
    let work = doing(&format!("cannot read the link {link}"), std::fs::read_link(link))?;
    let work = CString::new(work.as_os_str().as_bytes()).map_err(io::Error::from)?;
    // The devices are the guest's own, also where the machine has no /dev/net/tun.
    let kinds = [
        ("proc", "/proc"),
        ("sysfs", "/sys"),
        ("tmpfs", "/tmp"),
        ("devtmpfs", "/dev"),
    ];
    for (kind, target) in kinds {
        let done = mount(kind, target, kind, MountFlags::empty(), None);
        doing(&format!("cannot mount {target}"), done.map_err(io::Error::from))?;
    }
    doing("cannot make a folder", std::fs::create_dir(WORK))?;
    let done = mount("none", WORK, "hostfs", MountFlags::empty(), work.as_c_str());
    doing(&format!("cannot mount {WORK}"), done.map_err(io::Error::from))
}
