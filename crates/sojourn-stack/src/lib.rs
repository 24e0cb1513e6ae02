//! A program of your own transport, which runs Sojourn's scenarios.
//!
//! A transport is a [`Stack`]: its name, and a function that opens a connection as two
//! [`Agent`](sojourn_sim::Agent)s. [`program`] makes a `main` of it:
//!
//! - `PROGRAM list` prints its stacks.
//! - `PROGRAM run` runs a scenario from standard input in the simulator. `sojourn run --stack NAME --stacks PROGRAM` does
//!   that.
//! - `PROGRAM send` and `PROGRAM receive` are the two ends of a connection over a UDP socket, on this machine or in a
//!   guest.
//!
//! `examples/own-stack` is a whole one.

mod live;
mod run;

use clap::{Parser, Subcommand};
use serde_json::json;
use sojourn_sim::Stack;
use sojourn_units::{Rate, parse_rate};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;

/// What the answer of `list` is, and the first line of what `run` prints for a store.
pub const FORMAT: &str = "sojourn-stacks/1";

/// Runs scenarios whose flows use the transports of this program.
#[derive(Debug, Parser)]
struct Words {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the stacks, their versions and controls, as JSON.
    List,
    /// Run a scenario (JSON on standard input) in the simulator and print its record (JSON).
    Run {
        /// Print what a store keeps of the run of this name instead.
        #[arg(long, requires = "build")]
        id: Option<String>,
        /// The build of Sojourn that asks for it.
        #[arg(long, requires = "id")]
        build: Option<String>,
    },
    /// Open a connection over UDP, send as much as it takes, and print what became of it (JSON).
    Send {
        /// The stack.
        stack: String,
        /// Where the other end receives, such as 192.0.2.1:4433.
        to: SocketAddr,
        /// For how long, s.
        #[arg(long, default_value_t = 10.0)]
        seconds: f64,
        /// Its congestion control (default: its own).
        #[arg(long)]
        cc: Option<String>,
        /// The application makes no more than this, such as 2mbit (default: as much as can be sent).
        #[arg(long, value_parser = parse_rate)]
        rate: Option<Rate>,
        /// Whatever is random in it comes from this.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Wait for a connection over UDP, read it, and print what arrived (JSON).
    Receive {
        /// The stack.
        stack: String,
        /// The port.
        #[arg(long, default_value_t = 4433)]
        port: u16,
        /// The address.
        #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
        address: IpAddr,
        /// For how long, s.
        #[arg(long, default_value_t = 10.0)]
        seconds: f64,
        /// As of `send`.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
}

/// The `main` of a program with these stacks: what it prints, and its exit status, which is 2 after a sentence of refusal.
#[must_use]
pub fn program(stacks: &[Stack]) -> ExitCode {
    // An agent that panics has failed, and the record says so.
    std::panic::set_hook(Box::new(|_| ()));
    let answer = match Words::parse().command {
        Command::List => run::print(list(stacks).as_bytes()),
        Command::Run { id, build } => run::answer(stacks, id.zip(build)),
        Command::Send {
            stack,
            to,
            seconds,
            cc,
            rate,
            seed,
        } => live::send(
            stacks,
            &stack,
            to,
            &live::Means {
                seconds,
                cc,
                rate,
                seed,
            },
        ),
        Command::Receive {
            stack,
            port,
            address,
            seconds,
            seed,
        } => {
            let means = live::Means {
                seconds,
                cc: None,
                rate: None,
                seed,
            };
            live::receive(stacks, &stack, SocketAddr::new(address, port), &means)
        }
    };
    match answer {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::from(2)
        }
    }
}

/// The stacks, as JSON.
fn list(stacks: &[Stack]) -> String {
    let one = |stack: &Stack| {
        let controls: Vec<&str> = stack.controls.iter().map(|control| control.name()).collect();
        json!({"name": stack.name, "version": stack.version, "controls": controls})
    };
    let all: Vec<_> = stacks.iter().map(one).collect();
    format!(
        "{}\n",
        json!({"format": FORMAT, "code_version": env!("CARGO_PKG_VERSION"), "stacks": all})
    )
}
