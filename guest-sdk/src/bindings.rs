//! Generated from `wit/`: a module for each set of exports, so that a component has only what its author asked for. They share
//! the types and imports of the world `tool`, and so its link helper: one of their own would stay in every component.

/// The world `tool`.
mod tool {
    wit_bindgen::generate!({
        path: "../wit",
        world: "tool",
        additional_derives: [PartialEq, Eq],
        pub_export_macro: true,
        default_bindings_module: "::hermes_tool::bindings",
    });
}
pub use tool::*;

/// The world `hook`.
pub mod hook {
    wit_bindgen::generate!({
        path: "../wit",
        world: "hook",
        with: {
            "hermes:tool/types@0.1.0": crate::bindings::hermes::tool::types,
            "hermes:tool/log@0.1.0": crate::bindings::hermes::tool::log,
        },
        additional_derives: [PartialEq, Eq],
        pub_export_macro: true,
        disable_custom_section_link_helpers: true,
        default_bindings_module: "::hermes_tool::bindings::hook",
    });
}

/// What the world `describing-tool` has beside the world `tool`. Its provider can't be generated again: the macros of the two
/// would have the same names. Both worlds end up in the component, and together they are `describing-tool`.
pub mod describer {
    wit_bindgen::generate!({
        path: "../wit",
        inline: "package hermes:sdk; world describes { export hermes:tool/describer@0.1.0; }",
        additional_derives: [PartialEq, Eq],
        pub_export_macro: true,
        disable_custom_section_link_helpers: true,
        default_bindings_module: "::hermes_tool::bindings::describer",
    });
}
