//! Simulated packets as a capture file: what `tcpdump` would have written, had it run on the path.
//!
//! [`PcapNg`] takes the frames of a run's taps (`sojourn_sim::tap`) and writes pcapng into any writer, streaming:
//! Ethernet, IPv4, TCP, UDP and ICMP headers with valid checksums, over payloads of zeros (RTP headers and look-ups
//! of names apart).

mod encode;
mod payload;
mod pcapng;

pub use encode::encode;
pub use pcapng::{LEAST_SNAPLEN, MOST_SNAPLEN, PcapNg};
