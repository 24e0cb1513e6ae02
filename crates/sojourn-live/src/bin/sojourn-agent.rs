//! The agent of a bed: `sojourn-agent run DIR`, or the first process of a guest.

use sojourn_live::agent::{guest, host};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

const HELP: &str = "\
Builds a bed of network namespaces, carries traffic over it, and writes what was seen.

Usage: sojourn-agent run DIR

DIR holds job.json; measured.json and packets.bin (or check.json), or else error.txt, are written there.
Without root's rights it makes a user namespace. As the first process of a guest kernel it takes no arguments:
the directory is that in which the guest was started.

Options:
  --help     This text
  --version  The version
";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(|a| a.to_str()).collect();
    match words[..] {
        [Some("--help" | "-h")] => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        [Some("--version" | "-V")] => {
            println!("sojourn-agent {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        [Some("run"), _] => match host::run(Path::new(&arguments[1])) {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => {
                eprintln!("sojourn-agent: {e}");
                ExitCode::FAILURE
            }
        },
        _ if std::process::id() == 1 => {
            guest::first_process();
            ExitCode::FAILURE
        }
        _ => {
            eprint!("{HELP}");
            ExitCode::from(2)
        }
    }
}
