//! Finds what was done to a log: lines removed, changed, moved, copied or put in.

use std::path::Path;

use super::{
    AuditError, Line,
    chain::{Link, ZEROS},
    files::Snapshot,
    head::Head,
    lines::AllLines,
};

/// Faults that are listed. Further ones are counted: a file of garbage has as many as it has lines.
const FAULTS: usize = 1_000;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Lines in all files, bad ones too.
    pub lines: u64,
    /// What is wrong, in the files' order; nothing where the log is whole.
    pub faults: Vec<Fault>,
    /// How many faults more there are than listed.
    pub more: u64,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The name of the file, where it is a full one.
    pub file: Option<String>,
    /// The line in the file, from 1. Where lines are missing at the end, the one that should come next.
    pub line: u64,
    /// What is wrong, as it reads after "line 7: ".
    pub what: String,
}

/// Reads the whole log as it is now. Appends go on meanwhile.
pub fn verify(dir: &Path) -> Result<Report, AuditError> {
    let mut snapshot = Snapshot::take(dir)?;
    let mut walk = Walk::new(snapshot.head.take());
    let mut lines = AllLines::of(snapshot);
    while let Some(line) = lines.next()? {
        let (number, offset) = lines.place();
        walk.report.lines += 1;
        walk.number = number;
        walk.file.clone_from(&lines.file);
        match line {
            Ok(line) => walk.follow(&line, offset),
            Err(why) => walk.skip(why),
        }
    }
    // What is missing at the end is missing in the last file.
    walk.number = lines.place().0;
    walk.file = None;
    Ok(walk.finish())
}

/// A walk along the chain. After a fault it goes on from what it found, so one fault is told once.
struct Walk {
    head: Option<Head>,
    /// Whether the line that the head names was found, or a fault was told where it should be.
    head_settled: bool,
    /// The line that the next one should follow.
    last: Link,
    /// A line in the wrong place, which the next one may follow as well: a whole piece may have been copied.
    aside: Option<Link>,
    /// Bad lines since the last good one. They may stand where lines are missing.
    bad: u64,
    /// The line that is looked at, in its file.
    number: u64,
    file: Option<String>,
    report: Report,
}

impl Walk {
    fn new(head: Option<Head>) -> Self {
        let head_settled = head.as_ref().is_none_or(|head| *head == Head::start());
        Self {
            head,
            head_settled,
            last: Link::start(),
            aside: None,
            bad: 0,
            number: 0,
            file: None,
            report: Report::default(),
        }
    }

    fn fault(&mut self, line: u64, what: impl Into<String>) {
        if self.report.faults.len() < FAULTS {
            self.report.faults.push(Fault { file: self.file.clone(), line, what: what.into() });
        } else {
            self.report.more += 1;
        }
    }

    fn skip(&mut self, why: &str) {
        self.bad += 1;
        self.fault(self.number, why);
    }

    fn follow(&mut self, line: &Line, end: u64) {
        if line.follows(&self.last) {
            self.go_on(line.link());
        } else if line.seq > self.last.seq {
            self.gap(line);
            self.go_on(line.link());
        } else {
            if !self.aside.as_ref().is_some_and(|aside| line.follows(aside)) {
                let what = format!(
                    "number {} stands after number {}: it was copied, moved or put in",
                    line.seq, self.last.seq
                );
                self.fault(self.number, what);
            }
            self.aside = Some(line.link());
        }
        self.compare_with_head(line, end);
    }

    fn go_on(&mut self, link: Link) {
        (self.last, self.aside, self.bad) = (link, None, 0);
    }

    /// A line that does not follow the last one, with a higher number.
    fn gap(&mut self, line: &Line) {
        if self.aside.as_ref().is_some_and(|aside| line.follows(aside)) {
            return;
        }
        let missing = line.seq - self.last.seq - 1;
        self.head_settled |=
            self.head.as_ref().is_some_and(|head| (self.last.seq + 1..line.seq).contains(&head.link.seq));
        let what = if missing > self.bad {
            format!("{} missing before number {}", lines_are(missing - self.bad), line.seq)
        } else if missing > 0 {
            return;
        } else if line.prev == ZEROS {
            "starts a new chain: audit.head was missing or unreadable, so lines may be missing before it".into()
        } else {
            "does not follow the line before it: one of the two was replaced or put in".into()
        };
        self.fault(self.number, what);
    }

    fn compare_with_head(&mut self, line: &Line, end: u64) {
        let Some(head) = self.head.as_ref().filter(|head| head.link == line.link()) else { return };
        let (settled, len) = (self.head_settled, head.len);
        self.head_settled = true;
        // A fault before this line has changed the length too, and was told.
        if !settled && len != end && self.report.faults.is_empty() {
            let what =
                format!("ends at byte {end}, not at {len} as audit.head has it: a bad line was put in or removed");
            self.fault(self.number, what);
        }
    }

    fn finish(mut self) -> Report {
        let (lines, last) = (self.number, self.last.seq);
        match self.head.as_ref().map(|head| head.link.seq) {
            None if self.report.lines > 0 => {
                self.fault(lines, "audit.head is missing or unreadable: lines after this one may be missing");
            }
            Some(seq) if !self.head_settled && seq > last.saturating_add(self.bad) => {
                let missing = seq - last - self.bad;
                let what = if missing == 1 {
                    "the last line is missing".into()
                } else {
                    format!("the last {missing} lines are missing")
                };
                self.fault(lines + 1, what);
            }
            Some(seq) if !self.head_settled && seq <= last => {
                self.fault(
                    lines,
                    format!("audit.head has another hash for number {seq}: the log or the head was replaced"),
                );
            }
            _ => {}
        }
        self.report
    }
}

fn lines_are(count: u64) -> String {
    if count == 1 { "1 line is".into() } else { format!("{count} lines are") }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::{
        super::{
            Audit, Record,
            files::{HEAD, LOG},
            record::tests::record,
        },
        *,
    };

    fn log(lines: usize) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::open(dir.path()).unwrap();
        (0..lines).for_each(|n| audit.append(record(&format!("call-{n}"))).unwrap());
        dir
    }

    fn lines(dir: &TempDir) -> Vec<Vec<u8>> {
        let bytes = fs::read(dir.path().join(LOG)).unwrap();
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    }

    /// The faults of a log of five lines that was changed in this way.
    fn faults(change: impl FnOnce(&mut Vec<Vec<u8>>)) -> Vec<(u64, String)> {
        let dir = log(5);
        let mut lines = lines(&dir);
        change(&mut lines);
        fs::write(dir.path().join(LOG), lines.concat()).unwrap();
        found(&dir)
    }

    fn found(dir: &TempDir) -> Vec<(u64, String)> {
        verify(dir.path()).unwrap().faults.into_iter().map(|fault| (fault.line, fault.what)).collect()
    }

    #[test]
    fn a_whole_log_has_no_faults() {
        assert_eq!(faults(|_| ()), []);
        assert_eq!(found(&log(0)), []);
    }

    #[test]
    fn deleted_lines_are_one_fault_wherever_they_were() {
        for (deleted, line, what) in [
            (0..1, 1, "1 line is missing before number 2"),
            (2..3, 3, "1 line is missing before number 4"),
            (1..4, 2, "3 lines are missing before number 5"),
            (4..5, 5, "the last line is missing"),
            (2..5, 3, "the last 3 lines are missing"),
            (0..5, 1, "the last 5 lines are missing"),
        ] {
            assert_eq!(faults(|lines| drop(lines.drain(deleted))), [(line, what.into())]);
        }
    }

    #[test]
    fn a_changed_byte_is_one_fault_wherever_it_is() {
        let len = lines(&log(1))[0].len();
        for line in [0, 2, 4] {
            for at in (0..len - 1).step_by(7) {
                let faults = faults(|lines| lines[line][at] ^= 1);
                assert_eq!((faults.len(), faults[0].0), (1, line as u64 + 1), "byte {at}: {faults:?}");
            }
        }
    }

    #[test]
    fn swapped_copied_and_inserted_lines_are_found() {
        let swapped = faults(|lines| lines.swap(1, 2));
        assert_eq!(swapped[0], (2, "1 line is missing before number 3".into()));
        assert_eq!(swapped[1], (3, "number 2 stands after number 3: it was copied, moved or put in".into()));
        assert_eq!(swapped.len(), 2);
        let copied = faults(|lines| lines.insert(2, lines[1].clone()));
        assert_eq!(copied, [(3, "number 2 stands after number 2: it was copied, moved or put in".into())]);
        let piece = faults(|lines| drop(lines.splice(4..4, lines[1..3].to_vec())));
        assert_eq!(piece, [(5, "number 2 stands after number 4: it was copied, moved or put in".into())]);
        let last = faults(|lines| lines.push(lines[4].clone()));
        assert_eq!(last, [(6, "number 5 stands after number 5: it was copied, moved or put in".into())]);
        let garbage = faults(|lines| lines.insert(3, b"hello\n".to_vec()));
        assert_eq!(garbage, [(4, "is not an audit line".into())]);
    }

    fn forged(lines: &[Vec<u8>], after: usize) -> Vec<u8> {
        let mut text = Vec::new();
        let before = Line::parse(lines[after].strip_suffix(b"\n").unwrap()).unwrap();
        before.link().extend(&mut text, &serde_json::to_string(&record("forged")).unwrap());
        text
    }

    #[test]
    fn a_forged_line_with_a_hash_of_its_own_is_found() {
        let put_in = faults(|lines| lines.insert(2, forged(lines, 1)));
        assert_eq!(put_in, [(4, "number 3 stands after number 3: it was copied, moved or put in".into())]);
        let replaced = faults(|lines| lines[2] = forged(lines, 1));
        assert_eq!(replaced, [(4, "does not follow the line before it: one of the two was replaced or put in".into())]);
        let last = faults(|lines| lines[4] = forged(lines, 3));
        assert_eq!(last, [(5, "audit.head has another hash for number 5: the log or the head was replaced".into())]);
    }

    #[test]
    fn a_head_that_is_missing_or_says_something_else_is_a_fault() {
        let dir = log(3);
        let path = dir.path().join(HEAD);
        let head = fs::read_to_string(&path).unwrap();
        let (seq, rest) = head.split_at(20);
        let (hash, len) = rest.split_at(65);
        for (bad, what) in [
            (format!("{:020}{rest}", 5), "the last 2 lines are missing"),
            (format!("{:020}{rest}", 2), "audit.head has another hash for number 2"),
            (format!("{seq} {ZEROS}{len}"), "audit.head has another hash for number 3"),
            (format!("{seq}{hash} {:020}\n", 7), "not at 7 as audit.head has it"),
            ("nonsense".into(), "audit.head is missing or unreadable"),
            (String::new(), "audit.head is missing or unreadable"),
        ] {
            fs::write(&path, &bad).unwrap();
            let found = found(&dir);
            assert!(found.len() == 1 && found[0].1.contains(what), "{bad}: {found:?}");
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(found(&dir).len(), 1);
    }

    #[test]
    fn a_deleted_line_that_a_lagging_head_names_is_one_fault() {
        let dir = log(3);
        let head = fs::read(dir.path().join(HEAD)).unwrap();
        Audit::open(dir.path()).unwrap().append(record("after")).unwrap();
        fs::write(dir.path().join(HEAD), head).unwrap();
        let lines = lines(&dir);
        fs::write(dir.path().join(LOG), [&lines[..2], &lines[3..]].concat().concat()).unwrap();
        assert_eq!(found(&dir), [(3, "1 line is missing before number 4".into())]);
    }

    #[test]
    fn a_removed_log_is_missed_and_garbage_is_counted_in_bounded_memory() {
        let dir = log(3);
        fs::remove_file(dir.path().join(LOG)).unwrap();
        assert_eq!(found(&dir), [(1, "the last 3 lines are missing".into())]);
        Audit::open(dir.path()).unwrap();
        fs::write(dir.path().join(LOG), "\n".repeat(FAULTS + 500)).unwrap();
        let report = verify(dir.path()).unwrap();
        assert_eq!((report.lines, report.faults.len(), report.more), (FAULTS as u64 + 500, FAULTS, 500));
    }

    #[derive(Clone, Debug)]
    enum Mutation {
        Delete(prop::sample::Index),
        Flip(prop::sample::Index, u8),
        Swap(prop::sample::Index, prop::sample::Index),
        Truncate(prop::sample::Index),
        Duplicate(prop::sample::Index, prop::sample::Index),
    }

    fn mutation() -> impl Strategy<Value = Mutation> {
        let index = any::<prop::sample::Index>;
        prop_oneof![
            index().prop_map(Mutation::Delete),
            (index(), 1..=255u8).prop_map(|(at, mask)| Mutation::Flip(at, mask)),
            (index(), index()).prop_map(|(a, b)| Mutation::Swap(a, b)),
            index().prop_map(Mutation::Truncate),
            (index(), index()).prop_map(|(from, to)| Mutation::Duplicate(from, to)),
        ]
    }

    /// The log after the mutation; none where it changes nothing.
    fn mutate(mut lines: Vec<Vec<u8>>, mutation: &Mutation) -> Option<Vec<u8>> {
        let (mut bytes, count) = (lines.concat(), lines.len());
        match mutation {
            Mutation::Delete(at) => drop(lines.remove(at.index(count))),
            Mutation::Swap(a, b) => lines.swap(a.index(count), b.index(count)),
            Mutation::Duplicate(from, to) => lines.insert(to.index(count + 1), lines[from.index(count)].clone()),
            Mutation::Flip(at, mask) => {
                let at = at.index(bytes.len());
                bytes[at] ^= mask;
                return Some(bytes);
            }
            Mutation::Truncate(at) => {
                bytes.truncate(at.index(bytes.len()));
                return Some(bytes);
            }
        }
        Some(lines.concat()).filter(|changed| *changed != bytes)
    }

    proptest! {
        #[test]
        fn any_mutation_is_found_and_an_append_never_repairs_it(
            texts in prop::collection::vec(("\\PC{0,12}", any::<String>(), any::<u64>()), 1..10),
            mutation in mutation(),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let audit = Audit::open(dir.path()).unwrap();
            for (call, tool, fuel) in texts {
                audit.append(Record { tool, fuel, ..record(&call) }).unwrap();
            }
            prop_assert_eq!(found(&dir), []);
            let before = lines(&dir).concat();
            let changed = mutate(lines(&dir), &mutation);
            prop_assume!(changed.is_some());
            let changed = changed.unwrap();
            fs::write(dir.path().join(LOG), &changed).unwrap();
            prop_assert_ne!(found(&dir), []);
            // A whole line that lost only its end gets it back, and nothing is lost then.
            if changed.len() + 1 != before.len() {
                audit.append(record("after")).unwrap();
                prop_assert_ne!(found(&dir), []);
                Audit::open(dir.path()).unwrap().append(record("after")).unwrap();
                prop_assert_ne!(found(&dir), []);
            }
        }
    }
}
