//! The socket by which a bottleneck is changed and looked at while it runs: one line asks, the rest of the stream
//! answers.
//!
//! | line             | answer                                         |
//! |------------------|------------------------------------------------|
//! | `set KEY VALUE`  | `ok`, or `error: ` and a sentence              |
//! | `show`           | `ok`, then what `tc -s qdisc` prints           |
//! | `show json`      | `ok`, then one JSON object                     |
//! | `stop`           | `ok`; the bottleneck ends                      |
//!
//! Its file has the mode 0600, and the kernel's word on who connects is checked besides.

mod file;
mod requests;

use super::engine::Remote;
use super::failure::Failure;
use crate::clients::{Limits, serve};
use file::SocketFile;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use requests::Requests;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long a client may take to ask, and again to read.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest line, bytes.
const LONGEST: usize = 4_096;
/// Clients at the same time.
const CLIENTS: usize = 32;
/// Most bytes of an answer that a client takes.
const LONGEST_ANSWER: u64 = 1 << 20;

/// Where the socket is if nothing is said: in `XDG_RUNTIME_DIR`, or else in a folder of the user's below `/tmp`.
#[must_use]
pub fn default_path() -> PathBuf {
    let user = rustix::process::getuid().as_raw();
    let folder = std::env::var_os("XDG_RUNTIME_DIR")
        .map(PathBuf::from)
        .filter(|folder| folder.is_dir())
        .unwrap_or_else(|| PathBuf::from(format!("/tmp/sojourn-{user}")));
    folder.join("sojournd-bottleneck.sock")
}

/// A socket that is listened to; its file goes with it.
#[derive(Debug)]
pub struct Control {
    _file: SocketFile,
    listener: Option<UnixListener>,
}

impl Control {
    /// Opens the socket. One that a killed bottleneck of this user left is replaced; one that answers, one of another
    /// user and what is no socket are not. To be called while there is one thread.
    ///
    /// # Errors
    /// One sentence.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let (file, listener) = SocketFile::make(path, path == default_path())?;
        Ok(Self {
            _file: file,
            listener: Some(listener),
        })
    }

    /// Answers in a thread of its own, until the program ends; `stop` is set when one asks for it.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn serve(&mut self, remote: Remote, stop: Arc<AtomicBool>) -> io::Result<()> {
        let Some(listener) = self.listener.take() else {
            return Ok(());
        };
        let limits = Limits {
            clients: CLIENTS,
            request: LONGEST,
            patience: PATIENCE,
        };
        let requests = Requests::new(remote, stop);
        let work = move || {
            let Err(e) = serve(&listener, limits, requests);
            let _ = writeln!(io::stderr(), "sojournd: the control socket is no longer served: {e}");
        };
        std::thread::Builder::new().name("control".into()).spawn(work).map(drop)
    }
}

/// Asks a bottleneck that runs.
///
/// # Errors
/// One sentence: its own, or that there is none.
pub fn ask(path: &Path, line: &str) -> Result<String, String> {
    if line.len() >= LONGEST || line.contains(char::is_control) {
        return Err(format!(
            "the request has {} bytes, but must be one line without control characters, of fewer than {LONGEST} bytes",
            line.len()
        ));
    }
    let mut stream = connect(path).map_err(|e| {
        format!(
            "no bottleneck listens at {}: {e} (name its control socket with --control)",
            path.display()
        )
    })?;
    let failed = |e: io::Error| format!("the bottleneck at {} does not answer: {e}", path.display());
    stream.set_read_timeout(Some(2 * PATIENCE)).map_err(failed)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
    stream.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
    let mut text = String::new();
    (&stream)
        .take(LONGEST_ANSWER)
        .read_to_string(&mut text)
        .map_err(failed)?;
    match text.split_once('\n') {
        Some(("ok", rest)) => Ok(rest.to_owned()),
        Some((error, _)) => Err(error.trim_start_matches("error: ").to_owned()),
        None => Err(format!("the bottleneck at {} said nothing", path.display())),
    }
}

/// Connects as the socket's owner, if this is root: in its user namespace an unprivileged bottleneck cannot tell the
/// machine's root from a stranger, and refuses both.
fn connect(path: &Path) -> io::Result<UnixStream> {
    if rustix::process::geteuid().is_root()
        && let Ok(there) = std::fs::symlink_metadata(path)
        && there.file_type().is_socket()
        && there.uid() != 0
    {
        // A client asks once, and ends; nothing after this needs root's rights.
        nix::unistd::seteuid(nix::unistd::Uid::from_raw(there.uid()))?;
    }
    UnixStream::connect(path)
}

/// Who is at the other end, as a user and a process of this program's own namespaces.
fn peer(stream: &UnixStream) -> nix::Result<(u32, i32)> {
    getsockopt(stream, PeerCredentials).map(|who| (who.uid(), who.pid()))
}
