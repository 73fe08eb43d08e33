//! Files by their names.

use std::{
    os::fd::BorrowedFd,
    sync::{Mutex, PoisonError},
};

use super::{
    halt::Halt,
    order::{Order, fitting},
    records::{Filter, Found, Granularity, Problem, Rules, Start, Stop},
    skipped::Skip,
    walk::{self, Visit},
};

/// Paths of one answer. A model reads some dozens.
const PATHS: u32 = 10_000;

/// Finds the files below a folder that a filter lets through. All are counted; the wanted ones are given. What they hold is not
/// looked at, so other names of them don't matter here.
pub(crate) fn find(start: &Start<'_>, filter: &Filter, rules: &Rules<'_>, stop: &Stop<'_>) -> Result<Found, Problem> {
    let take = filter.take.min(PATHS);
    let order = Mutex::new(Order::new(Granularity::Files, filter.skip, take));
    let halt = Halt::new(*stop);
    let names = || Names { order: &order, end: None };
    let extent = walk::over(start, filter, rules, &halt, names)?.extent(&halt);
    let order = order.into_inner().unwrap_or_else(PoisonError::into_inner);
    let paths = fitting(order.wanted().map(|file| start.show(&file.path)), String::as_str);
    Ok(Found { paths, total: extent.files, extent })
}

struct Names<'a> {
    order: &'a Mutex<Order>,
    /// Where the order ended when it was last asked: most paths are beyond that and need no lock.
    end: Option<Vec<u8>>,
}

impl Visit for Names<'_> {
    fn file(&mut self, _: BorrowedFd<'_>, _: &[u8], path: &[u8]) -> Result<(), Skip> {
        if self.end.as_deref().is_none_or(|end| path < end) {
            let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
            order.offer(path, 1);
            if order.end() != self.end.as_deref() {
                self.end = order.end().map(Into::into);
            }
        }
        Ok(())
    }

    fn opened(&mut self, file: BorrowedFd<'_>) -> Result<(), Skip> {
        self.file(file, b"", b"")
    }
}
