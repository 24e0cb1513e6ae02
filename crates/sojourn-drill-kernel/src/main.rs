//! Runs a packetdrill script against the kernel of the guest whose first process this is, or against Sojourn's own TCP.
//!
//! In a guest, the script is `script.pkt` of the folder in which the guest was started, and the outcome goes to
//! `outcome.json` there. A script drives the kernel by sockets and by a TUN device, whose other side this program
//! holds. It needs no shell: what the commands of scripts do is done here (`commands.rs`).

mod answers;
mod calls;
mod commands;
mod constants;
mod device;
mod guest;
mod info;
mod numbers;
mod options;
mod output;
mod report;
mod target;
mod wire;
mod worker;

use std::io::Read;
use std::process::ExitCode;

const HELP: &str = "\
Runs a packetdrill script, and prints its outcome as one line of JSON.

Usage: sojourn-drill ours < SCRIPT

ours runs it against Sojourn's own TCP. As the first process of a guest kernel it takes no arguments: it runs script.pkt
of the directory in which the guest was started against the guest's kernel, and writes outcome.json there.

Options:
  --help     This text
  --version  The version
";
/// The longest script that is read, bytes; the parser says so if there are more.
const LONGEST: u64 = (1 << 20) + 1;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--help" | "-h"] => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        ["--version" | "-V"] => {
            println!("sojourn-drill {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        ["ours"] => {
            let mut text = String::new();
            if let Err(error) = std::io::stdin().take(LONGEST).read_to_string(&mut text) {
                eprintln!("sojourn-drill: the script cannot be read: {error}");
                return ExitCode::from(2);
            }
            print!("{}", report::Report::of(&text, sojourn_drill::run).as_json());
            ExitCode::SUCCESS
        }
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
