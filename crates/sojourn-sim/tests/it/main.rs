//! The simulator from outside, as one program: what each file tests stands at its head.

mod agents;
mod analytic;
mod any_scenario;
mod bbr;
mod bbr2;
mod bbr3;
mod bed;
mod cake;
mod common;
mod dctcp;
mod determinism;
mod downloads;
mod features;
mod flusher;
mod games;
mod identity;
mod ledbat;
mod prague;
mod queues;
mod scenario;
mod service_interval;
mod stacks;
mod trace;
mod traffic;
mod vegas;
mod wifi;
