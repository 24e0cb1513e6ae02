//! Traffic beside bulk TCP flows: voice, web pages, files one after the other, and thin streams.

mod connection;
pub mod download;
pub mod flood;
pub(crate) mod thin;
pub(crate) mod voice_trace;
pub mod voip;
pub mod web;
