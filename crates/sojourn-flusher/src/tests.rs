//! The core as a whole.

mod adaptive;
mod bounds;
mod params;
mod properties;
mod small;
mod thesis;

use crate::{Event, Flags, FlowKey, Flusher, FlusherParams, Segment};
use sojourn_units::{Duration, Time};
use std::collections::BTreeMap;

pub(crate) const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub(crate) fn key(port: u16) -> FlowKey {
    FlowKey {
        src: ([192, 0, 2, 1], port).into(),
        dst: ([198, 51, 100, 1], 80).into(),
    }
}

/// A segment of `payload` bytes in a packet 52 bytes longer.
pub(crate) fn data(key: FlowKey, seq: u32, payload: u32) -> Segment {
    Segment {
        src: key.src,
        dst: key.dst,
        seq,
        ack: 1,
        flags: Flags {
            ack: true,
            ..Flags::default()
        },
        payload,
        wire: payload + 52,
        window: 1000,
        timestamps: None,
        sack: false,
        station: None,
    }
}

/// A bare acknowledgement for the flow `key`.
pub(crate) fn acknowledgement(key: FlowKey, ack: u32) -> Segment {
    Segment {
        ack,
        ..data(key.inverted(), 1, 0)
    }
}

/// Senders of packets of 1500 bytes that are each acknowledged after an RTT that the test sets.
pub(crate) struct Rig {
    pub(crate) core: Flusher,
    pub(crate) now: Time,
    /// What is still to come: acknowledgements by their time and order.
    due: BTreeMap<(Time, u64), Segment>,
    next: BTreeMap<FlowKey, u32>,
    order: u64,
}

pub(crate) const PAYLOAD: u32 = 1448;

impl Rig {
    pub(crate) fn new(params: FlusherParams) -> Self {
        let core = Flusher::new(FlusherParams { events: true, ..params }).unwrap();
        Self {
            core,
            now: Time::ZERO,
            due: BTreeMap::new(),
            next: BTreeMap::new(),
            order: 0,
        }
    }

    /// Brings the time to `to`, with all acknowledgements and timers until then.
    pub(crate) fn run_to(&mut self, to: Time) {
        loop {
            let ack = self
                .due
                .first_key_value()
                .map(|((at, _), _)| *at)
                .filter(|at| *at <= to);
            let timer = self.core.poll_timeout().filter(|at| *at <= to && *at > self.now);
            match (ack, timer) {
                (Some(ack), timer) if timer.is_none_or(|timer| ack <= timer) => {
                    let (_, segment) = self.due.pop_first().unwrap();
                    self.now = ack;
                    self.core.handle_segment(&segment, ack);
                }
                (_, Some(timer)) => {
                    self.now = timer;
                    self.core.handle_timeout(timer);
                }
                _ => break,
            }
        }
        self.now = to;
    }

    /// Sends the next packet of a flow, which is acknowledged after `rtt`.
    pub(crate) fn send(&mut self, key: FlowKey, rtt: Duration) {
        let seq = self.next.entry(key).or_insert(1);
        let segment = data(key, *seq, PAYLOAD);
        *seq = seq.wrapping_add(PAYLOAD);
        let ack = acknowledgement(key, *seq);
        self.core.handle_segment(&segment, self.now);
        self.order += 1;
        self.due.insert((self.now + rtt, self.order), ack);
    }

    /// Opens a connection of these addresses, anew if there was one, whose first sequence number is `isn`.
    pub(crate) fn open(&mut self, key: FlowKey, isn: u32, rtt: Duration) {
        self.due.retain(|_, ack| ack.key() != key.inverted());
        let syn = Segment {
            ack: 0,
            flags: Flags {
                syn: true,
                ..Flags::default()
            },
            ..data(key, isn, 0)
        };
        self.core.handle_segment(&syn, self.now);
        let next = isn.wrapping_add(1);
        self.next.insert(key, next);
        self.order += 1;
        self.due
            .insert((self.now + rtt, self.order), acknowledgement(key, next));
        self.run_to(self.now + rtt);
    }

    /// Sends the oldest unacknowledged packet again; nothing is acknowledged before `rtt` is over.
    pub(crate) fn lose(&mut self, key: FlowKey, in_flight: u32, rtt: Duration) {
        let next = self.next[&key];
        self.core
            .handle_segment(&data(key, next.wrapping_sub(in_flight * PAYLOAD), PAYLOAD), self.now);
        self.due.clear();
        self.order += 1;
        self.due
            .insert((self.now + rtt, self.order), acknowledgement(key, next));
    }

    /// `n` packets of each flow `gap` apart, each acknowledged after `rtt`; stops early when a plan is ready.
    pub(crate) fn stream(&mut self, keys: &[FlowKey], n: u32, gap: Duration, rtt: Duration) {
        for _ in 0..n {
            self.run_to(self.now + gap);
            if self.core.proposal.is_some() {
                return;
            }
            for key in keys {
                self.send(*key, rtt);
            }
        }
    }

    pub(crate) fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.core.poll_event()).collect()
    }
}
