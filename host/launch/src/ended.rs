//! How a command ended.

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// At its deadline, with every process it had started.
    Timeout,
    /// Its supervisor was killed, so the end is unknown.
    Lost,
}

impl Ended {
    /// The code that a shell would show.
    pub const fn code(self) -> i32 {
        match self {
            Self::Exit(code) => code,
            Self::Signal(number) => 128 + number,
            Self::Timeout => 124,
            Self::Lost => 137,
        }
    }
}
