//! What stands behind the question mark. Names may come several times, and one that means nothing is an error: a misspelt filter would
//! otherwise filter nothing.

use axum::{extract::Query, http::Uri};

use super::problem::Problem;
use crate::text::one_line;

/// Bytes of a name or value that an error repeats.
const SHOWN: usize = 80;

/// The parameters that nobody asked for yet.
#[derive(Debug)]
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    pub(super) fn of(uri: &Uri) -> Result<Self, Problem> {
        let all = Query::try_from_uri(uri).map_err(|why| Problem::bad_request(format!("the query is wrong: {why}")))?;
        Ok(Self(all.0))
    }

    /// Every value of this name.
    pub(super) fn all(&mut self, name: &str) -> Vec<String> {
        let (wanted, others) = std::mem::take(&mut self.0).into_iter().partition(|(given, _)| given == name);
        self.0 = others;
        let wanted: Vec<(String, String)> = wanted;
        wanted.into_iter().map(|(_, value)| value).collect()
    }

    /// The value of a name that may come once, read by `read`, which says what it expects.
    pub(super) fn one<T, E: std::fmt::Display>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, Problem> {
        let values = self.all(name);
        match values.as_slice() {
            [] => Ok(None),
            [value] => read(value).map(Some).map_err(|why| {
                Problem::bad_request(format!("the parameter {name} is wrong: {}: {why}", one_line(value, SHOWN)))
            }),
            _ => Err(Problem::bad_request(format!("the parameter {name} is given more than once"))),
        }
    }

    /// A whole number up to `most`.
    pub(super) fn number(&mut self, name: &str, most: u64) -> Result<Option<u64>, Problem> {
        self.one(name, |text| {
            let number = text.parse::<u64>().ok().filter(|number| *number <= most);
            number.ok_or_else(|| format!("expected a number from 0 to {most}"))
        })
    }

    /// Nothing may be left.
    pub(super) fn end(self) -> Result<(), Problem> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(Problem::bad_request(format!(
                "there is no parameter {:?} here; see /openapi.json",
                one_line(name, SHOWN)
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(query: &str) -> Parameters {
        Parameters::of(&format!("/x?{query}").parse().unwrap()).unwrap()
    }

    #[test]
    fn names_come_once_or_often_and_none_is_left() {
        let mut given = parameters("toolset=a&limit=7&toolset=b%20c");
        assert_eq!(given.all("toolset"), ["a", "b c"]);
        assert_eq!(given.number("limit", 10).unwrap(), Some(7));
        assert_eq!(given.number("limit", 10).unwrap(), None);
        assert!(given.end().is_ok());
        assert!(parameters("tolset=a").end().is_err());
        assert!(parameters("limit=1&limit=2").number("limit", 10).is_err());
        for wrong in ["limit=11", "limit=-1", "limit=", "limit=x", "limit=1.5"] {
            assert!(parameters(wrong).number("limit", 10).is_err(), "{wrong}");
        }
    }
}
