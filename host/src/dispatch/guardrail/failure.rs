//! Results that are formally a success and say that they are none.

use serde::Deserialize;
use serde_json::value::RawValue;

/// The members that tell. Everything else is read over, not kept: a result can have megabytes.
#[derive(Deserialize)]
struct Telling<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    success: Option<&'a RawValue>,
    #[serde(borrow)]
    exit_code: Option<&'a RawValue>,
}

/// Whether a result says by itself that the call failed: it is a JSON object with an `error` that is not empty and no `"success": true`, or with
/// `"success": false`, or with an `exit_code` other than 0. Only its own members count, not those further down. An `error` of
/// null, false, `""`, `[]` or `{}` is empty.
pub(crate) fn reports_failure(json: &str) -> bool {
    // A list of three would be read as the three members too.
    if !json.trim_start().starts_with('{') {
        return false;
    }
    let Ok(Telling { error, success, exit_code }) = serde_json::from_str(json) else { return false };
    let succeeded = success.is_some_and(|success| success.get() == "true");
    // A write that landed, with what a linter says of it, is no failure.
    error.is_some_and(|error| !is_empty(error.get()) && !succeeded)
        || success.is_some_and(|success| success.get() == "false")
        || exit_code.is_some_and(|code| code.get().parse::<f64>().is_ok_and(|code| code != 0.0))
}

fn is_empty(json: &str) -> bool {
    let solid = json.chars().filter(|c| !c.is_whitespace());
    ["false", "\"\"", "[]", "{}"].iter().any(|empty| solid.clone().eq(empty.chars()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_lost_success_and_exit_codes_are_failures() {
        for json in [
            r#"{"error":"no such file"}"#,
            r#"{"a":[1,{"b":2}],"error":{"code":5}}"#,
            r#"{"error":true}"#,
            r#"{"\u0065rror":["x"]}"#,
            r#" {"success": false, "data": null}"#,
            r#"{"exit_code":1,"output":""}"#,
            r#"{"exit_code":-9}"#,
            r#"{"exit_code":123456789012345678901234567890}"#,
        ] {
            assert!(reports_failure(json), "{json}");
        }
    }

    #[test]
    fn empty_errors_deep_members_and_other_values_are_none() {
        for json in [
            r#"{"error":null,"success":true,"exit_code":0}"#,
            r#"{"error":""}"#,
            r#"{"success":true,"error":"unused variable"}"#,
            r#"{"error":[ ]}"#,
            r#"{"error":{}}"#,
            r#"{"error":false}"#,
            r#"{"success":null}"#,
            r#"{"success":"false"}"#,
            r#"{"exit_code":"1"}"#,
            r#"{"exit_code":null}"#,
            r#"{"exit_code":-0.0}"#,
            r#"{"result":{"error":"x","success":false,"exit_code":1}}"#,
            r#"["x",false,1]"#,
            r#""error""#,
            r#"{"error":"x""#,
            "",
        ] {
            assert!(!reports_failure(json), "{json}");
        }
    }
}
