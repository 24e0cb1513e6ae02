//! A step of building a bed: what one entry of a job's list may say.

use crate::agent::AgentError;
use crate::agent::plan::offer::hexadecimal;
use serde::Deserialize;

/// A step of building.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Step {
    /// In which namespace.
    pub host: String,
    /// What it is for, for the sentence if it fails.
    pub says: String,
    /// Of a message: the device whose number is written into it, where the kernel and not the plan has numbered it:
    /// at the place of `ifi_index` and its likes, or of a generic message as its first attribute.
    pub device: Option<String>,
    /// What is done.
    #[serde(flatten)]
    pub action: Action,
    /// Of a generic message: the message.
    #[serde(default)]
    pub message: Message,
    /// Of a file: what is written to it.
    #[serde(default)]
    pub value: String,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Sends this message to `NETLINK_ROUTE` and waits for its acknowledgement.
    Netlink(Message),
    /// Sends the step's message to the generic netlink family of this name.
    Genetlink(String),
    /// Writes the step's value to this file below `/proc/sys`.
    Sysctl(Sysctl),
    /// Writes the step's value to this parameter (`module/name`) below `/sys/module`; only in a guest, because it is
    /// the whole machine's.
    Parameter(String),
    /// Writes the step's value to this file below `/sys/kernel/debug`; only in a guest.
    Debugfs(String),
    /// Writes the step's value to a new file of this name in `/tmp`; only in a guest.
    File(String),
    /// Starts a program, which runs to the end of the guest; only in a guest.
    Program(Vec<String>),
    /// Waits until this device has a carrier.
    Carrier(String),
    /// Sends this message to the family `nl80211` and waits until the step's device has a carrier; several times, if
    /// it comes to that.
    Join(Message),
}

impl Step {
    /// The error of this step: what it is for, and what the kernel said.
    pub(crate) fn failed(&self, error: &AgentError) -> AgentError {
        let reason = match error {
            AgentError::Io { what, source } if what.is_empty() => source.to_string(),
            other => other.to_string(),
        };
        AgentError::Plan(format!("{} on {}: {reason}", self.says, self.host))
    }
}

/// A whole netlink message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Message(pub Vec<u8>);

/// From hexadecimal digits; the first word of a message is its length.
impl TryFrom<String> for Message {
    type Error = &'static str;

    fn try_from(hex: String) -> Result<Self, Self::Error> {
        let bytes = hexadecimal(&hex).ok_or("a message is not an even number of hexadecimal digits")?;
        match bytes.first_chunk::<4>() {
            Some(length) if bytes.len() >= 16 && u32::from_ne_bytes(*length) as usize == bytes.len() => Ok(Self(bytes)),
            _ => Err("a message is not one whole netlink message"),
        }
    }
}

/// A path of plain names below `net`, so that no other file is written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Sysctl(pub String);

impl TryFrom<String> for Sysctl {
    type Error = String;

    fn try_from(path: String) -> Result<Self, String> {
        let plain = |name: &str| {
            !name.is_empty()
                && !name.starts_with('.')
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.@".contains(&b))
        };
        match path.strip_prefix("net/") {
            Some(rest) if rest.split('/').all(plain) => Ok(Self(path)),
            _ => Err(format!(
                "sysctl is {path:?}, but must be a path such as net/ipv4/ip_forward"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_step_is_read_as_the_plan_writes_it() {
        let message = "10000000".to_owned() + &"00".repeat(12);
        let bytes = || Message([vec![16, 0, 0, 0], vec![0; 12]].concat());
        if u32::from_ne_bytes([16, 0, 0, 0]) != 16 {
            return;
        }
        let read = |rest: &str| {
            let text = format!(r#"{{"host": "r1", "says": "x", {rest}}}"#);
            serde_json::from_str::<Step>(&text).map_err(|e| e.to_string())
        };
        let some = |text: &str| text.to_owned();
        for (rest, action) in [
            (format!(r#""netlink": "{message}""#), Action::Netlink(bytes())),
            (
                format!(r#""genetlink": "ethtool", "message": "{message}""#),
                Action::Genetlink(some("ethtool")),
            ),
            (format!(r#""device": "w", "join": "{message}""#), Action::Join(bytes())),
            (
                some(r#""sysctl": "net/ipv4/ip_forward", "value": "1""#),
                Action::Sysctl(Sysctl(some("net/ipv4/ip_forward"))),
            ),
            (
                some(r#""parameter": "tcp_cubic/hystart", "value": "0""#),
                Action::Parameter(some("tcp_cubic/hystart")),
            ),
            (some(r#""debugfs": "a/b", "value": "0""#), Action::Debugfs(some("a/b"))),
            (some(r#""file": "f", "value": "0""#), Action::File(some("f"))),
            (
                some(r#""program": ["/p", "-q"]"#),
                Action::Program(vec![some("/p"), some("-q")]),
            ),
            (some(r#""carrier": "w""#), Action::Carrier(some("w"))),
        ] {
            let step = read(&rest).expect(&rest);
            assert_eq!(step.action, action);
            assert_eq!(step.device.as_deref(), rest.contains("device").then_some("w"));
            assert_eq!(step.message == bytes(), rest.contains("\"message\""));
            assert_eq!(step.value.is_empty(), !rest.contains("value"));
        }
        for (rest, says) in [
            (r#""netlink": "100""#, "not an even number of hexadecimal digits"),
            (
                r#""genetlink": "ethtool", "message": "1000""#,
                "not one whole netlink message",
            ),
            (
                r#""sysctl": "kernel/hostname", "value": "x""#,
                "sysctl is \"kernel/hostname\", but must be a path",
            ),
            (r#""value": "x""#, "no variant"),
        ] {
            let said = read(rest).expect_err(rest);
            assert!(said.contains(says), "{said}");
        }
    }
}
