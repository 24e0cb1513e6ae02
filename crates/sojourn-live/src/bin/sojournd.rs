//! The daemons: one subcommand each.

use clap::{Parser, Subcommand};
use sojourn_live::{bottleneck, flush};
use std::process::ExitCode;

/// Sojourn on real packets
#[derive(Parser)]
#[command(name = "sojournd", version)]
struct Sojournd {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Join two hosts of network namespaces by a bottleneck in user space, and run a command there
    Bottleneck(Box<bottleneck::command::Arguments>),
    /// Watch TCP for standing queues, and overflow them with short bursts (by default it only watches)
    Flush(Box<flush::cli::Arguments>),
}

fn main() -> ExitCode {
    match Sojournd::parse().command {
        Command::Bottleneck(arguments) => bottleneck::command::run(&arguments),
        Command::Flush(arguments) => flush::cli::run(&arguments),
    }
}
