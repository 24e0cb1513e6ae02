//! Captures that nobody took: TCP flows through a queue that fills and empties, for benchmarks and tests.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

const MS: u64 = 1_000_000;
/// Length of the IP packet of a full segment with time stamps.
const SEGMENT: u32 = 1500;
const PAYLOAD: u32 = SEGMENT - HEADERS;
/// IPv4 and TCP with time stamps.
const HEADERS: u32 = 52;
const ETHERNET: u32 = 14;
/// 2023-11-14, 22:13:20.
const EPOCH_NS: u64 = 1_700_000_000_000_000_000;

/// A frame of a synthetic capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntheticFrame {
    /// Time stamp, nanoseconds since 1970.
    pub at_ns: u64,
    /// Length on the wire.
    pub wire: u32,
    /// Its headers: what a snap length of 96 keeps of a data segment without its payload.
    pub bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Data,
    Ack(u32),
}

/// Frames as a host sees them that sends `flows` bulk flows of equal rate, 10 Mbit/s together, over a path of 40 ms
/// with a queue that grows to 160 ms and empties within each 10 s. Every second segment is acknowledged. No two runs
/// differ.
///
/// ```
/// use sojourn_trace::{LinkType, Synthetic, segment};
/// let frames: Vec<_> = Synthetic::new(2).take(100).collect();
/// assert!(frames.iter().all(|f| segment(LinkType::Ethernet, &f.bytes, f.wire).is_ok()));
/// assert!(frames.is_sorted_by_key(|f| f.at_ns));
/// ```
#[derive(Clone, Debug)]
pub struct Synthetic {
    due: BinaryHeap<Reverse<(u64, u64, u32, Due)>>,
    /// Segments sent, by flow.
    sent: Vec<u32>,
    order: u64,
}

impl Synthetic {
    /// With this many flows, at most 65,535.
    ///
    /// # Panics
    /// If there is no flow, or more.
    #[must_use]
    pub fn new(flows: u32) -> Self {
        assert!((1..=65_535).contains(&flows), "from 1 to 65535 flows");
        let mut new = Self {
            due: BinaryHeap::new(),
            sent: vec![0; flows as usize],
            order: 0,
        };
        for flow in 0..flows {
            new.push(u64::from(flow) * Self::gap(flows) / u64::from(flows), flow, Due::Data);
        }
        new
    }

    /// Between two segments of a flow.
    fn gap(flows: u32) -> u64 {
        // 1514 bytes at 10 Mbit/s are 1.2112 ms.
        1_211_200 * u64::from(flows)
    }

    fn push(&mut self, at: u64, flow: u32, due: Due) {
        self.order += 1;
        self.due.push(Reverse((at, self.order, flow, due)));
    }

    fn rtt(at: u64) -> u64 {
        let period = 10_000 * MS;
        40 * MS + 160 * MS * (at % period) / period
    }

    fn frame(at: u64, flow: u32, due: Due) -> SyntheticFrame {
        let data = matches!(due, Due::Data);
        let (us, them) = ([10, 0, 0, 1], [198, 51, 100, (1 + flow % 250) as u8]);
        let (near, far) = ((10_000 + flow % 50_000) as u16, 5001_u16);
        let length = if data { SEGMENT } else { HEADERS };
        let mut bytes = Vec::with_capacity((ETHERNET + HEADERS) as usize);
        let (near_station, far_station) = ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
        bytes.extend(
            if data {
                [far_station, near_station]
            } else {
                [near_station, far_station]
            }
            .concat(),
        );
        bytes.extend([0x08, 0x00]);
        bytes.extend([0x45, 0]);
        bytes.extend((length as u16).to_be_bytes());
        bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        bytes.extend(if data { [us, them] } else { [them, us] }.concat());
        let (src, dst) = if data { (near, far) } else { (far, near) };
        bytes.extend(src.to_be_bytes());
        bytes.extend(dst.to_be_bytes());
        let (seq, ack) = match due {
            Due::Data => (0, 1),
            Due::Ack(upto) => (1, upto),
        };
        bytes.extend(u32::to_be_bytes(seq));
        bytes.extend(u32::to_be_bytes(ack));
        bytes.extend([0x80, 0x10, 0xFF, 0xFF, 0, 0, 0, 0]);
        let stamp = (at / MS) as u32;
        bytes.extend([1, 1, 8, 10]);
        bytes.extend(stamp.to_be_bytes());
        bytes.extend(stamp.wrapping_sub(20).to_be_bytes());
        SyntheticFrame {
            at_ns: EPOCH_NS + at,
            wire: ETHERNET + length,
            bytes,
        }
    }
}

impl Iterator for Synthetic {
    type Item = SyntheticFrame;

    fn next(&mut self) -> Option<SyntheticFrame> {
        let Reverse((at, _, flow, due)) = self.due.pop()?;
        let mut frame = Self::frame(at, flow, due);
        if due == Due::Data {
            let sent = &mut self.sent[flow as usize];
            let seq = sent.wrapping_mul(PAYLOAD).wrapping_add(1);
            frame.bytes[38..42].copy_from_slice(&seq.to_be_bytes());
            *sent = sent.wrapping_add(1);
            let acknowledged = sent.is_multiple_of(2);
            self.push(at + Self::gap(self.sent.len() as u32), flow, Due::Data);
            if acknowledged {
                self.push(at + Self::rtt(at), flow, Due::Ack(seq.wrapping_add(PAYLOAD)));
            }
        }
        Some(frame)
    }
}
