//! TCP from outside, as one program: what each file tests stands at its head.

mod ect1;
mod net;
mod properties;
mod replay;
mod scripts;
mod small_queue;
