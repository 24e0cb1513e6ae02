//! The counters of the disciplines under test: at the beginning of the measured window, and at the end of each bin.

use crate::agent::actor::Doing;
use crate::agent::kernel::netlink::{
    ECHO, GET_QDISC, Netlink, TC_MESSAGE, TCA_KIND, attribute, message, tc_message, text, u32_at, u64_at,
};
use crate::agent::kernel::xstats;
use crate::agent::observers::bins::Bins;
use crate::agent::plan::build::Bed;
use crate::agent::plan::job::{Bottleneck, Watch};
use crate::agent::{Actor, AgentError, World};
use rustix::net::{AddressFamily, SocketType, netdevice::name_to_index};
use sojourn_bed::{LoadPlan, Measured, QdiscMeasured, QdiscSample};

/// `RTM_GETTCLASS`.
const GET_CLASS: u16 = 42;
/// The handle of the discipline under test, as `tc` writes it `10:`.
const HANDLE: u32 = 0x10 << 16;
/// What scenarios call it, `1:`.
const CALLED: u32 = 1;
/// Kinds with classes of which a user speaks. (`fq_codel` has one for each flow.)
const CLASSFUL: [&str; 4] = ["prio", "drr", "ets", "htb"];
const TCA_STATS2: u16 = 7;
const STATS_BASIC: u16 = 1;
const STATS_QUEUE: u16 = 3;
const STATS_APP: u16 = 4;
/// Packets in 64 bits, where they do not fit into those of `STATS_BASIC`.
const STATS_PACKETS_64: u16 = 8;

/// Samples both disciplines.
#[derive(Debug)]
pub(crate) struct Bottlenecks {
    up: Probe,
    down: Probe,
    bins: Bins,
}

/// One discipline and how it is asked for.
#[derive(Debug)]
struct Probe {
    socket: Netlink,
    index: u32,
    place: String,
    seen: QdiscMeasured,
}

impl Bottlenecks {
    /// The disciplines at `watch`.
    ///
    /// # Errors
    /// If there is no such device.
    pub(crate) fn new(watch: &Watch, plan: &LoadPlan, bed: &mut Bed) -> Result<Self, AgentError> {
        Ok(Self {
            up: Probe::new(&watch.up, bed)?,
            down: Probe::new(&watch.down, bed)?,
            bins: Bins::of(plan),
        })
    }
}

impl Probe {
    fn new(place: &Bottleneck, bed: &mut Bed) -> Result<Self, AgentError> {
        bed.enter(&place.host)?;
        let name = format!("{} on {}", place.output, place.host);
        let any = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)
            .doing(|| format!("cannot open a socket on {}", place.host))?;
        let index = name_to_index(any, &place.output).doing(|| format!("cannot find the device {name}"))?;
        Ok(Self {
            socket: Netlink::route().doing(|| "cannot open a netlink socket".into())?,
            index,
            place: name,
            seen: QdiscMeasured::default(),
        })
    }

    /// The counters of the classes of a discipline of this kind.
    fn classes(&mut self, kind: &str) -> Result<xstats::Extra, AgentError> {
        let body = tc_message(self.index, HANDLE, HANDLE);
        let place = &self.place;
        let what = || format!("cannot read the counters of the classes of discipline 10: of {place}");
        let answers = self.socket.dump(message(GET_CLASS, 0, 0, &body)).doing(what)?;
        Ok(answers
            .iter()
            .filter_map(|answer| class(kind, answer))
            .flatten()
            .collect())
    }

    /// Takes a sample.
    fn sample(&mut self, at_ns: i64) -> Result<(), AgentError> {
        let (kind, sample, mut extra) = counters(&mut self.socket, self.index, HANDLE, &self.place, at_ns)?;
        if CLASSFUL.contains(&kind.as_str()) {
            extra.extend(self.classes(&kind)?);
        }
        if self.seen.samples.is_empty() {
            self.seen.extra_begin = extra;
            self.seen.kind = kind;
        } else {
            self.seen.extra_end = extra;
        }
        self.seen.samples.push(sample);
        Ok(())
    }
}

/// Asks for a discipline by its handle: its kind, its counters, and those that only its kind has.
///
/// # Errors
/// If there is none, or the kernel refuses.
pub(crate) fn counters(
    socket: &mut Netlink,
    device: u32,
    handle: u32,
    place: &str,
    at_ns: i64,
) -> Result<(String, QdiscSample, xstats::Extra), AgentError> {
    let body = tc_message(device, handle, 0);
    let what = || format!("cannot read the counters of discipline {:x}: of {place}", handle >> 16);
    let answers = socket.request(message(GET_QDISC, ECHO, 0, &body)).doing(what)?;
    let answer = answers.iter().find_map(|a| parse(a, at_ns));
    answer.ok_or_else(|| AgentError::Plan(format!("{}: there are none", what())))
}

/// The counters of a class of a discipline of this kind, by names such as `1:11_packets`.
fn class(kind: &str, answer: &[u8]) -> Option<xstats::Extra> {
    let handle = u32_at(answer, 8).filter(|handle| handle >> 16 == HANDLE >> 16)?;
    let stats = attribute(answer.get(TC_MESSAGE..)?, TCA_STATS2)?;
    let (basic, queue) = (attribute(stats, STATS_BASIC)?, attribute(stats, STATS_QUEUE)?);
    let mut counters = xstats::decode_class(kind, attribute(stats, STATS_APP).unwrap_or(&[]));
    counters.insert("bytes".to_owned(), u64_at(basic, 0)? as f64);
    counters.insert("packets".to_owned(), u32_at(basic, 8)?.into());
    counters.insert("drops".to_owned(), u32_at(queue, 8)?.into());
    let named = |(name, value)| (format!("{CALLED:x}:{:x}_{name}", handle & 0xffff), value);
    Some(counters.into_iter().map(named).collect())
}

/// A discipline's kind and counters.
fn parse(answer: &[u8], at_ns: i64) -> Option<(String, QdiscSample, xstats::Extra)> {
    let attributes = answer.get(TC_MESSAGE..)?;
    let kind = text(attribute(attributes, TCA_KIND)?);
    let stats = attribute(attributes, TCA_STATS2)?;
    let basic = attribute(stats, STATS_BASIC)?;
    let queue = attribute(stats, STATS_QUEUE)?;
    let packets = attribute(stats, STATS_PACKETS_64).and_then(|p| u64_at(p, 0));
    let word = |at| u32_at(queue, at).map(u64::from);
    let sample = QdiscSample {
        at_ns,
        bytes: u64_at(basic, 0)?,
        packets: packets.or_else(|| u32_at(basic, 8).map(u64::from))?,
        queued: word(0)?,
        backlog: word(4)?,
        drops: word(8)?,
        overlimits: word(16)?,
    };
    let extra = xstats::decode(&kind, attribute(stats, STATS_APP).unwrap_or(&[]));
    Some((kind, sample, extra))
}

impl Actor for Bottlenecks {
    fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        world.set_timer(0, 0);
        Ok(())
    }

    fn due(&mut self, _key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        let now = world.now();
        self.up.sample(now)?;
        self.down.sample(now)?;
        self.bins.wait(0, world);
        Ok(())
    }

    fn window_ends(&mut self, _world: &mut dyn World) -> Result<(), AgentError> {
        Ok(())
    }

    fn finish(&mut self, measured: &mut Measured) {
        measured.up = std::mem::take(&mut self.up.seen);
        measured.down = std::mem::take(&mut self.down.seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::kernel::netlink::push_attribute;

    #[test]
    fn counters_are_read_from_the_second_form_of_statistics() {
        let mut basic = 5_000_000_000_u64.to_ne_bytes().to_vec();
        basic.extend_from_slice(&7_u32.to_ne_bytes());
        basic.extend_from_slice(&[0; 4]);
        let queue: Vec<u8> = [3_u32, 4542, 11, 1, 12].iter().flat_map(|w| w.to_ne_bytes()).collect();
        let mut stats = Vec::new();
        push_attribute(&mut stats, STATS_BASIC, &basic);
        push_attribute(&mut stats, STATS_QUEUE, &queue);
        let mut answer = vec![0; TC_MESSAGE];
        push_attribute(&mut answer, TCA_KIND, b"pfifo\0");
        push_attribute(&mut answer, TCA_STATS2, &stats);
        let (kind, sample, extra) = parse(&answer, -4).expect("whole");
        assert_eq!((kind.as_str(), extra.len()), ("pfifo", 0));
        let expected = QdiscSample {
            at_ns: -4,
            packets: 7,
            bytes: 5_000_000_000,
            drops: 11,
            overlimits: 12,
            queued: 3,
            backlog: 4542,
        };
        assert_eq!(sample, expected);
        assert!(parse(&answer[..30], 0).is_none());
    }

    #[test]
    fn a_class_is_called_as_in_the_scenario() {
        let mut basic = 3028_u64.to_ne_bytes().to_vec();
        basic.extend_from_slice(&[2, 0, 0, 0, 0, 0, 0, 0]);
        let words = |words: &[u32]| words.iter().flat_map(|w| w.to_ne_bytes()).collect::<Vec<u8>>();
        let mut stats = Vec::new();
        push_attribute(&mut stats, STATS_BASIC, &basic);
        push_attribute(&mut stats, STATS_QUEUE, &words(&[0, 0, 5, 0, 0]));
        push_attribute(&mut stats, STATS_APP, &words(&[1, 1, 0, 0, 9]));
        let answer = |handle: u32| {
            let mut answer = vec![0; TC_MESSAGE];
            answer[8..12].copy_from_slice(&handle.to_ne_bytes());
            push_attribute(&mut answer, TCA_STATS2, &stats);
            answer
        };
        let found = class("htb", &answer(0x10_0011)).expect("whole");
        let expected = [
            ("bytes", 3028.0),
            ("packets", 2.0),
            ("drops", 5.0),
            ("lended", 1.0),
            ("ctokens", 9.0),
        ];
        for (name, value) in expected {
            assert!(
                (found[&format!("1:11_{name}")] - value).abs() < 1e-9,
                "{name} in {found:?}"
            );
        }
        assert_eq!(class("htb", &answer(0x11_0011)), None);
    }
}
