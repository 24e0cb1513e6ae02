//! The log: what the daemon does, as lines of JSON.

use serde_json::{Map, Value, json};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The usual course.
    Info,
    /// Something that a person should look at; the daemon goes on.
    Warn,
    /// The daemon can do less from here on, or ends.
    Error,
}

/// Where it goes.
#[derive(Debug)]
enum Target {
    Stderr,
    File(File),
    Nowhere,
}

/// The log. Lines that cannot be written are dropped: the log must not stop what it tells of.
#[derive(Debug)]
pub struct Log {
    target: Target,
    last: String,
}

impl Log {
    /// To a file, to which it is added, or to standard error.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(file: Option<&Path>) -> io::Result<Self> {
        let target = match file {
            None => Target::Stderr,
            Some(path) => Target::File(OpenOptions::new().create(true).append(true).open(path)?),
        };
        Ok(Self {
            target,
            last: String::new(),
        })
    }

    /// A terminal view is drawn where standard error would go.
    pub fn keep_off_the_terminal(&mut self) {
        if matches!(self.target, Target::Stderr) {
            self.target = Target::Nowhere;
        }
    }

    /// The last message, for those who show it.
    #[must_use]
    pub fn last(&self) -> &str {
        &self.last
    }

    /// One line: `at_ns` by the machine's clock, `level`, `message`, and `fields`.
    pub fn line(&mut self, level: Level, message: &str, fields: &Value) {
        let mut line = Map::new();
        line.insert("at_ns".into(), json!(wall_clock_ns()));
        let level = match level {
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        };
        line.insert("level".into(), json!(level));
        line.insert("message".into(), json!(message));
        if let Value::Object(fields) = fields {
            line.extend(fields.clone());
        }
        let mut text = Value::Object(line).to_string();
        text.push('\n');
        let _ = match &mut self.target {
            Target::Stderr => io::stderr().write_all(text.as_bytes()),
            Target::File(file) => file.write_all(text.as_bytes()),
            Target::Nowhere => Ok(()),
        };
        message.clone_into(&mut self.last);
    }

    /// A line that says why.
    pub fn because(&mut self, level: Level, message: &str, why: &dyn std::fmt::Display) {
        self.line(level, message, &json!({"why": why.to_string()}));
    }

    /// A line without fields.
    pub fn say(&mut self, level: Level, message: &str) {
        self.line(level, message, &Value::Null);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a log tells when, by the machine's clock; no decision depends on it"
)]
fn wall_clock_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
