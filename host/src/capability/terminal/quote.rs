//! Words for a shell.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

/// One word that every shell reads as exactly these bytes.
pub(crate) fn word(text: impl AsRef<OsStr>) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in text.as_ref().as_bytes() {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsString, os::unix::ffi::OsStringExt, process::Command};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_shell_reads_back_what_was_quoted(bytes in prop::collection::vec(1u8.., 0..40)) {
            let script = OsString::from_vec([b"printf %s ".to_vec(), word(OsStr::from_bytes(&bytes))].concat());
            let output = Command::new("sh").arg("-c").arg(script).output().unwrap();
            prop_assert_eq!(output.stdout, bytes);
        }
    }
}
