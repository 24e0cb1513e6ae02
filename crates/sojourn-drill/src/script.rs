//! What a packetdrill script says, line by line.

use crate::expr::Statement;
use crate::words::Missing;
use sojourn_tcp::FieldOrder;
use sojourn_units::{Duration, Ecn};

/// A script: options, then events in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The lines `--name=value` before the first event.
    pub options: Vec<ScriptOption>,
    /// What happens, in the order of the file.
    pub events: Vec<Event>,
}

/// An option of the script, such as `--mss=1000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptOption {
    /// Line of the file, from 1.
    pub line: u32,
    /// Its name, without the dashes.
    pub name: String,
    /// Its value; empty if there is none.
    pub value: String,
}

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Line of the file, from 1.
    pub line: u32,
    /// When it happens.
    pub when: When,
    /// What happens.
    pub action: Action,
}

/// When an event happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At this time since the script began.
    At(Duration),
    /// So long after the event before it.
    After(Duration),
    /// Between these times since the script began.
    Between(Duration, Duration),
    /// Between these times after the event before it.
    Within(Duration, Duration),
    /// At any time (`*`).
    Any,
}

/// What an event does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A segment arrives at the endpoint (`<`).
    Arrives(Packet),
    /// The endpoint must send a segment (`>`).
    Leaves(Packet),
    /// The application calls the kernel.
    Call(Call),
    /// Commands of a shell, in backticks.
    Command(String),
    /// Python about `tcp_info`, between `%{` and `}%`.
    Check(Vec<Statement>),
    /// Something that may be right, but that is not known here. What follows it has not been read.
    Unknown(Missing),
    /// A packet that is no TCP segment.
    Foreign {
        /// What it is, such as `icmp`.
        word: String,
        /// The rest of its line.
        rest: String,
        /// Whether it arrives (`<`).
        arrives: bool,
    },
}

/// A TCP segment as a script writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Codepoint of the IP header, if the script gives one.
    pub ecn: Option<Ecn>,
    /// Letters of the flags: `S`, `F`, `R`, `P`, `.` (ACK), `E`, `W` (CWR), `A` (AE), `U`; `-` for none.
    /// A digit of a script, the ACE field (RFC 9768), is here as its letters.
    pub flags: String,
    /// First sequence number.
    pub start: u32,
    /// Payload bytes.
    pub len: u32,
    /// Acknowledgement number.
    pub ack: Option<u32>,
    /// Window field.
    pub window: Option<u16>,
    /// Urgent pointer.
    pub urgent: Option<u32>,
    /// TCP options; `None` for `<...>`, which stands for any.
    pub options: Option<Vec<TcpOption>>,
}

impl Packet {
    /// Whether the flags have this letter.
    #[must_use]
    pub fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }

    /// Its timestamp (RFC 7323), if it has one.
    #[must_use]
    pub fn timestamp(&self) -> Option<u32> {
        self.options.iter().flatten().find_map(|option| match option {
            TcpOption::Timestamps(value, _) => Some(*value),
            _ => None,
        })
    }
}

/// A TCP option as a script writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    /// `nop`.
    Nop,
    /// `eol`.
    End,
    /// `mss N` (RFC 9293 section 3.7.1).
    Mss(u16),
    /// `sackOK` (RFC 2018 section 2).
    SackOk,
    /// `TS val N ecr N` (RFC 7323 section 3.2).
    Timestamps(u32, u32),
    /// `wscale N` (RFC 7323 section 2.2).
    WindowScale(u8),
    /// `sack N:N ...` (RFC 2018 section 3).
    Sack(Vec<(u32, u32)>),
    /// `FO cookie` or `FO` (RFC 7413 section 4.1.1).
    FastOpen(Vec<u8>),
    /// The same by the number for experiments (RFC 6994): `FOEXP cookie`.
    FastOpenExperiment(Vec<u8>),
    /// `ECN e1b N ceb N e0b N`, or the other way round, with no more fields than it has (RFC 9768 section 3.2.3).
    AccEcn(FieldOrder, Vec<u32>),
    /// `md5 digest` (RFC 2385).
    Md5(Vec<u8>),
    /// Any other, by its first word.
    Other(String),
}

/// The names of an AccECN option's fields.
pub(crate) fn field_names(order: FieldOrder) -> [&'static str; 3] {
    match order {
        FieldOrder::Ect0First => ["e0b", "ceb", "e1b"],
        FieldOrder::Ect1First => ["e1b", "ceb", "e0b"],
    }
}

/// A system call with what it must answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Name of the call.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Value>,
    /// What it must answer; `None` for `...`.
    pub result: Option<i64>,
    /// The name of the error that it must answer.
    pub error: Option<String>,
    /// If it blocks: when it must end, counted as the event's time is.
    pub ends: Option<Duration>,
}

impl Call {
    /// The number that an argument is.
    pub(crate) fn number(&self, argument: usize) -> Option<i64> {
        self.args.get(argument)?.number()
    }

    /// The only word that an argument is.
    pub(crate) fn word(&self, argument: usize) -> Option<&str> {
        self.args.get(argument)?.word()
    }

    /// Whether this word is in an argument, in whatever depth.
    pub(crate) fn has_word(&self, argument: usize, word: &str) -> bool {
        self.args.get(argument).is_some_and(|value| value.has_word(word))
    }
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `...`: anything.
    Any,
    /// A number.
    Number(i64),
    /// Names joined by `|`.
    Words(Vec<String>),
    /// A text in quotes.
    Text(String),
    /// `[a, b]`.
    List(Vec<Value>),
    /// `{name=value, ...}`; a value without a name has an empty one.
    Fields(Vec<(String, Value)>),
}

impl Value {
    /// The number that this is, also as the only member of a list.
    #[must_use]
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Number(n) => Some(*n),
            Self::List(list) => match &list[..] {
                [one] => one.number(),
                _ => None,
            },
            _ => None,
        }
    }

    /// The only word that this is.
    #[must_use]
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Words(words) => match &words[..] {
                [one] => Some(one),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value of this name.
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        let Self::Fields(fields) = self else { return None };
        fields.iter().find(|field| field.0 == name).map(|field| &field.1)
    }

    /// Whether this word is in this, in whatever depth.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        let mut found = false;
        self.each_word(&mut |one| found |= one == word);
        found
    }

    /// All words in this, in whatever depth.
    pub fn each_word<'a>(&'a self, tell: &mut impl FnMut(&'a str)) {
        match self {
            Self::Words(words) => words.iter().for_each(|w| tell(w)),
            Self::List(list) => list.iter().for_each(|v| v.each_word(tell)),
            Self::Fields(fields) => {
                for (name, value) in fields {
                    if !name.is_empty() {
                        tell(name);
                    }
                    value.each_word(tell);
                }
            }
            Self::Any | Self::Number(_) | Self::Text(_) => {}
        }
    }
}
