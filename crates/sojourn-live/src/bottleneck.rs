//! A bottleneck in user space: two network namespaces, and between them a shaper, a discipline of ours, a delay and
//! random loss for each direction, on the packets of real hosts.
//!
//! | module     | what it does                                                                              |
//! |------------|-------------------------------------------------------------------------------------------|
//! | `frame`    | a packet: its size, its flow, its ECN field                                               |
//! | `settings` | how a direction is set, and changes of it as text                                         |
//! | `way`      | one direction, told the time                                                              |
//! | `lateness` | how late packets leave                                                                    |
//! | `floor`    | how late the machine wakes a thread that only sleeps                                      |
//! | `stats`    | what `tc -s qdisc` would print                                                            |
//! | `links`    | what a device is told                                                                     |
//! | `ends`     | the hosts                                                                                 |
//! | `engine`   | the thread with the devices and the clock                                                 |
//! | `control`  | the socket by which it is changed while it runs                                           |
//! | `programs` | the commands that run in the hosts                                                        |
//! | `command`  | `sojournd bottleneck`                                                                     |
//! | `failure`  | why a command ended early                                                                 |

pub mod command;
pub mod control;
pub mod ends;
pub mod engine;
pub mod failure;
pub mod floor;
pub mod frame;
pub mod lateness;
pub mod links;
pub mod programs;
pub mod settings;
pub mod stats;
pub mod way;

/// Place of the direction from client to server in an array of both.
pub const UP: usize = 0;
/// Place of the direction from server to client.
pub const DOWN: usize = 1;
