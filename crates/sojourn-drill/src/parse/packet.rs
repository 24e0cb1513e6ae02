//! Reads a segment: flags, numbers and TCP options.

use super::words::{blank, bounded, expect, literal, name, skip, wrong};
use crate::script::{Action, Packet, TcpOption, field_names};
use sojourn_tcp::FieldOrder;
use sojourn_units::Ecn;
use winnow::prelude::*;
use winnow::token::{take_till, take_while};

/// The letters of flags, `-` for none, and the numbers of the ACE field (RFC 9768).
const FLAGS: &str = "SFRPUEWA.-01234567";

/// Cookies that scripts call by a name. Source: `ksft_runner.sh` of the kernel's tests: those of the key that
/// `defaults.sh` sets and of one of zeros, between 192.168.0.1 and 192.0.2.1.
const COOKIES: [(&str, &str); 2] = [
    ("TFO_COOKIE", "3021b9d889017eeb"),
    ("TFO_COOKIE_ZERO", "b7c12350a90dc8f5"),
];

pub(super) fn packet(i: &mut &str, action: fn(Packet) -> Action) -> ModalResult<Action> {
    let arrives = i.starts_with('<');
    *i = &i[1..];
    blank(i);
    let ecn = if i.starts_with('[') { Some(codepoint(i)?) } else { None };
    blank(i);
    if i.starts_with(|c: char| c.is_ascii_lowercase()) {
        // An ICMP or UDP packet, or an encapsulation.
        let word = name(i)?.to_string();
        let rest = take_till(0.., '\n').parse_next(i)?.trim().to_string();
        return Ok(Action::Foreign { word, rest, arrives });
    }
    let flags = take_while(1.., |c: char| FLAGS.contains(c))
        .context(expect("TCP flags"))
        .parse_next(i)?;
    let flags = letters(flags);
    blank(i);
    let (start, len) = numbers(i)?;
    let mut packet = Packet {
        ecn,
        flags,
        start,
        len,
        options: Some(Vec::new()),
        ..Packet::default()
    };
    loop {
        blank(i);
        if skip(i, "ack ") {
            blank(i);
            packet.ack = Some(bounded(i)?);
        } else if skip(i, "win ") {
            blank(i);
            packet.window = Some(bounded(i)?);
        } else if skip(i, "urg ") {
            blank(i);
            packet.urgent = Some(bounded(i)?);
        } else if skip(i, "<") {
            packet.options = options(i)?;
        } else {
            return Ok(action(packet));
        }
    }
}

/// The flags, with the letters of the ACE field in place of its number.
fn letters(flags: &str) -> String {
    let mut letters = String::new();
    for c in flags.chars() {
        match c.to_digit(8) {
            Some(ace) => letters.extend(
                [(4, 'A'), (2, 'W'), (1, 'E')]
                    .iter()
                    .filter(|bit| ace & bit.0 != 0)
                    .map(|bit| bit.1),
            ),
            None => letters.push(c),
        }
    }
    if letters.is_empty() { "-".into() } else { letters }
}

fn codepoint(i: &mut &str) -> ModalResult<Ecn> {
    literal(i, "[")?;
    let ecn = match name(i)? {
        "noecn" => Ecn::NotEct,
        "ect0" => Ecn::Ect0,
        "ect1" => Ecn::Ect1,
        "ce" => Ecn::Ce,
        _ => return Err(wrong("one of noecn, ect0, ect1, ce")),
    };
    literal(i, "]")?;
    Ok(ecn)
}

/// `first:next(length)`.
fn numbers(i: &mut &str) -> ModalResult<(u32, u32)> {
    let before = *i;
    let start: u32 = bounded(i)?;
    literal(i, ":")?;
    let end: u32 = bounded(i)?;
    literal(i, "(")?;
    let len: u32 = bounded(i)?;
    literal(i, ")")?;
    if start.wrapping_add(len) != end {
        *i = before;
        return Err(wrong("a length that is the difference of the numbers"));
    }
    Ok((start, len))
}

fn options(i: &mut &str) -> ModalResult<Option<Vec<TcpOption>>> {
    if skip(i, "...>") {
        return Ok(None);
    }
    let mut options = Vec::new();
    loop {
        blank(i);
        options.push(tcp_option(i)?);
        blank(i);
        if skip(i, ">") {
            return Ok(Some(options));
        }
        literal(i, ",").map_err(|_| wrong("a comma or the end of the TCP options"))?;
    }
}

fn tcp_option(i: &mut &str) -> ModalResult<TcpOption> {
    let word = name.context(expect("a TCP option")).parse_next(i)?;
    blank(i);
    Ok(match word {
        "nop" => TcpOption::Nop,
        "eol" => TcpOption::End,
        "sackOK" => TcpOption::SackOk,
        "mss" => TcpOption::Mss(bounded(i)?),
        "wscale" => TcpOption::WindowScale(bounded(i)?),
        "TS" => {
            literal(i, "val")?;
            blank(i);
            let value = bounded(i)?;
            blank(i);
            literal(i, "ecr")?;
            blank(i);
            TcpOption::Timestamps(value, bounded(i)?)
        }
        "sack" => {
            let mut blocks = Vec::new();
            while i.starts_with(|c: char| c.is_ascii_digit()) {
                let start = bounded(i)?;
                literal(i, ":")?;
                blocks.push((start, bounded(i)?));
                blank(i);
            }
            TcpOption::Sack(blocks)
        }
        "FO" => TcpOption::FastOpen(bytes(i)?),
        "FOEXP" => TcpOption::FastOpenExperiment(bytes(i)?),
        "md5" => TcpOption::Md5(bytes(i)?),
        "ECN" => {
            let order = if i.starts_with("e0b") {
                FieldOrder::Ect0First
            } else {
                FieldOrder::Ect1First
            };
            let mut fields = Vec::new();
            for name in field_names(order) {
                if !skip(i, name) {
                    break;
                }
                blank(i);
                fields.push(bounded(i)?);
                blank(i);
            }
            TcpOption::AccEcn(order, fields)
        }
        other => {
            let option = TcpOption::Other(other.to_string());
            take_till(0.., [',', '>', '\n']).parse_next(i)?;
            option
        }
    })
}

/// Hexadecimal digits, or the name of a cookie; nothing stands for no bytes.
fn bytes(i: &mut &str) -> ModalResult<Vec<u8>> {
    let before = *i;
    let word: &str = take_while(0.., |c: char| c.is_ascii_alphanumeric() || c == '_').parse_next(i)?;
    let digits = COOKIES
        .iter()
        .find(|cookie| cookie.0 == word)
        .map_or(word, |cookie| cookie.1);
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let all: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
    all.filter(|bytes| bytes.len() <= 38).ok_or_else(|| {
        *i = before;
        wrong("at most 38 bytes in hexadecimal digits")
    })
}
