//! The socket by which a program hands its bursts over: how much of them its host's own queue may hold.

use sojourn_units::{Duration, Time};

/// What `SO_SNDBUF` gives at most without a privilege: twice `net.core.wmem_max`, by default 212,992 bytes.
const SEND_BUFFER: u64 = 2 * 212_992;
/// What has not left by then is given up. Source: `sojournd flush`.
const PATIENCE: Duration = Duration::from_secs(2);
/// What stands before the IP header of a packet, and what the kernel's memory is cut into.
const HEADROOM: u64 = 31;
const LINE: u64 = 64;
/// `skb_shared_info` behind the data, and the `sk_buff` itself.
const SHARED: u64 = 320;
const HEAD: u64 = 256;

/// The memory that an IP packet of `bytes` occupies.
///
/// Source: Linux 6.1 `__ip_append_data`, `__alloc_skb`: data and its trailer in a block of a power of two. 2304 bytes
/// for a packet of 1500.
fn memory(bytes: u64) -> u64 {
    ((bytes + HEADROOM).next_multiple_of(LINE) + SHARED).next_power_of_two() + HEAD
}

/// A UDP socket that does not wait.
///
/// Source: Linux 6.1 `sock_alloc_send_pskb`: a packet is taken as long as those that have not left the device occupy
/// less than the buffer. So of a burst of full packets 185 go into the host's queue at once, and others as those
/// leave; a flow's own segments get in between.
#[derive(Clone, Debug, Default)]
pub(crate) struct Socket {
    /// The first link of each route that bursts take.
    entries: Vec<(u16, u16)>,
    /// What its packets in the host's own queue occupy, bytes.
    held: u64,
}

impl Socket {
    /// Bursts take `route`, whose first link is `link`.
    pub(crate) fn open(&mut self, route: u16, link: u16) {
        self.entries.push((route, link));
    }

    /// Takes an IP packet of `bytes` on `route`, if there is room.
    pub(crate) fn takes(&mut self, route: u16, bytes: u64) -> bool {
        let room = self.held < SEND_BUFFER;
        // Elsewhere nothing stays at the host.
        if room && self.entries.iter().any(|&(its, _)| its == route) {
            self.held += memory(bytes);
        }
        room
    }

    /// A packet of `bytes` on `route` left `link`, or was lost before it.
    pub(crate) fn left(&mut self, route: u16, link: u16, bytes: u64) {
        if self.entries.contains(&(route, link)) {
            self.held = self.held.saturating_sub(memory(bytes));
        }
    }

    /// Whether the rest of a burst is given up that began to leave at `began`.
    pub(crate) fn gives_up(began: Time, now: Time) -> bool {
        now.since(began) > PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_occupies_what_the_kernel_s_does() {
        // By hand: 1500 + 31 is 24 lines, and 320 more is below 2048; 64 + 31 is two lines, and 320 more is below 512.
        assert_eq!((memory(1500), memory(64)), (2304, 768));
    }

    #[test]
    fn the_host_s_queue_holds_185_full_packets_and_takes_one_for_each_that_leaves() {
        // Seen on Linux 6.1.192: of a burst of 425 packets 185 left before the flow's next segment.
        let mut socket = Socket::default();
        socket.open(4, 0);
        assert_eq!((0..400).filter(|_| socket.takes(4, 1500)).count(), 185);
        socket.left(5, 0, 1500);
        socket.left(4, 1, 1500);
        assert!(!socket.takes(4, 1500), "another route, and another link of it");
        socket.left(4, 0, 1500);
        assert!(socket.takes(4, 1500) && !socket.takes(4, 1500));
    }

    #[test]
    fn what_does_not_leave_within_two_seconds_is_given_up() {
        let began = Time::from_millis(500);
        assert!(!Socket::gives_up(began, Time::from_millis(2500)));
        assert!(Socket::gives_up(began, Time::from_millis(2501)));
    }
}
