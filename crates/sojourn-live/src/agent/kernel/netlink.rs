//! Netlink: sending messages and walking through answers.
//!
//! Layouts are those of `linux/netlink.h`, `linux/genetlink.h` and `linux/rtnetlink.h`; numbers are in the machine's
//! byte order.

use crate::agent::AgentError;
use crate::agent::actor::Doing;
use netlink_sys::{Socket, SocketAddr, protocols};
use std::collections::BTreeMap;
use std::io;

/// `NLM_F_REQUEST`.
pub(crate) const REQUEST: u16 = 1;
/// `NLM_F_ACK`.
pub(crate) const ACK: u16 = 4;
/// `NLM_F_ECHO`: the answer comes to this socket, not only to those that listen.
pub(crate) const ECHO: u16 = 8;
/// `NLM_F_CREATE`.
pub(crate) const CREATE: u16 = 0x400;
/// `NLM_F_EXCL`.
pub(crate) const EXCLUSIVE: u16 = 0x200;

/// `NLM_F_DUMP`.
const DUMP: u16 = 0x300;
const HEADER: usize = 16;
/// `NLMSG_DONE`.
const DONE: u16 = 3;
/// `NLMSG_ERROR`, which is an acknowledgement too.
const ERROR: u16 = 2;
/// `NLM_F_CAPPED` of an error: the message that it is about was left out.
const CAPPED: u16 = 0x100;
/// `NLM_F_ACK_TLVS` of an error: attributes follow.
const ACK_TLVS: u16 = 0x200;
/// `NLMSGERR_ATTR_MSG`.
const ERROR_TEXT: u16 = 1;
/// `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER`, which are no part of an attribute's type.
const TYPE_FLAGS: u16 = 0xc000;
/// `GENL_ID_CTRL`, `CTRL_CMD_GETFAMILY`, `CTRL_ATTR_FAMILY_ID`, `CTRL_ATTR_FAMILY_NAME`.
const CONTROL: (u16, u8, u16, u16) = (16, 3, 1, 2);

/// `RTM_GETLINK`, and `RTM_NEWQDISC`, `RTM_DELQDISC`, `RTM_GETQDISC`.
pub(crate) const GET_LINK: u16 = 18;
pub(crate) const NEW_QDISC: u16 = 36;
pub(crate) const DELETE_QDISC: u16 = 37;
pub(crate) const GET_QDISC: u16 = 38;
/// Bytes of `struct ifinfomsg` and `struct tcmsg`.
pub(crate) const LINK_MESSAGE: usize = 16;
pub(crate) const TC_MESSAGE: usize = 20;
/// Attributes of links and disciplines.
pub(crate) const IFLA_IFNAME: u16 = 3;
pub(crate) const IFLA_GSO_MAX_SEGS: u16 = 40;
pub(crate) const TCA_KIND: u16 = 1;
/// `TC_H_ROOT`.
pub(crate) const ROOT: u32 = u32::MAX;

/// `struct tcmsg` of a discipline or class.
pub(crate) fn tc_message(device: u32, handle: u32, parent: u32) -> Vec<u8> {
    [0, device, handle, parent, 0]
        .iter()
        .flat_map(|word| word.to_ne_bytes())
        .collect()
}

/// The text of an attribute, which ends with a zero byte.
pub(crate) fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).trim_end_matches('\0').to_owned()
}

/// A word of 16 bits at an offset.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

/// A word of 32 bits at an offset.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

/// A signed word of 32 bits at an offset.
pub(crate) fn i32_at(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

/// A word of 64 bits at an offset.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

/// The attributes that fill `bytes`: types without flags, and values. Ends at the first that is damaged.
pub(crate) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = u16_at(bytes, 0)? as usize;
        let kind = u16_at(bytes, 2)? & !TYPE_FLAGS;
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((kind, value))
    })
}

/// The value of the attribute `kind` among those that fill `bytes`.
pub(crate) fn attribute(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(bytes).find(|&(k, _)| k == kind).map(|(_, value)| value)
}

/// Appends an attribute.
pub(crate) fn push_attribute(message: &mut Vec<u8>, kind: u16, value: &[u8]) {
    message.extend_from_slice(&((4 + value.len()) as u16).to_ne_bytes());
    message.extend_from_slice(&kind.to_ne_bytes());
    message.extend_from_slice(value);
    message.resize(message.len().next_multiple_of(4), 0);
}

/// A whole message.
#[must_use]
pub(crate) fn message(kind: u16, flags: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEADER + body.len());
    message.extend_from_slice(&((HEADER + body.len()) as u32).to_ne_bytes());
    message.extend_from_slice(&kind.to_ne_bytes());
    message.extend_from_slice(&flags.to_ne_bytes());
    message.extend_from_slice(&sequence.to_ne_bytes());
    message.extend_from_slice(&0_u32.to_ne_bytes());
    message.extend_from_slice(body);
    message.resize(message.len().next_multiple_of(4), 0);
    message
}

/// An answer of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer<'a> {
    /// Its type.
    pub kind: u16,
    /// The number of the request.
    pub sequence: u32,
    /// What follows the header.
    pub body: &'a [u8],
    flags: u16,
}

impl<'a> Answer<'a> {
    /// All answers in a datagram.
    pub(crate) fn all(mut bytes: &'a [u8]) -> impl Iterator<Item = Self> {
        std::iter::from_fn(move || {
            let length = u32_at(bytes, 0)? as usize;
            let answer = Answer {
                kind: u16_at(bytes, 4)?,
                flags: u16_at(bytes, 6)?,
                sequence: u32_at(bytes, 8)?,
                body: bytes.get(HEADER..length)?,
            };
            bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
            Some(answer)
        })
    }

    /// `None` if it is no error message; else whether the request succeeded.
    #[must_use]
    pub(crate) fn status(&self) -> Option<io::Result<()>> {
        if self.kind != ERROR {
            return None;
        }
        let code = i32_at(self.body, 0).unwrap_or(0);
        if code == 0 {
            return Some(Ok(()));
        }
        let error = io::Error::from_raw_os_error(-code);
        Some(Err(match self.error_text() {
            Some(text) => io::Error::new(error.kind(), format!("{error}: {text}")),
            None => error,
        }))
    }

    fn error_text(&self) -> Option<String> {
        if self.flags & ACK_TLVS == 0 {
            return None;
        }
        let about = if self.flags & CAPPED != 0 {
            HEADER
        } else {
            u32_at(self.body, 4)? as usize
        };
        attribute(self.body.get((4 + about).next_multiple_of(4)..)?, ERROR_TEXT).map(text)
    }
}

/// A netlink socket of the namespace in which it was opened.
#[derive(Debug)]
pub(crate) struct Netlink {
    socket: Socket,
    buffer: Vec<u8>,
    sequence: u32,
}

impl Netlink {
    /// A `NETLINK_ROUTE` socket.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(crate) fn route() -> io::Result<Self> {
        Self::open(protocols::NETLINK_ROUTE)
    }

    /// A `NETLINK_GENERIC` socket.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(crate) fn generic() -> io::Result<Self> {
        Self::open(protocols::NETLINK_GENERIC)
    }

    /// A `NETLINK_SOCK_DIAG` socket.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(crate) fn socket_diagnosis() -> io::Result<Self> {
        Self::open(protocols::NETLINK_SOCK_DIAG)
    }

    fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.set_ext_ack(true)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self {
            socket,
            buffer: Vec::with_capacity(1 << 16),
            sequence: 0,
        })
    }

    /// Sends messages.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(crate) fn send(&self, messages: &[u8]) -> io::Result<()> {
        self.socket.send(messages, 0).map(drop)
    }

    /// Waits for a datagram of answers. The kernel answers a request before `send` returns, so this blocks only if
    /// there was none.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(crate) fn receive(&mut self) -> io::Result<impl Iterator<Item = Answer<'_>>> {
        self.buffer.clear();
        self.socket.recv(&mut self.buffer, 0)?;
        Ok(Answer::all(&self.buffer))
    }

    /// Sends one message, which is given a number of its own, and waits for its acknowledgement. Gives what was
    /// answered before it.
    ///
    /// # Errors
    /// What the kernel said.
    pub(crate) fn request(&mut self, message: Vec<u8>) -> io::Result<Vec<Vec<u8>>> {
        let flags = u16_at(&message, 6).unwrap_or(0) | REQUEST | ACK;
        self.exchange(message, flags)
    }

    /// Asks for all of a kind (`NLM_F_DUMP`), and gives the answers up to the end of them.
    ///
    /// # Errors
    /// What the kernel said.
    pub(crate) fn dump(&mut self, message: Vec<u8>) -> io::Result<Vec<Vec<u8>>> {
        self.exchange(message, REQUEST | DUMP)
    }

    /// Sends a message with a number of its own, and gives the answers before the one that ends them.
    fn exchange(&mut self, mut message: Vec<u8>, flags: u16) -> io::Result<Vec<Vec<u8>>> {
        let sequence = self.next_sequence();
        if message.len() < HEADER {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        message[6..8].copy_from_slice(&flags.to_ne_bytes());
        message[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.send(&message)?;
        let mut answers = Vec::new();
        loop {
            for answer in self.receive()?.filter(|a| a.sequence == sequence) {
                match answer.status() {
                    Some(status) => return status.map(|()| answers),
                    None if answer.kind == DONE => return Ok(answers),
                    None => answers.push(answer.body.to_vec()),
                }
            }
        }
    }

    /// A number that no request of this socket had.
    pub(crate) fn next_sequence(&mut self) -> u32 {
        self.sequence = self.sequence.wrapping_add(1);
        self.sequence
    }
}

/// The numbers of generic netlink families.
#[derive(Debug, Default)]
pub(crate) struct Families(BTreeMap<String, u16>);

impl Families {
    /// The number of `name`, asked on `socket` the first time.
    ///
    /// # Errors
    /// If there is no such family.
    pub(crate) fn id(&mut self, name: &str, socket: &mut Netlink) -> Result<u16, AgentError> {
        if let Some(&id) = self.0.get(name) {
            return Ok(id);
        }
        let (control, get_family, family_id, family_name) = CONTROL;
        let mut body = vec![get_family, 1, 0, 0];
        push_attribute(&mut body, family_name, format!("{name}\0").as_bytes());
        let what = || format!("cannot look up the generic netlink family {name}");
        let answers = socket.request(message(control, 0, 0, &body)).doing(what)?;
        let id = answers
            .first()
            .and_then(|a| u16_at(attribute(a.get(4..)?, family_id)?, 0));
        let id = id.ok_or_else(|| AgentError::Plan(format!("{}: it has no number", what())))?;
        self.0.insert(name.to_owned(), id);
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_come_back_as_they_were_appended() {
        let mut bytes = Vec::new();
        push_attribute(&mut bytes, 1, b"fq_codel\0");
        push_attribute(&mut bytes, 2 | 0x8000, &7_u32.to_ne_bytes());
        push_attribute(&mut bytes, 3, &[]);
        let all: Vec<_> = attributes(&bytes).collect();
        assert_eq!(
            all,
            [(1, &b"fq_codel\0"[..]), (2, &7_u32.to_ne_bytes()[..]), (3, &[][..])]
        );
        assert_eq!(attribute(&bytes, 2).and_then(|v| u32_at(v, 0)), Some(7));
    }

    #[test]
    fn damaged_attributes_end_the_walk() {
        for bytes in [&[3, 0, 1, 0][..], &[8, 0, 1, 0, 1], &[0, 0, 0, 0], &[5, 0]] {
            assert_eq!(attributes(bytes).count(), 0, "{bytes:?}");
        }
    }

    #[test]
    fn an_acknowledgement_and_an_error_with_text_are_told_apart() {
        let ok = message(ERROR, CAPPED, 9, &[0; 20]);
        let mut body = (-2_i32).to_ne_bytes().to_vec();
        body.extend_from_slice(&[0; 16]);
        push_attribute(&mut body, ERROR_TEXT, b"Specified qdisc kind is unknown\0");
        let error = message(ERROR, CAPPED | ACK_TLVS, 9, &body);
        let datagram = [ok, error].concat();
        let answers: Vec<_> = Answer::all(&datagram).collect();
        assert_eq!(answers.len(), 2);
        assert!(matches!(answers[0].status(), Some(Ok(()))));
        let Some(Err(e)) = answers[1].status() else {
            panic!("no error")
        };
        assert_eq!(e.kind(), io::ErrorKind::NotFound);
        assert_eq!(
            e.to_string(),
            "No such file or directory (os error 2): Specified qdisc kind is unknown"
        );
    }

    #[test]
    fn the_kernel_acknowledges_a_request_of_its_own_links() {
        // RTM_GETLINK of interface 1, which each namespace has.
        let mut body = vec![0; 16];
        body[4..8].copy_from_slice(&1_i32.to_ne_bytes());
        let mut netlink = Netlink::route().expect("no netlink on this system");
        let answers = netlink.request(message(18, 0, 0, &body)).expect("no interface 1");
        let name = attribute(&answers[0][16..], 3).expect("no name");
        assert_eq!(name, b"lo\0");
    }
}
