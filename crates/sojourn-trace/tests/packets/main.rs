//! Captures and packets, from files to segments.

mod by_hand;
mod files;
mod frames;
mod hostile;
mod pairs;
mod synthetic;
