//! A step of building a bed: what one entry of a job's list may say, and the rules for it.

use super::AgentError;
use super::offer::hexadecimal;
use serde::Deserialize;

/// A step of building.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "StepText")]
pub struct Step {
    /// In which namespace.
    pub host: String,
    /// What it is for, for the sentence if it fails.
    pub says: String,
    /// Of a message: the device whose number is written into it, where the kernel and not the plan has numbered it:
    /// at the place of `ifi_index` and its likes, or of a generic message as its first attribute.
    pub device: Option<String>,
    /// What is done.
    pub action: Action,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Sends a whole message to `NETLINK_ROUTE` and waits for its acknowledgement.
    Netlink(Vec<u8>),
    /// Sends a whole message to the generic netlink family of this name.
    Genetlink(String, Vec<u8>),
    /// Writes a value to a file below `/proc/sys`.
    Sysctl(String, String),
    /// Writes a value to a parameter (`module/name`) below `/sys/module`; only in a guest, because it is the whole
    /// machine's.
    Parameter(String, String),
    /// Writes a value to a file below `/sys/kernel/debug`; only in a guest.
    Debugfs(String, String),
    /// Writes a text to a new file of this name in `/tmp`; only in a guest.
    File(String, String),
    /// Starts a program, which runs to the end of the guest; only in a guest.
    Program(Vec<String>),
    /// Waits until a device has a carrier.
    Carrier(String),
    /// Sends a message of the family `nl80211` and waits until a device has a carrier; several times, if it comes to
    /// that.
    Join(String, Vec<u8>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepText {
    host: String,
    says: String,
    device: Option<String>,
    netlink: Option<String>,
    genetlink: Option<String>,
    message: Option<String>,
    sysctl: Option<String>,
    parameter: Option<String>,
    debugfs: Option<String>,
    file: Option<String>,
    program: Option<Vec<String>>,
    carrier: Option<String>,
    join: Option<String>,
    value: Option<String>,
}

impl Step {
    /// The error of this step: what it is for, and what the kernel said.
    pub(super) fn failed(&self, error: &AgentError) -> AgentError {
        let reason = match error {
            AgentError::Io { what, source } if what.is_empty() => source.to_string(),
            other => other.to_string(),
        };
        AgentError::Plan(format!("{} on {}: {reason}", self.says, self.host))
    }
}

impl TryFrom<StepText> for Step {
    type Error = String;

    fn try_from(text: StepText) -> Result<Self, String> {
        if let Some(step) = in_guest(&text)? {
            return Ok(step);
        }
        let says = text.says;
        if let (Some(path), Some(value)) = (&text.parameter, &text.value) {
            let parts: Vec<&str> = path.split('/').collect();
            if parts.len() != 2 || !parts.iter().all(|name| is_name(name)) {
                return Err(format!(
                    "step \"{says}\": parameter is {path:?}, but must be a module and a name such as tcp_cubic/hystart"
                ));
            }
            let action = Action::Parameter(path.clone(), value.clone());
            return Ok(Self {
                host: text.host,
                says,
                device: None,
                action,
            });
        }
        let action = match (text.netlink, text.genetlink, text.message, text.sysctl, text.value) {
            (Some(hex), None, None, None, None) => Action::Netlink(message(&hex, &says)?),
            (None, Some(family), Some(hex), None, None) => Action::Genetlink(family, message(&hex, &says)?),
            (None, None, None, Some(path), Some(value)) => {
                if !is_sysctl(&path) {
                    return Err(format!(
                        "step \"{says}\": sysctl is {path:?}, but must be a path such as net/ipv4/ip_forward"
                    ));
                }
                Action::Sysctl(path, value)
            }
            _ => {
                return Err(format!(
                    "step \"{says}\" must have netlink, or genetlink and message, or sysctl and value, or parameter and value"
                ));
            }
        };
        let netlink = matches!(action, Action::Netlink(_) | Action::Genetlink(..));
        if text.device.is_some() && !netlink {
            return Err(format!(
                "step \"{says}\" has a device, but only netlink messages have one"
            ));
        }
        Ok(Self {
            host: text.host,
            says,
            device: text.device,
            action,
        })
    }
}

/// A step that belongs to a cell, or needs a guest.
fn in_guest(text: &StepText) -> Result<Option<Step>, String> {
    let says = &text.says;
    let wrong =
        |what: &str, value: &str, rule: &str| Err(format!("step \"{says}\": {what} is {value:?}, but must be {rule}"));
    let action = if let (Some(path), Some(value)) = (&text.debugfs, &text.value) {
        if !is_path(path) {
            return wrong("debugfs", path, "a path such as ieee80211/phy0/aqm");
        }
        Action::Debugfs(path.clone(), value.clone())
    } else if let (Some(name), Some(value)) = (&text.file, &text.value) {
        if !is_name(name) {
            return wrong("file", name, "a plain name");
        }
        Action::File(name.clone(), value.clone())
    } else if let Some(words) = &text.program {
        match words.first() {
            Some(first) if first.starts_with('/') => Action::Program(words.clone()),
            first => {
                return wrong(
                    "program",
                    first.map_or("", |word| word),
                    "an absolute path and arguments",
                );
            }
        }
    } else if let Some(device) = &text.carrier {
        Action::Carrier(device.clone())
    } else if let (Some(hex), Some(device)) = (&text.join, &text.device) {
        Action::Join(device.clone(), message(hex, says)?)
    } else {
        return Ok(None);
    };
    Ok(Some(Step {
        host: text.host.clone(),
        says: says.clone(),
        device: text.device.clone(),
        action,
    }))
}

/// A path of plain names.
fn is_path(path: &str) -> bool {
    path.split('/').all(|name| is_name(&name.replace(':', "-")))
}

/// A path of plain names below `net`, so that no other file is written.
fn is_sysctl(path: &str) -> bool {
    path.strip_prefix("net/")
        .is_some_and(|rest| rest.split('/').all(is_name))
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.@".contains(&b))
}

/// A netlink message from hexadecimal digits; its first word is its length.
fn message(hex: &str, says: &str) -> Result<Vec<u8>, String> {
    let bytes = hexadecimal(hex);
    let bytes =
        bytes.ok_or_else(|| format!("step \"{says}\": its message is not an even number of hexadecimal digits"))?;
    match bytes.first_chunk::<4>() {
        Some(length) if bytes.len() >= 16 && u32::from_ne_bytes(*length) as usize == bytes.len() => Ok(bytes),
        _ => Err(format!("step \"{says}\": its message is not one whole netlink message")),
    }
}
