//! Both ends of the transport.

use sojourn_sim::sojourn_scenario::Step;
use sojourn_sim::sojourn_units::{Duration, Time};
use sojourn_sim::{Agent, Datagram, Report};
use std::collections::{BTreeMap, VecDeque};

/// Payload of a datagram, bytes, of which the number takes the first eight.
const SIZE: usize = 1200;
/// Least window, datagrams.
const LEAST: f64 = 10.0;
/// Without an acknowledgement for so long, all that is under way is lost.
const TIMEOUT: Duration = Duration::from_secs(1);

/// One end: it sends what its application makes, and acknowledges what it gets.
#[derive(Default)]
pub struct End {
    unsent: u64,
    next: u64,
    /// When each datagram under way was sent, by its number.
    under_way: BTreeMap<u64, Time>,
    window: f64,
    srtt: Option<Duration>,
    acks: VecDeque<Vec<u8>>,
    heard: Time,
    received: u64,
    lost: u64,
}

impl End {
    /// The first `count` datagrams under way are lost.
    fn lose(&mut self, count: usize) {
        self.under_way = self
            .under_way
            .split_off(&self.under_way.keys().nth(count).copied().unwrap_or(u64::MAX));
        self.lost += count as u64;
        self.unsent += (count * SIZE) as u64;
    }
}

impl Agent for End {
    fn on_datagram(&mut self, datagram: Datagram, now: Time) {
        let number = u64::from_le_bytes(datagram.payload[..8].try_into().expect("each has a number"));
        if datagram.payload.len() == SIZE {
            self.received += SIZE as u64;
            self.acks.push_back(datagram.payload[..8].to_vec());
        } else if let Some(sent) = self.under_way.remove(&number) {
            (self.srtt, self.heard) = (Some(now.since(sent)), now);
            let overtaken = self.under_way.keys().take_while(|&&one| one + 3 <= number).count();
            if overtaken > 0 {
                self.lose(overtaken);
                self.window /= 2.0;
            } else if cfg!(feature = "idle-growth") || self.unsent >= SIZE as u64 {
                self.window += 1.0 / self.window.max(LEAST);
            }
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
        if let Some(ack) = self.acks.pop_front() {
            return Some(Datagram::udp(ack));
        }
        if self.unsent < SIZE as u64 || self.under_way.len() as f64 >= self.window.max(LEAST) {
            return None;
        }
        (self.unsent, self.next) = (self.unsent - SIZE as u64, self.next + 1);
        self.under_way.insert(self.next, now);
        let mut payload = vec![0; SIZE];
        payload[..8].copy_from_slice(&self.next.to_le_bytes());
        Some(Datagram::udp(payload))
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        Some(self.heard.max(*self.under_way.first_key_value()?.1) + TIMEOUT)
    }

    fn on_timeout(&mut self, now: Time) {
        if self.poll_timeout().is_some_and(|at| at <= now) {
            self.lose(self.under_way.len());
            self.window = LEAST;
        }
    }

    fn on_application(&mut self, step: Step, _: Time) {
        self.unsent = step.bytes.map_or(u64::MAX / 2, |bytes| self.unsent + bytes);
    }

    fn report(&self) -> Report {
        Report {
            delivered: self.received,
            window: Some((self.window.max(LEAST) * SIZE as f64) as u64),
            datagram: Some(SIZE as u16),
            srtt: self.srtt,
            lost: Some(self.lost),
            ..Report::default()
        }
    }
}
