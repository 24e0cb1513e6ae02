//! The Python of a script: what stands between `%{` and `}%`, as far as such scripts need it.
//!
//! packetdrill writes all of it into one program, binds the values of `tcp_info` before each part, and runs it at the
//! end. Here each part is computed where it stands, which comes to the same. There are no loops and no functions of the
//! script's own, and values have a bound, so whatever a script says ends soon.

use crate::target::Trouble;
use crate::value::{self, Scalar, unknown, wrong};
use crate::words::Missing;
use std::collections::{BTreeMap, BTreeSet};

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Line of the file, from 1.
    pub line: u32,
    /// What it does.
    pub act: Act,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// `assert condition, message`, with the condition as it is written.
    Assert(String, Expr, Option<Expr>),
    /// `print(a, b)`.
    Print(Vec<Expr>),
    /// `name = value`.
    Assign(String, Expr),
    /// Another expression, or `pass`.
    Compute(Expr),
    /// Something of Python that is not known here.
    Unknown(Missing),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant.
    Constant(Scalar),
    /// A name: of a field of `tcp_info`, of a constant, or of the script's own.
    Name(String),
    /// `not`, `-`, `+`, `~`.
    Unary(&'static str, Box<Expr>),
    /// A binary operator.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// Comparisons in a chain: `a <= b <= c`.
    Chain(Box<Expr>, Vec<(&'static str, Expr)>),
    /// `b if a else c`: a, b, c.
    Choice(Box<[Expr; 3]>),
    /// `(a, b)` or `[a, b]`.
    Tuple(Vec<Expr>),
    /// A function of `FUNCTIONS`.
    Call(&'static str, Vec<Expr>),
    /// An f-string: its parts with their forms.
    Text(Vec<(Expr, String)>),
}

/// The functions that a script may call.
pub(crate) const FUNCTIONS: [&str; 10] = [
    "abs", "bool", "float", "int", "len", "max", "min", "round", "str", "sum",
];

impl Expr {
    /// Its value, where `name` knows the names.
    ///
    /// # Errors
    /// What Python would answer with an error, or does and this does not.
    pub fn value(&self, name: &dyn Fn(&str) -> Option<Scalar>) -> Result<Scalar, Trouble> {
        let all = |list: &[Self]| list.iter().map(|one| one.value(name)).collect::<Result<Vec<_>, _>>();
        match self {
            Self::Constant(scalar) => Ok(scalar.clone()),
            Self::Name(word) => name(word).map_or_else(|| wrong(format!("{word} is not known")), Ok),
            Self::Unary(op, inner) => value::unary(op, &inner.value(name)?),
            Self::Binary(op @ ("and" | "or"), left, right) => {
                let left = left.value(name)?;
                if left.is_true() == (*op == "or") {
                    Ok(left)
                } else {
                    right.value(name)
                }
            }
            Self::Binary(op, left, right) => value::binary(op, &left.value(name)?, &right.value(name)?),
            Self::Chain(first, rest) => {
                let mut left = first.value(name)?;
                for (op, right) in rest {
                    let right = right.value(name)?;
                    if !value::compares(op, &left, &right)? {
                        return Ok(Scalar::Bool(false));
                    }
                    left = right;
                }
                Ok(Scalar::Bool(true))
            }
            Self::Choice(parts) => parts[usize::from(!parts[0].value(name)?.is_true()) + 1].value(name),
            Self::Tuple(list) => Scalar::Tuple(all(list)?).within(),
            Self::Call(function, list) => call(function, &all(list)?),
            Self::Text(parts) => {
                let mut text = String::new();
                for (part, form) in parts {
                    text += &value::formatted(&part.value(name)?, form, false)?;
                }
                Scalar::Text(text).within()
            }
        }
    }

    /// All names in it.
    pub fn each_name<'a>(&'a self, tell: &mut dyn FnMut(&'a str)) {
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
            Self::Choice(parts) => parts.iter().for_each(|part| part.each_name(tell)),
            Self::Tuple(list) | Self::Call(_, list) => list.iter().for_each(|one| one.each_name(tell)),
            Self::Text(parts) => parts.iter().for_each(|(part, _)| part.each_name(tell)),
        }
    }
}

/// A function of [`FUNCTIONS`].
fn call(function: &str, values: &[Scalar]) -> Result<Scalar, Trouble> {
    let list = match values {
        [Scalar::Tuple(all)] => all,
        several => several,
    };
    let misfit = || {
        let all: Vec<_> = values.iter().map(Scalar::repr).collect();
        wrong(format!("{function} has no meaning for {}", all.join(", ")))
    };
    match (function, values) {
        ("min" | "max", _) if !list.is_empty() => {
            let op = if function == "min" { "<" } else { ">" };
            list.iter().skip(1).try_fold(list[0].clone(), |best, one| {
                Ok(if value::compares(op, one, &best)? {
                    one.clone()
                } else {
                    best
                })
            })
        }
        ("sum", [Scalar::Tuple(all)]) => all
            .iter()
            .try_fold(Scalar::Int(0), |sum, one| value::binary("+", &sum, one)),
        ("str", [one]) => Ok(Scalar::Text(one.to_string())),
        ("bool", [one]) => Ok(Scalar::Bool(one.is_true())),
        ("len", [Scalar::Text(text)]) => Ok(Scalar::Int(text.chars().count() as i128)),
        ("len", [Scalar::Tuple(all)]) => Ok(Scalar::Int(all.len() as i128)),
        ("int" | "float", [Scalar::Text(text)]) => {
            let number = text.trim();
            let found = match function {
                "int" => number.parse().ok().map(Scalar::Int),
                _ => number.parse().ok().map(Scalar::Float),
            };
            found.map_or_else(misfit, Ok)
        }
        (_, [one, digits @ ..]) if digits.is_empty() || function == "round" => match (function, one.int(), one.float())
        {
            ("abs", Some(n), _) => value::binary("*", &Scalar::Int(n), &Scalar::Int(n.signum())),
            ("abs", _, Some(x)) => Ok(Scalar::Float(x.abs())),
            ("float", _, Some(x)) => Ok(Scalar::Float(x)),
            ("int" | "round", Some(n), _) if digits.is_empty() => Ok(Scalar::Int(n)),
            ("int", _, Some(x)) if x.is_finite() => Ok(Scalar::Int(x.trunc() as i128)),
            ("round", _, Some(x)) => match digits {
                [] if x.is_finite() => Ok(Scalar::Int(x.round_ties_even() as i128)),
                [Scalar::Int(places @ 0..=15)] => {
                    Ok(Scalar::Float(format!("{x:.*}", *places as usize).parse().unwrap_or(x)))
                }
                _ => unknown("round"),
            },
            _ => misfit(),
        },
        _ => misfit(),
    }
}

impl Statement {
    /// The expressions in it.
    pub fn each_expression<'a>(&'a self, tell: &mut dyn FnMut(&'a Expr)) {
        match &self.act {
            Act::Assert(_, condition, message) => {
                tell(condition);
                message.iter().for_each(tell);
            }
            Act::Print(values) => values.iter().for_each(tell),
            Act::Assign(_, value) | Act::Compute(value) => tell(value),
            Act::Unknown(_) => {}
        }
    }
}

/// Names that the statements of a script have given, in the order of the script.
#[derive(Debug, Default)]
pub struct Assigned<'a>(BTreeSet<&'a str>);

impl<'a> Assigned<'a> {
    /// The first thing of these statements that is not known, with its line: a part of Python, or a name that is
    /// neither the script's own nor known to `missing`.
    pub fn first_missing(
        &mut self,
        statements: &'a [Statement],
        missing: &dyn Fn(&str) -> Option<Missing>,
    ) -> Option<(u32, Missing)> {
        for statement in statements {
            let mut found = None;
            statement.each_expression(&mut |expression| {
                expression.each_name(&mut |name| {
                    if found.is_none() && !self.0.contains(name) {
                        found = missing(name);
                    }
                });
            });
            match &statement.act {
                Act::Unknown(missing) => found = Some(missing.clone()),
                Act::Assign(name, _) => drop(self.0.insert(name)),
                _ => {}
            }
            if let Some(missing) = found {
                return Some((statement.line, missing));
            }
        }
        None
    }
}

/// The names that a script has given, and their values.
pub(crate) type Names = BTreeMap<String, Scalar>;
