//! A network interface as a source of frames.

use pcap::{Active, Capture, Error, Precision};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};
use sojourn_trace::LinkType;
use std::time::Duration;

/// TCP, bare or behind one or two VLAN tags: each `vlan` moves what stands behind it by a tag.
const TCP: &str = "tcp or (vlan and (tcp or (vlan and tcp)))";
/// The kernel's buffer: half a second of full frames at 100 Mbit/s, cut to [`SNAPLEN`], many times over.
const BUFFER: i32 = 8 << 20;
/// Bytes kept of a frame: link header, two tags, IPv6 with extension headers, TCP with options.
pub(super) const SNAPLEN: u32 = 256;

/// A captured frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    /// Nanoseconds since 1970, by the kernel.
    pub(super) at_ns: u64,
    pub(super) wire: u32,
    pub(super) bytes: &'a [u8],
}

/// An interface that is being captured.
pub(super) struct Source {
    capture: Capture<Active>,
    link: LinkType,
}

impl Source {
    /// Opens it: each frame at once, time stamps in nanoseconds.
    pub(super) fn open(interface: &str, promiscuous: bool) -> Result<Self, String> {
        let cannot = |e: Error| format!("interface is {interface:?}, but it cannot be captured: {}", words(&e));
        let mut capture = Capture::from_device(interface)
            .and_then(|c| {
                c.promisc(promiscuous)
                    .snaplen(SNAPLEN.cast_signed())
                    .buffer_size(BUFFER)
                    .immediate_mode(true)
                    .precision(Precision::Nano)
                    .open()
            })
            // libpcap's own wait may last until there is a frame.
            .and_then(Capture::setnonblock)
            .map_err(cannot)?;
        // Not every link layer has VLAN tags.
        if capture.filter(TCP, true).is_err() {
            capture.filter("tcp", true).map_err(cannot)?;
        }
        let link = LinkType::from_number(capture.get_datalink().0.cast_unsigned());
        if let LinkType::Other(number) = link {
            return Err(format!(
                "interface is {interface:?}, but must have one of the link types Ethernet, cooked, raw IP and null, not {number}"
            ));
        }
        Ok(Self { capture, link })
    }

    pub(super) const fn link(&self) -> LinkType {
        self.link
    }

    /// Waits for so long at most, less than a second, for a frame or for news of the interface, which [`Self::next`]
    /// tells.
    pub(super) fn wait(&self, pause: Duration) {
        let pause = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(pause.subsec_nanos()),
        };
        // An interruption is a signal, and that is to be seen to.
        let _ = poll(&mut [PollFd::new(&self.capture, PollFlags::IN)], Some(&pause));
    }

    /// The next frame; `None` if there is none now. An error says that the interface is gone.
    pub(super) fn next(&mut self) -> Result<Option<Frame<'_>>, String> {
        match self.capture.next_packet() {
            Ok(packet) => {
                let (s, ns) = (packet.header.ts.tv_sec, packet.header.ts.tv_usec);
                let seconds = u64::try_from(s).unwrap_or(0);
                Ok(Some(Frame {
                    at_ns: seconds * 1_000_000_000 + u64::try_from(ns).unwrap_or(0),
                    wire: packet.header.len,
                    bytes: packet.data,
                }))
            }
            Err(Error::TimeoutExpired) => Ok(None),
            Err(e) => Err(words(&e)),
        }
    }

    /// Frames that the kernel dropped since it was opened.
    pub(super) fn dropped(&mut self) -> u64 {
        self.capture.stats().map_or(0, |s| u64::from(s.dropped))
    }
}

/// The clock of the stamps: nanoseconds since 1970.
pub(super) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Realtime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// libpcap's own words.
fn words(error: &Error) -> String {
    match error {
        Error::PcapError(text) => text.clone(),
        other => other.to_string(),
    }
}
