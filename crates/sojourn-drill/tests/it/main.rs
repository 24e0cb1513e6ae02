//! The scripts from outside, as one program: what each file tests stands at its head.

mod kernel;
mod own;
mod sentences;
