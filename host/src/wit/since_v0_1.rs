//! `hermes:tool` 0.1.

#[allow(missing_docs, unreachable_pub, clippy::all)]
mod generated {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "tool",
        imports: { default: trappable },
        exports: { default: async },
    });
}

pub use generated::hermes::tool::log;
pub use generated::hermes::tool::types::{Body, Call, Content, Context, Definition, Embedded, Failure, Hints, Media};
pub use generated::{Tool, ToolPre};
