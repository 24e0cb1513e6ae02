//! The airtime scheduler with policies: groups, minimum rates, credits, late accounts, and which of fairness and
//! priority goes first.

mod accounting;
mod credit;
mod groups;
mod min_rate;

pub use credit::CreditScheduler;

use crate::{AccessCategory, AirtimeScheduler, Driver, NodeSpec, PeerSpec, QosOrder, SchedulerKind};
use accounting::{Accounting, Charge};
use groups::GroupScheduler;
use min_rate::MinRates;
use sojourn_units::{Duration, Time};

/// A driver that can say whether all access categories together have as many aggregates in the hardware as one may
/// have.
pub(crate) trait SharedDriver: Driver {
    fn shared_queue_is_full(&self) -> bool;
}

/// The lists and deficits that all access categories share if fairness goes first.
const SHARED: AccessCategory = AccessCategory::BestEffort;

#[derive(Clone, Debug)]
enum Core {
    Deficit(AirtimeScheduler),
    Groups(GroupScheduler),
    Credit(CreditScheduler),
}

impl Core {
    fn schedule(&mut self, category: AccessCategory, driver: &mut impl Driver) {
        match self {
            Self::Deficit(s) => s.schedule(category, driver),
            Self::Groups(s) => s.schedule(category, driver),
            Self::Credit(s) => s.schedule(category, driver),
        }
    }

    fn set_weight(&mut self, station: u16, weight: u32) {
        match self {
            Self::Deficit(s) => s.set_weight(station, weight),
            Self::Groups(s) => s.set_weight(station, weight),
            Self::Credit(s) => s.set_weight(station, weight),
        }
    }
}

/// Which station builds the next aggregate, under an access point's policies. Stations go by their place among the
/// peers.
///
/// Each policy is a layer of its own around Algorithm 3, which stays as it is: groups are a recursion of it, a
/// minimum rate sets a weight, late accounts hold charges back, and fairness before priority shows it one list where
/// there were four.
#[derive(Clone, Debug)]
pub(crate) struct PolicyScheduler {
    core: Core,
    qos: QosOrder,
    accounting: Accounting,
    min_rates: Option<MinRates>,
}

impl PolicyScheduler {
    /// `None` if neither node nor peers have a policy for the scheduler.
    pub(crate) fn new(spec: &NodeSpec, peers: &[PeerSpec]) -> Option<Self> {
        let policies = &spec.policies;
        let min_rates = MinRates::new(peers);
        let plain = policies.groups.is_empty()
            && policies.scheduler == SchedulerKind::Deficit
            && policies.accounting_delay.is_zero()
            && policies.qos == QosOrder::Priority
            && min_rates.is_none();
        if plain {
            return None;
        }
        let weights: Vec<u32> = peers.iter().map(|p| p.weight).collect();
        let core = if !policies.groups.is_empty() {
            Core::Groups(GroupScheduler::new(spec.airtime_quantum, &policies.groups, peers))
        } else if policies.scheduler == SchedulerKind::Credit {
            Core::Credit(CreditScheduler::new(&weights))
        } else {
            Core::Deficit(AirtimeScheduler::new(spec.airtime_quantum, &weights))
        };
        Some(Self {
            core,
            qos: policies.qos,
            accounting: Accounting::new(policies.accounting_delay),
            min_rates,
        })
    }

    fn category(&self, category: AccessCategory) -> AccessCategory {
        match self.qos {
            QosOrder::Priority => category,
            QosOrder::Fairness => SHARED,
        }
    }

    /// As [`AirtimeScheduler::wake`].
    #[inline]
    pub(crate) fn wake(&mut self, station: u16, category: AccessCategory) {
        let category = self.category(category);
        match &mut self.core {
            Core::Deficit(s) => s.wake(station, category),
            Core::Groups(s) => s.wake(station, category),
            Core::Credit(s) => s.wake(station, category),
        }
    }

    /// The station has used airtime. It is charged when the time comes.
    #[inline]
    pub(crate) fn charge(&mut self, station: u16, category: AccessCategory, airtime: Duration) {
        let category = self.category(category);
        self.accounting.add(Charge {
            station,
            category,
            airtime,
        });
        if let Some(min_rates) = &mut self.min_rates {
            min_rates.used(station, airtime);
        }
    }

    /// So many bytes have reached the station.
    #[inline]
    pub(crate) fn arrived(&mut self, station: u16, bytes: u64) {
        if let Some(min_rates) = &mut self.min_rates {
            min_rates.arrived(station, bytes);
        }
    }

    /// As [`AirtimeScheduler::schedule`].
    pub(crate) fn schedule(&mut self, category: AccessCategory, now: Time, driver: &mut impl SharedDriver) {
        self.settle(now);
        if let Some(min_rates) = &mut self.min_rates {
            let core = &mut self.core;
            let has_data = |station| has_data(driver, station);
            min_rates.adapt(now, has_data, |station, weight| core.set_weight(station, weight));
        }
        match self.qos {
            QosOrder::Priority => self.core.schedule(category, driver),
            QosOrder::Fairness => self.core.schedule(SHARED, &mut FairnessFirst(driver)),
        }
    }

    /// When stations may send again whatever happens until then.
    #[inline]
    pub(crate) fn due(&self) -> Option<Time> {
        match &self.core {
            Core::Groups(s) => s.due(),
            Core::Deficit(_) | Core::Credit(_) => None,
        }
    }

    /// At the time of [`PolicyScheduler::due`]; all categories are to be scheduled then.
    pub(crate) fn advance(&mut self, now: Time) {
        self.settle(now);
        if let Core::Groups(s) = &mut self.core {
            s.open(now);
        }
    }

    /// Charges what is to be charged by now.
    fn settle(&mut self, now: Time) {
        while let Some(Charge {
            station,
            category,
            airtime,
        }) = self.accounting.next(now)
        {
            match &mut self.core {
                Core::Deficit(s) => s.charge(station, category, airtime),
                Core::Groups(s) => s.charge(station, category, airtime, now),
                Core::Credit(s) => s.charge(station, category, airtime),
            }
        }
    }

    /// What the station may still use, in nanoseconds.
    pub(crate) fn credit(&self, station: u16, category: AccessCategory) -> i64 {
        let category = self.category(category);
        match &self.core {
            Core::Deficit(s) => s.credit(station, category),
            Core::Groups(s) => s.credit(station, category),
            Core::Credit(s) => s.credit(station, category),
        }
    }

    /// The station's weight of the moment.
    pub(crate) fn weight(&self, station: u16) -> Option<u32> {
        self.min_rates.as_ref()?.weight(station)
    }
}

fn has_data(driver: &impl Driver, station: u16) -> bool {
    AccessCategory::ALL.iter().any(|&c| !driver.queue_is_empty(station, c))
}

/// Shows a scheduler all access categories as one.
struct FairnessFirst<'a, D>(&'a mut D);

impl<D: Driver> FairnessFirst<'_, D> {
    /// The most urgent category in which the station has something that it may send.
    fn urgent(&self, station: u16) -> Option<AccessCategory> {
        let may = |c: &AccessCategory| {
            let driver = &self.0;
            !driver.queue_is_empty(station, *c) && !driver.window_is_closed(station, *c) && driver.has_room(station, *c)
        };
        AccessCategory::ALL.into_iter().find(may)
    }
}

impl<D: SharedDriver> Driver for FairnessFirst<'_, D> {
    fn hardware_queue_is_full(&self, _: AccessCategory) -> bool {
        self.0.shared_queue_is_full()
    }

    fn queue_is_empty(&self, station: u16, _: AccessCategory) -> bool {
        !has_data(self.0, station)
    }

    fn has_room(&self, station: u16, _: AccessCategory) -> bool {
        let driver = &self.0;
        let mut all = AccessCategory::ALL.into_iter();
        all.any(|c| driver.has_room(station, c) && !driver.queue_is_empty(station, c))
            || self.queue_is_empty(station, SHARED)
    }

    fn window_is_closed(&self, station: u16, _: AccessCategory) -> bool {
        self.urgent(station).is_none()
    }

    fn build_aggregate(&mut self, station: u16, _: AccessCategory) {
        if let Some(category) = self.urgent(station) {
            self.0.build_aggregate(station, category);
        }
    }
}

#[cfg(test)]
mod tests;
