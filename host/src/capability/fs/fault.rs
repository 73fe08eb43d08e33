//! Why something was not done, in words that a model can act on.

use std::{io, path::Path};

use rustix::io::Errno;

use crate::wit::latest::filesystem::{Fault, Reason};

/// What the functions of this room return.
pub(crate) type Outcome<T> = Result<T, Fault>;

/// A fault with its message.
pub(super) fn fault(reason: Reason, message: impl Into<String>) -> Fault {
    Fault { reason, message: message.into() }
}

pub(super) fn denied(path: &Path, why: &str) -> Fault {
    fault(Reason::Denied, format!("{} {why}", path.display()))
}

/// What the system said about a path.
pub(super) fn system(path: &Path, why: &io::Error) -> Fault {
    let path = path.display();
    match why.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) => fault(Reason::NotFound, format!("{path} does not exist")),
        Some(Errno::NOTDIR) => fault(Reason::NotDirectory, format!("a part of {path} is not a directory")),
        Some(Errno::ISDIR) => fault(Reason::IsDirectory, format!("{path} is a directory")),
        Some(Errno::NXIO) => fault(Reason::NotRegular, format!("{path} is not a regular file")),
        Some(Errno::XDEV | Errno::LOOP) => left(path),
        Some(Errno::NAMETOOLONG) => fault(Reason::Invalid, format!("{path} is too long a name")),
        Some(Errno::ACCESS | Errno::PERM) => {
            fault(Reason::Denied, format!("{path}: the system refused it, its permissions do not allow this"))
        }
        _ => match why.kind() {
            // cap-std's own word for a path that leaves its directory.
            io::ErrorKind::PermissionDenied => left(path),
            io::ErrorKind::InvalidInput => fault(Reason::Invalid, format!("{path} is not a usable path: {why}")),
            _ => fault(Reason::Failed, format!("{path}: {why}")),
        },
    }
}

fn left(path: impl std::fmt::Display) -> Fault {
    let why =
        "leads out of the granted folder, or in circles: a link on its way points elsewhere or has an absolute target";
    fault(Reason::Denied, format!("{path} {why}"))
}
