//! What became of a script, as JSON.

use serde::Serialize;
use sojourn_drill::{Failure, Outcome, ParseError, Run, Script, parse};

/// The form of the answer; changes with it.
const FORMAT: &str = "sojourn-drill/1";

/// What became of a script.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    format: &'static str,
    /// `passed`, `failed`, `not applicable` or `damaged`.
    outcome: &'static str,
    /// Line of the script, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// What a failed or damaged script expects.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    /// What came.
    #[serde(skip_serializing_if = "Option::is_none")]
    got: Option<String>,
    /// The word of a script that is not applicable.
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<String>,
    /// Why there is nothing for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// What the script printed, line by line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    printed: Vec<Printed>,
}

/// What a line of a script printed.
#[derive(Debug, Serialize)]
struct Printed {
    line: u32,
    text: String,
}

impl Report {
    /// Reads a script and runs it.
    pub(crate) fn of(text: &str, run: impl FnOnce(&Script) -> Run) -> Self {
        match parse(text) {
            Ok(script) => {
                let Run { outcome, printed } = run(&script);
                let printed = printed.into_iter().map(|(line, text)| Printed { line, text });
                Self {
                    printed: printed.collect(),
                    ..outcome.into()
                }
            }
            Err(error) => error.into(),
        }
    }

    /// As a line of JSON.
    pub(crate) fn as_json(&self) -> String {
        let mut text = serde_json::to_string(self).expect("texts and numbers can be written");
        text.push('\n');
        text
    }
}

impl From<Outcome> for Report {
    fn from(outcome: Outcome) -> Self {
        let report = Self {
            format: FORMAT,
            outcome: outcome.word(),
            ..Self::default()
        };
        match outcome {
            Outcome::Passed => report,
            Outcome::Failed(Failure { line, expected, got }) => Self {
                line: Some(line),
                expected: Some(expected),
                got: Some(got),
                ..report
            },
            Outcome::NotApplicable { line, missing } => Self {
                line: Some(line),
                needs: Some(missing.word),
                why: Some(missing.why),
                ..report
            },
        }
    }
}

impl From<ParseError> for Report {
    fn from(error: ParseError) -> Self {
        Self {
            format: FORMAT,
            outcome: "damaged",
            line: Some(error.line),
            expected: Some(error.expected),
            got: Some(error.found),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_what_its_outcome_has() {
        let damaged = Report::of("+0 nonsense", sojourn_drill::run).as_json();
        let expected = r#"{"format":"sojourn-drill/1","outcome":"damaged","line":1,"expected":"the arguments of a system call","got":"the end of the script"}"#;
        assert_eq!(damaged, format!("{expected}\n"));
        let passed = Report::of("", sojourn_drill::run).as_json();
        assert_eq!(passed, "{\"format\":\"sojourn-drill/1\",\"outcome\":\"passed\"}\n");
    }
}
