//! The agent of a bed.

fn main() {}
