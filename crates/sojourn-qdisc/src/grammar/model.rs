//! A kind of discipline as a [`Model`]: what is known of it, its words, and for a kind without classes how it is made.

use super::error::SpecError;
use super::kernel_words::{KernelOnly, KernelTable};
use super::words::{Ignored, Table, Unmodelled, Word};
use crate::descriptor::Descriptor;
use crate::footprint::Footprint;
use crate::netlink::Named;
use crate::{Packet, ParamError};

/// The name of a variant, and the defaults it has.
pub(crate) type Variant<T> = (&'static str, fn() -> T);

/// A kind whose words are one table for the simulator and for kernels. Its canonical text has the words that were
/// given, and a kernel is told these.
pub(crate) struct Tabled<T: 'static> {
    pub(crate) table: &'static KernelTable,
    /// Of each option its default, empty if there is none, and one line.
    pub(crate) help: &'static [(&'static str, &'static str, &'static str)],
    /// What the words come to.
    pub(crate) read: fn(KernelOnly) -> Result<T, SpecError>,
    /// The words that were given.
    pub(crate) words: fn(&T) -> &KernelOnly,
}

/// A kind of discipline that is modelled here: its parameters are `Self`, as `tc` takes them.
pub(crate) trait Model: Clone + Sized + 'static {
    /// What is to be known of it besides its algorithm.
    const ABOUT: Descriptor;
    /// Its words, in canonical order.
    const WORDS: &'static [Word<Self>];
    /// Words that are read, and say nothing.
    const IGNORED: &'static [Ignored] = &[];
    /// Words that `tc` knows and that are not modelled.
    const UNMODELLED: &'static [Unmodelled] = &[];
    /// Its words, if they are a table that kernels share.
    const TABLED: Option<Tabled<Self>> = None;
    /// Names of behaviours other than the current kernel's, and the defaults that each has.
    const VARIANTS: &'static [Variant<Self>] = &[];

    /// `tc`'s and the current kernel's defaults.
    fn defaults() -> Self;
    /// The name of a variant other than the current kernel's.
    fn variant(&self) -> Option<&'static str> {
        None
    }
    /// Fills in what follows from other words, and checks all.
    fn finish(&mut self) -> Result<(), ParamError>;
    /// Takes the variant away: a kernel has its own behaviour. What the variant does not have gets the kernel's
    /// defaults.
    fn for_kernel(&mut self) {}
    /// What a kernel is told: every word, or of a table those that were given.
    fn kernel(&self) -> Result<Vec<Named>, ParamError> {
        if let Some(tabled) = Self::TABLED {
            return Ok((tabled.words)(self).options().into_iter().collect());
        }
        table::<Self>().for_kernel(self)
    }
    /// What it comes to at most.
    fn footprint(&self) -> Footprint;
    /// See [`QdiscSpec::queue`](crate::QdiscSpec::queue).
    fn queue(&self, _hash: u32) -> Option<u32> {
        None
    }
    /// See [`QdiscSpec::reads_identity`](crate::QdiscSpec::reads_identity).
    fn reads_identity(&self) -> bool {
        Self::ABOUT.reads_identity
    }
    /// See [`QdiscSpec::reads_acks`](crate::QdiscSpec::reads_acks).
    fn reads_acks(&self) -> bool {
        false
    }
}

/// A kind without classes.
pub(crate) trait Plain: Model {
    /// The discipline itself, as [`AnyQdisc`](crate::AnyQdisc) holds it.
    type Built<P: Packet>;

    /// Makes the discipline, empty. What it draws at random comes from the stream of `seed`.
    ///
    /// # Panics
    /// Never for parameters that were checked by [`Model::finish`].
    fn build<P: Packet>(&self, seed: u64) -> Self::Built<P>;
}

/// The discipline of a kind that has two.
#[derive(Debug)]
pub(crate) enum Either<A, B> {
    One(A),
    Other(B),
}

/// Why [`Plain::build`] does not panic.
pub(crate) const CHECKED: &str = "a spec holds checked parameters";

/// The words of a kind.
pub(crate) const fn table<T: Model>() -> Table<T> {
    Table {
        kind: T::ABOUT.kind,
        words: T::WORDS,
        ignored: T::IGNORED,
        unmodelled: T::UNMODELLED,
        variants: !T::VARIANTS.is_empty(),
    }
}
