use super::*;
use crate::bottleneck::engine::{Handle, Options, monotonic_ns, start};
use crate::bottleneck::settings::{Settings, default_burst};
use crate::bottleneck::way::Way;
use proptest::prelude::*;
use sojourn_qdisc::QdiscSpec;
use sojourn_units::{Duration, Rate};
use std::os::fd::OwnedFd;

/// An engine between two sockets that stand for devices, and what asks it.
struct Bed {
    requests: Requests,
    engine: Option<Handle<()>>,
    _far: [OwnedFd; 2],
}

impl Bed {
    fn new() -> Self {
        let way = |name| {
            let qdisc = QdiscSpec::parse("fq_codel", None).expect("it is right");
            let settings = Settings::new(Rate::from_mbit(10), default_burst(1500, 14), qdisc);
            Way::new(settings, 1, name).expect("it is right")
        };
        let device = || {
            use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            socketpair(AddressFamily::UNIX, SocketType::DGRAM, flags, None).expect("a pair")
        };
        let [(near, far), (near2, far2)] = [device(), device()];
        let options = Options {
            overhead: 14,
            largest: default_burst(1500, 14),
            busy_poll: Duration::ZERO,
            key: 1,
        };
        let devices = [near, near2];
        let engine = start([way("up"), way("down")], [(), ()], devices, options, monotonic_ns()).expect("a thread");
        Self {
            requests: Requests::new(engine.remote(), Arc::default()),
            engine: Some(engine),
            _far: [far, far2],
        }
    }

    fn ask(&mut self, request: &[u8], heard: Heard) -> Option<String> {
        let answer = self.requests.answer(request, heard)?;
        Some(String::from_utf8(answer).expect("answers are text"))
    }

    fn whole(&mut self, request: impl AsRef<[u8]>) -> String {
        self.ask(request.as_ref(), Heard::All).expect("it is whole")
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.take() {
            let _ = engine.stop();
        }
    }
}

/// One line of bounded length that begins so.
fn is_one_sentence(answer: &str) -> bool {
    answer.starts_with("error: ")
        && answer.ends_with('\n')
        && answer.matches('\n').count() == 1
        && answer.len() < 4_000
        && !answer.trim_end().contains(char::is_control)
}

#[test]
fn the_owner_and_root_may_ask_and_nobody_else() {
    assert_eq!(refusal(1000, 7, 1000), None);
    assert_eq!(refusal(0, 7, 1000), None);
    assert_eq!(
        refusal(1001, 7, 1000).expect("a stranger"),
        "the control socket is asked by user 1001 (process 7), but must be asked by its owner, user 1000, or root"
    );
    assert!(refusal(65_534, 0, 0).is_some());
}

#[test]
fn who_is_at_the_other_end_is_the_kernels_word() {
    let (here, _there) = UnixStream::pair().expect("a pair");
    let (user, process) = peer(&here).expect("the kernel tells");
    assert_eq!(user, rustix::process::geteuid().as_raw());
    assert_eq!(process.unsigned_abs(), std::process::id());
}

#[test]
fn each_request_has_its_answer() {
    let mut bed = Bed::new();
    assert_eq!(bed.whole("set up.rate 5mbit\n"), "ok\n");
    assert!(
        bed.whole("show\n")
            .starts_with("ok\nqdisc tbf 1: dev up root rate 5mbit")
    );
    assert!(bed.whole("show json\n").starts_with("ok\n{"));
    assert!(!bed.requests.stop.load(Ordering::Relaxed));
    assert_eq!(bed.whole("stop"), "ok\n");
    assert!(bed.requests.stop.load(Ordering::Relaxed));
    assert_eq!(bed.ask(b"set up.rate 5", Heard::Part), None);
    assert_eq!(
        bed.ask(b"show\nset", Heard::Part).expect("a line").get(..3),
        Some("ok\n")
    );
}

#[test]
fn what_is_no_request_is_one_sentence() {
    let mut bed = Bed::new();
    for (request, sentence) in [
        (
            &b"\n"[..],
            "the request is \"\", but must be set, show, show json or stop",
        ),
        (
            b"show me\n",
            "the request is \"show me\", but must be set, show, show json or stop",
        ),
        (
            b"stop it\n",
            "the request is \"stop it\", but must be set, show, show json or stop",
        ),
        (b"set rate\n", "set needs a key and a value, such as up.rate 5mbit"),
        (b"\xff\xfe\n", "the request is not UTF-8 text"),
        (
            b"set rate 5mbit\x1b[2J\n",
            "the request has a control character, but must have none",
        ),
        (
            b"set rate \x00\n",
            "the request has a control character, but must have none",
        ),
        (
            b"GET / HTTP/1.1\r\n",
            "the request is \"GET / HTTP/1.1\", but must be set, show, show json or stop",
        ),
        (
            b"set loss nan%\n",
            "loss is \"nan%\", but must be a percentage from 0% to 100%",
        ),
        (b"set delay 61s\n", "delay is 61s, but must be at most 60s"),
    ] {
        assert_eq!(bed.whole(request), format!("error: {sentence}\n"));
    }
    for request in [
        format!("set rate {}mbit\n", "9".repeat(4_000)),
        format!("set burst {}b\n", "9".repeat(4_000)),
        format!("set qdisc pfifo limit {}\n", "9".repeat(4_000)),
        format!("set {} 1\n", "k".repeat(4_000)),
        "set rate nan\n".to_owned(),
        "set rate -1mbit\n".to_owned(),
        "set rate 1e999mbit\n".to_owned(),
        "set qdisc fq_codel flows 70000\n".to_owned(),
        "set qdisc \u{202e}codel\n".to_owned(),
    ] {
        let answer = bed.whole(&request);
        assert!(is_one_sentence(&answer), "{request}: {answer}");
    }
    assert_eq!(
        bed.ask(&[b'x'; LONGEST + 1], Heard::TooMuch).expect("an answer"),
        "error: the request has more than 4096 bytes\n"
    );
    assert_eq!(
        bed.ask(b"set rate", Heard::TooLate).expect("an answer"),
        "error: no whole request came within 2 s\n"
    );
    // It still works.
    assert!(
        bed.whole("show\n")
            .starts_with("ok\nqdisc tbf 1: dev up root rate 10mbit")
    );
}

fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => proptest::sample::select(vec![
            "set", "show", "json", "stop", "rate", "up.rate", "down.delay", "loss", "burst", "qdisc", "up.qdisc", "codel",
            "fq_codel", "pie", "red", "sfq", "pfifo", "limit", "target", "interval", "flows", "quantum", "1", "0", "-1",
            "5mbit", "100%", "nan%", "1ms", "4294967296", "18446744073709551616", "1e308", "ecn", "gbw:codel",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "[0-9]{1,40}[a-z]{0,5}",
    ];
    proptest::collection::vec(word, 0..10).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_request_is_answered_by_ok_or_one_sentence(requests in proptest::collection::vec(words(), 1..8)) {
        let mut bed = Bed::new();
        for request in requests {
            let answer = bed.whole(&request);
            prop_assert!(answer.starts_with("ok\n") || is_one_sentence(&answer), "{request:?}: {answer:?}");
        }
        let works = bed.whole("show json").starts_with("ok\n{");
        prop_assert!(works);
    }

    #[test]
    fn any_bytes_are_answered_by_ok_or_one_sentence(request in proptest::collection::vec(any::<u8>(), 0..5_000)) {
        let mut bed = Bed::new();
        for heard in [Heard::Part, Heard::All, Heard::TooMuch, Heard::TooLate] {
            if let Some(answer) = bed.ask(&request, heard) {
                prop_assert!(answer.starts_with("ok\n") || is_one_sentence(&answer), "{answer:?}");
            } else {
                prop_assert_eq!(heard, Heard::Part);
            }
        }
    }
}
