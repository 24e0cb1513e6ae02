//! Files that a person names for results: none that is there is replaced without `--force`, and no link is followed.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// What is at a path, as far as writing there is concerned.
enum There {
    Nothing,
    RegularFile,
    /// A device, such as /dev/null, or a pipe: nothing to lose.
    Stream,
}

/// Checks that a file may be written where an option says, before any work is done for it.
///
/// # Errors
/// One sentence that names the option, the path and the rule.
pub(crate) fn check(option: &str, path: &Path, force: bool) -> Result<(), String> {
    look(option, path, force).map(|_| ())
}

/// Opens a new file to be written. A regular file that is there is emptied if `force` is given; a device or a pipe is
/// written into.
///
/// # Errors
/// As those of [`check`], and if it cannot be opened.
pub(crate) fn create(option: &str, path: &Path, force: bool) -> Result<File, String> {
    let mut options = OpenOptions::new();
    options.write(true);
    match look(option, path, force)? {
        There::Stream => {}
        There::RegularFile => {
            options
                .truncate(true)
                .custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        }
        There::Nothing => {
            options.create_new(true);
        }
    }
    options.open(path).map_err(|e| unwritable(option, path, &e.to_string()))
}

fn look(option: &str, path: &Path, force: bool) -> Result<There, String> {
    let unwritable = |why: &str| Err(unwritable(option, path, why));
    let is_link = path.is_symlink();
    match path.metadata() {
        Ok(found) if found.is_dir() => unwritable("it is a folder"),
        Ok(found) if found.is_file() && is_link => unwritable("it is a symbolic link to a file"),
        Ok(found) if found.is_file() && force => Ok(There::RegularFile),
        Ok(found) if found.is_file() => Err(format!(
            "{option} is {}, but must be a new file (or give --force)",
            path.display()
        )),
        Ok(_) => Ok(There::Stream),
        Err(e) if e.kind() == ErrorKind::NotFound && is_link => unwritable("it is a symbolic link to nothing"),
        Err(e) if e.kind() == ErrorKind::NotFound => match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
                unwritable(&format!("there is no folder {}", folder.display()))
            }
            _ => Ok(There::Nothing),
        },
        Err(e) => unwritable(&e.to_string()),
    }
}

fn unwritable(option: &str, path: &Path, why: &str) -> String {
    format!(
        "{option} is {}, but must be a file that can be written: {why}",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder of this test, which is removed at its end.
    struct Folder(std::path::PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("sojourn-output-{}-{name}", std::process::id()));
            std::fs::create_dir(&path).expect("there is no such folder yet");
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_that_is_there_needs_force() {
        let folder = Folder::new("force");
        let path = folder.0.join("x");
        create("--json", &path, false).expect("nothing is there");
        std::fs::write(&path, "precious").expect("there is room");
        for refused in [
            check("--json", &path, false),
            create("--json", &path, false).map(|_| ()),
        ] {
            let said = refused.expect_err("a file is there");
            assert_eq!(
                said,
                format!("--json is {}, but must be a new file (or give --force)", path.display())
            );
        }
        assert_eq!(std::fs::read(&path).expect("it is there"), b"precious");
        let mut file = create("--json", &path, true).expect("it may be replaced");
        file.write_all(b"new").expect("there is room");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"new");
    }

    #[test]
    fn no_link_is_followed_to_a_file() {
        let folder = Folder::new("links");
        std::fs::write(folder.0.join("precious"), "precious").expect("there is room");
        for (name, target) in [("file", "precious"), ("dangling", "nothing"), ("folder", ".")] {
            let path = folder.0.join(name);
            symlink(target, &path).expect("nothing is there");
            for force in [false, true] {
                create("--json", &path, force).expect_err(name);
            }
        }
        assert_eq!(
            std::fs::read(folder.0.join("precious")).expect("it is there"),
            b"precious"
        );
        assert!(!folder.0.join("nothing").exists());
    }

    #[test]
    fn a_device_is_written_into_and_a_folder_is_not() {
        let mut file = create("--json", Path::new("/dev/null"), false).expect("it is there");
        file.write_all(b"x").expect("it takes all");
        for (path, why) in [("/", "it is a folder"), ("/nowhere/x", "there is no folder /nowhere")] {
            let said = check("--json", Path::new(path), true).expect_err(path);
            assert_eq!(
                said,
                format!("--json is {path}, but must be a file that can be written: {why}")
            );
        }
    }
}
