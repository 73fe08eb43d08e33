//! The interface to guests, one module per supported version of `hermes:tool`.
//!
//! A component names the version it was built for in its imports and exports; [`VERSIONS`] says which are accepted, and the
//! version is read before anything is compiled. The rule of compatibility is in `wit/README.md`.

pub mod since_v0_1;

pub use since_v0_1 as latest;

use semver::Version;

/// The package that tools are built against.
pub const PACKAGE: &str = "hermes:tool";

/// The interface that a tool component exports.
pub const PROVIDER: &str = "provider";

/// The interface that a hook component exports.
pub const HOOKS: &str = "hooks";

/// The optional interface of a component that describes its tools anew.
pub const DESCRIBER: &str = "describer";

/// The first and the last version of the package that this host accepts.
pub const VERSIONS: (Version, Version) = (Version::new(0, 1, 0), Version::new(0, 1, 0));

/// Whether a component built for this version can run here.
pub fn supports(version: &Version) -> bool {
    (VERSIONS.0..=VERSIONS.1).contains(version)
}

/// The supported range, for messages.
pub fn supported_range() -> String {
    let (first, last) = VERSIONS;
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}
