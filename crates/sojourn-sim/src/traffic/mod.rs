//! Traffic beside bulk TCP flows: voice, and web pages.

mod connection;
pub mod voip;
pub mod web;
