//! A kind of discipline as a [`Model`]: what is known of it, its words, and for a kind without classes how it is made.

use super::catalogue::{ParameterInfo, parameters};
use super::error::SpecError;
use super::reading::{parse_words, show_words};
use super::words::{Ignored, Table, Unmodelled, Word};
use crate::descriptor::Descriptor;
use crate::footprint::Footprint;
use crate::netlink::Named;
use crate::{Packet, ParamError};

/// The name of the variant that is the current kernel.
pub(crate) const CURRENT: &str = "linux";

/// The name of a variant, and the defaults it has.
pub(crate) type Variant<T> = (&'static str, fn() -> T);

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
    /// Names of behaviours other than the current kernel's, and the defaults that each has.
    const VARIANTS: &'static [Variant<Self>] = &[];

    /// `tc`'s and the current kernel's defaults.
    fn defaults() -> Self;
    /// The name of its variant.
    fn variant(&self) -> &'static str {
        CURRENT
    }
    /// Fills in what follows from other words, and checks all.
    fn finish(&mut self) -> Result<(), ParamError>;
    /// Takes the variant away: a kernel has its own behaviour. What the variant does not have gets the kernel's
    /// defaults.
    fn for_kernel(&mut self) {}
    /// Reads the words after the kind.
    fn parse(words: &[&str]) -> Result<Self, SpecError> {
        parse_words(words)
    }
    /// The canonical text.
    fn show(&self) -> String {
        show_words(self)
    }
    /// Its words for lists, but for `variant`.
    fn parameters() -> Vec<ParameterInfo> {
        parameters::<Self>()
    }
    /// What a kernel is told.
    fn kernel(&self) -> Result<Vec<Named>, ParamError> {
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
