//! The socket by which a bottleneck is changed and looked at while it runs: one line asks, the rest of the stream answers.
//!
//! | line             | answer                                         |
//! |------------------|------------------------------------------------|
//! | `set KEY VALUE`  | `ok`, or `error: ` and a sentence              |
//! | `show`           | `ok`, then what `tc -s qdisc` prints           |
//! | `show json`      | `ok`, then one JSON object                     |
//! | `stop`           | `ok`; the bottleneck ends                      |

use super::engine::Remote;
use super::settings::Change;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a client may take to ask.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest line.
const LONGEST: u64 = 4_096;

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
    path: PathBuf,
    listener: Option<UnixListener>,
}

impl Control {
    /// Opens the socket. One that a program left that was killed is replaced; one that answers is not.
    ///
    /// # Errors
    /// One sentence.
    pub fn open(path: &Path) -> Result<Self, String> {
        let failed = |e: io::Error| format!("the control socket {} cannot be opened: {e}", path.display());
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            if !folder.exists() {
                std::fs::DirBuilder::new().mode(0o700).create(folder).map_err(failed)?;
            }
            let owner = std::fs::metadata(folder).map_err(failed)?.uid();
            let user = rustix::process::getuid().as_raw();
            if path == default_path() && owner != user {
                return Err(format!("the folder {} belongs to another user", folder.display()));
            }
        }
        if UnixStream::connect(path).is_ok() {
            return Err(format!(
                "a bottleneck runs already with the control socket {}: give this one another with --control",
                path.display()
            ));
        }
        let is_socket =
            std::fs::symlink_metadata(path).is_ok_and(|m| std::os::unix::fs::FileTypeExt::is_socket(&m.file_type()));
        if is_socket {
            std::fs::remove_file(path).map_err(failed)?;
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
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
        std::thread::Builder::new()
            .name("control".into())
            .spawn(move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    // One that asks nonsense, or goes away, is its own problem.
                    let _ = answer(&stream, &remote, &stop);
                }
            })
            .map(drop)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn answer(mut stream: &UnixStream, remote: &Remote, stop: &AtomicBool) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream.take(LONGEST)).read_line(&mut line)?;
    let told = match line.trim().split_once(' ').unwrap_or((line.trim(), "")) {
        ("set", change) => match change.trim().split_once(' ') {
            Some((key, value)) => remote.set(Change::new(key, value.trim())).map(|()| String::new()),
            None => Err("set needs a key and a value, such as up.rate 5mbit".into()),
        },
        ("show", "") => remote.report().map(|report| report.text() + &report.timing()),
        ("show", "json") => remote.report().map(|report| report.json() + "\n"),
        ("stop", "") => {
            stop.store(true, Ordering::Relaxed);
            Ok(String::new())
        }
        (word, _) => Err(format!(
            "the request is {word:?}, but must be set, show, show json or stop"
        )),
    };
    let text = match told {
        Ok(text) => format!("ok\n{text}"),
        Err(sentence) => format!("error: {sentence}\n"),
    };
    stream.write_all(text.as_bytes())
}

/// Asks a bottleneck that runs.
///
/// # Errors
/// One sentence: its own, or that there is none.
pub fn ask(path: &Path, line: &str) -> Result<String, String> {
    let mut stream = UnixStream::connect(path).map_err(|e| {
        format!(
            "no bottleneck listens at {}: {e} (name its control socket with --control)",
            path.display()
        )
    })?;
    let failed = |e: io::Error| format!("the bottleneck at {} does not answer: {e}", path.display());
    stream.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
    let mut text = String::new();
    stream.set_read_timeout(Some(2 * PATIENCE)).map_err(failed)?;
    stream.read_to_string(&mut text).map_err(failed)?;
    match text.split_once('\n') {
        Some(("ok", rest)) => Ok(rest.to_owned()),
        Some((error, _)) => Err(error.trim_start_matches("error: ").to_owned()),
        None => Err(format!("the bottleneck at {} said nothing", path.display())),
    }
}
