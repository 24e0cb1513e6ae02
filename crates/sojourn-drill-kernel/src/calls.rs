//! The system calls of a script: what is handed to the kernel, and what of its answer is compared.

use crate::commands;
use crate::constants::{number, unknown};
use crate::options;
use crate::output::{Control, Output};
use crate::wire::{LOCAL, REMOTE};
use crate::worker::Job;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrIn, recvmsg, sendmsg};
use rustix::event::epoll;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, ipproto};
use sojourn_drill::{Call, Missing, Trouble, Value};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{IoSlice, IoSliceMut};
use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

/// The port of sockets that listen, and of our side where the kernel connects to. Source: packetdrill's defaults.
pub(crate) const PORT: u16 = 8080;
/// The most bytes that one call reads or writes.
const MOST: i64 = 64 << 20;
/// Room for control messages.
const CONTROL: usize = 512;

/// Descriptors by the numbers of the script.
pub(crate) type Descriptors = BTreeMap<i64, Arc<OwnedFd>>;

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
    let takes_null = matches!(call.name.as_str(), "splice" | "epoll_ctl");
    if !takes_null && call.args.iter().any(|arg| arg.word() == Some("NULL")) {
        return Err(Missing::new("NULL", "no safe program can hand over a bad address").into());
    }
    let fd = descriptor(call, descriptors, 0);
    match call.name.as_str() {
        "socket" | "pipe" | "open" | "epoll_create" | "epoll_create1" => open(call),
        "bind" | "listen" | "accept" | "accept4" | "connect" | "shutdown" => connection(call, fd),
        "setsockopt" => set_option(call, fd),
        "getsockopt" | "ioctl" => ask(call, fd),
        "fcntl" => flags_of(call, fd),
        "write" | "send" | "sendto" => send(call, fd),
        "sendmsg" => send_message(call, fd),
        "read" | "recv" | "recvfrom" | "recvmsg" => read(call, fd),
        "splice" | "sendfile" => move_bytes(call, descriptors),
        "poll" => poll(call, descriptors),
        "epoll_ctl" => epoll_control(call, fd, descriptor(call, descriptors, 2)),
        "epoll_wait" => epoll_wait(call, fd),
        name => Err(Missing::new(name, "this call is not known to sojourn-drill").into()),
    }
}

fn argument(call: &Call, i: usize) -> &Value {
    call.args.get(i).unwrap_or(&Value::Any)
}

fn int(call: &Call, i: usize) -> Result<i64, Missing> {
    number(argument(call, i))
}

fn descriptor(call: &Call, descriptors: &Descriptors, i: usize) -> Option<Arc<OwnedFd>> {
    descriptors.get(&argument(call, i).number()?).cloned()
}

/// What a call answers that returns nothing.
fn nothing(done: rustix::io::Result<()>) -> Result<Output, i32> {
    done.map(|()| Output::Number(0)).map_err(rustix)
}

/// A call that makes descriptors.
fn open(call: &Call) -> Result<Job, Trouble> {
    Ok(match call.name.as_str() {
        "socket" => {
            let flags = int(call, 1)?;
            Box::new(move || {
                let flags = SocketFlags::from_bits_retain(flags as u32 & !0xf);
                let tcp = Some(ipproto::TCP);
                let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, tcp);
                socket.map(Output::Descriptor).map_err(rustix)
            })
        }
        "pipe" => Box::new(|| {
            let pair = rustix::pipe::pipe().map_err(rustix)?;
            Ok(Output::Pair(pair.0, pair.1))
        }),
        "open" => {
            let Value::Text(path) = argument(call, 0) else {
                return Err(Missing::new("open", "the path must be a text").into());
            };
            let path = commands::file(path)?.to_owned();
            Box::new(move || {
                let file = std::fs::File::open(path).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
                Ok(Output::Descriptor(file.into()))
            })
        }
        _ => Box::new(|| {
            let made = epoll::create(epoll::CreateFlags::empty());
            made.map(Output::Descriptor).map_err(rustix)
        }),
    })
}

/// A call that begins or ends connections.
fn connection(call: &Call, fd: Option<Arc<OwnedFd>>) -> Result<Job, Trouble> {
    Ok(match call.name.as_str() {
        "bind" => on(fd, |fd| nothing(rustix::net::bind(fd, &SocketAddrV4::new(LOCAL, PORT)))),
        "listen" => {
            let backlog = int(call, 1)? as i32;
            on(fd, move |fd| nothing(rustix::net::listen(fd, backlog)))
        }
        "connect" => {
            let mut none = false;
            argument(call, 1).each_word(&mut |word| none |= word == "AF_UNSPEC");
            on(fd, move |fd| {
                nothing(if none {
                    rustix::net::connect_unspec(fd)
                } else {
                    rustix::net::connect(fd, &SocketAddrV4::new(REMOTE, PORT))
                })
            })
        }
        "shutdown" => {
            let how = match int(call, 1)? {
                0 => Shutdown::Read,
                1 => Shutdown::Write,
                2 => Shutdown::Both,
                n => return Err(Missing::new(n.to_string(), "no safe program can shut down another side").into()),
            };
            on(fd, move |fd| nothing(rustix::net::shutdown(fd, how)))
        }
        name => {
            let flags = if name == "accept4" { int(call, 3)? } else { 0 };
            on(fd, move |fd| {
                let socket = rustix::net::accept_with(fd, SocketFlags::from_bits_retain(flags as u32));
                socket.map(Output::Descriptor).map_err(rustix)
            })
        }
    })
}

/// A call that asks for an integer.
fn ask(call: &Call, fd: Option<Arc<OwnedFd>>) -> Result<Job, Trouble> {
    if call.name == "getsockopt" {
        let word = argument(call, 2).word().unwrap_or("getsockopt").to_owned();
        let option = options::int(&word).ok_or_else(|| unknown(&word))?;
        return Ok(on(fd, move |fd| {
            option.get(fd).map(|n| Output::Filled(n.into())).map_err(nix)
        }));
    }
    match argument(call, 1).word() {
        Some("SIOCINQ" | "FIONREAD") => Ok(on(fd, |fd| {
            let n = rustix::io::ioctl_fionread(fd).map_err(rustix)?;
            Ok(Output::Filled(n.cast_signed()))
        })),
        other => Err(Missing::new(other.unwrap_or("ioctl"), "no safe program can ask for it").into()),
    }
}

/// `fcntl`.
fn flags_of(call: &Call, fd: Option<Arc<OwnedFd>>) -> Result<Job, Trouble> {
    match argument(call, 1).word() {
        Some("F_GETFL") => Ok(on(fd, |fd| {
            let flags = rustix::fs::fcntl_getfl(fd).map_err(rustix)?;
            Ok(Output::Number(i64::from(flags.bits())))
        })),
        Some("F_SETFL") => {
            let flags = OFlags::from_bits_retain(int(call, 2)? as u32);
            Ok(on(fd, move |fd| nothing(rustix::fs::fcntl_setfl(fd, flags))))
        }
        other => Err(unknown(other.unwrap_or("fcntl")).into()),
    }
}

/// A call that reads.
fn read(call: &Call, fd: Option<Arc<OwnedFd>>) -> Result<Job, Trouble> {
    let mut buffer = vec![0; bytes(call)?];
    Ok(match call.name.as_str() {
        "read" => on(fd, move |fd| {
            rustix::io::read(fd, &mut buffer[..]).map(count).map_err(rustix)
        }),
        "recvmsg" => {
            let flags = MsgFlags::from_bits_retain(int(call, 2)? as i32);
            on(fd, move |fd| receive(fd, &mut buffer, flags).map_err(nix))
        }
        _ => {
            let flags = RecvFlags::from_bits_retain(int(call, 3)? as u32);
            on(fd, move |fd| {
                let n = rustix::net::recv(fd, &mut buffer[..], flags);
                n.map(|(n, _)| count(n)).map_err(rustix)
            })
        }
    })
}

/// A call that moves bytes from one descriptor to another.
fn move_bytes(call: &Call, descriptors: &Descriptors) -> Result<Job, Trouble> {
    let at = |i| descriptor(call, descriptors, i);
    if call.name == "splice" {
        let (n, flags) = (size(int(call, 4)?)?, int(call, 5)?);
        let to = at(2);
        return Ok(on(at(0), move |from| {
            let to = to.ok_or(Errno::EBADF as i32)?;
            let flags = nix::fcntl::SpliceFFlags::from_bits_retain(flags as u32);
            let n = nix::fcntl::splice(from, None, &*to, None, n, flags);
            n.map(count).map_err(nix)
        }));
    }
    let (mut offset, n) = (int(call, 2)?, size(int(call, 3)?)?);
    let from = at(1);
    Ok(on(at(0), move |to| {
        let from = from.ok_or(Errno::EBADF as i32)?;
        let n = nix::sys::sendfile::sendfile(to, &*from, Some(&mut offset), n);
        n.map(count).map_err(nix)
    }))
}

fn epoll_wait(call: &Call, fd: Option<Arc<OwnedFd>>) -> Result<Job, Trouble> {
    let (most, wait) = (int(call, 2)?.clamp(1, 64) as usize, int(call, 3)?);
    Ok(on(fd, move |fd| {
        let mut room = [epoll::Event {
            flags: epoll::EventFlags::empty(),
            data: epoll::EventData::new_u64(0),
        }; 64];
        let n = epoll::wait(fd, &mut room[..most], millis(wait).as_ref()).map_err(rustix)?;
        let event = |one: &epoll::Event| {
            let (flags, data) = (one.flags, one.data);
            (i64::from(flags.bits()), data.u64().cast_signed())
        };
        Ok(Output::Events(room[..n].iter().map(event).collect()))
    }))
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
    size(lengths(call).into_iter().fold(0, i64::saturating_add))
}

/// The lengths of the buffers of a message.
fn lengths(call: &Call) -> Vec<i64> {
    let Some(Value::List(buffers)) = field(call.args.get(1), "msg_iov") else {
        return Vec::new();
    };
    let length = |buffer: &Value| match buffer {
        Value::Fields(fields) => fields.iter().find_map(|(_, value)| value.number()),
        _ => None,
    };
    buffers.iter().filter_map(length).collect()
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

/// A text in which `\xNN` stands for a byte.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = rest.strip_prefix(b"\\x").and_then(|digits| {
            let digits = str::from_utf8(digits.get(..2)?).ok()?;
            u8::from_str_radix(digits, 16).ok()
        });
        bytes.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() { &rest[4..] } else { after };
    }
    bytes
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
        let text = OsString::from_vec(unescaped(text));
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
    let flags = if call.name == "write" { 0 } else { int(call, 3)? };
    // A script hears of a closed connection by an error, not by a signal.
    let flags = SendFlags::from_bits_retain(flags as u32) | SendFlags::NOSIGNAL;
    let goes_to = call.name == "sendto";
    let mut nowhere = false;
    argument(call, 4).each_word(&mut |word| nowhere |= word == "AF_UNSPEC");
    if nowhere {
        return Err(Missing::new("AF_UNSPEC", "no safe program can send to no address").into());
    }
    Ok(on(fd, move |fd| {
        let n = if goes_to {
            rustix::net::sendto(fd, &buffer, flags, &SocketAddrV4::new(REMOTE, PORT))
        } else {
            rustix::net::send(fd, &buffer, flags)
        };
        n.map(count).map_err(rustix)
    }))
}

/// Whether a `sendto` or `sendmsg` connects (TCP Fast Open).
pub(crate) fn connects(call: &Call) -> bool {
    let flags = int(call, if call.name == "sendmsg" { 2 } else { 3 });
    flags.is_ok_and(|flags| flags & i64::from(libc::MSG_FASTOPEN) != 0)
}

fn send_message(call: &Call, fd: Option<Arc<OwnedFd>>) -> Result<Job, Trouble> {
    size(lengths(call).into_iter().fold(0, i64::saturating_add))?;
    let buffers: Vec<Vec<u8>> = lengths(call).into_iter().map(|n| vec![0; n.max(0) as usize]).collect();
    let flags = MsgFlags::from_bits_retain(int(call, 2)? as i32);
    // Who connects by it says where to.
    let to = connects(call).then(|| SockaddrIn::from(SocketAddrV4::new(REMOTE, PORT)));
    Ok(on(fd, move |fd| {
        let parts: Vec<IoSlice<'_>> = buffers.iter().map(|buffer| IoSlice::new(buffer)).collect();
        let n = sendmsg(fd.as_raw_fd(), &parts, &[], flags | MsgFlags::MSG_NOSIGNAL, to.as_ref());
        n.map(count).map_err(nix)
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
    let wait = int(call, 2)?;
    Ok(Box::new(move || {
        let mut polled: Vec<PollFd<'_>> = wanted.iter().map(|(fd, events)| PollFd::new(&**fd, *events)).collect();
        let ready = rustix::event::poll(&mut polled, millis(wait).as_ref()).map_err(rustix)?;
        let events = polled.iter().map(|one| i64::from(one.revents().bits())).collect();
        Ok(Output::Polled(i64::try_from(ready).unwrap_or(i64::MAX), events))
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
