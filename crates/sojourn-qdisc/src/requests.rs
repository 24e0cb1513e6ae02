//! What a kernel is told of a discipline: its options, and requests that give the kernel the classes, their disciplines
//! and their filters as whole netlink messages.
//!
//! Source: `linux/rtnetlink.h`, `linux/pkt_cls.h`, and `struct tc_u32_sel` with its keys.

use crate::ParamError;
use crate::kinds;
use crate::netlink::{Added, KernelBelow, Layout, NESTED, NetlinkOptions, OptionValue, Options, number, push};
use serde::{Deserialize, Serialize};

/// `RTM_NEWQDISC`, `RTM_NEWTCLASS`, `RTM_NEWTFILTER`.
const NEW_QDISC: u16 = 36;
const NEW_CLASS: u16 = 40;
const NEW_FILTER: u16 = 44;
/// `NLM_F_REQUEST`, `NLM_F_ACK`, `NLM_F_EXCL`, `NLM_F_CREATE`.
const FLAGS: u16 = 0x1 | 0x4 | 0x200 | 0x400;
/// `TCA_KIND`, `TCA_OPTIONS`.
const KIND: u16 = 1;
const OPTIONS: u16 = 2;
/// `ETH_P_ALL`, `ETH_P_IP`.
const ALL: u16 = 3;
const IPV4: u16 = 0x0800;
/// `TCA_U32_CLASSID`, `TCA_U32_SEL`, `TC_U32_TERMINAL`.
const U32_CLASS: u16 = 1;
const U32_SELECTOR: u16 = 5;
const U32_TERMINAL: u8 = 1;
/// The major number of the first discipline below another, so that no discipline of a bed has it.
const FIRST_MAJOR: u16 = 0x100;

/// What a netlink encoder needs to create a discipline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelOptions {
    /// The kind's name.
    pub kind: String,
    /// Options by name. A name ends in the unit of its value: `_us`, `_ns`, `_s`, `_bytes`, `_bps` (bit/s); without,
    /// it is a count, a flag or a word. Of a kind that is modelled here every option is there; of another, and of
    /// `cake`, those that were given.
    pub options: Options,
    /// Its classes, their disciplines and filters, in the order in which a kernel is told of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<KernelBelow>,
}

impl KernelOptions {
    /// The options as a kernel takes them.
    ///
    /// # Errors
    /// [`ParamError`] for a kind or an option that is not known here.
    pub fn encode(&self) -> Result<NetlinkOptions, ParamError> {
        encode(&self.kind, &self.options)
    }
}

fn encode(kind: &str, options: &Options) -> Result<NetlinkOptions, ParamError> {
    let about = kinds::descriptor(kind).ok_or_else(|| ParamError {
        field: "kind".to_owned(),
        value: format!("{kind:?}"),
        rule: "a queue discipline".to_owned(),
    })?;
    about.layout.encode(kind, options)
}

/// A netlink message, and what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelMessage {
    /// Such as `add class htb 10:11`.
    pub says: String,
    /// The whole message.
    pub message: Vec<u8>,
}

impl KernelOptions {
    /// The requests for what is below the discipline, in order. The device has the number `index`; the discipline
    /// itself has the major number `major`.
    ///
    /// # Errors
    /// [`ParamError`] for a kind or an option that is not known here.
    pub fn messages_below(&self, index: u32, major: u16) -> Result<Vec<KernelMessage>, ParamError> {
        self.below.iter().map(|below| below.message(index, major)).collect()
    }
}

impl KernelBelow {
    fn message(&self, index: u32, root: u16) -> Result<KernelMessage, ParamError> {
        let handle = |(discipline, minor): (u16, u16)| {
            let major = if discipline == 0 {
                root
            } else {
                FIRST_MAJOR + discipline
            };
            u32::from(major) << 16 | u32::from(minor)
        };
        let (own, parent) = (handle(self.id), handle(self.parent));
        let (what, kind, handle, info, options) = match self.adds {
            Added::Qdisc => ("discipline", NEW_QDISC, own, 0, self.discipline()?),
            Added::Class => ("class", NEW_CLASS, own, 0, Some((OPTIONS | NESTED, self.class()?))),
            Added::Filter => {
                let (protocol, options) = self.filter(own);
                let priority = number(&self.options, "priority") as u32;
                let info = priority << 16 | u32::from(protocol.to_be());
                ("filter for", NEW_FILTER, 0, info, Some((OPTIONS | NESTED, options)))
            }
        };
        // struct nlmsghdr, whose length follows; struct tcmsg.
        let mut message = vec![0; 4];
        message.extend(kind.to_ne_bytes());
        message.extend(FLAGS.to_ne_bytes());
        message.extend(1_u32.to_ne_bytes());
        message.extend([0; 8]);
        for word in [index, handle, parent, info] {
            message.extend(word.to_ne_bytes());
        }
        push(&mut message, KIND, format!("{}\0", self.kind).as_bytes());
        if let Some((kind, options)) = options {
            push(&mut message, kind, &options);
        }
        let length = (message.len() as u32).to_ne_bytes();
        message[..4].copy_from_slice(&length);
        let says = format!("add {what} {} {:x}:{:x}", self.kind, own >> 16, own & 0xffff);
        Ok(KernelMessage { says, message })
    }

    /// `TCA_OPTIONS` of a discipline.
    fn discipline(&self) -> Result<Option<(u16, Vec<u8>)>, ParamError> {
        let encoded = encode(&self.kind, &self.options)?;
        let kind = if encoded.nested { OPTIONS | NESTED } else { OPTIONS };
        Ok(encoded.payload.map(|payload| (kind, payload)))
    }

    /// `TCA_OPTIONS` of a class.
    fn class(&self) -> Result<Vec<u8>, ParamError> {
        let layout = kinds::descriptor(&self.kind).map_or(Layout::None, |about| about.class_layout);
        let encoded = layout.encode(&self.kind, &self.options)?;
        let without = || ParamError::new("class", "kind", self.kind.as_str(), "htb or drr");
        encoded.payload.ok_or_else(without)
    }

    /// The protocol, and `TCA_OPTIONS`, of a filter that sends packets to `class`: one key on the first word of the IP
    /// header, whose second byte is the type of service.
    fn filter(&self, class: u32) -> (u16, Vec<u8>) {
        let code = match self.options.get("dscp") {
            Some(OptionValue::Number(code)) => Some((code & 63) as u32),
            _ => None,
        };
        let (mask, value) = code.map_or((0, 0), |code| (0xfc << 16, code << 18));
        // struct tc_u32_sel with one key; only mask and value are not zero.
        let mut selector = vec![U32_TERMINAL, 0, 1, 0];
        selector.extend([0; 12]);
        selector.extend(u32::to_be_bytes(mask));
        selector.extend(u32::to_be_bytes(value));
        selector.extend([0; 8]);
        let mut bytes = Vec::new();
        push(&mut bytes, U32_CLASS, &class.to_ne_bytes());
        push(&mut bytes, U32_SELECTOR, &selector);
        (if code.is_some() { IPV4 } else { ALL }, bytes)
    }
}
