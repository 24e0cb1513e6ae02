//! The kernel's TCP counters of client and server over the measured window.

use crate::agent::actor::Doing;
use crate::agent::{Actor, AgentError, Host, World};
use sojourn_bed::Measured;
use std::collections::BTreeMap;

/// What of the group `Tcp` is a state or a setting, not a counter.
const NOT_COUNTED: [&str; 5] = ["RtoAlgorithm", "RtoMin", "RtoMax", "MaxConn", "CurrEstab"];

/// Counters by name.
type Counts = BTreeMap<String, u64>;

/// Reads counters of clients and server when the measured window begins and when it ends.
#[derive(Debug)]
pub(crate) struct Counters {
    hosts: Vec<Host>,
    begin: BTreeMap<String, Counts>,
    over: BTreeMap<String, Counts>,
}

impl Counters {
    /// Those of the server and of so many clients.
    pub(crate) fn new(clients: usize) -> Self {
        let clients = (0..clients as u16).map(Host::Client);
        Self {
            hosts: clients.chain([Host::Server]).collect(),
            begin: BTreeMap::new(),
            over: BTreeMap::new(),
        }
    }
}

/// The groups `Tcp` and `TcpExt` of a file of pairs of lines: names, then values.
fn parse(text: &str, counts: &mut Counts) {
    let mut lines = text.lines();
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        let mut names = names.split_whitespace();
        if !matches!(names.next(), Some("Tcp:" | "TcpExt:")) {
            continue;
        }
        for (name, value) in names.zip(values.split_whitespace().skip(1)) {
            if let Ok(value) = value.parse()
                && !NOT_COUNTED.contains(&name)
            {
                counts.insert(name.to_owned(), value);
            }
        }
    }
}

fn read(world: &mut dyn World, host: Host) -> Result<Counts, AgentError> {
    world.enter(host)?;
    let mut counts = Counts::new();
    for file in ["/proc/thread-self/net/snmp", "/proc/thread-self/net/netstat"] {
        let text = std::fs::read_to_string(file).doing(|| format!("cannot read {file} on {}", host.name()))?;
        parse(&text, &mut counts);
    }
    Ok(counts)
}

impl Actor for Counters {
    fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        world.set_timer(0, 0);
        Ok(())
    }

    fn due(&mut self, _key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        for &host in &self.hosts {
            self.begin.insert(host.name().into_owned(), read(world, host)?);
        }
        Ok(())
    }

    fn window_ends(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        for &host in &self.hosts {
            self.over.insert(host.name().into_owned(), read(world, host)?);
        }
        Ok(())
    }

    fn finish(&mut self, measured: &mut Measured) {
        for (host, mut counts) in std::mem::take(&mut self.over) {
            let begin = self.begin.get(&host);
            for (name, value) in &mut counts {
                *value -= begin.and_then(|b| b.get(name)).copied().unwrap_or(0).min(*value);
            }
            measured.counters.insert(host, counts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_tcp_are_read_and_settings_are_not() {
        let text = "Ip: Forwarding\nIp: 1\nTcp: RtoMin MaxConn ActiveOpens CurrEstab RetransSegs\nTcp: 200 -1 3 2 17\n\
                    TcpExt: TCPTimeouts TCPLossProbes\nTcpExt: 4 5\nIpExt: InOctets\nIpExt: 9\n";
        let mut counts = Counts::new();
        parse(text, &mut counts);
        let found: Vec<_> = counts.iter().map(|(name, &value)| (name.as_str(), value)).collect();
        assert_eq!(
            found,
            [
                ("ActiveOpens", 3),
                ("RetransSegs", 17),
                ("TCPLossProbes", 5),
                ("TCPTimeouts", 4)
            ]
        );
    }
}
