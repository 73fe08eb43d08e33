//! A file that a guest writes in place, and what is looked at before each write.

use std::{
    fs::File,
    io,
    ops::Range,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use super::super::{
    commit::reserve,
    fault::{Outcome, denied, system},
    secrets::has_mask,
};
use crate::{sandbox::limits::KIB, wit::latest::filesystem::Fault};

/// Bytes on either side of a write that are looked at for the other part of a mask. What stands before a masked value and names it, a
/// URL or a header, is shorter.
const SEAM: usize = 2 * KIB;

/// Such a file.
#[derive(Debug)]
pub(super) struct Written {
    /// For looking: the guest's own handle may be for writing alone.
    file: File,
    shown: PathBuf,
    local: bool,
}

impl Written {
    pub(super) fn new(file: &File, shown: &Path, local: bool) -> Outcome<Self> {
        let file = file.try_clone().map_err(|why| system(shown, &why))?;
        Ok(Self { file, shown: shown.to_owned(), local })
    }

    /// Whether it lies on a disk that answers by itself, where it may be looked at at once.
    pub(super) fn is_local(&self) -> bool {
        self.local
    }

    pub(super) fn size(&self) -> Outcome<u64> {
        Ok(self.file.metadata().map_err(|why| self.failed(&why))?.len())
    }

    /// Whether bytes by themselves may be written. Does not look at the file.
    pub(super) fn judge(&self, bytes: &[u8]) -> Outcome<()> {
        if has_mask(bytes) { Err(self.masked()) } else { Ok(()) }
    }

    /// Whether they may be written there, where they passed by themselves. Blocks.
    pub(super) fn judge_at(&self, offset: u64, bytes: &[u8]) -> Outcome<()> {
        if self.completes_a_mask(offset, bytes).map_err(|why| self.failed(&why))? {
            return Err(self.masked());
        }
        reserve(&self.file, &self.shown, bytes.len() as u64)
    }

    /// Whether it may have this size. Blocks.
    pub(super) fn judge_size(&self, size: u64) -> Outcome<()> {
        match size.saturating_sub(self.size()?) {
            0 => Ok(()),
            more => reserve(&self.file, &self.shown, more),
        }
    }

    /// Whether there is a mask where the bytes meet what lies before or after them, and none in either. Programs that copy a file do
    /// it in pieces.
    fn completes_a_mask(&self, offset: u64, bytes: &[u8]) -> io::Result<bool> {
        let before = self.bytes(offset.saturating_sub(SEAM as u64)..offset)?;
        let first = [&before, &bytes[..bytes.len().min(SEAM)]].concat();
        if !has_mask(&before) && has_mask(&first) {
            return Ok(true);
        }
        let end = offset.saturating_add(bytes.len() as u64);
        let after = self.bytes(end..end.saturating_add(SEAM as u64))?;
        let last = if bytes.len() < SEAM { first } else { bytes[bytes.len() - SEAM..].to_vec() };
        Ok(!has_mask(&last) && !has_mask(&after) && has_mask(&[last, after].concat()))
    }

    /// The bytes of a range, as far as there are some.
    fn bytes(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.file.read_at(&mut bytes[filled..], range.start + filled as u64) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    fn masked(&self) -> Fault {
        denied(&self.shown, "was not written: a redacted secret would take the place of the real one")
    }

    fn failed(&self, why: &io::Error) -> Fault {
        system(&self.shown, why)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wit::latest::filesystem::Reason;

    fn written(text: &[u8], at: usize) -> Written {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(text, at as u64).unwrap();
        Written::new(&file, Path::new("file"), true).unwrap()
    }

    #[test]
    fn a_mask_is_found_over_both_seams_at_once() {
        let file = written("«redXcted»".as_bytes(), 0);
        assert!(file.completes_a_mask(5, b"a").unwrap());
        assert!(!file.completes_a_mask(5, b"b").unwrap());
    }

    #[test]
    fn a_text_about_masks_can_be_written_on() {
        let file = written("what is «redacted» is".as_bytes(), 0);
        assert!(file.judge_at(file.size().unwrap(), b" not shown").is_ok());
    }

    #[test]
    fn a_full_disk_is_not_written_to_but_may_be_made_emptier() {
        // There is no room at all on this one.
        let file = File::open("/proc/self/status").unwrap();
        let file = Written::new(&file, Path::new("status"), true).unwrap();
        assert_eq!(file.judge_at(0, b"x").unwrap_err().reason, Reason::TooLarge);
        assert_eq!(file.judge_size(1).unwrap_err().reason, Reason::TooLarge);
        assert!(file.judge_size(0).is_ok());
    }

    proptest! {
        #[test]
        fn a_mask_in_two_pieces_is_found_wherever_it_is_cut(
            before in "[a-z \n]{0,40}", after in "[a-z \n]{0,40}", cut in 1usize..12, is_long in any::<bool>(),
        ) {
            let mark = "«redacted»".as_bytes();
            let filler = " ".repeat(if is_long { 3 * SEAM } else { 0 });
            let first = [before.as_bytes(), filler.as_bytes(), &mark[..cut]].concat();
            let second = [&mark[cut..], filler.as_bytes(), after.as_bytes()].concat();
            prop_assert!(written(&first, 0).completes_a_mask(first.len() as u64, &second).unwrap());
            prop_assert!(written(&second, first.len()).completes_a_mask(0, &first).unwrap());
        }
    }
}
