//! A connection of the host: the endpoint, and what its handshake has agreed on.

use crate::memory::SendMemory;
use crate::options::{LARGEST_BUFFER, SocketOptions};
use crate::script::{Packet, TcpOption};
use crate::settings::Settings;
use sojourn_tcp::{ConnectionState, EcnMode, Endpoint, ReceiveMemory, TcpParams, Variant};
use sojourn_units::{Duration, Time};

/// The largest segment that the device takes: 1500 bytes less the headers of IPv4 and TCP.
pub(crate) const LARGEST: u16 = 1460;
/// What a peer takes that does not say (RFC 9293 section 3.7.1).
const UNSAID: u16 = 536;
/// Memory that a send buffer begins with, bytes: `tcp_wmem` of the kernel's tests.
const SEND_BUFFER: u32 = 262_144;
/// What the timestamp option takes of a segment.
const TIMESTAMPS: u16 = 12;

/// What both ends have agreed on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Agreed {
    pub(crate) sack: bool,
    pub(crate) timestamps: bool,
    /// The peer's shift count, if both ends scale windows.
    pub(crate) scale: Option<u8>,
}

/// What an application writes.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct Write {
    pub(crate) bytes: u64,
    /// It ends a record (`MSG_EOR`).
    pub(crate) ends_record: bool,
    /// More follows at once (`MSG_MORE`).
    pub(crate) more: bool,
    /// It is added to what was the end of a write, which is none any more.
    pub(crate) opens: bool,
    /// Its end carries PSH.
    pub(crate) push: bool,
}

/// What has happened to a client before its peer answered.
#[derive(Clone, Copy, Debug)]
enum Early {
    TimedOut,
    Wrote(Write),
    Closed,
}

/// How long something held. Between events nothing changes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stopwatch {
    before: Duration,
    /// The last event, if it holds since.
    since: Option<Time>,
}

impl Stopwatch {
    pub(crate) fn until(self, now: Time) -> Duration {
        self.before + self.since.map_or(Duration::ZERO, |since| now.since(since))
    }

    fn note(&mut self, holds: bool, now: Time) {
        self.before = self.until(now);
        self.since = holds.then_some(now);
    }
}

/// What a sender's time was spent on. Source: Linux `tcp_chrono_set`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    /// It had something to send, or not all of it acknowledged.
    pub(crate) busy: Stopwatch,
    /// The peer's window held something back.
    pub(crate) shut: Stopwatch,
    /// All was sent, and the application waited for room in the buffer.
    pub(crate) full: Stopwatch,
}

impl Spent {
    /// Something has happened; the application `waits` for room in the buffer or does not. Source: Linux
    /// `tcp_cwnd_validate`.
    pub(crate) fn note(&mut self, endpoint: &Endpoint, waits: bool, now: Time) {
        let sender = endpoint.sender();
        self.busy.note(sender.bytes_pending() > 0, now);
        self.shut.note(sender.waits_for_window(), now);
        let is_full = waits && sender.bytes_unsent() == 0 && sender.in_flight() < sender.cwnd();
        self.full.note(is_full, now);
    }
}

/// One connection.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct Connection {
    pub(crate) endpoint: Endpoint,
    pub(crate) params: TcpParams,
    pub(crate) agreed: Agreed,
    /// Our shift count, if both ends scale windows.
    pub(crate) shift: u8,
    pub(crate) passive: bool,
    /// The application has it.
    pub(crate) accepted: bool,
    /// Its descriptor is closed.
    pub(crate) released: bool,
    /// The application has shut the reading side. What still comes can be read. Source: Linux `RCV_SHUTDOWN`, which
    /// `tcp_recvmsg_locked` heeds only if nothing is there.
    pub(crate) reads_no_more: bool,
    /// What the script calls the numbers of our SYN and of the peer's.
    pub(crate) begins: [Option<u32>; 2],
    /// Bytes that the application has read.
    pub(crate) read: u64,
    pub(crate) last_data: Time,
    pub(crate) spent: Spent,
    pub(crate) memory: SendMemory,
    /// Bytes of a write that wait for memory.
    pub(crate) waiting: Option<u64>,
    /// The largest window that the peer has offered, bytes.
    pub(crate) largest_window: u64,
    pub(crate) options: SocketOptions,
    /// The application has heard that the connection was given up.
    heard: bool,
    began: Time,
    early: Vec<(Time, Early)>,
    settings: Settings,
}

impl Connection {
    /// The end that connects, at `now`. What its peer takes is not known yet.
    pub(crate) fn client(settings: &Settings, options: SocketOptions, now: Time) -> Self {
        let params = params(settings, options, LARGEST, Agreed::default(), settings.ecn.asks);
        let mut endpoint = Endpoint::client(&params).expect("the parameters are in their ranges");
        options.apply_all(&mut endpoint);
        endpoint.connect(now);
        Self::of(endpoint, params, Agreed::default(), options, settings, now)
    }

    /// The end that was listening when `syn` came.
    pub(crate) fn server(settings: &Settings, options: SocketOptions, syn: &Packet, now: Time) -> Self {
        let (mss, agreed) = agree(settings, syn);
        let params = params(settings, options, mss, agreed, settings.ecn.answers);
        let mut endpoint = Endpoint::server(&params).expect("the parameters are in their ranges");
        options.apply_all(&mut endpoint);
        endpoint.set_owned(false);
        Self {
            passive: true,
            accepted: false,
            ..Self::of(endpoint, params, agreed, options, settings, now)
        }
    }

    fn of(
        mut endpoint: Endpoint,
        params: TcpParams,
        agreed: Agreed,
        options: SocketOptions,
        settings: &Settings,
        now: Time,
    ) -> Self {
        endpoint.set_device_full(settings.device_drops);
        Self {
            endpoint,
            params,
            agreed,
            shift: our_shift(settings, options),
            passive: false,
            accepted: true,
            released: false,
            reads_no_more: false,
            begins: [None; 2],
            read: 0,
            last_data: now,
            spent: Spent::default(),
            memory: SendMemory::default(),
            waiting: None,
            largest_window: 0,
            options,
            heard: false,
            began: now,
            early: Vec::new(),
            settings: settings.clone(),
        }
    }

    /// The peer's answer says what it takes. Our endpoint has its segment size from the beginning, so it is made anew
    /// and told everything again.
    pub(crate) fn learn(&mut self, syn_ack: &Packet, now: Time) {
        // Source: Linux `tcp_finish_connect`, which takes this for data.
        self.last_data = now;
        let (mss, agreed) = agree(&self.settings, syn_ack);
        self.agreed = agreed;
        self.params = params(&self.settings, self.options, mss, agreed, self.settings.ecn.asks);
        self.endpoint = Endpoint::client(&self.params).expect("the parameters are in their ranges");
        self.options.apply_all(&mut self.endpoint);
        self.endpoint.set_device_full(self.settings.device_drops);
        self.endpoint.connect(self.began);
        while self.endpoint.poll_transmit(self.began).is_some() {}
        for (at, event) in std::mem::take(&mut self.early) {
            match event {
                Early::TimedOut => self.endpoint.on_timeout(at),
                Early::Wrote(write) => self.give(write),
                Early::Closed => self.endpoint.close(),
            }
            while self.endpoint.poll_transmit(at).is_some() {}
        }
    }

    fn note(&mut self, event: Early, now: Time) {
        if self.endpoint.state() == ConnectionState::SynSent {
            self.early.push((now, event));
        }
    }

    pub(crate) fn on_timeout(&mut self, now: Time) {
        self.note(Early::TimedOut, now);
        self.endpoint.on_timeout(now);
    }

    pub(crate) fn write(&mut self, write: Write, now: Time) {
        self.note(Early::Wrote(write), now);
        self.give(write);
    }

    fn give(&mut self, write: Write) {
        if write.opens {
            self.endpoint.set_push(false);
        }
        if write.more {
            self.endpoint.write_more(write.bytes);
        } else {
            self.endpoint.write(write.bytes);
        }
        self.endpoint.set_push(write.push);
        if write.ends_record {
            self.endpoint.end_record();
        }
    }

    pub(crate) fn close(&mut self, now: Time) {
        self.note(Early::Closed, now);
        self.endpoint.close();
    }

    /// The application sets an option.
    pub(crate) fn set_option(&mut self, name: &str, options: SocketOptions) {
        self.options = options;
        options.apply(name, &mut self.endpoint);
    }

    /// Whether the connection was given up and nobody has heard so: a call that asks hears it, and only the first.
    pub(crate) fn hears_of_end(&mut self) -> bool {
        let news = self.endpoint.gave_up() && !self.heard;
        self.heard |= news;
        news
    }

    /// One past the last byte that was written.
    pub(crate) fn written(&self) -> u64 {
        1 + self.endpoint.sender().bytes_acked() + self.endpoint.sender().bytes_pending()
    }

    /// Whether nothing more comes to be read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.reads_no_more || self.endpoint.receiver().is_finished()
    }

    /// Bytes that have come and are not read.
    pub(crate) fn unread(&self) -> u64 {
        self.endpoint.receiver().bytes_in_order() - self.read
    }
}

/// The segment size and the options that both ends have.
fn agree(settings: &Settings, syn: &Packet) -> (u16, Agreed) {
    let (mut mss, mut agreed) = (UNSAID, Agreed::default());
    for option in syn.options.iter().flatten() {
        match option {
            TcpOption::Mss(n) => mss = (*n).max(1),
            TcpOption::SackOk => agreed.sack = true,
            TcpOption::Timestamps(..) => agreed.timestamps = settings.timestamps,
            // RFC 7323 section 2.3: larger ones are 14.
            TcpOption::WindowScale(n) => agreed.scale = Some((*n).min(14)),
            _ => {}
        }
    }
    (mss.min(LARGEST), agreed)
}

/// The receive buffer.
fn receive_memory(settings: &Settings, options: SocketOptions, agreed: Agreed) -> ReceiveMemory {
    let set = options.receive_memory();
    ReceiveMemory {
        size: set.unwrap_or(settings.receive_buffer.0),
        locked: set.is_some(),
        largest: settings.receive_buffer.1,
        shrinks: settings.shrinks_window,
        segment: if agreed.timestamps {
            LARGEST - TIMESTAMPS
        } else {
            LARGEST
        },
        parts: settings.parts,
    }
}

/// Our shift count, if both ends scale windows.
fn our_shift(settings: &Settings, options: SocketOptions) -> u8 {
    receive_memory(settings, options, Agreed::default()).shift(LARGEST_BUFFER.cast_unsigned())
}

fn params(settings: &Settings, options: SocketOptions, mss: u16, agreed: Agreed, ecn: EcnMode) -> TcpParams {
    let mss = if agreed.timestamps {
        mss.saturating_sub(TIMESTAMPS).max(1)
    } else {
        mss
    };
    TcpParams {
        variant: Variant::Linux73,
        heads: Variant::Linux73.heads(),
        mss,
        ecn,
        accecn: settings.accecn,
        timestamps: agreed.timestamps,
        linear_syn_timeouts: settings.linear_syn_timeouts,
        max_rto: settings.max_rto,
        receive_memory: Some(receive_memory(settings, options, agreed)),
        window_shift: agreed.scale.map_or(0, |_| our_shift(settings, options)),
        congestion_control: settings.congestion_control,
        pacing: settings.pacing,
        send_buffer: Some(SEND_BUFFER),
        sack: agreed.sack,
        resets: true,
        answer_interval: settings.answer_interval,
        restart_after_idle: settings.restart_after_idle,
        ..TcpParams::default()
    }
}
