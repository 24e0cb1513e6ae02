//! What a kernel can do: `check.json`.

use crate::agent::AgentError;
use crate::agent::actor::Doing;
use crate::agent::kernel::controls::congestion_controls;
use crate::agent::kernel::netlink::{
    CREATE, DELETE_QDISC, EXCLUSIVE, NEW_QDISC, Netlink, ROOT, TCA_KIND, message, push_attribute, tc_message,
};
use crate::agent::plan::job::CheckJob;
use crate::agent::run::{kernel, load_modules, write};
use flate2::read::GzDecoder;
use nix::sched::{CloneFlags, unshare};
use serde::Serialize;
use sojourn_qdisc::descriptors;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// `lo`, which each network namespace has.
const LOOPBACK: u32 = 1;
/// Kinds that a bed is built with besides those that can be under test.
const OF_A_BED: [&str; 2] = ["htb", "prio"];

#[derive(Debug, Serialize)]
struct Check {
    release: String,
    version: String,
    virtual_time: bool,
    hz: Option<u32>,
    congestion_controls: Vec<String>,
    disciplines: Vec<&'static str>,
    failed: BTreeMap<&'static str, String>,
}

/// Looks what the kernel can do, and writes `check.json` to `directory`.
pub(super) fn check(job: &CheckJob, directory: &Path) -> Result<(), AgentError> {
    load_modules(&job.modules)?;
    unshare(CloneFlags::CLONE_NEWNET).doing(|| "cannot make a network namespace".into())?;
    let kernel = kernel();
    let mut check = Check {
        release: kernel.release,
        version: kernel.version,
        virtual_time: kernel.virtual_time,
        hz: hz(),
        congestion_controls: congestion_controls()?,
        disciplines: Vec::new(),
        failed: BTreeMap::new(),
    };
    let mut netlink = Netlink::route().doing(|| "cannot open a netlink socket".into())?;
    let kinds: BTreeSet<&str> = descriptors().map(|about| about.kind).chain(OF_A_BED).collect();
    for kind in kinds {
        match try_kind(&mut netlink, kind) {
            Ok(()) => check.disciplines.push(kind),
            Err(e) => drop(check.failed.insert(kind, e.to_string())),
        }
    }
    let text = serde_json::to_vec_pretty(&check).doing(|| "cannot write check.json".into())?;
    write(directory, "check.json", &text)
}

/// Adds a discipline to `lo` and takes it away. A kind that only misses its parameters is there.
fn try_kind(netlink: &mut Netlink, kind: &str) -> std::io::Result<()> {
    let body = |kind: Option<&str>| {
        let mut body = tc_message(LOOPBACK, 0, ROOT);
        if let Some(kind) = kind {
            push_attribute(&mut body, TCA_KIND, format!("{kind}\0").as_bytes());
        }
        body
    };
    match netlink.request(message(NEW_QDISC, CREATE | EXCLUSIVE, 0, &body(Some(kind)))) {
        Ok(_) => netlink.request(message(DELETE_QDISC, 0, 0, &body(None))).map(drop),
        Err(e) if e.kind() == ErrorKind::InvalidInput => Ok(()),
        Err(e) => Err(e),
    }
}

/// The timer tick, if the kernel tells its configuration.
fn hz() -> Option<u32> {
    let mut text = String::new();
    GzDecoder::new(File::open("/proc/config.gz").ok()?)
        .read_to_string(&mut text)
        .ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix("CONFIG_HZ=")?.parse().ok())
}
