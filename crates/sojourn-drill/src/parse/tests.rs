use super::*;
use crate::expr::Scalar;
use crate::script::{TcpOption, Value};
use sojourn_units::Ecn;

fn only(text: &str) -> Action {
    parse(text).expect("it is a script").events.remove(0).action
}

fn refused(text: &str) -> String {
    parse(text).expect_err("it is none").to_string()
}

#[test]
fn times_are_absolute_relative_ranges_or_any() {
    let ms = Duration::from_millis;
    for (text, when) in [
        ("0.1", When::At(ms(100))),
        ("+.04", When::After(ms(40))),
        ("+0~+.04", When::Within(ms(0), ms(40))),
        ("1~1.5", When::Between(ms(1000), ms(1500))),
        ("*", When::Any),
    ] {
        let script = parse(&format!("{text} > . 1:1(0) ack 1")).expect("it is a script");
        assert_eq!(script.events[0].when, when, "{text}");
    }
    let Action::Call(call) = only("+.1 ... 0.2 connect(3, ..., ...) = 0") else {
        panic!("no call")
    };
    assert_eq!(call.ends, Some(ms(200)));
}

#[test]
fn a_segment_has_flags_numbers_and_options() {
    let Action::Arrives(packet) = only("+0 < [ce] SEW 0:0(0) win 100 <mss 1000,sackOK,TS val 1 ecr 0,nop,wscale 7>")
    else {
        panic!("no segment")
    };
    assert_eq!(
        (packet.flags.as_str(), packet.window, packet.ecn),
        ("SEW", Some(100), Some(Ecn::Ce))
    );
    assert_eq!(packet.options.as_ref().map(Vec::len), Some(5));
    let Action::Leaves(packet) = only("+0 > P. 1:1001(1000) ack 5 <nop, nop, sack 7:9 11:13>") else {
        panic!("no segment")
    };
    assert_eq!((packet.start, packet.len, packet.ack), (1, 1000, Some(5)));
    let sacks = TcpOption::Sack(vec![(7, 9), (11, 13)]);
    assert_eq!(packet.options, Some(vec![TcpOption::Nop, TcpOption::Nop, sacks]));
}

#[test]
fn a_call_has_arguments_a_result_and_an_error() {
    let Action::Call(call) = only("0 write(4, ..., 10) = -1 EAGAIN (Try again)") else {
        panic!("no call")
    };
    assert_eq!(call.args, [Value::Number(4), Value::Any, Value::Number(10)]);
    assert_eq!((call.result, call.error.as_deref()), (Some(-1), Some("EAGAIN")));
    let Action::Call(call) = only("0 f(3, {a(...)=..., b(1)=[{..., 2}],\n c=X|Y}, 0x10) = ...") else {
        panic!("no call")
    };
    let fields = vec![
        ("a".to_string(), Value::Any),
        (
            "b".into(),
            Value::List(vec![Value::Fields(vec![
                (String::new(), Value::Any),
                (String::new(), Value::Number(2)),
            ])]),
        ),
        ("c".into(), Value::Words(vec!["X".into(), "Y".into()])),
    ];
    assert_eq!(call.args[1..], [Value::Fields(fields), Value::Number(16)]);
    assert_eq!(call.result, None);
}

#[test]
fn expressions_bind_as_in_python() {
    let value = |text: &str| {
        let Action::Check(checks) = only(&format!("0 %{{ assert {text} }}%")) else {
            panic!("no check")
        };
        checks[0]
            .condition
            .value(&|name| (name == "x").then_some(Scalar::Int(7)))
    };
    for (text, expected) in [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("(x & 4) != 0", 1),
        ("5 <= x <= 6", 0),
        ("not x == 7 or x == 7 and 3", 3),
        ("1460 - 12", 1448),
        ("1 << 4 | 1", 17),
    ] {
        assert_eq!(value(text), Ok(Scalar::Int(expected)), "{text}");
    }
    assert_eq!(value("'x=%d' % x"), Ok(Scalar::Text("x=7".into())));
    assert_eq!(value("1.5 + x"), Ok(Scalar::Float(8.5)));
    assert!(value("1 // 0").is_err());
    assert!(value("y").is_err());
}

#[test]
fn checks_go_over_lines_and_comments_are_skipped() {
    let text = "// remark\n0 %{ assert 1 == 1, 1;\\\n  assert 2 == 2 # so\nassert 3}%\n/* end */ +0 `true`\n`x`";
    let script = parse(text).expect("it is a script");
    let Action::Check(checks) = &script.events[0].action else {
        panic!("no check")
    };
    let lines: Vec<u32> = checks.iter().map(|c| c.line).collect();
    assert_eq!(
        (lines, script.events[0].line, script.events[2].line),
        (vec![2, 3, 4], 2, 6)
    );
}

#[test]
fn what_is_no_script_is_refused_in_a_sentence_with_its_line() {
    for (text, sentence) in [
        (
            "0 socket(",
            "line 1: expected an argument, but found the end of the script",
        ),
        ("\n\nx", "line 3: expected a time, but found `x`"),
        ("0 < Q 1:1(0)", "line 1: expected TCP flags, but found `Q 1:1(0)`"),
        (
            "0 < . 1:3(1)",
            "line 1: expected a length that is the difference of the numbers, but found `1:3(1)`",
        ),
        (
            "0 `x",
            "line 1: expected a backtick that ends the commands, but found `x`",
        ),
        (
            "0 %{ assert 1",
            "line 1: expected }% that ends the check, but found the end of the script",
        ),
        (
            "1000000 `x`",
            "line 1: expected a time of at most one day, but found ``x``",
        ),
        (
            "0 < . 99999999999:1(0)",
            "line 1: expected a smaller number, but found `99999999999:1(0)`",
        ),
    ] {
        assert_eq!(refused(text), sentence);
    }
    let deep = format!("0 %{{ assert {}1 }}%", "(".repeat(10_000));
    assert!(refused(&deep).contains("fewer parentheses"));
    let deep = format!("0 f({}) = 0", "[".repeat(10_000));
    assert!(refused(&deep).contains("fewer lists"));
}
