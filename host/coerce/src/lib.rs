//! Arguments as a model wrote them become arguments that a tool's schema asks for. The host does this before every call, and the fake
//! host of the guest SDK before every call of a test.

mod coerce;
mod contained;
mod effort;
mod numeral;

pub use coerce::coerce;
pub use contained::{ARGUMENT_VALUES, values};
pub use effort::Effort;
