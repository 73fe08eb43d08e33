//! Files by their contents: first all are searched and their matching lines counted, then the wanted lines are read.
//!
//! Which lines are wanted is known only when every file was counted. So nothing but counts is kept meanwhile, and a few files are
//! read once more.

use std::{
    os::fd::{AsFd, BorrowedFd},
    sync::{Mutex, PoisonError},
};

use super::{
    give::Giver,
    halt::Halt,
    open::{self, Regular},
    order::{Order, fitting},
    pattern::Pattern,
    read::Reader,
    records::{Findings, Granularity, Problem, Query, Rules, Start, Stop, Tally},
    skipped::Skip,
    walk::{self, Visit},
};

/// Lines or files of one answer, lines of context not counted. A model reads some dozens.
const FINDINGS: u32 = 10_000;

/// Searches the files below a folder that a filter lets through. All matches are counted; the wanted ones are given.
pub(crate) fn search(
    start: &Start<'_>,
    query: &Query,
    rules: &Rules<'_>,
    stop: &Stop<'_>,
) -> Result<Findings, Problem> {
    let pattern = Pattern::new(&query.pattern)?;
    let order = Mutex::new(Order::new(query.granularity, query.filter.skip, query.filter.take.min(FINDINGS)));
    let large = Mutex::new(Vec::new());
    let halt = Halt::with_time_left(*stop);
    let walked = walk::over(start, &query.filter, rules, &halt, || Counts {
        pattern: pattern.clone(),
        reader: Reader::new(&large),
        halt: &halt,
        rules,
        order: &order,
        total: 0,
        files: 0,
    })?;
    let mut findings = Findings {
        hits: Vec::new(),
        files: Vec::new(),
        total: walked.visits.iter().map(|counts| counts.total).sum(),
        total_files: walked.visits.iter().map(|counts| counts.files).sum(),
        masked: 0,
        extent: walked.extent(&halt),
    };
    // They hold on to the order.
    drop(walked.visits);
    let mut wanted = order.into_inner().unwrap_or_else(PoisonError::into_inner).wanted();
    match query.granularity {
        Granularity::Files => {
            let tallies = wanted.map(|file| Tally { path: start.show(&file.path), count: file.count });
            findings.files = fitting(tallies, |tally| &tally.path);
        }
        Granularity::Lines => {
            let halt = Halt::new(*stop);
            let mut giver = Giver { start, query, rules, halt: &halt, pattern, findings: &mut findings, bytes: 0 };
            let mut reader = Reader::new(&large);
            let _ = wanted.try_for_each(|file| giver.give(&mut reader, &file));
            findings.extent.stopped = findings.extent.stopped.or(halt.reason());
        }
    }
    Ok(findings)
}

/// A thread's counts.
struct Counts<'a> {
    pattern: Pattern,
    reader: Reader<'a>,
    halt: &'a Halt<'a>,
    rules: &'a Rules<'a>,
    order: &'a Mutex<Order>,
    /// Matching lines.
    total: u64,
    /// Files with any.
    files: u64,
}

impl Counts<'_> {
    fn count<Fd: AsFd>(&mut self, file: &Regular<Fd>, path: &[u8]) -> Result<(), Skip> {
        let Self { pattern, halt, rules, .. } = self;
        let mut lines = |text: &[u8]| {
            let mut count = 0;
            pattern.lines(text, halt, &mut |_| {
                count += 1;
                true
            })?;
            Ok(count)
        };
        let count = self.reader.text(file, |text| match lines(text)? {
            0 => Ok(0),
            count => rules.masked(text).map_or(Ok(count), |masked| lines(&masked)),
        })?;
        if count > 0 {
            self.total += count;
            self.files += 1;
            self.order.lock().unwrap_or_else(PoisonError::into_inner).offer(path, count);
        }
        Ok(())
    }
}

impl Visit for Counts<'_> {
    fn file(&mut self, at: BorrowedFd<'_>, name: &[u8], path: &[u8]) -> Result<(), Skip> {
        let file = open::regular(at, name, self.rules.hard_links)?;
        self.count(&file, path)
    }

    fn opened(&mut self, file: BorrowedFd<'_>) -> Result<(), Skip> {
        let file = open::checked(file, self.rules.hard_links)?;
        self.count(&file, b"")
    }
}
