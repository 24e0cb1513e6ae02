//! The core: segments and time in, plans and events out.

use crate::adaptive::{Campaign, Path};
use crate::clock::Clock;
use crate::detector::{Due, trigger};
use crate::flow::Flow;
use crate::flow_table::FlowTable;
use crate::lru::Slot;
use crate::outstanding::{Outstanding, Sent};
use crate::plan::{Known, next_flush};
use crate::{
    Estimate, Event, Eviction, FlowState, FlowView, FlushId, FlushPlan, FlusherParams, FlusherStats, Method,
    ParamError, Reason, Samples, Segment, Withheld,
};
use sojourn_units::{Bytes, Duration, Rate, Time};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

/// Events kept for a caller that does not poll them.
const EVENTS: usize = 65_536;

impl Estimate {
    pub(crate) fn new(throughput: Rate, base: Duration, rtt: Duration, max_rtt: Duration) -> Self {
        let bits = u128::from(throughput.as_bps()) * u128::from(max_rtt.as_nanos());
        let bdp = Bytes::new(u64::try_from(bits / 8_000_000_000).unwrap_or(u64::MAX));
        Self {
            throughput,
            base,
            rtt,
            max_rtt,
            bdp,
        }
    }
}

/// The queue flusher's decisions: told about segments and the time, it proposes bursts. It opens no socket, reads no
/// clock and draws no random number: the same calls give the same plans and events.
///
/// Call [`Self::handle_segment`] for each captured segment and [`Self::handle_timeout`] when [`Self::poll_timeout`]
/// has come; then [`Self::poll_flush`], and answer each plan with [`Self::flush_done`] or [`Self::flush_refused`].
/// Until the answer there is no other plan. Times may step back: the core's own time then stands still and goes on.
#[derive(Debug)]
pub struct Flusher {
    pub(crate) params: FlusherParams,
    pub(crate) table: FlowTable,
    /// Only with the method `adaptive`.
    pub(crate) paths: BTreeMap<IpAddr, Path>,
    pub(crate) campaign: Option<Campaign>,
    /// When the last burst left, or was refused; only with the method `adaptive`.
    pub(crate) last_burst: Option<Time>,
    /// A plan that waits to be polled.
    pub(crate) proposal: Option<FlushPlan>,
    /// A plan that was polled and not answered.
    pub(crate) outstanding: Option<FlushPlan>,
    pub(crate) stats: FlusherStats,
    clock: Clock,
    events: VecDeque<Event>,
    next_id: u64,
    /// The thesis's flood RTT of the plan under way, for the next one.
    carry: Option<Duration>,
    /// Until when samples are left out, after the thesis.
    hold_until: Time,
}

impl Flusher {
    /// With these parameters.
    ///
    /// # Errors
    /// [`ParamError`] for parameters that cannot be used.
    pub fn new(params: FlusherParams) -> Result<Self, ParamError> {
        params.validate()?;
        Ok(Self {
            params,
            table: FlowTable::new(&params),
            paths: BTreeMap::new(),
            campaign: None,
            last_burst: None,
            proposal: None,
            outstanding: None,
            stats: FlusherStats::default(),
            clock: Clock::default(),
            events: VecDeque::new(),
            next_id: 0,
            carry: None,
            hold_until: Time::ZERO,
        })
    }

    /// The parameters.
    #[must_use]
    pub const fn params(&self) -> &FlusherParams {
        &self.params
    }

    /// Takes note of a captured segment. Source: seed 003, Listing 4.1; at most O(log flows) but for a flow that
    /// captures out of order, whose outstanding segments are moved.
    pub fn handle_segment(&mut self, segment: &Segment, now: Time) {
        let now = self.advance(now);
        self.stats.segments += 1;
        if segment.src == segment.dst {
            // No such segment is on a wire unless it is forged (the "land" attack): it would be its own
            // acknowledgement.
            return;
        }
        if segment.flags.rst {
            // What is on its way will not be acknowledged; what was learned about the path remains true.
            for key in [segment.key(), segment.key().inverted()] {
                if let Some(slot) = self.table.flows.find(&key) {
                    self.table.flows.get_mut(slot).outstanding = Outstanding::default();
                    self.note(|| Event::Reset { at: now, flow: key });
                }
            }
            return;
        }
        if segment.length() > 0 {
            self.on_data(segment, now);
        }
        if segment.flags.ack {
            self.on_ack(segment, now);
        }
    }

    fn on_data(&mut self, segment: &Segment, now: Time) {
        let key = segment.key();
        let adaptive = self.params.method == Method::Adaptive;
        let data = self.table.on_data(segment, now, &self.params, &mut self.stats);
        if let Some(flow) = data.evicted {
            self.stats.evicted += 1;
            self.forget(&flow, Eviction::Full, now);
        }
        if data.created {
            self.note(|| Event::Flow { at: now, flow: key });
            if adaptive {
                self.adaptive_flow(key);
            }
        }
        if data.sent == Sent::Again {
            self.note(|| Event::Retransmission { at: now, flow: key });
            if adaptive {
                self.adaptive_retransmission(data.slot, now);
            }
        }
    }

    fn on_ack(&mut self, segment: &Segment, now: Time) {
        let Some(ack) = self.table.on_ack(segment, now, &self.params, &mut self.stats) else {
            return;
        };
        let flow = self.table.flows.get(ack.slot);
        if ack.answered > 0 {
            let (flow, bytes) = (flow.key, ack.answered);
            self.note(|| Event::Acknowledged { at: now, flow, bytes });
        }
        let flow = self.table.flows.get(ack.slot);
        if let (Some(raw), Some(smoothed), Some(base)) = (ack.raw, flow.rtt, flow.base.get()) {
            let (key, throughput) = (flow.key, flow.throughput.get());
            if ack.base_changed {
                self.note(|| Event::BaseRtt {
                    at: now,
                    flow: key,
                    base,
                });
            }
            self.note(|| Event::Sample {
                at: now,
                flow: key,
                raw,
                smoothed,
                throughput,
            });
        }
        match self.params.method {
            Method::Adaptive => self.adaptive_ack(&ack, now),
            Method::Thesis => {
                if let Some(raw) = ack.raw {
                    self.thesis_sample(ack.slot, raw, now);
                }
            }
        }
    }

    /// Source: seed 003, Listing 4.2.
    fn thesis_sample(&mut self, slot: Slot, raw: Duration, now: Time) {
        let params = self.params;
        let flushing = self.proposal.is_some() || self.outstanding.is_some() || now < self.hold_until;
        let flow = self.table.flows.get_mut(slot);
        let (Some(smoothed), Some(base)) = (flow.rtt, flow.base.get()) else {
            return;
        };
        if flushing {
            flow.detector.on_sample_during_flush(&params);
            return;
        }
        let rtt = match params.samples {
            Samples::Smoothed => smoothed,
            Samples::Raw => raw,
        };
        let key = flow.key;
        let finding = flow
            .detector
            .on_sample(rtt, flow.throughput.smoothed(), base, now, &params);
        let trigger = trigger(base, &params);
        if let Some(tested) = finding.tested {
            self.note(|| Event::Window {
                at: now,
                flow: key,
                least: tested.least,
                trigger,
                count: tested.count,
            });
        }
        if let Some(due) = finding.due {
            self.thesis_flush(slot, &due, base, now);
        }
    }

    /// Source: seed 003, Listing 4.7.
    fn thesis_flush(&mut self, slot: Slot, due: &Due, base: Duration, now: Time) {
        let params = self.params;
        let trigger = trigger(base, &params);
        let reason = due
            .above
            .map_or(Reason::Forced, |least| Reason::Threshold { least, trigger });
        let id = self.next_id();
        let flow = self.table.flows.get_mut(slot);
        let key = flow.key;
        let max_rtt = flow.max_rtt.unwrap_or(due.max_rtt);
        let largest = match params.largest_rtt {
            Samples::Smoothed => flow.max_smoothed.unwrap_or(due.max_rtt),
            Samples::Raw => max_rtt,
        };
        let plan = due.max_throughput.map(|throughput| {
            let known = Known {
                throughput,
                base,
                largest,
                window_max: due.max_rtt,
            };
            let size = next_flush(&known, flow.carried, &params);
            (size, Estimate::new(throughput, base, size.rtt, max_rtt))
        });
        let Some((size, estimate)) = plan.filter(|(size, _)| size.packets > 0) else {
            self.stats.withheld += 1;
            self.note(|| Event::Withheld {
                at: now,
                flow: key,
                cause: Withheld::Empty,
            });
            return;
        };
        flow.flushes += 1;
        flow.detector.flushed(now, &params);
        self.carry = size.carry;
        self.note(|| Event::Trigger {
            at: now,
            flow: key,
            reason,
        });
        let (packets, size) = (size.packets, params.packet);
        self.propose(
            FlushPlan {
                id,
                flow: key,
                toward: key.dst.ip(),
                packets,
                size,
                reason,
                estimate,
            },
            now,
        );
    }

    /// Lets the time pass. Calls that come early do nothing.
    pub fn handle_timeout(&mut self, now: Time) {
        self.advance(now);
    }

    /// When [`Self::handle_timeout`] wants to be called: a flow expires, a top-up is due, or a flush is to be judged.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        let expiry = self.table.expiry(&self.params);
        expiry
            .into_iter()
            .chain(self.adaptive_deadline())
            .min()
            .map(|at| self.clock.callers(at))
    }

    /// The flush to be made now, if any. It must be answered with [`Self::flush_done`] or [`Self::flush_refused`].
    pub fn poll_flush(&mut self) -> Option<FlushPlan> {
        if self.outstanding.is_none() {
            self.outstanding = self.proposal.take();
            return self.outstanding;
        }
        None
    }

    /// The burst has left: `sent` packets of it. None at all is a refusal.
    pub fn flush_done(&mut self, id: FlushId, sent: u32, now: Time) {
        if sent == 0 {
            self.flush_refused(id, now);
            return;
        }
        let now = self.advance(now);
        let Some(plan) = self.answered(id) else { return };
        let sent = sent.min(plan.packets);
        self.stats.packets += u64::from(sent);
        self.stats.bytes += u64::from(sent) * plan.size.get();
        self.note(|| Event::Done { at: now, id, sent });
        if self.params.method == Method::Adaptive {
            self.adaptive_done(&plan, now);
            return;
        }
        let mut hold = Duration::ZERO;
        if let Some(slot) = self.table.flows.find(&plan.flow) {
            let flow = self.table.flows.get_mut(slot);
            flow.carried = self.carry;
            flow.detector.flushed(now, &self.params);
            hold = self.params.settle.of(flow.rtt.unwrap_or_default());
        }
        self.hold_until = now + hold;
    }

    /// The gate said no.
    pub fn flush_refused(&mut self, id: FlushId, now: Time) {
        let now = self.advance(now);
        let Some(plan) = self.answered(id) else { return };
        self.stats.refused += 1;
        self.note(|| Event::Refused { at: now, id });
        if self.params.method == Method::Adaptive {
            self.adaptive_refused(&plan, now);
        }
    }

    fn answered(&mut self, id: FlushId) -> Option<FlushPlan> {
        let plan = self.outstanding.take_if(|plan| plan.id == id);
        self.stats.stray_answers += u64::from(plan.is_none());
        plan
    }

    /// What happened next; nothing unless `FlusherParams::events`.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The flows, in order of their keys.
    pub fn flows(&self) -> impl Iterator<Item = FlowView> {
        self.table.flows.iter().map(|(_, flow)| self.view(flow))
    }

    fn view(&self, flow: &Flow) -> FlowView {
        let now = self.clock.now();
        let under_way = [&self.proposal, &self.outstanding]
            .into_iter()
            .flatten()
            .any(|plan| plan.flow == flow.key)
            || self.campaign.as_ref().is_some_and(|campaign| campaign.flow == flow.key);
        let (above, cooling) = match self.params.method {
            Method::Thesis => (flow.detector.above(), false),
            Method::Adaptive => {
                let path = self.paths.get(&flow.key.dst.ip());
                (flow.watch.above(), path.is_some_and(|path| path.cooling(now)))
            }
        };
        let state = match () {
            () if flow.samples == 0 => FlowState::New,
            () if under_way => FlowState::Flushing,
            () if cooling => FlowState::CoolingDown,
            () if above => FlowState::Queueing,
            () => FlowState::Watching,
        };
        FlowView {
            key: flow.key,
            state,
            rtt: flow.rtt,
            base: flow.base.get(),
            max_rtt: flow.max_rtt,
            throughput: flow.throughput.get(),
            in_flight: flow.outstanding.in_flight(),
            samples: flow.samples,
            retransmissions: flow.retransmissions,
            flushes: flow.flushes,
            last_seen: self.clock.callers(flow.last_seen),
        }
    }

    /// The counters.
    #[must_use]
    pub fn stats(&self) -> FlusherStats {
        self.stats
    }

    /// The core's time, after what the passing of time brings.
    fn advance(&mut self, callers: Time) -> Time {
        let tick = self.clock.tick(callers);
        if tick.stepped {
            self.stats.clock_steps += 1;
            self.table.epoch = self.table.epoch.wrapping_add(1);
        }
        let now = tick.now;
        while self.table.expiry(&self.params).is_some_and(|at| at <= now) {
            let Some(slot) = self.table.flows.oldest() else { break };
            let (_, flow) = self.table.flows.remove(slot);
            self.stats.expired += 1;
            self.forget(&flow, Eviction::Idle, now);
        }
        if self.params.method == Method::Adaptive {
            self.adaptive_timeout(now);
        }
        now
    }

    fn forget(&mut self, flow: &Flow, cause: Eviction, now: Time) {
        let key = flow.key;
        self.note(|| Event::Evicted {
            at: now,
            flow: key,
            cause,
        });
        if self.params.method == Method::Adaptive {
            self.adaptive_forget(key);
        }
    }

    pub(crate) fn next_id(&mut self) -> FlushId {
        let id = FlushId(self.next_id);
        self.next_id += 1;
        id
    }

    pub(crate) fn propose(&mut self, plan: FlushPlan, now: Time) {
        self.stats.plans += 1;
        match plan.reason {
            Reason::Threshold { .. } => {}
            Reason::Forced => self.stats.forced += 1,
            Reason::TopUp { .. } => self.stats.top_ups += 1,
        }
        self.note(|| Event::Flush { at: now, plan });
        self.proposal = Some(plan);
    }

    /// Keeps an event, if events are wanted.
    pub(crate) fn note(&mut self, event: impl FnOnce() -> Event) {
        if !self.params.events {
            return;
        }
        if self.events.len() < EVENTS {
            self.events.push_back(event());
        } else {
            self.stats.events_lost += 1;
        }
    }
}
