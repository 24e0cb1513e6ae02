//! A discipline that can be built, from its text: a kind with its words, or a preset; and statements about its classes.

mod below;
mod filters;
mod kernel;
mod printed;
pub(crate) mod statements;

use crate::Packet;
use crate::classful::Classes;
use crate::descriptor::Descriptor;
use crate::footprint::Footprint;
use crate::grammar::error::SpecError;
use crate::kinds::{self, AnyQdisc, Kind};
use crate::presets::{self, PresetInfo};
use sojourn_units::{Rate, text};
use std::fmt;

/// A discipline and all its parameters, valid by construction.
///
/// [`fmt::Display`] gives the canonical text, every parameter written out; parsing that gives the same again.
///
/// ```
/// use sojourn_qdisc::QdiscSpec;
/// let spec = QdiscSpec::parse("codel target 13ms noecn", None).unwrap();
/// assert_eq!(spec.to_string(), "codel limit 1000 target 13ms interval 100ms noecn");
/// let error = QdiscSpec::parse("fq_codel flows 70000", None).unwrap_err();
/// assert_eq!(error.to_string(), "fq_codel.flows is 70000, but must be <= 65536");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct QdiscSpec(pub(crate) Kind<Self>);

text!(QdiscSpec, |text: &str| QdiscSpec::parse(text, None), "qdisc");

impl QdiscSpec {
    /// Reads `text`: a kind and its words as for `tc`, or a preset, which needs the link's `rate`; and statements about
    /// classes, each on a line of its own or behind a semicolon.
    ///
    /// # Errors
    /// [`SpecError`]: one sentence that names the word, or the parameter, its value and the rule.
    pub fn parse(text: &str, rate: Option<Rate>) -> Result<Self, SpecError> {
        if let Some(text) = statements::translated(text)? {
            return Self::parse(&text, rate);
        }
        let statements = statements::split(text);
        let (first, below) = statements.split_first().unwrap_or((&"", &[]));
        let first: Vec<&str> = first.split_whitespace().collect();
        let (root, first) = statements::root(&first)?;
        let mut spec = Self::parse_words(first, rate)?;
        if let Some(words) = root.framed(spec.kind(), &spec.to_string(), first)? {
            spec = Self::parse_words(&words.split(' ').collect::<Vec<_>>(), rate)?;
        }
        if let (Some(&preset), Some(statement)) = (
            first.first().filter(|word| presets::find(word).is_some()),
            below.first(),
        ) {
            return Err(SpecError::PresetWithWords {
                word: statement.trim().to_owned(),
                preset: preset.to_owned(),
            });
        }
        statements::read_below(spec, &root, below, rate)
    }

    /// Reads a kind and its words, or a preset.
    pub(crate) fn parse_words(words: &[&str], rate: Option<Rate>) -> Result<Self, SpecError> {
        let Some((&kind, words)) = words.split_first() else {
            return Err(SpecError::Empty);
        };
        if let Some(preset) = presets::find(kind) {
            if let Some(&word) = words.first() {
                return Err(SpecError::PresetWithWords {
                    word: word.to_owned(),
                    preset: kind.to_owned(),
                });
            }
            let rate = rate.ok_or_else(|| SpecError::NeedsRate {
                preset: kind.to_owned(),
            })?;
            return preset.at(rate);
        }
        match Kind::parse(kind, words) {
            Some(parsed) => parsed.map(Self),
            None if matches!(kind, "ingress" | "clsact") => Err(statements::without_queue(kind)),
            None => match kinds::UNMODELLED.iter().find(|&&known| known == kind) {
                Some(kind) => Err(SpecError::KindNotModelled {
                    kind,
                    kinds: kinds::names(),
                }),
                None => Err(SpecError::UnknownKind {
                    kind: kind.to_owned(),
                    kinds: kinds::names(),
                    presets: presets::names(),
                }),
            },
        }
    }

    /// What is to be known of its kind besides its parameters.
    #[must_use]
    pub const fn about(&self) -> &'static Descriptor {
        self.0.about()
    }

    /// The kind's name, as `tc` calls it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.about().kind
    }

    /// The queue of packets of a flow with this hash; `None` for a discipline that does not tell flows apart by it.
    ///
    /// Two flows share a queue if both get the same number. With `sfq perturb` that is so until the first
    /// perturbation.
    ///
    /// ```
    /// let spec = sojourn_qdisc::QdiscSpec::parse("fq_codel flows 64", None).unwrap();
    /// assert_eq!((spec.queue(70), spec.queue(6)), (Some(6), Some(6)));
    /// assert_eq!(sojourn_qdisc::QdiscSpec::parse("codel", None).unwrap().queue(70), None);
    /// ```
    #[must_use]
    pub fn queue(&self, hash: u32) -> Option<u32> {
        self.0.queue(hash)
    }

    /// Whether it looks at acknowledgements, by [`Packet::ack`]. A world may leave them out for others.
    ///
    /// ```
    /// use sojourn_qdisc::QdiscSpec;
    /// let [plain, filter] = ["cake", "cake ack-filter"].map(|text| QdiscSpec::parse(text, None).unwrap());
    /// assert!(!plain.reads_acks() && filter.reads_acks());
    /// ```
    #[must_use]
    pub fn reads_acks(&self) -> bool {
        let below = |classes: &Classes<Self>| {
            classes
                .iter()
                .filter_map(|class| class.qdisc.as_deref())
                .any(Self::reads_acks)
        };
        self.0.reads_acks() || self.0.classes().is_some_and(below)
    }

    /// Whether it looks at code points or hosts (see [`Descriptor::reads_identity`](crate::Descriptor)). A class may hold
    /// any discipline, so one with classes does.
    ///
    /// ```
    /// use sojourn_qdisc::QdiscSpec;
    /// let of = |text| QdiscSpec::parse(text, None).unwrap().reads_identity();
    /// assert!(!of("fq_codel ce_threshold 1ms ce_threshold_selector 0x01/0x01")); // the ECN field alone
    /// assert!(of("fq_codel ce_threshold 1ms ce_threshold_selector 0xb8/0xfc")); // packets of EF
    /// ```
    #[must_use]
    pub fn reads_identity(&self) -> bool {
        let below = |classes: &Classes<Self>| {
            let mut disciplines = classes.iter().filter_map(|class| class.qdisc.as_deref());
            disciplines.any(Self::reads_identity)
        };
        self.0.reads_identity() || self.0.classes().is_some_and(below)
    }

    /// What the discipline comes to at most. Nothing is built, so it costs nothing, whatever the parameters are.
    ///
    /// ```
    /// use sojourn_qdisc::QdiscSpec;
    /// let spec = QdiscSpec::parse("fq_codel limit 4294967295 flows 65536", None).unwrap();
    /// let footprint = spec.footprint();
    /// assert_eq!((footprint.packets, footprint.queues), (4_294_967_295, 65_536));
    /// ```
    #[must_use]
    pub fn footprint(&self) -> Footprint {
        let own = self.0.footprint();
        self.0.classes().map_or(own, |classes| classes.footprint(own))
    }

    /// Makes the discipline, empty. A discipline that draws random numbers draws them from the stream of `seed`.
    #[must_use]
    pub fn build<P: Packet>(&self, seed: u64) -> AnyQdisc<P> {
        self.0.build(seed, |classes| classes.build(seed))
    }

    /// What a class has that is given no discipline.
    fn default_leaf() -> Self {
        Self(Kind::default_leaf())
    }

    /// See [`Discipline::for_kernel`](crate::Discipline::for_kernel).
    pub(crate) fn for_kernel(&mut self) {
        self.0.for_kernel();
        if let Some(classes) = self.0.classes_mut() {
            classes.qdiscs_mut().for_each(Self::for_kernel);
        }
    }
}

impl PresetInfo {
    /// What it stands for on a link of this rate.
    ///
    /// # Errors
    /// [`SpecError`] where the rules of the table lead to a value that the kind cannot take, at rates far beyond its
    /// columns.
    pub fn at(&self, rate: Rate) -> Result<QdiscSpec, SpecError> {
        QdiscSpec::parse(&self.text_at(rate), None)
    }
}

impl fmt::Display for QdiscSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.show())?;
        self.0.classes().map_or(Ok(()), |classes| classes.write(f))
    }
}

#[cfg(test)]
mod tests;
