//! `hermes:tool` 0.1: the worlds share one set of types.

#[allow(missing_docs, unreachable_pub, clippy::all)]
mod tool {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "tool",
        // Files, commands and people may take their time: the call's deadline holds while they do.
        imports: { "hermes:tool/filesystem": async | trappable, "hermes:tool/terminal": async | trappable, "hermes:tool/ask": async | trappable, default: trappable },
        exports: { default: async },
    });
}

#[allow(missing_docs, unreachable_pub, clippy::all)]
mod hook {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "hook",
        imports: { default: trappable },
        exports: { default: async },
        with: {
            "hermes:tool/types": super::tool::hermes::tool::types,
            "hermes:tool/log": super::tool::hermes::tool::log,
        },
    });
}

/// The optional export alone: a component that has it is a tool as well, and that half is found by the world `tool`.
#[allow(missing_docs, unreachable_pub, clippy::all)]
mod describer {
    wasmtime::component::bindgen!({
        path: "../wit",
        inline: "package hermes:host; world describes { export hermes:tool/describer@0.1.0; }",
        world: "hermes:host/describes",
        exports: { default: async },
    });
}

pub use describer::exports::hermes::tool::describer::{Redescription, Surroundings};
pub use describer::{Describes, DescribesPre};
pub use hook::exports::hermes::tool::hooks::{Outcome, Points, Problem, Subscription, Verdict};
pub use hook::{Hook, HookPre};
pub use tool::hermes::tool::types::{Body, Call, Content, Context, Definition, Embedded, Failure, Hints, Media};
pub use tool::hermes::tool::{ask, filesystem, log, terminal};
pub use tool::{Tool, ToolPre};
