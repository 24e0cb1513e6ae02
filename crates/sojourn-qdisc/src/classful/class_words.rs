//! What is said of a class, by the kind of its discipline.

use crate::ParamError;
use crate::drr::DrrClass;
use crate::grammar::error::SpecError;
use crate::htb::HtbClass;
use crate::netlink::Named;

/// What is said of one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ClassWords {
    /// Nothing: it is a band.
    Band,
    Drr(DrrClass),
    Htb(HtbClass),
}

impl ClassWords {
    /// Reads the words behind the kind.
    pub(crate) fn parse(kind: &str, words: &[&str]) -> Result<Self, SpecError> {
        match kind {
            "drr" => DrrClass::parse(words).map(Self::Drr),
            "htb" => HtbClass::parse(words).map(Self::Htb),
            kind => Err(ParamError::new(
                "class",
                "kind",
                kind,
                "drr or htb: other kinds have their classes at once",
            )
            .into()),
        }
    }

    /// The kind with the words; `None` for a band.
    pub(crate) fn show(&self) -> Option<String> {
        match self {
            Self::Band => None,
            Self::Drr(drr) => Some(drr.show()),
            Self::Htb(htb) => Some(htb.show()),
        }
    }

    /// What a kernel is told; `None` for a band.
    pub(crate) fn kernel(&self) -> Result<Option<Vec<Named>>, ParamError> {
        match self {
            Self::Band => Ok(None),
            Self::Drr(drr) => drr.kernel().map(Some),
            Self::Htb(htb) => htb.kernel().map(Some),
        }
    }
}
