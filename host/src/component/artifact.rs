//! Loading compiled code: the one place with `unsafe`.

use wasmtime::{Engine, component::Component};

use super::cache::VerifiedArtifact;

/// Makes a component from machine code that this user's own worker compiled.
#[allow(unsafe_code)]
pub(super) fn load(engine: &Engine, artifact: &VerifiedArtifact) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` runs the bytes as machine code, so they must be what `Engine::precompile_component` made.
    // A `VerifiedArtifact` is only built in two places: from the output of the compile worker, which is our own binary, and
    // from a file of the cache whose BLAKE3 hash equals the one recorded when it was written, in a directory that belongs to
    // this user and that nobody else can write (checked when the cache is opened). Whoever can write there can already
    // replace this program. An artifact of another wasmtime version or configuration is refused by `deserialize` itself.
    unsafe { Component::deserialize(engine, artifact.bytes()) }
}
