//! Whether a script is about something that our TCP has: looked at before it runs, so that no early failure hides it.

use crate::expr::Assigned;
use crate::script::{Action, Call, Event, Packet, Script, ScriptOption, TcpOption};
use crate::settings::Settings;
use crate::words::{Missing, missing, unknown};
use crate::{calls, info};

/// The first thing that the script needs and our TCP does not have, with its line.
pub(crate) fn first_missing(script: &Script) -> Option<(u32, Missing)> {
    let options = script.options.iter().map(|one| (one.line, option(one)));
    let mut settings = Settings::default();
    let mut assigned = Assigned::default();
    let name = |name: &str| (!info::is_known(name)).then(|| unknown("info", name));
    let mut events = script.events.iter().map(|one| match &one.action {
        Action::Check(statements) => assigned.first_missing(statements, &name),
        _ => Some((one.line, event(one, &mut settings)?)),
    });
    let mut options = options.map(|(line, found)| Some((line, found?)));
    options
        .find_map(|found| found)
        .or_else(|| events.find_map(|found| found))
}

fn option(option: &ScriptOption) -> Option<Missing> {
    match (option.name.as_str(), option.value.as_str()) {
        // Our TCP has no addresses.
        ("mss" | "tolerance_usecs" | "tcp_ts_tick_usecs" | "local_ip" | "remote_ip", _) | ("ip_version", "ipv4") => {
            None
        }
        ("ip_version", _) => Some(Missing::new(
            format!("--ip_version={}", option.value),
            "our headers are those of IPv4",
        )),
        (name, _) => Some(unknown("option", name)),
    }
}

fn event(event: &Event, settings: &mut Settings) -> Option<Missing> {
    match &event.action {
        Action::Arrives(packet) | Action::Leaves(packet) => of_packet(packet),
        Action::Call(call) => of_call(call),
        Action::Command(text) => settings.run(text).err(),
        Action::Foreign { word, .. } => Some(unknown("packet", word)),
        Action::Unknown(missing) => Some(missing.clone()),
        Action::Check(_) => None,
    }
}

fn of_packet(packet: &Packet) -> Option<Missing> {
    let flag = packet.flags.chars().find_map(|c| missing("flag", &c.to_string()));
    let option = || {
        packet.options.iter().flatten().find_map(|option| match option {
            TcpOption::FastOpen(_) => Some(unknown("tcp option", "FO")),
            TcpOption::FastOpenExperiment(_) => Some(unknown("tcp option", "FOEXP")),
            TcpOption::Md5(_) => Some(unknown("tcp option", "md5")),
            TcpOption::Other(word) => Some(unknown("tcp option", word)),
            _ => None,
        })
    };
    flag.or_else(option)
}

fn of_call(call: &Call) -> Option<Missing> {
    if !calls::is_known(&call.name) {
        return Some(unknown("call", &call.name));
    }
    let mut found = None;
    for arg in &call.args {
        arg.each_word(&mut |word| {
            if found.is_none() {
                found = missing("argument", word);
            }
        });
    }
    found
}
