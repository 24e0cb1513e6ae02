//! A table of words: what stands behind the name of a kind or of a class, read into fields, and written.

use super::error::SpecError;
use super::given::{FLAG, Given, NUMBERS};
use super::measures::Value;
use crate::ParamError;
use crate::netlink::Named;

/// One word of a kind whose parameters are a `T`. Tables are written with [`words!`].
pub(crate) struct Word<T: 'static> {
    /// For a value: the canonical name, then other names `tc` knows. For a flag: what it may say.
    pub(crate) names: &'static [&'static str],
    /// Of its value, or [`FLAG`](super::given::FLAG).
    pub(crate) unit: &'static str,
    pub(crate) help: &'static str,
    pub(crate) set: fn(&mut T, &Given<'_>) -> Result<(), ParamError>,
    /// What it is set to; `None` if to nothing.
    pub(crate) get: fn(&T) -> Option<Value>,
    /// Whether the canonical text has it, if it is set.
    pub(crate) written: fn(&T) -> bool,
}

/// A table of words: each is `[NAMES]: MEASURE = FIELD, "HELP";`, with `if CONDITION` where the canonical text has it
/// only then.
macro_rules! words {
    ($([$($name:literal),+]: $measure:ty = $($field:tt).+ $(, if $when:expr)?, $help:literal;)+) => {
        &[$($crate::grammar::words::Word {
            names: &[$($name),+],
            unit: <$measure as $crate::grammar::measures::Unit>::UNIT,
            help: $help,
            set: |t, given| {
                t.$($field).+ = <$measure as $crate::grammar::measures::Measure<_>>::read(given)?;
                Ok(())
            },
            get: |t| <$measure as $crate::grammar::measures::Measure<_>>::value(&t.$($field).+),
            written: $crate::grammar::words::words!(@when $($when)?),
        }),+]
    };
    (@when) => { |_| true };
    (@when $when:expr) => { $when };
}
pub(crate) use words;

impl<T> Word<T> {
    /// The value, or the flag, to be written; `None` if it need not be.
    pub(crate) fn show(&self, of: &T) -> Option<String> {
        match (self.get)(of).filter(|_| (self.written)(of))? {
            Value::Flag(on) => self.names.get(usize::from(!on)).map(|&name| name.to_owned()),
            value => Some(value.to_string()),
        }
    }
}

/// Words with what they fill.
pub(crate) struct Table<T: 'static> {
    /// Who has the words.
    pub(crate) kind: &'static str,
    pub(crate) words: &'static [Word<T>],
    /// Whether `variant` is a word, too. It is read elsewhere.
    pub(crate) variants: bool,
}

impl<T> Table<T> {
    /// Reads the words into `value`.
    pub(crate) fn read(&self, words: &[&str], value: &mut T) -> Result<(), SpecError> {
        let mut seen = vec![false; self.words.len()];
        let mut rest = words.iter().peekable();
        let mut variant_seen = false;
        while let Some(&name) = rest.next() {
            if name == "variant" && self.variants {
                if std::mem::replace(&mut variant_seen, true) {
                    return Err(SpecError::Twice {
                        field: format!("{}.variant", self.kind),
                    });
                }
                rest.next();
                continue;
            }
            let Some(at) = self.words.iter().position(|word| word.names.contains(&name)) else {
                return Err(SpecError::UnknownWord {
                    word: name.to_owned(),
                    kind: self.kind,
                    allowed: self.allowed(),
                });
            };
            let word = &self.words[at];
            let field = if word.unit == FLAG { name } else { word.names[0] };
            if std::mem::replace(&mut seen[at], true) {
                return Err(SpecError::Twice {
                    field: format!("{}.{field}", self.kind),
                });
            }
            let mut several = Vec::new();
            while word.unit == NUMBERS
                && let Some(&number) = rest.next_if(|word| !self.knows(word))
            {
                several.push(number);
            }
            let joined = several.join(" ");
            let given = match word.unit {
                FLAG => Some(""),
                NUMBERS => Some(joined.as_str()).filter(|numbers| !numbers.is_empty()),
                _ => rest.next().copied(),
            };
            let given = given.ok_or_else(|| SpecError::NoValue {
                field: format!("{}.{field}", self.kind),
                unit: word.unit,
            })?;
            (word.set)(
                value,
                &Given {
                    kind: self.kind,
                    field: word.names[0],
                    name,
                    value: given,
                },
            )?;
        }
        Ok(())
    }

    fn knows(&self, name: &str) -> bool {
        name == "variant" && self.variants || self.words.iter().any(|word| word.names.contains(&name))
    }

    /// The names of all words.
    fn allowed(&self) -> String {
        let mut names: Vec<&str> = self.words.iter().flat_map(|word| word.names).copied().collect();
        if self.variants {
            names.push("variant");
        }
        names.join(", ")
    }

    /// The words that give `value`, each with a space before it.
    pub(crate) fn write(&self, value: &T, text: &mut String) {
        for word in self.words {
            if let Some(shown) = word.show(value) {
                text.push(' ');
                if word.unit != FLAG {
                    text.push_str(word.names[0]);
                    text.push(' ');
                }
                text.push_str(&shown);
            }
        }
    }

    /// What a kernel is told of every word.
    pub(crate) fn for_kernel(&self, value: &T) -> Result<Vec<Named>, ParamError> {
        let named = self.words.iter().filter_map(|word| {
            let value = (word.get)(value)?;
            value.for_kernel(self.kind, word.names[0]).transpose()
        });
        named.collect()
    }
}
