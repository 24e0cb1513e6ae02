//! The counters that only one kind of discipline has, by the names of `tc -s -j qdisc`, as its descriptor says they
//! lie.

use crate::agent::kernel::netlink::{attribute, attributes, i32_at, u32_at, u64_at};
use sojourn_qdisc::{Counters, Form, Row, descriptor};
use std::collections::BTreeMap;

/// Counters by name.
pub(crate) type Extra = BTreeMap<String, f64>;

fn read(form: Form, bytes: &[u8], at: usize) -> Option<f64> {
    match form {
        Form::S32 => i32_at(bytes, at).map(f64::from),
        Form::U64 => u64_at(bytes, at).map(|v| v as f64),
        Form::Probability32 => u32_at(bytes, at).map(|v| f64::from(v) / f64::from(u32::MAX)),
        Form::Probability => u64_at(bytes, at).map(|v| v as f64 / u64::MAX as f64),
        _ => u32_at(bytes, at).map(f64::from),
    }
}

/// The members of a structure, as far as this kernel's is long.
fn members(bytes: &[u8], members: &[Row]) -> Extra {
    let mut at = 0;
    let read = |&(name, form): &Row| {
        let value = read(form, bytes, at);
        at += form.size();
        Some((name.to_owned(), value.filter(|_| !name.is_empty())?))
    };
    members.iter().filter_map(read).collect()
}

/// The members that are there as attributes.
fn nested(bytes: &[u8], members: &[Row]) -> Extra {
    let named = (0..).zip(members).filter(|(_, row)| !row.0.is_empty());
    let read = |(kind, &(name, form)): (u16, &Row)| Some((name.to_owned(), read(form, attribute(bytes, kind)?, 0)?));
    named.filter_map(read).collect()
}

/// The counters of a class of a discipline of `kind` from its `TCA_STATS_APP`. Empty for a kind without.
#[must_use]
pub(crate) fn decode_class(kind: &str, bytes: &[u8]) -> Extra {
    descriptor(kind).map_or_else(Extra::new, |about| members(bytes, about.class_counters))
}

/// The counters of a discipline of `kind` from its `TCA_STATS_APP`. Empty for a kind without.
#[must_use]
pub(crate) fn decode(kind: &str, bytes: &[u8]) -> Extra {
    match descriptor(kind).map(|about| about.counters) {
        None => Extra::new(),
        Some(Counters::Members(all)) => members(bytes, all),
        Some(Counters::Attributes {
            own,
            list,
            class,
            each,
            summed,
        }) => {
            let mut extra = nested(bytes, own);
            for (i, (_, one)) in attributes(attribute(bytes, list).unwrap_or(&[])).enumerate() {
                for (name, value) in nested(one, each) {
                    if summed.contains(&name.as_str()) {
                        *extra.entry(name.clone()).or_default() += value;
                    }
                    extra.insert(format!("{class}{i}_{name}"), value);
                }
            }
            extra
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "small whole numbers are exact")]
mod tests {
    use super::*;
    use crate::agent::kernel::netlink::push_attribute;

    #[test]
    fn members_are_read_as_far_as_the_structure_goes() {
        let words: Vec<u8> = (0..9_u32).flat_map(|w| (w + 1).to_ne_bytes()).collect();
        let all = decode("codel", &words);
        assert_eq!((all["maxpacket"], all["ce_mark"], all.len()), (1.0, 9.0, 9));
        assert_eq!(decode("codel", &words[..32]).get("ce_mark"), None);
        assert_eq!(decode("codel", &[0xff; 36])["drop_next"], -1.0);
        assert_eq!(decode("pfifo", &words), Extra::new());
    }

    #[test]
    fn classes_of_htb_may_owe_tokens() {
        let words: Vec<u8> = [3, 4, 0, u32::MAX, 7].iter().flat_map(|w| w.to_ne_bytes()).collect();
        let found = decode_class("htb", &words);
        assert_eq!(
            (found["lended"], found["borrowed"], found["tokens"], found["ctokens"]),
            (3.0, 4.0, -1.0, 7.0)
        );
        assert_eq!(decode_class("prio", &words), Extra::new());
    }

    #[test]
    fn certainty_is_a_probability_of_one() {
        let mut bytes = u64::MAX.to_ne_bytes().to_vec();
        bytes.resize(40, 0);
        assert_eq!(decode("pie", &bytes)["prob"], 1.0);
    }

    #[test]
    fn tins_are_told_apart_and_their_drops_are_summed() {
        let tin = |drops: u32| {
            let mut tin = Vec::new();
            push_attribute(&mut tin, 4, &drops.to_ne_bytes());
            push_attribute(&mut tin, 12, &1_u64.to_ne_bytes());
            tin
        };
        let mut tins = Vec::new();
        push_attribute(&mut tins, 1, &tin(3));
        push_attribute(&mut tins, 2, &tin(4));
        let mut bytes = Vec::new();
        push_attribute(&mut bytes, 3, &99_u32.to_ne_bytes());
        push_attribute(&mut bytes, 10, &tins);
        let extra = decode("cake", &bytes);
        assert_eq!((extra["memory_limit"], extra["drops"]), (99.0, 7.0));
        assert_eq!(
            (extra["tin0_drops"], extra["tin1_drops"], extra["tin1_threshold_rate"]),
            (3.0, 4.0, 1.0)
        );
    }
}
