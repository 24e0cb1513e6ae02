//! The frames that a bed saw at the bottleneck, in order, and which of those that came left.

#![expect(
    clippy::disallowed_types,
    reason = "the map of keys is looked into and never gone through"
)]

use super::error::{MeasuredError, fail};
use sojourn_bed::{Conversation, Watched, WatchedError};
use sojourn_scenario::Scenario;
use std::collections::{BTreeMap, HashMap};

/// No time of a run is farther from the beginning of the measured window: an hour of lead, a day of traffic, and a
/// rest.
pub(super) const FARTHEST_NS: i64 = 2 * 86_400 * 1_000_000_000;

/// Whether no time of a run is so far from the beginning of the measured window.
pub(super) fn out_of_time(ns: i64) -> bool {
    ns.checked_abs().is_none_or(|t| t > FARTHEST_NS)
}

/// A frame that has no partner at the other side of the queue.
const NONE: u32 = u32::MAX;

/// All frames seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frames<'a> {
    bytes: &'a [u8],
}

/// The frames of one direction. It costs 12 bytes of memory a frame, beside the frames themselves.
#[derive(Debug)]
pub(super) struct Passage {
    /// Numbers of frames by time; where two have the same time, those that came are before those that left.
    pub(super) order: Vec<u32>,
    /// At the place of a frame in `order`: the place of the same frame at the other side of the queue.
    partner: Vec<u32>,
    /// Frames of the scenario's that left in the measured window and had not come.
    pub(super) unmatched: u64,
    /// Frames of the scenario's that left in the measured window.
    pub(super) left: u64,
}

impl<'a> Frames<'a> {
    /// Reads `bytes`, and checks each frame against the scenario, whose programs have so many flows.
    ///
    /// # Errors
    /// [`MeasuredError`] for what no agent writes.
    pub(super) fn read(bytes: &'a [u8], scenario: &Scenario, program_flows: usize) -> Result<Self, MeasuredError> {
        let count = bytes.len() / Watched::SIZE;
        if !bytes.len().is_multiple_of(Watched::SIZE) || count >= NONE as usize {
            let rule = format!("a multiple of {}, of less than 2^32 frames", Watched::SIZE);
            return fail("length of the watched frames", bytes.len(), rule);
        }
        let frames = Self { bytes };
        for i in 0..count as u32 {
            let field = |what: &str| format!("{what} of watched frame {i}");
            let Ok(frame) = frames.read_one(i) else {
                return fail(
                    format!("watched frame {i}"),
                    "damaged",
                    "a record as the agent writes it",
                );
            };
            if out_of_time(frame.at_ns) {
                return fail(
                    field("time"),
                    frame.at_ns,
                    format!("-{FARTHEST_NS} to {FARTHEST_NS} ns"),
                );
            }
            let (what, number, count) = match frame.conversation {
                Conversation::Flow(n) => ("flow", n, scenario.flows.len()),
                Conversation::Probe(n) => ("probe", n, scenario.probes.len()),
                Conversation::Web(n) | Conversation::Dns(n) => ("web client", n, scenario.web.len()),
                Conversation::Download(n) => ("download", n, scenario.downloads.len()),
                Conversation::Program(n) => ("flow of programs", n, program_flows),
                Conversation::Flush if scenario.flusher.is_none() => {
                    return fail(field("conversation"), "a flush", "one that the scenario has");
                }
                Conversation::Flush | Conversation::Other => continue,
            };
            if usize::from(number) >= count {
                return fail(
                    field(what),
                    number,
                    format!("less than {count}, which the scenario has"),
                );
            }
        }
        Ok(frames)
    }

    fn read_one(&self, i: u32) -> Result<Watched, WatchedError> {
        let from = i as usize * Watched::SIZE;
        let record = self.bytes.get(from..from + Watched::SIZE).ok_or(WatchedError)?;
        Watched::from_bytes(record.try_into().map_err(|_| WatchedError)?)
    }

    /// Frame `i`.
    ///
    /// # Panics
    /// Never for a number of an order: each record was read before.
    pub(super) fn get(&self, i: u32) -> Watched {
        self.read_one(i).expect("each record was read before")
    }

    /// The frames of one direction, matched.
    ///
    /// A frame that leaves is the one of its key that came last. Deviation: a key that comes again while the frame of
    /// that key has not left is taken for a sign that this frame was dropped, because no two frames that are in a
    /// queue together have one key; matched in the order of coming, a dropped frame would take the departure of
    /// one that came much later. After the measured window, which ends at `end_ns`, it does not hold: a socket
    /// that was closed answers each segment with the same reset, so frames are counted in the window only. Programs
    /// close in the window, and send what is equal: of their frames the last of a key that came leaves first, so that
    /// none is lost, and the sum of their times in the queue is right.
    pub(super) fn passage(&self, down: bool, end_ns: i64) -> Passage {
        let count = (self.bytes.len() / Watched::SIZE) as u32;
        let mut order: Vec<u32> = (0..count).filter(|&i| self.get(i).down == down).collect();
        // Four places write in order, each for itself, so there is little to sort.
        order.sort_by_key(|&i| {
            let frame = self.get(i);
            (frame.at_ns, frame.left)
        });
        let mut partner = vec![NONE; order.len()];
        let mut queued: HashMap<u64, u32> = HashMap::new();
        // Of a frame of a program, the one of its key that came before it and has not left.
        let mut earlier: BTreeMap<u32, u32> = BTreeMap::new();
        let (mut unmatched, mut left) = (0, 0);
        for (place, &i) in order.iter().enumerate() {
            let frame = self.get(i);
            if !frame.left {
                let before = queued.insert(frame.key, place as u32);
                if let (Some(before), Conversation::Program(_)) = (before, frame.conversation) {
                    earlier.insert(place as u32, before);
                }
                continue;
            }
            let ours = u64::from(frame.conversation != Conversation::Other && frame.at_ns <= end_ns);
            left += ours;
            match queued.remove(&frame.key) {
                Some(came) => {
                    if let Some(before) = earlier.remove(&came) {
                        queued.insert(frame.key, before);
                    }
                    partner[place] = came;
                    partner[came as usize] = place as u32;
                }
                None => unmatched += ours,
            }
        }
        Passage {
            order,
            partner,
            unmatched,
            left,
        }
    }
}

impl Passage {
    /// Of the frame at this place, its place at the other side of the queue.
    pub(super) fn partner(&self, place: usize) -> Option<usize> {
        let partner = self.partner[place];
        (partner != NONE).then_some(partner as usize)
    }
}
