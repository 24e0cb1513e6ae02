//! The system calls of a script: what is handed to the kernel, and what of its answer is compared.

use crate::commands;
use crate::constants::{number, unknown};
use crate::options;
use crate::wire::{LOCAL, REMOTE};
use crate::worker::Job;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use rustix::event::epoll;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, ipproto};
use sojourn_drill::{Call, Missing, Trouble, Value};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IoSliceMut;
use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// The port of sockets that listen, and of our side where the kernel connects to. Source: packetdrill's defaults.
pub(crate) const PORT: u16 = 8080;
/// The most bytes that one call reads or writes.
const MOST: i64 = 64 << 20;
/// Room for control messages.
const CONTROL: usize = 512;

/// Descriptors by the numbers of the script.
pub(crate) type Descriptors = BTreeMap<i64, Arc<OwnedFd>>;

/// A control message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// `SCM_TIMESTAMPING`: nanoseconds of the kernel's clock of the day.
    Timestamp(i64),
    /// `IP_RECVERR`: errno, origin, type, code, info, data.
    Error([i64; 6]),
    /// `TCP_CM_INQ`.
    Inq(i64),
    /// Another.
    Other,
}

/// What a call has returned.
#[derive(Debug)]
pub(crate) enum Output {
    /// A number.
    Number(i64),
    /// A new descriptor.
    Descriptor(OwnedFd),
    /// Two of them.
    Pair(OwnedFd, OwnedFd),
    /// 0, and an integer in an argument.
    Filled(i64),
    /// The bytes of a message, its flags, and its control messages.
    Message(i64, i64, Vec<Control>),
    /// How many are ready, and the events of each.
    Polled(i64, Vec<i64>),
    /// The events, and the numbers of their descriptors.
    Events(Vec<(i64, i64)>),
}

fn rustix(error: rustix::io::Errno) -> i32 {
    error.raw_os_error()
}

fn nix(error: Errno) -> i32 {
    error as i32
}

fn count(n: usize) -> Output {
    Output::Number(i64::try_from(n).unwrap_or(i64::MAX))
}

/// The call as something that the worker does.
///
/// # Errors
/// A word that is not known, or that no safe program can hand over.
pub(crate) fn job(call: &Call, descriptors: &Descriptors) -> Result<Job, Trouble> {
    let arg = |i: usize| call.args.get(i).unwrap_or(&Value::Any);
    let int = |i: usize| number(arg(i));
    let at = |i: usize| -> Option<Arc<OwnedFd>> { descriptors.get(&arg(i).number()?).cloned() };
    let with = |wanted: Option<Arc<OwnedFd>>, what: Box<dyn FnOnce(&OwnedFd) -> Result<Output, i32> + Send>| -> Job {
        match wanted {
            Some(fd) => Box::new(move || what(&fd)),
            None => Box::new(|| Err(Errno::EBADF as i32)),
        }
    };
    let takes_null = matches!(call.name.as_str(), "splice" | "epoll_ctl");
    if !takes_null && call.args.iter().any(|arg| arg.word() == Some("NULL")) {
        return Err(Missing::new("NULL", "no safe program can hand over a bad address").into());
    }
    let first = at(0);
    Ok(match call.name.as_str() {
        "socket" => {
            let flags = int(1)?;
            Box::new(move || {
                let flags = SocketFlags::from_bits_retain(flags as u32 & !0xf);
                let socket =
                    rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, Some(ipproto::TCP));
                socket.map(Output::Descriptor).map_err(rustix)
            })
        }
        "bind" => with(
            first,
            Box::new(|fd| {
                let to = SocketAddrV4::new(LOCAL, PORT);
                rustix::net::bind(fd, &to).map(|()| Output::Number(0)).map_err(rustix)
            }),
        ),
        "listen" => {
            let backlog = int(1)? as i32;
            with(
                first,
                Box::new(move |fd| {
                    let done = rustix::net::listen(fd, backlog);
                    done.map(|()| Output::Number(0)).map_err(rustix)
                }),
            )
        }
        "accept" | "accept4" => {
            let flags = if call.name == "accept4" { int(3)? } else { 0 };
            with(
                first,
                Box::new(move |fd| {
                    let flags = SocketFlags::from_bits_retain(flags as u32);
                    let socket = rustix::net::accept_with(fd, flags);
                    socket.map(Output::Descriptor).map_err(rustix)
                }),
            )
        }
        "connect" => {
            let mut none = false;
            arg(1).each_word(&mut |word| none |= word == "AF_UNSPEC");
            with(
                first,
                Box::new(move |fd| {
                    let done = if none {
                        rustix::net::connect_unspec(fd)
                    } else {
                        rustix::net::connect(fd, &SocketAddrV4::new(REMOTE, PORT))
                    };
                    done.map(|()| Output::Number(0)).map_err(rustix)
                }),
            )
        }
        "shutdown" => {
            let how = match int(1)? {
                0 => Shutdown::Read,
                1 => Shutdown::Write,
                _ => Shutdown::Both,
            };
            with(
                first,
                Box::new(move |fd| {
                    let done = rustix::net::shutdown(fd, how);
                    done.map(|()| Output::Number(0)).map_err(rustix)
                }),
            )
        }
        "setsockopt" => set_option(call, first)?,
        "getsockopt" => {
            let word = arg(2).word().unwrap_or("getsockopt").to_owned();
            let option = options::int(&word).ok_or_else(|| unknown(&word))?;
            with(
                first,
                Box::new(move |fd| option.get(fd).map(|n| Output::Filled(n.into())).map_err(nix)),
            )
        }
        "fcntl" => match arg(1).word() {
            Some("F_GETFL") => with(
                first,
                Box::new(|fd| {
                    let flags = rustix::fs::fcntl_getfl(fd).map_err(rustix)?;
                    Ok(Output::Number(i64::from(flags.bits())))
                }),
            ),
            Some("F_SETFL") => {
                let flags = OFlags::from_bits_retain(int(2)? as u32);
                with(
                    first,
                    Box::new(move |fd| {
                        let done = rustix::fs::fcntl_setfl(fd, flags);
                        done.map(|()| Output::Number(0)).map_err(rustix)
                    }),
                )
            }
            other => return Err(unknown(other.unwrap_or("fcntl")).into()),
        },
        "ioctl" => match arg(1).word() {
            Some("SIOCINQ" | "FIONREAD") => with(
                first,
                Box::new(|fd| {
                    let n = rustix::io::ioctl_fionread(fd).map_err(rustix)?;
                    Ok(Output::Filled(n.cast_signed()))
                }),
            ),
            other => return Err(unknown(other.unwrap_or("ioctl")).into()),
        },
        "write" | "send" | "sendto" | "sendmsg" => send(call, first)?,
        "read" | "recv" | "recvfrom" => {
            let mut buffer = vec![0; bytes(call)?];
            let flags = if call.name == "read" { 0 } else { int(3)? };
            let flags = RecvFlags::from_bits_retain(flags as u32);
            let reads = call.name == "read";
            with(
                first,
                Box::new(move |fd| {
                    let n = if reads {
                        rustix::io::read(fd, &mut buffer[..])
                    } else {
                        rustix::net::recv(fd, &mut buffer[..], flags).map(|(n, _)| n)
                    };
                    n.map(count).map_err(rustix)
                }),
            )
        }
        "recvmsg" => {
            let mut buffer = vec![0; bytes(call)?];
            let flags = MsgFlags::from_bits_retain(int(2)? as i32);
            with(first, Box::new(move |fd| receive(fd, &mut buffer, flags).map_err(nix)))
        }
        "poll" => poll(call, descriptors)?,
        "epoll_create" | "epoll_create1" => Box::new(|| {
            let made = epoll::create(epoll::CreateFlags::empty());
            made.map(Output::Descriptor).map_err(rustix)
        }),
        "epoll_ctl" => epoll_control(call, first, at(2))?,
        "epoll_wait" => {
            let (most, wait) = (int(2)?.clamp(1, 64) as usize, int(3)?);
            with(
                first,
                Box::new(move |fd| {
                    let mut room = [epoll::Event {
                        flags: epoll::EventFlags::empty(),
                        data: epoll::EventData::new_u64(0),
                    }; 64];
                    let timeout = millis(wait);
                    let n = epoll::wait(fd, &mut room[..most], timeout.as_ref()).map_err(rustix)?;
                    let event = |one: &epoll::Event| {
                        let flags = one.flags;
                        let data = one.data;
                        (i64::from(flags.bits()), data.u64().cast_signed())
                    };
                    Ok(Output::Events(room[..n].iter().map(event).collect()))
                }),
            )
        }
        "pipe" => Box::new(|| {
            let pair = rustix::pipe::pipe().map_err(rustix)?;
            Ok(Output::Pair(pair.0, pair.1))
        }),
        "open" => {
            let Value::Text(path) = arg(0) else {
                return Err(Missing::new("open", "the path must be a text").into());
            };
            let path = commands::file(path)?.to_owned();
            Box::new(move || {
                let file = std::fs::File::open(path).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
                Ok(Output::Descriptor(file.into()))
            })
        }
        "splice" => {
            let (Some(from), Some(to)) = (first, at(2)) else {
                return Ok(Box::new(|| Err(Errno::EBADF as i32)));
            };
            let (n, flags) = (size(int(4)?)?, int(5)?);
            Box::new(move || {
                let flags = nix::fcntl::SpliceFFlags::from_bits_retain(flags as u32);
                let n = nix::fcntl::splice(&*from, None, &*to, None, n, flags);
                n.map(count).map_err(nix)
            })
        }
        "sendfile" => {
            let (Some(to), Some(from)) = (first, at(1)) else {
                return Ok(Box::new(|| Err(Errno::EBADF as i32)));
            };
            let (mut offset, n) = (int(2)?, size(int(3)?)?);
            Box::new(move || {
                let n = nix::sys::sendfile::sendfile(&*to, &*from, Some(&mut offset), n);
                n.map(count).map_err(nix)
            })
        }
        name => return Err(Missing::new(name, "this call is not known to sojourn-drill").into()),
    })
}

fn size(n: i64) -> Result<usize, Missing> {
    if (0..=MOST).contains(&n) {
        Ok(n as usize)
    } else {
        Err(Missing::new(n.to_string(), "a call moves at most 64 MiB"))
    }
}

/// Bytes that a call reads or writes.
fn bytes(call: &Call) -> Result<usize, Missing> {
    if !call.name.ends_with("msg") {
        return size(call.args.get(2).and_then(Value::number).unwrap_or(0));
    }
    let Some(Value::List(buffers)) = field(call.args.get(1), "msg_iov") else {
        return Ok(0);
    };
    let lengths = buffers.iter().filter_map(|buffer| match buffer {
        Value::Fields(fields) => fields.iter().find_map(|(_, value)| value.number()),
        _ => None,
    });
    size(lengths.fold(0, i64::saturating_add))
}

/// A field of a structure.
pub(crate) fn field<'a>(value: Option<&'a Value>, name: &str) -> Option<&'a Value> {
    let Value::Fields(fields) = value? else { return None };
    fields.iter().find(|field| field.0 == name).map(|field| &field.1)
}

fn on(fd: Option<Arc<OwnedFd>>, what: impl FnOnce(&OwnedFd) -> Result<Output, i32> + Send + 'static) -> Job {
    match fd {
        Some(fd) => Box::new(move || what(&fd)),
        None => Box::new(|| Err(Errno::EBADF as i32)),
    }
}

fn set_option(call: &Call, fd: Option<Arc<OwnedFd>>) -> Result<Job, Trouble> {
    let word = call
        .args
        .get(2)
        .and_then(Value::word)
        .unwrap_or("setsockopt")
        .to_owned();
    let value = call.args.get(3).unwrap_or(&Value::Any);
    if let Value::Text(text) = value {
        let text = OsString::from(text);
        return Ok(on(fd, move |fd| {
            options::set_text(fd, &word, &text)
                .map(|()| Output::Number(0))
                .map_err(nix)
        }));
    }
    if word == "SO_LINGER" {
        let part = |name| field(Some(value), name).and_then(Value::number).unwrap_or(0) as i32;
        let (yes, seconds) = (part("onoff"), part("linger"));
        return Ok(on(fd, move |fd| {
            options::set_linger(fd, yes, seconds)
                .map(|()| Output::Number(0))
                .map_err(nix)
        }));
    }
    let option = options::int(&word).ok_or_else(|| unknown(&word))?;
    let value = number(value)? as i32;
    Ok(on(fd, move |fd| {
        option.set(fd, value).map(|()| Output::Number(0)).map_err(nix)
    }))
}

fn send(call: &Call, fd: Option<Arc<OwnedFd>>) -> Result<Job, Trouble> {
    let buffer = vec![0; bytes(call)?];
    let flags = match call.name.as_str() {
        "write" => 0,
        "sendmsg" => number(call.args.get(2).unwrap_or(&Value::Any))?,
        _ => number(call.args.get(3).unwrap_or(&Value::Any))?,
    };
    // A script hears of a closed connection by an error, not by a signal.
    let flags = SendFlags::from_bits_retain(flags as u32) | SendFlags::NOSIGNAL;
    let goes_to = call.name == "sendto";
    Ok(on(fd, move |fd| {
        let n = if goes_to {
            rustix::net::sendto(fd, &buffer, flags, &SocketAddrV4::new(REMOTE, PORT))
        } else {
            rustix::net::send(fd, &buffer, flags)
        };
        n.map(count).map_err(rustix)
    }))
}

fn receive(fd: &OwnedFd, buffer: &mut [u8], flags: MsgFlags) -> nix::Result<Output> {
    let mut control = [0; CONTROL];
    let mut parts = [IoSliceMut::new(buffer)];
    let message = recvmsg::<()>(fd.as_raw_fd(), &mut parts, Some(&mut control), flags)?;
    let control = message.cmsgs()?.map(|one| match one {
        ControlMessageOwned::ScmTimestampsns(stamps) => {
            Control::Timestamp(stamps.system.tv_sec() * 1_000_000_000 + stamps.system.tv_nsec())
        }
        ControlMessageOwned::Ipv4RecvErr(error, _) => Control::Error([
            i64::from(error.ee_errno),
            i64::from(error.ee_origin),
            i64::from(error.ee_type),
            i64::from(error.ee_code),
            i64::from(error.ee_info),
            i64::from(error.ee_data),
        ]),
        ControlMessageOwned::Unknown(other) if other.cmsg_header.cmsg_level == libc::SOL_TCP => {
            let bytes = other.data_bytes.first_chunk::<4>();
            bytes.map_or(Control::Other, |bytes| Control::Inq(i32::from_ne_bytes(*bytes).into()))
        }
        _ => Control::Other,
    });
    let control = control.collect();
    Ok(Output::Message(
        i64::try_from(message.bytes).unwrap_or(i64::MAX),
        i64::from(message.flags.bits()),
        control,
    ))
}

fn millis(wait: i64) -> Option<Timespec> {
    (wait >= 0).then_some(Timespec {
        tv_sec: wait / 1000,
        tv_nsec: wait % 1000 * 1_000_000,
    })
}

fn poll(call: &Call, descriptors: &Descriptors) -> Result<Job, Trouble> {
    let Some(Value::List(asked)) = call.args.first() else {
        return Err(Missing::new("poll", "its first argument must be a list").into());
    };
    let mut wanted = Vec::new();
    for one in asked {
        let fd = field(Some(one), "fd").and_then(Value::number).unwrap_or(-1);
        let events = field(Some(one), "events").map_or(Ok(0), number)?;
        let fd = descriptors
            .get(&fd)
            .cloned()
            .ok_or_else(|| Missing::new("poll", "a descriptor is not open"))?;
        wanted.push((fd, PollFlags::from_bits_retain(events as u16)));
    }
    let wait = number(call.args.get(2).unwrap_or(&Value::Any))?;
    Ok(Box::new(move || {
        let mut polled: Vec<PollFd<'_>> = wanted.iter().map(|(fd, events)| PollFd::new(&**fd, *events)).collect();
        let ready = rustix::event::poll(&mut polled, millis(wait).as_ref()).map_err(rustix)?;
        let events = polled.iter().map(|one| i64::from(one.revents().bits())).collect();
        Ok(Output::Polled(ready as i64, events))
    }))
}

fn epoll_control(call: &Call, on_it: Option<Arc<OwnedFd>>, of: Option<Arc<OwnedFd>>) -> Result<Job, Trouble> {
    let word = call.args.get(1).and_then(Value::word).unwrap_or("").to_owned();
    if !["EPOLL_CTL_ADD", "EPOLL_CTL_MOD", "EPOLL_CTL_DEL"].contains(&word.as_str()) {
        return Err(unknown(&word).into());
    }
    let event = call.args.get(3);
    let flags = field(event, "events").map_or(Ok(0), number)?;
    let data = ["fd", "ptr", "u32", "u64"]
        .iter()
        .find_map(|name| field(event, name)?.number())
        .unwrap_or(0);
    let (Some(on_it), Some(of)) = (on_it, of) else {
        return Ok(Box::new(|| Err(Errno::EBADF as i32)));
    };
    Ok(Box::new(move || {
        let data = epoll::EventData::new_u64(data.cast_unsigned());
        let flags = epoll::EventFlags::from_bits_retain(flags as u32);
        let done = match word.as_str() {
            "EPOLL_CTL_ADD" => epoll::add(&*on_it, &*of, data, flags),
            "EPOLL_CTL_MOD" => epoll::modify(&*on_it, &*of, data, flags),
            _ => epoll::delete(&*on_it, &*of),
        };
        done.map(|()| Output::Number(0)).map_err(rustix)
    }))
}
