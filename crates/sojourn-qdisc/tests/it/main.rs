//! The disciplines from outside, as one program: what each file tests stands at its head.

mod classes;
mod habits;
mod messages;
mod properties;
mod tc;
mod vectors;
