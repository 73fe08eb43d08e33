//! Generated from `wit/`, beside what the SDK brings along.

wit_bindgen::generate!({ path: "wit", world: "hermes:probe/files", generate_all });
