//! Reads scripts.
fn main() { for f in std::env::args().skip(1) { match sojourn_drill::parse(&std::fs::read_to_string(&f).unwrap()) { Ok(_) => {}, Err(e) => println!("{f}: {e}") } } }
