//! Compares what a call has filled with what the script expects.

use crate::calls::field;
use crate::constants::{constant, number};
use crate::output::Control;
use sojourn_drill::{Call, Value};

/// How far a time stamp may be off, nanoseconds. Source: packetdrill's tolerance of times.
const TOLERANCE: i64 = 4_000_000;
/// Names in scripts that `ksft_runner.sh` of the kernel's tests defines, and what they are for IPv4.
const DEFINED: [(&str, &str); 2] = [("CMSG_LEVEL_IP", "SOL_IP"), ("CMSG_TYPE_RECVERR", "IP_RECVERR")];
/// The numbers of `struct sock_extended_err` in its order.
const ERROR: [&str; 6] = ["ee_errno", "ee_origin", "ee_type", "ee_code", "ee_info", "ee_data"];

fn differ(what: &str, got: i64, expected: i64) -> Result<(), String> {
    if got == expected {
        return Ok(());
    }
    Err(format!("{what} is {got}, not {expected}"))
}

/// An integer in an argument.
///
/// # Errors
/// A clause, if it has another value.
pub(crate) fn filled(call: &Call, value: i64) -> Result<(), String> {
    let (name, at) = if call.name == "ioctl" { (1, 2) } else { (2, 3) };
    match call.args.get(at).map(number) {
        Some(Ok(expected)) if call.args[at] != Value::Any => {
            let name = call.args.get(name).and_then(Value::word).unwrap_or("it");
            // An option of 32 bits, which a script may write without a sign.
            let expected = u32::try_from(expected).map_or(expected, |n| n.cast_signed().into());
            differ(name, value, expected)
        }
        _ => Ok(()),
    }
}

/// The events of descriptors, by the names of the fields in which the script expects them.
///
/// # Errors
/// A clause, if they are others.
pub(crate) fn events(expected: Option<&Value>, name: &str, got: &[(i64, Option<i64>)]) -> Result<(), String> {
    let one;
    let expected: &[Value] = match expected {
        Some(Value::List(all)) => all,
        Some(fields @ Value::Fields(_)) => {
            one = [fields.clone()];
            &one
        }
        _ => return Ok(()),
    };
    for (expected, (events, data)) in expected.iter().zip(got) {
        if let Some(Ok(wanted)) = field(Some(expected), name).map(number) {
            differ(name, *events, wanted)?;
        }
        if let (Some(data), Some(wanted)) = (data, field(Some(expected), "fd").and_then(Value::number)) {
            differ("fd", *data, wanted)?;
        }
    }
    Ok(())
}

/// A message: its flags and its control messages. `begin` is when the script began, nanoseconds of the clock of the day.
///
/// # Errors
/// A clause, if something is different.
pub(crate) fn message(call: &Call, flags: i64, control: &[Control], begin: i64) -> Result<(), String> {
    let expected = call.args.get(1);
    if let Some(wanted) = field(expected, "msg_flags") {
        let wanted = number(wanted).map_err(|missing| format!("{} is not known", missing.word))?;
        differ("msg_flags", flags, wanted)?;
    }
    let Some(Value::List(wanted)) = field(expected, "msg_control") else {
        return Ok(());
    };
    if control.len() != wanted.len() {
        return Err(format!("{} control messages came, not {}", control.len(), wanted.len()));
    }
    for (wanted, got) in wanted.iter().zip(control) {
        one(wanted, got, begin)?;
    }
    Ok(())
}

fn one(wanted: &Value, got: &Control, begin: i64) -> Result<(), String> {
    let kind = field(Some(wanted), "cmsg_type").and_then(Value::word).unwrap_or("");
    let kind = DEFINED.iter().find(|one| one.0 == kind).map_or(kind, |one| one.1);
    let data = field(Some(wanted), "cmsg_data");
    match (kind, got) {
        ("TCP_CM_INQ", Control::Inq(n)) => data
            .and_then(Value::number)
            .map_or(Ok(()), |wanted| differ(kind, *n, wanted)),
        ("SCM_TIMESTAMPING", Control::Timestamp(at)) => {
            let part = |name| field(data, name).and_then(Value::number).unwrap_or(0);
            let wanted = part("scm_sec") * 1_000_000_000 + part("scm_nsec");
            let after = at - begin;
            if (after - wanted).abs() > TOLERANCE {
                return Err(format!(
                    "the time stamp is {after} ns after the beginning, not {wanted}"
                ));
            }
            Ok(())
        }
        ("IP_RECVERR", Control::Error(numbers)) => {
            for (name, got) in ERROR.iter().zip(numbers) {
                if let Some(Ok(wanted)) = field(data, name).map(number) {
                    differ(name, *got, wanted)?;
                }
            }
            Ok(())
        }
        _ => Err(format!("{got:?} came, not {kind}")),
    }
}

/// Whether an assertion may use this name as a constant.
pub(crate) fn is_constant(name: &str) -> bool {
    constant(name).is_some()
}
