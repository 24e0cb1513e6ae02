//! Stations in groups: Algorithm 3 over groups, and within each group over its stations.

use crate::{AccessCategory, AirtimeScheduler, Driver, GroupSpec, PeerSpec};
use sojourn_units::{Duration, Time};

/// The longest time of a cap whose airtime may be used at once.
const WINDOW: Duration = Duration::from_millis(100);

/// A token bucket of airtime: it fills at `cap` of real time, to what comes in 100 ms, and what the group's stations
/// use is taken out. An aggregate may be built while there is something in it, so the bucket goes below zero by what
/// was built and is paid back before the next. Over t the group uses at most `cap` (t + 100 ms) and what the hardware
/// queue holds.
///
/// There is no lower bound: what a group sends by itself counts too, and cannot be prevented.
#[derive(Clone, Debug)]
struct Cap {
    /// Parts in a million of real time.
    ppm: i64,
    /// In a millionth of a nanosecond.
    tokens: i64,
    at: Time,
    closed: bool,
}

impl Cap {
    fn new(share: f64) -> Self {
        let ppm = (share * 1e6).round() as i64;
        Self {
            ppm,
            tokens: ppm * WINDOW.as_nanos().cast_signed(),
            at: Time::ZERO,
            closed: false,
        }
    }

    fn charge(&mut self, airtime: Duration, now: Time) {
        self.fill(now);
        self.tokens = self
            .tokens
            .saturating_sub(airtime.as_nanos().cast_signed().saturating_mul(1_000_000));
        self.closed = self.tokens <= 0;
    }

    fn fill(&mut self, now: Time) {
        let elapsed = now.since(self.at).as_nanos().cast_signed();
        self.at = now;
        let most = self.ppm * WINDOW.as_nanos().cast_signed();
        self.tokens = self.tokens.saturating_add(elapsed.saturating_mul(self.ppm)).min(most);
    }

    /// When there is something in it again.
    fn opens(&self) -> Option<Time> {
        let wait = (1 - self.tokens)
            .max(0)
            .cast_unsigned()
            .div_ceil(self.ppm.cast_unsigned());
        self.closed.then(|| self.at + Duration::from_nanos(wait))
    }
}

/// Where a station is scheduled.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its group, or itself if it has none.
    unit: u16,
    /// Its place in the group.
    member: Option<u16>,
}

#[derive(Clone, Debug)]
struct Group {
    scheduler: AirtimeScheduler,
    members: Vec<u16>,
    cap: Option<Cap>,
}

/// Groups take turns by their airtime, and the stations of the group whose turn it is by theirs: Algorithm 3 twice,
/// with a group as a station whose aggregates its own scheduler builds. A station without a group is on a level with
/// the groups.
///
/// Source: seed 002 section 4.2, "Grouping queues and scheduling the groups".
///
/// Cost: beyond that of Algorithm 3 at both levels, whether a group has something to send takes a step for each of
/// its stations.
#[derive(Clone, Debug)]
pub(super) struct GroupScheduler {
    /// The groups, then the stations without one.
    units: AirtimeScheduler,
    groups: Vec<Group>,
    /// By station.
    places: Vec<Place>,
    /// The station of each unit after the groups.
    alone: Vec<u16>,
}

impl GroupScheduler {
    pub(super) fn new(quantum: Duration, specs: &[GroupSpec], peers: &[PeerSpec]) -> Self {
        let mut weights: Vec<u32> = specs.iter().map(|group| group.weight).collect();
        let mut members: Vec<Vec<u16>> = vec![Vec::new(); specs.len()];
        let (mut alone, mut places) = (Vec::new(), Vec::new());
        for (station, peer) in (0_u16..).zip(peers) {
            let place = if let Some(unit) = peer.group {
                let group = &mut members[usize::from(unit)];
                group.push(station);
                Place {
                    unit,
                    member: Some((group.len() - 1) as u16),
                }
            } else {
                weights.push(peer.weight);
                alone.push(station);
                Place {
                    unit: (weights.len() - 1) as u16,
                    member: None,
                }
            };
            places.push(place);
        }
        let group = |(spec, members): (&GroupSpec, Vec<u16>)| {
            let weights: Vec<u32> = members.iter().map(|&s| peers[usize::from(s)].weight).collect();
            Group {
                scheduler: AirtimeScheduler::new(quantum, &weights),
                members,
                cap: spec.cap.map(Cap::new),
            }
        };
        Self {
            units: AirtimeScheduler::new(quantum, &weights),
            groups: specs.iter().zip(members).map(group).collect(),
            places,
            alone,
        }
    }

    pub(super) fn schedule(&mut self, category: AccessCategory, driver: &mut impl Driver) {
        let mut units = Units {
            groups: &mut self.groups,
            alone: &self.alone,
            driver,
            waits: false,
        };
        self.units.schedule(category, &mut units);
    }

    #[inline]
    pub(super) fn wake(&mut self, station: u16, category: AccessCategory) {
        let Place { unit, member } = self.places[usize::from(station)];
        if let Some(member) = member {
            self.groups[usize::from(unit)].scheduler.wake(member, category);
        }
        self.units.wake(unit, category);
    }

    pub(super) fn charge(&mut self, station: u16, category: AccessCategory, airtime: Duration, now: Time) {
        let Place { unit, member } = self.places[usize::from(station)];
        if let Some(member) = member {
            let group = &mut self.groups[usize::from(unit)];
            group.scheduler.charge(member, category, airtime);
            if let Some(cap) = &mut group.cap {
                cap.charge(airtime, now);
            }
        }
        self.units.charge(unit, category, airtime);
    }

    /// When the next group that has used up its cap may send again.
    pub(super) fn due(&self) -> Option<Time> {
        self.groups.iter().filter_map(|group| group.cap.as_ref()?.opens()).min()
    }

    /// Groups whose time has come may send again.
    pub(super) fn open(&mut self, now: Time) {
        for (unit, group) in (0..).zip(&mut self.groups) {
            if let Some(cap) = &mut group.cap
                && cap.opens().is_some_and(|at| at <= now)
            {
                cap.fill(now);
                cap.closed = false;
                for category in AccessCategory::ALL {
                    self.units.wake(unit, category);
                }
            }
        }
    }

    pub(super) fn set_weight(&mut self, station: u16, weight: u32) {
        let Place { unit, member } = self.places[usize::from(station)];
        match member {
            Some(member) => self.groups[usize::from(unit)].scheduler.set_weight(member, weight),
            None => self.units.set_weight(unit, weight),
        }
    }

    /// The station's own, not its group's.
    pub(super) fn credit(&self, station: u16, category: AccessCategory) -> i64 {
        let Place { unit, member } = self.places[usize::from(station)];
        match member {
            Some(member) => self.groups[usize::from(unit)].scheduler.credit(member, category),
            None => self.units.credit(unit, category),
        }
    }
}

/// Groups as stations.
struct Units<'a, D> {
    groups: &'a mut [Group],
    alone: &'a [u16],
    driver: &'a mut D,
    /// A group has the turn, and in it a station that waits for its Block Ack window.
    waits: bool,
}

impl<D: Driver> Driver for Units<'_, D> {
    fn hardware_queue_is_full(&self, category: AccessCategory) -> bool {
        self.waits || self.driver.hardware_queue_is_full(category)
    }

    /// A group that has used up its cap has nothing to send.
    fn queue_is_empty(&self, unit: u16, category: AccessCategory) -> bool {
        match self.groups.get(usize::from(unit)) {
            Some(group) => {
                let closed = group.cap.as_ref().is_some_and(|cap| cap.closed);
                closed || group.members.iter().all(|&s| self.driver.queue_is_empty(s, category))
            }
            None => self
                .driver
                .queue_is_empty(self.alone[usize::from(unit) - self.groups.len()], category),
        }
    }

    /// A group has room if one of its stations that have something to send has.
    fn has_room(&self, unit: u16, category: AccessCategory) -> bool {
        let has_room = |s: u16| self.driver.has_room(s, category);
        match self.groups.get(usize::from(unit)) {
            Some(group) => {
                let mut waiting = group
                    .members
                    .iter()
                    .filter(|&&s| !self.driver.queue_is_empty(s, category))
                    .peekable();
                waiting.peek().is_none() || waiting.any(|&s| has_room(s))
            }
            None => has_room(self.alone[usize::from(unit) - self.groups.len()]),
        }
    }

    fn window_is_closed(&self, unit: u16, category: AccessCategory) -> bool {
        let alone = usize::from(unit).checked_sub(self.groups.len());
        alone.is_some_and(|alone| self.driver.window_is_closed(self.alone[alone], category))
    }

    fn build_aggregate(&mut self, unit: u16, category: AccessCategory) {
        let groups = self.groups.len();
        match self.groups.get_mut(usize::from(unit)) {
            Some(group) => {
                let mut turn = Turn {
                    members: &group.members,
                    driver: self.driver,
                    built: false,
                };
                group.scheduler.schedule(category, &mut turn);
                self.waits = !turn.built;
            }
            None => self
                .driver
                .build_aggregate(self.alone[usize::from(unit) - groups], category),
        }
    }
}

/// A group's turn: one aggregate for one of its stations.
struct Turn<'a, D> {
    members: &'a [u16],
    driver: &'a mut D,
    built: bool,
}

impl<D: Driver> Driver for Turn<'_, D> {
    fn hardware_queue_is_full(&self, _: AccessCategory) -> bool {
        self.built
    }

    fn queue_is_empty(&self, member: u16, category: AccessCategory) -> bool {
        self.driver.queue_is_empty(self.members[usize::from(member)], category)
    }

    fn has_room(&self, member: u16, category: AccessCategory) -> bool {
        self.driver.has_room(self.members[usize::from(member)], category)
    }

    fn window_is_closed(&self, member: u16, category: AccessCategory) -> bool {
        self.driver
            .window_is_closed(self.members[usize::from(member)], category)
    }

    fn build_aggregate(&mut self, member: u16, category: AccessCategory) {
        self.built = true;
        self.driver.build_aggregate(self.members[usize::from(member)], category);
    }
}
