//! The rules, one sentence each.

use super::{ConfigError, DISCARD};
use crate::flush::gate::{
    GateSettings, LEAST_COOL_DOWN, LONGEST_RTT, MOST_BDP_THOUSANDTHS, MOST_BYTES_PER_FLUSH, MOST_BYTES_PER_MINUTE,
};
use ipnet::IpNet;
use sojourn_units::{Duration, format_duration, parse_duration};
use std::net::{IpAddr, SocketAddr};
use toml::{Table, Value};

const LONGEST: Duration = Duration::from_secs(86_400);

#[expect(clippy::needless_pass_by_value, reason = "it takes numbers and text alike")]
fn field(field: &str, value: impl ToString, rule: impl ToString) -> ConfigError {
    ConfigError::Field {
        field: field.to_owned(),
        value: value.to_string(),
        rule: rule.to_string(),
    }
}

/// Text that is not TOML.
pub(super) fn syntax(text: &str, error: &toml::de::Error) -> ConfigError {
    let line = error.span().map_or(1, |span| {
        let before = text.get(..span.start).unwrap_or(text);
        before.matches('\n').count() + 1
    });
    let what = error.message().lines().collect::<Vec<_>>().join(", ");
    ConfigError::Other(format!("line {line} is not TOML: {what}"))
}

/// Puts `value` at `path` (one or two names) into the table.
pub(super) fn lay_over(table: &mut Table, path: &str, value: Value) -> Result<(), ConfigError> {
    let Some((outer, inner)) = path.split_once('.') else {
        table.insert(path.to_owned(), value);
        return Ok(());
    };
    let found = table.entry(outer).or_insert_with(|| Value::Table(Table::new()));
    let Value::Table(found) = found else {
        return Err(field(outer, found, "a table"));
    };
    found.insert(inner.to_owned(), value);
    Ok(())
}

/// That no table is written as a list: serde would take its values for those of the keys, in the order of this
/// program.
pub(super) fn no_lists_for_tables(table: &Table) -> Result<(), ConfigError> {
    for key in ["flusher", "gate", "send", "log", "metrics"] {
        if table.get(key).is_some_and(Value::is_array) {
            return Err(field(key, "a list", "a table"));
        }
    }
    Ok(())
}

/// Makes a sentence of what serde found at `path`.
pub(super) fn sentence(path: &str, error: &toml::de::Error) -> ConfigError {
    let message = error.message();
    if let Some(rest) = message.strip_prefix("unknown field `")
        && let Some((name, rule)) = rest.split_once("`, ")
    {
        // The path ends in the unknown key itself.
        let key = if path.ends_with(name) { path } else { name };
        let rule = rule.strip_prefix("expected ").unwrap_or(rule);
        return ConfigError::Other(format!("{key} is not a key of the configuration, but must be {rule}"));
    }
    for kind in ["invalid type: ", "invalid value: "] {
        if let Some((value, rule)) = message
            .strip_prefix(kind)
            .and_then(|rest| rest.rsplit_once(", expected "))
        {
            let rule = match rule {
                "u16" | "u32" | "u64" => "a whole number >= 0",
                "f64" => "a number",
                "a string" => "text",
                "a boolean" => "true or false",
                "a sequence" => "a list",
                other => other.strip_prefix("struct ").map_or(other, |_| "a table"),
            };
            return field(path, value, rule);
        }
    }
    if let Some((variant, rule)) = message
        .strip_prefix("unknown variant `")
        .and_then(|rest| rest.split_once("`, expected "))
    {
        return field(path, format!("{variant:?}"), rule);
    }
    // The core's own sentences name the field.
    if message.starts_with("flusher.") {
        return ConfigError::Other(message.to_owned());
    }
    ConfigError::Other(format!("{path} cannot be used: {message}"))
}

pub(super) fn interface(name: &str) -> Result<(), ConfigError> {
    let sound = (1..=15).contains(&name.len()) && !name.contains(|c: char| c == '/' || c.is_whitespace() || c == '\0');
    if sound {
        return Ok(());
    }
    let rule = "the name of a network interface, of 1 to 15 bytes without blanks and slashes";
    Err(field("interface", format!("{name:?}"), rule))
}

pub(super) fn port(port: Option<u16>) -> Result<u16, ConfigError> {
    match port {
        None => Ok(DISCARD),
        Some(0) => Err(field("send.port", 0, "from 1 to 65535")),
        Some(port) => Ok(port),
    }
}

pub(super) fn loopback(text: &str) -> Result<SocketAddr, ConfigError> {
    text.parse::<SocketAddr>()
        .ok()
        .filter(|a| a.ip().is_loopback())
        .ok_or_else(|| {
            let rule = "a loopback address with a port, such as \"127.0.0.1:9469\" or \"[::1]:9469\"";
            field("metrics.listen", format!("{text:?}"), rule)
        })
}

/// A prefix, or a single address.
pub(super) fn prefix(name: &str, text: &str) -> Result<IpNet, ConfigError> {
    let fail = |rule: &str| field(name, format!("{text:?}"), rule);
    let net = text
        .parse::<IpNet>()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| fail("a prefix such as \"192.0.2.0/24\" or \"2001:db8::/32\", or an address"))?;
    if net.trunc() != net {
        return Err(fail("a prefix without bits beyond its length"));
    }
    let least = match net {
        IpNet::V4(_) => 8,
        IpNet::V6(_) => 16,
    };
    if net.prefix_len() < least {
        return Err(fail("a prefix of at least 8 bits of IPv4, or 16 of IPv6"));
    }
    Ok(net)
}

pub(super) fn time(name: &str, text: &str) -> Result<Duration, ConfigError> {
    // A bare number is microseconds to tc; here it is more likely an error.
    let unit = text.ends_with(|c: char| c.is_ascii_alphabetic());
    parse_duration(text).ok().filter(|_| unit).ok_or_else(|| {
        field(
            name,
            format!("{text:?}"),
            "a time with its unit, such as \"500ms\" or \"2s\"",
        )
    })
}

/// In thousandths.
pub(super) fn multiple(value: f64) -> Result<u32, ConfigError> {
    let thousandths = value * 1000.0;
    let whole = thousandths.round();
    if (1.0..=f64::from(MOST_BDP_THOUSANDTHS)).contains(&thousandths) && (thousandths - whole).abs() < 1e-6 {
        return Ok(whole as u32);
    }
    let most = f64::from(MOST_BDP_THOUSANDTHS) / 1000.0;
    Err(field(
        "gate.bdp_multiple",
        value,
        format!("from 0.001 to {most}, of at most three decimals"),
    ))
}

pub(super) fn gate(gate: &GateSettings) -> Result<(), ConfigError> {
    let most = |name, value: u64, most: u64, of: &str| {
        if value > most {
            return Err(field(name, value, format!("at most {most}{of}")));
        }
        Ok(())
    };
    most(
        "gate.bytes_per_minute",
        gate.bytes_per_minute,
        MOST_BYTES_PER_MINUTE,
        "",
    )?;
    most("gate.bytes_per_flush", gate.bytes_per_flush, MOST_BYTES_PER_FLUSH, "")?;
    most(
        "gate.bytes_per_flush",
        gate.bytes_per_flush,
        gate.bytes_per_minute,
        ", which is gate.bytes_per_minute",
    )?;
    let within = |name, value: Duration, least: Duration, most: Duration| {
        if value < least || value > most {
            let rule = format!("from {} to {}", format_duration(least), format_duration(most));
            return Err(field(name, format_duration(value), rule));
        }
        Ok(())
    };
    within("gate.max_rtt", gate.max_rtt, Duration::from_millis(1), LONGEST_RTT)?;
    within("gate.cool_down", gate.cool_down, LEAST_COOL_DOWN, LONGEST)?;
    within("gate.max_cool_down", gate.max_cool_down, gate.cool_down, LONGEST)
}
