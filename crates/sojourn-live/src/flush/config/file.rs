//! The configuration's file: a regular one, of text, and not too long.

use rustix::fs::{Mode, OFlags, open};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The longest configuration, bytes: room for some 50,000 prefixes.
pub(super) const LONGEST: u64 = 1 << 20;

/// The text of a file, or a sentence without the file's name that says what is wrong with it.
pub(super) fn text(path: &Path) -> Result<String, String> {
    let cannot = |e: io::Error| format!("it cannot be read: {e}");
    // Opening a pipe would wait for who writes into it.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty()).map_err(|e| cannot(e.into()))?);
    if !file.metadata().map_err(cannot)?.is_file() {
        return Err("it must be a regular file".into());
    }
    let mut bytes = Vec::new();
    // A file may grow while it is read.
    (&file).take(LONGEST + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > LONGEST {
        return Err(format!(
            "it has more than {LONGEST} bytes, but must have at most {LONGEST}"
        ));
    }
    String::from_utf8(bytes).map_err(|e| format!("byte {} is not UTF-8 text", e.utf8_error().valid_up_to() + 1))
}
