//! The values of a script's Python, its operators, and how it writes values as text.

use crate::target::Trouble;
use crate::words::Missing;
use std::cmp::Ordering;
use std::fmt;

/// The longest text, and the most values of a tuple, that a script may make.
const LARGEST: usize = 10_000;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    Text(String),
    /// A tuple, also in place of a list.
    Tuple(Vec<Scalar>),
}

impl From<i64> for Scalar {
    fn from(n: i64) -> Self {
        Self::Int(n.into())
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(n) => write!(f, "{n}"),
            Self::Float(x) => write!(f, "{x:?}"),
            Self::Text(text) => f.write_str(text),
            Self::Tuple(all) => {
                let all: Vec<String> = all.iter().map(Self::repr).collect();
                write!(f, "({}{})", all.join(", "), if all.len() == 1 { "," } else { "" })
            }
        }
    }
}

/// What a tuple itself counts for in that, so that few lie inside each other.
const TUPLE: usize = 300;

/// What Python answers with an error.
pub(crate) fn wrong<T>(clause: impl Into<String>) -> Result<T, Trouble> {
    Err(Trouble::Wrong(clause.into()))
}

/// What Python knows and this does not.
pub(crate) fn unknown<T>(word: impl Into<String>) -> Result<T, Trouble> {
    Err(Missing::new(word, "this part of Python is not known to sojourn-drill").into())
}

fn bounded<T>(value: Option<T>, what: &str) -> Result<T, Trouble> {
    value.ok_or_else(|| Missing::new(what, "sojourn-drill has a bound for what a script computes").into())
}

impl Scalar {
    /// Whether Python takes it for true.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(is_true) => *is_true,
            Self::Int(n) => *n != 0,
            Self::Float(x) => *x != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::Tuple(all) => !all.is_empty(),
        }
    }

    /// As Python's `repr` writes it.
    pub(crate) fn repr(&self) -> String {
        match self {
            Self::Text(text) => format!("'{text}'"),
            other => other.to_string(),
        }
    }

    /// The integer that it is; a truth value is one in Python.
    pub(crate) fn int(&self) -> Option<i128> {
        match self {
            Self::Int(n) => Some(*n),
            Self::Bool(is_true) => Some(i128::from(*is_true)),
            _ => None,
        }
    }

    pub(crate) fn float(&self) -> Option<f64> {
        match self {
            Self::Float(x) => Some(*x),
            other => other.int().map(|n| n as f64),
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Tuple(all) => all.iter().fold(TUPLE, |sum, one| sum.saturating_add(one.size())),
            _ => 1,
        }
    }

    /// It, if it is not larger than a script may make a value.
    pub(crate) fn within(self) -> Result<Self, Trouble> {
        let fits = self.size() <= LARGEST;
        bounded(fits.then_some(self), "a text or tuple of more than 10000")
    }

    pub(crate) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            (Self::Tuple(a), Self::Tuple(b)) => {
                let unequal = a.iter().zip(b).find(|(a, b)| a.order(b) != Some(Ordering::Equal));
                unequal.map_or(Some(a.len().cmp(&b.len())), |(a, b)| a.order(b))
            }
            (Self::None, Self::None) => Some(Ordering::Equal),
            _ => match (self.int(), other.int()) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                _ => self.float()?.partial_cmp(&other.float()?),
            },
        }
    }
}

/// Compares with `op`.
pub(crate) fn compares(op: &str, left: &Scalar, right: &Scalar) -> Result<bool, Trouble> {
    let order = left.order(right);
    Ok(match op {
        "==" => order == Some(Ordering::Equal),
        "!=" => order != Some(Ordering::Equal),
        "in" | "not in" => {
            let is_in = match (left, right) {
                (_, Scalar::Tuple(all)) => all.iter().any(|one| one.order(left) == Some(Ordering::Equal)),
                (Scalar::Text(part), Scalar::Text(text)) => text.contains(part.as_str()),
                _ => return wrong(format!("{} cannot be in {}", left.repr(), right.repr())),
            };
            is_in == (op == "in")
        }
        _ => match (order, left, right) {
            (Some(Ordering::Less), ..) => matches!(op, "<" | "<="),
            (Some(Ordering::Greater), ..) => matches!(op, ">" | ">="),
            (Some(Ordering::Equal), ..) => matches!(op, "<=" | ">="),
            (None, Scalar::Float(_), _) | (None, _, Scalar::Float(_))
                if left.float().is_some() && right.float().is_some() =>
            {
                false
            }
            _ => return wrong(format!("{} and {} cannot be compared", left.repr(), right.repr())),
        },
    })
}

/// An operator with one operand.
pub(crate) fn unary(op: &str, value: &Scalar) -> Result<Scalar, Trouble> {
    match (op, value.int(), value) {
        ("not", ..) => Ok(Scalar::Bool(!value.is_true())),
        ("-", Some(n), _) => bounded(n.checked_neg(), "an integer beyond 127 bits").map(Scalar::Int),
        ("+", Some(n), _) => Ok(Scalar::Int(n)),
        ("~", Some(n), _) => Ok(Scalar::Int(!n)),
        ("-", _, Scalar::Float(x)) => Ok(Scalar::Float(-x)),
        ("+", _, Scalar::Float(x)) => Ok(Scalar::Float(*x)),
        _ => wrong(format!("{op} has no meaning for {}", value.repr())),
    }
}

/// An operator with two operands.
pub(crate) fn binary(op: &str, left: &Scalar, right: &Scalar) -> Result<Scalar, Trouble> {
    let senseless = || wrong(format!("{op} has no meaning for {} and {}", left.repr(), right.repr()));
    if let (Some(a), Some(b)) = (left.int(), right.int()) {
        let value = match op {
            "/" | "//" | "%" if b == 0 => return wrong("a number is divided by zero"),
            "/" => return Ok(Scalar::Float(a as f64 / b as f64)),
            "<<" | ">>" if b < 0 => return wrong("a number is shifted by less than 0"),
            "**" if b < 0 => return unknown("a power that is no integer"),
            "+" => a.checked_add(b),
            "-" => a.checked_sub(b),
            "*" => a.checked_mul(b),
            "&" => Some(a & b),
            "|" => Some(a | b),
            "^" => Some(a ^ b),
            "<<" => (b < 127).then(|| a.checked_mul(1 << b)).flatten(),
            ">>" => Some(a >> b.min(127)),
            // Python rounds down, and the remainder has the sign of the divisor.
            "//" => a
                .checked_div(b)
                .map(|q| if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q }),
            "%" => a
                .checked_rem(b)
                .map(|r| if r != 0 && (r < 0) != (b < 0) { r + b } else { r }),
            "**" => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
            _ => return senseless(),
        };
        return bounded(value, "an integer beyond 127 bits").map(Scalar::Int);
    }
    match (op, left, right) {
        ("%", Scalar::Text(format), _) => return percent(format, right).and_then(Scalar::within),
        ("+", Scalar::Text(a), Scalar::Text(b)) => return Scalar::Text(format!("{a}{b}")).within(),
        ("+", Scalar::Tuple(a), Scalar::Tuple(b)) => return Scalar::Tuple([&a[..], b].concat()).within(),
        ("*", Scalar::Text(_) | Scalar::Tuple(_), _) | ("*", _, Scalar::Text(_) | Scalar::Tuple(_)) => {
            return unknown("a text or tuple that is repeated");
        }
        _ => {}
    }
    let (Some(a), Some(b)) = (left.float(), right.float()) else {
        return senseless();
    };
    Ok(Scalar::Float(match op {
        "/" | "//" | "%" if b == 0.0 => return wrong("a number is divided by zero"),
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "//" => (a / b).floor(),
        "%" => a - b * (a / b).floor(),
        "**" => return unknown("a power that is no integer"),
        _ => return senseless(),
    }))
}

/// `"%d of %s" % (1, "x")`.
fn percent(format: &str, right: &Scalar) -> Result<Scalar, Trouble> {
    let one;
    let values: &[Scalar] = match right {
        Scalar::Tuple(all) => all,
        other => {
            one = [other.clone()];
            &one
        }
    };
    let mut values = values.iter();
    let mut text = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(end) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '%' || c == '(') else {
            return wrong("a format ends in the middle");
        };
        let (spec, kind) = (&rest[..end], &rest[end..=end]);
        rest = &rest[end + 1..];
        match kind {
            "%" => text.push('%'),
            "(" => return unknown("%("),
            _ => match values.next() {
                Some(value) => text.push_str(&formatted(value, &format!("{spec}{kind}"), true)?),
                None => return wrong("a format has too few values"),
            },
        }
    }
    if values.next().is_some() && matches!(right, Scalar::Tuple(_)) || values.len() > 0 {
        return wrong("a format has too many values");
    }
    text.push_str(rest);
    Ok(Scalar::Text(text))
}

/// A value in the form that `spec` says: `-08.3f` after a `%` (`old`), or `<08.3f` in an f-string.
pub(crate) fn formatted(value: &Scalar, spec: &str, old: bool) -> Result<String, Trouble> {
    let flags = spec.trim_start_matches(['-', '+', '0', '<', '>']);
    let has = |flag| spec[..spec.len() - flags.len()].contains(flag);
    let kind = flags.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let numbers = &flags[..flags.len() - kind.len()];
    let (width, precision) = numbers.split_once('.').unwrap_or((numbers, ""));
    let number = |digits: &str| match digits {
        "" => Ok(None),
        _ => bounded(
            digits.parse().ok().filter(|n: &usize| *n <= 100),
            "a width of more than 100",
        )
        .map(Some),
    };
    let (width, precision) = (number(width)?.unwrap_or(0), number(precision)?);
    let misfit = || wrong(format!("{} has no form {spec}", value.repr()));
    let text = match (kind, value.int(), value.float()) {
        ("d" | "i" | "u", Some(n), _) => n.to_string(),
        ("d" | "i" | "u", None, Some(x)) if old => (x.trunc() as i128).to_string(),
        ("x", Some(n), _) => format!("{}{:x}", if n < 0 { "-" } else { "" }, n.unsigned_abs()),
        ("X", Some(n), _) => format!("{}{:X}", if n < 0 { "-" } else { "" }, n.unsigned_abs()),
        ("f" | "F", _, Some(x)) => format!("{x:.*}", precision.unwrap_or(6)),
        ("s", ..) if old || matches!(value, Scalar::Text(_)) => value.to_string(),
        ("r", ..) if old => value.repr(),
        ("", ..) if precision.is_none() => value.to_string(),
        ("d" | "i" | "u" | "x" | "X" | "f" | "F" | "s", ..) => return misfit(),
        _ => return unknown(format!("the form {spec}")),
    };
    let text = match (precision, kind) {
        (Some(most), "s" | "r") => text.chars().take(most).collect(),
        _ => text,
    };
    let is_number = value.float().is_some() && !matches!(kind, "s" | "r");
    let plus = if is_number && has('+') && !text.starts_with('-') {
        "+"
    } else {
        ""
    };
    let missing = width.saturating_sub(text.chars().count() + plus.len());
    let left = has('-') || has('<') || !old && !is_number && !has('>');
    Ok(match text.strip_prefix('-') {
        _ if left => format!("{plus}{text}{}", " ".repeat(missing)),
        Some(digits) if is_number && has('0') => format!("-{}{digits}", "0".repeat(missing)),
        _ if is_number && has('0') => format!("{plus}{}{text}", "0".repeat(missing)),
        _ => format!("{}{plus}{text}", " ".repeat(missing)),
    })
}
