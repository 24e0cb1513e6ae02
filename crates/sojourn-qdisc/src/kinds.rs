//! The kinds of disciplines: the one list of them.

use crate::classful::Classes;
use crate::descriptor::Descriptor;
use crate::footprint::Footprint;
use crate::grammar::catalogue::{KindInfo, describe};
use crate::grammar::error::SpecError;
use crate::grammar::kernel_words::{KernelOnly, KernelTable};
use crate::grammar::reading::{parse_words, show_words};
use crate::grammar::words::{Either, Model};
use crate::netlink::Named;
use crate::{
    Admission, Backlog, Cake, ClassStats, Codel, Departure, DropSink, Drr, Ets, Fifo, Fq, FqCodel, FqPie, Htb, Netem,
    Packet, ParamError, PfifoFast, Pie, Prio, Qdisc, QdiscStats, Red, Sfq, SfqCodel, Tbf,
};
use sojourn_units::{Bytes, Time};

macro_rules! disciplines {
    (
        kinds { $($Kind:ident($Params:ty)),+ $(,)? }
        built { $($(#[$doc:meta])* $Built:ident($Engine:ty)),+ $(,)? }
        only_in_kernels { $($table:path),* $(,)? }
    ) => {
        /// The parameters of a discipline of any kind that is modelled.
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) enum Kind {
            $($Kind($Params),)+
        }

        impl Kind {
            /// Reads the words after the kind's name; `None` for the name of none.
            pub(crate) fn parse(kind: &str, words: &[&str]) -> Option<Result<Self, SpecError>> {
                $(if kind == <$Params as Model>::ABOUT.kind {
                    return Some(parse_words::<$Params>(words).map(Self::$Kind));
                })+
                None
            }

            pub(crate) const fn about(&self) -> &'static Descriptor {
                match self {
                    $(Self::$Kind(_) => &<$Params as Model>::ABOUT,)+
                }
            }

            /// The canonical text.
            pub(crate) fn show(&self) -> String {
                let mut text = self.show_own();
                if let Some(classes) = self.classes() {
                    classes.write(&mut text);
                }
                text
            }

            /// The canonical text without what is said of classes.
            pub(crate) fn show_own(&self) -> String {
                match self {
                    $(Self::$Kind(params) => show_words(params),)+
                }
            }

            /// Its classes, of a kind that has them.
            pub(crate) fn classes(&self) -> Option<&Classes> {
                match self {
                    $(Self::$Kind(params) => params.classes(),)+
                }
            }

            pub(crate) fn classes_mut(&mut self) -> Option<&mut Classes> {
                match self {
                    $(Self::$Kind(params) => params.classes_mut(),)+
                }
            }

            /// What a class has that is given no discipline.
            pub(crate) fn default_leaf() -> Self {
                Self::Pfifo(Model::defaults())
            }

            pub(crate) fn build<P: Packet>(&self, seed: u64) -> AnyQdisc<P> {
                match self {
                    $(Self::$Kind(params) => params.build(seed).into(),)+
                }
            }

            pub(crate) fn queue(&self, hash: u32) -> Option<u32> {
                match self {
                    $(Self::$Kind(params) => params.queue(hash),)+
                }
            }

            pub(crate) fn reads_acks(&self) -> bool {
                let own = match self {
                    $(Self::$Kind(params) => params.reads_acks(),)+
                };
                let below = |classes: &Classes| {
                    let mut leaves = classes.iter().filter_map(|class| class.qdisc.as_deref());
                    leaves.any(crate::QdiscSpec::reads_acks)
                };
                own || self.classes().is_some_and(below)
            }

            pub(crate) fn footprint(&self) -> Footprint {
                match self {
                    $(Self::$Kind(params) => params.footprint(),)+
                }
            }

            pub(crate) fn for_kernel(&mut self) {
                if let Some(classes) = self.classes_mut() {
                    classes.for_kernel();
                }
                match self {
                    $(Self::$Kind(params) => params.for_kernel(),)+
                }
            }

            pub(crate) fn kernel(&self) -> Result<Vec<Named>, ParamError> {
                match self {
                    $(Self::$Kind(params) => params.kernel(),)+
                }
            }
        }

        /// Every kind that is modelled, with `tc`'s and the current kernel's defaults.
        #[must_use]
        pub fn kinds() -> Vec<KindInfo> {
            vec![$(describe::<$Params>()),+]
        }

        /// The tables of kinds that are modelled but for some of their words.
        const KERNEL_TABLES: &[Option<&KernelTable>] = &[$(match &<$Params as Model>::TABLED {
            Some(tabled) => Some(tabled.table),
            None => None,
        }),+];

        const MODELLED: &[Descriptor] = &[$(<$Params as Model>::ABOUT),+];

        /// The kinds that only a kernel has.
        const ONLY_IN_KERNELS: &[KernelTable] = &[$($table),*];

        /// A discipline of any kind, without a box. Made by [`QdiscSpec::build`](crate::QdiscSpec::build).
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum AnyQdisc<P> {
            $($(#[$doc])* $Built($Engine),)+
        }

        $(impl<P> From<$Engine> for AnyQdisc<P> {
            fn from(q: $Engine) -> Self {
                Self::$Built(q)
            }
        })+

        impl<P: Packet> Qdisc<P> for AnyQdisc<P> {
            #[inline]
            fn enqueue(&mut self, packet: P, now: Time, drops: &mut dyn DropSink<P>) -> Admission {
                match self { $(Self::$Built(q) => q.enqueue(packet, now, drops),)+ }
            }
            #[inline]
            fn dequeue(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Departure<P>> {
                match self { $(Self::$Built(q) => q.dequeue(now, drops),)+ }
            }
            #[inline]
            fn ready_at(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Time> {
                match self { $(Self::$Built(q) => q.ready_at(now, drops),)+ }
            }
            #[inline]
            fn peek_size(&self) -> Option<Bytes> {
                match self { $(Self::$Built(q) => q.peek_size(),)+ }
            }
            #[inline]
            fn peek(&mut self, now: Time, drops: &mut dyn DropSink<P>) -> Option<Bytes> {
                match self { $(Self::$Built(q) => q.peek(now, drops),)+ }
            }
            #[inline]
            fn overtakes(&self) -> bool {
                match self { $(Self::$Built(q) => q.overtakes(),)+ }
            }
            #[inline]
            fn lets_pass(&self, size: Bytes) -> bool {
                match self { $(Self::$Built(q) => q.lets_pass(size),)+ }
            }
            #[inline]
            fn passed(&mut self, size: Bytes) {
                match self { $(Self::$Built(q) => q.passed(size),)+ }
            }
            #[inline]
            fn backlog(&self) -> Backlog {
                match self { $(Self::$Built(q) => q.backlog(),)+ }
            }
            #[inline]
            fn stats(&self) -> QdiscStats {
                match self { $(Self::$Built(q) => q.stats(),)+ }
            }
            fn extra_stats(&self) -> Vec<(&'static str, f64)> {
                match self { $(Self::$Built(q) => q.extra_stats(),)+ }
            }
            fn class_stats(&self) -> Vec<ClassStats> {
                match self { $(Self::$Built(q) => q.class_stats(),)+ }
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
        Cake(crate::cake::CakeSpec),
        Fq(crate::FqParams),
        Tbf(crate::tbf::TbfWords),
        Netem(crate::NetemParams),
        Prio(crate::prio::PrioParams),
        Drr(crate::drr::DrrParams),
        Ets(crate::ets::EtsParams),
        Htb(crate::htb::HtbParams),
    }
    built {
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
        /// `fq_pie`.
        FqPie(Box<FqPie<P>>),
        /// `cake`.
        Cake(Box<Cake<P>>),
        /// `fq`.
        Fq(Box<Fq<P>>),
        /// `tbf` over its own FIFO.
        Tbf(Tbf<P, Fifo<P>>),
        /// `netem`.
        Netem(Netem<P>),
        /// `prio`.
        Prio(Box<Prio<P>>),
        /// `drr` with its classes.
        Drr(Box<Drr<P>>),
        /// `ets`.
        Ets(Box<Ets<P>>),
        /// `htb` with its classes.
        Htb(Box<Htb<P>>),
    }
    only_in_kernels {
    }
}

impl<P, A: Into<Self>, B: Into<Self>> From<Either<A, B>> for AnyQdisc<P> {
    fn from(q: Either<A, B>) -> Self {
        match q {
            Either::One(q) => q.into(),
            Either::Other(q) => q.into(),
        }
    }
}

/// The table of a kind that only a kernel has.
pub(crate) fn only_in_kernels(kind: &str) -> Option<&'static KernelTable> {
    ONLY_IN_KERNELS.iter().find(|table| table.about.kind == kind)
}

/// The table of a kind that is modelled but for some of its words.
pub(crate) fn more_in_kernels(kind: &str) -> Option<&'static KernelTable> {
    KERNEL_TABLES
        .iter()
        .flatten()
        .find(|table| table.about.kind == kind)
        .copied()
}

impl KernelOnly {
    /// The names of all such kinds.
    #[must_use]
    pub fn kinds() -> Vec<&'static str> {
        ONLY_IN_KERNELS.iter().map(|table| table.about.kind).collect()
    }
}

/// Every kind, those that only a kernel has last.
pub fn descriptors() -> impl Iterator<Item = &'static Descriptor> {
    MODELLED.iter().chain(ONLY_IN_KERNELS.iter().map(|table| &table.about))
}

/// The kind of this name.
#[must_use]
pub fn descriptor(kind: &str) -> Option<&'static Descriptor> {
    descriptors().find(|about| about.kind == kind)
}

impl Descriptor {
    /// Whether it can be built; else only a kernel has it.
    #[must_use]
    pub fn modelled(&self) -> bool {
        MODELLED.iter().any(|about| about.kind == self.kind)
    }
}

/// The names of the kinds that are modelled.
pub(crate) fn names() -> Vec<&'static str> {
    MODELLED.iter().map(|about| about.kind).collect()
}
