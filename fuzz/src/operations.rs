//! The flusher's core under any sequence of segments, answers and times.

use arbitrary::{Arbitrary, Unstructured};
use sojourn_flusher::{Event, Flags, FlushId, FlushPlan, Flusher, FlusherParams, Reason, Segment};
use sojourn_units::{Duration, Time};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

#[derive(Arbitrary, Debug)]
enum Operation {
    /// A sender's segments in order, and their acknowledgements after a round trip: what makes samples.
    Exchange {
        flow: u8,
        segments: u8,
        rtt_ms: u8,
    },
    Segment {
        flow: u8,
        back: bool,
        seq: u32,
        ack: u32,
        payload: u16,
        flags: u8,
    },
    Wait {
        ms: u16,
    },
    Back {
        ms: u16,
    },
    Poll,
    Done {
        of: u8,
        sent: u16,
    },
    Refuse {
        of: u8,
    },
    Timeout,
}

/// The core, what it has proposed, and what its caller knows.
struct Bench {
    core: Flusher,
    now: Time,
    seqs: [u32; 4],
    /// The plan that was polled and not answered.
    open: Option<FlushPlan>,
    last: u64,
    segments: u64,
    polled: u64,
    sent: (u64, u64),
    refused: u64,
}

/// The first byte names a preset; operations follow until the bytes are used up.
///
/// # Panics
/// If there are two plans at a time, a plan is none, or the counters are not those of who called.
pub fn flusher(data: &[u8]) {
    let [preset, data @ ..] = data else { return };
    let names = FlusherParams::PRESETS;
    let mut params = FlusherParams::named(names[usize::from(*preset) % names.len()]).expect("a preset");
    (params.max_flows, params.max_outstanding) = (3, 16);
    params.events = preset & 0x80 != 0;
    let Ok(core) = Flusher::new(params) else { return };
    let mut bench = Bench {
        core,
        now: Time::from_secs(10),
        seqs: [u32::MAX - 3000, 0, 1 << 31, 77],
        open: None,
        last: 0,
        segments: 0,
        polled: 0,
        sent: (0, 0),
        refused: 0,
    };
    let mut u = Unstructured::new(data);
    while !u.is_empty() {
        let Ok(operation) = Operation::arbitrary(&mut u) else {
            return;
        };
        bench.apply(&operation);
        bench.check();
    }
}

fn end(flow: usize, server: bool) -> SocketAddr {
    let host = if server { 100 + flow as u8 / 2 } else { flow as u8 };
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, host)), 5000 + flow as u16)
}

fn data(flow: usize, seq: u32, ack: u32, payload: u32) -> Segment {
    Segment {
        src: end(flow, false),
        dst: end(flow, true),
        seq,
        ack,
        flags: Flags {
            ack: true,
            ..Flags::default()
        },
        payload,
        wire: payload + 52,
        window: 500,
        timestamps: None,
        sack: false,
        station: None,
    }
}

fn turned(segment: Segment) -> Segment {
    Segment {
        src: segment.dst,
        dst: segment.src,
        ..segment
    }
}

impl Bench {
    fn segment(&mut self, segment: &Segment) {
        self.core.handle_segment(segment, self.now);
        self.segments += 1;
    }

    fn apply(&mut self, operation: &Operation) {
        match *operation {
            Operation::Exchange { flow, segments, rtt_ms } => {
                let flow = usize::from(flow) % 4;
                for _ in 0..=segments % 8 {
                    let seq = self.seqs[flow];
                    let segment = data(flow, seq, 1, 1448);
                    self.segment(&segment);
                    self.seqs[flow] = seq.wrapping_add(1448);
                }
                self.now += Duration::from_millis(u64::from(rtt_ms));
                let answer = turned(data(flow, 1, self.seqs[flow], 0));
                self.segment(&answer);
            }
            Operation::Segment {
                flow,
                back,
                seq,
                ack,
                payload,
                flags,
            } => {
                let mut segment = data(usize::from(flow) % 4, seq, ack, u32::from(payload));
                let flag = |bit: u8| flags >> bit & 1 == 1;
                segment.flags = Flags {
                    syn: flag(0),
                    fin: flag(1),
                    rst: flag(2),
                    ack: flag(3),
                    psh: flag(4),
                };
                segment.sack = flag(5);
                self.segment(&if back { turned(segment) } else { segment });
            }
            Operation::Wait { ms } => self.now += Duration::from_millis(u64::from(ms)),
            Operation::Back { ms } => {
                self.now = Time::from_nanos(self.now.as_nanos().saturating_sub(u64::from(ms) * 1_000_000))
            }
            Operation::Poll => self.poll(),
            Operation::Done { of, sent } => {
                let id = self.last.saturating_sub(u64::from(of % 3));
                if let Some(plan) = self.open.filter(|plan| plan.id == FlushId(id)) {
                    let sent = u32::from(sent).min(plan.packets);
                    self.sent.0 += u64::from(sent);
                    self.sent.1 += u64::from(sent) * plan.size.get();
                    self.refused += u64::from(sent == 0);
                    self.open = None;
                }
                self.core.flush_done(FlushId(id), u32::from(sent), self.now);
            }
            Operation::Refuse { of } => {
                let id = self.last.saturating_sub(u64::from(of % 3));
                if self.open.take_if(|plan| plan.id == FlushId(id)).is_some() {
                    self.refused += 1;
                }
                self.core.flush_refused(FlushId(id), self.now);
            }
            Operation::Timeout => self.core.handle_timeout(self.now),
        }
    }

    fn poll(&mut self) {
        let Some(plan) = self.core.poll_flush() else { return };
        assert!(self.open.is_none(), "a second plan before the first was answered");
        assert!(
            self.polled == 0 || plan.id.0 > self.last,
            "{:?} after {}",
            plan.id,
            self.last
        );
        assert!((1..=self.core.params().max_packets).contains(&plan.packets), "{plan:?}");
        assert_eq!(plan.toward, plan.flow.dst.ip());
        assert!(
            plan.size.get() >= 48 && plan.estimate.base <= plan.estimate.max_rtt,
            "{plan:?}"
        );
        if let Reason::Threshold { least, trigger } = plan.reason {
            assert!(least > trigger, "{plan:?}");
        }
        self.polled += 1;
        self.last = plan.id.0;
        self.open = Some(plan);
    }

    fn check(&mut self) {
        let stats = self.core.stats();
        assert_eq!(stats.segments, self.segments);
        assert!(stats.samples <= stats.segments && stats.flows <= stats.segments);
        assert!(stats.plans >= self.polled);
        assert!(stats.top_ups + stats.forced <= stats.plans);
        assert_eq!((stats.packets, stats.bytes), self.sent);
        assert_eq!(stats.refused, self.refused);
        let mut flows = 0;
        for flow in self.core.flows() {
            flows += 1;
            assert_eq!(flow.samples > 0, flow.base.is_some(), "{flow:?}");
            assert!(
                flow.base <= flow.max_rtt && flow.max_rtt <= Some(self.core.params().max_rtt),
                "{flow:?}"
            );
        }
        assert!(flows <= 3);
        assert_eq!(stats.flows - stats.evicted - stats.expired, flows);
        while let Some(event) = self.core.poll_event() {
            if let Event::Sample { raw, .. } = event {
                assert!(!raw.is_zero());
            }
        }
    }
}
