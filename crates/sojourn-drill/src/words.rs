//! Words of scripts that need something that our TCP does not have: the tables in `data/`.

use serde::Deserialize;
use std::sync::LazyLock;

/// Something that a script needs and our TCP does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The word of the script.
    pub word: String,
    /// Why our TCP does not have it.
    pub why: String,
}

impl Missing {
    /// A word, and why there is nothing for it.
    #[must_use]
    pub fn new(word: impl Into<String>, why: impl Into<String>) -> Self {
        let (word, why) = (word.into(), why.into());
        Self { word, why }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    word: Vec<Word>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Word {
    kind: String,
    words: Vec<String>,
    why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    setting: Vec<Setting>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Setting {
    names: Vec<String>,
    like: Vec<String>,
    why: String,
}

static WORDS: LazyLock<Words> =
    LazyLock::new(|| toml::from_str(include_str!("../data/words.toml")).expect("a test reads the table"));
static SETTINGS: LazyLock<Settings> =
    LazyLock::new(|| toml::from_str(include_str!("../data/sysctls.toml")).expect("a test reads the table"));

/// The entry of the table for `word`, which stands where `kind` says.
pub(crate) fn missing(kind: &str, word: &str) -> Option<Missing> {
    let found = WORDS
        .word
        .iter()
        .find(|w| w.kind == kind && w.words.iter().any(|one| one == word))?;
    Some(Missing::new(word, &found.why))
}

/// The same; a word that is on no list is reported as such.
pub(crate) fn unknown(kind: &str, word: &str) -> Missing {
    missing(kind, word).unwrap_or_else(|| Missing::new(word, format!("this {kind} is not known to sojourn-drill")))
}

/// Whether our TCP behaves as a kernel with this setting.
pub(crate) fn setting(name: &str, value: &str) -> Result<(), Missing> {
    let word = || format!("{name}={value}");
    match SETTINGS.setting.iter().find(|s| s.names.iter().any(|one| one == name)) {
        Some(found) if found.like.iter().any(|like| like == "*" || like == value) => Ok(()),
        Some(found) => Err(Missing::new(word(), &found.why)),
        None => Err(Missing::new(word(), "this setting is not known to sojourn-drill")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_can_be_read_and_name_each_word_once() {
        let mut all: Vec<_> = WORDS
            .word
            .iter()
            .flat_map(|w| w.words.iter().map(|one| (&w.kind, one)))
            .collect();
        let n = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), n);
        assert!(setting("net.ipv4.tcp_sack", "1").is_ok());
        let missing = setting("net.ipv4.tcp_sack", "0").expect_err("it is not like ours");
        assert_eq!(missing.word, "net.ipv4.tcp_sack=0");
        assert!(setting("net.ipv4.nonsense", "0").is_err());
    }
}
