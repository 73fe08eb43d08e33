//! How much one call may still change, whichever interface it uses.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{
    fault::{Outcome, fault},
    limits::{CHANGED_FILES, WRITTEN_BYTES},
};
use crate::wit::latest::filesystem::Reason;

/// What one call has changed so far. What was asked for and failed counts too.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    bytes: AtomicU64,
    files: AtomicU64,
}

impl Budget {
    pub(super) fn take(&self, bytes: u64, files: usize) -> Outcome<()> {
        if self.files.fetch_add(files as u64, Ordering::Relaxed).saturating_add(files as u64) > CHANGED_FILES as u64 {
            return Err(fault(Reason::TooLarge, format!("one call changes at most {CHANGED_FILES} files")));
        }
        let before =
            self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |before| Some(before.saturating_add(bytes)));
        if before.unwrap_or_else(|same| same).saturating_add(bytes) > WRITTEN_BYTES {
            return Err(fault(Reason::TooLarge, format!("one call writes at most {WRITTEN_BYTES} bytes")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_its_bytes_and_files_and_no_more() {
        let budget = Budget::default();
        assert!(budget.take(WRITTEN_BYTES, CHANGED_FILES).is_ok());
        assert_eq!(budget.take(1, 0).unwrap_err().reason, Reason::TooLarge);
        assert_eq!(budget.take(0, 1).unwrap_err().reason, Reason::TooLarge);
        assert!(Budget::default().take(u64::MAX, 0).is_err());
    }
}
