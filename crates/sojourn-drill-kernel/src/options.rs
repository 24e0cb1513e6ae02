//! Options of sockets by the names of scripts.
//!
//! nix's macros make a type of each that asks the kernel; numbers are those of `linux/tcp.h`, `linux/in.h` and
//! `asm-generic/socket.h`.

use nix::errno::Errno;
use nix::sys::socket::{GetSockOpt, SetSockOpt};
use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};
use std::ffi::OsString;
use std::os::fd::OwnedFd;

/// An option whose value is a C `int`.
pub(crate) struct Int {
    name: &'static str,
    set: fn(&OwnedFd, i32) -> nix::Result<()>,
    get: fn(&OwnedFd) -> nix::Result<i32>,
}

macro_rules! ints {
    ($($type:ident $name:literal = $level:expr, $number:path;)*) => {
        $(sockopt_impl!(
            #[doc = concat!("`", $name, "`.")]
            $type, Both, $level, $number, i32
        );)*
        /// Those that scripts may name.
        const INTS: &[Int] = &[$(Int {
            name: $name,
            set: |fd, value| $type.set(fd, &value),
            get: |fd| $type.get(fd),
        }),*];
    };
}

mod numbers {
    pub(super) const TCP_NOTSENT_LOWAT: i32 = 25;
    pub(super) const TCP_FASTOPEN_KEY: i32 = 33;
    pub(super) const TCP_FASTOPEN_NO_COOKIE: i32 = 34;
    pub(super) const TCP_INQ: i32 = 36;
    pub(super) const TCP_FASTOPEN_CONNECT: i32 = 30;
    pub(super) const SO_MEMINFO: i32 = 55;
    pub(super) const SO_ZEROCOPY: i32 = 60;
}

ints! {
    ReuseAddr "SO_REUSEADDR" = libc::SOL_SOCKET, libc::SO_REUSEADDR;
    ReusePort "SO_REUSEPORT" = libc::SOL_SOCKET, libc::SO_REUSEPORT;
    KeepAlive "SO_KEEPALIVE" = libc::SOL_SOCKET, libc::SO_KEEPALIVE;
    SendBuffer "SO_SNDBUF" = libc::SOL_SOCKET, libc::SO_SNDBUF;
    ReceiveBuffer "SO_RCVBUF" = libc::SOL_SOCKET, libc::SO_RCVBUF;
    ReceiveBufferForce "SO_RCVBUFFORCE" = libc::SOL_SOCKET, libc::SO_RCVBUFFORCE;
    SendBufferForce "SO_SNDBUFFORCE" = libc::SOL_SOCKET, libc::SO_SNDBUFFORCE;
    ReceiveLowWater "SO_RCVLOWAT" = libc::SOL_SOCKET, libc::SO_RCVLOWAT;
    SocketError "SO_ERROR" = libc::SOL_SOCKET, libc::SO_ERROR;
    Mark "SO_MARK" = libc::SOL_SOCKET, libc::SO_MARK;
    Priority "SO_PRIORITY" = libc::SOL_SOCKET, libc::SO_PRIORITY;
    Timestamping "SO_TIMESTAMPING" = libc::SOL_SOCKET, libc::SO_TIMESTAMPING;
    ZeroCopy "SO_ZEROCOPY" = libc::SOL_SOCKET, numbers::SO_ZEROCOPY;
    TypeOfService "IP_TOS" = libc::SOL_IP, libc::IP_TOS;
    TimeToLive "IP_TTL" = libc::SOL_IP, libc::IP_TTL;
    MtuDiscover "IP_MTU_DISCOVER" = libc::SOL_IP, libc::IP_MTU_DISCOVER;
    Freebind "IP_FREEBIND" = libc::SOL_IP, libc::IP_FREEBIND;
    Transparent "IP_TRANSPARENT" = libc::SOL_IP, libc::IP_TRANSPARENT;
    ReceiveErrors "IP_RECVERR" = libc::SOL_IP, libc::IP_RECVERR;
    NoDelay "TCP_NODELAY" = libc::SOL_TCP, libc::TCP_NODELAY;
    MaxSegment "TCP_MAXSEG" = libc::SOL_TCP, libc::TCP_MAXSEG;
    Cork "TCP_CORK" = libc::SOL_TCP, libc::TCP_CORK;
    KeepIdle "TCP_KEEPIDLE" = libc::SOL_TCP, libc::TCP_KEEPIDLE;
    KeepInterval "TCP_KEEPINTVL" = libc::SOL_TCP, libc::TCP_KEEPINTVL;
    KeepCount "TCP_KEEPCNT" = libc::SOL_TCP, libc::TCP_KEEPCNT;
    SynCount "TCP_SYNCNT" = libc::SOL_TCP, libc::TCP_SYNCNT;
    Linger2 "TCP_LINGER2" = libc::SOL_TCP, libc::TCP_LINGER2;
    DeferAccept "TCP_DEFER_ACCEPT" = libc::SOL_TCP, libc::TCP_DEFER_ACCEPT;
    WindowClamp "TCP_WINDOW_CLAMP" = libc::SOL_TCP, libc::TCP_WINDOW_CLAMP;
    QuickAck "TCP_QUICKACK" = libc::SOL_TCP, libc::TCP_QUICKACK;
    ThinLinear "TCP_THIN_LINEAR_TIMEOUTS" = libc::SOL_TCP, libc::TCP_THIN_LINEAR_TIMEOUTS;
    UserTimeout "TCP_USER_TIMEOUT" = libc::SOL_TCP, libc::TCP_USER_TIMEOUT;
    Fastopen "TCP_FASTOPEN" = libc::SOL_TCP, libc::TCP_FASTOPEN;
    FastopenConnect "TCP_FASTOPEN_CONNECT" = libc::SOL_TCP, numbers::TCP_FASTOPEN_CONNECT;
    FastopenNoCookie "TCP_FASTOPEN_NO_COOKIE" = libc::SOL_TCP, numbers::TCP_FASTOPEN_NO_COOKIE;
    Inq "TCP_INQ" = libc::SOL_TCP, numbers::TCP_INQ;
    NotSentLowWater "TCP_NOTSENT_LOWAT" = libc::SOL_TCP, numbers::TCP_NOTSENT_LOWAT;
}

sockopt_impl!(
    /// `TCP_CONGESTION`.
    Congestion, Both, libc::SOL_TCP, libc::TCP_CONGESTION, OsString<[u8; 16]>
);
sockopt_impl!(
    /// `TCP_FASTOPEN_KEY`.
    FastopenKey, Both, libc::SOL_TCP, numbers::TCP_FASTOPEN_KEY, OsString<[u8; 32]>
);
sockopt_impl!(
    /// `SO_LINGER`.
    Linger, Both, libc::SOL_SOCKET, libc::SO_LINGER, [i32; 2]
);
sockopt_impl!(
    /// `SO_MEMINFO`: numbers of `enum` `SK_MEMINFO_*`.
    MemoryInfo, GetOnly, libc::SOL_SOCKET, numbers::SO_MEMINFO, [u32; 9]
);
sockopt_impl!(
    /// `TCP_INFO`, as far as every kernel since 5.4 tells it.
    Info, GetOnly, libc::SOL_TCP, libc::TCP_INFO, [u8; 232]
);
sockopt_impl!(
    /// `TCP_INFO` from Linux 6.7 on, with time-outs.
    InfoTimeouts, GetOnly, libc::SOL_TCP, libc::TCP_INFO, [u8; 248]
);
sockopt_impl!(
    /// `TCP_INFO` from Linux 7.0 on, with accurate ECN.
    InfoAccurate, GetOnly, libc::SOL_TCP, libc::TCP_INFO, [u8; 280]
);

/// Sets a text.
///
/// # Errors
/// What the kernel says; `ENOPROTOOPT` if no option with a text has this name.
pub(crate) fn set_text(fd: &OwnedFd, name: &str, text: &OsString) -> nix::Result<()> {
    match name {
        "TCP_CONGESTION" => Congestion.set(fd, text),
        "TCP_FASTOPEN_KEY" => FastopenKey.set(fd, text),
        _ => Err(Errno::ENOPROTOOPT),
    }
}

/// Sets how long a close waits.
///
/// # Errors
/// What the kernel says.
pub(crate) fn set_linger(fd: &OwnedFd, on: i32, seconds: i32) -> nix::Result<()> {
    Linger.set(fd, &[on, seconds])
}

/// The option of this name.
pub(crate) fn int(name: &str) -> Option<&'static Int> {
    INTS.iter().find(|one| one.name == name)
}

impl Int {
    /// Sets it.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn set(&self, fd: &OwnedFd, value: i32) -> nix::Result<()> {
        (self.set)(fd, value)
    }

    /// Asks for it.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn get(&self, fd: &OwnedFd) -> nix::Result<i32> {
        (self.get)(fd)
    }
}

/// `struct tcp_info` as far as the kernel of this version has it.
///
/// # Errors
/// What the kernel says.
pub(crate) fn tcp_info(fd: &OwnedFd, version: (u32, u32)) -> nix::Result<Vec<u8>> {
    // A shorter answer than asked for is no value, so the length is that of the kernel.
    if version >= (7, 0) {
        InfoAccurate.get(fd).map(|info| info.to_vec())
    } else if version >= (6, 7) {
        InfoTimeouts.get(fd).map(|info| info.to_vec())
    } else {
        Info.get(fd).map(|info| info.to_vec())
    }
}

/// What a socket uses of memory.
///
/// # Errors
/// What the kernel says.
pub(crate) fn memory_info(fd: &OwnedFd) -> nix::Result<[u32; 9]> {
    MemoryInfo.get(fd)
}
