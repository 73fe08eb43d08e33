//! How agents reach the host: MCP on stdio and over HTTP, and an HTTP API.

pub mod http;
pub mod mcp;

/// How the sessions begin that the MCP server names. Everybody sees those names in the audit and in questions, so no
/// client may take one for a task or a session of its own: what was approved for it and runs in it is another's.
const OWN_SESSION: &str = "mcp-";

/// The client's name of calls over the HTTP API, in the policy and the audit.
const HTTP_CLIENT: &str = "http";

/// Names of clients that the host gives. An MCP client that calls itself so is known as `mcp:` and that name.
const OWN_CLIENTS: [&str; 2] = [HTTP_CLIENT, "cli"];

/// How the ids begin that the host gives to calls. Questions about a call go to whoever made it, by its id: a client
/// that took the id of another's call would have that client's person decide about its own.
const OWN_CALL: &str = "call-";
