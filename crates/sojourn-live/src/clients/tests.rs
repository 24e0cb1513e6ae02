use super::*;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::SocketAddr;

const LIMITS: Limits = Limits {
    clients: 8,
    request: 64,
    patience: Duration::from_millis(600),
};

/// Answers a line by itself.
struct Echo;

impl Service<UnixStream> for Echo {
    fn answer(&mut self, request: &[u8], heard: Heard) -> Option<Vec<u8>> {
        match heard {
            Heard::Part if !request.ends_with(b"\n") => None,
            Heard::Part | Heard::All => Some(request.to_vec()),
            Heard::TooMuch => Some(b"too much".to_vec()),
            Heard::TooLate => Some(b"too late".to_vec()),
        }
    }
}

/// A server at an address of no file.
fn server(name: &str) -> SocketAddr {
    let name = format!("sojourn-clients-{}-{name}", std::process::id());
    let address = SocketAddr::from_abstract_name(name).expect("a short name");
    let listener = UnixListener::bind_addr(&address).expect("nobody else has it");
    std::thread::spawn(move || serve(&listener, LIMITS, Echo));
    address
}

fn connect(address: &SocketAddr) -> UnixStream {
    let stream = UnixStream::connect_addr(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
    stream
}

fn ask(address: &SocketAddr, request: &[u8]) -> (String, Duration) {
    let mut stream = connect(address);
    let began = now();
    stream.write_all(request).expect("it reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    (text, began.elapsed())
}

#[test]
fn silent_clients_make_nobody_wait() {
    let address = server("silent");
    // More than there are places, and some with half a request.
    let silent: Vec<UnixStream> = (0..3 * LIMITS.clients)
        .map(|n| {
            let mut stream = connect(&address);
            if n % 2 == 0 {
                stream.write_all(b"half").expect("it reads");
            }
            stream
        })
        .collect();
    let (text, took) = ask(&address, b"hello\n");
    assert_eq!(text, "hello\n");
    assert!(took < LIMITS.patience / 2, "{took:?}");
    drop(silent);
}

#[test]
fn a_client_that_sends_byte_by_byte_is_ended_in_time() {
    let address = server("drops");
    let mut stream = connect(&address);
    let began = now();
    let mut sent = 0;
    // Each byte is well within the time; all of them together are not.
    while sent < 50 && stream.write_all(b"x").is_ok() {
        std::thread::sleep(LIMITS.patience / 10);
        sent += 1;
        stream.set_read_timeout(Some(Duration::from_millis(1))).expect("a time");
        let mut text = [0; 16];
        if let Ok(read) = stream.read(&mut text) {
            assert_eq!(&text[..read], b"too late");
            break;
        }
    }
    let took = began.elapsed();
    assert!(took >= LIMITS.patience && took < 2 * LIMITS.patience, "{took:?}");
}

#[test]
fn a_client_that_reads_nothing_is_ended_in_time() {
    struct Long;
    impl Service<UnixStream> for Long {
        fn answer(&mut self, _: &[u8], _: Heard) -> Option<Vec<u8>> {
            Some(vec![b'x'; 64 << 20])
        }
    }
    let (here, there) = UnixStream::pair().expect("a pair");
    there.set_nonblocking(true).expect("it is a socket");
    let mut client = Client {
        stream: there,
        state: State::Asks(Vec::new()),
        until: now() + LIMITS.patience,
    };
    (&here).write_all(b"give\n").expect("there is room");
    let began = now();
    while client.goes_on(LIMITS, &mut Long) {
        std::thread::sleep(Duration::from_millis(5));
        assert!(began.elapsed() < 4 * LIMITS.patience, "it is served for ever");
    }
    assert!(began.elapsed() >= LIMITS.patience / 2);
}

#[test]
fn a_request_that_is_too_long_is_answered_all_the_same() {
    let address = server("long");
    assert_eq!(ask(&address, &[b'x'; 65]).0, "too much");
    assert_eq!(ask(&address, &vec![b'x'; 20_000]).0, "too much");
    assert_eq!(ask(&address, b"").0, "too late");
    assert_eq!(ask(&address, b"fine\n").0, "fine\n");
}

#[test]
fn a_request_that_ends_without_a_line_is_one() {
    let address = server("end");
    let mut stream = connect(&address);
    stream.write_all(b"no line").expect("it reads");
    stream.shutdown(Shutdown::Write).expect("it is open");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    assert_eq!(text, "no line");
}
