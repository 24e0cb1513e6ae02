//! The gate under any sequence of plans, effects and settings, beside the books of somebody who only sees its answers.

use arbitrary::{Arbitrary, Unstructured};
use sojourn_flusher::gate::{Answer, Gate, GateSettings, LEAST_CHARGE, Refusal};
use sojourn_flusher::{Estimate, FlowKey, FlushId, FlushPlan, Reason};
use sojourn_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const MINUTE: Duration = Duration::from_secs(60);
/// How much longer a spending may count than a minute.
const CELL: Duration = Duration::from_millis(100);

#[derive(Arbitrary, Debug)]
enum Operation {
    Judge {
        gap: Gap,
        age_ms: u16,
        toward: u8,
        packets: u16,
        size: u16,
        top_up_of: Option<u8>,
        bdp: u32,
        rtt_ms: u16,
    },
    Effect {
        toward: u8,
        helped: bool,
    },
    Acknowledged {
        toward: u8,
        other_source: bool,
        bytes: u32,
    },
    Reset {
        toward: u8,
        other_source: bool,
    },
    Settings(Settings),
    Kill(bool),
    Forget,
}

#[derive(Arbitrary, Debug)]
enum Gap {
    None,
    Millis(u8),
    Tenths(u8),
    Seconds(u8),
    Back(u8),
}

#[derive(Arbitrary, Debug)]
struct Settings {
    active: bool,
    allow: u8,
    /// Whether only the first source is allowed.
    from: bool,
    per_minute: u32,
    per_flush: u32,
    thousandths: u16,
    cool_down_ms: u16,
    max_cool_down_ms: u16,
}

/// Whether the address of this number is in the prefix of that number, worked out by hand.
const DESTINATIONS: [(IpAddr, [bool; 2]); 8] = [
    (v4(192, 0, 2, 1), [true, false]),
    (v4(192, 0, 2, 200), [true, false]),
    // The broadcast address of the subnet, and its own.
    (v4(192, 0, 2, 255), [false, false]),
    (v4(192, 0, 2, 0), [false, false]),
    (v4(198, 51, 100, 7), [false, true]),
    (
        IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
        [false, false],
    ),
    (v4(224, 0, 0, 1), [false, false]),
    (v4(203, 0, 113, 9), [false, false]),
];
/// Who sends the data, and whether it is in the prefix of sources.
const SOURCES: [(IpAddr, bool); 2] = [(v4(192, 0, 2, 99), true), (v4(203, 0, 113, 5), false)];
const SOURCE_PREFIX: &str = "192.0.2.0/24";
const PREFIXES: [&str; 2] = ["192.0.2.0/24", "198.51.100.7/32"];

const fn v4(a: u8, b: u8, c: u8, d: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(a, b, c, d))
}

impl Settings {
    fn read(&self) -> GateSettings {
        let mut settings = GateSettings::widest(Vec::new());
        settings.active = self.active;
        settings.allow = (0..2)
            .filter(|bit| self.allow >> bit & 1 == 1)
            .map(|i| PREFIXES[i].parse().expect("a prefix"))
            .collect();
        if self.from {
            settings.from = vec![SOURCE_PREFIX.parse().expect("a prefix")];
        }
        settings.bytes_per_minute = u64::from(self.per_minute % 1_000_000);
        settings.bytes_per_flush = u64::from(self.per_flush % 100_000);
        settings.bdp_thousandths = u32::from(self.thousandths);
        settings.cool_down = Duration::from_millis(100 + u64::from(self.cool_down_ms));
        settings.max_cool_down = settings.cool_down + Duration::from_millis(u64::from(self.max_cool_down_ms));
        settings
    }
}

/// What an observer knows of a destination.
#[derive(Clone, Copy, Default)]
struct Observed {
    /// When its last flush was let through, and which; none after everything was forgotten.
    flush: Option<(Time, FlushId)>,
    last: Option<Time>,
    /// Bytes of it with its top-ups.
    bytes: u64,
    /// What was acknowledged from there, less what was sent there.
    earned: u64,
}

struct Books {
    settings: GateSettings,
    killed: bool,
    /// The shortest cool-down that there has been.
    least_pause: Duration,
    spent: VecDeque<(Time, u64)>,
    seen: [Observed; DESTINATIONS.len()],
    now: Time,
}

impl Books {
    /// Bytes within the last `window`.
    fn within(&self, window: Duration) -> u64 {
        let young = |at: &Time| self.now.since(*at) < window;
        self.spent
            .iter()
            .filter(|(at, _)| young(at))
            .map(|(_, bytes)| bytes)
            .sum()
    }

    fn allowed(&self, toward: usize) -> bool {
        let inside = DESTINATIONS[toward].1;
        self.settings.allow.iter().any(|net| {
            PREFIXES
                .iter()
                .zip(inside)
                .any(|(prefix, inside)| inside && net.to_string() == *prefix)
        })
    }

    fn source_allowed(&self, source: IpAddr) -> bool {
        self.settings.from.is_empty() || SOURCES.iter().any(|(address, inside)| *inside && *address == source)
    }

    fn passed(&mut self, plan: &FlushPlan, toward: usize, age: Duration) {
        let bytes = u64::from(plan.packets) * plan.size.get().max(LEAST_CHARGE);
        assert!(self.settings.active && !self.killed, "it passed a gate that was off");
        assert!(self.allowed(toward), "it passed to {}", plan.toward);
        assert!(self.source_allowed(plan.flow.src.ip()), "it passed for {:?}", plan.flow);
        let sent = u64::from(plan.packets) * plan.size.get();
        let seen = &mut self.seen[toward];
        seen.earned = seen.earned.checked_sub(sent).expect("more than was acknowledged");
        assert!(bytes > 0 && age <= Duration::from_millis(500));
        assert!(plan.estimate.max_rtt <= self.settings.max_rtt);
        self.spent.push_back((self.now, bytes));
        assert!(
            self.within(MINUTE) <= self.settings.bytes_per_minute,
            "more than the budget of a minute"
        );
        let seen = &mut self.seen[toward];
        if let Reason::TopUp { of } = plan.reason {
            let (at, id) = seen.flush.expect("a top-up of nothing");
            assert!(
                id == of && self.now.since(at) <= self.settings.max_rtt,
                "a top-up of another flush, or too late"
            );
            seen.bytes += bytes;
        } else {
            if let Some(last) = seen.last {
                assert!(self.now.since(last) >= self.least_pause, "no cool-down");
            }
            *seen = Observed {
                flush: Some((self.now, plan.id)),
                last: Some(self.now),
                bytes,
                earned: seen.earned,
            };
        }
        assert!(
            seen.bytes <= self.settings.bytes_per_flush,
            "more than a flush may have"
        );
        let most = u128::from(plan.estimate.bdp.get()) * u128::from(self.settings.bdp_thousandths) / 1000;
        assert!(
            u128::from(seen.bytes) <= most,
            "more than the multiple of what the path holds"
        );
    }
}

/// Operations, until the bytes are used up.
///
/// # Panics
/// If more passes than the settings of that moment permit, or the budget differs from the observer's books.
pub fn gate(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let settings = Settings {
        active: true,
        allow: 3,
        per_minute: 900_000,
        per_flush: 90_000,
        ..Settings::arbitrary(&mut u).unwrap_or(NONE)
    };
    let settings = settings.read();
    let mut gate = Gate::new(settings.clone());
    let mut books = Books {
        least_pause: settings.cool_down,
        settings,
        killed: false,
        spent: VecDeque::new(),
        seen: [Observed::default(); DESTINATIONS.len()],
        now: Time::ZERO,
    };
    let (mut clock, mut next) = (Time::ZERO, 0);
    while !u.is_empty() {
        let Ok(operation) = Operation::arbitrary(&mut u) else {
            return;
        };
        match operation {
            Operation::Judge {
                gap,
                age_ms,
                toward,
                packets,
                size,
                top_up_of,
                bdp,
                rtt_ms,
            } => {
                clock = after(clock, &gap);
                books.now = books.now.max(clock);
                let toward = usize::from(toward) % DESTINATIONS.len();
                let age = Duration::from_millis(u64::from(age_ms % 600));
                let planned = Time::ZERO + Duration::from_nanos(books.now.as_nanos().saturating_sub(age.as_nanos()));
                let age = books.now.since(planned);
                let plan = plan(next, toward, packets, size, top_up_of, bdp, rtt_ms);
                next += 1;
                judge(&mut gate, &mut books, &plan, toward, (planned, age), clock);
            }
            Operation::Effect { toward, helped } => {
                gate.effect(DESTINATIONS[usize::from(toward) % DESTINATIONS.len()].0, helped);
            }
            Operation::Acknowledged {
                toward,
                other_source,
                bytes,
            } => {
                let toward = usize::from(toward) % DESTINATIONS.len();
                let flow = flow(toward, other_source);
                let bytes = u64::from(bytes % 200_000);
                gate.acknowledged(flow, bytes, clock);
                books.now = books.now.max(clock);
                if books.allowed(toward) && books.source_allowed(flow.src.ip()) {
                    books.seen[toward].earned += bytes;
                }
            }
            Operation::Reset { toward, other_source } => {
                gate.reset(flow(usize::from(toward) % DESTINATIONS.len(), other_source), clock);
                books.now = books.now.max(clock);
            }
            Operation::Settings(settings) => {
                books.settings = settings.read();
                books.least_pause = books.least_pause.min(books.settings.cool_down);
                gate.set(books.settings.clone());
            }
            Operation::Kill(killed) => {
                books.killed = killed;
                gate.set_killed(killed);
            }
            Operation::Forget => {
                gate.forget_flushes();
                books.seen.iter_mut().for_each(|seen| seen.flush = None);
            }
        }
        for (seen, (address, _)) in books.seen.iter().zip(DESTINATIONS) {
            assert!(
                gate.credit_left(address) <= seen.earned,
                "credit for what was not acknowledged"
            );
        }
        let left = gate.budget_left();
        let limit = books.settings.bytes_per_minute;
        assert!(
            left <= limit.saturating_sub(books.within(MINUTE)),
            "the budget counts too little"
        );
        assert!(
            left >= limit.saturating_sub(books.within(MINUTE + CELL)),
            "the budget counts too much"
        );
    }
}

const NONE: Settings = Settings {
    active: true,
    allow: 0,
    from: false,
    per_minute: 0,
    per_flush: 0,
    thousandths: 0,
    cool_down_ms: 0,
    max_cool_down_ms: 0,
};

fn after(clock: Time, gap: &Gap) -> Time {
    match *gap {
        Gap::None => clock,
        Gap::Millis(n) => clock + Duration::from_millis(u64::from(n)),
        Gap::Tenths(n) => clock + Duration::from_millis(100 * u64::from(n)),
        Gap::Seconds(n) => clock + Duration::from_secs(u64::from(n)),
        Gap::Back(n) => Time::from_nanos(clock.as_nanos().saturating_sub(u64::from(n) * 50_000_000)),
    }
}

fn flow(toward: usize, other_source: bool) -> FlowKey {
    FlowKey {
        src: SocketAddr::new(SOURCES[usize::from(other_source)].0, 80),
        dst: SocketAddr::new(DESTINATIONS[toward].0, 5000),
    }
}

fn plan(id: u64, toward: usize, packets: u16, size: u16, top_up_of: Option<u8>, bdp: u32, rtt_ms: u16) -> FlushPlan {
    let to = DESTINATIONS[toward].0;
    let max_rtt = Duration::from_millis(u64::from(rtt_ms));
    FlushPlan {
        id: FlushId(id),
        flow: flow(toward, packets >> 15 == 1),
        toward: to,
        packets: u32::from(packets % 64),
        size: Bytes::new(u64::from(size)),
        // Of one of the last flushes.
        reason: top_up_of.map_or(
            Reason::Threshold {
                least: max_rtt,
                trigger: max_rtt,
            },
            |back| Reason::TopUp {
                of: FlushId(id.saturating_sub(u64::from(back % 8))),
            },
        ),
        estimate: Estimate {
            throughput: Rate::from_mbit(5),
            base: max_rtt,
            rtt: max_rtt,
            max_rtt,
            bdp: Bytes::new(u64::from(bdp % 200_000)),
        },
    }
}

fn judge(gate: &mut Gate, books: &mut Books, plan: &FlushPlan, toward: usize, made: (Time, Duration), clock: Time) {
    let (planned, age) = made;
    match gate.judge(plan, planned, clock) {
        Answer::Allowed => books.passed(plan, toward, age),
        Answer::Refused { because, otherwise } => {
            let vetoed = matches!(because, Refusal::Killed | Refusal::Passive);
            assert_eq!(vetoed, books.killed || !books.settings.active, "{because:?}");
            assert!(vetoed || otherwise.is_none());
            if let Some((asked, most)) = because.numbers() {
                assert!(
                    matches!(because, Refusal::CoolDown(_)) || asked > most,
                    "{because:?} breaks no rule"
                );
            }
        }
    }
}
