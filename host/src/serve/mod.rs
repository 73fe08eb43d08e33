//! How agents reach the host: MCP on stdio and over HTTP, and an HTTP API.

pub mod http;
pub mod mcp;
