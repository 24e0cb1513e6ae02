//! A link whose rate follows a trace: packets leave when the trace has an opportunity for them.
//!
//! Source: Mahimahi (Netravali et al., USENIX ATC 2015) and the manual page mm-link(1): each line of a trace is the time
//! of an opportunity to deliver 1504 bytes, in ms from the beginning, and the trace begins again at its last time. An
//! opportunity that finds no packet is lost, and so is what a packet leaves of one, unless another packet waits. A packet
//! that does not fit goes on with the next opportunity, and has left when its last byte has.

#[cfg(test)]
mod tests;

use crate::{Departure, DropSink, Next, Packet, ParamError, Qdisc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use sojourn_units::{Rate, Time};
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

/// What an opportunity carries, bytes: an IP packet of 1500 and the 4 that Mahimahi's device puts before it.
const OPPORTUNITY: u32 = 1504;
/// By how much a frame of Ethernet is longer than the same packet in Mahimahi's device, bytes.
const LONGER: u32 = 14 - 4;
/// A frame that fills an opportunity, bytes.
const FULL_FRAME: u64 = (OPPORTUNITY + LONGER) as u64;
/// Largest file of a trace, bytes.
const FILE_MAX: u64 = 16 << 20;
/// Latest opportunity: after a week, ms.
const LATEST_MS: u32 = 7 * 86_400_000;
const MS: u64 = 1_000_000;
/// Between the name of a file and its hash, in text.
const HASH: &str = " sha256:";

/// The delivery opportunities of a link, from a file. As text it is the file's name and the hash of its content, so a
/// scenario that was written out means this trace or none.
#[derive(Clone, PartialEq, Eq)]
pub struct DeliveryTrace {
    file: String,
    hash: String,
    /// In increasing order; the last one, which is not 0, is when the trace begins again.
    times_ms: Arc<[u32]>,
}

impl fmt::Debug for DeliveryTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeliveryTrace({self}, {} opportunities)", self.times_ms.len())
    }
}

impl fmt::Display for DeliveryTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{HASH}{}", self.file, self.hash)
    }
}

impl Serialize for DeliveryTrace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DeliveryTrace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::open(&text).map_err(|sentence| serde::de::Error::custom(format!("is {sentence}")))
    }
}

impl DeliveryTrace {
    /// Reads a trace of its text: the name of a file, which may be followed by the hash that the content must have.
    ///
    /// # Errors
    /// The end of a sentence: the name, and what is wrong with the file.
    pub fn open(text: &str) -> Result<Self, String> {
        let (file, wanted) = match text.rsplit_once(HASH) {
            Some((file, hash)) => (file, Some(hash)),
            None => (text, None),
        };
        let wrong = |what: String| format!("{file:?}, but {what}");
        let content = read(file).map_err(wrong)?;
        let mut hash = String::with_capacity(64);
        for byte in Sha256::digest(&content) {
            let _ = write!(hash, "{byte:02x}");
        }
        if let Some(wanted) = wanted.filter(|wanted| *wanted != hash) {
            let wanted: String = wanted.chars().filter(char::is_ascii_hexdigit).take(64).collect();
            return Err(wrong(format!(
                "its content has the SHA-256 {hash}, and must have {wanted}"
            )));
        }
        Ok(Self {
            file: file.to_owned(),
            hash,
            times_ms: parse(&content).map_err(wrong)?.into(),
        })
    }

    /// What full frames of Ethernet have as their rate, over the whole trace.
    #[must_use]
    pub fn rate(&self) -> Rate {
        let bits = u128::from(FULL_FRAME) * 8 * self.times_ms.len() as u128;
        let bps = bits * 1000 / u128::from(self.period());
        Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX).max(1))
    }

    /// After so many ms it begins again.
    fn period(&self) -> u64 {
        u64::from(self.times_ms.last().copied().unwrap_or(1))
    }

    /// When opportunity `number` is.
    fn at(&self, number: u64) -> Time {
        let count = self.times_ms.len() as u64;
        let ms = u64::from(self.times_ms[(number % count) as usize]) + number / count * self.period();
        Time::from_nanos(ms * MS)
    }

    /// The number of the first opportunity that is later than `now`. Costs O(log n).
    fn after(&self, now: Time) -> u64 {
        let (round, ms) = (now.as_nanos() / MS / self.period(), now.as_nanos() / MS % self.period());
        let place = self.times_ms.partition_point(|time| u64::from(*time) <= ms);
        round * self.times_ms.len() as u64 + place as u64
    }
}

/// The content of a regular file.
fn read(name: &str) -> Result<Vec<u8>, String> {
    let failed = |e: std::io::Error| format!("the file cannot be read: {e}");
    // Before it is opened: opening a pipe would wait.
    if !std::fs::metadata(name).map_err(failed)?.is_file() {
        return Err("must be the name of a file with a trace".to_owned());
    }
    let mut content = Vec::new();
    let file = File::open(name).map_err(failed)?;
    file.take(FILE_MAX + 1).read_to_end(&mut content).map_err(failed)?;
    if content.len() as u64 > FILE_MAX {
        return Err(format!("a trace must have at most {FILE_MAX} bytes"));
    }
    Ok(content)
}

/// The times of a trace. What stands in a line is not told: it may be anybody's file.
fn parse(content: &[u8]) -> Result<Vec<u32>, String> {
    let text = content.strip_suffix(b"\n").unwrap_or(content);
    let mut times = Vec::new();
    for (i, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let digits = !line.is_empty() && line.iter().all(u8::is_ascii_digit);
        let ms = std::str::from_utf8(line)
            .ok()
            .filter(|_| digits)
            .and_then(|line| line.parse().ok());
        let Some(ms) = ms.filter(|ms| *ms <= LATEST_MS) else {
            let rule = format!("a whole number of milliseconds, at most {LATEST_MS}");
            return Err(format!(
                "line {} of the file must be {rule}, as in Mahimahi's traces",
                i + 1
            ));
        };
        if times.last().is_some_and(|last| *last > ms) {
            return Err(format!(
                "the time in line {} must not be before that in the line above it",
                i + 1
            ));
        }
        times.push(ms);
    }
    match times.last() {
        Some(0) => Err("the last time must be later than 0, when the trace begins again".to_owned()),
        _ => Ok(times),
    }
}

/// A discipline `Q` before a link with a [`DeliveryTrace`], which begins at [`Time::ZERO`].
///
/// Deviation: Mahimahi's clock has milliseconds. Here a packet that comes to an empty queue at the very time of an
/// opportunity has missed it, as there; one that comes at that time to a queue with packets may still use what these
/// leave.
#[derive(Clone, Debug)]
pub struct Traced<P, Q> {
    child: Q,
    trace: DeliveryTrace,
    /// The number of the next opportunity.
    next: u64,
    /// When the last one was, and what is left of it, bytes.
    last: Time,
    left: u32,
    /// A packet of which some bytes have left, and how many have not.
    under_way: Option<(Departure<P>, u32)>,
}

impl<P: Packet, Q: Qdisc<P>> Traced<P, Q> {
    /// A link over `child`.
    #[must_use]
    pub fn new(trace: DeliveryTrace, child: Q) -> Self {
        Self {
            child,
            trace,
            next: 0,
            last: Time::ZERO,
            left: 0,
            under_way: None,
        }
    }

    /// The discipline.
    #[must_use]
    pub fn child(&self) -> &Q {
        &self.child
    }

    /// The same, to be changed.
    pub fn child_mut(&mut self) -> &mut Q {
        &mut self.child
    }

    /// Changes nothing: the trace says the rate.
    ///
    /// # Errors
    /// [`ParamError`] for any rate but the mean of the trace.
    pub fn set_rate(&mut self, rate: Rate) -> Result<(), ParamError> {
        if rate == self.trace.rate() {
            return Ok(());
        }
        let rule = format!("the mean of the trace that the link follows, {}", self.trace.rate());
        Err(ParamError::new("link", "rate", rate.to_string(), rule))
    }

    fn is_empty(&self) -> bool {
        self.under_way.is_none() && self.child.backlog().packets == 0
    }

    /// A packet comes.
    pub fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) {
        if self.is_empty() {
            self.left = 0;
            self.next = self.next.max(self.trace.after(now));
        }
        self.child.enqueue(packet, now, drops);
    }

    /// The packet whose last byte leaves now, or when to ask again.
    pub fn next(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Next<P> {
        loop {
            if self.left > 0 && self.last == now {
                let size = |packet: &P| u32::try_from(packet.size().get()).unwrap_or(u32::MAX);
                let begun = self.under_way.take();
                let begun = begun.or_else(|| {
                    let departure = self.child.dequeue(now, drops)?;
                    let bytes = size(&departure.packet).saturating_sub(LONGER).max(1);
                    Some((departure, bytes))
                });
                let Some((departure, bytes)) = begun else {
                    self.left = 0;
                    continue;
                };
                let sent = bytes.min(self.left);
                self.left -= sent;
                if sent == bytes {
                    return Next::Departs(departure);
                }
                self.under_way = Some((departure, bytes - sent));
            }
            if self.trace.at(self.next) < now {
                // Nobody asked at that time.
                self.next = self.trace.after(Time::from_nanos(now.as_nanos() - 1));
            }
            let at = self.trace.at(self.next);
            if at > now {
                return if self.is_empty() { Next::Idle } else { Next::At(at) };
            }
            self.next += 1;
            self.last = now;
            self.left = OPPORTUNITY;
        }
    }
}
