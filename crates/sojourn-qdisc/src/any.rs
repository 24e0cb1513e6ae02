//! Any of the disciplines, without a box.

use crate::grammar::Kind;
use crate::{
    Admission, Backlog, Codel, Departure, DropSink, Fifo, FqCodel, FqCodelVariant, Netem, Packet, PfifoFast, Pie,
    Qdisc, QdiscStats, Red, Sfq, SfqCodel, Tbf,
};
use sojourn_units::{Bytes, Time};

/// A discipline of any kind. Made by [`QdiscSpec::build`](crate::QdiscSpec::build).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyQdisc<P> {
    /// `pfifo`, `bfifo`.
    Fifo(Fifo<P>),
    /// `pfifo_fast`.
    PfifoFast(PfifoFast<P>),
    /// `red`.
    Red(Box<Red<P>>),
    /// `pie`.
    Pie(Pie<P>),
    /// `codel`.
    Codel(Codel<P>),
    /// `sfq`.
    Sfq(Sfq<P>),
    /// `fq_codel`, but for `variant ns2`.
    FqCodel(FqCodel<P>),
    /// `fq_codel variant ns2`.
    SfqCodel(SfqCodel<P>),
    /// `tbf` over its own FIFO.
    Tbf(Tbf<P, Fifo<P>>),
    /// `netem`.
    Netem(Netem<P>),
}

impl<P: Packet> AnyQdisc<P> {
    /// # Panics
    /// Never for a [`crate::QdiscSpec`], which holds only parameters that were checked.
    pub(crate) fn build(kind: &Kind, seed: u64) -> Self {
        const CHECKED: &str = "a spec holds checked parameters";
        match kind {
            Kind::Fifo(limit) => Self::Fifo(Fifo::new(*limit).expect(CHECKED)),
            Kind::PfifoFast(params) => Self::PfifoFast(PfifoFast::new(*params).expect(CHECKED)),
            Kind::Red(params) => Self::Red(Box::new(Red::new(*params, seed).expect(CHECKED))),
            Kind::Pie(params) => Self::Pie(Pie::new(*params, seed).expect(CHECKED)),
            Kind::Sfq(params) => Self::Sfq(Sfq::new(*params, seed).expect(CHECKED)),
            Kind::Codel(spec) => Self::Codel(Codel::new(spec.params, spec.limit).expect(CHECKED)),
            Kind::FqCodel(params) if params.variant == FqCodelVariant::Ns2 => {
                Self::SfqCodel(SfqCodel::new(*params).expect(CHECKED))
            }
            Kind::FqCodel(params) => Self::FqCodel(FqCodel::new(*params).expect(CHECKED)),
            Kind::Tbf(params) => Self::Tbf(Tbf::with_fifo(*params).expect(CHECKED)),
            Kind::Netem(params) => Self::Netem(Netem::new(*params).expect(CHECKED)),
        }
    }
}

/// Calls the same method of whichever discipline it is.
macro_rules! each {
    ($self:expr, $q:ident => $call:expr) => {
        match $self {
            AnyQdisc::Fifo($q) => $call,
            AnyQdisc::PfifoFast($q) => $call,
            AnyQdisc::Red($q) => $call,
            AnyQdisc::Pie($q) => $call,
            AnyQdisc::Sfq($q) => $call,
            AnyQdisc::Codel($q) => $call,
            AnyQdisc::FqCodel($q) => $call,
            AnyQdisc::SfqCodel($q) => $call,
            AnyQdisc::Tbf($q) => $call,
            AnyQdisc::Netem($q) => $call,
        }
    };
}

impl<P: Packet> Qdisc<P> for AnyQdisc<P> {
    #[inline]
    fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
        each!(self, q => q.enqueue(packet, now, drops))
    }
    #[inline]
    fn dequeue(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
        each!(self, q => q.dequeue(now, drops))
    }
    #[inline]
    fn ready_at(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Time> {
        each!(self, q => q.ready_at(now, drops))
    }
    #[inline]
    fn peek_size(&self) -> Option<Bytes> {
        each!(self, q => q.peek_size())
    }
    #[inline]
    fn peek(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Bytes> {
        each!(self, q => q.peek(now, drops))
    }
    #[inline]
    fn backlog(&self) -> Backlog {
        each!(self, q => q.backlog())
    }
    #[inline]
    fn stats(&self) -> QdiscStats {
        each!(self, q => q.stats())
    }
    fn extra_stats(&self) -> Vec<(&'static str, f64)> {
        each!(self, q => q.extra_stats())
    }
}
