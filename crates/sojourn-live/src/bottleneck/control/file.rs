//! The file of the control socket: who may open it, and what may be at its place before.
//!
//! Between `bind` and `listen` nobody can connect, so the mode is right before it matters, whatever the umask is.
//! Programs that start at the same time agree by a lock on the folder which of them looks, removes and binds first.

use super::super::failure::Failure;
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{FlockOperation, Mode, OFlags, fchmod, flock, open};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with};
use std::fs::{DirBuilder, Metadata, Permissions, symlink_metadata};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Read and write for the owner, nothing for others.
const MODE: u32 = 0o600;
/// The longest path of a socket, bytes. Source: unix(7), `sun_path` with its final zero.
const LONGEST_PATH: usize = 107;
/// Connections that wait to be taken.
const BACKLOG: i32 = 64;
/// How often and how long a folder's lock is waited for.
const LOCK_LOOKS: u32 = 100;
const LOCK_LOOK: Duration = Duration::from_millis(20);

/// The file; it is removed in the end if it is still the same.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    /// Device and number of its inode.
    inode: (u64, u64),
}

impl SocketFile {
    /// Makes the file and listens. The folder of the `usual` path is made if it is not there, and must be this user's
    /// alone.
    pub(super) fn make(path: &Path, usual: bool) -> Result<(Self, UnixListener), Failure> {
        let failed =
            |e: io::Error| Failure::run(format!("the control socket {} cannot be opened: {e}", path.display()));
        let length = path.as_os_str().as_bytes().len();
        if !(1..=LONGEST_PATH).contains(&length) {
            let rule = format!("control has {length} bytes, but must be a path of 1 to {LONGEST_PATH} bytes");
            return Err(Failure::input(rule));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        if !folder.exists() {
            DirBuilder::new().mode(0o700).create(folder).map_err(failed)?;
        }
        if usual {
            let found = symlink_metadata(folder).map_err(failed)?;
            is_private(folder, &found)?;
        }
        let lock = lock(folder).map_err(failed)?;
        make_way(path)?;
        let made = make(path).map_err(failed)?;
        drop(lock);
        Ok(made)
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if symlink_metadata(&self.path).is_ok_and(|found| inode(&found) == self.inode) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn inode(of: &Metadata) -> (u64, u64) {
    (of.dev(), of.ino())
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// That nobody but this user can put something into the usual folder.
fn is_private(folder: &Path, found: &Metadata) -> Result<(), Failure> {
    let fault = if !found.is_dir() {
        "is no folder"
    } else if found.uid() != user() {
        "belongs to another user"
    } else if found.mode() & 0o022 != 0 {
        "can be written by others"
    } else {
        return Ok(());
    };
    Err(Failure::run(format!(
        "{} {fault}, but must be a folder of this user's alone (or name a socket elsewhere with --control)",
        folder.display()
    )))
}

/// Locks a folder against programs like this one. Where that cannot be done (the folder may not be read, or a
/// stranger keeps it locked) there is no lock: then two that start at the same time may take the path from each
/// other, and no more.
fn lock(folder: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = match open(folder, flags, Mode::empty()) {
        Ok(folder) => folder,
        Err(Errno::ACCESS) => return Ok(None),
        Err(e) => return Err(e.into()),
    };
    for _ in 0..LOCK_LOOKS {
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(folder)),
            Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(LOCK_LOOK),
            Err(e) => return Err(e.into()),
        }
    }
    Ok(None)
}

/// Removes the socket that a killed bottleneck of this user left at `path`, and nothing else.
fn make_way(path: &Path) -> Result<(), Failure> {
    let found = match symlink_metadata(path) {
        Ok(found) => found,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(Failure::run(format!("control is {}: {e}", path.display()))),
    };
    if !found.file_type().is_socket() {
        let rule = "but must be a path at which there is nothing, or a socket of this user";
        return Err(Failure::input(format!(
            "control is {}, which is no socket, {rule}",
            path.display()
        )));
    }
    let in_use = |who: &str| {
        Failure::run(format!(
            "{who} the control socket {}: give this one another with --control",
            path.display()
        ))
    };
    match knock(path) {
        Ok(()) | Err(Errno::AGAIN) => return Err(in_use("a bottleneck runs already with")),
        Err(Errno::CONNREFUSED) if found.uid() == user() => {}
        Err(Errno::NOENT) => return Ok(()),
        Err(_) => return Err(in_use("another user or another program has")),
    }
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Failure::run(format!(
            "the control socket {}, which nobody listens at, cannot be removed: {e}",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Whether somebody listens. Never waits: `EAGAIN` is one who listens, but is too busy.
fn knock(path: &Path) -> Result<(), Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(path)?)
}

fn make(path: &Path) -> io::Result<(SocketFile, UnixListener)> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // Linux gives the file the mode of the socket, less the umask: so it never has more than this.
    fchmod(socket.as_fd(), Mode::from_raw_mode(MODE))?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    let file = SocketFile {
        path: path.to_owned(),
        inode: inode(&symlink_metadata(path)?),
    };
    // And no less either.
    if symlink_metadata(path)?.mode() & 0o7777 != MODE {
        std::fs::set_permissions(path, Permissions::from_mode(MODE))?;
    }
    listen(&socket, BACKLOG)?;
    Ok((file, socket.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A new folder, with a path short enough for sockets.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("sojourn-{}-{name}", std::process::id()));
            std::fs::create_dir(&path).expect("no other test has this name");
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn refused(path: &Path) -> Failure {
        SocketFile::make(path, false).expect_err("it is refused")
    }

    #[test]
    fn a_socket_goes_with_its_listener() {
        let folder = Folder::new("goes");
        let path = folder.0.join("s");
        let made = SocketFile::make(&path, false).expect("it is made");
        assert_eq!(symlink_metadata(&path).expect("it is there").mode() & 0o7777, MODE);
        drop(made);
        assert!(!path.exists());
    }

    #[test]
    fn what_took_the_place_of_a_socket_is_not_removed() {
        let folder = Folder::new("place");
        let path = folder.0.join("s");
        let made = SocketFile::make(&path, false).expect("it is made");
        std::fs::remove_file(&path).expect("it is ours");
        std::fs::write(&path, "precious").expect("there is room");
        drop(made);
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "precious");
    }

    #[test]
    fn what_a_killed_one_left_is_replaced_and_what_is_listened_at_is_not() {
        let folder = Folder::new("stale");
        let path = folder.0.join("s");
        drop(UnixListener::bind(&path).expect("it is made"));
        assert!(path.exists(), "the standard library leaves it");
        let made = SocketFile::make(&path, false).expect("nobody listens");
        let failure = refused(&path);
        assert!(
            failure.sentence.starts_with("a bottleneck runs already with"),
            "{failure:?}"
        );
        // One that is so busy that its queue is full listens, too.
        let waiting: Vec<_> = (0..2 * BACKLOG)
            .map_while(|_| {
                let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
                let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).expect("a socket");
                let address = SocketAddrUnix::new(&path).expect("it is short");
                connect(&socket, &address).ok().map(|()| socket)
            })
            .collect();
        assert!(waiting.len() >= 64);
        let failure = refused(&path);
        assert!(
            failure.sentence.starts_with("a bottleneck runs already with"),
            "{failure:?}"
        );
        drop(made);
    }

    #[test]
    fn what_is_no_socket_stays() {
        let folder = Folder::new("stays");
        let (file, link) = (folder.0.join("file"), folder.0.join("link"));
        std::fs::write(&file, "precious").expect("there is room");
        let target = folder.0.join("target");
        drop(UnixListener::bind(&target).expect("it is made"));
        symlink(&target, &link).expect("there is room");
        for path in [&file, &link, &folder.0] {
            let failure = refused(path);
            assert_eq!(failure.status, 2);
            assert!(
                failure.sentence.contains("which is no socket, but must be"),
                "{failure:?}"
            );
        }
        assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "precious");
        assert!(target.exists() && link.is_symlink());
    }

    #[test]
    fn a_path_that_is_too_long_or_empty_is_told() {
        for (path, length) in [("x".repeat(205), 205), (String::new(), 0)] {
            let failure = refused(Path::new(&path));
            let sentence = format!("control has {length} bytes, but must be a path of 1 to 107 bytes");
            assert_eq!((failure.status, failure.sentence), (2, sentence));
        }
    }

    #[test]
    fn the_usual_folder_must_be_private() {
        let folder = Folder::new("private");
        let at = |name: &str, mode: u32| {
            let path = folder.0.join(name);
            std::fs::create_dir(&path).expect("a new name");
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("it is ours");
            SocketFile::make(&path.join("s"), true).map(drop)
        };
        assert!(at("own", 0o755).is_ok());
        let failure = at("open", 0o777).expect_err("others can write into it");
        assert!(failure.sentence.contains("can be written by others"), "{failure:?}");
        let link = folder.0.join("link");
        symlink(folder.0.join("own"), &link).expect("there is room");
        let failure = SocketFile::make(&link.join("s"), true).expect_err("it is a link");
        assert!(failure.sentence.contains("is no folder"), "{failure:?}");
    }

    #[test]
    fn of_many_at_once_one_gets_the_socket() {
        let folder = Folder::new("many");
        let path = folder.0.join("s");
        for _ in 0..20 {
            drop(UnixListener::bind(&path).expect("a stale one"));
            let made: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4)
                    .map(|_| scope.spawn(|| SocketFile::make(&path, false).ok()))
                    .collect();
                threads
                    .into_iter()
                    .filter_map(|t| t.join().expect("no panic"))
                    .collect()
            });
            assert_eq!(made.len(), 1);
            assert_eq!(knock(&path), Ok(()));
            drop(made);
            assert!(!path.exists());
        }
    }
}
