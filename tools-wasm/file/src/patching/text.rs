//! A file's text, to be patched.

use hermes_tool::fs::{self, Fault, Reason};

/// The largest file that is patched: what the host gives at once, and what fits into the memory of a call three times.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The whole text of a file, and its version.
pub(super) fn read(path: &str) -> Result<(String, u64), Fault> {
    let piece = fs::read(path, 0, MAX_BYTES)?;
    let size = piece.metadata.size;
    if size > MAX_BYTES {
        let message = format!("{path} has {size} bytes; files of up to {MAX_BYTES} bytes can be patched");
        return Err(Fault { reason: Reason::TooLarge, message });
    }
    let text = String::from_utf8(piece.bytes).map_err(|why| {
        let at = why.utf8_error().valid_up_to();
        let message = format!("{path} is not UTF-8 text (from byte {at} on), and can't be patched");
        Fault { reason: Reason::Invalid, message }
    })?;
    Ok((text, piece.metadata.version))
}
