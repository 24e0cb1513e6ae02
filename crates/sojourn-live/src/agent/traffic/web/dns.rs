//! Look-ups of a name (RFC 1035 section 4): the messages, and a resolver.
//!
//! A query has 32 bytes and its answer 48, 74 and 90 on the wire, as in the simulator.

use super::wire::{Arrived, bind_server, udp_socket};
use crate::agent::actor::Doing;
use crate::agent::traffic::mark::mark;
use crate::agent::{AgentError, World};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketAddrAny, recvfrom, sendto};
use sojourn_bed::WebPlan;
use std::net::{Ipv4Addr, SocketAddrV4};

/// Time after which a query is repeated, nanoseconds. Source: resolv.conf(5), `timeout`.
pub(super) const TIMEOUT_NS: i64 = 5_000_000_000;

/// Bytes of a query, and of an answer.
pub(super) const QUERY: usize = 32;
pub(super) const ANSWER: usize = 48;

/// `w3.example.com`, a name of 14 letters from a domain for documentation (RFC 2606), of type A and class IN.
const QUESTION: [u8; 20] = *b"\x02w3\x07example\x03com\x00\x00\x01\x00\x01";
/// A standard query that desires recursion, with one question.
const ASKS: [u8; 10] = [0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0];
/// An answer without error, recursion available, with one question and one record.
const ANSWERS: [u8; 10] = [0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0];
/// The record before the address: the name at offset 12 (section 4.1.4), A, IN, 300 s, four bytes.
const RECORD: [u8; 12] = [0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4];
/// Most queries that a resolver reads at a time.
const BATCH: usize = 64;

/// The query of this number.
pub(super) fn query(number: u16) -> [u8; QUERY] {
    let mut bytes = [0; QUERY];
    bytes[..2].copy_from_slice(&number.to_be_bytes());
    bytes[2..12].copy_from_slice(&ASKS);
    bytes[12..].copy_from_slice(&QUESTION);
    bytes
}

/// The answer to what may be a query.
fn answer(bytes: &[u8], address: Ipv4Addr) -> Option<[u8; ANSWER]> {
    let (number, rest) = bytes.split_first_chunk::<2>()?;
    let (asks, question) = rest.split_first_chunk::<10>()?;
    if *asks != ASKS || *question != QUESTION {
        return None;
    }
    let mut out = [0; ANSWER];
    out[..2].copy_from_slice(number);
    out[2..12].copy_from_slice(&ANSWERS);
    out[12..32].copy_from_slice(&QUESTION);
    out[32..44].copy_from_slice(&RECORD);
    out[44..].copy_from_slice(&address.octets());
    Some(out)
}

/// The address in what may be the answer to query `number`.
pub(super) fn address(bytes: &[u8], number: u16) -> Option<Ipv4Addr> {
    let (before, octets) = bytes.split_last_chunk::<4>()?;
    let found = Ipv4Addr::from(*octets);
    (answer(&query(number), found)?[..ANSWER - 4] == *before).then_some(found)
}

/// A resolver. It keeps no state and answers at once.
#[derive(Debug)]
pub(super) struct Resolver {
    socket: OwnedFd,
    /// What its name stands for.
    address: Ipv4Addr,
}

impl Resolver {
    /// Opens it at `at`, in the namespace that the thread is in.
    pub(super) fn open(plan: &WebPlan, at: SocketAddrV4, key: u32, world: &mut dyn World) -> Result<Self, AgentError> {
        let what = || format!("opening a resolver at {at}");
        let socket = udp_socket().doing(what)?;
        bind_server(socket.as_fd(), at).doing(what)?;
        mark(&socket, plan.access, &plan.name)?;
        world.register(key, socket.as_fd(), false)?;
        Ok(Self {
            socket,
            address: *at.ip(),
        })
    }

    /// Queries have arrived. What is no query of ours is dropped.
    pub(super) fn ready(&self) {
        for _ in 0..BATCH {
            // One byte more than a query has, so that a longer datagram is told.
            let mut bytes = [0; QUERY + 1];
            match recvfrom(&self.socket, &mut bytes, RecvFlags::empty()) {
                Ok((count, _, from)) => self.reply(&bytes[..count], from),
                Err(Errno::AGAIN) => return,
                // That of a datagram sent before, which the kernel reports here; taking it clears it.
                Err(_) => {}
            }
        }
    }

    fn reply(&self, bytes: &[u8], from: Option<SocketAddrAny>) {
        if let Some(answer) = answer(bytes, self.address)
            && let Some(Ok(from)) = from.map(SocketAddrV4::try_from)
        {
            // An answer that the kernel does not take is lost, as one on the path would be; the query will be repeated.
            let _ = sendto(&self.socket, &answer, SendFlags::empty(), &from);
        }
    }

    /// Nothing is answered from now on.
    pub(super) fn deregister(&self, key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        world.deregister(key, self.socket.as_fd())
    }
}

/// Reads a datagram.
pub(super) fn read(socket: &OwnedFd, buffer: &mut [u8; ANSWER + 1]) -> Arrived {
    match recvfrom(socket, buffer, RecvFlags::empty()) {
        Ok((count, _, _)) => Arrived::Bytes(count),
        Err(Errno::AGAIN) => Arrived::Nothing,
        // See Resolver::ready: the query is repeated when it is time to.
        Err(_) => Arrived::Bytes(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOST: Ipv4Addr = Ipv4Addr::new(10, 0, 4, 11);

    /// Bytes as RFC 1035 section 4.1 lays them out, by hand.
    #[test]
    fn a_query_is_one_question_for_an_address() {
        let bytes = query(0x1234);
        assert_eq!(bytes[..4], [0x12, 0x34, 0x01, 0x00]);
        assert_eq!(bytes[4..12], [0, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[12..], *b"\x02w3\x07example\x03com\x00\x00\x01\x00\x01");
        // Ethernet, IPv4 and UDP headers have 42 bytes.
        assert_eq!((QUERY + 42, ANSWER + 42), (74, 90));
    }

    #[test]
    fn an_answer_holds_the_address_and_fits_its_query_only() {
        let bytes = answer(&query(7), HOST).unwrap();
        assert_eq!(address(&bytes, 7), Some(HOST));
        assert_eq!(address(&bytes, 8), None);
        assert_eq!(address(&bytes[..47], 7), None);
        assert_eq!(answer(&bytes, HOST), None);
        for place in 2..ANSWER - 4 {
            let mut wrong = bytes;
            wrong[place] ^= 1;
            assert_eq!(address(&wrong, 7), None, "byte {place}");
        }
    }

    proptest! {
        #[test]
        fn only_queries_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..64), number: u16) {
            prop_assert_eq!(answer(&bytes, HOST), None);
            prop_assert_eq!(address(&bytes, number), None);
            let mut longer = query(number).to_vec();
            longer.extend_from_slice(&bytes);
            prop_assert_eq!(answer(&longer, HOST).is_some(), bytes.is_empty());
        }
    }
}
