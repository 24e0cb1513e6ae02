//! Scripted transfers, against the RFCs that each test names.

mod accecn;
mod ack;
mod close;
mod duplicates;
mod ecn;
mod handshake;
mod linux_3_14;
mod loss;
mod odd;
mod spurious;
mod timeout;
mod window;
