//! What all probes share: what is in their packets, and the list of what became of them.

use crate::agent::actor::{AgentError, within};
use sojourn_bed::{AccessPlan, LoadPlan, Measured, ProbePlan, Sample, ports};
use sojourn_units::Duration;

/// How long after the measured window the packets of probes may still come home, as in the simulator.
pub(crate) const LINGER_NS: i64 = 3_000_000_000;
/// And voice, as in the simulator: a frame that stands in a queue, however long, is not lost.
pub(crate) const LINGER_VOICE_NS: i64 = 600_000_000_000;

/// Ethernet 14, IPv4 20, and 8 of UDP or ICMP.
const HEADERS: u16 = 42;
/// The size of the least and the largest packet on the wire.
const LEAST: u16 = 60;
const MOST: u16 = 1514;
/// `SJ`.
const MAGIC: [u8; 2] = *b"SJ";

/// What every packet of a probe begins with. The first eight bytes differ from packet to packet.
///
/// ```text
/// "SJ", index of the probe (2), number of the packet (4), when it was sent, ns (8); big-endian; then zeros
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) index: u16,
    pub(crate) number: u32,
    pub(crate) sent_ns: i64,
}

impl Stamp {
    /// Bytes of it.
    pub(crate) const SIZE: usize = 16;

    /// Writes it to the beginning of a payload, which has [`Stamp::SIZE`] bytes or more.
    pub(crate) fn write(self, payload: &mut [u8]) {
        payload[..2].copy_from_slice(&MAGIC);
        payload[2..4].copy_from_slice(&self.index.to_be_bytes());
        payload[4..8].copy_from_slice(&self.number.to_be_bytes());
        payload[8..16].copy_from_slice(&self.sent_ns.to_be_bytes());
    }

    /// Reads it; `None` if a payload begins otherwise.
    pub(crate) fn read(payload: &[u8]) -> Option<Self> {
        let (head, _) = payload.split_first_chunk::<{ Self::SIZE }>()?;
        let [m0, m1, i0, i1, n0, n1, n2, n3, sent @ ..] = *head;
        ([m0, m1] == MAGIC).then(|| Self {
            index: u16::from_be_bytes([i0, i1]),
            number: u32::from_be_bytes([n0, n1, n2, n3]),
            sent_ns: i64::from_be_bytes(sent),
        })
    }
}

/// What every probe keeps of its plan.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// Its place in the plan.
    pub(crate) index: u16,
    /// `probe NAME`, for sentences.
    pub(crate) what: String,
    pub(crate) path: usize,
    /// At which client, and with which code point.
    pub(crate) access: AccessPlan,
    pub(crate) start_ns: i64,
    /// Bytes after the header of UDP or ICMP.
    pub(crate) payload: usize,
}

impl Identity {
    /// Checks what the kinds of probes have in common.
    ///
    /// # Errors
    /// [`AgentError::Plan`] for an index, path or size that cannot be.
    pub(crate) fn new(index: usize, plan: &ProbePlan, load: &LoadPlan) -> Result<Self, AgentError> {
        let field = |name: &str| format!("probes[{index}].{name}");
        if index >= ports::MOST_PROBES {
            return Err(AgentError::field(
                field("index"),
                index,
                format!("below {}", ports::MOST_PROBES),
            ));
        }
        if plan.path >= load.paths.len() {
            let rule = format!("below {}, the number of paths", load.paths.len());
            return Err(AgentError::field(field("path"), plan.path, rule));
        }
        within(field("size"), plan.size(), &(LEAST..=MOST), " bytes")?;
        Ok(Self {
            index: index as u16,
            what: format!("probe {}", plan.name),
            path: plan.path,
            access: plan.access,
            start_ns: plan.start_ns,
            payload: usize::from(plan.size() - HEADERS),
        })
    }

    /// A time between packets, which cannot be zero.
    ///
    /// # Errors
    /// [`AgentError::Plan`] if it is, or if it is too long to be added to a time.
    pub(crate) fn time(&self, field: &str, time: Duration) -> Result<i64, AgentError> {
        match i64::try_from(time.as_nanos()) {
            Ok(time @ 1..) if time < i64::MAX / 4 => Ok(time),
            _ => {
                let field = format!("probes[{}].{field}", self.index);
                Err(AgentError::field(field, time, "1 ns to 73 years"))
            }
        }
    }

    /// Its port, and its identifier in ICMP messages.
    pub(crate) fn port(&self) -> u16 {
        ports::PROBES + self.index
    }

    /// The error of a kind of probe that was given the plan of another.
    pub(crate) fn wrong_kind(&self, wanted: &str) -> AgentError {
        AgentError::Plan(format!("probes[{}].kind is not {wanted}", self.index))
    }
}

/// The packets of a probe, in the order of sending.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    list: Vec<Sample>,
    /// Of the measured window: sent and not come home.
    outstanding: u64,
    /// What still comes home is no longer counted.
    dismissed: bool,
}

impl Samples {
    /// The number that the next packet gets.
    pub(crate) fn next(&self) -> u32 {
        self.list.len() as u32
    }

    /// A packet leaves.
    pub(crate) fn send(&mut self, sent_ns: i64) {
        self.list.push(Sample {
            sent_ns,
            delay_ns: None,
        });
        self.outstanding += u64::from(sent_ns >= 0);
    }

    /// A packet has come home at `at_ns`. Answers whether it is one that was awaited: no second copy, no stranger,
    /// and not too late.
    ///
    /// # Errors
    /// If it came before it was sent: then the clock was set back, and no time of this run can be trusted.
    pub(crate) fn arrive(&mut self, stamp: &Stamp, at_ns: i64, what: &str) -> Result<bool, AgentError> {
        let Some(sample) = self.list.get_mut(stamp.number as usize) else {
            return Ok(false);
        };
        if self.dismissed || sample.delay_ns.is_some() || sample.sent_ns != stamp.sent_ns {
            return Ok(false);
        }
        let Ok(delay) = u64::try_from(at_ns - sample.sent_ns) else {
            return Err(AgentError::Plan(format!(
                "packet {} of {what} arrived {} ns before it was sent: the clock was set back during the run",
                stamp.number,
                sample.sent_ns - at_ns
            )));
        };
        sample.delay_ns = Some(delay);
        self.outstanding -= u64::from(sample.sent_ns >= 0);
        Ok(true)
    }

    /// What is not here by now is lost.
    pub(crate) fn dismiss(&mut self) {
        self.dismissed = true;
    }

    /// The last packet is no sample.
    pub(crate) fn forget_last(&mut self) {
        if let Some(Sample {
            sent_ns: 0..,
            delay_ns: None,
        }) = self.list.pop()
        {
            self.outstanding -= 1;
        }
    }

    /// Whether a packet of the measured window may still come.
    pub(crate) fn awaits(&self) -> bool {
        self.outstanding > 0 && !self.dismissed
    }

    /// Hands the list over.
    pub(crate) fn finish(&mut self, index: u16, measured: &mut Measured) {
        let place = usize::from(index);
        if measured.probes.len() <= place {
            measured.probes.resize_with(place + 1, Default::default);
        }
        measured.probes[place].samples = std::mem::take(&mut self.list);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_stamp_lies_in_a_payload_as_the_layout_says() {
        let mut payload = [0; 18];
        Stamp {
            index: 0x0102,
            number: 0x0304_0506,
            sent_ns: -2,
        }
        .write(&mut payload);
        let by_hand = [
            b'S', b'J', 1, 2, 3, 4, 5, 6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0, 0,
        ];
        assert_eq!(payload, by_hand);
    }

    proptest! {
        #[test]
        fn any_stamp_comes_back(index: u16, number: u32, sent_ns: i64, more in 0_usize..64) {
            let stamp = Stamp { index, number, sent_ns };
            let mut payload = vec![0; Stamp::SIZE + more];
            stamp.write(&mut payload);
            prop_assert_eq!(Stamp::read(&payload), Some(stamp));
        }

        #[test]
        fn any_bytes_are_a_stamp_only_if_they_begin_as_one(payload: Vec<u8>) {
            prop_assert_eq!(Stamp::read(&payload).is_some(), payload.len() >= 16 && payload.starts_with(b"SJ"));
        }
    }

    fn stamp(number: u32, sent_ns: i64) -> Stamp {
        Stamp {
            index: 0,
            number,
            sent_ns,
        }
    }

    #[test]
    fn only_the_first_copy_of_a_packet_counts() {
        let mut s = Samples::default();
        s.send(5);
        assert!(s.awaits());
        assert!(s.arrive(&stamp(0, 5), 12, "probe").expect("later than sent"));
        assert!(!s.arrive(&stamp(0, 5), 13, "probe").expect("later than sent"));
        assert!(!s.awaits());
        assert_eq!(s.list[0].delay_ns, Some(7));
    }

    #[test]
    fn packets_from_before_the_window_are_kept_and_not_awaited() {
        let mut s = Samples::default();
        s.send(-1);
        assert!(!s.awaits());
        s.send(0);
        assert!(s.awaits());
        assert!(s.arrive(&stamp(0, -1), 9, "probe").expect("later than sent"));
        assert!(s.awaits());
        s.dismiss();
        assert!(!s.awaits());
        assert!(!s.arrive(&stamp(1, 0), 9, "probe").expect("later than sent"));
        assert_eq!([s.list[0].delay_ns, s.list[1].delay_ns], [Some(10), None]);
    }

    #[test]
    fn packets_of_another_run_are_strangers() {
        let mut s = Samples::default();
        s.send(5);
        assert!(!s.arrive(&stamp(1, 5), 9, "probe").expect("no such packet"));
        assert!(!s.arrive(&stamp(0, 4), 9, "probe").expect("no such packet"));
        assert!(s.awaits());
    }

    #[test]
    fn a_packet_from_the_future_ends_the_run() {
        let mut s = Samples::default();
        s.send(5);
        let error = s.arrive(&stamp(0, 5), 3, "probe ping").expect_err("before it was sent");
        let sentence = "packet 0 of probe ping arrived 2 ns before it was sent: the clock was set back during the run";
        assert_eq!(error.to_string(), sentence);
    }
}
