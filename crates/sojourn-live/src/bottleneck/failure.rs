//! Why a command ended early.

/// One sentence, and the exit status: 2 for bad input, 1 for anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What is said on standard error.
    pub sentence: String,
    /// The exit status.
    pub status: u8,
}

impl Failure {
    /// Bad input.
    #[must_use]
    pub fn input(sentence: impl Into<String>) -> Self {
        Self {
            sentence: sentence.into(),
            status: 2,
        }
    }

    /// Anything else.
    #[must_use]
    pub fn run(error: impl std::fmt::Display) -> Self {
        Self {
            sentence: error.to_string(),
            status: 1,
        }
    }
}
