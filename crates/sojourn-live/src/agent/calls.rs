//! A discipline of the kernel, call by call: packets are offered at given times, and each departure is noted.
//!
//! The device is a `dummy`: it takes every frame at once, so whatever holds packets back is the discipline or a shaper
//! above it. Packets are sent on a raw IPv4 socket with headers of the plan. A second socket of packets sees what
//! leaves the device, which is after the discipline. It knows a packet by the identification of its IP header.
//!
//! Reading the clock of a kernel in virtual time costs time, so it is read once for all packets of one instant, just
//! before they are sent: the time that it told is the time at which the discipline gets them. The socket's priority
//! names a queue or a class of the discipline, so no hash of the kernel's is involved where the plan says so.

use crate::agent::AgentError;
use crate::agent::actor::{Doing, signed};
use crate::agent::kernel::netlink::{DELETE_QDISC, Netlink, ROOT, message, tc_message};
use crate::agent::kernel::packets::filter::RETURN;
use crate::agent::kernel::packets::{self, BATCH, OUTGOING};
use crate::agent::observers::qdisc;
use crate::agent::plan::build::Sockets;
use crate::agent::plan::job::{CallsJob, Sequence};
use crate::agent::plan::step::Step;
use crate::agent::run::{kernel, load_modules, write};
use crate::timer::{SECOND, Timer, now, real_ahead};
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{setsockopt, sockopt};
use rustix::net::sockopt::set_socket_send_buffer_size_force;
use rustix::time::{ClockId, TimerfdFlags};
use serde::Serialize;
use socket2::{Domain, Protocol, SockAddr, SockFilter, Socket, Type};
use sojourn_bed::{Kernel, QdiscSample};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;

/// Format name of what is written.
const CALLED_FORMAT: &str = "sojourn-called/1";
/// The one host.
const HOST: &str = "queue";
/// From a device that is set up to packets: the kernel looks at new links at most once a second.
const LINK_COMES_UP: Duration = Duration::from_millis(1500);
/// From a discipline that is set up to the time 0 of its sequence.
const LEAD_NS: i64 = 1_000_000;
/// Bytes of packets that may be in the discipline.
const SEND_BUFFER: usize = 256 << 20;
/// `IPPROTO_RAW`: the header of the packet is the sender's.
const OWN_HEADER: i32 = 255;
/// Ethernet's header, of which no packet of the plan has one, and what is read of a frame: IPv4's header as well.
const ETHERNET: usize = 14;
const SNAP: usize = ETHERNET + 20;

/// What was seen.
#[derive(Debug, Serialize)]
struct Called {
    format: &'static str,
    kernel: Kernel,
    sequences: Vec<PlayedSequence>,
}

/// What was seen of a sequence. Times are those of the monotonic clock, as disciplines read it.
#[derive(Debug, Serialize)]
struct PlayedSequence {
    /// When the packets of each instant were offered.
    offered_ns: Vec<i64>,
    /// What left: when, its identification, its type of service.
    left: Vec<(i64, u16, u8)>,
    /// The kind of the discipline, its counters, and those of its kind alone, all at the end.
    kind: String,
    counters: QdiscSample,
    extra: BTreeMap<String, f64>,
}

/// Does what the job says, and writes `measured.json` to `directory`.
pub(super) fn run(job: &CallsJob, directory: &Path) -> Result<(), AgentError> {
    load_modules(&job.modules)?;
    unshare(CloneFlags::CLONE_NEWNET).doing(|| "cannot make a network namespace".into())?;
    let mut bench = Bench::new(job)?;
    let sequences: Result<_, _> = job.sequences.iter().map(|one| bench.play(one)).collect();
    let called = Called {
        format: CALLED_FORMAT,
        kernel: kernel(),
        sequences: sequences?,
    };
    let text = serde_json::to_vec(&called).doing(|| "cannot write measured.json".into())?;
    write(directory, "measured.json", &text)
}

/// A device, and what is needed to play sequences on it.
struct Bench {
    requests: Sockets,
    route: Netlink,
    sender: Socket,
    observer: Socket,
    timer: Timer,
    device: u32,
    name: String,
    /// Real-time clock less monotonic clock.
    real: i64,
    buffer: Vec<u8>,
}

impl Bench {
    fn new(job: &CallsJob) -> Result<Self, AgentError> {
        let mut requests = Sockets::default();
        carry_out(&mut requests, &job.setup)?;
        std::thread::sleep(LINK_COMES_UP);
        let sender = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::from(OWN_HEADER)))
            .doing(|| "cannot open a raw socket".into())?;
        if set_socket_send_buffer_size_force(&sender, SEND_BUFFER).is_err() {
            sender
                .set_send_buffer_size(SEND_BUFFER)
                .doing(|| "cannot enlarge the send buffer".into())?;
        }
        let observer = packets::socket(HOST)?;
        let device = packets::interface(&observer, &job.device, HOST)?;
        // Returns all of each frame.
        packets::watch(&observer, &[SockFilter::new(RETURN, 0, 0, u32::MAX)], HOST)?;
        let timer = Timer::new(TimerfdFlags::empty());
        let (real, _) = real_ahead();
        Ok(Self {
            requests,
            route: Netlink::route().doing(|| "cannot open a netlink socket".into())?,
            sender,
            observer,
            timer: timer.doing(|| "cannot make a timer".into())?,
            device,
            name: job.device.clone(),
            real,
            buffer: vec![0; BATCH * SNAP],
        })
    }

    /// Sets a discipline up, offers it the packets, and takes it away.
    fn play(&mut self, sequence: &Sequence) -> Result<PlayedSequence, AgentError> {
        carry_out(&mut self.requests, &sequence.setup)?;
        let begin = now(ClockId::Monotonic) + LEAD_NS;
        let mut offered_ns = Vec::with_capacity(sequence.offers.len());
        let mut priority = None;
        for offer in &sequence.offers {
            self.sleep_until(begin + signed(offer.at_ns))?;
            offered_ns.push(now(ClockId::Monotonic));
            for packet in &offer.packets {
                if priority != Some(packet.priority) {
                    setsockopt(&self.sender, sockopt::Priority, &packet.priority.cast_signed())
                        .doing(|| format!("cannot set the priority {} of a packet", packet.priority))?;
                    priority = Some(packet.priority);
                }
                self.send(packet.bytes())?;
            }
        }
        self.sleep_until(begin + signed(sequence.end_ns))?;
        let place = format!("{} for calls", self.name);
        let (kind, counters, extra) = qdisc::counters(
            &mut self.route,
            self.device,
            sequence.handle,
            &place,
            now(ClockId::Monotonic) - begin,
        )?;
        self.take_away()?;
        Ok(PlayedSequence {
            offered_ns,
            left: self.left()?,
            kind,
            counters,
            extra,
        })
    }

    /// Sends a packet. That the discipline refused it is no error: it does not leave, which is seen.
    fn send(&self, packet: &[u8]) -> Result<(), AgentError> {
        let octets: [u8; 4] = packet[16..20].try_into().expect("a packet that is shorter is refused");
        let to = SockAddr::from(SocketAddrV4::new(Ipv4Addr::from(octets), 0));
        match self.sender.send_to(packet, &to) {
            Err(e) if e.raw_os_error() != Some(rustix::io::Errno::NOBUFS.raw_os_error()) => {
                Err(e).doing(|| format!("cannot send a packet to {}", Ipv4Addr::from(octets)))
            }
            _ => Ok(()),
        }
    }

    /// What has left since this was asked last.
    fn left(&mut self) -> Result<Vec<(i64, u16, u8)>, AgentError> {
        let (device, real, mut left) = (self.device as usize, self.real, Vec::new());
        packets::read(self.observer.as_raw_fd(), &mut self.buffer, SNAP, HOST, |frame| {
            let ours = frame
                .address
                .is_some_and(|a| a.ifindex() == device && a.pkttype() == OUTGOING);
            let header = frame.bytes.get(ETHERNET..SNAP).filter(|_| ours);
            if let Some(header) = header {
                let (seconds, nanoseconds) = frame.stamp(HOST)?;
                let id = u16::from_be_bytes([header[4], header[5]]);
                left.push((seconds * SECOND + nanoseconds - real, id, header[1]));
            }
            Ok(())
        })?;
        Ok(left)
    }

    fn take_away(&mut self) -> Result<(), AgentError> {
        let name = &self.name;
        let body = tc_message(self.device, 0, ROOT);
        let answers = self.route.request(message(DELETE_QDISC, 0, 0, &body));
        answers
            .doing(|| format!("cannot take the discipline of {name} away"))
            .map(drop)
    }

    /// Waits for a time of the monotonic clock.
    fn sleep_until(&self, at_ns: i64) -> Result<(), AgentError> {
        let what = || "cannot wait for the time of a packet".to_owned();
        self.timer.set(Some(at_ns)).doing(what)?;
        let mut count = [0; 8];
        rustix::io::read(&self.timer, &mut count).doing(what).map(drop)
    }
}

fn carry_out(requests: &mut Sockets, steps: &[Step]) -> Result<(), AgentError> {
    for step in steps {
        requests.carry_out(step).map_err(|e| step.failed(&e))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::agent::plan::job::Task;

    fn job(times: [u64; 3]) -> String {
        let [first, second, end] = times;
        let packet = format!("[0, 40, {:?}]", "45".repeat(20));
        format!(
            r#"{{"format": "sojourn-calls/1", "modules": [], "setup": [], "device": "d0", "sequences": [{{
                "setup": [], "handle": 1048576, "end_ns": {end}, "offers": [
                    {{"at_ns": {first}, "packets": [{packet}]}}, {{"at_ns": {second}, "packets": [{packet}]}}]}}]}}"#
        )
    }

    #[test]
    fn times_of_a_sequence_must_not_go_back() {
        let Ok(Task::Calls(calls)) = Task::from_json(&job([5, 5, 9])) else {
            panic!("refused")
        };
        assert_eq!(calls.sequences[0].offers[1].packets[0].bytes().len(), 40);
        for times in [[5, 4, 9], [5, 5, 4], [5, 5, u64::MAX]] {
            let error = Task::from_json(&job(times)).expect_err("taken").to_string();
            assert!(error.starts_with("times of sequence 0 must not go back"), "{error}");
        }
    }
}
