//! Two endpoints and a path between them in virtual time, with a script that says what befalls each transmission.

use sojourn_tcp::cc::{Algorithm, CubicParams, Params, SlowStart};
use sojourn_tcp::{CaState, Endpoint, Flags, Segment, TcpParams, WINDOW_UNIT};
use sojourn_units::{Bytes, Duration, Rate, Time};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const MSS: u64 = 1448;
/// One-way delay of the path.
pub(crate) const DELAY: Duration = Duration::from_millis(25);
/// A full segment takes 1.2112 ms.
pub(crate) const RATE: Rate = Rate::from_mbit(10);

/// Where a transmission goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dir {
    /// From the client, which writes the data.
    Data,
    /// From the server, which acknowledges.
    Ack,
}

/// What the script decides of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Deliver,
    Drop,
    /// This much later than its turn; those behind it overtake it.
    Delay(Duration),
    /// Not before this time, in order.
    HoldUntil(Time),
    Twice,
    /// Congestion experienced.
    Mark,
}

/// A transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) at: Time,
    pub(crate) dir: Dir,
    /// Number of the transmission in its direction, the handshake included.
    pub(crate) nth: u64,
    /// Number of the data segment, from 0; `None` without data.
    pub(crate) data: Option<u64>,
    /// Transmissions of this data segment before this one.
    pub(crate) attempt: u32,
    pub(crate) segment: Segment,
}

impl Sent {
    /// Whether this is the `attempt`-th transmission (from 0) of data segment `data`.
    pub(crate) fn is(&self, data: u64, attempt: u32) -> bool {
        self.data == Some(data) && self.attempt == attempt
    }
}

/// The client's sender, after it was told or woken and has sent what it would.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) at: Time,
    pub(crate) cwnd: u32,
    pub(crate) ssthresh: Option<u32>,
    pub(crate) state: CaState,
    pub(crate) in_flight: u32,
    /// Data segments sent in answer.
    pub(crate) sent: u32,
    /// Segments that this acknowledgement delivered for the first time, cumulatively or by SACK.
    pub(crate) delivered: u32,
    /// Whether the cumulative acknowledgement moved.
    pub(crate) advanced: bool,
}

pub(crate) type Script = Box<dyn FnMut(&Sent) -> Fate>;

pub(crate) struct Net {
    pub(crate) now: Time,
    pub(crate) client: Endpoint,
    pub(crate) server: Endpoint,
    pub(crate) log: Vec<Sent>,
    pub(crate) samples: Vec<Sample>,
    script: Script,
    busy: [Time; 2],
    in_transit: BTreeMap<(Time, u64), (Dir, Segment)>,
    order: u64,
    count: [u64; 2],
    attempts: BTreeMap<u64, u32>,
    mss: u64,
    /// One past the last byte that any window told to the client admits.
    admitted: u64,
    /// Data segments that acknowledgements told the client of.
    known: BTreeSet<u64>,
    known_below: u64,
}

/// Reno or CUBIC without HyStart, so that slow start ends by loss alone.
pub(crate) fn params(algorithm: Algorithm) -> TcpParams {
    TcpParams {
        congestion_control: algorithm,
        cc: Params {
            cubic: CubicParams {
                slow_start: SlowStart::Plain,
            },
            ..Params::default()
        },
        ..TcpParams::default()
    }
}

impl Net {
    pub(crate) fn new(params: &TcpParams, script: impl FnMut(&Sent) -> Fate + 'static) -> Self {
        let mut net = Self {
            now: Time::from_millis(1),
            client: Endpoint::client(params).expect("valid parameters"),
            server: Endpoint::server(params).expect("valid parameters"),
            log: Vec::new(),
            samples: Vec::new(),
            script: Box::new(script),
            busy: [Time::ZERO; 2],
            in_transit: BTreeMap::new(),
            order: 0,
            count: [0; 2],
            attempts: BTreeMap::new(),
            mss: u64::from(params.mss),
            admitted: 0,
            known: BTreeSet::new(),
            known_below: 0,
        };
        net.client.connect(net.now);
        net.pump();
        net
    }

    /// A bulk transfer of `segments` full segments, run to its end.
    pub(crate) fn transfer(params: &TcpParams, segments: u64, script: impl FnMut(&Sent) -> Fate + 'static) -> Self {
        let mut net = Self::new(params, script);
        net.write(segments);
        net.finish();
        net
    }

    /// The same between two ends that differ.
    pub(crate) fn between(
        client: &TcpParams,
        server: &TcpParams,
        segments: u64,
        script: impl FnMut(&Sent) -> Fate + 'static,
    ) -> Self {
        let mut net = Self::new(client, script);
        net.server = Endpoint::server(server).expect("valid parameters");
        net.write(segments);
        net.finish();
        net
    }

    pub(crate) fn write(&mut self, segments: u64) {
        self.client.write(segments * self.mss);
        self.pump();
    }

    /// The client closes.
    pub(crate) fn close(&mut self) {
        self.client.close();
        self.pump();
    }

    /// Runs until all that was written is acknowledged.
    pub(crate) fn finish(&mut self) {
        while self.client.sender().bytes_pending() > 0 {
            assert!(self.step(Time::from_secs(600)), "the transfer hangs at {}", self.now);
        }
    }

    pub(crate) fn run_until(&mut self, end: Time) {
        while self.step(end) {}
        self.now = end;
    }

    /// Moves to the next event at or before `end`; false if there is none.
    pub(crate) fn step(&mut self, end: Time) -> bool {
        let arrival = self.in_transit.first_key_value().map(|(&(at, _), _)| at);
        let timer = [self.client.timeout(), self.server.timeout()]
            .into_iter()
            .flatten()
            .min();
        let Some(at) = arrival.into_iter().chain(timer).min().filter(|&at| at <= end) else {
            return false;
        };
        assert!(at >= self.now, "a timer is armed for the past");
        self.now = at;
        let (mut delivered, mut advanced) = (0, false);
        if arrival == Some(at) {
            let (_, (dir, segment)) = self.in_transit.pop_first().expect("there is an arrival");
            match dir {
                Dir::Data => {
                    self.server.on_segment(&segment, at);
                    // Its application closes at the end of the data.
                    if self.server.receiver().is_finished() {
                        self.server.close();
                    }
                }
                Dir::Ack => {
                    (delivered, advanced) = self.acknowledged(&segment);
                    self.client.on_segment(&segment, at);
                }
            }
        } else {
            self.client.on_timeout(at);
            self.server.on_timeout(at);
        }
        let sent = self.pump();
        let s = self.client.sender();
        self.samples.push(Sample {
            at,
            cwnd: s.cwnd(),
            ssthresh: s.ssthresh(),
            state: s.state(),
            in_flight: s.in_flight(),
            sent,
            delivered,
            advanced,
        });
        true
    }

    /// Notes what an acknowledgement tells the client.
    fn acknowledged(&mut self, s: &Segment) -> (u32, bool) {
        self.admitted = self.admitted.max(s.ack + u64::from(s.window) * WINDOW_UNIT);
        let number = |offset: i32| (s.ack.saturating_add_signed(i64::from(offset)).saturating_sub(1)) / self.mss;
        let mut fresh = 0;
        for b in &s.sack[..usize::from(s.sack_count)] {
            for k in number(b.start).max(self.known_below)..number(b.end) {
                fresh += u32::from(self.known.insert(k));
            }
        }
        let below = s.ack.saturating_sub(1).div_ceil(self.mss);
        let advanced = below > self.known_below;
        for k in self.known_below..below {
            fresh += u32::from(!self.known.remove(&k));
        }
        self.known_below = self.known_below.max(below);
        (fresh, advanced)
    }

    /// Sends whatever either end wants to send; answers how many data segments the client sent.
    fn pump(&mut self) -> u32 {
        let mut sent = 0;
        while let Some(segment) = self.client.poll_transmit(self.now) {
            if segment.len > 0 {
                sent += 1;
                let end = segment.seq + u64::from(segment.len);
                assert!(
                    end <= self.admitted,
                    "{end} is beyond the receiver's window {}",
                    self.admitted
                );
            }
            self.send(Dir::Data, segment);
        }
        while let Some(segment) = self.server.poll_transmit(self.now) {
            self.send(Dir::Ack, segment);
        }
        sent
    }

    fn send(&mut self, dir: Dir, segment: Segment) {
        let d = dir as usize;
        let data = (segment.len > 0).then(|| (segment.seq - 1) / self.mss);
        let attempt = data.map_or(0, |k| {
            let n = self.attempts.entry(k).or_insert(0);
            *n += 1;
            *n - 1
        });
        let sent = Sent {
            at: self.now,
            dir,
            nth: self.count[d],
            data,
            attempt,
            segment,
        };
        self.count[d] += 1;
        self.log.push(sent);
        let fate = (self.script)(&sent);
        // It occupies the link whatever becomes of it behind.
        let size = Bytes::new(u64::from(segment.wire_size()));
        self.busy[d] = self.busy[d].max(self.now) + RATE.time_to_send(size);
        let arrival = self.busy[d] + DELAY;
        match fate {
            Fate::Drop => {}
            Fate::Deliver => self.arrive(arrival, dir, segment),
            Fate::Delay(by) => self.arrive(arrival + by, dir, segment),
            Fate::HoldUntil(at) => self.arrive(arrival.max(at), dir, segment),
            Fate::Twice => {
                self.arrive(arrival, dir, segment);
                self.arrive(arrival, dir, segment);
            }
            Fate::Mark => {
                let mut marked = segment;
                assert!(marked.flags.ecn().is_capable(), "only ECN-capable segments are marked");
                marked.flags |= Flags::CE;
                self.arrive(arrival, dir, marked);
            }
        }
    }

    fn arrive(&mut self, at: Time, dir: Dir, segment: Segment) {
        self.in_transit.insert((at, self.order), (dir, segment));
        self.order += 1;
    }

    // ------------------------------------------------------------ questions

    /// The transmissions of data segment `k`.
    pub(crate) fn sendings(&self, k: u64) -> Vec<Time> {
        self.log.iter().filter(|s| s.data == Some(k)).map(|s| s.at).collect()
    }

    /// Data segments that were sent more than once.
    pub(crate) fn repeated(&self) -> Vec<u64> {
        self.attempts.iter().filter(|&(_, &n)| n > 1).map(|(&k, _)| k).collect()
    }

    /// The last sample before the state first became `state`, and the first in it.
    pub(crate) fn entry(&self, state: CaState) -> (Sample, Sample) {
        let i = self
            .samples
            .iter()
            .position(|s| s.state == state)
            .expect("the state was entered");
        (self.samples[i - 1], self.samples[i])
    }

    /// The sample in force at `at`.
    pub(crate) fn sample(&self, at: Time) -> Sample {
        *self
            .samples
            .iter()
            .rev()
            .find(|s| s.at <= at)
            .expect("something happened before")
    }
}
