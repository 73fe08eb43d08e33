//! placeholder
use crate::fs::{Change, Changed, Excerpt, Filter, Findings, Found, LinesQuery, Listing, Metadata, Piece, SearchQuery};
pub(crate) use crate::bindings::hermes::tool::filesystem::Fault;
pub(crate) fn stat(_: &str) -> Result<Metadata, Fault> { unimplemented!() }
pub(crate) fn read(_: &str, _: u64, _: u64) -> Result<Piece, Fault> { unimplemented!() }
pub(crate) fn lines(_: &LinesQuery) -> Result<Excerpt, Fault> { unimplemented!() }
pub(crate) fn list(_: &str) -> Result<Listing, Fault> { unimplemented!() }
pub(crate) fn commit(_: &[Change]) -> Result<Vec<Changed>, Fault> { unimplemented!() }
pub(crate) fn find(_: &Filter) -> Result<Found, Fault> { unimplemented!() }
pub(crate) fn search(_: &SearchQuery) -> Result<Findings, Fault> { unimplemented!() }
