//! Metrics in Prometheus's text format, on a loopback address.
//!
//! Source: "Exposition formats" of Prometheus's documentation, text format 0.0.4.

use super::Summary;
use super::pipeline::Pipeline;
use sojourn_flusher::FlowView;
use sojourn_units::Duration;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// Flows shown one by one; with more, only the totals.
const FLOWS: usize = 64;
/// Longest request.
const REQUEST: usize = 8192;
/// In how many pieces it may come.
const PIECES: usize = 32;
/// What a client may take to ask or to read.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);

/// Numbers of the daemon that the pipeline does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Whether the gate is set active.
    pub active: bool,
    /// Whether flushing was switched off.
    pub killed: bool,
    /// Datagrams that have left.
    pub sent_packets: u64,
    /// Their bytes, IP headers included.
    pub sent_bytes: u64,
    /// Frames that the kernel dropped because they were not fetched in time.
    pub dropped: u64,
    /// Times that the interface was opened.
    pub opened: u64,
}

/// The text of one scrape.
#[must_use]
pub fn render(pipeline: &Pipeline, outside: Outside) -> String {
    let mut text = String::new();
    let summary = pipeline.summary();
    let mut one = |name: &str, kind: &str, help: &str, value: u64| {
        let _ = writeln!(
            text,
            "# HELP sojourn_flush_{name} {help}\n# TYPE sojourn_flush_{name} {kind}\nsojourn_flush_{name} {value}"
        );
    };
    one("frames_total", "counter", "Frames captured.", summary.frames);
    one("segments_total", "counter", "Of these, TCP segments.", summary.segments);
    one("malformed_total", "counter", "Of these, malformed.", summary.malformed);
    one(
        "dropped_total",
        "counter",
        "Frames dropped before they were captured.",
        outside.dropped,
    );
    one(
        "opened_total",
        "counter",
        "Times that the interface was opened.",
        outside.opened,
    );
    one(
        "clock_steps_total",
        "counter",
        "Times that the clock was set back.",
        summary.clock_steps,
    );
    one("samples_total", "counter", "RTT samples.", summary.samples);
    one(
        "retransmissions_total",
        "counter",
        "Segments sent again.",
        summary.retransmissions,
    );
    one("plans_total", "counter", "Flushes proposed.", summary.plans);
    one(
        "allowed_total",
        "counter",
        "Flushes that the gate let through.",
        summary.allowed,
    );
    one(
        "withheld_total",
        "counter",
        "Flushes that the core withheld.",
        summary.withheld,
    );
    one(
        "sent_packets_total",
        "counter",
        "Flush packets that have left.",
        outside.sent_packets,
    );
    one(
        "sent_bytes_total",
        "counter",
        "Their bytes, IP headers included.",
        outside.sent_bytes,
    );
    one(
        "active",
        "gauge",
        "Whether the gate is set active.",
        outside.active.into(),
    );
    one(
        "killed",
        "gauge",
        "Whether flushing is switched off.",
        outside.killed.into(),
    );
    one(
        "budget_bytes",
        "gauge",
        "Bytes left of this minute's budget.",
        pipeline.gate().budget_left(),
    );
    let flows: Vec<FlowView> = pipeline.flows().collect();
    one("flows", "gauge", "Flows known.", flows.len() as u64);
    refusals(&mut text, &summary);
    if flows.len() <= FLOWS {
        each_flow(&mut text, &flows);
    }
    text
}

fn refusals(text: &mut String, summary: &Summary) {
    text.push_str(
        "# HELP sojourn_flush_refused_total Flushes refused, by rule.\n# TYPE sojourn_flush_refused_total counter\n",
    );
    for (rule, count) in &summary.refused {
        let _ = writeln!(text, "sojourn_flush_refused_total{{rule=\"{rule}\"}} {count}");
    }
}

fn each_flow(text: &mut String, flows: &[FlowView]) {
    let mut gauge = |name: &str, help: &str, value: fn(&FlowView) -> Option<f64>| {
        let _ = writeln!(
            text,
            "# HELP sojourn_flush_flow_{name} {help}\n# TYPE sojourn_flush_flow_{name} gauge"
        );
        for flow in flows {
            if let Some(value) = value(flow) {
                // Addresses have no character that would need an escape.
                let (src, dst) = (flow.key.src, flow.key.dst);
                let _ = writeln!(text, "sojourn_flush_flow_{name}{{src=\"{src}\",dst=\"{dst}\"}} {value}");
            }
        }
    };
    gauge("rtt_seconds", "Smoothed RTT.", |f| f.rtt.map(Duration::as_secs_f64));
    gauge("base_rtt_seconds", "Base RTT.", |f| f.base.map(Duration::as_secs_f64));
    gauge("throughput_bits_per_second", "Throughput.", |f| {
        f.throughput.map(|r| r.as_bps() as f64)
    });
}

/// Serves a text that others renew.
#[derive(Clone, Debug, Default)]
pub struct Board(Arc<Mutex<String>>);

impl Board {
    /// Renews it.
    pub fn set(&self, text: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    fn get(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A listener for [`Self::run`].
    ///
    /// # Errors
    /// If the address is not of loopback or cannot be had.
    pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
        if address.ip().is_loopback() {
            TcpListener::bind(address)
        } else {
            let rule = "metrics are served on loopback addresses only";
            Err(io::Error::new(io::ErrorKind::InvalidInput, rule))
        }
    }

    /// Serves it at `/metrics`, one client at a time, in a thread of its own.
    ///
    /// # Errors
    /// If there can be no thread.
    pub fn run(&self, listener: TcpListener) -> io::Result<()> {
        let board = self.clone();
        let serve = move || {
            for client in listener.incoming() {
                match client {
                    // A client that goes away is its own affair.
                    Ok(client) => drop(board.answer(client)),
                    // Out of descriptors, say: not in a busy loop.
                    Err(_) => std::thread::sleep(PATIENCE),
                }
            }
        };
        std::thread::Builder::new()
            .name("metrics".into())
            .spawn(serve)
            .map(|_| ())
    }

    fn answer(&self, mut client: TcpStream) -> io::Result<()> {
        client.set_read_timeout(Some(PATIENCE))?;
        client.set_write_timeout(Some(PATIENCE))?;
        let mut request = Vec::new();
        let mut piece = [0; 1024];
        let mut pieces = 0;
        let (status, body) = loop {
            pieces += 1;
            let read = client.read(&mut piece)?;
            if read == 0 || pieces == PIECES || request.len() + read > REQUEST {
                break ("400 Bad Request", String::new());
            }
            request.extend(&piece[..read]);
            let mut headers = [httparse::EMPTY_HEADER; 64];
            let mut parsed = httparse::Request::new(&mut headers);
            match parsed.parse(&request) {
                Ok(httparse::Status::Partial) => {}
                Ok(httparse::Status::Complete(_)) => {
                    break match (parsed.method, parsed.path) {
                        (Some("GET"), Some("/metrics")) => ("200 OK", self.get()),
                        (Some("GET"), _) => ("404 Not Found", "The metrics are at /metrics.\n".to_owned()),
                        _ => ("405 Method Not Allowed", String::new()),
                    };
                }
                Err(_) => break ("400 Bad Request", String::new()),
            }
        };
        let length = body.len();
        write!(
            client,
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    #[test]
    fn the_board_answers_on_loopback_only() {
        let board = Board::default();
        let everywhere = "0.0.0.0:0".parse().expect("an address");
        assert_eq!(
            Board::bind(everywhere).expect_err("it is not loopback").kind(),
            io::ErrorKind::InvalidInput
        );
        let listener = Board::bind("127.0.0.1:0".parse().expect("an address")).expect("loopback");
        let address = listener.local_addr().expect("it is bound");
        board.run(listener).expect("a thread");
        board.set("a 1\n".into());
        let answer = ask(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\na 1\n"),
            "{answer}"
        );
        assert!(ask(address, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(ask(address, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
        assert!(ask(address, "\x01\x02 nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
        // A request without an end does not keep others out for long.
        let header = format!("GET /metrics HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(10_000));
        let mut stream = TcpStream::connect(address).expect("it listens");
        let _ = stream.write_all(header.as_bytes());
        drop(stream);
        assert!(ask(address, "GET /metrics HTTP/1.1\r\n\r\n").contains("200 OK"));
    }
}
