//! The tools there are: what each component registered, checked and cleaned, under unique names; the toolsets they are bundled
//! in; whether they can work; and how models get to see them.

mod annotations;
mod availability;
mod bounded_pattern;
mod catalogue;
mod definition;
mod format;
mod mentions;
mod near;
mod provider;
mod redescribe;
mod schema;
mod schema_cost;
mod search;
mod subschema;
mod subscription;
mod tool_search;
mod toolset;

pub use annotations::Annotations;
pub(crate) use availability::Answer;
pub use availability::{Availability, CHECK_TTL, FLAP_GRACE, Status};
pub use catalogue::{Catalogue, Entry};
pub use definition::{Definition, Hints};
pub use format::Format;
pub(crate) use hermes_coerce::Effort;
pub(crate) use mentions::Mentions;
pub(crate) use near::near;
pub use provider::{Provider, adapt};
pub(crate) use redescribe::{Redescribed, Redescriptions, accept as accept_redescriptions};
pub(crate) use schema::Checker;
pub(crate) use search::{Document, search};
pub use subscription::Subscription;
pub use tool_search::{
    HITS, MOST_HITS, SearchMode, TOOL_CALL, TOOL_DESCRIBE, TOOL_SEARCH, ToolSearch, bridge_definitions,
};
pub use toolset::{Registered, Selection, Toolset, ToolsetError, ToolsetGroup, Toolsets, never_parallel, path_scoped};
