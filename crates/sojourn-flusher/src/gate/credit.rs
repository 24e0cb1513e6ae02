//! What receivers have acknowledged, and flushes have not used up yet.

use crate::FlowKey;
use sojourn_units::{Duration, Time};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

/// Bytes that were acknowledged longer ago say nothing of what the path carries now: they do not count any more.
pub const CREDIT_AGE: Duration = Duration::from_secs(10);
/// Bytes that are acknowledged within one cell are kept as one, at its beginning, so that memory is bounded.
const CELL: Duration = Duration::from_secs(1);
/// Flows that have credit; another one gets none.
pub const CREDITED_FLOWS: usize = 4096;

/// What one flow has earned.
#[derive(Debug, Default)]
struct Account {
    /// Beginning of a cell, bytes earned in it and not spent; in order of time; at most 11.
    cells: VecDeque<(Time, u64)>,
    /// Until then it earns nothing: it was reset.
    dead_until: Option<Time>,
}

impl Account {
    fn expire(&mut self, now: Time) {
        while self.cells.front().is_some_and(|(at, _)| now.since(*at) >= CREDIT_AGE) {
            self.cells.pop_front();
        }
        self.dead_until = self.dead_until.filter(|until| now < *until);
    }

    fn sum(&self) -> u64 {
        self.cells.iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }
}

/// An account for each flow, by the receiver of its data. A flush towards a receiver is paid from the accounts of all
/// flows to it, byte for byte, and each byte of a captured packet is earned once, when it is acknowledged. So no
/// receiver is ever sent more than the flusher has seen sent to it by others.
///
/// Costs O(log flows) for what is earned, and O(accounts of the receiver) for a judgement.
#[derive(Debug, Default)]
pub struct Credit {
    accounts: BTreeMap<(IpAddr, FlowKey), Account>,
    /// While the table is full: when it is looked through again.
    full_until: Option<Time>,
    now: Time,
}

impl Credit {
    /// The receiver of this flow has acknowledged `bytes` of captured packets that it had not acknowledged before.
    pub fn earn(&mut self, flow: FlowKey, bytes: u64, at: Time) {
        let now = self.tick(at);
        let Some(account) = self.account(flow, now).filter(|account| account.dead_until.is_none()) else {
            return;
        };
        let begin = Time::from_nanos(now.as_nanos() / CELL.as_nanos() * CELL.as_nanos());
        match account.cells.back_mut() {
            Some((last, sum)) if *last == begin => *sum = sum.saturating_add(bytes),
            _ => account.cells.push_back((begin, bytes)),
        }
    }

    /// One end of this flow has said that there is no such connection: what it earned is gone, and it earns nothing
    /// for [`CREDIT_AGE`].
    pub fn reset(&mut self, flow: FlowKey, at: Time) {
        let now = self.tick(at);
        if let Some(account) = self.account(flow, now) {
            account.cells.clear();
            account.dead_until = Some(now + CREDIT_AGE);
        }
    }

    /// What may be sent to this receiver at `now`; a time before the last one is taken for that.
    pub fn left(&mut self, toward: IpAddr, now: Time) -> u64 {
        let now = self.tick(now);
        self.accounts.range_mut(of(toward)).fold(0, |sum: u64, (_, account)| {
            account.expire(now);
            sum.saturating_add(account.sum())
        })
    }

    /// Takes `bytes` from this receiver's accounts, the oldest of each first.
    ///
    /// # Panics
    /// If there are not so many left: whoever spends has looked.
    pub fn spend(&mut self, toward: IpAddr, mut bytes: u64, now: Time) {
        assert!(bytes <= self.left(toward, now), "more is spent than was earned");
        for account in self.accounts.range_mut(of(toward)).map(|(_, account)| account) {
            while bytes > 0
                && let Some((_, earned)) = account.cells.front_mut()
            {
                let part = bytes.min(*earned);
                *earned -= part;
                bytes -= part;
                if *earned == 0 {
                    account.cells.pop_front();
                }
            }
        }
    }

    /// Accounts kept.
    #[must_use]
    pub fn flows(&self) -> usize {
        self.accounts.len()
    }

    #[cfg(test)]
    pub(super) fn cells(&self) -> usize {
        self.accounts.values().map(|account| account.cells.len()).sum()
    }

    /// The account of a flow, made if there is room; `None` if there is none.
    fn account(&mut self, flow: FlowKey, now: Time) -> Option<&mut Account> {
        let key = (flow.dst.ip(), flow);
        if !self.accounts.contains_key(&key) && !self.make_room(now) {
            return None;
        }
        let account = self.accounts.entry(key).or_default();
        account.expire(now);
        Some(account)
    }

    fn tick(&mut self, at: Time) -> Time {
        self.now = self.now.max(at);
        self.now
    }

    fn make_room(&mut self, now: Time) -> bool {
        if self.accounts.len() < CREDITED_FLOWS {
            return true;
        }
        if self.full_until.is_some_and(|until| now < until) {
            return false;
        }
        self.accounts.retain(|_, account| {
            account.expire(now);
            !account.cells.is_empty() || account.dead_until.is_some()
        });
        self.full_until = Some(now + CELL);
        self.accounts.len() < CREDITED_FLOWS
    }
}

/// The keys of a receiver's accounts.
fn of(toward: IpAddr) -> impl std::ops::RangeBounds<(IpAddr, FlowKey)> {
    let least = std::net::SocketAddr::from(([0, 0, 0, 0], 0));
    let most = std::net::SocketAddr::from(([0xffff_u16; 8], u16::MAX));
    (toward, FlowKey { src: least, dst: least })..=(toward, FlowKey { src: most, dst: most })
}
