//! The daemons on real packets.

use clap::{Parser, Subcommand};
use sojourn_live::bottleneck::command as bottleneck;
use std::process::ExitCode;

/// Sojourn on real packets.
#[derive(Parser, Debug)]
#[command(name = "sojournd", version)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Bottleneck(bottleneck::Arguments),
}

fn main() -> ExitCode {
    let done = match Program::parse().command {
        Command::Bottleneck(arguments) => bottleneck::run(&arguments),
    };
    match done {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            eprintln!("sojournd: {}", failure.sentence);
            ExitCode::from(failure.status)
        }
    }
}
