//! What host and launcher tell each other: single bytes one way, lines of text the other.

use crate::Ended;

/// To the supervisor: ask every process to end.
pub const TERMINATE: u8 = b't';

/// To the supervisor: end every process now. Losing the line means the same.
pub const END: u8 = b'k';

/// To the host, or from the init stage to its supervisor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The init stage is confined and about to start the command.
    Ready,
    /// The listener of the proxy comes with this message, as a descriptor.
    Proxy,
    /// The command runs, with this process id.
    Started(u32),
    /// The launcher itself failed before the command.
    Failed(String),
    /// A process that it left was ended.
    Left(String),
    /// It ended.
    Ended(Ended),
}

impl Report {
    /// One line.
    pub fn line(&self) -> String {
        match self {
            Self::Ready => "ready\n".into(),
            Self::Proxy => "proxy\n".into(),
            Self::Started(pid) => format!("started {pid}\n"),
            Self::Failed(why) => format!("failed {}\n", flat(why)),
            Self::Left(name) => format!("left {}\n", flat(name)),
            Self::Ended(Ended::Signal(number)) => format!("signal {number}\n"),
            Self::Ended(ended) => format!("exit {}\n", ended.code()),
        }
    }

    /// What a line says.
    pub fn read(line: &str) -> Option<Self> {
        let line = line.trim_end_matches('\n');
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        Some(match word {
            "ready" => Self::Ready,
            "proxy" => Self::Proxy,
            "started" => Self::Started(rest.parse().ok()?),
            "failed" => Self::Failed(rest.to_owned()),
            "left" => Self::Left(rest.to_owned()),
            "signal" => Self::Ended(Ended::Signal(rest.parse().ok()?)),
            "exit" => Self::Ended(Ended::Exit(rest.parse().ok()?)),
            _ => return None,
        })
    }
}

/// A process may give itself any name, and a line must stay one.
fn flat(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        for report in [
            Report::Ready,
            Report::Proxy,
            Report::Started(7),
            Report::Failed("no such file".into()),
            Report::Left("sleep".into()),
            Report::Ended(Ended::Exit(3)),
            Report::Ended(Ended::Signal(9)),
        ] {
            assert_eq!(Report::read(&report.line()), Some(report));
        }
    }

    #[test]
    fn a_name_with_a_line_break_is_no_second_report() {
        assert_eq!(Report::Left("a\nexit 0".into()).line(), "left a?exit 0\n");
    }
}
