//! The programs from outside, as one program: what each file tests stands at its head.

mod agent;
mod bed;
mod flush_forged;
mod flush_live;
mod flush_read;
mod flush_rights;
mod supervise;
