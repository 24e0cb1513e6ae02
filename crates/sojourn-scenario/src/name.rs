//! Names, and the one text that is free.

use crate::{ScenarioError, fail};

pub(crate) fn check_name(field: &str, name: &str) -> Result<(), ScenarioError> {
    let ok = !name.is_empty()
        && name.len() <= 64
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if ok {
        Ok(())
    } else {
        fail(field, format!("{name:?}"), "1 to 64 letters, digits, '_', '-' or '.'")
    }
}
/// Most characters of an experiment's name, which heads tables and figures.
const TITLE_MAX: usize = 200;

/// Checks the one free name: it heads terminals, pages and figures, so it holds nothing that steers them.
pub(crate) fn check_title(field: &str, title: &str) -> Result<(), ScenarioError> {
    let rule = format!("at most {TITLE_MAX} printable characters, without '$'");
    let length = title.chars().count();
    if length > TITLE_MAX {
        return fail(field, format!("a text of {length} characters"), rule);
    }
    if title.chars().any(steers) {
        return fail(field, format!("{title:?}"), rule);
    }
    Ok(())
}

/// Whether a character changes how others are shown: the sign of a formula, controls, line ends, and what turns the
/// direction of text or joins it invisibly.
fn steers(c: char) -> bool {
    c == '$'
        || c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
