//! Many clients of one socket, served by one thread: no client can make another wait, and what all of them together
//! can make this program keep is bounded.
//!
//! Each client sends one request and reads one answer. The thread makes no further threads and opens nothing but the
//! clients' own sockets, so it also runs where system calls are confined.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// Clients that are taken in between two looks at those that are there.
const AT_ONCE: usize = 16;
/// Most that is read, and thrown away, of a client that has its answer.
const THROWN_AWAY: usize = 1 << 16;
/// How long nobody is taken in after the system had no descriptor left.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(100);

/// What clients may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Clients at the same time. One more takes the place of the one that has been there longest.
    pub(crate) clients: usize,
    /// Bytes of a request.
    pub(crate) request: usize,
    /// How long a client may take to send its request, and again to take its answer.
    pub(crate) patience: Duration,
}

/// How much of a request is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// There may be more.
    Part,
    /// The client will send no more.
    All,
    /// More than the limit.
    TooMuch,
    /// The client's time is over.
    TooLate,
}

/// Who answers.
pub(crate) trait Service<S> {
    /// Whether a client may ask at all; if not, what it is told.
    fn admit(&mut self, _client: &S) -> Result<(), Vec<u8>> {
        Ok(())
    }

    /// The answer; `None` to wait for more of the request, which there is only after [`Heard::Part`].
    fn answer(&mut self, request: &[u8], heard: Heard) -> Option<Vec<u8>>;
}

/// The two kinds of sockets that are listened at.
pub(crate) trait Listener: AsFd {
    type Stream: Stream;
    fn take_in(&self) -> io::Result<Self::Stream>;
    fn never_block(&self) -> io::Result<()>;
}

pub(crate) trait Stream: AsFd + Read + Write {
    fn never_block(&self) -> io::Result<()>;
    fn end_of_answer(&self) -> io::Result<()>;
}

macro_rules! sockets {
    ($listener:ty, $stream:ty) => {
        impl Listener for $listener {
            type Stream = $stream;
            fn take_in(&self) -> io::Result<$stream> {
                self.accept().map(|(stream, _)| stream)
            }
            fn never_block(&self) -> io::Result<()> {
                self.set_nonblocking(true)
            }
        }
        impl Stream for $stream {
            fn never_block(&self) -> io::Result<()> {
                self.set_nonblocking(true)
            }
            fn end_of_answer(&self) -> io::Result<()> {
                self.shutdown(Shutdown::Write)
            }
        }
    };
}
sockets!(UnixListener, UnixStream);
sockets!(TcpListener, TcpStream);

/// Where a client is.
#[derive(Debug)]
enum State {
    Asks(Vec<u8>),
    /// The answer, and how much of it has left.
    IsAnswered(Vec<u8>, usize),
    /// It has its answer. What it still sends is read, for a socket that is closed before may take the answer with
    /// it.
    Leaves(usize),
}

#[derive(Debug)]
struct Client<S> {
    stream: S,
    state: State,
    until: Instant,
}

/// Serves for ever.
///
/// # Errors
/// If the kernel refuses to wait for clients.
pub(crate) fn serve<L: Listener>(
    listener: &L,
    limits: Limits,
    mut service: impl Service<L::Stream>,
) -> io::Result<std::convert::Infallible> {
    listener.never_block()?;
    let mut clients: VecDeque<Client<L::Stream>> = VecDeque::new();
    let mut closed_until = None;
    loop {
        wait(listener, &clients, closed_until)?;
        closed_until = closed_until.filter(|until| now() < *until);
        if closed_until.is_none() && take_in(listener, limits, &mut service, &mut clients).is_err() {
            closed_until = Some(now() + OUT_OF_DESCRIPTORS);
        }
        clients.retain_mut(|client| client.goes_on(limits, &mut service));
    }
}

/// Waits until a client has something to be seen to, or its time is over.
fn wait<L: Listener>(
    listener: &L,
    clients: &VecDeque<Client<L::Stream>>,
    closed_until: Option<Instant>,
) -> io::Result<()> {
    let wanted = |client: &Client<L::Stream>| match client.state {
        State::IsAnswered(..) => PollFlags::OUT,
        State::Asks(_) | State::Leaves(_) => PollFlags::IN,
    };
    let mut waiting: Vec<PollFd<'_>> = clients.iter().map(|c| PollFd::new(&c.stream, wanted(c))).collect();
    if closed_until.is_none() {
        waiting.push(PollFd::new(listener, PollFlags::IN));
    }
    let until = clients.iter().map(|client| client.until).chain(closed_until).min();
    let left = until.map(|until| until.saturating_duration_since(now()));
    let left = left.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
    match poll(&mut waiting, left.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Takes in those who are at the door.
///
/// # Errors
/// If there is no descriptor for the next one.
fn take_in<L: Listener>(
    listener: &L,
    limits: Limits,
    service: &mut impl Service<L::Stream>,
    clients: &mut VecDeque<Client<L::Stream>>,
) -> io::Result<()> {
    for _ in 0..AT_ONCE {
        let stream = match listener.take_in() {
            Ok(stream) => stream,
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
            // It went away again, or a signal came.
            Err(e) if matches!(e.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => continue,
            Err(e) => return Err(e),
        };
        if stream.never_block().is_err() {
            continue;
        }
        let state = match service.admit(&stream) {
            Ok(()) => State::Asks(Vec::new()),
            Err(answer) => State::IsAnswered(answer, 0),
        };
        if clients.len() >= limits.clients {
            clients.pop_front();
        }
        clients.push_back(Client {
            stream,
            state,
            until: now() + limits.patience,
        });
    }
    Ok(())
}

impl<S: Stream> Client<S> {
    /// Does what can be done without waiting; tells whether the client stays.
    fn goes_on(&mut self, limits: Limits, service: &mut impl Service<S>) -> bool {
        if let State::Asks(request) = &mut self.state {
            let Some(answer) = ask(&mut self.stream, request, self.until, limits, service) else {
                return true;
            };
            self.until = now() + limits.patience;
            self.state = State::IsAnswered(answer, 0);
        }
        if let State::IsAnswered(answer, left) = &mut self.state {
            while *left < answer.len() {
                match self.stream.write(&answer[*left..]) {
                    Ok(written) if written > 0 => *left += written,
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(e) if e.kind() == ErrorKind::WouldBlock => return now() < self.until,
                    _ => return false,
                }
            }
            if self.stream.end_of_answer().is_err() {
                return false;
            }
            self.state = State::Leaves(0);
        }
        if let State::Leaves(thrown) = &mut self.state {
            let mut piece = [0; 4096];
            while *thrown < THROWN_AWAY {
                match self.stream.read(&mut piece) {
                    Ok(read) if read > 0 => *thrown += read,
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(e) if e.kind() == ErrorKind::WouldBlock => return now() < self.until,
                    _ => return false,
                }
            }
        }
        false
    }
}

/// Reads what is there of a request; gives the answer once there is one.
fn ask<S: Stream>(
    stream: &mut S,
    request: &mut Vec<u8>,
    until: Instant,
    limits: Limits,
    service: &mut impl Service<S>,
) -> Option<Vec<u8>> {
    let mut piece = [0; 4096];
    loop {
        let heard = match stream.read(&mut piece) {
            Ok(0) => Heard::All,
            Ok(read) => {
                request.extend_from_slice(&piece[..read]);
                if request.len() > limits.request {
                    Heard::TooMuch
                } else {
                    Heard::Part
                }
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) if e.kind() == ErrorKind::WouldBlock && now() < until => return None,
            Err(e) if e.kind() == ErrorKind::WouldBlock => Heard::TooLate,
            // There is nobody to be answered; that is found out by writing.
            Err(_) => Heard::All,
        };
        let answer = service.answer(request, heard);
        match (answer, heard) {
            (Some(answer), _) => return Some(answer),
            (None, Heard::Part) => {}
            (None, _) => return Some(Vec::new()),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a client's patience is of this machine's time")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
