//! One background process of the fake terminal. It does what the test says.

use super::{Fault, fault};
use crate::terminal::{Ended, Excerpt, Reason, Status};

/// The signal that ends a process that is killed.
pub(super) const TERMINATED: i32 = 15;

/// Lines of a log where nobody says how many: as on the host.
const LOG_LINES: u32 = 200;

/// Bytes of the output that a status shows: as on the host.
const TAIL: usize = 1_000;

pub(super) struct Process {
    id: String,
    command: String,
    ended: Option<Ended>,
    output: String,
    typed: Vec<u8>,
    closed: bool,
}

impl Process {
    pub(super) fn new(id: &str, command: &str) -> Self {
        let (id, command) = (id.to_owned(), command.to_owned());
        Self { id, command, ended: None, output: String::new(), typed: Vec::new(), closed: false }
    }

    pub(super) fn is(&self, id: &str) -> bool {
        self.id == id
    }

    pub(super) fn typed(&self) -> &[u8] {
        &self.typed
    }

    pub(super) fn print(&mut self, text: &str) {
        self.output.push_str(text);
    }

    /// An end is for ever.
    pub(super) fn end(&mut self, ended: Ended) {
        self.ended.get_or_insert(ended);
    }

    /// No clock here: it has always run for a minute and a half.
    pub(super) fn status(&self) -> Status {
        Status {
            id: self.id.clone(),
            command: self.command.clone(),
            pid: Some(4242),
            ended: self.ended,
            code: self.ended.map(code),
            note: None,
            ran: 90_000,
            tail: self.tail().to_owned(),
            printed: self.output.len() as u64,
            approval: None,
        }
    }

    fn tail(&self) -> &str {
        let from = self.output.len().saturating_sub(TAIL);
        // The end of a text is always a boundary of its characters.
        let from = (from..=self.output.len()).find(|at| self.output.is_char_boundary(*at)).unwrap_or_default();
        self.output.get(from..).unwrap_or_default()
    }

    pub(super) fn log(&self, from: Option<u64>, limit: Option<u32>) -> Excerpt {
        let lines: Vec<&str> = self.output.split_inclusive('\n').collect();
        let (total, limit) = (lines.len() as u64, u64::from(limit.unwrap_or(LOG_LINES)));
        let first = from.unwrap_or(total.saturating_sub(limit)).min(total);
        let given: Vec<&str> = lines.into_iter().skip(first as usize).take(limit as usize).collect();
        Excerpt { text: given.concat(), first, lines: given.len() as u32, oldest: 0, total }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.open()?;
        self.typed.extend_from_slice(bytes);
        Ok(())
    }

    pub(super) fn close(&mut self) -> Result<(), Fault> {
        self.open()?;
        self.closed = true;
        Ok(())
    }

    fn open(&self) -> Result<(), Fault> {
        let id = &self.id;
        match self.ended {
            Some(_) => Err(fault(Reason::Over, format!("process '{id}' has ended: read its log"))),
            None if self.closed => Err(fault(Reason::Over, format!("the input of process '{id}' is closed"))),
            None => Ok(()),
        }
    }
}

/// The code that a shell would show.
fn code(ended: Ended) -> i32 {
    match ended {
        Ended::Exit(code) => code,
        Ended::Signal(number) => 128 + number,
        Ended::Timeout => 124,
        Ended::Lost => 137,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_given_from_where_one_asks_or_from_the_end() {
        let mut process = Process::new("p", "seq");
        process.print("zero\none\ntwo\nthree");
        let given = |from, limit| {
            let excerpt = process.log(from, limit);
            (excerpt.text, excerpt.first, excerpt.lines, excerpt.total)
        };
        assert_eq!(given(Some(1), Some(2)), ("one\ntwo\n".into(), 1, 2, 4));
        assert_eq!(given(None, Some(2)), ("two\nthree".into(), 2, 2, 4));
        assert_eq!(given(Some(9), None), (String::new(), 4, 0, 4));
    }

    #[test]
    fn a_status_shows_the_last_of_a_long_output() {
        let mut process = Process::new("p", "yes");
        process.print(&"ü".repeat(TAIL));
        process.print("!");
        let tail = process.status().tail;
        assert!(tail.len() <= TAIL && tail.ends_with("ü!"), "{}", tail.len());
    }
}
