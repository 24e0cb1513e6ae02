//! Gives the build a name: a hash of every source file that the record of a run is a function of. Lines of comments
//! are left out, so that a better description keeps the runs that are stored.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The crates whose code a record depends on; how it is carried to Python is no part of it.
const CRATES: [&str; 7] = [
    "sojourn-units",
    "sojourn-qdisc",
    "sojourn-tcp",
    "sojourn-wifi",
    "sojourn-flusher",
    "sojourn-bed",
    "sojourn-sim",
];

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is"));
    let crates = here.parent().expect("a crate lies in a folder of crates");
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for name in CRATES {
        let source = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", source.display());
        add(&source, name, &mut hash)?;
    }
    println!("cargo::rustc-env=SOJOURN_BUILD={:016x}", hash.0);
    Ok(())
}

/// Adds every file below `folder`, in the order of their names.
fn add(folder: &Path, name: &str, hash: &mut Fnv) -> io::Result<()> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<io::Result<_>>()?;
    entries.sort();
    for path in entries {
        let name = format!("{name}/{}", path.file_name().unwrap_or_default().to_string_lossy());
        if path.is_dir() {
            add(&path, &name, hash)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            hash.add(name.as_bytes());
            hash.add(&without_comments(&fs::read(&path)?));
        }
    }
    Ok(())
}

/// Returns the lines that are not wholly a comment.
fn without_comments(source: &[u8]) -> Vec<u8> {
    let code = |line: &&[u8]| !line.trim_ascii_start().starts_with(b"//");
    source
        .split_inclusive(|&byte| byte == b'\n')
        .filter(code)
        .collect::<Vec<_>>()
        .concat()
}

/// FNV-1a, 64 bits.
struct Fnv(u64);

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes.iter().chain(&[0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
