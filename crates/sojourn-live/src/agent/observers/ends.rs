//! Captures at both ends of the path, as files: what leaves and reaches the client, and the same of the server.
//!
//! Like the observer of the bottlenecks nothing wakes it: the kernel stamps and keeps the frames, and they are read
//! from time to time.

use crate::agent::actor::{Actor, AgentError, Doing, Host, World};
use crate::agent::kernel::packets::filter::{INTERFACE, IPV4, JUMP_IF_EQUAL, LOAD_HALF, LOAD_WORD, RETURN};
use crate::agent::kernel::packets::{self, BATCH};
use crate::agent::plan::job::Place;
use socket2::{SockFilter, Socket};
use sojourn_bed::Measured;
use sojourn_trace::{LinkType, Writer};
use std::fmt;
use std::fs::File;
use std::io::BufWriter;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// The files, in the folder of the run.
pub(crate) const FILES: [&str; 2] = ["client.pcap", "server.pcap"];
/// Bytes kept of a frame: Ethernet 14, IPv4 20 and TCP 60 bytes fit.
const SNAP: usize = 96;
/// Between two readings.
const EVERY_NS: i64 = 20_000_000;

/// One end.
struct End {
    host: Host,
    interface: String,
    socket: Option<Socket>,
    file: Writer<BufWriter<File>>,
}

/// The captures.
pub(crate) struct Ends {
    ends: Vec<End>,
    buffer: Vec<u8>,
}

impl fmt::Debug for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ends").finish_non_exhaustive()
    }
}

/// The host of a place.
pub(crate) fn host_of(place: &Place) -> Result<Host, AgentError> {
    let hosts = [Host::Client(0), Host::R1, Host::R2, Host::Server];
    let found = hosts.into_iter().find(|host| host.name() == place.host);
    let name = || format!("{:?}", place.host);
    found.ok_or_else(|| AgentError::field("host of the flusher", name(), "client, r1, r2 or server"))
}

fn writing() -> String {
    "writing the captures at the ends".into()
}

/// Where the captures are.
pub(crate) fn files(directory: &Path) -> [PathBuf; 2] {
    FILES.map(|name| directory.join(name))
}

impl Ends {
    /// Captures at `places`, the client's first, into files in `directory`.
    ///
    /// # Errors
    /// If a file cannot be made.
    pub(crate) fn new(places: &[Place; 2], directory: &Path) -> Result<Self, AgentError> {
        let mut ends = Vec::new();
        for (place, path) in places.iter().zip(files(directory)) {
            let file = File::create(path).doing(writing)?;
            let file = Writer::new(BufWriter::with_capacity(1 << 16, file), LinkType::Ethernet, SNAP as u32);
            ends.push(End {
                host: host_of(place)?,
                interface: place.interface.clone(),
                socket: None,
                file: file.doing(writing)?,
            });
        }
        Ok(Self {
            ends,
            buffer: vec![0; BATCH * SNAP],
        })
    }

    fn drain(&mut self) -> Result<(), AgentError> {
        for end in &mut self.ends {
            let Some(socket) = &end.socket else { continue };
            let host = &*end.host.name();
            packets::read(socket.as_raw_fd(), &mut self.buffer, SNAP, host, |frame| {
                let (seconds, nanoseconds) = frame.stamp(host)?;
                // The kernel's clock is not set to before 1970.
                let at_ns = seconds as u64 * 1_000_000_000 + nanoseconds as u64;
                end.file.write(at_ns, frame.length as u32, frame.bytes).doing(writing)
            })?;
        }
        Ok(())
    }
}

impl Actor for Ends {
    fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        for end in &mut self.ends {
            world.enter(end.host)?;
            let host = &*end.host.name();
            let socket = packets::socket(host)?;
            let interface = packets::interface(&socket, &end.interface, host)?;
            packets::watch(&socket, &only_at(interface), host)?;
            end.socket = Some(socket);
        }
        world.set_timer(0, world.now() + EVERY_NS);
        Ok(())
    }

    fn due(&mut self, _key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        self.drain()?;
        if world.now() < world.end() {
            world.set_timer(0, world.now() + EVERY_NS);
        }
        Ok(())
    }

    fn window_ends(&mut self, _world: &mut dyn World) -> Result<(), AgentError> {
        self.drain()?;
        for end in &mut self.ends {
            end.file.flush().doing(writing)?;
            end.socket = None;
        }
        Ok(())
    }

    fn finish(&mut self, _measured: &mut Measured) {}
}

/// Lets IPv4 frames through that come or leave at one interface (classic BPF, with the extension of linux/filter.h
/// for the interface).
fn only_at(interface: u32) -> [SockFilter; 6] {
    [
        SockFilter::new(LOAD_HALF, 0, 0, 12),
        SockFilter::new(JUMP_IF_EQUAL, 0, 3, IPV4),
        SockFilter::new(LOAD_WORD, 0, 0, INTERFACE),
        SockFilter::new(JUMP_IF_EQUAL, 0, 1, interface),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
        SockFilter::new(RETURN, 0, 0, 0),
    ]
}
