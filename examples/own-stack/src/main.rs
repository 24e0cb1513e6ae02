//! A transport of your own as a flow of Sojourn's scenarios.
//!
//! ```sh
//! cargo build --release --manifest-path examples/own-stack/Cargo.toml
//! sojourn run bulk --stack own --stacks examples/own-stack/target/release/own-stack --qdisc fq_codel
//! ```
//!
//! It numbers datagrams, has each acknowledged, and halves its window if one is overtaken by three.

mod end;

use sojourn_sim::Stack;
use std::process::ExitCode;

fn main() -> ExitCode {
    sojourn_stack::program(&[Stack {
        name: "own".to_owned(),
        version: format!("own {}", env!("CARGO_PKG_VERSION")),
        controls: vec![],
        open: Box::new(|_| Ok((Box::new(end::End::default()), Box::new(end::End::default())))),
    }])
}
