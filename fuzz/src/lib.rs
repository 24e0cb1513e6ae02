//! What must hold of whatever comes from outside, for any bytes at all.
//!
//! Each function takes the bytes of one case and panics if a property does not hold. `fuzz_targets/` gives each of them
//! to libFuzzer; `tests/corpus.rs` runs them on the committed corpus, so that a plain `cargo test` (and Miri) does, too.
//! A case sets up nothing large, since a target is worth what it runs in a second.

mod captures;
#[cfg(feature = "whole")]
mod control;
mod frames;
mod gate;
mod operations;
mod qdisc;
mod records;
#[cfg(feature = "whole")]
mod router;
mod store;
mod tc;
#[cfg(feature = "whole")]
mod texts;

pub use captures::{pcap, pcapng};
#[cfg(feature = "whole")]
pub use control::control;
pub use frames::frames;
pub use gate::gate;
pub use operations::flusher;
pub use qdisc::qdisc;
pub use records::records;
pub use store::store;
pub use tc::tc;
#[cfg(feature = "whole")]
pub use texts::{config, scenario};

/// A target: it panics if a property does not hold for these bytes.
pub type Target = fn(&[u8]);

/// All of them, by the name of the binary and of the folder of the corpus.
pub const TARGETS: &[(&str, Target)] = &[
    #[cfg(feature = "whole")]
    ("config", config),
    #[cfg(feature = "whole")]
    ("control", control),
    ("flusher", flusher),
    ("frames", frames),
    ("gate", gate),
    ("pcap", pcap),
    ("pcapng", pcapng),
    ("qdisc", qdisc),
    ("records", records),
    #[cfg(feature = "whole")]
    ("scenario", scenario),
    ("store", store),
    ("tc", tc),
];

/// Asserts that a refusal is one line that says something.
fn is_a_sentence(error: &str) {
    assert!(error.len() > 10, "{error:?} says nothing");
    assert!(!error.contains('\n'), "{error:?} has more than one line");
}
