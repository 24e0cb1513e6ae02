//! The grammar of statements.

use crate::QdiscSpec;

fn show(text: &str) -> String {
    QdiscSpec::parse(text, None)
        .unwrap_or_else(|e| panic!("{text}: {e}"))
        .to_string()
}

fn error(text: &str) -> String {
    QdiscSpec::parse(text, None).expect_err(text).to_string()
}

/// As sqm-scripts' `simple.qos` builds it on a link of 20 Mbit/s, as far as it matters here.
const SQM: &str = "htb default 12 \
    ; class parent 1: classid 1:1 htb rate 20mbit burst 2500 cburst 2500 quantum 2500 \
    ; class add parent 1:1 classid 1:11 htb rate 128kbit ceil 6666kbit prio 1 \
    ; class parent 1:1 classid 1:12 htb rate 3333kbit ceil 19984kbit prio 2 \
    ; qdisc add parent 1:11 handle 110: fq_codel quantum 300 \
    ; filter parent 1: dscp cs6 EF AF42 4 flowid 1:11";

#[test]
fn statements_are_written_out_and_say_the_same_again() {
    let expected = "htb default 12 r2q 10 direct_qlen 1000 \
        ; class parent 1: classid 1:1 htb rate 20mbit ceil 20mbit burst 2500 cburst 2500 prio 0 quantum 2500 \
        ; class parent 1:1 classid 1:11 htb rate 128kbit ceil 6.666mbit burst 1600 cburst 1600 prio 1 \
        ; class parent 1:1 classid 1:12 htb rate 3.333mbit ceil 19.984mbit burst 1600 cburst 1600 prio 2 \
        ; qdisc parent 1:11 fq_codel limit 10240 flows 1024 quantum 300 target 5ms interval 100ms memory_limit 32Mb ecn \
        drop_batch 64 \
        ; filter parent 1: dscp 4 AF42 EF CS6 flowid 1:11";
    assert_eq!(show(SQM), expected);
    for text in [
        SQM,
        "prio",
        "drr",
        "htb",
        "ets strict 3",
        "ets bands 5 strict 1 quanta 300 600",
        "prio bands 5 priomap 4 3 2 1 0",
        "prio;qdisc parent 1:3 handle 3: prio;qdisc parent 3:1 handle f: ets bands 2;filter parent f: matchall flowid f:2",
        "drr ; class parent 1: classid 1:ffff drr quantum 10kb ; filter parent 1: matchall flowid 1:ffff",
        "htb ; class parent 1: classid 1:2 htb rate 1mbit mtu 3000 overhead 4 mpu 64 linklayer adsl",
    ] {
        let spec = QdiscSpec::parse(text, None).unwrap_or_else(|e| panic!("{text}: {e}"));
        let again = QdiscSpec::parse(&spec.to_string(), None);
        assert_eq!(again.as_ref(), Ok(&spec), "{text}");
    }
}

#[test]
fn defaults_are_those_of_tc_and_of_the_kernel() {
    for (text, canonical) in [
        ("prio", "prio bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1"),
        (
            "ets strict 2 quanta 3000",
            "ets bands 3 strict 2 quanta 3000 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2",
        ),
        (
            "ets bands 2",
            "ets bands 2 strict 0 quanta 1514 1514 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        ),
        (
            "drr ; class parent 1: classid 1:1 drr",
            "drr ; class parent 1: classid 1:1 drr quantum 1514",
        ),
        // 40 Gbit/s are five bytes a nanosecond.
        (
            "htb ; class parent 1: classid 1:1 htb rate 1mbit ceil 40gbit mtu 3000",
            "htb default 0 r2q 10 direct_qlen 1000 ; class parent 1: classid 1:1 htb rate 1mbit ceil 40gbit burst 3000 \
             cburst 3005 prio 0",
        ),
    ] {
        assert_eq!(show(text), canonical, "{text}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of sentences")]
fn an_error_names_the_statement() {
    for (text, message) in [
        (
            "codel ; class parent 1: classid 1:1 htb rate 1mbit",
            "codel has no classes, but a statement follows it",
        ),
        ("netem delay 1ms;", "netem has no classes, but a statement follows it"),
        (
            "prio ;",
            "statement 2, \"\": \"\" begins a statement, but it must begin with class, qdisc or filter",
        ),
        (
            "prio ; qdisc parent 1:1 pfifo ; queue",
            "statement 3, \"queue\": \"queue\" begins a statement, but it must begin with class, qdisc or filter",
        ),
        (
            "prio ; qdisc parent 1:4 pfifo",
            "statement 2, \"qdisc parent 1:4 pfifo\": qdisc.parent is 1:4, but must be a class that is there",
        ),
        (
            "prio ; qdisc parent 2:1 pfifo",
            "statement 2, \"qdisc parent 2:1 pfifo\": qdisc.parent is 2:1, but must be of a discipline with classes that \
             is there",
        ),
        (
            "prio ; qdisc parent 1: pfifo",
            "statement 2, \"qdisc parent 1: pfifo\": qdisc.parent is 1:, but must be a class that is there",
        ),
        (
            "prio ; qdisc parent 1:1 codel target 2h",
            "statement 2, \"qdisc parent 1:1 codel target 2h\": codel.target is \"2h\", but must be a number >= 0 with unit s, \
             ms or us, such as 5ms",
        ),
        (
            "prio ; qdisc parent 1:1",
            "statement 2, \"qdisc parent 1:1\": a queue discipline is empty text, but must be a kind such as \"fq_codel\" or \
             \"codel target 5ms\"",
        ),
        (
            "prio ; qdisc 1:1 pfifo",
            "statement 2, \"qdisc 1:1 pfifo\": \"1:1\" stands where parent and a handle must stand",
        ),
        (
            "prio ; qdisc parent 1:1 pfifo ; qdisc parent 1:1 codel",
            "statement 3, \"qdisc parent 1:1 codel\": qdisc.parent is 1:1, but must be a class without a discipline of its \
             own",
        ),
        (
            "prio ; qdisc parent 1:1 handle 1: prio",
            "statement 2, \"qdisc parent 1:1 handle 1: prio\": qdisc.handle is 1:, but must be a number that no other \
             discipline has",
        ),
        (
            "prio ; class parent 1: classid 1:4 prio",
            "statement 2, \"class parent 1: classid 1:4 prio\": class.kind is prio, but must be drr or htb: other kinds have \
             their classes at once",
        ),
        (
            "drr ; class parent 1: classid 1:1 htb rate 1mbit",
            "statement 2, \"class parent 1: classid 1:1 htb rate 1mbit\": class.kind is htb, but must be drr, the kind of \
             discipline 1:",
        ),
        (
            "drr ; class parent 1: classid 1:1 drr quantum 100",
            "statement 2, \"class parent 1: classid 1:1 drr quantum 100\": drr.quantum is 100, but must be >= 256",
        ),
        (
            "drr ; class parent 1: classid 1:1 drr ; class parent 1:1 classid 1:2 drr",
            "statement 3, \"class parent 1:1 classid 1:2 drr\": class.parent is 1:1, but must be 1:, because classes of drr \
             have none below them",
        ),
        (
            "htb ; class parent 1: classid 1:1 htb",
            "statement 2, \"class parent 1: classid 1:1 htb\": htb.rate is missing, but must be given (tc has no default)",
        ),
        (
            "htb ; class parent 1: classid 1:1 htb rate 7bit",
            "statement 2, \"class parent 1: classid 1:1 htb rate 7bit\": htb.rate is 7bit, but must be at least 8bit, a byte a \
             second",
        ),
        (
            "htb ; class parent 1: classid 1:1 htb rate 8bit",
            "statement 2, \"class parent 1: classid 1:1 htb rate 8bit\": htb.burst is 1600b, but must be at most what 8bit \
             sends in 274 s, 32 bits of 64 ns",
        ),
        (
            "htb ; class parent 1: classid 1:1 htb rate 1mbit linklayer ptm",
            "statement 2, \"class parent 1: classid 1:1 htb rate 1mbit linklayer ptm\": htb.linklayer is ptm, but must be \
             ethernet, atm or adsl",
        ),
        (
            "htb ; class parent 1: classid 1:1 htb rate 1mbit speed 3",
            "statement 2, \"class parent 1: classid 1:1 htb rate 1mbit speed 3\": \"speed\" is no parameter of htb; its \
             parameters are rate, ceil, burst, buffer, maxburst, cburst, cbuffer, cmaxburst, mtu, prio, quantum, overhead, \
             mpu, linklayer",
        ),
        (
            "htb ; class parent 1:1 classid 1:2 htb rate 1mbit",
            "statement 2, \"class parent 1:1 classid 1:2 htb rate 1mbit\": class.parent is 1:1, but must be a class that is \
             there",
        ),
        (
            "htb ; class parent 1: classid 2:1 htb rate 1mbit",
            "statement 2, \"class parent 1: classid 2:1 htb rate 1mbit\": class.classid is 2:1, but must be a class of the \
             discipline 1:",
        ),
        (
            "htb ; class parent 1: classid 1: htb rate 1mbit",
            "statement 2, \"class parent 1: classid 1: htb rate 1mbit\": class.classid is 1:, but must be a number other than 0 \
             behind the colon",
        ),
        (
            "prio ; filter parent 1: dscp EF flowid 1:7",
            "statement 2, \"filter parent 1: dscp EF flowid 1:7\": filter.flowid is 1:7, but must be a class that is there",
        ),
        (
            "prio ; filter parent 1: dscp EF 64 flowid 1:1",
            "statement 2, \"filter parent 1: dscp EF 64 flowid 1:1\": filter.dscp is \"64\", but must be 0 to 63, or a name: \
             CS0 to CS7, AF11 to AF43, EF, VA or LE",
        ),
        (
            "prio ; filter parent 1: dscp flowid 1:1",
            "statement 2, \"filter parent 1: dscp flowid 1:1\": filter.dscp has no value, but must have one (code points)",
        ),
        (
            "prio ; filter parent 1: port 80 flowid 1:1",
            "statement 2, \"filter parent 1: port 80 flowid 1:1\": \"port\" stands where dscp with code points, u32 match ip \
             tos, or matchall must stand",
        ),
        (
            "prio ; filter parent 1: matchall flowid 1:1 now",
            "statement 2, \"filter parent 1: matchall flowid 1:1 now\": \"now\" stands where nothing behind matchall but flowid must \
             stand",
        ),
        (
            "prio ; filter parent 1:1 matchall flowid 1:1",
            "statement 2, \"filter parent 1:1 matchall flowid 1:1\": filter.parent is 1:1, but must be 1:, because classes of \
             prio have no filters",
        ),
        ("prio bands 1", "prio.bands is 1, but must be >= 2"),
        (
            "prio bands 2",
            "prio.priomap is 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1, but must be bands of priorities 0 to 15, each less than 2, the \
             number of bands",
        ),
        ("prio priomap", "prio.priomap has no value, but must have one (numbers)"),
        (
            "prio priomap 1 x",
            "prio.priomap is \"x\", but must be a whole number >= 0",
        ),
        (
            "prio priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
            "prio.priomap is 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0, but must be at most 16 numbers",
        ),
        (
            "ets",
            "ets.bands is missing, but must be given, or strict or quanta must be",
        ),
        (
            "ets bands 2 strict 1 quanta 300 300",
            "ets.bands is 2, but must be >= 3, the number of strict bands and quanta",
        ),
        ("ets quanta 300 255", "ets.quanta is 255, but must be >= 256"),
        ("ets bands 17", "ets.bands is 17, but must be <= 16"),
        (
            "htb default 12345",
            "htb.default is \"12345\", but must be a hexadecimal number of at most four digits, such as 12",
        ),
    ] {
        assert_eq!(error(text), message, "{text}");
    }
}

#[test]
fn classes_and_disciplines_are_at_most_eight_deep() {
    let class = |n: u32| {
        let parent = if n == 1 { String::new() } else { format!("{:x}", n - 1) };
        format!(" ; class parent 1:{parent} classid 1:{n:x} htb rate 1mbit")
    };
    let eight: String = (1..=8).map(class).collect();
    assert!(QdiscSpec::parse(&format!("htb{eight}"), None).is_ok());
    let message = error(&format!("htb{eight}{}", class(9)));
    assert!(
        message.ends_with("class.parent is 1:8, but must be at most 8 classes deep"),
        "{message}"
    );

    let nested = |n: u32| format!(" ; qdisc parent {:x}:1 handle {:x}: prio", n, n + 1);
    let seven: String = (1..=7).map(nested).collect();
    assert!(QdiscSpec::parse(&format!("prio{seven}"), None).is_ok());
    let message = error(&format!("prio{seven}{}", nested(8)));
    let rule = "qdisc.parent is 8:1, but must be a class of at most 7 disciplines above each other";
    assert!(message.ends_with(rule), "{message}");
}

#[test]
fn a_class_has_a_discipline_or_classes_below_it() {
    let tree = "htb ; class parent 1: classid 1:1 htb rate 1mbit";
    let inner = "; class parent 1:1 classid 1:2 htb rate 1mbit";
    assert_eq!(
        show(&format!("{tree} ; qdisc parent 1:1 pfifo {inner}")),
        show(&format!("{tree} {inner}"))
    );
    let message = error(&format!(
        "{tree} ; class parent 1:1 classid 1:2 htb rate 1mbit ; qdisc parent 1:1 pfifo"
    ));
    assert!(
        message.ends_with("qdisc.parent is 1:1, but must be a class without classes below it"),
        "{message}"
    );
}

/// Each class has a `pfifo` of 1000 packets, and `htb` its direct queue; no queue of a class that has classes below it.
#[test]
fn a_footprint_is_that_of_all_classes() {
    for (text, packets, queues) in [
        ("prio", 3000, 3),
        ("prio ; qdisc parent 1:1 fq_codel limit 77 flows 16", 2077, 18),
        ("htb", 1000, 0),
        (
            "htb direct_qlen 5 ; class parent 1: classid 1:1 htb rate 1mbit ; class parent 1:1 classid 1:2 htb rate 1mbit",
            1005,
            1,
        ),
        (
            "drr ; class parent 1: classid 1:1 drr ; qdisc parent 1:1 handle 2: prio",
            3000,
            3,
        ),
    ] {
        let footprint = QdiscSpec::parse(text, None).expect(text).footprint();
        assert_eq!((footprint.packets, footprint.queues), (packets, queues), "{text}");
    }
}

proptest::proptest! {
    /// Text of words that the grammar knows is read or refused, and what is read says the same again.
    #[test]
    fn hostile_text_is_refused_or_says_the_same_again(
        words in proptest::collection::vec(proptest::sample::select(WORDS), 0..40),
        root in proptest::sample::select(&["prio", "drr", "ets bands 3", "htb default 2", "fq_codel", ""][..]),
    ) {
        let text = format!("{root} ; {}", words.join(" "));
        match QdiscSpec::parse(&text, None) {
            Ok(spec) => {
                let canonical = spec.to_string();
                proptest::prop_assert_eq!(QdiscSpec::parse(&canonical, None), Ok(spec), "{}", canonical);
            }
            Err(error) => {
                let sentence = error.to_string();
                proptest::prop_assert!(!sentence.is_empty() && !sentence.contains('\n'));
            }
        }
    }
}

/// Whole beginnings of statements, so that some are right.
const WORDS: &[&str] = &[
    ";",
    "; class parent 1: classid 1:1 htb rate 1mbit",
    "; class parent 1:1 classid 1:2 htb rate 1mbit",
    "; class parent 1: classid 1:3 drr",
    "; qdisc parent 1:2",
    "; qdisc parent 1:3 handle 3:",
    "; filter parent 1: dscp EF flowid 1:2",
    "; filter parent 3: matchall flowid 3:1",
    "class",
    "qdisc",
    "filter",
    "parent",
    "1:",
    "1:1",
    "1:ffff",
    "ffff:",
    "0:",
    "handle",
    "prio",
    "htb",
    "ets",
    "quanta",
    "300",
    "99999999999999999999",
    "-1",
    "pfifo",
    "fq_codel",
    "limit",
    "\u{e9}",
];
