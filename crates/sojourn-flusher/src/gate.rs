//! What stands between a proposal of the core and the wire.
//!
//! The core proposes, the gate disposes. It is pure: it is told the time and what the plan was computed from, and it
//! answers. It trusts none of that: an estimate may be the work of somebody who forges acknowledgements, and the time
//! may step. Whatever it is told,
//!
//! - nothing passes unless it was set active, and nothing after it was killed;
//! - nothing passes but to unicast addresses inside the allow-list, which is empty unless filled, and, where a list
//!   of sources is set, for flows from these only;
//! - nobody is sent more bytes than others were seen to send to the same address, in packets that were captured and
//!   then acknowledged from there ([`Credit`]);
//! - no 60 seconds of its time see more bytes pass than the budget, no flush is larger than its own, and none is more
//!   than a multiple of what the path was measured to hold; a packet counts with no fewer bytes than a full one has;
//! - after a flush its destination is left alone for a while, and for longer each time that flushing did not help.
//!
//! A plan that breaks a rule is refused, never made smaller. Source: seed 003 has no such safety; section 6.5 asks
//! for it.
//!
//! The daemon has one always, a simulation if it is asked to: both judge by this code.

mod budget;
mod credit;
mod effect;
#[cfg(test)]
mod tests;

pub use budget::Budget;
pub use credit::{CREDIT_AGE, CREDITED_FLOWS, Credit};

use effect::Effects;

use crate::{Event, FlowKey, FlushId, FlushPlan, Method, Reason, Verdict};
use ipnet::IpNet;
use sojourn_units::{Duration, Time};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Largest `bdp_multiple`, in thousandths: four times what the path was measured to hold.
pub const MOST_BDP_THOUSANDTHS: u32 = 4_000;
/// Largest budgets, bytes.
pub const MOST_BYTES_PER_MINUTE: u64 = 1_000_000_000;
/// Largest flush, bytes.
pub const MOST_BYTES_PER_FLUSH: u64 = 16_000_000;
/// Longest RTT that a plan may be computed from.
pub const LONGEST_RTT: Duration = Duration::from_secs(60);
/// Shortest cool-down.
pub const LEAST_COOL_DOWN: Duration = Duration::from_millis(100);
/// A plan that is acted on later than this after it was made is too old.
pub const STALE: Duration = Duration::from_millis(500);
/// A packet counts with no fewer bytes than this: one that is small takes a place in a buffer that counts packets, as
/// a large one.
pub const LEAST_CHARGE: u64 = 1500;
/// Destinations remembered; more are refused.
pub const DESTINATIONS: usize = 4096;

/// What the gate lets through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateSettings {
    /// Whether anything may pass at all.
    pub active: bool,
    /// Prefixes of destinations; empty for none.
    pub allow: Vec<IpNet>,
    /// Prefixes of the senders of the data that is watched; empty for all.
    pub from: Vec<IpNet>,
    /// Bytes in any 60 seconds, IP headers included.
    pub bytes_per_minute: u64,
    /// Bytes of one flush with its top-ups.
    pub bytes_per_flush: u64,
    /// A flush is at most this many thousandths of the measured throughput times the largest measured RTT.
    pub bdp_thousandths: u32,
    /// A plan computed from a larger RTT than this is refused.
    pub max_rtt: Duration,
    /// How long a destination is left alone after a flush.
    pub cool_down: Duration,
    /// How long that may become.
    pub max_cool_down: Duration,
}

impl GateSettings {
    /// As wide as a configuration of the daemon can be, towards `allow`: what it refuses, no configuration lets
    /// through.
    #[must_use]
    pub fn widest(allow: Vec<IpNet>) -> Self {
        Self {
            active: true,
            allow,
            from: Vec::new(),
            bytes_per_minute: MOST_BYTES_PER_MINUTE,
            bytes_per_flush: MOST_BYTES_PER_FLUSH,
            bdp_thousandths: MOST_BDP_THOUSANDTHS,
            max_rtt: LONGEST_RTT,
            cool_down: LEAST_COOL_DOWN,
            max_cool_down: LEAST_COOL_DOWN,
        }
    }
}

impl Default for GateSettings {
    fn default() -> Self {
        Self {
            active: false,
            allow: Vec::new(),
            from: Vec::new(),
            bytes_per_minute: 3_000_000,
            bytes_per_flush: 600_000,
            bdp_thousandths: 2_000,
            max_rtt: Duration::from_secs(5),
            cool_down: Duration::from_secs(1),
            max_cool_down: Duration::from_secs(600),
        }
    }
}

/// Which rule a plan breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The gate is not active.
    Passive,
    /// It was switched off.
    Killed,
    /// The plan is older than [`STALE`].
    Stale,
    /// Not a unicast address.
    NotUnicast,
    /// Not in the allow-list.
    NotAllowed,
    /// The data does not come from one of the allowed sources.
    SourceNotAllowed,
    /// No packet, or packets of a length that IP cannot have.
    BadPlan,
    /// More than a flush may have: bytes asked, most.
    BytesPerFlush(u64, u64),
    /// More than the multiple of what the path was measured to hold: bytes asked, most.
    BdpMultiple(u64, u64),
    /// The RTT is longer than a plan may be computed from: nanoseconds, most.
    Rtt(u64, u64),
    /// More than the destination has acknowledged: bytes asked, bytes left.
    Unacknowledged(u64, u64),
    /// The destination was flushed lately: nanoseconds left.
    CoolDown(u64),
    /// It would exceed the budget of the minute: bytes asked, bytes left.
    Budget(u64, u64),
    /// Too many destinations are cooling down.
    Destinations,
    /// A top-up of a flush that was not let through, or is over.
    NoFlush,
}

impl Refusal {
    /// Its name in lines and metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passive => "passive",
            Self::Killed => "killed",
            Self::Stale => "stale",
            Self::NotUnicast => "not_unicast",
            Self::NotAllowed => "not_allowed",
            Self::SourceNotAllowed => "source_not_allowed",
            Self::BadPlan => "bad_plan",
            Self::BytesPerFlush(..) => "bytes_per_flush",
            Self::BdpMultiple(..) => "bdp_multiple",
            Self::Rtt(..) => "max_rtt",
            Self::Unacknowledged(..) => "unacknowledged",
            Self::CoolDown(_) => "cool_down",
            Self::Budget(..) => "bytes_per_minute",
            Self::Destinations => "destinations",
            Self::NoFlush => "no_flush",
        }
    }

    /// The number asked for and the most allowed (of a cool-down: the nanoseconds left, and 0).
    #[must_use]
    pub const fn numbers(self) -> Option<(u64, u64)> {
        match self {
            Self::BytesPerFlush(a, b)
            | Self::BdpMultiple(a, b)
            | Self::Rtt(a, b)
            | Self::Unacknowledged(a, b)
            | Self::Budget(a, b) => Some((a, b)),
            Self::CoolDown(left) => Some((left, 0)),
            _ => None,
        }
    }
}

/// The gate's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It may be sent; its bytes are taken from the budget.
    Allowed,
    /// It may not.
    Refused {
        /// The first rule that it breaks.
        because: Refusal,
        /// If that is only [`Refusal::Passive`] or [`Refusal::Killed`]: the first rule that it would break otherwise.
        otherwise: Option<Refusal>,
    },
}

/// A destination that was flushed.
#[derive(Clone, Copy, Debug)]
struct Destination {
    granted: Time,
    until: Time,
    pause: Duration,
    /// The last flush, its bytes with top-ups, and the most they may become.
    flush: Option<FlushId>,
    spent: u64,
    most: u64,
    /// Top-ups are of a flush that is younger than this.
    top_ups_until: Time,
}

/// The gate.
#[derive(Debug)]
pub struct Gate {
    settings: GateSettings,
    budget: Budget,
    credit: Credit,
    destinations: BTreeMap<IpAddr, Destination>,
    /// While the table is full: until when nobody can be forgotten.
    full_until: Option<Time>,
    killed: bool,
    /// The latest time it was told: it never goes back.
    now: Time,
}

impl Gate {
    /// A gate; the settings are those of a valid configuration.
    #[must_use]
    pub fn new(settings: GateSettings) -> Self {
        Self {
            budget: Budget::new(settings.bytes_per_minute),
            settings,
            credit: Credit::default(),
            destinations: BTreeMap::new(),
            full_until: None,
            killed: false,
            now: Time::ZERO,
        }
    }

    /// Takes other settings. What was spent stays spent, and who is left alone stays so.
    pub fn set(&mut self, settings: GateSettings) {
        self.budget.set_limit(settings.bytes_per_minute);
        self.settings = settings;
        self.full_until = None;
    }

    /// The settings.
    #[must_use]
    pub const fn settings(&self) -> &GateSettings {
        &self.settings
    }

    /// Switches it off, or on again if it had been.
    pub fn set_killed(&mut self, killed: bool) {
        self.killed = killed;
    }

    /// Bytes that may still pass now.
    #[must_use]
    pub fn budget_left(&self) -> u64 {
        self.budget.left(self.now)
    }

    /// The receiver of `flow` has acknowledged `bytes` of packets to it that were captured, each of them for the
    /// first time.
    pub fn acknowledged(&mut self, flow: FlowKey, bytes: u64, at: Time) {
        if self.may_be_flushed(flow).is_ok() {
            self.credit.earn(flow, bytes, at);
        }
    }

    /// One end of `flow` has reset the connection.
    pub fn reset(&mut self, flow: FlowKey, at: Time) {
        if self.may_be_flushed(flow).is_ok() {
            self.credit.reset(flow, at);
        }
    }

    /// Bytes that may pass towards this destination by what it has acknowledged.
    #[must_use]
    pub fn credit_left(&mut self, toward: IpAddr) -> u64 {
        self.credit.left(toward, self.now)
    }

    fn may_be_flushed(&self, flow: FlowKey) -> Result<(), Refusal> {
        permitted(flow.dst.ip(), &self.settings.allow)?;
        let (source, from) = (flow.src.ip(), &self.settings.from);
        if from.is_empty() || from.iter().any(|net| net.contains(&source)) {
            Ok(())
        } else {
            Err(Refusal::SourceNotAllowed)
        }
    }

    /// The core was begun anew, so that its numbers of flushes begin again: none of the old ones has top-ups any
    /// more.
    pub fn forget_flushes(&mut self) {
        for destination in self.destinations.values_mut() {
            destination.flush = None;
        }
    }

    /// Judges a plan that was made at `planned`. If it is allowed, it counts as sent.
    pub fn judge(&mut self, plan: &FlushPlan, planned: Time, now: Time) -> Answer {
        self.now = self.now.max(now);
        let broken = self.check(plan, planned).err();
        let veto = if self.killed {
            Some(Refusal::Killed)
        } else if !self.settings.active {
            Some(Refusal::Passive)
        } else {
            None
        };
        if let Some(because) = veto.or(broken) {
            let otherwise = if veto.is_some() { broken } else { None };
            return Answer::Refused { because, otherwise };
        }
        self.grant(plan);
        Answer::Allowed
    }

    /// How a flush towards this destination worked out.
    pub fn effect(&mut self, toward: IpAddr, helped: bool) {
        self.full_until = None;
        let settings = &self.settings;
        let Some(destination) = self.destinations.get_mut(&toward) else {
            return;
        };
        destination.pause = if helped {
            settings.cool_down
        } else {
            destination.pause.saturating_mul(2).min(settings.max_cool_down)
        };
        destination.until = destination.granted + destination.pause;
    }

    fn check(&mut self, plan: &FlushPlan, planned: Time) -> Result<(), Refusal> {
        let settings = &self.settings;
        let bytes = planned_bytes(plan).ok_or(Refusal::BadPlan)?;
        if self.now.since(planned) > STALE {
            return Err(Refusal::Stale);
        }
        permitted(plan.toward, &settings.allow)?;
        self.may_be_flushed(plan.flow)?;
        if plan.estimate.max_rtt > settings.max_rtt {
            let (ns, most) = (plan.estimate.max_rtt.as_nanos(), settings.max_rtt.as_nanos());
            return Err(Refusal::Rtt(ns, most));
        }
        let known = self.destinations.get(&plan.toward);
        let before = if let Reason::TopUp { of } = plan.reason {
            let open = known.filter(|d| d.flush == Some(of) && self.now <= d.top_ups_until);
            open.ok_or(Refusal::NoFlush)?.spent
        } else {
            // At the end of time nothing cools down any more.
            if let Some(d) = known.filter(|d| self.now < d.until || d.until == Time::MAX) {
                return Err(Refusal::CoolDown(d.until.since(self.now).as_nanos()));
            }
            0
        };
        let total = bytes.saturating_add(before);
        if total > settings.bytes_per_flush {
            return Err(Refusal::BytesPerFlush(total, settings.bytes_per_flush));
        }
        let most = multiple(plan.estimate.bdp.get(), settings.bdp_thousandths);
        let most = match (plan.reason, known) {
            (Reason::TopUp { .. }, Some(d)) => most.min(d.most),
            _ => most,
        };
        if total > most {
            return Err(Refusal::BdpMultiple(total, most));
        }
        let left = self.budget.left(self.now);
        if bytes > left {
            return Err(Refusal::Budget(bytes, left));
        }
        let (length, credit) = (length(plan), self.credit.left(plan.toward, self.now));
        if length > credit {
            return Err(Refusal::Unacknowledged(length, credit));
        }
        if !self.destinations.contains_key(&plan.toward) && !self.make_room() {
            return Err(Refusal::Destinations);
        }
        Ok(())
    }

    /// Whether another destination can be remembered; forgets those of which nothing need be known any more if not.
    fn make_room(&mut self) -> bool {
        if self.destinations.len() < DESTINATIONS {
            return true;
        }
        if self.full_until.is_some_and(|until| self.now <= until) {
            return false;
        }
        let patience = self.settings.max_cool_down.saturating_mul(2);
        let known_until = |d: &Destination| d.until.max(d.granted + patience);
        self.destinations.retain(|_, d| self.now <= known_until(d));
        self.full_until = self.destinations.values().map(known_until).min();
        self.destinations.len() < DESTINATIONS
    }

    fn grant(&mut self, plan: &FlushPlan) {
        let bytes = planned_bytes(plan).expect("it was checked");
        self.budget.spend(bytes, self.now);
        self.credit.spend(plan.toward, length(plan), self.now);
        if let Reason::TopUp { .. } = plan.reason {
            if let Some(destination) = self.destinations.get_mut(&plan.toward) {
                destination.spent += bytes;
            }
            return;
        }
        let pause = self
            .destinations
            .get(&plan.toward)
            .map_or(self.settings.cool_down, |d| d.pause);
        let destination = Destination {
            granted: self.now,
            until: self.now + pause,
            pause,
            flush: Some(plan.id),
            spent: bytes,
            most: multiple(plan.estimate.bdp.get(), self.settings.bdp_thousandths),
            // The path cannot answer before one round trip, and the core may wait another.
            top_ups_until: self.now + self.settings.max_rtt,
        };
        self.destinations.insert(plan.toward, destination);
    }
}

/// A gate that finds out by itself whether flushes help: from the core's events, and where the core does not judge
/// ([`Method::Thesis`]) from the samples among them.
#[derive(Debug)]
pub struct Watchman {
    /// What it judges by.
    pub gate: Gate,
    effects: Effects,
}

impl Watchman {
    /// Before a core of this method, whose events are on.
    #[must_use]
    pub fn new(settings: GateSettings, method: Method) -> Self {
        Self {
            gate: Gate::new(settings),
            effects: Effects::new(method == Method::Thesis),
        }
    }

    /// The core was begun anew, of this method.
    pub fn begin_anew(&mut self, method: Method) {
        self.effects = Effects::new(method == Method::Thesis);
        self.gate.forget_flushes();
    }

    /// What the core has told.
    pub fn event(&mut self, event: &Event) {
        match *event {
            Event::Acknowledged { at, flow, bytes } => self.gate.acknowledged(flow, bytes, at),
            Event::Reset { at, flow } => self.gate.reset(flow, at),
            Event::Sample { at, flow, raw, .. } => self.effects.sample(flow.dst.ip(), at, raw),
            Event::Effect { id, verdict, .. } => {
                if let Some(toward) = self.effects.toward(id) {
                    match verdict {
                        Verdict::Helped => self.gate.effect(toward, true),
                        Verdict::TooSmall | Verdict::Useless => self.gate.effect(toward, false),
                        Verdict::Unknown => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// Judges a plan that was made at `planned`. If it is allowed, it counts as sent at `now`.
    pub fn judge(&mut self, plan: &FlushPlan, planned: Time, now: Time) -> Answer {
        if let Some(helped) = self.effects.verdict(plan) {
            self.gate.effect(plan.toward, helped);
        }
        let answer = self.gate.judge(plan, planned, now);
        if answer == Answer::Allowed {
            self.effects.sent(plan, now);
        }
        answer
    }
}

/// Bytes that a plan is charged with; `None` for what is no burst of IP packets.
fn planned_bytes(plan: &FlushPlan) -> Option<u64> {
    // 48 bytes are an IPv6 and a UDP header.
    let sound = plan.packets > 0 && (48..=65_535).contains(&plan.size.get());
    sound.then(|| u64::from(plan.packets) * plan.size.get().max(LEAST_CHARGE))
}

/// Bytes that a plan sends, IP headers included.
fn length(plan: &FlushPlan) -> u64 {
    u64::from(plan.packets) * plan.size.get()
}

fn multiple(bdp: u64, thousandths: u32) -> u64 {
    u64::try_from(u128::from(bdp) * u128::from(thousandths) / 1000).unwrap_or(u64::MAX)
}

/// Whether packets may go to `address` at all.
///
/// # Errors
/// [`Refusal::NotUnicast`] or [`Refusal::NotAllowed`].
pub fn permitted(address: IpAddr, allow: &[IpNet]) -> Result<(), Refusal> {
    let unicast = match address {
        IpAddr::V4(v4) => !(v4.is_multicast() || v4.is_broadcast() || v4.is_unspecified() || v4.octets()[0] == 0),
        // An IPv4 address in an IPv6 one is never on a wire, and would be sent to the IPv4 address.
        IpAddr::V6(v6) => !(v6.is_multicast() || v6.is_unspecified() || v6.to_ipv4_mapped().is_some()),
    };
    if !unicast {
        return Err(Refusal::NotUnicast);
    }
    // The first and last address of a subnet of IPv4 reach all of it.
    let among = |net: &IpNet| {
        net.contains(&address)
            && match net {
                IpNet::V4(v4) if v4.prefix_len() <= 30 => {
                    address != IpAddr::V4(v4.broadcast()) && address != IpAddr::V4(v4.network())
                }
                _ => true,
            }
    };
    if allow.iter().any(among) {
        Ok(())
    } else {
        Err(Refusal::NotAllowed)
    }
}
