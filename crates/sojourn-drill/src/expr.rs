//! The expressions of a script's assertions: the small part of Python that such scripts use.

use std::cmp::Ordering;
use std::fmt;

/// `assert condition, message`.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Line of the file, from 1.
    pub line: u32,
    /// The condition as it is written.
    pub text: String,
    /// What must be true.
    pub condition: Expr,
    /// What is told if it is not.
    pub message: Option<Expr>,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant.
    Constant(Scalar),
    /// A name: of a field of `tcp_info`, or of a constant.
    Name(String),
    /// `not`, `-`, `~`.
    Unary(&'static str, Box<Expr>),
    /// A binary operator.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// Comparisons in a chain: `a <= b <= c`.
    Chain(Box<Expr>, Vec<(&'static str, Expr)>),
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// An integer, also a truth value.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    Text(String),
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(n) => write!(f, "{n}"),
            Self::Float(x) => write!(f, "{x}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Scalar {
    /// Whether Python takes it for true.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            Self::Int(n) => *n != 0,
            Self::Float(x) => *x != 0.0,
            Self::Text(text) => !text.is_empty(),
        }
    }

    fn float(&self) -> Option<f64> {
        match self {
            Self::Int(n) => Some(*n as f64),
            Self::Float(x) => Some(*x),
            Self::Text(_) => None,
        }
    }
}

impl Expr {
    /// Its value, where `name` knows the names.
    ///
    /// # Errors
    /// A sentence: a name is not known, or an operator has no such operands.
    pub fn value(&self, name: &dyn Fn(&str) -> Option<Scalar>) -> Result<Scalar, String> {
        match self {
            Self::Constant(scalar) => Ok(scalar.clone()),
            Self::Name(word) => name(word).ok_or_else(|| format!("{word} is not known")),
            Self::Unary(op, inner) => {
                let value = inner.value(name)?;
                match (*op, &value) {
                    ("not", _) => Ok(Scalar::Int(i64::from(!value.is_true()))),
                    ("-", Scalar::Int(n)) => n.checked_neg().map(Scalar::Int).ok_or_else(too_large),
                    ("-", Scalar::Float(x)) => Ok(Scalar::Float(-x)),
                    ("~", Scalar::Int(n)) => Ok(Scalar::Int(!n)),
                    _ => Err(format!("{op} has no meaning for {value}")),
                }
            }
            Self::Binary(op @ ("and" | "or"), left, right) => {
                let left = left.value(name)?;
                if left.is_true() == (*op == "or") {
                    Ok(left)
                } else {
                    right.value(name)
                }
            }
            Self::Binary(op, left, right) => binary(op, left.value(name)?, &right.value(name)?),
            Self::Chain(first, rest) => {
                let mut left = first.value(name)?;
                for (op, right) in rest {
                    let right = right.value(name)?;
                    if !compares(op, &left, &right)? {
                        return Ok(Scalar::Int(0));
                    }
                    left = right;
                }
                Ok(Scalar::Int(1))
            }
        }
    }

    /// All names in it.
    pub fn each_name<'a>(&'a self, tell: &mut impl FnMut(&'a str)) {
        match self {
            Self::Constant(_) => {}
            Self::Name(name) => tell(name),
            Self::Unary(_, inner) => inner.each_name(tell),
            Self::Binary(_, left, right) => {
                left.each_name(tell);
                right.each_name(tell);
            }
            Self::Chain(first, rest) => {
                first.each_name(tell);
                for (_, operand) in rest {
                    operand.each_name(tell);
                }
            }
        }
    }
}

fn too_large() -> String {
    "a number is too large".into()
}

fn compares(op: &str, left: &Scalar, right: &Scalar) -> Result<bool, String> {
    let order = match (left, right) {
        (Scalar::Int(a), Scalar::Int(b)) => Some(a.cmp(b)),
        (Scalar::Text(a), Scalar::Text(b)) => Some(a.cmp(b)),
        _ => match (left.float(), right.float()) {
            (Some(a), Some(b)) => a.partial_cmp(&b),
            _ => return Err(format!("{left} and {right} cannot be compared")),
        },
    };
    Ok(match op {
        "==" => order == Some(Ordering::Equal),
        "!=" => order != Some(Ordering::Equal),
        "<" => order == Some(Ordering::Less),
        ">" => order == Some(Ordering::Greater),
        "<=" => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    })
}

fn binary(op: &str, left: Scalar, right: &Scalar) -> Result<Scalar, String> {
    if let (Scalar::Int(a), Scalar::Int(b)) = (&left, right) {
        let (a, b) = (*a, *b);
        let value = match op {
            "+" => a.checked_add(b),
            "-" => a.checked_sub(b),
            "*" => a.checked_mul(b),
            "&" => Some(a & b),
            "|" => Some(a | b),
            "^" => Some(a ^ b),
            "<<" => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)),
            ">>" => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
            _ if b == 0 => return Err("a division by zero".into()),
            // Python rounds down, and the remainder has the sign of the divisor.
            "//" => a
                .checked_div(b)
                .map(|q| if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q }),
            "%" => a
                .checked_rem(b)
                .map(|r| if r != 0 && (r < 0) != (b < 0) { r + b } else { r }),
            _ => return Ok(Scalar::Float(a as f64 / b as f64)),
        };
        return value.map(Scalar::Int).ok_or_else(too_large);
    }
    match (op, left) {
        ("%", Scalar::Text(format)) => Ok(Scalar::Text(format.replacen("%d", &right.to_string(), 1))),
        ("+", Scalar::Text(text)) => Ok(Scalar::Text(format!("{text}{right}"))),
        (_, left) => match (op, left.float(), right.float()) {
            ("+", Some(a), Some(b)) => Ok(Scalar::Float(a + b)),
            ("-", Some(a), Some(b)) => Ok(Scalar::Float(a - b)),
            ("*", Some(a), Some(b)) => Ok(Scalar::Float(a * b)),
            ("/", Some(a), Some(b)) => Ok(Scalar::Float(a / b)),
            _ => Err(format!("{op} has no meaning for {left} and {right}")),
        },
    }
}
