use super::*;
use crate::expr::Act;
use crate::script::{TcpOption, Value};
use crate::target::Trouble;
use crate::value::Scalar;
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

/// packetdrill's lexer takes blanks, line ends and remarks between all words and signs.
#[test]
fn blanks_in_a_segment_mean_nothing() {
    let tight = only("+0 < [ect0] P.5 1:5(4) ack 1 win 100 urg 2 <mss 10,TS val 1 ecr 2,sack 7:9 11:13>");
    let loose = "+0 < [ ect0 ]\tP .5  1 : 5\t( 4 ) ack  1 // remark\n  win\t100 urg 2 < mss 10 ,
        TS  val 1\tecr  2, /* and */ sack 7 : 9   11:13 >\n+0 `true`";
    assert_eq!(only(loose), tight);
    assert_eq!(parse(loose).expect("it is a script").events.len(), 2);
    assert_eq!(only("0 > . 1:1(0) < ... >"), only("0 > . 1:1(0) <...>"));
}

#[test]
fn a_word_of_a_segment_that_is_not_known_is_no_damage() {
    for (text, word) in [
        ("0 > [ect01] . 1:1(0)", "ect01"),
        ("0 > (tos 0x3) . 1:1(0)", "tos"),
        ("0 > [ect0, flowlabel 0x1] . 1:1(0)", "flowlabel"),
        ("0 < 1234 > 80 S 0:0(0)", "ports of a segment"),
        ("0 < S 0:0(0) win 1 psh 3", "psh"),
    ] {
        match only(text) {
            Action::Unknown(missing) => assert_eq!(missing.word, word),
            other => panic!("{text}: {other:?}"),
        }
    }
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

/// The value of an expression in a script, where `x` is 7.
fn value(text: &str) -> Result<Scalar, Trouble> {
    let Action::Check(checks) = only(&format!("0 %{{ {text} }}%")) else {
        panic!("no check")
    };
    match &checks[0].act {
        Act::Compute(value) => value.value(&|name| (name == "x").then_some(Scalar::Int(7))),
        Act::Unknown(missing) => Err(missing.clone().into()),
        other => panic!("{other:?}"),
    }
}

/// Each was computed by Python 3.11.
#[test]
fn expressions_have_the_values_of_python() {
    for (text, expected) in [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("-7 // 2", "-4"),
        ("-7 % 3", "2"),
        ("(x & 4) != 0", "True"),
        ("5 <= x <= 6", "False"),
        ("not x == 7 or x == 7 and 3", "3"),
        ("1460 - 12", "1448"),
        ("1 << 4 | 1", "17"),
        ("-2 ** 2 + 0x10", "12"),
        ("'x=%d' % x", "x=7"),
        (
            "'%d/%-5s|%05.1f %x %r %%' % (x, 'ab', 2.55, 255, 'q')",
            "7/ab   |002.5 ff 'q' %",
        ),
        ("f'{x} {x + 1:03d} {1/4:.2f} {{}} {\"t\":>3}'", "7 008 0.25 {}   t"),
        ("'a' \"b\" r'\\n'", "ab\\n"),
        ("1.5 + x", "8.5"),
        ("7 / 2, 6 / 2, (1,), True", "(3.5, 3.0, (1,), True)"),
        ("x in (5, 7) and x not in [8]", "True"),
        ("'big' if x > 9 else 'small'", "small"),
        (
            "max(1, x), min([4, 2]), abs(-3), sum((1, 2)), len('abc')",
            "(7, 2, 3, 3, 3)",
        ),
        (
            "round(2.5), round(2.567, 2), int(-2.5), int('12'), float(3)",
            "(2, 2.57, -2, 12, 3.0)",
        ),
        ("18446744073709551615 > x # the largest", "True"),
    ] {
        assert_eq!(
            value(text).map(|value| value.to_string()),
            Ok(expected.to_string()),
            "{text}"
        );
    }
    for (text, clause) in [
        ("1 // 0", "a number is divided by zero"),
        ("y", "y is not known"),
        ("1 < 'a'", "1 and 'a' cannot be compared"),
        ("'%d %d' % 1", "a format has too few values"),
        ("'a' - 1", "- has no meaning for 'a' and 1"),
    ] {
        assert_eq!(value(text), Err(Trouble::Wrong(clause.into())), "{text}");
    }
}

/// What Python may mean and this does not know is not damage; what would grow without bound neither.
#[test]
fn what_is_not_known_of_python_is_named() {
    let deep = format!("{}1", "(".repeat(10_000));
    let long = format!("0{}", " + 1".repeat(200_000));
    for (text, word) in [
        ("import os", "import"),
        ("if x: pass", "if"),
        ("__import__('os').system('id')", "__import__()"),
        ("open('/etc/passwd')", "open()"),
        ("'{}'.format(x)", ".format"),
        ("[x for x in (1, 2)]", "for"),
        ("lambda: x", "lambda"),
        ("x[-1]", "["),
        ("a, b = 1, 2", "a target of = that is no name"),
        ("{1: 2}", "{"),
        ("print x", "print without parentheses"),
        ("print(x, end='')", "end="),
        ("a = b = x", "more than one ="),
        ("'a' * 1000000000", "a text or tuple that is repeated"),
        ("'%999999999d' % x", "a width of more than 100"),
        ("2 ** -1", "a power that is no integer"),
        ("9 ** 9 ** 9", "an integer beyond 127 bits"),
        ("1 << 1000000", "an integer beyond 127 bits"),
        (long.as_str(), "a statement of more than 2000 bytes"),
        (deep.as_str(), "more than 32 parentheses inside each other"),
    ] {
        match value(text) {
            Err(Trouble::Missing(missing)) => assert_eq!(missing.word, word, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
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
    let deep = format!("0 f({}) = 0", "[".repeat(10_000));
    assert!(refused(&deep).contains("fewer lists"));
}
