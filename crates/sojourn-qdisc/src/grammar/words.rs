//! A table of words: what stands behind the name of a kind or of a class, read into fields, and written.

use super::error::SpecError;
use super::measures::Value;
use super::raw_value::{FLAG, NUMBERS, RawValue};
use crate::ParamError;
use crate::netlink::Named;

/// One word of a kind whose parameters are a `T`. Tables are written with [`words!`].
pub(crate) struct Word<T: 'static> {
    /// For a value: the canonical name, then other names `tc` knows. For a flag: what it may say.
    pub(crate) names: &'static [&'static str],
    /// Of its value, or [`FLAG`](super::raw_value::FLAG).
    pub(crate) unit: &'static str,
    pub(crate) help: &'static str,
    pub(crate) set: fn(&mut T, &RawValue<'_>) -> Result<(), ParamError>,
    /// What it is set to; `None` if to nothing.
    pub(crate) get: fn(&T) -> Option<Value>,
    /// Whether the canonical text has it, if it is set.
    pub(crate) written: fn(&T) -> bool,
    /// How `tc` reads it.
    pub(crate) habits: &'static [Habit],
    /// Whether a value is 0 for its reader.
    pub(crate) is_zero: fn(&str) -> bool,
    /// Sets it to its default.
    pub(crate) reset: fn(&mut T, &T),
}

/// What `tc` does with a word besides reading its value. A word that comes again counts the last time, otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Habit {
    /// 0 says the same as nothing.
    ZeroIsUnset,
    /// It may not come again once it is set to more than 0.
    Once,
    /// The beginning of its first name will do.
    Short,
}

/// A word that is read, and says nothing here.
pub(crate) type Ignored = (&'static str, fn(&RawValue<'_>) -> Result<(), ParamError>);

/// Words that `tc` knows and no model here: the words, what they ask for, and what does it instead, if anything. The
/// empty word stands for a number where a word should be.
pub(crate) type Unmodelled = (&'static [&'static str], &'static str, &'static str);

/// A table of words: each is `[NAMES] HABITS: MEASURE = FIELD, "HELP";`, with `if CONDITION` where the canonical text
/// has it only then.
macro_rules! words {
    ($([$($name:literal),+] $($habit:ident)*: $measure:ty = $($field:tt).+ $(, if $when:expr)?, $help:literal;)+) => {
        &[$($crate::grammar::words::Word {
            names: &[$($name),+],
            habits: &[$($crate::grammar::words::Habit::$habit),*],
            is_zero: <$measure as $crate::grammar::measures::Unit>::is_zero,
            reset: |t, defaults| t.$($field).+ = defaults.$($field).+,
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
    pub(crate) ignored: &'static [Ignored],
    pub(crate) unmodelled: &'static [Unmodelled],
    /// Whether `variant` is a word, too. It is read elsewhere.
    pub(crate) variants: bool,
}

impl<T: Clone> Table<T> {
    /// Reads the words into `value`, which has the defaults.
    pub(crate) fn read(&self, words: &[&str], value: &mut T) -> Result<(), SpecError> {
        let defaults = value.clone();
        let mut seen = vec![false; self.words.len()];
        let mut rest = words.iter().peekable();
        while let Some(&name) = rest.next() {
            if name == "variant" && self.variants {
                rest.next();
                continue;
            }
            if let Some((name, check)) = self.ignored.iter().find(|(known, _)| *known == name) {
                let given = rest.next().ok_or_else(|| self.no_value(name, "value"))?;
                check(&RawValue::new(self.kind, name, given))?;
                continue;
            }
            let at = self.find(name)?;
            let word = &self.words[at];
            let field = if word.unit == FLAG { name } else { word.names[0] };
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
            let given = given.ok_or_else(|| self.no_value(field, word.unit))?;
            if std::mem::replace(&mut seen[at], true) && word.habits.contains(&Habit::Once) {
                return Err(SpecError::Twice {
                    field: format!("{}.{field}", self.kind),
                });
            }
            if word.habits.contains(&Habit::ZeroIsUnset) && (word.is_zero)(given) {
                (word.reset)(value, &defaults);
                seen[at] = false;
                continue;
            }
            let given = RawValue {
                kind: self.kind,
                field: word.names[0],
                name,
                value: given,
            };
            (word.set)(value, &given)?;
        }
        Ok(())
    }

    fn no_value(&self, field: &str, unit: &'static str) -> SpecError {
        let field = format!("{}.{field}", self.kind);
        SpecError::NoValue { field, unit }
    }

    /// The place of the word that `name` is, or is short for.
    fn find(&self, name: &str) -> Result<usize, SpecError> {
        let whole = self.words.iter().position(|word| word.names.contains(&name));
        let unmodelled = self.unmodelled.iter().find(|(names, ..)| {
            let number = names.contains(&"") && name.starts_with(|c: char| c.is_ascii_digit());
            number || names.contains(&name)
        });
        if let (None, Some((_, what, instead))) = (whole, unmodelled) {
            return Err(SpecError::NotModelled {
                kind: self.kind,
                what,
                instead,
            });
        }
        let short = |word: &Word<T>| word.habits.contains(&Habit::Short) && word.names[0].starts_with(name);
        whole
            .or_else(|| self.words.iter().position(short))
            .ok_or_else(|| SpecError::UnknownWord {
                word: name.to_owned(),
                kind: self.kind,
                allowed: self.allowed(),
            })
    }

    fn knows(&self, name: &str) -> bool {
        let ignored = self.ignored.iter().any(|(known, _)| *known == name);
        name == "variant" && self.variants || ignored || self.words.iter().any(|word| word.names.contains(&name))
    }

    /// The names of all words.
    fn allowed(&self) -> String {
        let mut names: Vec<&str> = self.words.iter().flat_map(|word| word.names).copied().collect();
        if self.variants {
            names.push("variant");
        }
        names.join(", ")
    }

    /// The kind, and the words that give `value`.
    pub(crate) fn show(&self, value: &T) -> String {
        let mut text = self.kind.to_owned();
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
        text
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
