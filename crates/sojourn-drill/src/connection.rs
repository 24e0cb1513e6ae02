//! A connection of the host: the endpoint, and what its handshake has agreed on.

use crate::script::{Packet, TcpOption};
use crate::settings::Settings;
use sojourn_tcp::{ConnectionState, EcnMode, Endpoint, TcpParams, Variant};
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

/// What has happened to a client before its peer answered.
#[derive(Clone, Copy, Debug)]
enum Early {
    TimedOut,
    /// So many bytes, which may end a record.
    Wrote(u64, bool),
    Closed,
}

/// What a sender's time was spent on. Source: Linux `tcp_chrono_set`. Between events nothing changes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    /// It had something to send, or not all of it acknowledged.
    busy: Duration,
    /// The peer's window held something back.
    shut: Duration,
    /// The last event, and which of both hold since.
    since: Time,
    is_busy: bool,
    is_shut: bool,
}

impl Spent {
    pub(crate) fn busy(&self, now: Time) -> Duration {
        if self.is_busy {
            self.busy + now.since(self.since)
        } else {
            self.busy
        }
    }

    pub(crate) fn shut(&self, now: Time) -> Duration {
        if self.is_shut {
            self.shut + now.since(self.since)
        } else {
            self.shut
        }
    }

    /// Something has happened.
    pub(crate) fn note(&mut self, endpoint: &Endpoint, now: Time) {
        *self = Self {
            busy: self.busy(now),
            shut: self.shut(now),
            since: now,
            is_busy: endpoint.sender().bytes_pending() > 0,
            is_shut: endpoint.sender().waits_for_window(),
        };
    }
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) endpoint: Endpoint,
    pub(crate) params: TcpParams,
    pub(crate) agreed: Agreed,
    pub(crate) passive: bool,
    /// The application has it.
    pub(crate) accepted: bool,
    /// Its descriptor is closed.
    pub(crate) released: bool,
    /// Bytes that the application has read.
    pub(crate) read: u64,
    pub(crate) last_data: Time,
    pub(crate) spent: Spent,
    began: Time,
    early: Vec<(Time, Early)>,
    settings: Settings,
}

impl Connection {
    /// The end that connects, at `now`. What its peer takes is not known yet.
    pub(crate) fn client(settings: &Settings, now: Time) -> Self {
        let params = params(settings, LARGEST, Agreed::default(), settings.ecn.asks);
        let mut endpoint = Endpoint::client(&params).expect("the parameters are in their ranges");
        endpoint.connect(now);
        Self::of(endpoint, params, Agreed::default(), false, settings, now)
    }

    /// The end that was listening when `syn` came.
    pub(crate) fn server(settings: &Settings, syn: &Packet, now: Time) -> Self {
        let (mss, agreed) = agree(settings, syn);
        let params = params(settings, mss, agreed, settings.ecn.answers);
        let endpoint = Endpoint::server(&params).expect("the parameters are in their ranges");
        Self::of(endpoint, params, agreed, true, settings, now)
    }

    fn of(
        endpoint: Endpoint,
        params: TcpParams,
        agreed: Agreed,
        passive: bool,
        settings: &Settings,
        now: Time,
    ) -> Self {
        Self {
            endpoint,
            params,
            agreed,
            passive,
            accepted: !passive,
            released: false,
            read: 0,
            last_data: now,
            spent: Spent::default(),
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
        self.params = params(&self.settings, mss, agreed, self.settings.ecn.asks);
        self.endpoint = Endpoint::client(&self.params).expect("the parameters are in their ranges");
        self.endpoint.connect(self.began);
        while self.endpoint.poll_transmit(self.began).is_some() {}
        for (at, event) in std::mem::take(&mut self.early) {
            match event {
                Early::TimedOut => self.endpoint.on_timeout(at),
                Early::Wrote(bytes, ends_record) => self.give(bytes, ends_record),
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

    pub(crate) fn write(&mut self, bytes: u64, ends_record: bool, now: Time) {
        self.note(Early::Wrote(bytes, ends_record), now);
        self.give(bytes, ends_record);
    }

    fn give(&mut self, bytes: u64, ends_record: bool) {
        self.endpoint.write(bytes);
        if ends_record {
            self.endpoint.end_record();
        }
    }

    pub(crate) fn close(&mut self, now: Time) {
        self.note(Early::Closed, now);
        self.endpoint.close();
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

fn params(settings: &Settings, mss: u16, agreed: Agreed, ecn: EcnMode) -> TcpParams {
    let mss = if agreed.timestamps {
        mss.saturating_sub(TIMESTAMPS).max(1)
    } else {
        mss
    };
    TcpParams {
        variant: Variant::Linux612,
        heads: Variant::Linux612.heads(),
        mss,
        ecn,
        accecn: settings.accecn,
        timestamps: agreed.timestamps,
        linear_syn_timeouts: settings.linear_syn_timeouts,
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
