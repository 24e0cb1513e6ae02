//! tc's words.

use crate::is_a_sentence;
use sojourn_qdisc::{Discipline, QdiscSpec, kernel_options};
use sojourn_units::Rate;

/// A discipline, as one would type it after `tc qdisc add dev X root`; the first byte says whether a rate is known.
///
/// # Panics
/// If its canonical text is not a fixed point, or a refusal is no sentence.
pub fn tc(data: &[u8]) {
    let [mode, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let rate = (mode & 1 == 0).then(|| Rate::from_bps(1 + (u64::from(*mode) << (mode % 32))));
    let spec = match Discipline::parse(text, rate) {
        Ok(spec) => spec,
        Err(error) => {
            assert!(
                QdiscSpec::parse(text, rate).is_err(),
                "{text:?} is and is no discipline"
            );
            is_a_sentence(&error.to_string());
            return;
        }
    };
    let canonical = spec.to_string();
    let again = Discipline::parse(&canonical, rate).unwrap_or_else(|e| panic!("{canonical:?} of {text:?}: {e}"));
    assert_eq!(again, spec, "{canonical:?}");
    assert_eq!(again.to_string(), canonical);
    assert_eq!(QdiscSpec::parse(text, rate).is_ok(), spec.modelled().is_some());
    let kernels = spec.for_kernel();
    assert_eq!(
        kernels.clone().for_kernel(),
        kernels,
        "what a kernel runs is what it runs"
    );
    match kernel_options(text, rate) {
        Ok(options) => assert_eq!(options.kind, kernels.kind()),
        Err(error) => is_a_sentence(&error.to_string()),
    }
}
