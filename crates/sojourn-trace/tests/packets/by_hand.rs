//! Frames made by hand against the standards, and against tshark where it is installed.

use crate::frames::{Vector, ipv4, ipv6, sound, tcp, unsound};
use sojourn_trace::{LinkType, Reader, Skip, Skipped, Writer, segment};
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn each_frame_holds_what_the_standards_say() {
    for v in sound().into_iter().chain(unsound()) {
        let found = segment(v.link, &v.frame[..v.captured], v.frame.len() as u32);
        assert_eq!(found, v.holds, "{}", v.name);
    }
}

#[test]
fn a_cut_frame_is_the_same_segment_until_its_headers_are_cut() {
    for v in sound().into_iter().filter(|v| v.captured == v.frame.len()) {
        let Ok(whole) = v.holds else { unreachable!("{}", v.name) };
        let mut same = 0;
        for captured in 0..v.frame.len() {
            match segment(v.link, &v.frame[..captured], v.frame.len() as u32) {
                Ok(cut) => {
                    assert_eq!((cut.seq, cut.payload, cut.wire), (whole.seq, whole.payload, whole.wire));
                    same += usize::from(cut == whole);
                }
                Err(skip) => assert_eq!((skip, same), (Skip::Cut, 0), "{} at {captured}", v.name),
            }
        }
        // Whatever is cut behind the headers is not missed.
        let padding = v.frame.len() - same;
        assert!(padding <= 14 + 16 + 72 + 60, "{}: {padding}", v.name);
    }
}

#[test]
fn each_reason_is_counted_under_its_name() {
    let mut skipped = Skipped::default();
    for v in unsound() {
        skipped.count(v.holds.expect_err(v.name));
    }
    // The last four are of what the file says of a frame (tests/packets/files.rs).
    for reason in &Skip::ALL[..Skip::NoTime as usize] {
        assert!(skipped.of(*reason) > 0, "no frame is skipped for {}", reason.name());
    }
    assert_eq!(skipped.total(), unsound().len() as u64);
    assert_eq!(skipped.malformed(), 15);
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Writes the frames of one link type as a capture.
fn capture(name: &str, vectors: &[&Vector]) -> PathBuf {
    let path = scratch(name);
    let mut file =
        Writer::new(std::fs::File::create(&path).expect("a file"), vectors[0].link, 262_144).expect("a header");
    for (n, v) in vectors.iter().enumerate() {
        let at_ns = 1_700_000_000_123_456_789 + n as u64;
        file.write(at_ns, v.frame.len() as u32, &v.frame[..v.captured])
            .expect("a record");
    }
    path
}

/// Runs an outside judge; `None`, and a word why, if it is not there.
fn judge(program: &str, arguments: &[&str]) -> Option<String> {
    match Command::new(program).args(arguments).output() {
        Ok(output) if output.status.success() => Some(String::from_utf8(output.stdout).expect("text")),
        Ok(output) => panic!("{program}: {}", String::from_utf8_lossy(&output.stderr)),
        Err(e) => {
            eprintln!("skipped: {program} cannot be run here: {e}");
            None
        }
    }
}

#[test]
fn tshark_reads_the_same_fields() {
    let vectors = sound();
    let mut links: Vec<_> = vectors.iter().map(|v| v.link).collect();
    links.dedup();
    for link in links {
        let of_link: Vec<&Vector> = vectors.iter().filter(|v| v.link == link).collect();
        let path = capture(&format!("tshark-{}.pcap", link.number()), &of_link);
        let fields = [
            "ip.src",
            "ipv6.src",
            "tcp.srcport",
            "tcp.dstport",
            "tcp.seq_raw",
            "tcp.ack_raw",
            "tcp.flags.syn",
            "tcp.flags.fin",
            "tcp.flags.reset",
            "tcp.flags.push",
            "tcp.flags.ack",
            "tcp.window_size_value",
            "tcp.len",
            "tcp.options.timestamp.tsval",
            "tcp.options.timestamp.tsecr",
            "tcp.options.sack.count",
            "frame.time_epoch",
        ];
        let mut arguments = vec![
            "-n",
            "-r",
            path.to_str().expect("a path"),
            "-T",
            "fields",
            "-E",
            "separator=;",
        ];
        // Fragments are to be looked at one by one, and a length of zero is to be understood as offload.
        arguments.extend([
            "-o",
            "ip.defragment:FALSE",
            "-o",
            "ipv6.defragment:FALSE",
            "-o",
            "ip.tso_support:TRUE",
        ]);
        arguments.extend(fields.iter().flat_map(|f| ["-e", f]));
        let Some(told) = judge("tshark", &arguments) else {
            return;
        };
        let told: Vec<&str> = told.lines().collect();
        assert_eq!(told.len(), of_link.len());
        for (n, (line, v)) in told.iter().zip(&of_link).enumerate() {
            let Ok(s) = &v.holds else { unreachable!("{}", v.name) };
            let words: Vec<&str> = line.split(';').collect();
            let source = if s.src.is_ipv4() { words[0] } else { words[1] };
            assert_eq!(source, s.src.ip().to_string(), "{}", v.name);
            let flag = |b: bool| u8::from(b).to_string();
            let ours = [
                s.src.port().to_string(),
                s.dst.port().to_string(),
                s.seq.to_string(),
                s.ack.to_string(),
                flag(s.flags.syn),
                flag(s.flags.fin),
                flag(s.flags.rst),
                flag(s.flags.psh),
                flag(s.flags.ack),
                s.window.to_string(),
            ];
            let bools = |w: &str| match w {
                "True" => "1".to_owned(),
                "False" => "0".to_owned(),
                other => other.to_owned(),
            };
            let theirs: Vec<String> = words[2..12].iter().map(|w| bools(w)).collect();
            assert_eq!(theirs, ours, "{}", v.name);
            // tshark does not compute a length for a first fragment that it may not put together.
            if !words[12].is_empty() {
                assert_eq!(words[12], s.payload.to_string(), "{}", v.name);
            }
            let stamps = (words[13].parse().ok(), words[14].parse().ok());
            assert_eq!(stamps, s.timestamps.unzip(), "{}", v.name);
            assert_eq!(!words[15].is_empty(), s.sack, "{}", v.name);
            assert_eq!(words[16], format!("1700000000.{:09}", 123_456_789 + n), "{}", v.name);
        }
    }
}

#[test]
fn what_editcap_converts_is_read_the_same() {
    let vectors = sound();
    let ethernet: Vec<&Vector> = vectors.iter().filter(|v| v.link.number() == 1).collect();
    let ours = capture("editcap.pcap", &ethernet);
    let all = |path: &Path| {
        let mut reader = Reader::new(std::fs::File::open(path).expect("a file")).expect("a capture");
        let mut records = Vec::new();
        while let Some(r) = reader.next().expect("a sound file") {
            records.push((r.at_ns, r.link, r.wire, r.bytes.to_vec()));
        }
        records
    };
    let wanted = all(&ours);
    assert_eq!(wanted.len(), ethernet.len());
    for (format, unit) in [("pcapng", 1), ("nsecpcap", 1), ("pcap", 1000)] {
        let theirs = scratch(&format!("editcap.{format}"));
        let arguments = [
            "-F",
            format,
            ours.to_str().expect("a path"),
            theirs.to_str().expect("a path"),
        ];
        if judge("editcap", &arguments).is_none() {
            return;
        }
        let found = all(&theirs);
        assert_eq!(found.len(), wanted.len(), "{format}");
        for (found, wanted) in found.iter().zip(&wanted) {
            assert_eq!(found.0, wanted.0 / unit * unit, "{format}");
            assert_eq!(
                (found.1, found.2, &found.3),
                (wanted.1, wanted.2, &wanted.3),
                "{format}"
            );
        }
    }
}

/// IEEE 802.1Q: four bytes between the addresses and the type, any of three numbers; more than four of them are
/// refused.
#[test]
fn four_tags_of_a_vlan_change_nothing_and_a_fifth_is_refused() {
    let vectors = sound();
    let untagged = vectors
        .iter()
        .find(|v| v.link == LinkType::Ethernet && v.frame[12..14] == [0x08, 0x00])
        .expect("a frame without tags");
    for kind in [[0x81, 0x00], [0x88, 0xA8], [0x91, 0x00]] {
        for tags in 0..7 {
            let mut frame = untagged.frame.clone();
            for _ in 0..tags {
                frame.splice(12..12, [kind[0], kind[1], 0x20, 0x07]);
            }
            let found = segment(LinkType::Ethernet, &frame, frame.len() as u32);
            let wanted = if tags <= 4 { untagged.holds } else { Err(Skip::VlanTags) };
            assert_eq!(found, wanted, "{tags} tags of {kind:x?}");
        }
    }
}

/// What ends exactly where its header does has no room for TCP; what ends before that has a damaged header.
#[test]
fn a_packet_without_room_for_tcp_is_told_from_one_with_a_damaged_header() {
    const TCP: u8 = 6;
    const HOP_BY_HOP: u8 = 0;
    const FRAGMENT: u8 = 44;
    let found = |packet: &[u8]| segment(LinkType::Raw, packet, packet.len() as u32);
    assert_eq!(found(&ipv4(TCP, &[], 0, &[])), Err(Skip::TcpHeaderLength));
    let mut short = ipv4(TCP, &[], 0, &[]);
    short[3] -= 1;
    assert_eq!(found(&short), Err(Skip::IpHeaderLength));
    // An extension header of eight bytes, all there is.
    let extension = [TCP, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(found(&ipv6(HOP_BY_HOP, &extension)), Err(Skip::TcpHeaderLength));
    // Behind the end that the packet tells stand bytes that are none of its own: here of a later fragment.
    let mut padded = ipv6(FRAGMENT, &[TCP, 0, 0xff, 0xf8, 0, 0, 0, 0]);
    padded[5] = 4;
    assert_eq!(found(&padded), Err(Skip::ExtensionHeaders));
}

/// RFC 9293 section 3.1: what stands behind the end of the option list is padding.
#[test]
fn options_behind_the_end_of_their_list_are_not_read() {
    let stamps = [8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    let seen = |before: &[u8]| {
        let options = [before, &stamps].concat();
        let packet = ipv4(6, &[], 0, &tcp(0x10, &options, 0));
        let found = segment(LinkType::Raw, &packet, packet.len() as u32).expect("a sound segment");
        found.timestamps
    };
    assert_eq!(seen(&[1, 1]), Some((1, 2)));
    assert_eq!(seen(&[0, 2]), None);
}
