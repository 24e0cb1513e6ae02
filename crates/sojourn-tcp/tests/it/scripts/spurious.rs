//! RACK and acknowledgements that a retransmission did not cause: RFC 8985 section 6.2 step 2, and Linux's
//! timestamps.

use sojourn_tcp::{Endpoint, Flags, SackBlock, Segment, TcpParams};
use sojourn_units::{Duration, Time};

pub(crate) const MSS: u64 = 1448;

pub(crate) fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// A bulk sender whose handshake took 20 ms, the least of its round trips; and the numbers of the segments that it
/// sends.
pub(crate) struct Sender {
    pub(crate) endpoint: Endpoint,
}

impl Sender {
    fn new() -> (Self, Vec<u64>) {
        Self::with_bytes(1 << 30)
    }

    /// One that has so much to send.
    pub(crate) fn with_bytes(bytes: u64) -> (Self, Vec<u64>) {
        let mut endpoint = Endpoint::client(&TcpParams::default()).expect("the defaults are valid");
        endpoint.write(bytes);
        endpoint.connect(at(0));
        let syn = endpoint.poll_transmit(at(0)).expect("a SYN");
        let syn_ack = Segment {
            ack: 1,
            flags: Flags::SYN | Flags::ACK,
            window: 10_000,
            ts_val: 1,
            ts_ecr: syn.ts_val,
            ..Segment::default()
        };
        endpoint.on_segment(&syn_ack, at(20));
        let mut sender = Self { endpoint };
        let sent = sender.sent(20);
        (sender, sent)
    }

    pub(crate) fn sent(&mut self, ms: u64) -> Vec<u64> {
        std::iter::from_fn(|| self.endpoint.poll_transmit(at(ms)))
            .filter(|segment| segment.len > 0)
            .map(|segment| (segment.seq - 1) / MSS)
            .collect()
    }

    /// At `ms` an acknowledgement of everything below segment `ack` comes, with one SACK block, and with the echo of
    /// what was sent at `echo` ms. Answers what is sent then.
    fn acknowledge(&mut self, ms: u64, ack: u64, sacked: Option<(u64, u64)>, echo: u64) -> Vec<u64> {
        self.acknowledge_all(ms, ack, sacked.as_slice(), echo)
    }

    /// The same with these blocks.
    pub(crate) fn acknowledge_all(&mut self, ms: u64, ack: u64, blocks: &[(u64, u64)], echo: u64) -> Vec<u64> {
        let mut segment = Segment {
            ack: 1 + ack * MSS,
            flags: Flags::ACK,
            window: 10_000,
            ts_val: ms as u32,
            ts_ecr: echo as u32 + 1,
            sack_count: blocks.len() as u8,
            ..Segment::default()
        };
        let offset = |n: u64| (n as i32 - ack as i32) * MSS as i32;
        for (block, &(start, end)) in segment.sack.iter_mut().zip(blocks) {
            *block = SackBlock {
                start: offset(start),
                end: offset(end),
            };
        }
        self.endpoint.on_segment(&segment, at(ms));
        self.sent(ms)
    }

    /// The next timer goes off. Answers when, in ms, and what is sent then.
    pub(crate) fn wakes(&mut self) -> (u64, Vec<u64>) {
        let due = self.endpoint.timeout().expect("a timer is armed");
        self.endpoint.on_timeout(due);
        let ms = due.as_nanos() / 1_000_000;
        (ms, self.sent(ms))
    }

    /// Segment 0 is lost, sent again some 322 ms after the beginning and, because the first segment sent after that
    /// has arrived, once more at 630 ms, when others are outstanding. Answers the number behind that segment,
    /// too.
    fn with_two_retransmissions() -> (Self, u64) {
        let (mut sender, first) = Self::new();
        assert_eq!(first, (0..10).collect::<Vec<_>>());
        let mut sent = Vec::new();
        for k in 2..=10 {
            // The round trip takes 300 ms now.
            sent.extend(sender.acknowledge(318 + k, 0, Some((1, k)), 20));
        }
        let mut from = sent.iter().skip_while(|&&k| k != 0).skip(1);
        let arrived = 1 + *from.next().expect("a new segment follows the retransmission");
        assert!(from.next().is_some(), "others are outstanding: {sent:?}");
        let again = sender.acknowledge(630, 0, Some((1, arrived)), 20);
        assert!(again.contains(&0), "{again:?}");
        (sender, arrived)
    }
}

#[test]
fn an_echo_older_than_the_retransmission_tells_rack_nothing() {
    // 21 ms after the second retransmission, longer than the least round trip, the first one is acknowledged. What was
    // sent between the two is on its way.
    let (mut sender, arrived) = Sender::with_two_retransmissions();
    let newest = sender.endpoint.sender().stats().segments_sent - 2;
    let sent = sender.acknowledge(651, arrived, None, 322);
    assert!(sent.iter().all(|&k| k >= newest), "{sent:?}");
    assert_eq!(sender.endpoint.sender().stats().retransmissions, 2);
}

#[test]
fn an_echo_of_the_retransmission_tells_that_what_was_sent_before_it_is_lost() {
    let (mut sender, arrived) = Sender::with_two_retransmissions();
    let sent = sender.acknowledge(651, arrived, None, 630);
    assert_eq!(sent.first(), Some(&arrived), "{sent:?}");
}
