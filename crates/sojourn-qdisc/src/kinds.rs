//! The kinds of disciplines: the one list of them.

use crate::classful::{Classes, Classful};
use crate::descriptor::Descriptor;
use crate::footprint::Footprint;
use crate::grammar::catalogue::{KindInfo, describe};
use crate::grammar::error::SpecError;
use crate::grammar::model::{Either, Model, Plain};
use crate::netlink::Named;
use crate::own::{self, Own, Registered};
use crate::{
    Admission, Backlog, Cake, ClassStats, Codel, Departure, DropSink, DualPi2, Fifo, Fq, FqCodel, FqPie, Netem, Packet,
    ParamError, PfifoFast, Pie, Qdisc, QdiscStats, Red, Sfq, SfqCodel, Tbf,
};
use sojourn_units::{Bytes, Time};

/// Calls that are never inlined. An operation of `AnyQdisc` sets up a frame that is as large as its largest arm needs,
/// for every kind, and its code takes as much of the cache as all its arms. With the large kinds out of line a packet of
/// `fq_codel` misses the first-level instruction cache 4 times and not 11 (docs/lab/performance.md).
mod out_of_line {
    use crate::{Admission, Departure, DropSink, Packet, Qdisc};
    use sojourn_units::{Bytes, Time};

    #[inline(never)]
    pub(super) fn enqueue<P: Packet, Q: Qdisc<P>>(
        q: &mut Q,
        packet: P,
        now: Time,
        drops: &mut dyn DropSink<P>,
    ) -> Admission {
        q.enqueue(packet, now, drops)
    }

    #[inline(never)]
    pub(super) fn dequeue<P: Packet, Q: Qdisc<P>>(
        q: &mut Q,
        now: Time,
        drops: &mut dyn DropSink<P>,
    ) -> Option<Departure<P>> {
        q.dequeue(now, drops)
    }

    #[inline(never)]
    pub(super) fn ready_at<P: Packet, Q: Qdisc<P>>(q: &mut Q, now: Time, drops: &mut dyn DropSink<P>) -> Option<Time> {
        q.ready_at(now, drops)
    }

    #[inline(never)]
    pub(super) fn peek<P: Packet, Q: Qdisc<P>>(q: &mut Q, now: Time, drops: &mut dyn DropSink<P>) -> Option<Bytes> {
        q.peek(now, drops)
    }
}

/// Disciplines of Linux that are not modelled. Source: Linux 6.1 to 7.3, `net/sched/Kconfig`.
pub(crate) const UNMODELLED: &[&str] = &[
    "hfsc",
    "qfq",
    "cake_mq",
    "choke",
    "hhf",
    "sfb",
    "gred",
    "multiq",
    "mqprio",
    "taprio",
    "etf",
    "cbs",
    "cbq",
    "dsmark",
    "atm",
    "skbprio",
    "plug",
    "teql0",
    "noqueue",
    "noop",
    "blackhole",
    "dualq",
    "bpf",
];

/// What is done with a discipline, whatever its kind.
pub(crate) trait Visitor<P: Packet> {
    type Output;
    fn visit<Q: Qdisc<P>>(self, q: &mut Q) -> Self::Output;
}

macro_rules! disciplines {
    (
        kinds { $($Kind:ident($Params:ty)),+ $(,)? }
        classful { $($Over:ident($Words:ty)),+ $(,)? }
        listed { $($Listed:ty),+ $(,)? }
        built { $($(#[$doc:meta])* $Built:ident($Engine:ty)),+ $(,)? }
        boxed { $($(#[$large_doc:meta])* $Large:ident($LargeEngine:ty)),+ $(,)? }
    ) => {
        /// The parameters of a discipline of any kind. A class of such a discipline may hold an `L`.
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) enum Kind<L> {
            $($Kind($Params),)+
            $($Over($Words, Classes<L>),)+
            Own(Registered),
        }

        impl<L> Kind<L> {
            /// Reads the words after the kind's name; `None` for the name of none.
            pub(crate) fn parse(kind: &str, words: &[&str]) -> Option<Result<Self, SpecError>> {
                $(if kind == <$Params as Model>::ABOUT.kind {
                    return Some(<$Params as Model>::parse(words).map(Self::$Kind));
                })+
                $(if kind == <$Words as Model>::ABOUT.kind {
                    let parsed = <$Words as Model>::parse(words);
                    return Some(parsed.map(|own| {
                        let classes = Classes::bands(<$Words as Model>::ABOUT.kind, own.bands());
                        Self::$Over(own, classes)
                    }));
                })+
                Registered::parse(kind, words).map(|parsed| parsed.map(Self::Own))
            }

            pub(crate) const fn about(&self) -> &'static Descriptor {
                match self {
                    $(Self::$Kind(_) => &<$Params as Model>::ABOUT,)+
                    $(Self::$Over(..) => &<$Words as Model>::ABOUT,)+
                    Self::Own(own) => own.about,
                }
            }

            /// The canonical text without what is said of classes.
            pub(crate) fn show(&self) -> String {
                match self {
                    $(Self::$Kind(own) => own.show(),)+
                    $(Self::$Over(own, _) => own.show(),)+
                    Self::Own(own) => own.show(),
                }
            }

            /// Its classes, of a kind that has them.
            pub(crate) const fn classes(&self) -> Option<&Classes<L>> {
                match self {
                    $(Self::$Over(_, classes) => Some(classes),)+
                    _ => None,
                }
            }

            pub(crate) const fn classes_mut(&mut self) -> Option<&mut Classes<L>> {
                match self {
                    $(Self::$Over(_, classes) => Some(classes),)+
                    _ => None,
                }
            }

            /// What a class has that is given no discipline.
            pub(crate) fn default_leaf() -> Self {
                Self::Pfifo(Model::defaults())
            }

            /// Makes the discipline. `children` makes those of the classes, as [`Classful::build`] takes them.
            pub(crate) fn build<P: Packet>(
                &self,
                seed: u64,
                children: impl FnOnce(&Classes<L>) -> Vec<Option<AnyQdisc<P>>>,
            ) -> AnyQdisc<P> {
                match self {
                    $(Self::$Kind(own) => own.build(seed).into(),)+
                    $(Self::$Over(own, classes) => own.build(classes, children(classes)).into(),)+
                    Self::Own(own) => own.build(seed).into(),
                }
            }

            pub(crate) fn queue(&self, hash: u32) -> Option<u32> {
                match self {
                    $(Self::$Kind(own) => own.queue(hash),)+
                    $(Self::$Over(own, _) => own.queue(hash),)+
                    Self::Own(_) => None,
                }
            }

            /// Whether it looks at code points or hosts.
            pub(crate) fn reads_identity(&self) -> bool {
                match self {
                    $(Self::$Kind(own) => own.reads_identity(),)+
                    $(Self::$Over(own, _) => own.reads_identity(),)+
                    Self::Own(_) => true,
                }
            }

            /// Whether it looks at acknowledgements itself.
            pub(crate) fn reads_acks(&self) -> bool {
                match self {
                    $(Self::$Kind(own) => own.reads_acks(),)+
                    $(Self::$Over(own, _) => own.reads_acks(),)+
                    Self::Own(_) => true,
                }
            }

            /// What it comes to without its classes.
            pub(crate) fn footprint(&self) -> Footprint {
                match self {
                    $(Self::$Kind(own) => own.footprint(),)+
                    $(Self::$Over(own, _) => own.footprint(),)+
                    Self::Own(own) => own.footprint(),
                }
            }

            /// Takes its own variant away.
            pub(crate) fn for_kernel(&mut self) {
                match self {
                    $(Self::$Kind(own) => own.for_kernel(),)+
                    $(Self::$Over(own, _) => own.for_kernel(),)+
                    Self::Own(_) => {}
                }
            }

            /// What a kernel is told of it, without its classes.
            pub(crate) fn kernel(&self) -> Result<Vec<Named>, ParamError> {
                match self {
                    $(Self::$Kind(own) => own.kernel(),)+
                    $(Self::$Over(own, _) => own.kernel(),)+
                    Self::Own(own) => {
                        let rule = "a discipline of Linux on a kernel: use the simulator";
                        Err(ParamError::new("qdisc", "kind", own.about.kind, rule))
                    }
                }
            }
        }

        /// Every kind, with `tc`'s and the current kernel's defaults.
        #[must_use]
        pub fn kinds() -> Vec<KindInfo> {
            vec![$(describe::<$Listed>()),+]
        }

        const KINDS: &[Descriptor] = &[$(<$Listed as Model>::ABOUT),+];

        /// A discipline of any kind, without a box. Made by [`QdiscSpec::build`](crate::QdiscSpec::build).
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum AnyQdisc<P> {
            $($(#[$doc])* $Built($Engine),)+
            $($(#[$large_doc])* $Large(Box<$LargeEngine>),)+
        }

        $(impl<P> From<$Engine> for AnyQdisc<P> {
            fn from(q: $Engine) -> Self {
                Self::$Built(q)
            }
        })+

        $(impl<P> From<Box<$LargeEngine>> for AnyQdisc<P> {
            fn from(q: Box<$LargeEngine>) -> Self {
                Self::$Large(q)
            }
        })+

        impl<P: Packet> AnyQdisc<P> {
            /// Calls `visitor` with the discipline itself, whose methods are then compiled into it.
            #[inline]
            pub(crate) fn visit<V: Visitor<P>>(&mut self, visitor: V) -> V::Output {
                match self {
                    $(Self::$Built(q) => visitor.visit(q),)+
                    $(Self::$Large(q) => visitor.visit(&mut **q),)+
                }
            }
        }

        impl<P: Packet> Qdisc<P> for AnyQdisc<P> {
            #[inline]
            fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
                match self {
                    $(Self::$Built(q) => q.enqueue(packet, now, drops),)+
                    $(Self::$Large(q) => out_of_line::enqueue(&mut **q, packet, now, drops),)+
                }
            }
            #[inline]
            fn dequeue(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
                match self {
                    $(Self::$Built(q) => q.dequeue(now, drops),)+
                    $(Self::$Large(q) => out_of_line::dequeue(&mut **q, now, drops),)+
                }
            }
            #[inline]
            fn ready_at(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Time> {
                match self {
                    $(Self::$Built(q) => q.ready_at(now, drops),)+
                    $(Self::$Large(q) => out_of_line::ready_at(&mut **q, now, drops),)+
                }
            }
            #[inline]
            fn peek_size(&self) -> Option<Bytes> {
                match self { $(Self::$Built(q) => q.peek_size(),)+ $(Self::$Large(q) => q.peek_size(),)+ }
            }
            #[inline]
            fn peek(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Bytes> {
                match self {
                    $(Self::$Built(q) => q.peek(now, drops),)+
                    $(Self::$Large(q) => out_of_line::peek(&mut **q, now, drops),)+
                }
            }
            #[inline]
            fn overtakes(&self) -> bool {
                match self { $(Self::$Built(q) => q.overtakes(),)+ $(Self::$Large(q) => q.overtakes(),)+ }
            }
            #[inline]
            fn lets_pass(&self, size: Bytes) -> bool {
                match self { $(Self::$Built(q) => q.lets_pass(size),)+ $(Self::$Large(q) => q.lets_pass(size),)+ }
            }
            #[inline]
            fn passed(&mut self, size: Bytes) {
                match self { $(Self::$Built(q) => q.passed(size),)+ $(Self::$Large(q) => q.passed(size),)+ }
            }
            #[inline]
            fn lets_pass_alone(&self, packet: &P) -> bool {
                match self {
                    $(Self::$Built(q) => q.lets_pass_alone(packet),)+
                    $(Self::$Large(q) => q.lets_pass_alone(packet),)+
                }
            }
            #[inline]
            fn passed_alone(&mut self, packet: &P, now: Time) {
                match self {
                    $(Self::$Built(q) => q.passed_alone(packet, now),)+
                    $(Self::$Large(q) => q.passed_alone(packet, now),)+
                }
            }
            #[inline]
            fn backlog(&self) -> Backlog {
                match self { $(Self::$Built(q) => q.backlog(),)+ $(Self::$Large(q) => q.backlog(),)+ }
            }
            #[inline]
            fn stats(&self) -> QdiscStats {
                match self { $(Self::$Built(q) => q.stats(),)+ $(Self::$Large(q) => q.stats(),)+ }
            }
            fn extra_stats(&self) -> Vec<(&'static str, f64)> {
                match self { $(Self::$Built(q) => q.extra_stats(),)+ $(Self::$Large(q) => q.extra_stats(),)+ }
            }
            fn class_stats(&self) -> Vec<ClassStats> {
                match self { $(Self::$Built(q) => q.class_stats(),)+ $(Self::$Large(q) => q.class_stats(),)+ }
            }
        }
    };
}

disciplines! {
    kinds {
        Pfifo(crate::fifo::Pfifo),
        Bfifo(crate::fifo::Bfifo),
        PfifoFast(crate::PfifoFastParams),
        Red(crate::red::RedWords),
        Pie(crate::PieParams),
        Codel(crate::codel::CodelSpec),
        Sfq(crate::SfqParams),
        FqCodel(crate::FqCodelParams),
        FqPie(crate::FqPieParams),
        DualPi2(crate::dualpi2::DualPi2Words),
        Cake(crate::cake::CakeSpec),
        Fq(crate::FqParams),
        Netem(crate::NetemParams),
    }
    classful {
        Tbf(crate::tbf::TbfWords),
        Prio(crate::prio::PrioParams),
        Drr(crate::drr::DrrParams),
        Ets(crate::ets::EtsParams),
        Htb(crate::htb::HtbParams),
    }
    listed {
        crate::fifo::Pfifo,
        crate::fifo::Bfifo,
        crate::PfifoFastParams,
        crate::red::RedWords,
        crate::PieParams,
        crate::codel::CodelSpec,
        crate::SfqParams,
        crate::FqCodelParams,
        crate::FqPieParams,
        crate::dualpi2::DualPi2Words,
        crate::cake::CakeSpec,
        crate::FqParams,
        crate::tbf::TbfWords,
        crate::NetemParams,
        crate::prio::PrioParams,
        crate::drr::DrrParams,
        crate::ets::EtsParams,
        crate::htb::HtbParams,
    }
    built {
        /// `pfifo`, `bfifo`.
        Fifo(Fifo<P>),
        /// `pfifo_fast`.
        PfifoFast(PfifoFast<P>),
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
    boxed {
        /// `red`.
        Red(Red<P>),
        /// `fq_pie`.
        FqPie(FqPie<P>),
        /// `dualpi2`.
        DualPi2(DualPi2<P>),
        /// `cake`.
        Cake(Cake<P>),
        /// `fq`.
        Fq(Fq<P>),
        /// `tbf` over the discipline of its class.
        TbfOver(Tbf<P, AnyQdisc<P>>),
        /// `prio`.
        Prio(Prio<P>),
        /// `drr` with its classes.
        Drr(Drr<P>),
        /// `ets`.
        Ets(Ets<P>),
        /// `htb` with its classes.
        Htb(Htb<P>),
        /// One from outside.
        Own(Own<P>),
    }
}

/// `prio`: bands in strict order, each of any discipline. Made by
/// [`QdiscSpec::build`](crate::QdiscSpec::build).
pub type Prio<P> = crate::prio::Prio<AnyQdisc<P>>;

/// `drr`: classes of any discipline that share the link by deficit round robin. Made by
/// [`QdiscSpec::build`](crate::QdiscSpec::build).
pub type Drr<P> = crate::drr::Drr<P, AnyQdisc<P>>;

/// `ets`: strict bands, and below them bands that share by deficit round robin, each of any discipline. Made by
/// [`QdiscSpec::build`](crate::QdiscSpec::build).
pub type Ets<P> = crate::ets::Ets<P, AnyQdisc<P>>;

/// `htb`: a tree of classes with token buckets, whose leaves are of any discipline. Made by
/// [`QdiscSpec::build`](crate::QdiscSpec::build).
pub type Htb<P> = crate::htb::Htb<P, AnyQdisc<P>>;

impl<P, A: Into<Self>, B: Into<Self>> From<Either<A, B>> for AnyQdisc<P> {
    fn from(q: Either<A, B>) -> Self {
        match q {
            Either::One(q) => q.into(),
            Either::Other(q) => q.into(),
        }
    }
}

/// Every kind.
pub fn descriptors() -> impl Iterator<Item = &'static Descriptor> {
    KINDS.iter()
}

/// The kind of this name.
#[must_use]
pub fn descriptor(kind: &str) -> Option<&'static Descriptor> {
    descriptors().find(|about| about.kind == kind)
}

/// The names of all kinds.
pub(crate) fn names() -> Vec<&'static str> {
    KINDS.iter().map(|about| about.kind).chain(own::names()).collect()
}
