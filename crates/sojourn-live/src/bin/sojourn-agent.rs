//! The agent of a bed: `sojourn-agent run DIR`, or the first process of a guest.

use sojourn_live::agent::{guest, host, programs};
use sojourn_live::supervise::{Charge, keep, supervise};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

const HELP: &str = "\
Builds a bed of network namespaces, carries traffic over it, and writes what was seen.

Usage: sojourn-agent run DIR
       sojourn-agent supervise --master PID --seconds S --folder DIR -- COMMAND [ARGUMENT]...

DIR holds job.json; measured.json and packets.bin (or check.json), or else error.txt, are written there.
Without root's rights it makes a user namespace. As the first process of a guest kernel it takes no arguments:
the directory is that in which the guest was started.

supervise runs COMMAND for at most S seconds, and ends all its processes then, or when the process PID, which must be
its parent, is gone or sends a signal; in the last two cases it removes DIR. Its exit status is COMMAND's, or 3 when it
took too long, 4 when it was stopped.

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
        [
            Some(verb @ ("supervise" | "keep")),
            Some("--master"),
            Some(master),
            Some("--seconds"),
            Some(seconds),
            Some("--folder"),
            _,
            Some("--"),
            ..,
        ] => watch_over(verb == "keep", [master, seconds], &arguments[6], &arguments[8..]),
        [Some("program"), ..] if std::process::id() != 1 => programs::become_program(&arguments[1..]),
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

/// `supervise`, and `keep`, by which it starts itself again (`sojourn_live::supervise` says why).
fn watch_over(again: bool, [master, seconds]: [&str; 2], folder: &OsString, command: &[OsString]) -> ExitCode {
    let bound = seconds.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    let (Ok(master), Some(bound)) = (master.parse(), bound) else {
        eprintln!("sojourn-agent: --master is {master} and --seconds is {seconds}, but both must be numbers");
        return ExitCode::from(2);
    };
    let charge = Charge {
        master,
        bound,
        folder: folder.into(),
        command: command.to_vec(),
    };
    let status = if again {
        keep(&charge).map(sojourn_live::supervise::Ending::status)
    } else {
        supervise(&charge)
    };
    status.map_or_else(
        |e| {
            let program = command.first().map(|c| c.to_string_lossy().into_owned());
            eprintln!("sojourn-agent: cannot run {}: {e}", program.unwrap_or_default());
            ExitCode::FAILURE
        },
        ExitCode::from,
    )
}
