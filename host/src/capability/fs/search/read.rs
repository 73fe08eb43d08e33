//! The text of a file, in memory that is used again for the next.

use std::{
    os::fd::AsFd,
    sync::{Mutex, PoisonError},
};

use rustix::{
    buffer::spare_capacity,
    io::{self, Errno},
};

use super::{
    decode::{self, Encoding, PROBE_BYTES},
    open::Regular,
    skipped::Skip,
};

/// The largest file that is searched. Text that people write is far smaller, and a line of context needs the file in memory.
/// Attack 39.
pub(super) const FILE_BYTES: u64 = 64 << 20;

/// The largest file for which each thread has memory of its own. Larger ones are read one at a time, so a call takes little more
/// than [`FILE_BYTES`] however many threads it has.
const OWN_BYTES: u64 = 4 << 20;

/// Memory for files, one for each thread.
pub(super) struct Reader<'a> {
    beginning: Vec<u8>,
    own: Vec<u8>,
    shared: &'a Mutex<Vec<u8>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(shared: &'a Mutex<Vec<u8>>) -> Self {
        // One byte more than is wanted: a file that fills the rest has ended, and needs no second read to show it.
        Self { beginning: Vec::with_capacity(PROBE_BYTES + 1), own: Vec::new(), shared }
    }

    /// Reads a file and does something with its text: without a mark at the beginning, and in UTF-8 where it was UTF-16.
    pub(super) fn text<Fd: AsFd, T>(
        &mut self,
        file: &Regular<Fd>,
        work: impl FnOnce(&[u8]) -> Result<T, Skip>,
    ) -> Result<T, Skip> {
        if file.size > FILE_BYTES {
            return Err(Skip::TooLarge);
        }
        self.beginning.clear();
        let ended = fill(file, &mut self.beginning)?;
        let encoding = decode::encoding(&self.beginning);
        if ended || encoding == Encoding::Binary {
            return decoded(&self.beginning, encoding, work);
        }
        if file.size <= OWN_BYTES {
            return rest(file, &self.beginning, &mut self.own, encoding, work);
        }
        // What is in it is overwritten in any case.
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        rest(file, &self.beginning, &mut shared, encoding, work)
    }
}

fn rest<Fd: AsFd, T>(
    file: &Regular<Fd>,
    beginning: &[u8],
    bytes: &mut Vec<u8>,
    encoding: Encoding,
    work: impl FnOnce(&[u8]) -> Result<T, Skip>,
) -> Result<T, Skip> {
    bytes.clear();
    bytes.extend_from_slice(beginning);
    whole(file, FILE_BYTES, bytes)?;
    decoded(bytes, encoding, work)
}

fn decoded<T>(bytes: &[u8], encoding: Encoding, work: impl FnOnce(&[u8]) -> Result<T, Skip>) -> Result<T, Skip> {
    match encoding {
        Encoding::Plain(mark) => work(bytes.get(mark..).unwrap_or_default()),
        Encoding::Utf16Little => work(decode::utf16(bytes, u16::from_le_bytes).as_bytes()),
        Encoding::Utf16Big => work(decode::utf16(bytes, u16::from_be_bytes).as_bytes()),
        Encoding::Binary => Err(Skip::Binary),
    }
}

/// Reads on to the end of a file. One that grows beyond the bound meanwhile is too large.
pub(super) fn whole<Fd: AsFd>(file: &Regular<Fd>, most: u64, bytes: &mut Vec<u8>) -> Result<(), Skip> {
    if file.size > most {
        return Err(Skip::TooLarge);
    }
    loop {
        let left = (file.size as usize).saturating_sub(bytes.len());
        bytes.reserve(left + 1);
        let ended = fill(file, bytes)?;
        if bytes.len() as u64 > most {
            return Err(Skip::TooLarge);
        }
        if ended {
            return Ok(());
        }
    }
}

/// Reads as much as there is room for, and tells whether the file has ended. It does not use the file's position: others may
/// have the same descriptor.
fn fill<Fd: AsFd>(file: &Regular<Fd>, bytes: &mut Vec<u8>) -> Result<bool, Skip> {
    let (room, position) = (bytes.capacity() - bytes.len(), bytes.len() as u64);
    let read = loop {
        match io::pread(&file.file, spare_capacity(bytes), position) {
            Err(Errno::INTR) => {}
            read => break read.map_err(|_| Skip::Unreadable)?,
        }
    };
    // A full read may have more behind it. A short one is the end, unless the file should be longer.
    Ok(read == 0 || (read < room && bytes.len() as u64 >= file.size))
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{File, write},
        io::Write,
        path::Path,
    };

    use super::super::open::checked;
    use super::*;

    fn text(path: &Path) -> Result<Vec<u8>, Skip> {
        let shared = Mutex::new(Vec::new());
        let file = checked(File::open(path).unwrap(), true)?;
        Reader::new(&shared).text(&file, |text| Ok(text.to_vec()))
    }

    #[test]
    fn files_of_every_size_are_read_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let own = OWN_BYTES as usize;
        for size in [0, 1, PROBE_BYTES - 1, PROBE_BYTES, PROBE_BYTES + 1, PROBE_BYTES + 2, own, own + 1] {
            let bytes: Vec<u8> = (0..size).map(|n| b'a' + (n % 23) as u8).collect();
            write(&path, &bytes).unwrap();
            assert!(text(&path).as_ref() == Ok(&bytes), "{size}");
        }
    }

    #[test]
    fn what_is_no_text_or_too_large_is_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        write(&path, b"text\0").unwrap();
        assert_eq!(text(&path), Err(Skip::Binary));
        write(&path, [vec![b'a'; PROBE_BYTES - 1], vec![0], vec![b'b'; 10]].concat()).unwrap();
        assert_eq!(text(&path), Err(Skip::Binary));
        write(&path, b"\xff\xfea\0\xfc\0").unwrap();
        assert_eq!(text(&path), Ok("aü".into()));
        write(&path, b"\xef\xbb\xbfa").unwrap();
        assert_eq!(text(&path), Ok(b"a".to_vec()));
        File::create(&path).unwrap().set_len(FILE_BYTES + 1).unwrap();
        assert_eq!(text(&path), Err(Skip::TooLarge));
    }

    #[test]
    fn a_file_that_grows_while_it_is_read_keeps_to_the_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        write(&path, b"one").unwrap();
        let file = checked(File::open(&path).unwrap(), true).unwrap();
        File::options().append(true).open(&path).unwrap().write_all(b" and two").unwrap();
        let read = |most| {
            let mut bytes = Vec::new();
            whole(&file, most, &mut bytes).map(|()| bytes)
        };
        assert_eq!(read(11), Ok(b"one and two".to_vec()));
        assert_eq!(read(10), Err(Skip::TooLarge));
    }
}
