//! Live: frames of a network interface to the pipeline, and its bursts to the wire.

mod interface;
mod killing;

use super::config::{Config, ConfigError, Override};
use super::line::{Line, What};
use super::log::{Level, Log};
use super::metrics::{Board, Outside, render};
use super::pipeline::{Burst, Pipeline, World};
use super::privileges::{Identity, Keep, drop_privileges};
use super::read::Lines;
use super::sandbox;
use super::send::{DeviceWire, Sender, Sent, Unsent};
use super::source::{SNAPLEN, Source, now_ns};
use super::watch::{Screen, Status, Wish};
use interface::Interface;
use killing::Killing;
use serde_json::{Value, json};
use sojourn_flusher::rhythm::{GATHER, MARGIN, WAIT};
use sojourn_trace::Writer;
use sojourn_units::Time;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the slower duties are seen to.
const TICK: Duration = Duration::from_millis(250);
/// Frames handled between looks at the clock.
const BATCH: usize = 64;
/// Decisions shown on the terminal.
const SHOWN: usize = 100;

/// What to run.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) config: Config,
    /// For reloading.
    pub(super) file: Option<PathBuf>,
    pub(super) overrides: Vec<Override>,
    /// Where the frames are written as well.
    pub(super) write: Option<File>,
    pub(super) decisions: Option<File>,
    pub(super) watch: bool,
    /// Whether it runs although system calls cannot be confined.
    pub(super) unconfined: bool,
}

/// The signals: each is taken note of, and seen to in the loop.
#[derive(Debug, Default)]
struct Signals {
    stop: Arc<AtomicBool>,
    reload: Arc<AtomicBool>,
    kill: Arc<AtomicBool>,
}

impl Signals {
    fn catch() -> io::Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
        let signals = Self::default();
        for (signal, flag) in [
            (SIGTERM, &signals.stop),
            (SIGINT, &signals.stop),
            (SIGHUP, &signals.reload),
            (SIGUSR1, &signals.kill),
        ] {
            signal_hook::flag::register(signal, Arc::clone(flag))?;
        }
        Ok(signals)
    }
}

/// Collects what the pipeline gives.
struct Collected {
    lines: Lines<Box<dyn Write>>,
    bursts: Vec<Burst>,
    recent: VecDeque<String>,
}

impl World for Collected {
    fn line(&mut self, line: &Line) {
        self.lines.write(line);
        let words = match &line.what {
            What::Flush(flush) => flush.words(),
            What::Effect { id, verdict, .. } => format!("flush {id}: {verdict}"),
            _ => return,
        };
        if self.recent.len() == SHOWN {
            self.recent.pop_front();
        }
        self.recent.push_back(words);
    }
    fn burst(&mut self, burst: Burst) {
        self.bursts.push(burst);
    }
}

struct Daemon {
    live: Live,
    log: Log,
    pipeline: Pipeline,
    collected: Collected,
    sender: Sender<DeviceWire>,
    killing: Killing,
    interface: Interface,
    savefile: Option<Writer<BufWriter<File>>>,
    board: Board,
    began: Instant,
}

/// Runs until it is told to stop.
///
/// # Errors
/// One sentence, if it cannot begin, or what it wrote cannot be finished.
pub(super) fn run(mut live: Live, mut log: Log) -> Result<(), String> {
    let name = live
        .config
        .interface
        .clone()
        .ok_or("interface is absent, but must be given to capture")?;
    let identity = Identity::choose(live.config.user.as_deref())?;
    let signals = Signals::catch().map_err(|e| format!("signals cannot be caught: {e}"))?;
    let source = Source::open(&name, live.config.promiscuous)?;
    let savefile = match live.write.take() {
        None => None,
        Some(file) => {
            let written = Writer::new(BufWriter::new(file), source.link(), SNAPLEN);
            Some(written.map_err(|e| format!("the capture cannot be written: {e}"))?)
        }
    };
    let listener = match live.config.metrics {
        None => None,
        Some(address) => {
            let bound = Board::bind(address);
            Some(
                bound
                    .map_err(|e| format!("metrics.listen is {address}, but must be an address that can be had: {e}"))?,
            )
        }
    };
    let wire = DeviceWire::on(&name).map_err(|e| format!("no socket on the addresses of {name}: {e}"))?;
    let out: Box<dyn Write> = match (live.decisions.take(), live.watch) {
        (Some(file), _) => Box::new(BufWriter::new(file)),
        (None, false) => Box::new(BufWriter::new(io::stdout())),
        (None, true) => Box::new(io::sink()),
    };
    let pipeline = Pipeline::new(live.config.pipeline.clone()).map_err(|e| e.to_string())?;
    let sender = Sender::new(wire, live.config.port, live.config.pipeline.gate.clone());
    let mut screen = None;
    if live.watch {
        screen = Some(Screen::enter().map_err(|e| format!("the terminal cannot be used: {e}"))?);
        log.keep_off_the_terminal();
    }
    drop_privileges(&identity, Keep::NetRaw)?;
    if let Identity::Other { user, group, why } = identity {
        let fields = json!({"user": user, "group": group, "why": why});
        log.line(Level::Info, "rights were given up", &fields);
    }
    let board = Board::default();
    if let Some(listener) = listener {
        let address = listener.local_addr();
        board
            .run(listener)
            .map_err(|e| format!("no thread for the metrics: {e}"))?;
        if let Ok(address) = address {
            log.line(Level::Info, "metrics", &json!({"listen": address.to_string()}));
        }
    }
    if live.unconfined {
        log.say(Level::Warn, "the daemon runs unconfined, as --no-seccomp says");
    } else {
        sandbox::enter()?;
    }
    let mut daemon = Daemon {
        killing: Killing::new(live.config.kill_file.clone()),
        interface: Interface::new(name, live.config.promiscuous, source),
        live,
        log,
        pipeline,
        collected: Collected {
            lines: Lines::new(out),
            bursts: Vec::new(),
            recent: VecDeque::new(),
        },
        sender,
        savefile,
        board,
        began: now(),
    };
    daemon.begin();
    daemon.work(&signals, screen.as_mut());
    drop(screen);
    daemon.end()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the clock by which bursts leave and slower duties are seen to; decisions go by the capture's"
)]
fn now() -> Instant {
    Instant::now()
}

impl Daemon {
    fn begin(&mut self) {
        let gate = &self.live.config.pipeline.gate;
        let mode = if gate.active { "active" } else { "passive" };
        let fields = json!({
            "interface": self.interface.name(),
            "mode": mode,
            "allow": gate.allow.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        self.log.line(Level::Info, "capturing", &fields);
        if gate.active && gate.allow.is_empty() {
            self.log.say(
                Level::Warn,
                "active, but gate.allow is empty, so that nothing will be sent",
            );
        }
        self.look_for_kills();
    }

    fn steady(&self) -> Time {
        let since = now().duration_since(self.began).as_nanos();
        Time::from_nanos(u64::try_from(since).unwrap_or(u64::MAX))
    }

    fn work(&mut self, signals: &Signals, mut screen: Option<&mut Screen>) {
        let mut tick = now();
        while !signals.stop.load(Ordering::Relaxed) {
            if self.interface.is_open() {
                self.capture();
            } else {
                std::thread::sleep(Duration::from_millis(10));
            }
            if self.sender.is_busy() {
                self.pump();
            }
            if signals.kill.swap(false, Ordering::Relaxed) {
                self.kill("SIGUSR1");
            }
            if signals.reload.swap(false, Ordering::Relaxed) {
                self.reload();
            }
            if now().duration_since(tick) < TICK {
                continue;
            }
            tick = now();
            self.slower_duties();
            match screen.as_mut().map(|s| self.show(s)) {
                None | Some(Ok(None)) => {}
                Some(Ok(Some(Wish::Quit))) => break,
                Some(Err(e)) => {
                    self.log
                        .because(Level::Error, "the terminal cannot be used any more", &e);
                    screen = None;
                }
                Some(Ok(Some(Wish::Kill))) => self.kill("key"),
            }
        }
    }

    /// Some frames; or what has fallen due, and a short wait for a frame or for what falls due next.
    fn capture(&mut self) {
        // Read before the frames are: what falls due by then has none before it that could still come.
        let looked_ns = now_ns().saturating_sub(MARGIN.as_nanos());
        for n in 0..BATCH {
            let Some(source) = self.interface.source() else { return };
            let link = source.link();
            match source.next() {
                Ok(Some(frame)) => {
                    if let Some(file) = &mut self.savefile
                        && let Err(e) = file.write(frame.at_ns, frame.wire, frame.bytes)
                    {
                        self.savefile = None;
                        self.log.because(Level::Error, "the capture is no longer written", &e);
                    }
                    self.pipeline
                        .frame(link, frame.at_ns, frame.wire, frame.bytes, &mut self.collected);
                    if !self.collected.bursts.is_empty() {
                        self.start();
                    }
                }
                Ok(None) => {
                    self.pause(looked_ns, n > 0);
                    return;
                }
                Err(why) => {
                    self.interface.lost(now());
                    self.log.because(Level::Warn, "the interface is gone", &why);
                    return;
                }
            }
        }
    }

    /// There is no frame now: does what has fallen due by `looked_ns`, or waits. If there `were` some, others are let
    /// gather.
    fn pause(&mut self, looked_ns: u64, were: bool) {
        let Some(source) = self.interface.source() else { return };
        let most = if were { GATHER } else { WAIT };
        let pause = match self.pipeline.due_ns() {
            Some(due) if due <= looked_ns => {
                self.pipeline.wake(looked_ns, &mut self.collected);
                if !self.collected.bursts.is_empty() {
                    self.start();
                }
                return;
            }
            Some(due) => most.min(MARGIN + sojourn_units::Duration::from_nanos(due.saturating_sub(now_ns()))),
            None => most,
        };
        let pause = Duration::from_nanos(pause.as_nanos());
        if were {
            std::thread::sleep(pause);
        } else {
            source.wait(pause);
        }
    }

    fn start(&mut self) {
        self.look_for_kills();
        for burst in std::mem::take(&mut self.collected.bursts) {
            if self.killing.is_killed() {
                continue;
            }
            let now = self.steady();
            let age = sojourn_units::Duration::from_nanos(now_ns().saturating_sub(burst.at_ns));
            if let Err(because) = self.sender.start(burst, age, now) {
                self.ended(Sent::Part {
                    id: burst.id,
                    packets: 0,
                    because,
                });
            }
            self.pump();
        }
    }

    fn pump(&mut self) {
        let now = self.steady();
        if let Some(sent) = self.sender.pump(now) {
            self.ended(sent);
        }
    }

    fn ended(&mut self, sent: Sent) {
        match sent {
            Sent::All { id, packets } => {
                self.log
                    .line(Level::Info, "sent", &json!({"id": id, "packets": packets}));
            }
            Sent::Part { id, packets, because } => {
                let because_text = match because {
                    Unsent::Guard(rule) => format!("the second check refused: {}", rule.name()),
                    Unsent::TooSlow => "they did not leave within 2 s".to_owned(),
                    Unsent::Busy => "an earlier burst is still leaving".to_owned(),
                    Unsent::NoWay(kind) | Unsent::Refused(kind) => kind.to_string(),
                };
                let fields = json!({"id": id, "packets": packets, "why": because_text});
                self.log.line(Level::Warn, "sent in part", &fields);
                if let Unsent::Refused(_) = because {
                    self.kill("an error of sending");
                }
            }
        }
    }

    fn kill(&mut self, why: &'static str) {
        if self.killing.latch(why) {
            self.obey_kills();
        }
    }

    fn look_for_kills(&mut self) {
        if self.killing.look() {
            self.obey_kills();
        }
    }

    /// After it was switched off, or on.
    fn obey_kills(&mut self) {
        let killed = self.killing.is_killed();
        self.pipeline.set_killed(killed);
        if killed {
            self.sender.stop();
            let why = json!({"why": self.killing.why()});
            self.log.line(Level::Warn, "flushing is switched off", &why);
        } else {
            self.sender
                .set(self.live.config.port, self.live.config.pipeline.gate.clone());
            self.log.say(Level::Info, "flushing is switched on again");
        }
    }

    fn slower_duties(&mut self) {
        self.look_for_kills();
        if self.interface.is_due(now()) {
            match self.interface.reopen(now()) {
                Ok(()) => {
                    self.log.say(Level::Info, "the interface is back");
                    match DeviceWire::on(self.interface.name()) {
                        Ok(wire) => self.sender.set_wire(wire),
                        Err(e) => {
                            self.log
                                .because(Level::Warn, "no socket on the interface's addresses", &e);
                        }
                    }
                }
                Err(why) => {
                    let pause = self.interface.pause().as_secs_f64();
                    let fields = json!({"why": why, "pause_s": pause});
                    self.log.line(Level::Warn, "the interface is not back yet", &fields);
                }
            }
        }
        let (sent_packets, sent_bytes) = self.sender.totals();
        let outside = Outside {
            active: self.live.config.pipeline.gate.active,
            killed: self.killing.is_killed(),
            sent_packets,
            sent_bytes,
            dropped: self.interface.dropped(),
            opened: self.interface.opened(),
        };
        if self.live.config.metrics.is_some() {
            self.board.set(render(&self.pipeline, outside));
        }
        if let Err(e) = self.collected.lines.flush() {
            self.log.because(Level::Error, "decisions cannot be written", &e);
        }
        if let Some(file) = &mut self.savefile {
            let _ = file.flush();
        }
    }

    fn show(&mut self, screen: &mut Screen) -> io::Result<Option<Wish>> {
        let gate = &self.live.config.pipeline.gate;
        let mode = match (self.killing.why(), gate.active) {
            (Some(why), _) => format!("switched off: {why}"),
            (None, true) => "ACTIVE".to_owned(),
            (None, false) => "passive".to_owned(),
        };
        let status = Status {
            interface: self.interface.name(),
            open: self.interface.is_open(),
            mode: &mode,
            sent_packets: self.sender.totals().0,
            dropped: self.interface.last_dropped(),
            decisions: &self.collected.recent,
            log: self.log.last(),
        };
        screen.show(&self.pipeline, &status)
    }

    /// Reads the configuration again. What is wrong with it is told, and the old one stays.
    fn reload(&mut self) {
        let loaded = Config::load(self.live.file.as_deref(), &self.live.overrides);
        let outcome = loaded.and_then(|new| {
            let anew = self.pipeline.set(new.pipeline.clone()).map_err(ConfigError::from)?;
            Ok((new, anew))
        });
        match outcome {
            Err(why) => {
                let what = "the new configuration is refused, and the old one stays";
                self.log.because(Level::Error, what, &why);
            }
            Ok((new, anew)) => {
                let old = &self.live.config;
                let fixed: Vec<&str> = [
                    ("interface", old.interface != new.interface),
                    ("promiscuous", old.promiscuous != new.promiscuous),
                    ("user", old.user != new.user),
                    ("decisions", old.decisions != new.decisions),
                    ("log.file", old.log != new.log),
                    ("metrics.listen", old.metrics != new.metrics),
                ]
                .into_iter()
                .filter_map(|(name, changed)| changed.then_some(name))
                .collect();
                let fields = json!({"flows_forgotten": anew, "only_after_a_restart": fixed});
                self.killing.set_file(new.kill_file.clone());
                let config = &mut self.live.config;
                config.pipeline = new.pipeline;
                config.port = new.port;
                config.kill_file = new.kill_file;
                if !self.killing.is_killed() {
                    self.sender.set(config.port, config.pipeline.gate.clone());
                }
                self.log.line(Level::Info, "the configuration was read again", &fields);
                self.look_for_kills();
            }
        }
    }

    fn end(mut self) -> Result<(), String> {
        self.pipeline.finish(&mut self.collected);
        let summary = self.pipeline.summary();
        self.collected.lines.write(&summary);
        let written = self.collected.lines.finish();
        let saved = self.savefile.as_mut().map_or(Ok(()), Writer::flush);
        let (packets, bytes) = self.sender.totals();
        let fields: Value = json!({
            "frames": summary.frames,
            "sent_packets": packets,
            "sent_bytes": bytes,
            "dropped": self.interface.dropped(),
            "overtaken": self.pipeline.overtaken(),
        });
        self.log.line(Level::Info, "stopped", &fields);
        written.map_err(|e| format!("the decisions cannot be written: {e}"))?;
        saved.map_err(|e| format!("the capture cannot be written: {e}"))
    }
}
