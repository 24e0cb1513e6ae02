//! System calls.

use crate::connection::Connection;
use crate::host::{Descriptor, Host, Kind};
use crate::memory::doubled;
use crate::options::SocketOptions;
use crate::script::{Call, Value};
use crate::target::Answer;
use crate::wire::Clocks;
use crate::words::{Missing, unknown};
use sojourn_tcp::ConnectionState;
use sojourn_units::Time;

/// Calls that are known.
const KNOWN: &[&str] = &[
    "socket",
    "setsockopt",
    "getsockopt",
    "bind",
    "listen",
    "accept",
    "connect",
    "write",
    "send",
    "sendto",
    "sendmsg",
    "read",
    "recv",
    "recvfrom",
    "recvmsg",
    "close",
    "shutdown",
    "fcntl",
    "ioctl",
    "poll",
];

fn error(name: &'static str) -> Answer {
    Answer::Error(name.into())
}

pub(crate) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}

impl Host {
    /// The application calls, or asks again after [`Answer::Waits`].
    pub(crate) fn call(&mut self, call: &Call, again: bool, now: Time) -> Result<Answer, Missing> {
        if call.name == "socket" {
            return Ok(self.socket(call));
        }
        if call.name == "poll" {
            return self.poll(call);
        }
        let fd = call.number(0).unwrap_or(-1);
        let Some(descriptor) = self.descriptors.get(&fd).copied() else {
            return Ok(error("EBADF"));
        };
        match call.name.as_str() {
            "bind" => Ok(Answer::Done(0)),
            "listen" => {
                self.change(fd, |d| d.kind = Kind::Listening);
                self.listens = true;
                Ok(Answer::Done(0))
            }
            "connect" => Ok(self.connect(fd, descriptor, again, now)),
            "accept" => Ok(self.accept(call, descriptor)),
            "setsockopt" => {
                let name = call.word(2).unwrap_or_default();
                Ok(self.set_option(fd, name, call.number(3), now))
            }
            "getsockopt" => self.getsockopt(call, descriptor),
            "fcntl" => {
                if call.word(1) == Some("F_SETFL") {
                    let on = call.has_word(2, "O_NONBLOCK");
                    self.change(fd, |d| d.nonblocking = on);
                    return Ok(Answer::Done(0));
                }
                // O_RDWR, and O_NONBLOCK.
                Ok(Answer::Done(2 + if descriptor.nonblocking { 0x800 } else { 0 }))
            }
            "close" => Ok(self.close(fd, descriptor, now)),
            "shutdown" => self.shutdown(call, fd, descriptor, now),
            _ => Ok(self.transfer(call, descriptor, again, now)),
        }
    }

    fn set_option(&mut self, fd: i64, name: &str, value: Option<i64>, now: Time) -> Answer {
        let Some(descriptor) = self.descriptors.get_mut(&fd) else {
            return error("EBADF");
        };
        match name {
            "SO_SNDBUF" => descriptor.send_buffer = value,
            "TCP_INQ" => descriptor.tells_rest = value == Some(1),
            _ => {}
        }
        if !descriptor.options.set(name, value.unwrap_or(0)) {
            return error("EINVAL");
        }
        if let Kind::Connected(i) = descriptor.kind {
            self.connections[i].set_option(name, descriptor.options);
            self.pump(i, now);
        }
        Answer::Done(0)
    }

    fn change(&mut self, fd: i64, how: impl FnOnce(&mut Descriptor)) {
        if let Some(descriptor) = self.descriptors.get_mut(&fd) {
            how(descriptor);
        }
    }

    /// Descriptors have the numbers that the script expects.
    fn socket(&mut self, call: &Call) -> Answer {
        let fd = call.result.unwrap_or(3);
        let fresh = Descriptor {
            kind: Kind::Fresh,
            nonblocking: call.has_word(1, "SOCK_NONBLOCK"),
            send_buffer: None,
            tells_rest: false,
            options: SocketOptions::default(),
        };
        self.descriptors.insert(fd, fresh);
        Answer::Done(fd)
    }

    /// `poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, 0) = 1`.
    fn poll(&self, call: &Call) -> Result<Answer, Missing> {
        let Some(Value::List(asked)) = call.args.first() else {
            return Ok(error("EFAULT"));
        };
        let mut ready = 0;
        let mut wrong = None;
        for one in asked {
            let Value::Fields(_) = one else { continue };
            let fd = one.field("fd").and_then(Value::number).unwrap_or(-1);
            let words = |name: &str| {
                let mut words = Vec::new();
                if let Some(events) = one.field(name) {
                    events.each_word(&mut |word| words.push(word));
                }
                words
            };
            let (mut come, expected) = (words("events"), words("revents"));
            come.retain(|word| self.holds(fd, word));
            ready += i64::from(!come.is_empty());
            if come != expected {
                wrong = Some(format!("revents is {}, not {}", come.join("|"), expected.join("|")));
            }
        }
        let wait = call.number(2).unwrap_or(0);
        match (ready, wait, wrong) {
            (0, i64::MIN..=-1, _) => Ok(Answer::Waits),
            (0, 1.., _) => Err(Missing::new(
                "poll",
                "a wait that ends by itself is not known to sojourn-drill",
            )),
            (_, _, Some(wrong)) => Ok(Answer::Filled(wrong)),
            (ready, ..) => Ok(Answer::Done(ready)),
        }
    }

    /// Whether what an event stands for is so.
    fn holds(&self, fd: i64, event: &str) -> bool {
        match self.descriptors.get(&fd).map(|d| d.kind) {
            Some(Kind::Listening) => event == "POLLIN" && self.acceptable().is_some(),
            Some(Kind::Connected(i)) => {
                let connection = &self.connections[i];
                let endpoint = &connection.endpoint;
                match event {
                    "POLLIN" => connection.unread() > 0 || connection.is_at_end(),
                    "POLLRDHUP" => connection.is_at_end(),
                    "POLLOUT" => endpoint.is_established() && !endpoint.is_closing(),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    fn connect(&mut self, fd: i64, descriptor: Descriptor, again: bool, now: Time) -> Answer {
        let i = match descriptor.kind {
            Kind::Fresh => {
                self.clocks = Clocks::default();
                self.connections
                    .push(Connection::client(&self.settings, descriptor.options, now));
                let i = self.connections.len() - 1;
                self.change(fd, |d| d.kind = Kind::Connected(i));
                self.pump(i, now);
                i
            }
            Kind::Connected(i) => i,
            Kind::Listening => return error("EISCONN"),
        };
        match self.connections[i].endpoint.state() {
            ConnectionState::SynSent if descriptor.nonblocking && !again => error(if descriptor.kind == Kind::Fresh {
                "EINPROGRESS"
            } else {
                "EALREADY"
            }),
            ConnectionState::SynSent => Answer::Waits,
            ConnectionState::Closed if again => error(if self.connections[i].hears_of_end() {
                "ETIMEDOUT"
            } else {
                "ECONNREFUSED"
            }),
            _ if descriptor.kind == Kind::Fresh || again => Answer::Done(0),
            _ => error("EISCONN"),
        }
    }

    fn accept(&mut self, call: &Call, descriptor: Descriptor) -> Answer {
        if descriptor.kind != Kind::Listening {
            return error("EINVAL");
        }
        let Some(i) = self.acceptable() else {
            return if descriptor.nonblocking {
                error("EAGAIN")
            } else {
                Answer::Waits
            };
        };
        self.connections[i].accepted = true;
        self.connections[i].endpoint.set_owned(true);
        let fd = call.result.unwrap_or(4);
        let accepted = Descriptor {
            kind: Kind::Connected(i),
            nonblocking: false,
            ..descriptor
        };
        self.descriptors.insert(fd, accepted);
        Answer::Done(fd)
    }

    fn close(&mut self, fd: i64, descriptor: Descriptor, now: Time) -> Answer {
        self.descriptors.remove(&fd);
        if let Kind::Connected(i) = descriptor.kind {
            let connection = &mut self.connections[i];
            connection.released = true;
            connection.endpoint.release();
            if connection.unread() > 0 || connection.endpoint.state() == ConnectionState::SynSent {
                // RFC 2525 section 2.17; RFC 9293 section 3.10.4.
                connection.endpoint.abort();
            } else {
                connection.close(now);
            }
            self.pump(i, now);
        }
        Answer::Done(0)
    }

    /// Source: Linux `inet_shutdown`, `tcp_shutdown`.
    fn shutdown(&mut self, call: &Call, fd: i64, descriptor: Descriptor, now: Time) -> Result<Answer, Missing> {
        const HOW: [&str; 3] = ["SHUT_RD", "SHUT_WR", "SHUT_RDWR"];
        let how = match call.args.get(1) {
            Some(Value::Number(n)) => usize::try_from(*n).ok(),
            Some(value) => match value.word().map(|word| (word, HOW.iter().position(|one| *one == word))) {
                Some((word, None)) => return Err(unknown("argument", word)),
                how => how.and_then(|how| how.1),
            },
            None => None,
        };
        let (reads, writes) = match how {
            Some(how @ 0..=2) => (how != 1, how != 0),
            _ => return Ok(error("EINVAL")),
        };
        match descriptor.kind {
            Kind::Fresh => return Ok(error("ENOTCONN")),
            // Who does not read hears of no connection.
            Kind::Listening if reads => self.change(fd, |d| d.kind = Kind::Fresh),
            Kind::Listening => {}
            Kind::Connected(i) => {
                let connection = &mut self.connections[i];
                if connection.endpoint.state() == ConnectionState::Closed {
                    return Ok(error("ENOTCONN"));
                }
                connection.reads_no_more |= reads;
                if writes {
                    connection.close(now);
                    self.pump(i, now);
                }
            }
        }
        Ok(Answer::Done(0))
    }

    /// Calls on a connection.
    fn transfer(&mut self, call: &Call, descriptor: Descriptor, again: bool, now: Time) -> Answer {
        let reads = matches!(call.name.as_str(), "read" | "recv" | "recvfrom" | "recvmsg");
        let Kind::Connected(i) = descriptor.kind else {
            return error(if reads { "ENOTCONN" } else { "EPIPE" });
        };
        let connection = &mut self.connections[i];
        if connection.waiting.is_none() && connection.hears_of_end() {
            return error("ETIMEDOUT");
        }
        match call.name.as_str() {
            "ioctl" => ioctl(call, connection),
            _ if reads => {
                let answer = read(call, descriptor, connection);
                self.pump(i, now);
                answer
            }
            _ => self.write(call, descriptor, i, again, now),
        }
    }
}

/// Bytes that a call reads or writes.
pub(crate) fn size(call: &Call) -> i64 {
    if !call.name.ends_with("msg") {
        return call.number(2).unwrap_or(0);
    }
    let Some(Value::List(buffers)) = field(call, "msg_iov") else {
        return 0;
    };
    let bytes = buffers.iter().filter_map(|buffer| match buffer {
        Value::Fields(fields) => fields.iter().find_map(|(_, value)| value.number()),
        _ => None,
    });
    bytes.sum()
}

/// A field of a message.
fn field<'a>(call: &'a Call, name: &str) -> Option<&'a Value> {
    call.args.get(1)?.field(name)
}

fn read(call: &Call, descriptor: Descriptor, connection: &mut Connection) -> Answer {
    let wanted = size(call).max(0).cast_unsigned();
    let bytes = connection.unread().min(wanted);
    let ended = connection.is_at_end() || connection.endpoint.gave_up();
    if bytes == 0 && wanted > 0 && !ended {
        return if descriptor.nonblocking {
            error("EAGAIN")
        } else {
            Answer::Waits
        };
    }
    connection.read += bytes;
    connection.endpoint.read(bytes);
    if descriptor.tells_rest
        && let Some(expected) = rest_of(call)
    {
        // What is left; one at the end, so that the application reads on. Source: Linux `tcp_inq_hint`.
        let rest = if ended {
            connection.unread().max(1)
        } else {
            connection.unread()
        };
        if expected != rest.cast_signed() {
            return Answer::Filled(format!("TCP_CM_INQ is {rest}, not {expected}"));
        }
    }
    Answer::Done(bytes.cast_signed())
}

/// What the script expects a read to tell of the rest.
fn rest_of(call: &Call) -> Option<i64> {
    let Value::List(messages) = field(call, "msg_control")? else {
        return None;
    };
    messages.first()?.field("cmsg_data")?.number()
}

fn ioctl(call: &Call, connection: &Connection) -> Answer {
    let (name, count) = match call.word(1) {
        Some("SIOCOUTQ") => ("SIOCOUTQ", connection.endpoint.sender().bytes_pending()),
        _ => ("SIOCINQ", connection.unread()),
    };
    match call.number(2) {
        Some(expected) if expected != count.cast_signed() => {
            Answer::Filled(format!("{name} is {count}, not {expected}"))
        }
        _ => Answer::Done(0),
    }
}

/// Number of an error. Source: Linux `errno.h`.
const ETIMEDOUT: i64 = 110;

impl Host {
    fn getsockopt(&mut self, call: &Call, descriptor: Descriptor) -> Result<Answer, Missing> {
        let name = call.word(2).unwrap_or("getsockopt");
        let value = match name {
            "SO_ERROR" => match descriptor.kind {
                Kind::Connected(i) if self.connections[i].hears_of_end() => Some(ETIMEDOUT),
                _ => Some(0),
            },
            "SO_SNDBUF" => Some(descriptor.send_buffer.map_or(0, doubled)),
            _ => descriptor.options.get(name),
        };
        let Some(value) = value else {
            return Err(Missing::new(name, "this option is not known to sojourn-drill"));
        };
        Ok(match call.number(3) {
            Some(expected) if expected != value => Answer::Filled(format!("the option is {value}, not {expected}")),
            _ => Answer::Done(0),
        })
    }
}
