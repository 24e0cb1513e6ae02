//! Traffic beside bulk TCP flows: voice, and web pages.

mod connection;
pub(crate) mod voice_trace;
pub mod voip;
pub mod web;
