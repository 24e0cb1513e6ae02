//! Configurations that were written to do harm, or by accident.

use super::*;
use proptest::prelude::*;
use std::os::unix::fs::symlink;

/// One line of bounded length.
fn is_one_sentence(text: &str) -> bool {
    !text.is_empty() && text.len() < 3_000 && !text.contains(char::is_control)
}

fn refused(text: &str) -> String {
    let shown: String = text.chars().take(60).collect();
    let sentence = Config::parse(text, &[]).expect_err(&shown).to_string();
    assert!(is_one_sentence(&sentence), "{shown}: {sentence}");
    sentence
}

#[test]
fn what_is_far_too_much_is_one_sentence() {
    let digits = "9".repeat(5_000);
    for (text, part) in [
        (format!("[gate]\nbytes_per_minute = {digits}"), "line 2 is not TOML: "),
        (format!("[gate]\nbytes_per_minute = -{digits}"), "line 2 is not TOML: "),
        (format!("[gate]\nbdp_multiple = {digits}.0"), "line 2 is not TOML: "),
        (format!("[gate]\nbdp_multiple = 1e{digits}"), "line 2 is not TOML: "),
        (format!("[send]\nport = {}", u64::from(u32::MAX)), "send.port is "),
        (format!("[gate]\ncool_down = '{digits}s'"), "gate.cool_down is \"999"),
        (format!("[gate]\nallow = ['{digits}/24']"), "gate.allow is \"999"),
        (format!("interface = '{}'", "i".repeat(100_000)), "interface is \"iii"),
        (
            format!("{} = 1", "k".repeat(100_000)),
            "is not a key of the configuration",
        ),
        (
            format!("x = {}1{}", "[".repeat(50_000), "]".repeat(50_000)),
            "is not TOML: ",
        ),
        (
            format!("x = {}{}", "{a=".repeat(50_000), "}".repeat(50_000)),
            "is not TOML: ",
        ),
        (format!("{}x = 1", "a.".repeat(50_000)), "is not TOML: "),
        (format!("[{}x]", "a.".repeat(50_000)), "is not TOML: "),
        (format!("[[{}x]]", "a.".repeat(50_000)), "is not TOML: "),
        (format!("active = '{}", "x".repeat(100_000)), "is not TOML: "),
        ("\u{0}".to_owned(), "line 1 is not TOML: "),
        ("active = true\nactive = true".to_owned(), "line 2 is not TOML: "),
        ("gate = 1".to_owned(), "gate is integer `1`, but must be a table"),
        ("gate = []".to_owned(), "gate is a list, but must be a table"),
        ("[[gate]]".to_owned(), "gate is a list, but must be a table"),
        (
            "flusher = ['adaptive']".to_owned(),
            "flusher is a list, but must be a table",
        ),
        (
            "\"\\u001b[31m\" = 1".to_owned(),
            "\\u{1b}[31m is not a key of the configuration",
        ),
        ("events = \"\\u001b]0;x\\u0007\"".to_owned(), "events is "),
        ("active = 2026-01-01".to_owned(), "active is "),
        ("allow = []".to_owned(), "allow is not a key of the configuration"),
    ] {
        let sentence = refused(&text);
        assert!(sentence.contains(part), "{part}: {sentence}");
    }
}

#[test]
fn what_is_no_number_is_refused_with_its_field() {
    for field in [
        "gate.bdp_multiple",
        "gate.bytes_per_minute",
        "gate.bytes_per_flush",
        "send.port",
        "flusher.threshold",
        "flusher.margin",
        "flusher.small_duty",
    ] {
        for value in ["nan", "-nan", "inf", "-inf", "1e308", "-1e308", "'x'", "[]", "{}"] {
            let (table, key) = field.split_once('.').expect("two names");
            let sentence = refused(&format!("[{table}]\n{key} = {value}"));
            assert!(sentence.starts_with(field), "{field} = {value}: {sentence}");
        }
    }
}

#[test]
fn a_file_must_be_regular_and_short() {
    let folder = std::env::temp_dir().join(format!("sojourn-config-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a new name");
    let at = |name: &str| folder.join(name);
    let (fits, long, pipe) = (at("fits"), at("long"), at("pipe"));
    std::fs::write(&fits, " ".repeat(usize::try_from(file::LONGEST).expect("it is small"))).expect("there is room");
    std::fs::write(
        &long,
        " ".repeat(usize::try_from(file::LONGEST + 1).expect("it is small")),
    )
    .expect("there is room");
    std::fs::write(at("bytes"), b"active = \xff").expect("there is room");
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
    symlink(&fits, at("link")).expect("there is room");
    symlink(&pipe, at("link-to-pipe")).expect("there is room");
    assert!(Config::load(Some(&fits), &[]).is_ok());
    assert!(Config::load(Some(&at("link")), &[]).is_ok());
    for (path, part) in [
        (long, "it has more than 1048576 bytes, but must have at most 1048576"),
        (pipe, "it must be a regular file"),
        (at("link-to-pipe"), "it must be a regular file"),
        (folder.clone(), "it must be a regular file"),
        ("/dev/zero".into(), "it must be a regular file"),
        (at("bytes"), "byte 10 is not UTF-8 text"),
        (at("absent"), "it cannot be read: "),
        (at(&"x".repeat(5_000)), "it cannot be read: "),
        (at("new\nline\u{1b}[31m"), "it cannot be read: "),
    ] {
        let sentence = Config::load(Some(&path), &[]).expect_err(part).to_string();
        assert!(sentence.contains(part) && is_one_sentence(&sentence), "{sentence}");
    }
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

/// A configuration in which each key is right.
const RIGHT: &str = r#"interface = "eth0"
promiscuous = true
user = "nobody"
active = true
events = "all"
[flusher]
preset = "as_described"
threshold = 1.5
[gate]
allow = ["192.0.2.0/24", "2001:db8::/32"]
bytes_per_minute = 200000
bytes_per_flush = 100000
bdp_multiple = 1.25
max_rtt = "2s"
cool_down = "500ms"
max_cool_down = "30s"
[send]
port = 10
[metrics]
listen = "[::1]:9469"
"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn a_damaged_configuration_is_used_or_refused_in_one_sentence(
        places in proptest::collection::vec((0..RIGHT.len(), 0..4_u8, any::<char>()), 1..6),
    ) {
        let mut text: Vec<char> = RIGHT.chars().collect();
        for (place, how, character) in places {
            let Some(place) = place.checked_rem(text.len()) else { break };
            match how {
                0 => text[place] = character,
                1 => text.insert(place, character),
                2 => drop(text.remove(place)),
                _ => text.truncate(place),
            }
        }
        if let Err(e) = Config::parse(&text.into_iter().collect::<String>(), &[]) {
            prop_assert!(is_one_sentence(&e.to_string()), "{e}");
        }
    }

    #[test]
    fn any_value_of_any_key_is_used_or_refused_in_one_sentence(
        line in proptest::sample::select(RIGHT.lines().filter(|l| l.contains('=')).collect::<Vec<_>>()),
        value in prop_oneof![
            any::<f64>().prop_map(|v| format!("{v:?}").replace("NaN", "nan")),
            any::<i128>().prop_map(|v| v.to_string()),
            any::<String>().prop_map(|v| Value::from(v).to_string()),
            Just("[[[]]]".to_owned()),
            Just("{ a = { b = [] } }".to_owned()),
            Just("1979-05-27T07:32:00Z".to_owned()),
        ],
    ) {
        let key = line.split_once(" =").expect("a key").0;
        let text = RIGHT.replace(line, &format!("{key} = {value}"));
        if let Err(e) = Config::parse(&text, &[]) {
            prop_assert!(is_one_sentence(&e.to_string()), "{e}");
        }
    }
}
