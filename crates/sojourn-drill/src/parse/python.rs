//! Reads the Python between `%{` and `}%`.

use super::words::{name, skip};
use crate::expr::{Act, Expr, FUNCTIONS};
use crate::value::Scalar;
use crate::words::Missing;

/// Parentheses in parentheses are read so far.
const DEEPEST: u32 = 32;
/// The longest statement, bytes.
const LONGEST: usize = 2000;

/// Binary operators by how loosely they bind. Longer ones stand before their beginnings.
const LEVELS: [&[&str]; 6] = [
    &["|"],
    &["^"],
    &["&"],
    &["<<", ">>"],
    &["+", "-"],
    &["//", "*", "/", "%"],
];
const COMPARISONS: [&str; 8] = ["==", "!=", "<=", ">=", "<", ">", "in", "not in"];
/// Words of Python that are no names.
const KEYWORDS: [&str; 33] = [
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "exec", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass",
    "raise", "return", "try", "while", "with", "yield",
];

/// Why a statement cannot be read.
pub(super) enum Stop {
    /// It is no Python: what could stand there.
    Broken(&'static str),
    /// It may be Python, but this part of it is not known here.
    Unknown(Missing),
}

type Read<T> = Result<T, Stop>;

fn unknown<T>(word: impl Into<String>) -> Read<T> {
    let why = "this part of Python is not known to sojourn-drill";
    Err(Stop::Unknown(Missing::new(word, why)))
}

/// What is left of the code.
pub(super) struct Code<'a> {
    pub(super) rest: &'a str,
    /// How many brackets are open: in them, a line goes on in the next.
    open: u32,
    /// How much was left where the statement begins.
    begin: usize,
}

impl<'a> Code<'a> {
    pub(super) fn new(rest: &'a str) -> Self {
        let begin = rest.len();
        Self { rest, open: 0, begin }
    }

    /// Skips what may stand between statements: also line ends, semicolons and comments.
    pub(super) fn gap(&mut self) {
        loop {
            let rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n', ';', '\\']);
            self.rest = if rest.starts_with('#') || rest.starts_with("//") {
                rest.find('\n').map_or("", |at| &rest[at..])
            } else {
                rest
            };
            if self.rest.len() == rest.len() {
                return;
            }
        }
    }

    /// Skips blanks inside a statement, which brackets or a backslash carry on to the next line.
    fn blank(&mut self) {
        loop {
            let mut rest = self.rest.trim_start_matches([' ', '\t']);
            rest = rest.strip_prefix("\\\n").unwrap_or(rest);
            if self.open > 0 {
                rest = rest.trim_start();
                if rest.starts_with('#') {
                    rest = rest.find('\n').map_or("", |at| &rest[at..]);
                }
            }
            if self.rest.len() == rest.len() {
                return;
            }
            self.rest = rest;
        }
    }

    /// Whether this operator or bracket stands here; if so it is skipped.
    fn takes(&mut self, text: &str) -> bool {
        let found = skip(&mut self.rest, text);
        if found {
            self.blank();
        }
        found
    }

    /// The word that stands here.
    fn word(&self) -> &'a str {
        name(&mut { self.rest }).unwrap_or("")
    }

    /// Whether this word stands here; if so it is skipped.
    fn keyword(&mut self, word: &str) -> bool {
        self.word() == word && self.takes(word)
    }

    /// Another thing stands here than could: a part of Python, or nothing that makes sense.
    fn stuck<T>(&self, expected: &'static str) -> Read<T> {
        let word = self.word();
        if KEYWORDS.contains(&word) {
            return unknown(word);
        }
        for part in [":=", "->", "**", ".", "[", "{", ":", "@", "*"] {
            if self.rest.starts_with(part) {
                return unknown(part);
            }
        }
        Err(Stop::Broken(expected))
    }

    pub(super) fn statement(&mut self) -> Read<Act> {
        (self.open, self.begin) = (0, self.rest.len());
        let act = self.act()?;
        self.blank();
        if self.rest.is_empty() || self.rest.starts_with(['\n', '\r', ';', '#']) {
            return Ok(act);
        }
        self.stuck("the end of the statement")
    }

    fn act(&mut self) -> Read<Act> {
        if self.keyword("pass") {
            return Ok(Act::Compute(Expr::Constant(Scalar::None)));
        }
        if self.keyword("assert") {
            let before = self.rest;
            let condition = self.expression(0)?;
            let text = before[..before.len() - self.rest.len()].trim().to_string();
            let message = if self.takes(",") {
                Some(self.expression(0)?)
            } else {
                None
            };
            return Ok(Act::Assert(text, condition, message));
        }
        let word = self.word();
        if word == "print" {
            self.takes(word);
            if !self.takes("(") {
                return unknown("print without parentheses");
            }
            return Ok(Act::Print(self.list(")", 0)?.0));
        }
        let left = self.several()?;
        let Expr::Name(name) = left else {
            return if self.rest.starts_with('=') {
                unknown("a target of = that is no name")
            } else {
                Ok(Act::Compute(left))
            };
        };
        if !self.rest.starts_with("==") && self.takes("=") {
            let value = self.several()?;
            return if self.rest.starts_with('=') {
                unknown("more than one =")
            } else {
                Ok(Act::Assign(name, value))
            };
        }
        let operators = LEVELS.iter().copied().flatten().chain([&"**"]);
        let mut operators =
            operators.filter(|op| self.rest.strip_prefix(**op).is_some_and(|rest| rest.starts_with('=')));
        if let Some(op) = operators.next() {
            self.rest = &self.rest[op.len() + 1..];
            self.blank();
            let value = self.several()?;
            return Ok(Act::Assign(name.clone(), boxed(op, Expr::Name(name), value)));
        }
        Ok(Act::Compute(Expr::Name(name)))
    }

    /// An expression, or several as a tuple without parentheses.
    fn several(&mut self) -> Read<Expr> {
        let first = self.expression(0)?;
        let mut list = Vec::new();
        while self.takes(",") {
            list.push(self.expression(0)?);
        }
        if list.is_empty() {
            return Ok(first);
        }
        list.insert(0, first);
        Ok(Expr::Tuple(list))
    }

    /// Expressions up to a bracket, which is skipped, and whether there was a comma.
    fn list(&mut self, end: &'static str, depth: u32) -> Read<(Vec<Expr>, bool)> {
        self.open += 1;
        self.blank();
        let (mut list, mut comma) = (Vec::new(), false);
        while !self.rest.starts_with(end) {
            let argument = self.word();
            list.push(self.expression(depth + 1)?);
            if self.rest.starts_with('=') {
                return unknown(format!("{argument}="));
            }
            let more = self.takes(",");
            comma |= more;
            if !more && !self.rest.starts_with(end) {
                return self.stuck(end);
            }
        }
        self.open -= 1;
        self.takes(end);
        Ok((list, comma))
    }

    fn expression(&mut self, depth: u32) -> Read<Expr> {
        if depth > DEEPEST {
            return unknown("more than 32 parentheses inside each other");
        }
        let value = self.either(depth)?;
        if !self.keyword("if") {
            return Ok(value);
        }
        let condition = self.either(depth)?;
        if !self.keyword("else") {
            return Err(Stop::Broken("else"));
        }
        Ok(Expr::Choice(Box::new([condition, value, self.expression(depth + 1)?])))
    }

    fn either(&mut self, depth: u32) -> Read<Expr> {
        let mut left = self.both(depth)?;
        while self.keyword("or") {
            left = boxed("or", left, self.both(depth)?);
        }
        Ok(left)
    }

    fn both(&mut self, depth: u32) -> Read<Expr> {
        let mut left = self.negation(depth)?;
        while self.keyword("and") {
            left = boxed("and", left, self.negation(depth)?);
        }
        Ok(left)
    }

    fn negation(&mut self, depth: u32) -> Read<Expr> {
        if depth > DEEPEST {
            return unknown("more than 32 operators before each other");
        }
        if self.keyword("not") {
            return Ok(Expr::Unary("not", Box::new(self.negation(depth + 1)?)));
        }
        let first = self.level(0, depth)?;
        let mut rest = Vec::new();
        while let Some(op) = self.comparison() {
            rest.push((op, self.level(0, depth)?));
        }
        Ok(if rest.is_empty() {
            first
        } else {
            Expr::Chain(Box::new(first), rest)
        })
    }

    fn comparison(&mut self) -> Option<&'static str> {
        let before = self.rest;
        if self.keyword("not") {
            if self.keyword("in") {
                return Some("not in");
            }
            self.rest = before;
            return None;
        }
        let op = COMPARISONS.iter().find(|op| self.rest.starts_with(**op))?;
        let found = if *op == "in" {
            self.keyword("in")
        } else {
            self.takes(op)
        };
        found.then_some(*op)
    }

    fn level(&mut self, at: usize, depth: u32) -> Read<Expr> {
        let Some(operators) = LEVELS.get(at) else {
            return self.unary(depth);
        };
        let mut left = self.level(at + 1, depth)?;
        loop {
            let is_here = |op: &&&str| {
                let rest = self.rest.strip_prefix(**op);
                // `**` binds otherwise, and `+=` is no sum.
                let doubled = |rest: &str| matches!(**op, "*" | "/") && rest.starts_with(**op);
                rest.is_some_and(|rest| !rest.starts_with('=') && !doubled(rest))
            };
            let Some(op) = operators.iter().find(is_here) else {
                return Ok(left);
            };
            self.takes(op);
            left = boxed(op, left, self.level(at + 1, depth)?);
        }
    }

    fn unary(&mut self, depth: u32) -> Read<Expr> {
        if depth > DEEPEST {
            return unknown("more than 32 operators before each other");
        }
        for op in ["-", "+", "~"] {
            if self.takes(op) {
                return Ok(Expr::Unary(op, Box::new(self.unary(depth + 1)?)));
            }
        }
        let value = self.atom(depth)?;
        self.blank();
        if !self.rest.starts_with("**=") && self.takes("**") {
            return Ok(boxed("**", value, self.unary(depth + 1)?));
        }
        if self.rest.starts_with(['.', '[', '(']) {
            // An attribute, a member, or a call of what is no name.
            let sign = &self.rest[..1];
            return unknown(format!("{sign}{}", Self::new(&self.rest[1..]).word()));
        }
        Ok(value)
    }

    fn atom(&mut self, depth: u32) -> Read<Expr> {
        // What is longer is deeper than a stack, too.
        if self.begin - self.rest.len() > LONGEST {
            return unknown("a statement of more than 2000 bytes");
        }
        match self.rest.chars().next() {
            Some('(') => {
                self.rest = &self.rest[1..];
                let (mut list, comma) = self.list(")", depth)?;
                Ok(if list.len() == 1 && !comma {
                    list.remove(0)
                } else {
                    Expr::Tuple(list)
                })
            }
            Some('[') => {
                self.rest = &self.rest[1..];
                Ok(Expr::Tuple(self.list("]", depth)?.0))
            }
            Some('"' | '\'') => self.texts(depth),
            Some('0'..='9' | '.') => self.number(),
            _ => match self.word() {
                "" => self.stuck("a value"),
                "True" | "False" => Ok(Expr::Constant(Scalar::Bool(
                    self.keyword("True") || !self.takes("False"),
                ))),
                "None" => {
                    self.takes("None");
                    Ok(Expr::Constant(Scalar::None))
                }
                word if KEYWORDS.contains(&word) => unknown(word),
                word if self.rest[word.len()..].starts_with(['"', '\'']) => self.texts(depth),
                word => {
                    self.takes(word);
                    if !self.takes("(") {
                        return Ok(Expr::Name(word.to_string()));
                    }
                    match FUNCTIONS.iter().find(|one| **one == word) {
                        Some(function) => Ok(Expr::Call(function, self.list(")", depth)?.0)),
                        None => unknown(format!("{word}()")),
                    }
                }
            },
        }
    }

    fn number(&mut self) -> Read<Expr> {
        let is_of = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
        let end = self.rest.find(|c| !is_of(c)).unwrap_or(self.rest.len());
        let digits = self.rest[..end].replace('_', "").to_ascii_lowercase();
        let radix = [("0x", 16), ("0o", 8), ("0b", 2)]
            .into_iter()
            .find(|one| digits.starts_with(one.0));
        let value = match radix {
            Some((_, radix)) => i128::from_str_radix(&digits[2..], radix).ok().map(Scalar::Int),
            None if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().ok().map(Scalar::Int),
            // A sign behind an e would be read as an operator.
            None if digits.ends_with('e') => return unknown("a number with a power of ten"),
            None => digits.parse().ok().map(Scalar::Float),
        };
        let value = value.ok_or(Stop::Broken("a number"))?;
        self.rest = &self.rest[end..];
        Ok(Expr::Constant(value))
    }

    /// Texts that stand next to each other are one.
    fn texts(&mut self, depth: u32) -> Read<Expr> {
        let mut parts = Vec::new();
        let mut is_plain = true;
        loop {
            let prefix = self.word();
            let behind = &self.rest[prefix.len()..];
            let Some(quote) = behind.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
                break;
            };
            let (raw, form) = match prefix.to_ascii_lowercase().as_str() {
                "" | "u" => (false, false),
                "r" => (true, false),
                "f" => (false, true),
                "fr" | "rf" => (true, true),
                _ => return unknown(format!("{prefix}{quote}")),
            };
            let triple = quote.to_string().repeat(3);
            let (inner, quotes) = match behind.strip_prefix(triple.as_str()) {
                Some(inner) => (inner, triple.as_str()),
                None => (&behind[1..], &triple[..1]),
            };
            let mut end = 0;
            while !inner[end..].starts_with(quotes) {
                let mut chars = inner[end..].chars();
                let c = chars.next().filter(|c| *c != '\n' || quotes.len() > 1);
                let c = c.ok_or(Stop::Broken("a quote that ends the text"))?;
                end += c.len_utf8();
                if c == '\\' {
                    end += chars.next().map_or(0, char::len_utf8);
                }
            }
            self.rest = &inner[end + quotes.len()..];
            self.blank();
            if form {
                is_plain = false;
                pieces(&inner[..end], raw, depth, &mut parts)?;
            } else {
                parts.push((text(&inner[..end], raw)?, String::new()));
            }
        }
        match &mut parts[..] {
            [(_, _)] if is_plain => Ok(parts.remove(0).0),
            _ => Ok(Expr::Text(parts)),
        }
    }
}

fn boxed(op: &'static str, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(right))
}

/// A text with what its backslashes stand for.
fn text(inner: &str, raw: bool) -> Read<Expr> {
    let mut text = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match (c, raw) {
            ('\\', false) => match chars.next() {
                Some('\n') | None => {}
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(c @ ('\\' | '\'' | '"')) => text.push(c),
                Some(c) if c.is_ascii_alphanumeric() => return unknown(format!("\\{c}")),
                Some(c) => text.extend(['\\', c]),
            },
            _ => text.push(c),
        }
    }
    Ok(Expr::Constant(Scalar::Text(text)))
}

/// The parts of an f-string: `cwnd {tcpi_snd_cwnd:4d}`.
fn pieces(inner: &str, raw: bool, depth: u32, parts: &mut Vec<(Expr, String)>) -> Read<()> {
    let mut rest = inner;
    let mut plain = String::new();
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let c = &rest[at..=at];
        rest = &rest[at + 1..];
        if skip(&mut rest, c) {
            plain.push_str(c);
            continue;
        }
        let end = rest.find('}').filter(|_| c == "{");
        let end = end.ok_or(Stop::Broken("an f-string whose braces match"))?;
        parts.push((text(&std::mem::take(&mut plain), raw)?, String::new()));
        let mut code = Code::new(&rest[..end]);
        code.blank();
        let value = code.expression(depth + 1)?;
        let form = match code.rest.strip_prefix(':') {
            Some(form) => form.to_string(),
            None if code.rest.is_empty() => String::new(),
            None => return unknown(format!("{{{}}}", code.rest)),
        };
        parts.push((value, form));
        rest = &rest[end + 1..];
    }
    plain.push_str(rest);
    parts.push((text(&plain, raw)?, String::new()));
    Ok(())
}
