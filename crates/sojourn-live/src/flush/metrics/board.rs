//! The address at which the metrics are served.

use crate::clients::{Heard, Limits, Service, serve};
use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Clients at the same time, the longest request, and what a client may take to ask and again to read.
const LIMITS: Limits = Limits {
    clients: 32,
    request: 8192,
    patience: Duration::from_secs(2),
};

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

    /// Serves it at `/metrics` in a thread of its own.
    ///
    /// # Errors
    /// If there can be no thread.
    pub fn run(&self, listener: TcpListener) -> io::Result<()> {
        let board = self.clone();
        let work = move || {
            let Err(e) = serve(&listener, LIMITS, board);
            let _ = writeln!(io::stderr(), "sojournd: the metrics are no longer served: {e}");
        };
        std::thread::Builder::new().name("metrics".into()).spawn(work).map(drop)
    }

    /// The status and the body for a request; `None` if it is not whole.
    fn respond(&self, request: &[u8]) -> Option<(&'static str, String)> {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(request) {
            Ok(httparse::Status::Partial) => None,
            Ok(httparse::Status::Complete(_)) => Some(match (parsed.method, parsed.path) {
                (Some("GET"), Some("/metrics")) => ("200 OK", self.get()),
                (Some("GET"), _) => ("404 Not Found", "The metrics are at /metrics.\n".to_owned()),
                _ => ("405 Method Not Allowed", "The method must be GET.\n".to_owned()),
            }),
            Err(e) => Some(("400 Bad Request", format!("The request is not HTTP/1.1: {e}.\n"))),
        }
    }
}

impl Service<TcpStream> for Board {
    fn answer(&mut self, request: &[u8], heard: Heard) -> Option<Vec<u8>> {
        let (status, body) = match (heard, self.respond(request)) {
            (Heard::TooMuch, _) => (
                "431 Request Header Fields Too Large",
                format!("The request has more than {} bytes.\n", LIMITS.request),
            ),
            (_, Some(response)) => response,
            (Heard::Part, None) => return None,
            (Heard::All, None) => ("400 Bad Request", "The request has no end.\n".to_owned()),
            (Heard::TooLate, None) => (
                "408 Request Timeout",
                format!("No whole request came within {} s.\n", LIMITS.patience.as_secs()),
            ),
        };
        let length = body.len();
        let text = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        Some(text.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Read as _;

    fn board() -> (Board, SocketAddr) {
        let board = Board::default();
        let listener = Board::bind("127.0.0.1:0".parse().expect("an address")).expect("loopback");
        let address = listener.local_addr().expect("it is bound");
        board.run(listener).expect("a thread");
        board.set("a 1\n".into());
        (board, address)
    }

    fn connect(address: SocketAddr) -> TcpStream {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
        stream
    }

    fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = connect(address);
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    #[test]
    fn the_board_answers_on_loopback_only() {
        let everywhere = "0.0.0.0:0".parse().expect("an address");
        assert_eq!(
            Board::bind(everywhere).expect_err("it is not loopback").kind(),
            io::ErrorKind::InvalidInput
        );
        let (_board, address) = board();
        let answer = ask(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\na 1\n"),
            "{answer}"
        );
        assert!(ask(address, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(ask(address, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
        assert!(ask(address, "\x01\x02 nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
        let long = format!("GET /metrics HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(10_000));
        let answer = ask(address, &long);
        assert!(
            answer.starts_with("HTTP/1.1 431") && answer.ends_with("\r\n\r\nThe request has more than 8192 bytes.\n")
        );
        assert!(ask(address, "GET /metrics HTTP/1.1\r\n\r\n").contains("200 OK"));
    }

    #[test]
    fn slow_clients_make_nobody_wait() {
        let (_board, address) = board();
        let slow: Vec<TcpStream> = (0..50)
            .map(|_| {
                let mut stream = connect(address);
                stream.write_all(b"GET /metrics").expect("it reads");
                stream
            })
            .collect();
        let mut quick = connect(address);
        quick.set_read_timeout(Some(Duration::from_secs(1))).expect("a time");
        quick.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("it reads");
        let mut answer = String::new();
        quick.read_to_string(&mut answer).expect("it answers within a second");
        assert!(answer.contains("200 OK"));
        // The last of the slow ones still has its place, and is told when its time is over.
        let mut last = slow.last().expect("there are 50");
        answer.clear();
        last.read_to_string(&mut answer).expect("it answers");
        assert!(answer.starts_with("HTTP/1.1 408") && answer.ends_with("\r\n\r\nNo whole request came within 2 s.\n"));
    }

    proptest! {
        #[test]
        fn any_request_has_a_response_of_one_line(
            begin in proptest::sample::select(vec!["", "GET ", "GET /metrics", "GET /metrics HTTP/1.1\r\n", "\r\n\r\n"]),
            rest in proptest::collection::vec(any::<u8>(), 0..3_000),
            heard in proptest::sample::select(vec![Heard::Part, Heard::All, Heard::TooMuch, Heard::TooLate]),
        ) {
            let request = [begin.as_bytes(), &rest].concat();
            let mut board = Board::default();
            board.set("a 1\n".into());
            match board.answer(&request, heard) {
                None => prop_assert_eq!(heard, Heard::Part),
                Some(answer) => {
                    let text = String::from_utf8(answer).expect("text");
                    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
                    prop_assert!(head.starts_with("HTTP/1.1 "));
                    prop_assert_eq!(body.matches('\n').count(), 1, "{}", body);
                }
            }
        }
    }
}
