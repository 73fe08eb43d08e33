//! Writes the log, for many threads and processes at once.
//!
//! Nothing is forced to the disk: that takes milliseconds, on each call. A line that was written survives the death of the host,
//! since the kernel has it. A loss of power may cost the last seconds; where it costs lines that the head knows of, that shows.

use std::{
    fs::DirBuilder,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, FileExt},
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{
    AuditError, Line, Record,
    chain::{Link, ZEROS},
    files::{HEAD, LOG, OwnFile, full_name},
    head::Head,
    lines::LINE_BYTES,
};

/// How often files that were replaced are opened again for one line. Once is what a person who moves them away causes; several processes
/// that fill small logs at the same time cause a few more.
const REOPENINGS: usize = 64;

/// Bytes read at the end of the log to find its last line, at first: usually five lines.
const WINDOW: usize = 4 << 10;

/// And at most: room for the longest line behind others that crashes cut short. Where there is only garbage, the head is all that
/// is known.
const LAST_WINDOW: usize = 4 * LINE_BYTES;

/// Appends to the two files. One thread at a time; other processes may append to the same files.
pub(super) struct Writer {
    dir: PathBuf,
    log: OwnFile,
    head: OwnFile,
    /// Where the log ended after this writer's last line.
    end: Option<Head>,
}

impl Writer {
    /// Opens the log in the host's home, made where it is missing.
    pub(super) fn open(dir: &Path) -> Result<Self, AuditError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|why| AuditError::Io { path: dir.into(), why })?;
        let log = OwnFile::open_or_make(dir.join(LOG), true)?;
        let head = OwnFile::open_or_make(dir.join(HEAD), false)?;
        let writer = Self { dir: dir.into(), log, head, end: None };
        writer.log.lock()?;
        let begun = writer.begin();
        writer.log.unlock()?;
        begun.map_err(|why| writer.head.error(why))?;
        Ok(writer)
    }

    /// A new log gets its head before its first line: lines without a head are a fault.
    fn begin(&self) -> io::Result<()> {
        let new = self.log.file.metadata()?.len() == 0 && self.head.file.metadata()?.len() == 0;
        if new { Head::start().write(&self.head.file) } else { Ok(()) }
    }

    /// Locks the log against other processes and says how long it is. One that is full makes way for a new one. On an error it is not
    /// locked.
    pub(super) fn lock(&mut self, full: u64) -> Result<u64, AuditError> {
        for _ in 0..REOPENINGS {
            self.log.lock()?;
            match self.log.len_in_place() {
                Some(len) if self.head.exists() => match self.rotate(len, full) {
                    Ok(false) => return Ok(len),
                    Ok(true) => {}
                    Err(why) => {
                        self.log.unlock()?;
                        return Err(self.log.error(why));
                    }
                },
                _ => {}
            }
            self.log.unlock()?;
            *self = Self::open(&self.dir)?;
        }
        Err(self.log.error(io::Error::other("its files are replaced again and again")))
    }

    /// Renames a log that is full, by its last line, and says whether it did. The log is locked. The head stays: the next file goes on
    /// from it. Where the head or the last line can't be read the log grows on, so that no fault is hidden by a new file.
    fn rotate(&mut self, len: u64, full: u64) -> io::Result<bool> {
        if len < full {
            return Ok(false);
        }
        let (Some(head), (Some(tail), _)) = (Head::read(&self.head.file)?, self.tail(len)?) else { return Ok(false) };
        let last = tail.seq.max(head.link.seq);
        // A head that lags after a crash would let the next file begin before the last line of this one.
        if tail.seq > head.link.seq {
            Head { link: tail, len }.write(&self.head.file)?;
        }
        match renameat_with(CWD, &self.log.path, CWD, self.dir.join(full_name(last)), RenameFlags::NOREPLACE) {
            Ok(()) => Ok(true),
            // Nothing of this name is written over.
            Err(rustix::io::Errno::EXIST) => Ok(false),
            Err(why) => Err(why.into()),
        }
    }

    /// Lets other processes at the log.
    pub(super) fn unlock(&self) -> Result<(), AuditError> {
        self.log.unlock()
    }

    /// Appends these lines to the log, which is locked and this long, and says how long it is then. After an error it has the
    /// lines it had before.
    pub(super) fn write(&mut self, records: &[Record], len: u64) -> Result<u64, AuditError> {
        let (mut link, torn) = match self.end.take() {
            Some(end) if end.len == len => (end.link, false),
            _ => self.find_end(len).map_err(|why| self.log.error(why))?,
        };
        // What a crash cut short stays, on a line of its own.
        let mut text = if torn { vec![b'\n'] } else { Vec::new() };
        for record in records {
            let record = serde_json::to_string(record).map_err(|why| self.log.error(why.into()))?;
            link = link.extend(&mut text, &record);
        }
        let head = Head { link, len: len + text.len() as u64 };
        let written = match (&self.log.file).write(&text) {
            Ok(count) if count == text.len() => head.write(&self.head.file).map_err(|why| self.head.error(why)),
            Ok(_) => Err(self.log.error(io::Error::new(io::ErrorKind::WriteZero, "there is no room for a whole line"))),
            Err(why) => Err(self.log.error(why)),
        };
        // Should this fail too, a line that is cut short is left, and the next append deals with it.
        written.inspect_err(|_| drop(self.log.file.set_len(len)))?;
        Ok(self.end.insert(head).len)
    }

    /// The line to go on from, and whether the last line lacks its end. The lines are believed where they go further than the
    /// head, which lags after a crash. Else the head is: what it knows of and the log lacks must stay missed.
    fn find_end(&self, len: u64) -> io::Result<(Link, bool)> {
        let head = Head::read(&self.head.file)?;
        let (tail, torn) = self.tail(len)?;
        let link = match (head, tail) {
            (Some(head), Some(tail)) if tail.seq > head.link.seq => tail,
            (Some(head), _) => head.link,
            // Lines may be missing here, and nobody can tell: a new chain begins.
            (None, Some(tail)) => Link { hash: ZEROS.into(), ..tail },
            (None, None) => Link::start(),
        };
        Ok((link, torn))
    }

    /// The last whole line, if there is one near the end, and whether the log lacks a final `\n`.
    fn tail(&self, len: u64) -> io::Result<(Option<Link>, bool)> {
        let mut window = WINDOW;
        loop {
            let start = len.saturating_sub(window as u64);
            let mut bytes = vec![0; (len - start) as usize];
            self.log.file.read_exact_at(&mut bytes, start)?;
            let torn = bytes.last().is_some_and(|last| *last != b'\n');
            // The first piece may be the end of a line. Its hash does not fit then.
            let whole = bytes.rsplit(|byte| *byte == b'\n').find_map(|text| Line::parse(text).ok());
            if whole.is_some() || start == 0 || window >= LAST_WINDOW {
                return Ok((whole.map(|line| line.link()), torn));
            }
            window = LAST_WINDOW;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        process::{Child, Command, Stdio},
        thread,
        time::Instant,
    };

    use super::{
        super::{
            Audit, Filter, Report, read,
            record::tests::{huge, record},
            verify,
        },
        *,
    };

    const LINES: usize = 200;

    /// Names the directory that a test program started by another one appends to.
    const CHILD_DIR: &str = "AUDIT_TEST_DIR";

    fn whole(lines: u64) -> Report {
        Report { lines, ..Report::default() }
    }

    fn append_to_end(dir: &Path, text: &[u8]) {
        fs::OpenOptions::new().append(true).open(dir.join(LOG)).unwrap().write_all(text).unwrap();
    }

    #[test]
    fn lines_follow_each_other_across_openings() {
        let dir = tempfile::tempdir().unwrap();
        for call in ["a", "b", "c"] {
            Audit::open(dir.path()).unwrap().append(record(call)).unwrap();
        }
        let lines: Vec<Line> = read(dir.path(), &Filter::default()).unwrap().map(Result::unwrap).collect();
        assert_eq!(lines.iter().map(|line| line.record.call.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!((lines[0].prev.as_str(), lines[2].seq), (ZEROS, 3));
        assert_eq!(lines[2].prev, lines[1].hash);
        assert_eq!(verify(dir.path()).unwrap(), whole(3));
    }

    #[test]
    fn eight_threads_make_one_chain() {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::open(dir.path()).unwrap();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..LINES).for_each(|_| audit.append(record("thread")).unwrap()));
            }
        });
        assert_eq!(verify(dir.path()).unwrap(), whole(8 * LINES as u64));
    }

    /// The log that a test, started once more as another process, is to write to.
    fn as_child() -> Option<Audit> {
        std::env::var_os(CHILD_DIR).map(|dir| Audit::open(Path::new(&dir)).unwrap())
    }

    /// A test's name, as the test program knows it.
    fn name_of(test: &str) -> String {
        format!("{}::{test}", module_path!().split_once("::").unwrap().1)
    }

    #[test]
    fn three_processes_and_this_one_make_one_chain() {
        if let Some(audit) = as_child() {
            return (0..LINES).for_each(|_| audit.append(record("process")).unwrap());
        }
        let dir = tempfile::tempdir().unwrap();
        let name = name_of("three_processes_and_this_one_make_one_chain");
        let children: Vec<Child> = (0..3)
            .map(|_| {
                let mut child = Command::new(std::env::current_exe().unwrap());
                child.args(["--exact", &name]).env(CHILD_DIR, dir.path()).stdout(Stdio::null());
                child.spawn().unwrap()
            })
            .collect();
        let audit = Audit::open(dir.path()).unwrap();
        while fs::metadata(dir.path().join(LOG)).unwrap().len() < 300_000 {
            audit.append(record("this")).unwrap();
            assert_eq!(verify(dir.path()).unwrap().faults, []);
        }
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let lines = || read(dir.path(), &Filter::default()).unwrap().map(Result::unwrap);
        assert_eq!(lines().filter(|line| line.record.call == "process").count(), 3 * LINES);
        assert_eq!(verify(dir.path()).unwrap(), whole(lines().count() as u64));
    }

    /// The limit on a file's size cuts a write short, as a full disk does.
    #[test]
    fn a_short_write_is_undone_and_told() {
        if let Some(audit) = as_child() {
            let error = (0..LINES).find_map(|_| audit.append(record("x")).err()).unwrap();
            assert!(error.to_string().contains("room"), "{error}");
            assert!(audit.append(record("x")).is_err());
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let name = name_of("a_short_write_is_undone_and_told");
        let script = r#"trap "" XFSZ; ulimit -f 20; exec "$0" --exact "$1""#;
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(std::env::current_exe().unwrap()).arg(name).env(CHILD_DIR, dir.path());
        assert!(shell.stdout(Stdio::null()).status().unwrap().success());
        let report = verify(dir.path()).unwrap();
        assert!(report.lines > 5 && report.faults.is_empty(), "{report:?}");
        Audit::open(dir.path()).unwrap().append(record("y")).unwrap();
        assert_eq!(verify(dir.path()).unwrap(), whole(report.lines + 1));
    }

    #[test]
    fn a_line_that_a_crash_cut_short_is_one_fault_and_the_chain_goes_on() {
        for reopened in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let mut audit = Audit::open(dir.path()).unwrap();
            audit.append(record("a")).unwrap();
            append_to_end(dir.path(), b"{\"seq\":2,\"time\":\"2026-11-");
            let before = verify(dir.path()).unwrap();
            if reopened {
                audit = Audit::open(dir.path()).unwrap();
            }
            audit.append(record("b")).unwrap();
            audit.append(record("c")).unwrap();
            let after = verify(dir.path()).unwrap();
            assert_eq!((before.lines, after.lines), (2, 4));
            assert_eq!(before.faults, after.faults);
            assert_eq!((after.faults.len(), after.faults[0].line), (1, 2));
            assert_eq!(after.faults[0].what, "is cut short");
        }
    }

    #[test]
    fn a_line_that_lacks_only_its_end_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::open(dir.path()).unwrap();
        audit.append(record("a")).unwrap();
        let log = fs::File::options().write(true).open(dir.path().join(LOG)).unwrap();
        log.set_len(log.metadata().unwrap().len() - 1).unwrap();
        assert_eq!(verify(dir.path()).unwrap().faults.len(), 1);
        audit.append(record("b")).unwrap();
        assert_eq!(verify(dir.path()).unwrap(), whole(2));
    }

    #[test]
    fn a_head_that_lags_is_no_fault_and_is_caught_up() {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::open(dir.path()).unwrap();
        let head = dir.path().join(HEAD);
        let first = fs::read(&head).unwrap();
        for call in ["a", "b"] {
            audit.append(record(call)).unwrap();
            let old = fs::read(&head).unwrap();
            audit.append(record(call)).unwrap();
            for lagging in [&old, &first] {
                fs::write(&head, lagging).unwrap();
                assert_eq!(verify(dir.path()).unwrap().faults, []);
            }
            Audit::open(dir.path()).unwrap().append(record(call)).unwrap();
            assert!(
                fs::read_to_string(&head)
                    .unwrap()
                    .ends_with(&format!("{:020}\n", fs::metadata(dir.path().join(LOG)).unwrap().len()))
            );
            assert_eq!(verify(dir.path()).unwrap().faults, []);
        }
    }

    #[test]
    fn files_moved_away_or_removed_are_made_anew_and_what_is_missing_shows() {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::open(dir.path()).unwrap();
        let [log, head] = [LOG, HEAD].map(|name| dir.path().join(name));
        (0..3).for_each(|_| audit.append(record("a")).unwrap());
        fs::rename(&log, dir.path().join("moved")).unwrap();
        Audit::open(dir.path()).unwrap();
        audit.append(record("b")).unwrap();
        let report = verify(dir.path()).unwrap();
        assert_eq!((report.lines, report.faults.len()), (1, 1));
        assert_eq!(report.faults[0].what, "3 lines are missing before number 4");
        fs::remove_file(&head).unwrap();
        audit.append(record("c")).unwrap();
        audit.append(record("d")).unwrap();
        let report = verify(dir.path()).unwrap();
        assert_eq!((report.lines, report.faults.len(), report.faults[1].line), (3, 2, 2));
        assert!(report.faults[1].what.contains("new chain"));
        fs::remove_file(&head).unwrap();
        fs::remove_file(&log).unwrap();
        audit.append(record("e")).unwrap();
        assert_eq!(verify(dir.path()).unwrap(), whole(1));
    }

    #[test]
    fn a_long_line_and_much_garbage_at_the_end_are_got_over() {
        let dir = tempfile::tempdir().unwrap();
        Audit::open(dir.path()).unwrap().append(huge()).unwrap();
        // The head lags, so the long line itself must be found.
        fs::write(dir.path().join(HEAD), Head::start().to_string()).unwrap();
        Audit::open(dir.path()).unwrap().append(huge()).unwrap();
        assert_eq!(verify(dir.path()).unwrap(), whole(2));
        append_to_end(dir.path(), &vec![b'x'; 2 * LAST_WINDOW]);
        Audit::open(dir.path()).unwrap().append(record("a")).unwrap();
        let report = verify(dir.path()).unwrap();
        assert_eq!((report.lines, report.faults.len(), report.faults[0].line), (4, 1, 3));
    }

    fn full(dir: &Path) -> usize {
        super::super::files::full_logs(dir).unwrap().len()
    }

    #[test]
    fn a_full_log_makes_way_and_the_chain_goes_on_over_files() {
        let dir = tempfile::tempdir().unwrap();
        for _ in 0..3 {
            let audit = Audit::open(dir.path()).unwrap();
            audit.rotate_at(3_000);
            (0..10).for_each(|_| audit.append(record("a")).unwrap());
        }
        assert!(full(dir.path()) > 3, "{}", full(dir.path()));
        assert_eq!(verify(dir.path()).unwrap(), whole(30));
        let seqs: Vec<u64> = read(dir.path(), &Filter::default()).unwrap().map(|line| line.unwrap().seq).collect();
        assert_eq!(seqs, (1..=30).collect::<Vec<_>>());
    }

    #[test]
    fn a_head_that_lags_when_a_log_is_full_is_caught_up_first() {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::open(dir.path()).unwrap();
        (0..3).for_each(|_| audit.append(record("a")).unwrap());
        let lagging = fs::read(dir.path().join(HEAD)).unwrap();
        audit.append(record("b")).unwrap();
        fs::write(dir.path().join(HEAD), lagging).unwrap();
        drop(audit);
        let audit = Audit::open(dir.path()).unwrap();
        audit.rotate_at(1);
        audit.append(record("c")).unwrap();
        assert_eq!((full(dir.path()), verify(dir.path()).unwrap()), (1, whole(5)));
    }

    #[test]
    fn a_change_or_a_loss_in_a_full_log_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::open(dir.path()).unwrap();
        audit.rotate_at(2_000);
        (0..20).for_each(|_| audit.append(record("a")).unwrap());
        let (_, path) = super::super::files::full_logs(dir.path()).unwrap().remove(1);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("read_file", "kill_file", 1)).unwrap();
        let report = verify(dir.path()).unwrap();
        assert_eq!(report.faults.len(), 1, "{report:?}");
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!((&report.faults[0].file, report.faults[0].line), (&Some(name), 1));
        fs::remove_file(&path).unwrap();
        let report = verify(dir.path()).unwrap();
        assert!(report.faults.len() == 1 && report.faults[0].what.contains("missing before number"), "{report:?}");
    }

    #[test]
    fn processes_that_rotate_at_the_same_time_make_one_chain() {
        if let Some(audit) = as_child() {
            audit.rotate_at(5_000);
            return (0..LINES).for_each(|_| audit.append(record("process")).unwrap());
        }
        let dir = tempfile::tempdir().unwrap();
        let name = name_of("processes_that_rotate_at_the_same_time_make_one_chain");
        let spawn = |_| {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", &name]).env(CHILD_DIR, dir.path()).stdout(Stdio::null());
            child.spawn().unwrap()
        };
        let children: Vec<Child> = (0..3).map(spawn).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        assert_eq!(verify(dir.path()).unwrap(), whole(3 * LINES as u64));
        assert!(full(dir.path()) > 10);
    }

    /// Prints what an append costs, at best since the machine may be busy; run it with `--nocapture` in a release build.
    #[test]
    #[allow(clippy::print_stdout, reason = "a measurement is for reading")]
    fn an_append_is_measured() {
        let dir = tempfile::tempdir().unwrap();
        let [one, other] = [(); 2].map(|()| Audit::open(dir.path()).unwrap());
        let record = record("measured");
        for (how, audits) in [("alone", [&one, &one]), ("taking turns", [&one, &other])] {
            let batch = |_| {
                let start = Instant::now();
                (0..100).for_each(|n| audits[n % 2].append(record.clone()).unwrap());
                start.elapsed() / 100
            };
            println!("an append {how} takes {:?}", (0..50).map(batch).min().unwrap());
        }
        assert_eq!(verify(dir.path()).unwrap(), whole(10_000));
    }
}
