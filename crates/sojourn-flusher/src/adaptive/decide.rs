//! The core's decisions with the method `adaptive`.

use super::path::{Judged, Kind, Now};
use super::watch::Sample;
use super::{Campaign, Path};
use crate::detector::trigger;
use crate::flow::Flow;
use crate::flow_table::Ack;
use crate::flusher::Flusher;
use crate::lru::Slot;
use crate::{Estimate, Event, Factor, FlowKey, FlushId, FlushPlan, Reason, Verdict, Withheld};
use sojourn_units::{Bytes, Duration, Rate, Time};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// Flows without a sample for so long do not count as standing in a queue.
const RECENT: Duration = Duration::from_secs(1);
/// Flows for which there are more top-ups of small packets.
const MANY: u32 = 16;
/// Time between top-ups of small packets, in times that a full packet takes: the golden ratio, so that however few
/// there are they come at all phases between a departure from the buffer and the arrival that takes the free place.
const SWEEP: Factor = Factor::from_thousandths(1618);

/// A flow's queueing delay in its last window.
fn queue(flow: &Flow) -> Option<Duration> {
    Some(flow.watch.least()?.saturating_sub(flow.base.get()?))
}

/// Flows that seem to stand in the same buffer.
struct Company {
    /// Their throughputs together: the buffer's.
    rate: Option<Rate>,
    /// The fastest of them.
    chosen: Slot,
    /// Packets that they have in flight.
    window: u32,
    /// How many they are.
    flows: u32,
    /// Their receivers, each once: several flows may have the same, and one flush teaches its path once.
    paths: BTreeSet<IpAddr>,
}

fn rate(flow: &Flow) -> Option<Rate> {
    flow.watch.rate().or(flow.throughput.get())
}

impl Flusher {
    /// A flow is new.
    pub(crate) fn adaptive_flow(&mut self, key: FlowKey) {
        self.paths.entry(key.dst.ip()).or_insert_with(Path::new).flows += 1;
    }

    /// A flow was forgotten, and with the last one of its path what was learned about it.
    pub(crate) fn adaptive_forget(&mut self, key: FlowKey) {
        let toward = key.dst.ip();
        if let Some(path) = self.paths.get_mut(&toward) {
            path.flows -= 1;
            if path.flows == 0 {
                self.paths.remove(&toward);
            }
        }
    }

    /// A flow sent something again.
    pub(crate) fn adaptive_retransmission(&mut self, slot: Slot, now: Time) {
        let flow = self.table.flows.get_mut(slot);
        let Some(sent_up_to) = flow.outstanding.sent_up_to() else {
            return;
        };
        let begins = !flow.watch.recovering();
        let peak = flow.watch.on_retransmission(sent_up_to);
        let Some(path) = self.paths.get_mut(&flow.key.dst.ip()) else {
            return;
        };
        path.retransmissions += 1;
        path.losses += u64::from(begins);
        if let (Some(peak), Some(base)) = (peak, flow.base.get()) {
            path.on_loss(peak.saturating_sub(base), now);
        }
    }

    /// A flow was acknowledged something new.
    pub(crate) fn adaptive_ack(&mut self, ack: &Ack, now: Time) {
        let params = self.params;
        let flow = self.table.flows.get_mut(ack.slot);
        if let Some(rate) = ack.rate {
            flow.watch.on_rate(rate);
        }
        let (Some(raw), Some(smoothed), Some(base)) = (ack.raw, flow.rtt, flow.base.get()) else {
            return;
        };
        let key = flow.key;
        let trigger = trigger(base, &params);
        let sample = Sample {
            rtt: raw,
            under_way: ack.under_way,
        };
        let window = flow.watch.on_sample(sample, smoothed, base, trigger, now, &params);
        let helped = self
            .campaign
            .as_mut()
            .filter(|campaign| campaign.flow == key)
            .is_some_and(|campaign| campaign.on_sample(raw, base, now));
        if helped {
            self.adaptive_judge(Verdict::Helped, now);
        }
        if let Some(least) = window {
            let count = u32::from(least > trigger);
            self.note(|| Event::Window {
                at: now,
                flow: key,
                least,
                trigger,
                count,
            });
            self.adaptive_consider(ack.slot, least, trigger, now);
        }
    }

    /// A window of a flow ended: is a flush due, and may it be?
    fn adaptive_consider(&mut self, slot: Slot, least: Duration, trigger: Duration, now: Time) {
        let flow = self.table.flows.get(slot);
        let above = least > trigger;
        let since = self.since_last(flow, now);
        let path = self.paths.get(&flow.key.dst.ip());
        let overdue = path.is_some_and(|path| path.overdue(since, &self.params));
        if !above && !overdue {
            return;
        }
        let key = flow.key;
        let reason = if above {
            Reason::Threshold { least, trigger }
        } else {
            Reason::Forced
        };
        match self.adaptive_plan(slot, above, now) {
            Err(cause) => {
                self.stats.withheld += 1;
                self.note(|| Event::Withheld {
                    at: now,
                    flow: key,
                    cause,
                });
            }
            Ok((chosen, mut campaign, packets)) => {
                campaign.id = self.next_id();
                let flow = self.table.flows.get_mut(chosen);
                flow.flushes += 1;
                let plan = FlushPlan {
                    id: campaign.id,
                    flow: campaign.flow,
                    toward: campaign.flow.dst.ip(),
                    packets,
                    size: campaign.size,
                    reason,
                    estimate: campaign.estimate,
                };
                self.note(|| Event::Trigger {
                    at: now,
                    flow: key,
                    reason,
                });
                self.campaign = Some(campaign);
                self.propose(plan, now);
            }
        }
    }

    /// The flow to be flushed and the burst, or why there is none.
    fn adaptive_plan(&self, slot: Slot, above: bool, now: Time) -> Result<(Slot, Campaign, u32), Withheld> {
        let params = &self.params;
        if self.campaign.is_some() || self.proposal.is_some() || self.outstanding.is_some() {
            return Err(Withheld::Busy);
        }
        self.rested(self.table.flows.get(slot).key, now)?;
        let company = self.company(slot, above, now);
        let flow = self.table.flows.get(company.chosen);
        self.rested(flow.key, now)?;
        if flow.watch.recovering() {
            return Err(Withheld::Recovering);
        }
        let path = self.paths.get(&flow.key.dst.ip()).ok_or(Withheld::Empty)?;
        let (Some(rate), Some(base), Some(least), Some(max_rtt)) =
            (company.rate, flow.base.get(), flow.watch.least(), flow.max_rtt)
        else {
            return Err(Withheld::Empty);
        };
        let full = company.paths.iter().filter_map(|to| self.paths.get(to)?.full()).max();
        let size = path.packet(full, least.saturating_sub(base), params);
        let small = size != params.packet;
        let least_window = if small { params.small_window } else { params.min_window };
        if flow.watch.packets(flow.outstanding.captured_in_flight()) < least_window {
            return Err(Withheld::SmallWindow);
        }
        let burst = path.burst(
            full,
            if small { Kind::Small } else { Kind::Full },
            &Now {
                rate,
                base,
                least,
                max_rtt,
            },
            params,
        );
        if burst.packets == 0 {
            return Err(Withheld::Empty);
        }
        let time_of = |packets: u64| rate.time_to_send(Bytes::new(size.get() * packets));
        // Each flow is to lose something.
        let top_ups = if small {
            params.top_ups.saturating_mul(company.flows.min(MANY))
        } else {
            params.top_ups
        };
        let extra = u64::from(top_ups) * u64::from(params.top_up_packets);
        let cost = time_of(u64::from(burst.packets) + extra);
        let duty = if small { params.small_duty } else { params.duty };
        if above && cost > duty.of(self.since_last(flow, now)) {
            return Err(Withheld::Cost);
        }
        let fall_from = if above { least.saturating_sub(base) } else { base };
        let reach = least.saturating_sub(base) + time_of(u64::from(burst.packets));
        // Small packets take next to no time: the flow's packets behind them come as soon as they would have.
        let round = base + if small { reach } else { burst.full.max(reach) };
        let estimate = Estimate::new(rate, base, base + burst.full, max_rtt);
        let campaign = Campaign {
            id: FlushId(0),
            flow: flow.key,
            forced: !above,
            size,
            top_ups,
            gap: if small {
                SWEEP.of(rate.time_to_send(params.packet))
            } else {
                // Spread evenly over one RTT: the flow's whole window passes the buffer while it is full.
                least / u64::from(params.top_ups + 1)
            },
            estimate,
            before: least,
            goal: (if above { least } else { base }).saturating_sub(params.helped.of(fall_from)),
            round,
            retransmissions: self.sent_again(&company.paths),
            losses: self.losses(&company.paths),
            window: company.window,
            company: company.paths,
            started: None,
            top_ups_left: 0,
            next_top_up: None,
            deadline: None,
            extended: false,
            after: None,
            reached: Duration::ZERO,
        };
        Ok((company.chosen, campaign, burst.packets))
    }

    /// Whether the path of a flow may be flushed again.
    fn rested(&self, key: FlowKey, now: Time) -> Result<(), Withheld> {
        match self.paths.get(&key.dst.ip()) {
            Some(path) if path.cooling(now) && path.stopped(&self.params) => Err(Withheld::Stopped),
            Some(path) if path.cooling(now) => Err(Withheld::CoolDown),
            _ => Ok(()),
        }
    }

    /// How long ago the last burst was, or the flow began.
    fn since_last(&self, flow: &Flow, now: Time) -> Duration {
        now.since(self.last_burst.map_or(flow.born, |last| last.max(flow.born)))
    }

    /// What flows to these receivers have sent again so far.
    fn sent_again(&self, receivers: &BTreeSet<IpAddr>) -> u64 {
        receivers
            .iter()
            .filter_map(|to| self.paths.get(to))
            .map(|path| path.retransmissions)
            .sum()
    }

    /// Loss events of flows to these receivers so far.
    fn losses(&self, receivers: &BTreeSet<IpAddr>) -> u64 {
        receivers
            .iter()
            .filter_map(|to| self.paths.get(to))
            .map(|path| path.losses)
            .sum()
    }

    /// The flows that seem to stand in the same buffer as one that stands in a queue, because their queueing delays
    /// agree. The data of the other direction stands elsewhere.
    fn company(&self, slot: Slot, above: bool, now: Time) -> Company {
        let flow = self.table.flows.get(slot);
        let own = rate(flow).map_or(0, Rate::as_bps);
        let mut total = own;
        let mut best = (own, slot);
        let mut window = flow.watch.packets(flow.outstanding.captured_in_flight());
        let mut paths = BTreeSet::from([flow.key.dst.ip()]);
        let mut flows = 1;
        let mine = queue(flow).filter(|_| above);
        for (key, other) in self.table.flows.iter() {
            let agrees = |mine: Duration| {
                queue(other).is_some_and(|q| q <= mine.saturating_mul(2) && mine <= q.saturating_mul(2))
            };
            let stands = *key != flow.key
                && key.src.ip() != flow.key.dst.ip()
                && now.since(other.last_sample) <= RECENT
                && mine.is_some_and(agrees);
            if !stands {
                continue;
            }
            let bps = rate(other).map_or(0, Rate::as_bps);
            total = total.saturating_add(bps);
            window = window.saturating_add(other.watch.packets(other.outstanding.captured_in_flight()));
            paths.insert(key.dst.ip());
            flows += 1;
            if bps > best.0 && !other.watch.recovering() {
                best = (bps, self.table.flows.find(key).unwrap_or(slot));
            }
        }
        Company {
            rate: (total > 0).then(|| Rate::from_bps(total)),
            chosen: best.1,
            window,
            flows,
            paths,
        }
    }

    /// The burst or a top-up of the campaign has left.
    pub(crate) fn adaptive_done(&mut self, plan: &FlushPlan, now: Time) {
        self.last_burst = Some(now);
        let Some(campaign) = &mut self.campaign else { return };
        if campaign.id == plan.id {
            campaign.begin(now);
            if let (true, Some(until)) = (campaign.size != self.params.packet, campaign.deadline) {
                for receiver in &campaign.company {
                    if let Some(path) = self.paths.get_mut(receiver) {
                        path.small_burst(until);
                    }
                }
            }
        } else {
            campaign.topped_up(now);
        }
    }

    /// The gate refused: a burst is then taken as made, so that a passive flusher proposes at the pace of an active
    /// one.
    pub(crate) fn adaptive_refused(&mut self, plan: &FlushPlan, now: Time) {
        self.last_burst = Some(now);
        match &mut self.campaign {
            Some(campaign) if campaign.id != plan.id => campaign.next_top_up = None,
            _ => self.campaign = None,
        }
    }

    /// What the campaign waits for.
    pub(crate) fn adaptive_deadline(&self) -> Option<Time> {
        let campaign = self.campaign.as_ref()?;
        let idle = self.proposal.is_none() && self.outstanding.is_none();
        campaign
            .next_top_up
            .filter(|_| idle)
            .into_iter()
            .chain(campaign.deadline)
            .min()
    }

    /// Does what the time has come for.
    pub(crate) fn adaptive_timeout(&mut self, now: Time) {
        let Some(retransmissions) = self
            .campaign
            .as_ref()
            .map(|campaign| self.sent_again(&campaign.company))
        else {
            return;
        };
        let Some(campaign) = &mut self.campaign else { return };
        if campaign.deadline.is_some_and(|at| at <= now) {
            if let Some(verdict) = campaign.verdict(retransmissions) {
                self.adaptive_judge(verdict, now);
            }
            return;
        }
        if self.proposal.is_some() || self.outstanding.is_some() || campaign.next_top_up.is_none_or(|at| at > now) {
            return;
        }
        campaign.next_top_up = None;
        if retransmissions > campaign.retransmissions {
            // The losses have begun: what the buffer holds already is enough.
            return;
        }
        let (flow, of, estimate, size) = (campaign.flow, campaign.id, campaign.estimate, campaign.size);
        let plan = FlushPlan {
            id: self.next_id(),
            flow,
            toward: flow.dst.ip(),
            packets: self.params.top_up_packets.min(self.params.max_packets),
            size,
            reason: Reason::TopUp { of },
            estimate,
        };
        self.propose(plan, now);
    }

    fn adaptive_judge(&mut self, verdict: Verdict, now: Time) {
        let Some(campaign) = self.campaign.take() else { return };
        if self
            .proposal
            .is_some_and(|plan| matches!(plan.reason, Reason::TopUp { .. }))
        {
            self.proposal = None;
        }
        match verdict {
            Verdict::Helped => self.stats.helped += 1,
            Verdict::TooSmall | Verdict::Useless => self.stats.failed += 1,
            Verdict::Unknown => {}
        }
        let lost = self
            .sent_again(&campaign.company)
            .saturating_sub(campaign.retransmissions);
        let judged = Judged {
            verdict,
            forced: campaign.forced,
            kind: if campaign.size == self.params.packet {
                Kind::Full
            } else {
                Kind::Small
            },
            lost: self.losses(&campaign.company) > campaign.losses,
            reached: campaign.reached,
            round: campaign.round,
            heavy: lost.saturating_mul(2) > u64::from(campaign.window),
        };
        for receiver in &campaign.company {
            if let Some(path) = self.paths.get_mut(receiver) {
                path.judged(&judged, now, &self.params);
            }
        }
        self.note(|| Event::Effect {
            at: now,
            id: campaign.id,
            verdict,
            before: campaign.before,
            after: campaign.after,
            retransmissions: u32::try_from(lost).unwrap_or(u32::MAX),
        });
    }
}
