//! What makes a bed lie: looked for before any traffic, and a bed that has it does not start.
//!
//! Source: "Best practices for benchmarking CoDel and FQ CoDel" (bufferbloat.net), as far as it can be looked for:
//! offloads hand a queue trains of segments as one packet; a driver's own queue below the discipline (byte queue
//! limits are about that) hides the delay from it; netem on a host that runs TCP holds back that host's own segments;
//! a clock of coarse ticks makes a shaper send in bursts.

use crate::agent::actor::Doing;
use crate::agent::kernel::netlink::{
    Families, GET_LINK, GET_QDISC, IFLA_GSO_MAX_SEGS, IFLA_IFNAME, LINK_MESSAGE, Netlink, TC_MESSAGE, TCA_KIND,
    attribute, attributes, message, push_attribute, text, u32_at,
};
use crate::agent::plan::build::Bed;
use crate::agent::{AgentError, Host};
use rustix::time::{ClockId, clock_getres};
use std::time::Duration;

/// `struct genlmsghdr`.
const GENERIC_MESSAGE: usize = 4;
const IFLA_LINKINFO: u16 = 18;
const IFLA_INFO_KIND: u16 = 1;
/// `ETHTOOL_MSG_FEATURES_GET` and the attributes on the way to the names of the active features.
const FEATURES_GET: u8 = 11;
const FEATURES_HEADER: u16 = 1;
const HEADER_DEV_NAME: u16 = 2;
const FEATURES_ACTIVE: u16 = 4;
const BITSET_BITS: u16 = 3;
const BIT: u16 = 1;
const BIT_NAME: u16 = 2;

/// Ticks of any kernel.
const CHANGE_OVER: Duration = Duration::from_millis(50);

/// Offloads that make one packet of several.
const OFFLOADS: [&str; 3] = ["tx-tcp-segmentation", "tx-generic-segmentation", "rx-gro"];

/// Looks at every device of the bed. With `trains`, hosts that run TCP may hand down several segments, which their own
/// devices cut.
///
/// # Errors
/// The first pitfall: one sentence that names the device and the host.
pub(crate) fn look(bed: &mut Bed, trains: bool) -> Result<(), AgentError> {
    // A kernel starts with the timers of its tick and changes over at one of the first.
    std::thread::sleep(CHANGE_OVER);
    let resolution = clock_getres(ClockId::Monotonic);
    if (resolution.tv_sec, resolution.tv_nsec) > (0, 1000) {
        return refuse(&format!(
            "the kernel's timers tick every {} ns, but a shaper needs high-resolution timers",
            resolution.tv_nsec
        ));
    }
    for host in bed.hosts() {
        bed.enter(&host)?;
        let mut route = Netlink::route().doing(|| format!("cannot open a netlink socket on {host}"))?;
        let runs_tcp = host == Host::Server.name() || host.starts_with(&*Host::Client(0).name());
        let what = || format!("cannot look at the devices of {host}");
        for link in route.dump(message(GET_LINK, 0, 0, &[0; LINK_MESSAGE])).doing(what)? {
            let link = link.get(LINK_MESSAGE..).unwrap_or(&[]);
            link_of(&host, link, &bed.radios, trains && runs_tcp)?;
        }
        let what = || format!("cannot look at the disciplines of {host}");
        for qdisc in route.dump(message(GET_QDISC, 0, 0, &[0; TC_MESSAGE])).doing(what)? {
            let kind = attribute(qdisc.get(TC_MESSAGE..).unwrap_or(&[]), TCA_KIND).map(text);
            if runs_tcp && kind.as_deref() == Some("netem") {
                return refuse(&format!(
                    "netem is on {host}, which runs TCP: its own segments would wait in it"
                ));
            }
        }
    }
    Ok(())
}

fn refuse(sentence: &str) -> Result<(), AgentError> {
    Err(AgentError::Plan(format!("the bed would mislead: {sentence}")))
}

fn link_of(host: &str, link: &[u8], radios: &[String], trains: bool) -> Result<(), AgentError> {
    let name = attribute(link, IFLA_IFNAME).map(text).unwrap_or_default();
    if name == "lo" {
        return Ok(());
    }
    let kind = attribute(link, IFLA_LINKINFO)
        .and_then(|info| attribute(info, IFLA_INFO_KIND))
        .map(text);
    if kind.as_deref() != Some("veth") && !radios.contains(&name) {
        let kind = kind.as_deref().unwrap_or("a device of its own");
        return refuse(&format!(
            "{name} on {host} is {kind}, not veth: a driver's queue would be below the discipline"
        ));
    }
    let train = attribute(link, IFLA_GSO_MAX_SEGS).and_then(|value| u32_at(value, 0));
    if train != Some(1) && !trains {
        let train = train.map_or_else(|| "any number of".to_owned(), |n| n.to_string());
        return refuse(&format!(
            "{name} on {host} takes {train} segments as one packet, but must take 1 (gso_max_segs)"
        ));
    }
    let active = active(host, &name)?;
    match active.iter().find(|feature| OFFLOADS.contains(&feature.as_str())) {
        Some(feature) => refuse(&format!("{feature} is on at {name} on {host}, but must be off")),
        None => Ok(()),
    }
}

/// The names of the features of a device that are on, as `ethtool -k` has them.
fn active(host: &str, device: &str) -> Result<Vec<String>, AgentError> {
    let what = || format!("cannot look at the offloads of {device} on {host}");
    let mut socket = Netlink::generic().doing(what)?;
    let family = Families::default().id("ethtool", &mut socket)?;
    let mut header = Vec::new();
    push_attribute(&mut header, HEADER_DEV_NAME, format!("{device}\0").as_bytes());
    let mut body = vec![FEATURES_GET, 1, 0, 0];
    push_attribute(&mut body, FEATURES_HEADER | 0x8000, &header);
    let answers = socket.request(message(family, 0, 0, &body)).doing(what)?;
    let answer = answers.first().and_then(|a| a.get(GENERIC_MESSAGE..)).unwrap_or(&[]);
    let set = attribute(answer, FEATURES_ACTIVE).and_then(|set| attribute(set, BITSET_BITS));
    let Some(bits) = set else {
        return Err(AgentError::Plan(format!("{}: the kernel did not tell them", what())));
    };
    Ok(attributes(bits)
        .filter(|&(kind, _)| kind == BIT)
        .filter_map(|(_, bit)| attribute(bit, BIT_NAME).map(text))
        .collect())
}
