//! What the operator's file says about the audit.

use serde::{Deserialize, Deserializer, de::Error};

const MIB: u64 = 1 << 20;

/// Bytes of a log before the next one begins, unless the operator says otherwise: some 20,000 calls, read in a moment.
pub const LOG_BYTES: u64 = 16 * MIB;

/// The most that an operator may set. Every look at the log reads it whole.
const LOG_BYTES_MAX: u64 = 1024 * MIB;

/// What a line says of a call's arguments, beside their digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditedArguments {
    /// The command, the path or the URL in them, with secrets masked.
    #[default]
    Summary,
    /// Nothing more.
    Hash,
}

/// The table `[audit]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuditConfig {
    /// What is kept of arguments.
    pub arguments: AuditedArguments,
    /// Bytes of a log before the next one begins, written like `16MiB`.
    #[serde(deserialize_with = "size")]
    pub rotate: u64,
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self { arguments: AuditedArguments::default(), rotate: LOG_BYTES }
    }
}

fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes = text.strip_suffix("MiB").and_then(|number| number.trim().parse::<u64>().ok()?.checked_mul(MIB));
    match bytes {
        Some(bytes) if (MIB..=LOG_BYTES_MAX).contains(&bytes) => Ok(bytes),
        Some(_) => Err(D::Error::custom(format!("audit.rotate is 1MiB to {}MiB", LOG_BYTES_MAX / MIB))),
        None => Err(D::Error::custom(format!("{text:?} is no size; write it like \"16MiB\""))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_and_mistakes_are_named() {
        let read = |text: &str| toml::from_str::<AuditConfig>(text).map_err(|why| why.to_string());
        assert_eq!(read(""), Ok(AuditConfig::default()));
        let hash = AuditConfig { arguments: AuditedArguments::Hash, rotate: 2 * MIB };
        assert_eq!(read("arguments = \"hash\"\nrotate = \"2MiB\""), Ok(hash));
        for (text, says) in [
            ("rotate = \"0MiB\"", "1MiB to 1024MiB"),
            ("rotate = \"2GiB\"", "write it like"),
            ("arguments = \"all\"", "unknown variant"),
            ("rotat = \"1MiB\"", "unknown field"),
        ] {
            assert!(read(text).unwrap_err().contains(says), "{text}");
        }
    }
}
