//! Texts that people use with `tc`, each with what `tc` and the kernel make of it.
//!
//! Asked were iproute2 6.1 and 7.1 on Linux 6.1 and 7.3, and their sources; `tests/test_tc.py` asks them again, with
//! thousands of drawn lines.

use sojourn_qdisc::{Packet, Qdisc, QdiscSpec, packet_without};
use sojourn_units::{Bytes, Time};

/// The text, and what its canonical text has in it.
const TAKEN: &[(&str, &str)] = &[
    // Sizes: a kbit has 1024 bits. Parts of a byte are cut, and a cell behind a slash says nothing.
    (
        "tbf rate 1mbit burst 12kbit latency 1s",
        "tbf rate 1mbit burst 1536 limit 126536",
    ),
    ("bfifo limit 300kbit", "bfifo limit 38400"),
    ("bfifo limit 1mbit", "bfifo limit 131072"),
    ("fq_codel memory_limit 8mbit", "memory_limit 1Mb"),
    ("cake bandwidth 5mbit memlimit 8mbit", "memlimit 1048576"),
    ("tbf rate 1mbit burst 1.6kb limit 9000", "burst 1638 "),
    ("tbf rate 1mbit burst 2k/16 limit 9000", "burst 2048 "),
    ("pfifo limit 1k", "pfifo limit 1024"),
    ("netem limit 2k delay 1ms", "netem limit 2048 delay 1ms"),
    // Percentages need no sign.
    ("dualpi2 classic_protection 1", "classic_protection 1%"),
    ("dualpi2 classic_protection 33%", "classic_protection 33%"),
    // Times without a unit are nanoseconds for these words, and microseconds for all others.
    ("netem delay 2000000", "delay 2ms"),
    ("fq timer_slack 3000", "timer_slack 3us"),
    ("codel target 7000", "target 7ms"),
    ("codel target 1.001ms", "target 1ms"),
    // The last word counts, and `raw` takes back what stands before it.
    ("cake overhead 30 atm raw", "cake raw"),
    ("cake raw overhead 30", "cake raw overhead 30"),
    ("cake diffserv4 besteffort", "cake besteffort"),
    ("cake oceanic rtt 50ms", "cake rtt 50ms"),
    ("cake interplanetary", "cake rtt 1000s"),
    ("cake docsis overhead 12", "overhead 12 mpu 64 noatm"),
    ("cake overhead 12 docsis", "overhead 30 mpu 64 noatm"),
    ("cake flows dual-srchost", "cake dual-srchost"),
    ("cake unlimited bandwidth 5mbit", "cake bandwidth 5mbit"),
    ("cake autorate-ingress bandwidth 5mbit", "cake bandwidth 5mbit"),
    ("codel limit 5 limit 6", "codel limit 6 "),
    ("codel ecn noecn", " noecn"),
    // 0 says the same as nothing.
    ("codel target 0ms limit 0", "codel limit 1000 target 5ms"),
    ("pie alpha 0", " alpha 2 "),
    // What is beyond a bound is the bound.
    ("htb ; class parent 1: classid 1:1 htb rate 1mbit prio 12", " prio 7"),
    ("sfq limit 60000 depth 200", "sfq limit 16256 depth 127 "),
    ("fq_codel quantum 10", " quantum 256 "),
    // Words, and short forms.
    ("cake diffserv", "cake diffserv4"),
    ("cake docsis via-ethernet", "cake overhead 18 mpu 64 noatm"),
    ("fq defrate 1mbit", "fq limit 10000 "),
    ("fq bands 3 priomap 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0", "priomap 0 1 2 "),
    ("tbf rate 1mbit bu 2000 la 8ms", "tbf rate 1mbit burst 2000 limit 3000"),
    ("netem de 1ms", "delay 1ms"),
    (
        "htb def 10 ; class parent 1: classid 1:1 htb rate 1mbit q 2000 cb 3000",
        "cburst 3000 prio 0 quantum 2000",
    ),
    (
        "red limit 500000 min 20000 max 60000 avpkt 1000 probability 1",
        "probability 1",
    ),
    // Numbers are those of C.
    ("tbf rate 100KiBps burst 2000 limit 9000", "tbf rate 819.2kbit "),
    ("tbf rate 1e6 burst 2000 limit 9000", "tbf rate 1mbit "),
    ("tbf rate 0.001TiBps burst 9mb limit 9mb", "tbf rate 8.796093016gbit "),
    ("fq_codel limit 0x100", "fq_codel limit 256 "),
    ("codel limit 010", "codel limit 8 "),
    ("cake bandwidth 1.000001mbit", "cake bandwidth 1mbit"),
    ("cake bandwidth 1.5e1mbit", "cake bandwidth 15mbit"),
    // `tbf`.
    (
        "tbf rate 1mbit burst 2kb latency 8ms peakrate 2mbit mtu 1600",
        "limit 3048 peakrate 2mbit mtu 1600",
    ),
    (
        "tbf rate 1mbit burst 2kb limit 9000 overh 30 linkl adsl mpu 64",
        "mpu 64 overhead 30 linklayer atm",
    ),
    (
        "tbf rate 1mbit burst 2kb limit 9000 ; qdisc parent 1: handle 2: pfifo limit 9",
        "; qdisc parent 1:1 pfifo limit 9",
    ),
    // Statements as scripts write them.
    (
        "htb ; class parent 0x1: classid 0x1:0x2 htb rate 1mbit",
        "; class parent 1: classid 1:2 htb ",
    ),
    (
        "stab mtu 2047 tsize 512 mpu 64 overhead 40 linklayer atm htb ; class parent 1: classid 1:1 htb rate 1mbit",
        " overhead 40 mpu 64 linklayer atm",
    ),
    (
        "stab overhead 44 linklayer atm tbf rate 1mbit burst 10kb latency 50ms",
        " overhead 44 linklayer atm",
    ),
    // Without raw it would count from the IP header on.
    (
        "root stab tsize 512 mpu 0 overhead 44 linklayer ethernet cake bandwidth 1mbit",
        " raw overhead 44 mpu 0 noatm",
    ),
    (
        "SQM: SUCCESS: /sbin/tc qdisc add dev eth0 root fq_codel limit 1001",
        " limit 1001 ",
    ),
    (
        "prio ; filter parent 1: u32 match ip dst 0.0.0.0/0 flowid 1:1",
        " matchall flowid 1:1",
    ),
    (
        "prio ; filter parent 1: protocol ipv6 prio 1 u32 match u16 0x0B80 0x0FC0 at 0 classid 1:1",
        "prio bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1 ",
    ),
    // As LibreQoS writes them, for one queue.
    (
        "qdisc replace dev a root handle 7FFF: mq\nqdisc add dev a parent 7FFF:0x1 handle 0x1: htb default 2\n\
         class add dev a parent 0x1: classid 0x1:1 htb rate 1.0gbit ceil 1.0gbit quantum 125000\n\
         class add dev a parent 0x1:1 classid 0x3 htb rate 10.0mbit ceil 20.0mbit prio 3 quantum 25000",
        "class parent 1:1 classid 1:3 htb rate 10mbit ceil 20mbit burst 1600 cburst 1600 prio 3 quantum 25000 ",
    ),
    // As tc -d prints them, the class below first.
    (
        "qdisc htb 1: root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0 ver 3.17 direct_qlen 1000\n \
         linklayer ethernet overhead 44 \n Sent 0 bytes 0 pkt\n\
         qdisc fq_codel 110: parent 1:10 limit 1001p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn\n\
         class htb 1:10 parent 1:1 leaf 110: prio 0 quantum 2000 rate 10Mbit ceil 10Mbit linklayer ethernet \
         burst 1600b/1 mpu 0b cburst 1600b/1 mpu 0b level 0\n\
         class htb 1:1 root rate 10Mbit ceil 10Mbit linklayer ethernet burst 1600b/1 mpu 0b cburst 1600b/1 mpu 0b level 7\n\
         filter parent 1: protocol ip pref 10 u32 chain 0 \n\
         filter parent 1: protocol ip pref 10 u32 chain 0 fh 800: ht divisor 1 \n\
         filter parent 1: protocol ip pref 10 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 *flowid 1:10 not_in_hw\n  \
         match 00b80000/00fc0000 at 0",
        "htb default 10 r2q 10 direct_qlen 1000 \
         ; class parent 1: classid 1:1 htb rate 10mbit ceil 10mbit burst 1600 cburst 1600 prio 0 overhead 44 \
         ; class parent 1:1 classid 1:10 htb rate 10mbit ceil 10mbit burst 1600 cburst 1600 prio 0 quantum 2000 overhead 44 \
         ; qdisc parent 1:10 fq_codel limit 1001 flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn \
         drop_batch 64 ; filter parent 1: dscp EF flowid 1:10 ",
    ),
    (
        "prio ; filter add dev x parent 1:0 protocol ip prio 2 u32 match ip tos 0x10 0xf0 classid 1:1",
        "; filter parent 1: dscp 4 5 6 7 flowid 1:1",
    ),
    (
        "prio ; filter parent 1: prio 9 matchall flowid 1:3 ; filter parent 1: prio 1 u32 match u32 0 0 flowid 1:2",
        // What is behind a filter of every packet is never asked.
        " 1 ; filter parent 1: matchall flowid 1:2 ",
    ),
    // As in a kernel, one without a priority is asked before those that had none before it.
    (
        "prio ; filter parent 1: u32 match u8 0xb8 fc at 1 flowid 1:1 ; filter parent 1: u32 flowid 1:2 match u16 3 0 \
         ; filter parent 1: prio 7 u32 match ip dsfield 32 fc match ip src 0/0 flowid 1:3",
        " 1 ; filter parent 1: dscp CS1 flowid 1:3 ; filter parent 1: matchall flowid 1:2 ",
    ),
    // With words that only Sojourn has, in the order of the text.
    (
        "prio ; filter parent 1: dscp EF flowid 1:1 ; filter parent 1: matchall flowid 1:2",
        " 1 ; filter parent 1: dscp EF flowid 1:1 ; filter parent 1: matchall flowid 1:2 ",
    ),
    (
        "tc qdisc add dev eth0 root handle 5: htb default 0x12\n# a remark\ntc class add dev eth0 parent 5: classid 5:12 htb \
         rate 1mbit\ntc qdisc replace dev eth0 parent 5:12 handle 120: fq_codel\n",
        "htb default 12 r2q 10 direct_qlen 1000 ; class parent 1: classid 1:12 ",
    ),
];

/// The text, and what the sentence says.
const REFUSED: &[(&str, &str)] = &[
    ("sfq limit 1", "sfq.limit is 1, but must be >= 2"),
    ("cake lan metro", "cake.metro is given twice"),
    (
        "tbf rate 1mbit rate 2mbit burst 2000 limit 9000",
        "tbf.rate is given twice",
    ),
    ("fq_codel quantum 2kb", "fq_codel.quantum is \"2kb\""),
    ("codel target 5ns", "codel.target is \"5ns\""),
    ("dualpi2 classic_protection 0.5%%", "dualpi2.classic_protection is"),
    (
        "tbf rate 2mbit burst 2000 limit 9000 peakrate 1mbit mtu 1600",
        "tbf.peakrate is 1mbit, but must be more",
    ),
    (
        "tbf rate 10% burst 2000 limit 9000",
        "a percentage is one of a device's speed",
    ),
    (
        "netem delay 40ms 8ms",
        "netem is not modelled here with a jitter (a number behind the delay): jitter_up",
    ),
    ("netem loss 2%", "netem is not modelled here with loss: loss_up"),
    ("netem delay 1ms reorder 5%", "distribution, reorder, gap, duplicate"),
    (
        "sfq redflowlimit 9000 ecn",
        "sfq is not modelled here with RED in its queues",
    ),
    (
        "red limit 500000 avpkt 1000 nodrop",
        "red.nodrop is given, but must be given with ecn",
    ),
    ("prio multiqueue", "prio is not modelled here with multiqueue"),
    (
        "stab overhead 20 linklayer atm fq_codel",
        "fq_codel is not modelled here with stab",
    ),
    (
        "stab overhead 44 cake bandwidth 1mbit overhead 18",
        "cake is not modelled here with stab besides words of its own for the link layer",
    ),
    (
        "tc qdisc add dev a root htb ; tc class add dev b parent 1: classid 1:1 htb rate 1mbit",
        "class.dev is b, but must be a, the device of the first statement",
    ),
    ("tc qdisc add dev a handle ffff: ingress", "it has no queue"),
    ("prio ; qdisc add dev a handle ffff: ingress", "it has no queue"),
    (
        "tc qdisc del dev a root",
        "\"del\" stands where add or replace must stand",
    ),
    (
        "root handle 1: hfsc default 13",
        "hfsc is a discipline of Linux that is not modelled here",
    ),
    (
        "root handle 1: mq",
        "mq is not modelled here with several queues of a device",
    ),
    (
        "root handle 1: mq ; qdisc parent 1:1 handle 2: mq",
        "mq is not modelled here with several queues",
    ),
    (
        "root handle 1: mq ; qdisc parent 1:1 fq_codel ; qdisc parent 1:2 fq_codel",
        "mq is not modelled here with several queues of a device",
    ),
    (
        "prio ; filter parent 1: matchall action drop",
        "filter is not modelled here with an action",
    ),
    (
        "qdisc prio 1: root refcnt 2 bands 3\n\
         filter parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 *flowid 1:1 not_in_hw\n  \
         match 00b80000/00fc0000 at 0\n\taction order 1: gact action drop",
        "filter is not modelled here with an action",
    ),
    (
        "qdisc htb 1: root refcnt 2\nclass htb 1:1 root leaf 10: prio 0 rate 1Mbit ceil 1Mbit burst 1600b cburst 1600b",
        "\"class htb 1:1\" stands where the line of tc -d class show, which says its quantum,",
    ),
    (
        "prio ; filter parent 1: handle 1 fw flowid 1:1",
        "filter is not modelled here with firewall marks (fw)",
    ),
    (
        "prio ; filter parent 1: u32 match ip dport 80 0xffff flowid 1:1",
        "u32 keys other than match ip tos",
    ),
    (
        "prio ; filter parent 1: prio 1 protocol ip matchall flowid 1:1 ; filter parent 1: prio 1 protocol ipv6 matchall flowid 1:1",
        "filter.prio is 1, but must be a priority of its own",
    ),
    (
        "prio ; filter parent 1: u32 match ip tos 0x10 0xfc match ip tos 0x20 0xfc flowid 1:1",
        "filter.match is ip tos 0x20 0xfc, but must be a key that agrees with the others",
    ),
    (
        "prio ; filter parent 1: u32 match ip tos 0x1b8 0xfc flowid 1:1",
        "filter.match is ip tos 0x1b8 0xfc, but must be a number and a hexadecimal mask of at most 0xff",
    ),
    ("prio ; filter parent 1: u32 flowid 1:1", "filter.match has no value"),
];

#[test]
fn texts_say_what_tc_makes_of_them() {
    for (text, part) in TAKEN {
        let shown = QdiscSpec::parse(text, None)
            .unwrap_or_else(|e| panic!("{text}: {e}"))
            .to_string();
        assert!(format!("{shown} ").contains(part), "{text}: {shown}");
        assert_eq!(QdiscSpec::parse(&shown, None).expect(text).to_string(), shown);
    }
    for (text, part) in REFUSED {
        let sentence = QdiscSpec::parse(text, None).expect_err(text).to_string();
        assert!(sentence.contains(part), "{text}: {sentence}");
    }
}

/// A packet of 1000 bytes.
#[derive(Clone, Debug)]
struct Thousand;

impl Packet for Thousand {
    packet_without!(ecn, dscp, hosts, ack, socket);

    fn size(&self) -> Bytes {
        Bytes::new(1000)
    }
    fn flow_hash(&self) -> u32 {
        0
    }
}

/// Nanoseconds at which packets leave that came at once.
fn leaves(text: &str, packets: usize) -> Vec<u64> {
    let mut qdisc = QdiscSpec::parse(text, None).expect(text).build(1);
    let drops = &mut Vec::new();
    for _ in 0..packets {
        qdisc.enqueue(Thousand, Time::ZERO, drops);
    }
    let mut times = Vec::new();
    let mut now = Time::ZERO;
    while let Some(at) = qdisc.ready_at(now, drops) {
        now = at;
        if qdisc.dequeue(now, drops).is_some() {
            times.push(now.as_nanos());
        }
    }
    times
}

/// At 1 Mbit/s 1000 bytes take 8 ms; 1100 bytes 8.8 ms; 21 cells of ATM, 1113 bytes, 8.904 ms. At 2 Mbit/s 4 ms.
#[test]
fn tbf_counts_what_its_words_say() {
    let ms = |us: &[u64]| us.iter().map(|us| us * 1000).collect::<Vec<_>>();
    let text = |more: &str| format!("tbf rate 1mbit burst 2000 limit 9000 {more}");
    assert_eq!(leaves(&text(""), 4), ms(&[0, 0, 8000, 16_000]));
    assert_eq!(
        leaves("tbf rate 1mbit burst 1000 limit 9000 overhead 100", 3),
        ms(&[0, 8800, 17_600])
    );
    assert_eq!(
        leaves("tbf rate 1mbit burst 1000 limit 9000 linklayer atm", 3),
        ms(&[0, 8904, 17_808])
    );
    assert_eq!(
        leaves("tbf rate 1mbit burst 1000 limit 9000 mpu 1250", 3),
        ms(&[0, 10_000, 20_000])
    );
    // The burst leaves at the peak rate.
    assert_eq!(
        leaves(&text("peakrate 2mbit mtu 1000"), 4),
        ms(&[0, 4000, 8000, 16_000])
    );
    // A packet that is larger than the bucket of the peak rate is refused.
    assert_eq!(leaves(&text("peakrate 2mbit mtu 999"), 4), ms(&[]));
    assert_eq!(leaves(&text("; qdisc parent 1: pfifo limit 3"), 9), ms(&[0, 0, 8000]));
}
