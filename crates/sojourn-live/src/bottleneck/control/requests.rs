//! What is asked, and the answers.

use super::super::engine::Remote;
use super::super::settings::Change;
use super::{LONGEST, PATIENCE, peer};
use crate::clients::{Heard, Service};
use crate::sentence::plain;
use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Answers by asking the engine.
#[derive(Debug)]
pub(super) struct Requests {
    remote: Remote,
    stop: Arc<AtomicBool>,
    refused: u64,
}

impl Requests {
    pub(super) const fn new(remote: Remote, stop: Arc<AtomicBool>) -> Self {
        Self {
            remote,
            stop,
            refused: 0,
        }
    }

    fn line(&self, line: &[u8]) -> Result<String, String> {
        let line = std::str::from_utf8(line).map_err(|_| "the request is not UTF-8 text".to_owned())?;
        let line = line.trim();
        if line.contains(char::is_control) {
            return Err("the request has a control character, but must have none".into());
        }
        match line.split_once(' ').unwrap_or((line, "")) {
            ("set", change) => match change.trim().split_once(' ') {
                Some((key, value)) => self.remote.set(Change::new(key, value.trim())).map(|()| String::new()),
                None => Err("set needs a key and a value, such as up.rate 5mbit".into()),
            },
            ("show", "") => self.remote.report().map(|report| report.text() + &report.timing()),
            ("show", "json") => self.remote.report().map(|report| report.json() + "\n"),
            ("stop", "") => {
                self.stop.store(true, Ordering::Relaxed);
                Ok(String::new())
            }
            _ => Err(format!(
                "the request is {line:?}, but must be set, show, show json or stop"
            )),
        }
    }

    /// The log line of one that was refused. Who comes again and again fills no log: the 1st, 2nd, 4th, 8th... is
    /// told.
    fn note(&mut self, sentence: &str) {
        self.refused += 1;
        if self.refused.is_power_of_two() {
            let count = self.refused;
            let _ = writeln!(
                io::stderr(),
                "sojournd: refused at the control socket ({count} so far): {sentence}"
            );
        }
    }
}

/// Why a user may not ask; `None` for the owner and root.
fn refusal(user: u32, process: i32, owner: u32) -> Option<String> {
    (user != owner && user != 0).then(|| {
        format!(
            "the control socket is asked by user {user} (process {process}), but must be asked by its owner, user {owner}, or \
             root"
        )
    })
}

fn written(outcome: Result<String, String>) -> Vec<u8> {
    match outcome {
        Ok(text) => format!("ok\n{text}"),
        Err(sentence) => format!("error: {}\n", plain(&sentence)),
    }
    .into_bytes()
}

impl Service<UnixStream> for Requests {
    fn admit(&mut self, client: &UnixStream) -> Result<(), Vec<u8>> {
        let owner = rustix::process::geteuid().as_raw();
        let refused = match peer(client) {
            Ok((user, process)) => refusal(user, process, owner),
            Err(e) => Some(format!("the kernel does not tell who asks: {e}")),
        };
        match refused {
            None => Ok(()),
            Some(sentence) => {
                self.note(&sentence);
                Err(written(Err(sentence)))
            }
        }
    }

    fn answer(&mut self, request: &[u8], heard: Heard) -> Option<Vec<u8>> {
        let end = request.iter().position(|byte| *byte == b'\n');
        let outcome = match (end, heard) {
            (Some(end), _) if end < LONGEST => self.line(&request[..end]),
            (_, Heard::TooMuch) | (Some(_), _) => Err(format!("the request has more than {LONGEST} bytes")),
            (None, Heard::All) => self.line(request),
            (None, Heard::TooLate) => Err(format!("no whole request came within {} s", PATIENCE.as_secs())),
            (None, Heard::Part) => return None,
        };
        Some(written(outcome))
    }
}

#[cfg(test)]
mod tests;
