//! Rates of delivery and of departure: nothing of it happens unless the congestion control needs it, or pacing is
//! wanted.

use super::{LossRecovery, Machine, News};
use crate::cc::{Ack, CongestionControl, LostSegment, Needs, RateSample, Restart, SenderView};
use crate::pacing::Pacer;
use crate::rate::{Flight, RateSampler};
use crate::scoreboard::{Loss, Sent};
use sojourn_units::{Duration, Time};

/// What is kept for it.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct Rates {
    sampler: Option<RateSampler>,
    pacer: Option<Pacer>,
    /// The control sets the window by itself.
    steers: bool,
    /// The control hears of transmissions while nothing is in flight.
    starts: bool,
    /// The control hears of each loss.
    losses: bool,
    /// The control hears whether the window limits it.
    limits: bool,
    /// `tcp.ecn_low`.
    ecn_low: bool,
    /// The acknowledgement at hand may be of the tail loss probe or of its original.
    acks_probe: bool,
    /// Pacing is wanted whatever the control needs.
    paces_any: bool,
}

impl Rates {
    /// `None` if there is nothing to do.
    pub(super) fn new(needs: Needs, pacing: bool, ecn_low: bool) -> Option<Box<Self>> {
        let paces = pacing || needs.pacing;
        (paces || needs.samples || needs.starts).then(|| {
            Box::new(Self {
                sampler: needs.samples.then(RateSampler::default),
                pacer: paces.then(Pacer::default),
                steers: needs.samples && needs.steers,
                starts: needs.starts || needs.samples && needs.steers,
                losses: needs.samples && needs.losses,
                limits: needs.samples && needs.limits,
                ecn_low,
                acks_probe: false,
                paces_any: pacing,
            })
        })
    }

    /// What is left when the control has given way to one that needs nothing.
    pub(super) fn without_needs(&self) -> Option<Box<Self>> {
        Self::new(Needs::default(), self.paces_any, self.ecn_low)
    }

    pub(super) fn on_sacked(&mut self, sent: &Sent) {
        if let Some(sampler) = &mut self.sampler {
            sampler.on_sacked(sent);
        }
    }

    #[inline]
    pub(super) fn on_acked(&mut self, sent: &Sent) {
        if let Some(sampler) = &mut self.sampler {
            sampler.on_acked(sent);
        }
    }
}

impl<R: LossRecovery> Machine<R> {
    /// Whether the control sets the window by itself, so that nothing else may.
    pub(crate) fn is_steered(&self) -> bool {
        self.rates.as_ref().is_some_and(|rates| rates.steers)
    }

    /// Whether the control wants to know if the window limits what is sent.
    pub(super) fn tells_limit(&self) -> bool {
        self.rates.as_ref().is_some_and(|rates| rates.limits)
    }

    /// Whether the next segment has to wait for its time.
    #[inline]
    pub(super) fn waits_for_pace(&mut self, now: Time) -> bool {
        let in_train = self.in_train();
        match &mut self.rates {
            None => false,
            Some(_) if in_train => false,
            Some(rates) => rates.pacer.as_mut().is_some_and(|pacer| pacer.holds(now)),
        }
    }

    /// By how much timers are later because of pacing. Source: Linux `tcp_pacing_delay`.
    #[inline]
    pub(crate) fn pacing_delay(&self, now: Time) -> Duration {
        let pacer = self.rates.as_ref().and_then(|rates| rates.pacer.as_ref());
        pacer.map_or(Duration::ZERO, |pacer| pacer.delay(now))
    }

    /// Whether segments are spread over time.
    pub(crate) fn is_paced(&self) -> bool {
        self.rates.as_ref().is_some_and(|rates| rates.pacer.is_some())
    }

    /// When what waits for its time may leave.
    #[inline]
    pub(crate) fn pacing_due(&self) -> Option<Time> {
        self.rates.as_ref()?.pacer.as_ref()?.due()
    }

    /// From when on a paced sender may send.
    pub(super) fn pacing_next(&self) -> Option<Time> {
        self.rates.as_ref()?.pacer.as_ref().map(Pacer::next)
    }

    /// Time has passed: what waited may leave.
    pub(crate) fn pace_on_timeout(&mut self, now: Time) {
        if let Some(pacer) = self.rates.as_mut().and_then(|rates| rates.pacer.as_mut()) {
            pacer.on_timeout(now);
        }
    }

    /// The rate from now on: the control's, or Linux's once that is `known`.
    pub(super) fn set_pace(&mut self, known: bool) {
        let linux = || self.pacing_rate().filter(|_| known);
        let rate = self.cc.pacing_rate().or_else(linux);
        if let Some(pacer) = self.rates.as_mut().and_then(|rates| rates.pacer.as_mut()) {
            pacer.rate = rate;
        }
    }

    /// A segment is sent, for the first time or again; it is counted already.
    #[cold]
    pub(super) fn rates_on_sent(&mut self, seq: u64, len: u16, again: bool, now: Time) {
        let segments = if again { 1 } else { self.take_charge() };
        let Some(rates) = &mut self.rates else { return };
        let flight = Flight {
            segments: self.board.in_flight(),
            lost: self.board.lost_total() as u32,
        };
        match &mut rates.sampler {
            Some(sampler) if again => sampler.on_resent(seq, flight),
            Some(sampler) => sampler.on_sent(seq, flight, now),
            None => {}
        }
        if let Some(pacer) = &mut rates.pacer {
            // A train counts as a whole before it is charged.
            let nth = self.stats.segments_sent + u64::from(segments.saturating_sub(1));
            pacer.on_sent(len, segments, nth, now);
        }
    }

    /// Before the application writes: whether it had left the network room. Source: Linux
    /// `tcp_rate_check_app_limited`.
    #[cold]
    pub(super) fn rates_on_write(&mut self) {
        let flight = self.board.in_flight();
        let unsent = self.buffer.end().saturating_sub(self.nxt);
        let limited = unsent < u64::from(self.mss)
            && flight < self.window.cwnd
            && self.board.lost_out() <= self.board.retrans_out()
            && self.small_queue.is_empty();
        if let Some(sampler) = self.rates.as_mut().and_then(|rates| rates.sampler.as_mut())
            && limited
        {
            sampler.on_application_limited(flight);
        }
    }

    /// Something is sent while nothing is in flight. Source: Linux `tcp_event_data_sent`, `CA_EVENT_TX_START`.
    #[cold]
    pub(super) fn rates_on_sends_again(&mut self, now: Time) {
        let Some(rates) = self.rates.as_ref().filter(|rates| rates.starts) else {
            return;
        };
        let sampler = rates.sampler.as_ref();
        let restart = Restart {
            now,
            delivered_at: sampler.map_or(now, RateSampler::delivered_at),
            app_limited: sampler.is_some_and(RateSampler::is_application_limited),
            nxt: self.nxt,
        };
        self.cc.on_sends_again(&restart, &mut self.window);
        self.set_pace(true);
    }

    /// What the control may ask of the sender, while something was delivered last at `delivered_at`.
    fn sender_view(&self, delivered_at: Time, now: Time) -> SenderView {
        let pacer = self.rates.as_ref().and_then(|rates| rates.pacer.as_ref());
        SenderView {
            state: self.episode.state,
            lost_in_all: self.board.lost_total(),
            delivered_at,
            departs: pacer.map_or(now, |pacer| now + pacer.delay(now)),
            pacing_shift: self.small_queue.shift(),
            ack_delayed: false,
            window_limited: self.burst.limited,
            ecn_low: self.ecn() && self.rates.as_ref().is_some_and(|rates| rates.ecn_low),
            may_grow: self.window_limited(),
            srtt: self.rtt.srtt(),
            min_rtt: self.min_rtt.get(),
        }
    }

    /// Segments were judged lost: a control hears of each that asks for it, before any is sent again. The
    /// acknowledgement at hand delivers so many that are not counted yet. Source: google/bbr `skb_marked_lost`.
    #[cold]
    pub(crate) fn rates_on_lost(&mut self, delivered: u32, now: Time) {
        let Some(rates) = self.rates.as_mut().filter(|rates| rates.losses) else {
            return;
        };
        let Some(sampler) = &mut rates.sampler else { return };
        let delivered_in_all = sampler.delivered() + u64::from(delivered);
        let (cc, window) = (&mut self.cc, &self.window);
        self.board.drain_losses(|Loss { seq, lost_total }| {
            if let Some((flight, app_limited)) = sampler.at_sending(seq) {
                let lost = LostSegment {
                    now,
                    tx_in_flight: Some(flight.segments),
                    lost: (lost_total as u32).wrapping_sub(flight.lost),
                    app_limited,
                    delivered_in_all,
                };
                cc.on_segment_lost(&lost, window);
            }
        });
    }

    /// A tail loss probe has repaired a loss that nothing else told of. Source: google/bbr `CA_EVENT_TLP_RECOVERY`.
    #[cold]
    pub(super) fn rates_on_repair(&mut self, delivered: u32, now: Time) {
        let Some(rates) = self.rates.as_ref().filter(|rates| rates.losses) else {
            return;
        };
        let Some(sampler) = &rates.sampler else { return };
        let lost = LostSegment {
            now,
            tx_in_flight: None,
            lost: 1,
            app_limited: sampler.resent_app_limited(),
            delivered_in_all: sampler.delivered() + u64::from(delivered),
        };
        self.cc.on_segment_lost(&lost, &self.window);
    }

    /// The acknowledgement at hand may be of the tail loss probe or of its original.
    #[cold]
    pub(super) fn rates_on_probe_acked(&mut self) {
        if let Some(rates) = &mut self.rates {
            rates.acks_probe = true;
        }
    }

    /// A retransmission time-out: what is counted until then.
    #[cold]
    pub(super) fn rates_on_timeout(&mut self, now: Time) {
        self.rates_on_lost(0, now);
        let Some(sampler) = self.rates.as_ref().and_then(|rates| rates.sampler.as_ref()) else {
            return;
        };
        let (delivered_at, delivered_in_all) = (sampler.delivered_at(), sampler.delivered());
        let sample = RateSample {
            losses: 1,
            delivered_in_all,
            sender: self.sender_view(delivered_at, delivered_at),
            ..RateSample::default()
        };
        self.cc.on_loss(&sample);
    }

    /// All that the acknowledgement at hand says is known: so many segments were lost before, and in flight. Until then
    /// everything before `prior_una` was acknowledged.
    #[cold]
    pub(super) fn rates_on_ack(
        &mut self,
        ack: &Ack,
        news: &News,
        prior_una: u64,
        (lost_before, flight_before): (u64, u32),
    ) {
        self.rates_on_lost(news.delivered, ack.now);
        let view = self.sender_view(ack.now, ack.now);
        let Some(rates) = &mut self.rates else { return };
        let Some(sampler) = &mut rates.sampler else { return };
        let acks_probe = std::mem::take(&mut rates.acks_probe);
        let runt = news.advanced && ack.una - prior_una < u64::from(self.mss);
        let alone = news.delivered == 1 && !news.is_unusual() && !news.dsack && self.board.sacked_out() == 0;
        sampler.on_acknowledged(ack.una);
        let counts = RateSample {
            newly_delivered: news.delivered,
            losses: (self.board.lost_total() - lost_before) as u32,
            flight_before,
            flight: self.board.in_flight(),
            ece: news.ece,
            marked: news.marked,
            acks_probe,
            sender: view,
            ..RateSample::default()
        };
        let mut sample = sampler.sample(counts, ack.now, self.min_rtt.get());
        sample.sender.delivered_at = sampler.delivered_at();
        sample.sender.ack_delayed = runt && alone && sample.delivered == 1;
        self.cc.on_sample(ack, &sample, &mut self.window);
        if self.cc.is_app_limited() {
            sampler.on_application_limited(self.board.in_flight());
        }
    }
}
