//! Sentences that hold other people's text: one line, without control characters, and not for ever.

use std::fmt::Write as _;

/// Characters of a sentence that are shown: as many from its beginning, where the field is, as from its end, where
/// the rule is.
const HALF: usize = 250;

/// Makes one line of `text` that a terminal can show.
pub(crate) fn plain(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(4 * HALF));
    let whole = text.chars().count();
    let left_out = whole.saturating_sub(2 * HALF);
    for (at, character) in text.chars().enumerate() {
        if left_out > 0 && at == HALF {
            let _ = write!(line, " ... ({left_out} characters) ... ");
        }
        if left_out > 0 && (HALF..HALF + left_out).contains(&at) {
            continue;
        }
        match character {
            '\n' => line.push_str(", "),
            c if c.is_control() || is_invisible(c) => line.extend(c.escape_unicode()),
            c => line.push(c),
        }
    }
    line
}

/// What changes the direction or the place of what follows, though it is no control character: Unicode's format
/// characters.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_short_sentence_is_itself() {
        assert_eq!(plain("up is 0bit, but must be > 0"), "up is 0bit, but must be > 0");
    }

    #[test]
    fn a_long_sentence_keeps_its_field_and_its_rule() {
        let line = plain(&format!(
            "gate.allow is {:?}, but must be a prefix",
            "9".repeat(100_000)
        ));
        assert!(line.starts_with("gate.allow is \"999") && line.ends_with("999\", but must be a prefix"));
        assert!(line.contains(" ... (9") && line.len() < 600, "{line}");
    }

    proptest! {
        #[test]
        fn any_text_becomes_one_line_of_bounded_length(text in any::<String>(), times in 1_usize..200) {
            let line = plain(&text.repeat(times));
            prop_assert!(!line.chars().any(char::is_control));
            prop_assert!(line.chars().count() <= 2 * HALF * 10 + 60);
        }
    }
}
