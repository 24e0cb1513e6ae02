//! What the commands of a script set: parameters of our TCP, or nothing that would make a difference.

use crate::words::{Missing, setting, unknown};
use sojourn_tcp::cc::Algorithm;
use sojourn_tcp::{AccEcnParams, EcnMode, OptionUse};
use sojourn_units::Duration;

/// Which ECN an end asks for when it connects, and which it agrees to at most. Source: Linux `tcp_ecn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ecn {
    pub(crate) asks: EcnMode,
    pub(crate) answers: EcnMode,
}

impl Ecn {
    /// By the number of the kernel's setting.
    fn of(number: &str) -> Option<Self> {
        use EcnMode::{Accurate, Classic, Off};
        let (answers, asks) = match number {
            "0" => (Off, Off),
            "1" => (Classic, Classic),
            "2" => (Classic, Off),
            "3" => (Accurate, Accurate),
            "4" => (Accurate, Classic),
            "5" => (Accurate, Off),
            _ => return None,
        };
        Some(Self { asks, answers })
    }
}

/// What commands have set.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct Settings {
    pub(crate) ecn: Ecn,
    pub(crate) accecn: AccEcnParams,
    pub(crate) linear_syn_timeouts: u32,
    pub(crate) timestamps: bool,
    pub(crate) congestion_control: Algorithm,
    /// The device's discipline paces.
    pub(crate) pacing: bool,
    pub(crate) restart_after_idle: bool,
    pub(crate) answer_interval: Duration,
    pub(crate) max_rto: Duration,
    /// So many segments at least leave as one piece of the send buffer.
    pub(crate) min_tso_segs: u16,
    /// The receive buffer's size at first and at last, bytes of memory.
    pub(crate) receive_buffer: (u64, u64),
    /// A window may be taken back.
    pub(crate) shrinks_window: bool,
    /// What arrives in larger pieces consists of segments of so many bytes.
    pub(crate) parts: Option<u16>,
    /// The device's discipline drops all.
    pub(crate) device_drops: bool,
}

impl Default for Settings {
    /// What a kernel has from the beginning.
    fn default() -> Self {
        Self {
            ecn: Ecn {
                asks: EcnMode::Off,
                answers: EcnMode::Classic,
            },
            accecn: AccEcnParams::default(),
            linear_syn_timeouts: 4,
            timestamps: true,
            congestion_control: Algorithm::Cubic,
            pacing: false,
            restart_after_idle: true,
            answer_interval: Duration::from_millis(500),
            max_rto: Duration::from_secs(120),
            min_tso_segs: 2,
            receive_buffer: (540_000, 15 << 20),
            shrinks_window: false,
            parts: None,
            device_drops: false,
        }
    }
}

impl Settings {
    /// Runs the commands, or says what they ask for that is not there.
    pub(crate) fn run(&mut self, text: &str) -> Result<(), Missing> {
        commands_of(text).iter().try_for_each(|command| self.one(command))
    }

    fn one(&mut self, command: &str) -> Result<(), Missing> {
        let words = words_of(command);
        let (first, rest) = words
            .split_first()
            .map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let program = first.rsplit('/').next().unwrap_or("");
        match program {
            // The settings that the kernel's tests have in common.
            "defaults.sh" => {
                self.ecn = Ecn {
                    asks: EcnMode::Off,
                    answers: EcnMode::Off,
                };
                self.restart_after_idle = false;
                Ok(())
            }
            "sysctl" | "set_sysctls.py" => rest
                .iter()
                .filter(|word| !word.starts_with('-'))
                .try_for_each(|word| self.set(word)),
            "nstat" if !command.contains('|') || counted(command).is_some() => Ok(()),
            // What the script set is forgotten with the run; and segments are cut by TCP itself.
            "ethtool" | "true" => Ok(()),
            _ if program.starts_with("sysctl_restore") => Ok(()),
            "tc" => self.discipline(command),
            // Both of HyStart's signs, which our CUBIC heeds.
            "echo" if rest == ["3", ">", "/sys/module/tcp_cubic/parameters/hystart_detect"] => Ok(()),
            // Our TCP remembers nothing of a peer.
            "ip" if command.contains("tcp_metrics flush") => Ok(()),
            _ => Err(unknown("command", first)),
        }
    }

    fn discipline(&mut self, command: &str) -> Result<(), Missing> {
        let words = command.split_whitespace().filter(|word| !word.starts_with("2>"));
        let deletes = words.clone().any(|word| matches!(word, "del" | "delete"));
        let words: Vec<_> = words.skip_while(|word| *word != "root").skip(1).collect();
        (self.pacing, self.device_drops) = match words[..] {
            [] if deletes => (false, false),
            ["fq"] => (true, false),
            ["pfifo" | "pfifo_fast"] => (false, false),
            ["pfifo", "limit", "0"] => (false, true),
            // No script has so much in it.
            ["pfifo", "limit", n] if n.parse().is_ok_and(|n: u32| n >= 1000) => (false, false),
            _ => return Err(unknown("command", "tc")),
        };
        Ok(())
    }

    fn set(&mut self, word: &str) -> Result<(), Missing> {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let name = name.trim_start_matches("/proc/sys/").replace('/', ".");
        let missing = |why: &str| Err(Missing::new(format!("{name}={value}"), why));
        match (name.as_str(), value) {
            ("net.ipv4.tcp_ecn", _) => match Ecn::of(value) {
                Some(ecn) => self.ecn = ecn,
                None => return missing("Linux has 0 to 5"),
            },
            ("net.ipv4.tcp_ecn_option", _) => match value {
                "0" => self.accecn.option = OptionUse::Never,
                "1" => self.accecn.option = OptionUse::Minimum,
                "2" => self.accecn.option = OptionUse::Always,
                "3" => self.accecn.option = OptionUse::Persist,
                _ => return missing("Linux has 0 to 3"),
            },
            ("net.ipv4.tcp_ecn_option_beacon", _) => match value.parse() {
                Ok(beacon @ 0..=63) => self.accecn.beacon = beacon,
                _ => return missing("Linux has 0 to 63"),
            },
            ("net.ipv4.tcp_ecn_fallback", "0" | "1") => self.accecn.fallback = value == "1",
            ("net.ipv4.tcp_syn_linear_timeouts", _) => match value.parse() {
                Ok(timeouts @ 0..=127) => self.linear_syn_timeouts = timeouts,
                _ => return missing("Linux has 0 to 127"),
            },
            ("net.ipv4.tcp_timestamps", _) => self.timestamps = value != "0",
            ("net.ipv4.tcp_slow_start_after_idle", _) => self.restart_after_idle = value != "0",
            ("net.ipv4.tcp_invalid_ratelimit", _) => match value.parse() {
                Ok(ms @ 0..=60_000) => self.answer_interval = Duration::from_millis(ms),
                _ => return missing("our TCP has an interval of at most a minute"),
            },
            ("net.ipv4.tcp_rto_max_ms", _) => match value.parse() {
                Ok(ms @ 1000..=120_000) => self.max_rto = Duration::from_millis(ms),
                _ => return missing("Linux has 1000 to 120000"),
            },
            ("net.ipv4.tcp_rmem", _) => {
                let numbers: Vec<u64> = value.split_whitespace().map_while(|n| n.parse().ok()).collect();
                let [_, size @ 1..=0x7fff_ffff, largest @ 1..=0x7fff_ffff] = numbers[..] else {
                    return missing("Linux has three numbers of bytes, below 2 GiB");
                };
                self.receive_buffer = (size, largest);
            }
            ("net.ipv4.tcp_shrink_window", "0" | "1") => {
                self.shrinks_window = value == "1";
            }
            ("net.ipv4.tcp_min_tso_segs", _) => match value.parse() {
                Ok(segments @ 1..=65_535) => self.min_tso_segs = segments,
                _ => return missing("Linux has 1 to 65535"),
            },
            ("net.ipv4.tcp_congestion_control", _) => match value.parse() {
                Ok(algorithm) => self.congestion_control = algorithm,
                Err(_) => return missing("our TCP has no such congestion control"),
            },
            _ => return setting(&name, value),
        }
        Ok(())
    }
}

/// Counters of a kernel that our receiver has.
pub(crate) const COUNTERS: [&str; 3] = ["TcpExtBeyondWindow", "TcpExtTCPRcvQDrop", "TcpExtTCPZeroWindowDrop"];

/// `nstat | grep NAME | grep -q " N "`: which of [`COUNTERS`] must be how much.
pub(crate) fn counted(command: &str) -> Option<(usize, u64)> {
    let parts: Vec<_> = command.split('|').map(str::trim).collect();
    let ["nstat" | "nstat -s", name, number] = parts[..] else {
        return None;
    };
    let name = name.strip_prefix("grep ")?.trim();
    let number = number.strip_prefix("grep -q ")?.trim_matches(['"', ' ']);
    let counter = COUNTERS.iter().position(|one| *one == name)?;
    Some((counter, number.parse().ok()?))
}

/// The commands of a text, as a shell splits it: without comments, and lines that go on joined.
#[must_use]
pub fn commands_of(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let commands = joined.split(['\n', ';']);
    let commands = commands.map(|command| command.split(" #").next().unwrap_or("").trim());
    commands
        .filter(|command| !command.is_empty() && !command.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// The words of a command, as a shell splits them. `$((a*b))` is reckoned.
#[must_use]
pub fn words_of(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in reckoned(command).chars() {
        match quote {
            Some(q) if c == q => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c.is_whitespace() => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn reckoned(command: &str) -> String {
    let mut text = command.to_string();
    while let Some((start, end)) = text.find("$((").and_then(|s| Some((s, text[s..].find("))")? + s))) {
        let product: Option<u64> = text[start + 3..end]
            .split('*')
            .map(|n| n.trim().parse::<u64>().ok())
            .try_fold(1u64, |product, n| product.checked_mul(n?));
        text.replace_range(start..end + 2, &product.map_or_else(|| "?".into(), |n| n.to_string()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_set_what_our_tcp_has() {
        let mut settings = Settings::default();
        let text = "./defaults.sh\nsysctl -q net.ipv4.tcp_ecn=1  # on
./set_sysctls.py \\\n /proc/sys/net/ipv4/tcp_timestamps=0
sysctl -q net.ipv4.tcp_congestion_control=reno; tc qdisc replace dev tun0 root fq";
        settings.run(text).expect("all is known");
        assert_eq!(
            (settings.ecn.asks, settings.timestamps, settings.pacing),
            (EcnMode::Classic, false, true)
        );
        assert_eq!(
            (settings.congestion_control, settings.restart_after_idle),
            (Algorithm::Reno, false)
        );
    }

    #[test]
    fn what_is_not_there_is_named() {
        for (text, word) in [
            ("sysctl -q net.ipv4.tcp_ecn=6", "net.ipv4.tcp_ecn=6"),
            (
                "sysctl -q net.ipv4.tcp_wmem=\"4096 131072 $((32*1024*1024))\"",
                "net.ipv4.tcp_wmem=4096 131072 33554432",
            ),
            ("sysctl -q net.ipv4.tcp_rmem=4096", "net.ipv4.tcp_rmem=4096"),
            ("reboot now", "reboot"),
            ("tc qdisc add dev tun0 root pfifo limit 3", "tc"),
            ("nstat -s | grep x", "nstat"),
        ] {
            assert_eq!(Settings::default().run(text).expect_err(text).word, word);
        }
        let mut settings = Settings::default();
        let text = "sysctl -q net.ipv4.tcp_rmem=\"4096 540000 $((15*1024*1024))\"";
        settings.run(text).expect("it is the default");
        assert_eq!(settings.receive_buffer, Settings::default().receive_buffer);
    }
}
