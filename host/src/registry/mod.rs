//! The tools there are: what each component registered, checked and cleaned, under unique names.

mod availability;
mod catalogue;
mod definition;
mod format;
mod schema;

pub(crate) use availability::Answer;
pub use availability::{Availability, CHECK_TTL};
pub use catalogue::{Catalogue, Entry};
pub use definition::{Definition, Hints};
pub use format::Format;
