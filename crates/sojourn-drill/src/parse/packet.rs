//! Reads a segment: flags, numbers and TCP options.

use super::words::{bounded, expect, keyword, literal, name, skip, space, wrong};
use crate::script::{Action, Packet, TcpOption, field_names};
use crate::words::Missing;
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
    space(i);
    let mut packet = Packet {
        options: Some(Vec::new()),
        ..Packet::default()
    };
    if i.starts_with(['[', '(']) {
        match header(i)? {
            Ok(ecn) => packet.ecn = Some(ecn),
            Err(word) => return Ok(unknown(i, word)),
        }
    }
    if i.starts_with(|c: char| c.is_ascii_lowercase()) {
        // An ICMP or UDP packet, or an encapsulation.
        let word = name(i)?.to_string();
        let rest = take_till(0.., '\n').parse_next(i)?.trim().to_string();
        return Ok(Action::Foreign { word, rest, arrives });
    }
    let before = *i;
    packet.flags = letters(&flags(i)?);
    if packet.flags.is_empty() || skip(i, ">") {
        // Numbers of ports.
        let ports = before.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        if ports.len() < before.len() && ports.starts_with('>') {
            return Ok(unknown(i, "ports of a segment"));
        }
        *i = before;
        return Err(wrong("TCP flags"));
    }
    (packet.start, packet.len) = numbers(i)?;
    loop {
        space(i);
        if keyword(i, "ack") {
            packet.ack = Some(bounded(i)?);
        } else if keyword(i, "win") {
            packet.window = Some(bounded(i)?);
        } else if keyword(i, "urg") {
            packet.urgent = Some(bounded(i)?);
        } else if skip(i, "<") {
            packet.options = options(i)?;
        } else if i.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let word = name(i)?;
            return Ok(unknown(i, word));
        } else {
            return Ok(action(packet));
        }
    }
}

/// A word of a segment that is not known. What follows cannot be told apart, so it is not read.
fn unknown(i: &mut &str, word: &str) -> Action {
    *i = "";
    Action::Unknown(Missing::new(
        word,
        "this word of a segment is not known to sojourn-drill",
    ))
}

/// Letters and numbers of flags, with blanks between them as packetdrill's lexer takes them.
fn flags(i: &mut &str) -> ModalResult<String> {
    let mut flags = String::new();
    loop {
        let part: &str = take_while(0.., |c: char| FLAGS.contains(c)).parse_next(i)?;
        let before = *i;
        flags.push_str(part);
        space(i);
        // The first number begins with a digit, too.
        if !i.starts_with('.') || flags.contains('.') {
            *i = before;
            space(i);
            return Ok(flags);
        }
    }
}

/// The flags, with the letters of the ACE field in place of its number.
fn letters(flags: &str) -> String {
    let ace = flags.chars().find_map(|c| c.to_digit(8)).unwrap_or(0);
    let mut letters: String = flags.chars().filter(|c| !c.is_ascii_digit()).collect();
    let bits = [(4, 'A'), (2, 'W'), (1, 'E')];
    letters.extend(bits.iter().filter(|bit| ace & bit.0 != 0).map(|bit| bit.1));
    if letters.is_empty() && !flags.is_empty() {
        "-".into()
    } else {
        letters
    }
}

/// What a script says of the IP header: the codepoint of ECN, or a word that is not known.
fn header<'a>(i: &mut &'a str) -> ModalResult<Result<Ecn, &'a str>> {
    let end = if skip(i, "[") { "]" } else { ")" };
    skip(i, "(");
    space(i);
    let ecn = match name(i)? {
        "noecn" => Ecn::NotEct,
        "ect0" => Ecn::Ect0,
        "ect1" => Ecn::Ect1,
        "ce" => Ecn::Ce,
        word => return Ok(Err(word)),
    };
    space(i);
    if skip(i, ",") {
        space(i);
        return Ok(Err(name(i)?));
    }
    literal(i, end)?;
    space(i);
    Ok(Ok(ecn))
}

/// `first:next(length)`.
fn numbers(i: &mut &str) -> ModalResult<(u32, u32)> {
    let before = *i;
    let start: u32 = bounded(i)?;
    symbol(i, ":")?;
    let end: u32 = bounded(i)?;
    symbol(i, "(")?;
    let len: u32 = bounded(i)?;
    symbol(i, ")")?;
    if start.wrapping_add(len) != end {
        *i = before;
        return Err(wrong("a length that is the difference of the numbers"));
    }
    Ok((start, len))
}

/// A sign between blanks.
fn symbol(i: &mut &str, sign: &'static str) -> ModalResult<()> {
    space(i);
    literal(i, sign)?;
    space(i);
    Ok(())
}

fn options(i: &mut &str) -> ModalResult<Option<Vec<TcpOption>>> {
    space(i);
    if skip(i, "...") {
        symbol(i, ">")?;
        return Ok(None);
    }
    let mut options = Vec::new();
    loop {
        space(i);
        options.push(tcp_option(i)?);
        space(i);
        if skip(i, ">") {
            return Ok(Some(options));
        }
        literal(i, ",").map_err(|_| wrong("a comma or the end of the TCP options"))?;
    }
}

fn tcp_option(i: &mut &str) -> ModalResult<TcpOption> {
    let word = name.context(expect("a TCP option")).parse_next(i)?;
    space(i);
    Ok(match word {
        "nop" => TcpOption::Nop,
        "eol" => TcpOption::End,
        "sackOK" => TcpOption::SackOk,
        "mss" => TcpOption::Mss(bounded(i)?),
        "wscale" => TcpOption::WindowScale(bounded(i)?),
        "TS" => {
            symbol(i, "val")?;
            let value = bounded(i)?;
            symbol(i, "ecr")?;
            TcpOption::Timestamps(value, bounded(i)?)
        }
        "sack" => {
            let mut blocks = Vec::new();
            while i.starts_with(|c: char| c.is_ascii_digit()) {
                let start = bounded(i)?;
                symbol(i, ":")?;
                blocks.push((start, bounded(i)?));
                space(i);
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
                space(i);
                fields.push(bounded(i)?);
                space(i);
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
