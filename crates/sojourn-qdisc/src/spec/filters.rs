//! Filters, which send packets to classes by their code points.
//!
//! A filter of a lower priority is asked first, and the first that takes a packet decides. As in a kernel, a filter
//! without a priority comes before those that had none before it. Where one of them says `dscp`, they come last and in
//! the order of the text.
//!
//! Packets here are IPv4: a filter of another protocol takes none.
//!
//! Deviation: `tc` has no word for a code point. A kernel gets one `u32` filter on the byte of the type of service for
//! each code point.

use super::QdiscSpec;
use super::statements::{Place, classes_of, handle, same_major};
use crate::ParamError;
use crate::classful::names::{CODE_POINT_RULE, Handle, code_point};
use crate::classful::{Classes, Filter, FilterPlace};
use crate::grammar::error::SpecError;
use crate::grammar::raw_value::RawValue;
use crate::param::in_range;
use sojourn_units::tc;

/// The priority of a filter that says none and has none before it. Source: Linux `tcf_auto_prio`.
const LAST_PRIORITY: u32 = 0xc000;
/// Those that a kernel gives by itself lie below one of these. Source: Linux `tc_new_tfilter`.
const AUTOMATIC: u32 = 0x8000;

/// `ETH_P_ALL`, `ETH_P_IP`.
const ALL: u16 = 3;
const IPV4: u16 = 0x0800;
const PROTOCOLS: &[(&str, u16)] = &[
    ("all", ALL),
    ("ip", IPV4),
    ("ipv4", IPV4),
    ("ipv6", 0x86dd),
    ("arp", 0x0806),
];

/// The six bits of the code point in the first word of a header.
const CODE_POINT: u32 = 0x00fc_0000;

/// Kinds of filters that `tc` knows, and how a sentence calls those for which no packet here has the facts.
const KINDS: &[(&str, &str)] = &[
    ("u32", ""),
    ("matchall", ""),
    ("fw", "firewall marks (fw)"),
    ("flow", "flow"),
    ("flower", "flower"),
    ("basic", "basic"),
    ("bpf", "bpf"),
    ("route", "route"),
    ("cgroup", "cgroup"),
];

/// Reads a filter of the class or discipline `parent`.
pub(super) fn read(
    root: &mut Classes<QdiscSpec>,
    parent: Handle,
    place: &Place<'_>,
    words: &[&str],
) -> Result<(), SpecError> {
    let classes = classes_of(root, "filter.parent", parent)?;
    let kind = words.first().copied().unwrap_or_default();
    let priority = match place.priority {
        Some(text) => RawValue::new("filter", "prio", text).count(0)?,
        None => 0,
    };
    in_range("filter", "prio", priority.into(), 0, u16::MAX.into())?;
    let mut filter = Filter {
        parent: parent.minor,
        codes: 0,
        class: 0,
        place: FilterPlace {
            priority: Some(priority).filter(|&priority| priority != 0),
            kind: KINDS.iter().map(|&(name, _)| name).find(|&name| name == kind),
            protocol: protocol(place.protocol),
        },
    };
    check_place(&classes.filters, &filter)?;
    let is_ours = matches!(filter.place.protocol, ALL | IPV4);
    let at = words.iter().position(|&word| matches!(word, "flowid" | "classid"));
    let (keys, class) = words.split_at(at.unwrap_or(words.len()));
    let keys = [keys.get(1..).unwrap_or_default(), class.get(2..).unwrap_or_default()];
    filter.codes = match codes(kind, &keys.concat()) {
        // What is wrong is so for every protocol.
        Ok(_) | Err(SpecError::NotModelled { .. }) if !is_ours => return classes.add_filter(filter),
        codes => codes?,
    };
    let class = handle("filter", "flowid", class.get(1).copied(), &[])?;
    same_major("filter.flowid", class, parent)?;
    filter.class = class.minor;
    classes.add_filter(filter)
}

/// The code points that the words behind a kind choose.
fn codes(kind: &str, words: &[&str]) -> Result<u64, SpecError> {
    if words.contains(&"action") {
        return Err(not_modelled("an action"));
    }
    match (kind, KINDS.iter().find(|(name, _)| *name == kind)) {
        ("matchall", _) => match words.first() {
            None => Ok(u64::MAX),
            Some(word) => Err(expected(word, "nothing behind matchall but flowid")),
        },
        ("u32", _) => u32_codes(words),
        ("dscp", _) => named_codes(words),
        (_, Some((_, what))) => Err(not_modelled(what)),
        _ => Err(expected(kind, "dscp with code points, u32 match ip tos, or matchall")),
    }
}

fn expected(word: &str, expected: &str) -> SpecError {
    SpecError::Expected {
        word: word.to_owned(),
        expected: expected.to_owned(),
    }
}

fn not_modelled(what: &'static str) -> SpecError {
    SpecError::NotModelled {
        kind: "filter",
        what,
        instead: "filter parent 1: dscp CODEPOINT... flowid 1:2 chooses by code points",
    }
}

/// The number of a protocol. Others than those of packets here are alike.
fn protocol(word: Option<&str>) -> u16 {
    let Some(word) = word else { return ALL };
    let named = PROTOCOLS.iter().find(|(name, _)| *name == word);
    named.map_or_else(
        || {
            let number = tc::count(word, 0).and_then(|number| number.try_into().ok());
            number.unwrap_or(u16::MAX)
        },
        |&(_, number)| number,
    )
}

/// Filters of Linux share a priority only where kind and protocol are the same, and those of `matchall` never do.
/// Source: Linux `tcf_chain_tp_find`, `tc_new_tfilter`, `mall_change`.
fn check_place(others: &[Filter], filter: &Filter) -> Result<(), ParamError> {
    let own = filter.place;
    let (Some(priority), Some(kind)) = (own.priority, own.kind) else {
        return Ok(());
    };
    let clashes = |other: &Filter| {
        let place = other.place;
        let differs = kind == "matchall" || place.kind != own.kind || place.protocol != own.protocol;
        other.parent == filter.parent && place.kind.is_some() && place.priority == own.priority && differs
    };
    if others.iter().any(clashes) {
        let rule = "a priority of its own: only u32 filters of one protocol share one";
        return Err(ParamError::new("filter", "prio", priority.to_string(), rule));
    }
    Ok(())
}

/// Puts filters in the order in which they are asked, without those that no packet comes to.
pub(super) fn settle(filters: &mut Vec<Filter>) {
    let mut ranked: Vec<(u32, Filter)> = Vec::with_capacity(filters.len());
    for filter in filters.iter() {
        let of_parent = |other: &&Filter| other.parent == filter.parent;
        let in_order = filters.iter().filter(of_parent).any(|other| other.place.kind.is_none());
        let rank = filter.place.priority.unwrap_or_else(|| {
            let before = ranked.iter().filter(|(_, other)| other.parent == filter.parent);
            let first = before.map(|&(rank, _)| rank).filter(|&rank| rank >= AUTOMATIC).min();
            first.filter(|_| !in_order).map_or(LAST_PRIORITY, |first| first - 1)
        });
        ranked.push((rank, *filter));
    }
    ranked.sort_by_key(|&(rank, _)| rank);
    filters.clear();
    for (_, filter) in ranked {
        let decided = |other: &Filter| other.parent == filter.parent && other.codes == u64::MAX;
        if filter.codes != 0 && !filters.iter().any(decided) {
            filters.push(Filter {
                place: FilterPlace::default(),
                ..filter
            });
        }
    }
}

/// The code points behind `dscp`.
fn named_codes(words: &[&str]) -> Result<u64, SpecError> {
    if words.is_empty() {
        return Err(SpecError::NoValue {
            field: "filter.dscp".to_owned(),
            unit: "code points",
        });
    }
    words.iter().try_fold(0, |codes, word| {
        let code =
            code_point(word).ok_or_else(|| ParamError::new("filter", "dscp", format!("{word:?}"), CODE_POINT_RULE))?;
        Ok(codes | 1 << code)
    })
}

/// What bits of the word at an offset in the header must be. Source: iproute2 `pack_key`.
#[derive(Clone, Copy)]
struct Key {
    offset: u32,
    mask: u32,
    value: u32,
}

impl Key {
    /// It looks at nothing.
    const NONE: Self = Self {
        offset: 0,
        mask: 0,
        value: 0,
    };
}

/// The code points that the keys of a `u32` filter take: each key looks at the code point, or at nothing.
fn u32_codes(mut words: &[&str]) -> Result<u64, SpecError> {
    let mut keys: Vec<Key> = Vec::new();
    while let ["match", rest @ ..] = words {
        let length = rest.iter().position(|&word| word == "match").unwrap_or(rest.len());
        let (text, behind) = rest.split_at(length);
        let key = u32_key(text)?;
        let beside = keys
            .iter()
            .find(|other| other.offset == key.offset && (other.value ^ key.value) & other.mask & key.mask != 0);
        if beside.is_some() {
            let rule = "a key that agrees with the others";
            return Err(ParamError::new("filter", "match", text.join(" "), rule).into());
        }
        keys.push(key);
        words = behind;
    }
    if let Some(&word) = words.first() {
        return Err(match keys.len() {
            0 => expected(word, "match with a key"),
            _ => not_modelled("u32 words other than match"),
        });
    }
    if keys.is_empty() {
        let field = "filter.match".to_owned();
        return Err(SpecError::NoValue { field, unit: "key" });
    }
    for key in &keys {
        match (key.offset, key.mask & !CODE_POINT) {
            (_, 0) if key.offset == 0 || key.mask == 0 => {}
            (0, rest) if rest & !0x00ff_0000 == 0 => {
                return Err(not_modelled("a mask beyond the six bits of the code point"));
            }
            _ => return Err(not_modelled("u32 keys other than match ip tos")),
        }
    }
    let takes = |code: &u32| keys.iter().all(|key| (code << 18 ^ key.value) & key.mask == 0);
    Ok((0..64).filter(takes).fold(0, |codes, code| codes | 1 << code))
}

/// Reads one key. Source: iproute2 `parse_selector`.
fn u32_key(words: &[&str]) -> Result<Key, SpecError> {
    let wrong = |rule: &str| SpecError::from(ParamError::new("filter", "match", words.join(" "), rule));
    // The size of a field, bytes, and where it lies.
    let (size, at, rest) = match words {
        ["ip", "src" | "dst", address, rest @ ..] => {
            let (prefix, length) = address.split_once('/').unwrap_or((address, ""));
            let is_address = prefix.split('.').all(|byte| byte.parse::<u8>().is_ok());
            let every = matches!(*address, "any" | "all" | "default") || length == "0" && is_address;
            return match rest {
                [] if every => Ok(Key::NONE),
                [] | ["at", _] => Err(not_modelled("u32 keys other than match ip tos")),
                _ => Err(wrong("an address, such as match ip dst 0.0.0.0/0")),
            };
        }
        ["ip", "tos" | "dsfield" | "precedence", rest @ ..] => (1, 1, rest),
        ["ip", "protocol", rest @ ..] => (1, 9, rest),
        ["ip", "sport", rest @ ..] => (2, 20, rest),
        ["ip", "dport", rest @ ..] => (2, 22, rest),
        ["u32", rest @ ..] => (4, 0, rest),
        ["u16", rest @ ..] => (2, 0, rest),
        ["ip", "ihl", rest @ ..] | ["u8", rest @ ..] => (1, 0, rest),
        _ => return Err(not_modelled("u32 keys other than match ip tos")),
    };
    let (value, mask, at) = match rest {
        [value, mask] => (value, mask, at),
        [_, _, "at", place] if place.starts_with("nexthdr") => {
            return Err(not_modelled("u32 keys other than match ip tos"));
        }
        [value, mask, "at", place] => match tc::count(place, 0) {
            Some(place) => (value, mask, place),
            None => return Err(wrong("a key with a place in the header behind at")),
        },
        _ => return Err(wrong("a value and a mask, such as match ip tos 0xb8 0xfc")),
    };
    // A mask is hexadecimal without saying so.
    let most = u32::MAX >> (32 - 8 * size);
    let read = |text, base| tc::count(text, base).filter(|&number| number <= most);
    let (Some(value), Some(mask)) = (read(value, 0), read(mask, 16)) else {
        return Err(wrong(&format!("a number and a hexadecimal mask of at most {most:#x}")));
    };
    let shift = match (size, at % 4) {
        (4, 0) => 0,
        (4, _) => return Err(wrong("a key at a multiple of 4")),
        (2, 0) => 16,
        (2, _) => 0,
        (_, byte) => 24 - 8 * byte,
    };
    let mask = mask << shift;
    Ok(Key {
        offset: at / 4 * 4,
        mask,
        value: value << shift & mask,
    })
}
