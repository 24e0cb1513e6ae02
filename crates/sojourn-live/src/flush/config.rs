//! The configuration: a file in TOML, and options of the command line over it.

mod file;
#[cfg(test)]
mod hostile;
mod rules;
#[cfg(test)]
mod tests;

use super::gate::GateSettings;
use super::line::Detail;
use super::pipeline::PipelineSettings;
use crate::sentence::plain;
use serde::Deserialize;
use sojourn_flusher::{FlusherParams, ParamError};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// A configuration that cannot be used: one sentence that names the field, its value and the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A field.
    #[error("{}", plain(&format!("{field} is {value}, but must be {rule}")))]
    Field {
        /// Such as `gate.bytes_per_minute`.
        field: String,
        /// As given.
        value: String,
        /// What it must be.
        rule: String,
    },
    /// Something else, already a sentence.
    #[error("{}", plain(.0))]
    Other(String),
}

impl From<ParamError> for ConfigError {
    fn from(error: ParamError) -> Self {
        Self::Field {
            field: error.field,
            value: error.value,
            rule: error.rule,
        }
    }
}

/// What `sojournd flush` is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The network interface to watch.
    pub interface: Option<String>,
    /// Whether it is to receive what is not meant for this machine.
    pub promiscuous: bool,
    /// Whose rights to take once everything is open.
    pub user: Option<String>,
    /// Core, gate and lines.
    pub pipeline: PipelineSettings,
    /// UDP port of the flush packets' destination.
    pub port: u16,
    /// While this file exists nothing is sent.
    pub kill_file: Option<PathBuf>,
    /// Where the log goes; standard error if absent.
    pub log: Option<PathBuf>,
    /// Where the decisions go; standard output if absent.
    pub decisions: Option<PathBuf>,
    /// Where the metrics are served.
    pub metrics: Option<SocketAddr>,
}

/// The file as it stands.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    interface: Option<String>,
    promiscuous: bool,
    user: Option<String>,
    active: bool,
    events: Detail,
    decisions: Option<PathBuf>,
    flusher: FlusherParams,
    gate: GateFile,
    send: SendFile,
    log: LogFile,
    metrics: MetricsFile,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct GateFile {
    allow: Vec<String>,
    from: Vec<String>,
    bytes_per_minute: Option<u64>,
    bytes_per_flush: Option<u64>,
    bdp_multiple: Option<f64>,
    max_rtt: Option<String>,
    cool_down: Option<String>,
    max_cool_down: Option<String>,
    kill_file: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SendFile {
    port: Option<u16>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LogFile {
    file: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct MetricsFile {
    listen: Option<String>,
}

/// A setting of the command line: where it stands in the file, and its value.
pub type Override = (&'static str, Value);

/// UDP's discard service. Source: RFC 863.
pub const DISCARD: u16 = 9;

impl Config {
    /// Reads `file`, if any, and lays `overrides` over it.
    ///
    /// # Errors
    /// [`ConfigError`], with the file's name before it where the file itself is at fault.
    pub fn load(file: Option<&Path>, overrides: &[Override]) -> Result<Self, ConfigError> {
        let text = match file {
            None => String::new(),
            Some(path) => {
                file::text(path).map_err(|why| ConfigError::Other(plain(&format!("{}: {why}", path.display()))))?
            }
        };
        Self::parse(&text, overrides).map_err(|error| match (file, error) {
            (Some(path), ConfigError::Other(sentence)) => ConfigError::Other(format!("{}: {sentence}", path.display())),
            (_, error) => error,
        })
    }

    /// As [`Self::load`], of the text of a file.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn parse(text: &str, overrides: &[Override]) -> Result<Self, ConfigError> {
        let mut table: Table = text.parse().map_err(|e: toml::de::Error| rules::syntax(text, &e))?;
        for (path, value) in overrides {
            rules::lay_over(&mut table, path, value.clone())?;
        }
        rules::no_lists_for_tables(&table)?;
        let file: File = serde_path_to_error::deserialize(Value::Table(table))
            .map_err(|e| rules::sentence(&e.path().to_string(), e.inner()))?;
        Self::validate(file)
    }

    fn validate(file: File) -> Result<Self, ConfigError> {
        file.flusher.validate()?;
        if let Some(name) = &file.interface {
            rules::interface(name)?;
        }
        Ok(Self {
            promiscuous: file.promiscuous,
            user: file.user,
            pipeline: PipelineSettings {
                flusher: file.flusher,
                gate: gate(&file.gate, file.active)?,
                detail: file.events,
            },
            port: rules::port(file.send.port)?,
            kill_file: file.gate.kill_file,
            log: file.log.file,
            decisions: file.decisions,
            metrics: file.metrics.listen.as_deref().map(rules::loopback).transpose()?,
            interface: file.interface,
        })
    }
}

fn gate(file: &GateFile, active: bool) -> Result<GateSettings, ConfigError> {
    let defaults = GateSettings::default();
    let time = |field, text: &Option<String>, default| text.as_deref().map_or(Ok(default), |t| rules::time(field, t));
    let prefixes = |field, texts: &[String]| {
        texts
            .iter()
            .map(|text| rules::prefix(field, text))
            .collect::<Result<_, _>>()
    };
    let settings = GateSettings {
        active,
        allow: prefixes("gate.allow", &file.allow)?,
        from: prefixes("gate.from", &file.from)?,
        bytes_per_minute: file.bytes_per_minute.unwrap_or(defaults.bytes_per_minute),
        bytes_per_flush: file.bytes_per_flush.unwrap_or_else(|| {
            // The default does not stand in the way of a smaller budget.
            let most = file.bytes_per_minute.unwrap_or(u64::MAX);
            defaults.bytes_per_flush.min(most)
        }),
        bdp_thousandths: file
            .bdp_multiple
            .map_or(Ok(defaults.bdp_thousandths), rules::multiple)?,
        max_rtt: time("gate.max_rtt", &file.max_rtt, defaults.max_rtt)?,
        cool_down: time("gate.cool_down", &file.cool_down, defaults.cool_down)?,
        max_cool_down: time("gate.max_cool_down", &file.max_cool_down, defaults.max_cool_down)?,
    };
    rules::gate(&settings)?;
    Ok(settings)
}
