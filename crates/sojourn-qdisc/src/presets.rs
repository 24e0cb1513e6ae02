//! Presets: parameter sets published in a paper, by name and link rate.
pub(crate) const NAMES: &[&str] = &[];
