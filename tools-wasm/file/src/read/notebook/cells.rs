//! The parts of a notebook that are shown. Everything else, pictures above all, is skipped while it is read.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

#[derive(Deserialize)]
pub(super) struct Notebook {
    pub(super) cells: Vec<Cell>,
}

#[derive(Deserialize)]
pub(super) struct Cell {
    pub(super) cell_type: String,
    #[serde(default)]
    pub(super) source: Text,
    #[serde(default)]
    pub(super) outputs: Vec<Output>,
    pub(super) execution_count: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct Output {
    #[serde(default)]
    pub(super) text: Text,
    #[serde(default)]
    pub(super) data: Data,
    pub(super) ename: Option<String>,
    pub(super) evalue: Option<String>,
}

/// A text, which may be written as a list of its lines.
#[derive(Default)]
pub(super) struct Text(pub(super) String);

/// One result in several forms.
#[derive(Default)]
pub(super) struct Data {
    pub(super) plain: Text,
    /// The types of the other forms.
    pub(super) others: Vec<String>,
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of lines")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut lines: A) -> Result<Text, A::Error> {
        let mut text = String::new();
        while let Some(line) = lines.next_element::<String>()? {
            text.push_str(&line);
        }
        Ok(Text(text))
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DataVisitor)
    }
}

struct DataVisitor;

impl<'de> Visitor<'de> for DataVisitor {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a form for each type")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut forms: A) -> Result<Data, A::Error> {
        let mut data = Data::default();
        while let Some(kind) = forms.next_key::<String>()? {
            if kind == "text/plain" {
                data.plain = forms.next_value()?;
            } else {
                forms.next_value::<IgnoredAny>()?;
                data.others.push(kind);
            }
        }
        Ok(data)
    }
}
