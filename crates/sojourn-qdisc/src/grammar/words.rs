//! The words of a kind of discipline: its table of them, and the kind as a [`Model`].

use super::error::SpecError;
use super::given::Given;
use super::kernel_words::{KernelOnly, KernelTable};
use super::measures::Value;
use super::reading::Table;
use crate::classful::Classes;
use crate::descriptor::Descriptor;
use crate::footprint::Footprint;
use crate::netlink::Named;
use crate::{Packet, ParamError};

/// One word of a kind whose parameters are a `T`. Tables are written with [`words!`].
pub(crate) struct Word<T: 'static> {
    /// For a value: the canonical name, then other names `tc` knows. For a flag: what it may say.
    pub(crate) names: &'static [&'static str],
    /// Of its value, or [`FLAG`](super::given::FLAG).
    pub(crate) unit: &'static str,
    pub(crate) help: &'static str,
    pub(crate) set: fn(&mut T, &Given<'_>) -> Result<(), ParamError>,
    /// What it is set to; `None` if to nothing.
    pub(crate) get: fn(&T) -> Option<Value>,
    /// Whether the canonical text has it, if it is set.
    pub(crate) written: fn(&T) -> bool,
}

/// A table of words: each is `[NAMES]: MEASURE = FIELD, "HELP";`, with `if CONDITION` where the canonical text has it
/// only then.
macro_rules! words {
    ($([$($name:literal),+]: $measure:ty = $($field:tt).+ $(, if $when:expr)?, $help:literal;)+) => {
        &[$($crate::grammar::words::Word {
            names: &[$($name),+],
            unit: <$measure as $crate::grammar::measures::Unit>::UNIT,
            help: $help,
            set: |t, given| {
                t.$($field).+ = <$measure as $crate::grammar::measures::Measure<_>>::read(given)?;
                Ok(())
            },
            get: |t| <$measure as $crate::grammar::measures::Measure<_>>::value(&t.$($field).+),
            written: $crate::grammar::words::words!(@when $($when)?),
        }),+]
    };
    (@when) => { |_| true };
    (@when $when:expr) => { $when };
}
pub(crate) use words;

impl<T> Word<T> {
    /// The value, or the flag, to be written; `None` if it need not be.
    pub(crate) fn show(&self, of: &T) -> Option<String> {
        match (self.get)(of).filter(|_| (self.written)(of))? {
            Value::Flag(on) => self.names.get(usize::from(!on)).map(|&name| name.to_owned()),
            value => Some(value.to_string()),
        }
    }
}

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
    pub(crate) given: fn(&T) -> &KernelOnly,
}

/// A kind of discipline that is modelled here: its parameters are `Self`, as `tc` takes them.
pub(crate) trait Model: Sized + 'static {
    /// The discipline itself, as [`AnyQdisc`](crate::AnyQdisc) holds it.
    type Built<P: Packet>;
    /// What is to be known of it besides its algorithm.
    const ABOUT: Descriptor;
    /// Its words, in canonical order.
    const WORDS: &'static [Word<Self>];
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
            return Ok((tabled.given)(self).options().into_iter().collect());
        }
        Table::<Self>::of_kind().for_kernel(self)
    }
    /// Its classes, of a kind that has them.
    fn classes(&self) -> Option<&Classes> {
        None
    }
    /// The same, to be changed.
    fn classes_mut(&mut self) -> Option<&mut Classes> {
        None
    }
    /// What it comes to at most.
    fn footprint(&self) -> Footprint;
    /// See [`QdiscSpec::queue`](crate::QdiscSpec::queue).
    fn queue(&self, _hash: u32) -> Option<u32> {
        None
    }
    /// See [`QdiscSpec::reads_acks`](crate::QdiscSpec::reads_acks).
    fn reads_acks(&self) -> bool {
        false
    }
    /// Makes the discipline, empty.
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

/// Why [`Model::build`] does not panic.
pub(crate) const CHECKED: &str = "a spec holds checked parameters";
