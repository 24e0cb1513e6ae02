//! The commands of a script, which a guest has no shell for: what they do is done here.

use crate::device;
use sojourn_drill::{Missing, Trouble, commands_of, words_of};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// What `defaults.sh` of the kernel's tests sets. Source: tools/testing/selftests/net/packetdrill/defaults.sh. Those
/// that a kernel does not have are left out, as the shell does that goes on after an error.
const DEFAULTS: &[(&str, &str)] = &[
    ("net.ipv4.tcp_rmem", "4096 540000 15728640"),
    ("net.ipv4.tcp_wmem", "4096 262144 4194304"),
    ("net.ipv4.tcp_timestamps", "1"),
    ("net.ipv4.tcp_syn_retries", "5"),
    ("net.ipv4.tcp_synack_retries", "5"),
    ("net.ipv4.tcp_frto", "2"),
    ("net.ipv4.tcp_sack", "1"),
    ("net.ipv4.tcp_dsack", "1"),
    ("net.ipv4.tcp_fack", "0"),
    ("net.ipv4.tcp_reordering", "3"),
    ("net.ipv4.tcp_congestion_control", "cubic"),
    ("net.ipv4.tcp_slow_start_after_idle", "0"),
    ("net.ipv4.tcp_early_retrans", "4"),
    ("net.ipv4.tcp_recovery", "1"),
    ("net.ipv4.tcp_tso_win_divisor", "3"),
    ("net.ipv4.tcp_ecn", "0"),
    ("net.ipv4.tcp_pacing_ss_ratio", "200"),
    ("net.ipv4.tcp_pacing_ca_ratio", "120"),
    ("net.ipv4.tcp_notsent_lowat", "4294967295"),
    ("net.ipv4.tcp_fastopen", "0x3"),
    ("net.ipv4.tcp_fastopen_key", "a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4"),
    ("net.ipv4.tcp_syncookies", "1"),
];

/// ethtool's words for features, and the kernel's.
const FEATURES: &[(&str, &[&str])] = &[
    (
        "tso",
        &[
            "tx-tcp-segmentation",
            "tx-tcp-ecn-segmentation",
            "tx-tcp-mangleid-segmentation",
            "tx-tcp6-segmentation",
        ],
    ),
    ("gso", &["tx-generic-segmentation"]),
    ("gro", &["rx-gro"]),
    ("lro", &["rx-lro"]),
];

/// Files that scripts may write, read and remove are in this folder of the guest.
pub(crate) const FILES: &str = "/tmp/";
/// The longest file that a script makes.
const LONGEST_FILE: usize = 1 << 20;

/// What commands remember.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    /// The counters that `nstat` saw last.
    seen: BTreeMap<String, i64>,
}

fn missing(word: impl Into<String>, why: impl Into<String>) -> Trouble {
    Missing::new(word, why).into()
}

impl Commands {
    /// Runs them.
    ///
    /// # Errors
    /// If one is not known, the kernel refuses a setting, or the last one fails.
    pub(crate) fn run(&mut self, text: &str) -> Result<(), Trouble> {
        for command in commands_of(text) {
            self.one(&command)?;
        }
        Ok(())
    }

    fn one(&mut self, command: &str) -> Result<(), Trouble> {
        let command = command.replace("2>/dev/null", "").replace("> /dev/null", "");
        if command.contains('|') || command.starts_with("grep ") {
            return self.pipeline(&command);
        }
        let words = words_of(&command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some((first, rest)) = words.split_first() else {
            return Ok(());
        };
        let program = first.rsplit('/').next().unwrap_or("");
        match (program, rest) {
            ("defaults.sh", _) => {
                for (name, value) in DEFAULTS {
                    // A kernel that does not have it is tested without it.
                    let _ = set(name, value);
                }
                discipline("pfifo", None)
            }
            ("sysctl" | "set_sysctls.py", _) => {
                let may_lack = rest.contains(&"-e");
                let settings = rest.iter().filter(|word| !word.starts_with('-'));
                for word in settings {
                    match setting(word) {
                        Err(_) if may_lack => {}
                        done => done?,
                    }
                }
                Ok(())
            }
            ("true", _) | ("tc", ["qdisc", "delete" | "del", "dev", device::NAME, "root"]) => Ok(()),
            ("ip", ["tcp_metrics", "flush", ..]) => {
                device::forget_peers().map_err(|error| refused("ip tcp_metrics flush", &error))
            }
            ("echo", [value, ">", path]) => parameter(path, value),
            // The guest ends with the script.
            _ if program.starts_with("sysctl_restore") => Ok(()),
            ("tc", ["qdisc", "add" | "replace", "dev", device::NAME, "root", kind]) => discipline(kind, None),
            (
                "tc",
                [
                    "qdisc",
                    "add" | "replace",
                    "dev",
                    device::NAME,
                    "root",
                    kind,
                    "limit",
                    n,
                ],
            ) => match n.parse() {
                Ok(n) if matches!(*kind, "pfifo" | "bfifo") => discipline(kind, Some(n)),
                _ => Err(missing(*kind, "only a FIFO with a limit is known to sojourn-drill")),
            },
            ("ip", ["link", "set", "dev", device::NAME, "mtu", n]) => match n.parse() {
                Ok(n) => device::set_mtu(n).map_err(|error| refused("the MTU", &error)),
                Err(_) => Err(missing(*n, "an MTU is a number of bytes")),
            },
            ("ethtool", ["-K", device::NAME, features @ ..]) => switch(features),
            ("nstat", _) => {
                self.nstat(rest.contains(&"-s"));
                Ok(())
            }
            ("rm", [.., path]) => {
                let _ = std::fs::remove_file(file(path)?);
                Ok(())
            }
            ("dd", _) => fill(rest),
            _ => Err(missing(*first, "this command is not known to sojourn-drill")),
        }
    }

    /// `nstat -s | grep NAME | grep -q " 3 "`: whether a line is left.
    fn pipeline(&mut self, command: &str) -> Result<(), Trouble> {
        let mut lines: Vec<String> = Vec::new();
        for (i, stage) in command.split('|').enumerate() {
            let words = words_of(stage);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            match words[..] {
                ["nstat"] if i == 0 => lines = self.nstat(false),
                ["nstat", "-s"] if i == 0 => lines = self.nstat(true),
                ["grep", pattern, ref files @ ..] if i == 0 && !files.is_empty() => {
                    for path in files {
                        if !path.starts_with("/proc/net/") || path.contains("..") {
                            return Err(missing(*path, "only files of /proc/net are read"));
                        }
                        let text = std::fs::read_to_string(path).unwrap_or_default();
                        lines.extend(text.lines().filter(|line| line.contains(pattern)).map(str::to_owned));
                    }
                }
                ["grep", pattern] | ["grep", "-q", pattern] if i > 0 => lines.retain(|line| line.contains(pattern)),
                _ => {
                    let first = words.first().copied().unwrap_or("|");
                    return Err(missing(first, "this command is not known to sojourn-drill"));
                }
            }
        }
        if lines.is_empty() {
            return Err(Trouble::Wrong("no line was left".into()));
        }
        Ok(())
    }

    /// The counters that have grown since it was called last, as lines of `nstat`; `stays`: the next call counts from
    /// the same beginning.
    fn nstat(&mut self, stays: bool) -> Vec<String> {
        let now = counters();
        let grown = |(name, value): (&String, &i64)| {
            let more = value - self.seen.get(name).copied().unwrap_or(0);
            (more != 0).then(|| format!("{name:<32}{more:<16}0.0"))
        };
        let lines = now.iter().filter_map(grown).collect();
        if !stays {
            self.seen = now;
        }
        lines
    }
}

/// `/proc/net/netstat` and `/proc/net/snmp`: lines of names, each followed by a line of values.
fn counters() -> BTreeMap<String, i64> {
    let mut all = BTreeMap::new();
    for path in ["/proc/net/netstat", "/proc/net/snmp"] {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.chunks_exact(2) {
            let group = pair[0].split(':').next().unwrap_or("");
            let values = pair[1].split_whitespace();
            for (name, value) in pair[0].split_whitespace().zip(values).skip(1) {
                if let Ok(value) = value.parse() {
                    all.insert(format!("{group}{name}"), value);
                }
            }
        }
    }
    all
}

/// `name=value`, where the name may be the path of its file.
fn setting(word: &str) -> Result<(), Trouble> {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    let name = name.trim_start_matches("/proc/sys/").replace('/', ".");
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    if !name.starts_with("net.") || !plain || name.contains("..") {
        return Err(missing(word, "only settings of net are made"));
    }
    set(&name, value).map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "this kernel has no such setting".to_string(),
            io::ErrorKind::InvalidInput => "this kernel does not take the value".to_string(),
            _ => format!("this kernel refuses: {error}"),
        };
        missing(format!("{name}={value}"), why)
    })
}

fn set(name: &str, value: &str) -> io::Result<()> {
    let path = Path::new("/proc/sys").join(name.replace('.', "/"));
    // Not made anew: an absent file is a setting that the kernel does not have.
    let mut file = std::fs::File::options().write(true).open(path)?;
    io::Write::write_all(&mut file, value.as_bytes())
}

/// A parameter of one of the kernel's congestion controls.
fn parameter(path: &str, value: &str) -> Result<(), Trouble> {
    let parts: Vec<&str> = path.split('/').collect();
    match parts[..] {
        ["", "sys", "module", module, "parameters", name] if module.starts_with("tcp_") && !name.starts_with('.') => {
            std::fs::write(path, value).map_err(|error| refused(path, &error))
        }
        _ => Err(missing(path, "only parameters of congestion controls are written")),
    }
}

fn refused(what: &str, error: &io::Error) -> Trouble {
    missing(what, format!("this kernel refuses: {error}"))
}

fn discipline(kind: &str, limit: Option<u32>) -> Result<(), Trouble> {
    device::set_discipline(kind, limit).map_err(|error| refused(kind, &error))
}

fn switch(features: &[&str]) -> Result<(), Trouble> {
    let mut bits = Vec::new();
    for pair in features.chunks(2) {
        let known = FEATURES.iter().find(|one| one.0 == pair[0]);
        let (Some((_, names)), Some(how @ ("on" | "off"))) = (known, pair.get(1).copied()) else {
            return Err(missing(pair[0], "this feature is not known to sojourn-drill"));
        };
        bits.extend(names.iter().map(|name| (*name, how == "on")));
    }
    // A feature that the device cannot change is no error, as for ethtool with several.
    for bit in bits {
        let _ = device::set_features(&[bit]);
    }
    Ok(())
}

/// The path of a file of the script.
///
/// # Errors
/// If it is in no folder that scripts may use.
pub(crate) fn file(path: &str) -> Result<&Path, Trouble> {
    let name = path.strip_prefix(FILES).unwrap_or("");
    if name.is_empty() || name.contains('/') || name.starts_with('.') {
        return Err(missing(path, "files of scripts are in /tmp"));
    }
    Ok(Path::new(path))
}

/// `dd bs=1 count=5 if=/dev/zero of=/tmp/testfile`.
fn fill(words: &[&str]) -> Result<(), Trouble> {
    let word = |name: &str| words.iter().find_map(|word| word.strip_prefix(name));
    let number = |name: &str| word(name).and_then(|n| n.parse::<usize>().ok());
    let bytes = number("bs=")
        .unwrap_or(512)
        .saturating_mul(number("count=").unwrap_or(0));
    if word("if=") != Some("/dev/zero") || bytes > LONGEST_FILE {
        return Err(missing("dd", "only zeros are written, at most 1 MiB"));
    }
    let path = file(word("of=").unwrap_or(""))?;
    std::fs::write(path, vec![0; bytes]).map_err(|error| refused("dd", &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_or_not_allowed_is_named() {
        for (text, word) in [
            ("reboot now", "reboot"),
            ("sysctl -q kernel.panic=1", "kernel.panic=1"),
            (
                "sysctl -q net.ipv4/../../kernel/panic=1",
                "net.ipv4/../../kernel/panic=1",
            ),
            ("/bin/rm -f /tmp/folder/script.pkt", "/tmp/folder/script.pkt"),
            ("/bin/rm -f /etc/passwd", "/etc/passwd"),
            ("grep root /etc/shadow", "/etc/shadow"),
            ("grep root /proc/net/../1/environ", "/proc/net/../1/environ"),
            ("nstat | tee x", "tee"),
            (
                "echo 1 > /sys/module/tcp_cubic/../parameters/x",
                "/sys/module/tcp_cubic/../parameters/x",
            ),
            ("echo 1 > /etc/passwd", "/etc/passwd"),
            ("sysctl -q net.ipv4.tcp_nonsense=1", "net.ipv4.tcp_nonsense=1"),
        ] {
            match Commands::default().run(text) {
                Err(Trouble::Missing(missing)) => assert_eq!(missing.word, word),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_pipeline_fails_if_no_line_is_left() {
        let mut commands = Commands::default();
        let trouble = commands.run("nstat | grep NoCounterHasThisName | grep -q \" 3 \"");
        assert_eq!(trouble, Err(Trouble::Wrong("no line was left".into())));
        assert_eq!(commands.run("grep local_address /proc/net/tcp"), Ok(()));
    }
}
