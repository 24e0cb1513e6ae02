//! Programs of people's own, which run in the hosts of a bed on a kernel.

use crate::context::Context;
use crate::cost::Estimate;
use crate::error::within;
use crate::name::check_name;
use crate::{Backend, ScenarioError, fail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use sojourn_units::Duration;
use std::collections::BTreeSet;

/// Most programs of a run, and the highest number of a host that runs some.
const MOST: usize = 64;
const HOSTS: u16 = 16;
/// Most words of a command, files and variables of a program, and bytes of all its texts.
const WORDS_MAX: usize = 1_000;
const TEXT_MAX: usize = 100_000;
/// What is kept of a run may have this many bytes for each program: its two outputs and its files.
const OUTPUT: f64 = 32e6;

/// A program on a host of the bed, which runs on a kernel with the machine's files as its own, read-only. Its flows are
/// measured at the bottleneck, and its outputs are kept.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Program", extend("required" = ["name", "host", "command"]))]
pub struct ProgramScenario {
    /// Unique among programs.
    #[serde(default)]
    pub name: String,
    /// Where it runs: `"client"`, `"client2"` to `"client16"`, `"server"`, `"server2"` to `"server16"`, or `"router"`, which has
    /// the bottleneck from client to server and may use `tc` and `ip`. In a cell a client is a station, in their order.
    #[serde(default)]
    pub host: String,
    /// The program and its words, as they are handed to it: no shell reads them. The first is a name to be looked for, or a path.
    #[serde(default)]
    pub command: Vec<String>,
    /// When it starts, from the beginning of the measured window (default: at once); not with `ready`.
    pub start: Option<Duration>,
    /// What says that it is ready, `"port 5201"`, `"port"` or `"line TEXT"`: something waits at that port or at any, or its
    /// output has TEXT. It is started before all traffic, which begins once it is ready (default: nobody waits for it).
    pub ready: Option<String>,
    /// When it is told to end, by SIGTERM and a second later by SIGKILL (default: at the end of the measured window).
    pub stop: Option<Duration>,
    /// Files of the machine that are copied into its folder, by their paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Files of its folder that are kept in the run, by their paths there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// Variables of its environment beside those that it has anyway, each `"NAME=value"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
}

/// The host of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramHost {
    /// A client, counted from 0.
    Client(u16),
    /// A server, counted from 0.
    Server(u16),
    /// The router with the bottleneck up.
    Router,
}

/// What says that a program is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready<'a> {
    /// Something waits at this port of its host, or at any: TCP that listens, or a bound UDP socket.
    Port(Option<u16>),
    /// Its output has this text.
    Line(&'a str),
}

impl ProgramScenario {
    /// Where it runs; `None` if it names no host.
    #[must_use]
    pub fn place(&self) -> Option<ProgramHost> {
        let number = |text: &str| match text {
            "" => Some(0),
            _ if text.starts_with('0') => None,
            _ => text
                .parse()
                .ok()
                .filter(|n| (2..=HOSTS).contains(n))
                .map(|n: u16| n - 1),
        };
        match (self.host.strip_prefix("client"), self.host.strip_prefix("server")) {
            (Some(rest), _) => number(rest).map(ProgramHost::Client),
            (_, Some(rest)) => number(rest).map(ProgramHost::Server),
            _ => (self.host == "router").then_some(ProgramHost::Router),
        }
    }

    /// What says that it is ready; `None` if nobody waits for it, or that is not said as it must be.
    #[must_use]
    pub fn awaited(&self) -> Option<Ready<'_>> {
        let text = self.ready.as_deref()?;
        match text.split_once(' ').unwrap_or((text, "")) {
            ("port", "") => Some(Ready::Port(None)),
            ("port", port) => port
                .parse()
                .ok()
                .filter(|&port| port > 0)
                .map(|port| Ready::Port(Some(port))),
            ("line", text) => (!text.trim().is_empty()).then_some(Ready::Line(text)),
            _ => None,
        }
    }

    pub(crate) fn cost(all: &[Self], run: &mut Estimate<'_>) {
        let about = format!("{} programs with their outputs", all.len());
        run.part(about, all.len() as f64 * OUTPUT, "run fewer");
    }

    /// Checks all programs of a scenario.
    pub(crate) fn check_all(all: &[Self], on: &Context<'_>) -> Result<(), ScenarioError> {
        if all.is_empty() {
            return Ok(());
        }
        if on.backend != Backend::Linux {
            let name = on.backend.name();
            let sentence = format!("programs is given, but the {name} back end runs none: use linux");
            return Err(ScenarioError::because(sentence));
        }
        if all.len() > MOST {
            return fail("number of programs", all.len(), format!("at most {MOST}"));
        }
        let mut names = BTreeSet::new();
        for (i, program) in all.iter().enumerate() {
            program.check(&format!("programs[{i}]"), on)?;
            if !names.insert(&program.name) {
                return fail("name", format!("{:?} twice", program.name), "unique among programs");
            }
        }
        Ok(())
    }

    fn check(&self, place: &str, on: &Context<'_>) -> Result<(), ScenarioError> {
        let field = |key: &str| format!("{place}.{key}");
        check_name(&field("name"), &self.name)?;
        let stations = on.wifi.map(|wifi| wifi.cell.stations.len());
        match (self.place(), stations) {
            (Some(ProgramHost::Client(n)), Some(stations)) if usize::from(n) >= stations => {
                let rule = format!("one of the {stations} stations of the cell");
                return fail(&field("host"), format!("{:?}", self.host), rule);
            }
            (Some(_), _) => {}
            (None, _) => {
                let rule = format!(
                    "client, server or router, or a client or server after the first up to {HOSTS}, such as client2"
                );
                return fail(&field("host"), format!("{:?}", self.host), rule);
            }
        }
        match self.command.first() {
            Some(program) if !program.is_empty() => {}
            _ => {
                return fail(
                    &field("command"),
                    "empty",
                    "a program and its words, such as [\"iperf3\", \"-s\"]",
                );
            }
        }
        for (key, texts) in [
            ("command", &self.command),
            ("files", &self.files),
            ("keep", &self.keep),
            ("environment", &self.environment),
        ] {
            if texts.len() > WORDS_MAX || texts.iter().map(String::len).sum::<usize>() > TEXT_MAX {
                let rule = format!("at most {WORDS_MAX} texts with {TEXT_MAX} bytes in all");
                return fail(&field(key), format!("{} texts", texts.len()), rule);
            }
            if let Some(text) = texts.iter().find(|text| text.contains('\0')) {
                return fail(&field(key), format!("{text:?}"), "text without zero bytes");
            }
        }
        for path in &self.keep {
            let inside = |part: &str| !matches!(part, "" | "." | "..");
            if !path.split('/').all(inside) {
                let rule = "the path of a file in its folder, such as results/out.json";
                return fail(&field("keep"), format!("{path:?}"), rule);
            }
        }
        for variable in &self.environment {
            let named = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let name = variable.split_once('=').map_or("", |(name, _)| name);
            if name.is_empty() || !name.chars().all(named) {
                return fail(&field("environment"), format!("{variable:?}"), "NAME=value");
            }
        }
        for (key, time) in [("start", self.start), ("stop", self.stop)] {
            if let Some(time) = time {
                within(&field(key), time, Duration::ZERO, on.duration)?;
            }
        }
        let start = self.start.unwrap_or(Duration::ZERO);
        if let Some(stop) = self.stop.filter(|&stop| stop <= start) {
            return fail(&field("stop"), stop, format!("after {start}, when it starts"));
        }
        match (&self.ready, self.start) {
            (Some(text), _) if self.awaited().is_none() => fail(
                &field("ready"),
                format!("{text:?}"),
                "\"port NUMBER\", \"port\" or \"line TEXT\"",
            ),
            (Some(_), Some(start)) => {
                let rule = "absent with ready, which is waited for before all traffic";
                fail(&field("start"), start, rule)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    fn refusal(keys: &str) -> String {
        let text = format!(r#"{{"duration": "5s", "programs": [{keys}]}}"#);
        Scenario::for_backend(&text, Backend::Linux)
            .expect_err(keys)
            .to_string()
    }

    fn program(more: &str) -> String {
        format!(r#"{{"name": "a", "host": "client2", "command": ["x", "a \"b\"\n"]{more}}}"#)
    }

    #[test]
    fn a_program_keeps_its_words_and_is_for_a_kernel_only() {
        let more = r#", "ready": "line Server: up", "keep": ["out/a.json"], "environment": ["A=b=c"], "stop": "2s""#;
        let text = format!(r#"{{"duration": "5s", "programs": [{}]}}"#, program(more));
        let scenario = Scenario::for_backend(&text, Backend::Linux).expect("a scenario");
        let one = &scenario.programs[0];
        assert_eq!(one.command, ["x", "a \"b\"\n"]);
        assert_eq!(one.place(), Some(ProgramHost::Client(1)));
        assert_eq!(one.awaited(), Some(Ready::Line("Server: up")));
        let again = Scenario::for_backend(&scenario.to_json(), Backend::Linux).expect("the same");
        assert_eq!(again.to_json(), scenario.to_json());
        for backend in [Backend::Sim, Backend::Live] {
            let said = Scenario::for_backend(&text, backend)
                .expect_err("no programs")
                .to_string();
            assert!(said.ends_with("back end runs none: use linux"), "{said}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_program_is_said_in_one_sentence() {
        for (keys, says) in [
            (
                r#"{"name": "a b", "host": "client", "command": ["x"]}"#,
                "[0].name is \"a b\"",
            ),
            (
                r#"{"name": "a", "host": "client1", "command": ["x"]}"#,
                "host is \"client1\", but must be client,",
            ),
            (
                r#"{"name": "a", "host": "server17", "command": ["x"]}"#,
                "host is \"server17\"",
            ),
            (r#"{"name": "a", "host": "r2", "command": ["x"]}"#, "host is \"r2\""),
            (
                r#"{"name": "a", "host": "client", "command": []}"#,
                "command is empty, but must be a program",
            ),
            (
                r#"{"name": "a", "host": "client", "command": "x y"}"#,
                "command is \"x y\", but must be a list",
            ),
            (&program(r#", "command": ["a"]"#), "twice"),
            (
                &program(r#", "ready": "port 0""#),
                "ready is \"port 0\", but must be \"port NUMBER\"",
            ),
            (
                &program(r#", "ready": "port 9", "start": "1s""#),
                "start is 1s, but must be absent with ready",
            ),
            (&program(r#", "start": "6s""#), "start is 6s, but must be 0s to 5s"),
            (
                &program(r#", "start": "3s", "stop": "2s""#),
                "stop is 2s, but must be after 3s, when it starts",
            ),
            (
                &program(r#", "keep": ["../x"]"#),
                "keep is \"../x\", but must be the path of a file",
            ),
            (&program(r#", "keep": ["/etc/x"]"#), "keep is \"/etc/x\""),
            (
                &program(r#", "environment": ["A"]"#),
                "environment is \"A\", but must be NAME=value",
            ),
            (&program(r#", "files": ["a\u0000"]"#), "text without zero bytes"),
            (
                &format!("{},{}", program(""), program("")),
                "name is \"a\" twice, but must be unique among programs",
            ),
            (
                r#"{"name": "a", "host": "client", "cmd": ["x"]}"#,
                "key \"programs[0].cmd\" is unknown",
            ),
            ("5", "programs[0] is 5, but must be an object"),
        ] {
            let said = refusal(keys);
            assert!(said.contains(says), "{keys}: {said}");
        }
    }
}
