//! Which packet leaves next: the tin, the queue, and the judgement of its COBALT.
//!
//! Source: Linux 6.1 `sch_cake.c`, `cake_dequeue`.

use super::flows::Set;
use super::tins::Round;
use super::{Cake, clock};
use crate::{DropReason, DropSink, Packet, Queued};
use sojourn_units::Time;

impl<P: Packet> Cake<P> {
    /// The next packet, if the shaper lets one go, and whether it was marked.
    #[inline]
    pub(super) fn next(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<(Queued<P>, bool)> {
        if self.ledger.backlog.packets == 0 {
            return None;
        }
        if self.shaper.holds_until(clock(now)).is_some() {
            self.wait();
            return None;
        }
        self.next_now(now, drops)
    }

    #[inline]
    fn wait(&mut self) {
        self.ledger.stats.overlimits += u64::from(!self.waiting);
        self.waiting = true;
    }

    /// The same, when there are packets and the shaper lets one go. With `ingress` what is dropped may use that up.
    #[inline(never)]
    fn next_now(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<(Queued<P>, bool)> {
        let at = clock(now);
        // The first queue that is looked at may be a decaying one, so that none of these is forgotten.
        let mut first = true;
        loop {
            self.choose_tin(at)?;
            if let Some(next) = self.serve(&mut first, now, drops) {
                self.waiting = false;
                return Some(next);
            }
            if self.ledger.backlog.packets == 0 {
                return None;
            }
            if self.shaper.holds_until(at).is_some() {
                self.wait();
                return None;
            }
        }
    }

    /// Chooses the tin that is served. None if no tin has a flow.
    #[inline]
    fn choose_tin(&mut self, now: i64) -> Option<()> {
        if self.shaper.pace.is_unlimited() {
            self.choose_by_deficit()
        } else {
            self.choose_by_threshold(now)
        }
    }

    /// Without a shaper: deficit round robin by the weights of tins.
    fn choose_by_deficit(&mut self) -> Option<()> {
        let (mut wrapped, mut empty) = (false, true);
        loop {
            let tin = &mut self.tins[self.tin];
            if tin.deficit >= 0 && tin.is_active() {
                return Some(());
            }
            tin.replenish();
            empty &= !tin.is_active();
            self.tin += 1;
            if self.tin == self.tins.len() {
                self.tin = 0;
                if wrapped && empty {
                    return None;
                }
                wrapped = true;
            }
        }
    }

    /// With one: the last tin that is within its threshold, or else the one that will be first.
    #[inline]
    fn choose_by_threshold(&mut self, now: i64) -> Option<()> {
        if self.active.is_power_of_two() {
            self.tin = self.active.trailing_zeros() as usize;
            return Some(());
        }
        let mut best = i64::MAX;
        let mut found = None;
        for (i, tin) in self.tins.iter().enumerate() {
            if tin.is_active() {
                let wait = tin.wait(now);
                if wait <= 0 || wait <= best {
                    best = wait;
                    found = Some(i);
                }
            }
        }
        self.tin = found?;
        Some(())
    }

    /// Serves the chosen tin: a packet that leaves, or nothing if a queue was found empty.
    #[inline]
    fn serve(&mut self, first: &mut bool, now: Time, drops: &mut dyn DropSink<P>) -> Option<(Queued<P>, bool)> {
        let (at, number, ingress) = (clock(now), self.tin, self.params.ingress);
        let Self {
            tins,
            flows,
            slab,
            stream,
            ledger,
            ..
        } = self;
        let tin = &mut tins[number];
        'queue: loop {
            let [new, old, decaying] = &tin.rounds;
            let (round, list) = if *first && !decaying.is_empty() {
                (Round::Decaying, decaying)
            } else if !new.is_empty() {
                (Round::New, new)
            } else if !old.is_empty() {
                (Round::Old, old)
            } else {
                (Round::Decaying, decaying)
            };
            let index = list.first()?;
            *first = false;
            let flow = &mut flows.all[index];
            if flow.deficit <= 0 {
                if round == Round::Old && flow.set != Set::Sparse {
                    flows.go_round(number, tin.flow_quantum, &mut tin.rounds[Round::Old as usize], stream);
                    continue;
                }
                if flow.set == Set::Sparse {
                    if flow.packets.is_empty() {
                        flow.set = Set::SparseWait;
                    } else {
                        flow.set = Set::Bulk;
                        tin.sparse_flows -= 1;
                        tin.bulk_flows += 1;
                        flows.add_bulk(number, index);
                    }
                }
                let quantum = flows.quantum(number, tin.flow_quantum, index, stream);
                flows.all[index].deficit += quantum;
                tin.rounds[round as usize].remove(&mut flows.all, index);
                tin.rounds[Round::Old as usize].push_back(&mut flows.all, index);
                continue;
            }
            loop {
                let flow = &mut flows.all[index];
                let Some(mut queued) = slab.pop_front(&mut flow.packets) else {
                    self.emptied(index, round, at);
                    return None;
                };
                let size = queued.size.get();
                flow.backlog -= size;
                tin.backlog -= size;
                ledger.leave(queued.size);
                self.memory -= crate::slab::memory_of(queued.size);
                self.heap.shrunk(&flows.all, index);

                let flow = &mut flows.all[index];
                let bulk_flows = if ingress { u64::from(tin.bulk_flows) } else { 0 };
                let sojourn = now.since(queued.since).as_nanos();
                let packet = &mut queued.packet;
                let cobalt = &tin.cobalt;
                let verdict = (flow.cobalt).judge(cobalt, at, sojourn, bulk_flows, stream, || packet.mark_ce());
                let counted = self.framing.of(size);
                // The last packet of a queue may be marked, but is not dropped.
                if !verdict.drop || flow.packets.is_empty() {
                    tin.stats.marks += u64::from(verdict.marked);
                    ledger.stats.marks += u64::from(verdict.marked);
                    tin.stats.delayed(sojourn);
                    tin.charge(counted, at);
                    self.shaper.charge(counted, false);
                    flow.deficit -= counted.cast_signed();
                    tin.deficit -= counted.cast_signed();
                    self.heap.departed();
                    return Some((queued, verdict.marked));
                }
                tin.stats.drops += 1;
                if ingress {
                    tin.charge(counted, at);
                    self.shaper.charge(counted, true);
                    flow.deficit -= counted.cast_signed();
                    tin.deficit -= counted.cast_signed();
                }
                ledger.discard(queued, DropReason::Congestion, now, drops);
                if ingress {
                    continue 'queue;
                }
            }
        }
    }

    /// A queue has had its turn and is empty.
    fn emptied(&mut self, index: usize, round: Round, now: i64) {
        let number = self.tin;
        let (tin, flows) = (&mut self.tins[number], &mut self.flows);
        let flow = &mut flows.all[index];
        if flow.cobalt.queue_empty(&tin.cobalt, now) {
            tin.unresponsive_flows = tin.unresponsive_flows.saturating_sub(1);
        }
        let (rests, was) = (flow.cobalt.at_rest(now), flow.set);
        flow.set = if rests { Set::None } else { Set::Decaying };
        match was {
            Set::Sparse | Set::SparseWait => tin.sparse_flows -= 1,
            Set::Bulk => {
                tin.bulk_flows -= 1;
                flows.remove_bulk(number, index);
            }
            Set::Decaying | Set::None => tin.decaying_flows -= 1,
        }
        if !tin.is_active() {
            self.active &= !(1 << number);
        }
        tin.rounds[round as usize].remove(&mut flows.all, index);
        if !rests {
            tin.decaying_flows += 1;
            tin.rounds[Round::Decaying as usize].push_back(&mut flows.all, index);
        }
    }
}
