//! The view on a terminal.

use super::pipeline::Pipeline;
use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::style::{Attribute, Print, SetAttribute};
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute, queue};
use sojourn_flusher::{FlowState, FlowView};
use sojourn_units::{Duration, format_rate};
use std::collections::VecDeque;
use std::io::{self, Write as _};

/// What there is to show beside the pipeline.
#[derive(Clone, Debug)]
pub(super) struct Status<'a> {
    pub(super) interface: &'a str,
    /// Whether frames come from it, or it is gone.
    pub(super) open: bool,
    /// `passive`, `active`, or why it was switched off.
    pub(super) mode: &'a str,
    pub(super) sent_packets: u64,
    pub(super) dropped: u64,
    /// The last decisions, the newest last.
    pub(super) decisions: &'a VecDeque<String>,
    pub(super) log: &'a str,
}

/// The view as lines of at most `width` characters, at most `height` of them.
pub(super) fn lines(pipeline: &Pipeline, status: &Status<'_>, width: usize, height: usize) -> Vec<String> {
    let summary = pipeline.summary();
    let gone = if status.open { "" } else { " (gone)" };
    let mut all = vec![
        format!(
            "sojournd flush  {}{gone}  {}  budget {} B  sent {}  [q] quit  [k] never send again",
            status.interface,
            status.mode,
            pipeline.gate().budget_left(),
            status.sent_packets
        ),
        format!(
            "frames {}  segments {}  dropped {}  samples {}  proposed {}  allowed {}  withheld {}",
            summary.frames,
            summary.segments,
            status.dropped,
            summary.samples,
            summary.plans,
            summary.allowed,
            summary.withheld
        ),
        String::new(),
        format!(
            "{:<44} {:>9} {:>9} {:>9} {:>10} {:>7}  {}",
            "flow", "rtt", "base", "largest", "rate", "flushes", "state"
        ),
    ];
    let mut flows: Vec<FlowView> = pipeline.flows().filter(|f| f.rtt.is_some()).collect();
    flows.sort_by_key(|f| std::cmp::Reverse((f.last_seen, f.key)));
    let decisions = status.decisions.len().min(height / 3);
    let room = height.saturating_sub(all.len() + decisions + 3);
    for flow in flows.iter().take(room) {
        all.push(row(flow));
    }
    if flows.len() > room {
        all.push(format!("and {} more", flows.len() - room));
    }
    all.push(String::new());
    all.extend(status.decisions.iter().rev().take(decisions).rev().cloned());
    all.push(status.log.to_owned());
    all.truncate(height);
    for line in &mut all {
        if let Some((end, _)) = line.char_indices().nth(width) {
            line.truncate(end);
        }
    }
    all
}

fn row(flow: &FlowView) -> String {
    let ms = |d: Option<Duration>| d.map_or("-".to_owned(), |d| format!("{:.1} ms", d.as_millis_f64()));
    let rate = flow.throughput.map_or("-".to_owned(), |r| {
        // Three digits are enough to look at.
        let bps = r.as_bps();
        let unit = 10_u64.pow(bps.checked_ilog10().unwrap_or(0).saturating_sub(2));
        format_rate(sojourn_units::Rate::from_bps(bps / unit * unit))
    });
    let state = match flow.state {
        FlowState::New => "new",
        FlowState::Watching => "watching",
        FlowState::Queueing => "QUEUE",
        FlowState::Flushing => "FLUSHING",
        FlowState::CoolingDown => "cooling down",
    };
    format!(
        "{:<44} {:>9} {:>9} {:>9} {rate:>10} {:>7}  {state}",
        format!("{} > {}", flow.key.src, flow.key.dst),
        ms(flow.rtt),
        ms(flow.base),
        ms(flow.max_rtt),
        flow.flushes
    )
}

/// What a key asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Quit,
    Kill,
}

/// The terminal while it is ours; it is given back when this is dropped.
#[derive(Debug)]
pub(super) struct Screen {
    out: io::Stdout,
}

impl Screen {
    pub(super) fn enter() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        let mut screen = Self { out: io::stdout() };
        execute!(screen.out, EnterAlternateScreen, cursor::Hide)?;
        // The reader of keys opens what it needs now, before system calls are confined.
        event::poll(std::time::Duration::ZERO)?;
        Ok(screen)
    }

    /// Draws, and takes note of keys.
    pub(super) fn show(&mut self, pipeline: &Pipeline, status: &Status<'_>) -> io::Result<Option<Wish>> {
        let (width, height) = terminal::size()?;
        let mut out = self.out.lock();
        queue!(out, Clear(ClearType::All))?;
        for (n, line) in lines(pipeline, status, width.into(), height.into()).iter().enumerate() {
            let bold = n == 0 || n == 3;
            queue!(
                out,
                cursor::MoveTo(0, n as u16),
                SetAttribute(if bold { Attribute::Bold } else { Attribute::Reset }),
                Print(line),
                SetAttribute(Attribute::Reset)
            )?;
        }
        out.flush()?;
        let mut wish = None;
        while event::poll(std::time::Duration::ZERO)? {
            if let Event::Key(key) = event::read()?
                && key.kind == KeyEventKind::Press
            {
                let control = key.modifiers.contains(KeyModifiers::CONTROL);
                wish = match key.code {
                    KeyCode::Char('q') | KeyCode::Esc => Some(Wish::Quit),
                    KeyCode::Char('c') if control => Some(Wish::Quit),
                    KeyCode::Char('k') => Some(Wish::Kill),
                    _ => wish,
                };
            }
        }
        Ok(wish)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = execute!(self.out, LeaveAlternateScreen, cursor::Show);
        let _ = terminal::disable_raw_mode();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flush::config::Config;
    use crate::flush::line::Line;
    use crate::flush::pipeline::{Burst, World};
    use sojourn_trace::{LinkType, Synthetic};

    struct Nobody;

    impl World for Nobody {
        fn line(&mut self, _: &Line) {}
        fn burst(&mut self, _: Burst) {}
    }

    #[test]
    fn the_view_shows_flows_and_decisions_and_fits_any_terminal() {
        let config = Config::parse("", &[]).expect("the defaults");
        let mut pipeline = Pipeline::new(config.pipeline).expect("the defaults");
        for frame in Synthetic::new(30).take(20_000) {
            pipeline.frame(LinkType::Ethernet, frame.at_ns, frame.wire, &frame.bytes, &mut Nobody);
        }
        let decisions = VecDeque::from(["flush 1".to_owned(), "flush 2".to_owned()]);
        let status = Status {
            interface: "eth0",
            open: false,
            mode: "passive",
            sent_packets: 0,
            dropped: 3,
            decisions: &decisions,
            log: "the interface is gone",
        };
        let shown = lines(&pipeline, &status, 120, 24);
        assert!(shown[0].contains("eth0 (gone)  passive"), "{}", shown[0]);
        assert!(shown[1].contains("frames 20000") && shown[1].contains("dropped 3"));
        assert!(
            shown[4].starts_with("10.0.0.1:") && shown[4].contains(" ms"),
            "{}",
            shown[4]
        );
        assert!(shown.iter().any(|l| l.starts_with("and ") && l.ends_with(" more")));
        assert_eq!(
            shown[shown.len() - 3..],
            ["flush 1", "flush 2", "the interface is gone"]
        );
        for (width, height) in [(0, 0), (1, 1), (20, 5), (80, 3), (500, 200)] {
            let shown = lines(&pipeline, &status, width, height);
            assert!(shown.len() <= height && shown.iter().all(|l| l.chars().count() <= width));
        }
    }
}
