//! What a cell needs beside messages: debugfs, the access point's daemon, and waiting for a carrier.

use crate::agent::AgentError;
use crate::agent::actor::Doing;
use crate::agent::kernel::netlink::{GET_LINK, IFLA_IFNAME, LINK_MESSAGE, Netlink, attribute, message, text};
use rustix::mount::{MountFlags, mount};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Where debugfs is.
pub(crate) const DEBUGFS: &str = "/sys/kernel/debug";
/// Where programs say what they do.
const LOGS: &str = "/tmp";
/// Between two looks.
const STEP: Duration = Duration::from_millis(10);
/// Bytes of a log that are told.
const WORDS: usize = 400;

const IFLA_OPERSTATE: u16 = 16;
/// `IF_OPER_UP`: a carrier, and an access point that lets the station's data through.
const OPERATING: u8 = 6;

/// Mounts debugfs, if nobody has.
///
/// # Errors
/// If this is no guest, or its kernel has no debugfs.
pub(crate) fn mount_debugfs() -> Result<(), AgentError> {
    if std::process::id() != 1 {
        return Err(AgentError::Plan(
            "a cell needs a guest of its own, because its radios belong to the whole machine".into(),
        ));
    }
    if Path::new(DEBUGFS).join("ieee80211").exists() {
        return Ok(());
    }
    mount("debugfs", DEBUGFS, "debugfs", MountFlags::empty(), None).doing(|| format!("cannot mount {DEBUGFS}"))
}

/// Programs that run.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    running: Vec<(PathBuf, PathBuf, Child)>,
}

impl Programs {
    /// Starts one in the namespace in which this thread is.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn start(&mut self, words: &[String]) -> Result<(), AgentError> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(AgentError::Plan("no program is named".into()));
        };
        let program = PathBuf::from(program);
        let log = Path::new(LOGS).join(format!("program{}.log", self.running.len()));
        let out = File::create(&log).doing(|| format!("cannot write {}", log.display()))?;
        let copy = out.try_clone().doing(|| format!("cannot write {}", log.display()))?;
        let child = Command::new(&program)
            .args(arguments)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(copy)
            .spawn()
            .doing(|| format!("cannot start {}", program.display()))?;
        self.running.push((program, log, child));
        Ok(())
    }

    /// What the last one said last; `None` if nothing was started.
    pub(crate) fn last_words(&mut self) -> Option<String> {
        let (program, log, child) = self.running.last_mut()?;
        let state = match child.try_wait() {
            Ok(Some(status)) => format!("ended ({status})"),
            _ => "did not bring its device up".to_owned(),
        };
        let said = std::fs::read_to_string(log).unwrap_or_default();
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let tail: String = words
            .chars()
            .skip(words.chars().count().saturating_sub(WORDS))
            .collect();
        Some(format!("{} {state}; its last words: {tail}", program.display()))
    }
}

/// Waits until a device of this namespace carries data.
///
/// # Errors
/// If it does not in `patience`.
pub(crate) fn carrier(device: &str, route: &mut Netlink, patience: Duration) -> Result<(), AgentError> {
    let mut waited = Duration::ZERO;
    loop {
        let links = route.dump(message(GET_LINK, 0, 0, &[0; LINK_MESSAGE]));
        let links = links.doing(|| format!("cannot look at {device}"))?;
        let mut attributes = links.iter().filter_map(|link| link.get(LINK_MESSAGE..));
        let found = attributes.find(|link| attribute(link, IFLA_IFNAME).is_some_and(|name| text(name) == device));
        if found.and_then(|link| attribute(link, IFLA_OPERSTATE)) == Some(&[OPERATING]) {
            return Ok(());
        }
        if waited >= patience {
            let seconds = patience.as_secs();
            return Err(AgentError::Plan(format!("{device} has no carrier after {seconds} s")));
        }
        std::thread::sleep(STEP);
        waited += STEP;
    }
}
