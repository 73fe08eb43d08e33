use hermes_tool::hook::{Call, Outcome, Verdict};
use hermes_tool::{Body, Content};

fn keep_keys(call: &Call) -> Verdict {
    let label = |rest: &str| rest.split("-----").next().unwrap_or_default().contains("PRIVATE KEY");
    if call.arguments.split("-----BEGIN ").skip(1).any(label) {
        Verdict::block("the arguments contain a private key; say where it is instead")
    } else {
        Verdict::Allow
    }
}

fn redact(_: &Call, mut outcome: Outcome) -> Option<Outcome> {
    let before = outcome.clone();
    match &mut outcome {
        Outcome::Error(problem) => problem.message = in_text(&problem.message),
        Outcome::Reply(pieces) => pieces.iter_mut().for_each(|piece| match piece {
            Content::Text(text) => *text = in_text(text),
            Content::Json(json) => *json = in_json(json),
            Content::Resource(document) => {
                document.uri = in_text(&document.uri);
                if let Body::Text(text) = &mut document.body {
                    *text = in_text(text);
                }
            }
            Content::Image(_) | Content::Audio(_) => {}
        }),
    }
    (outcome != before).then_some(outcome)
}

/// Replaces what looks like name@host.domain.
fn in_text(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('@') {
        let start = rest[..at].trim_end_matches(|c: char| c.is_alphanumeric() || "._%+-".contains(c)).len();
        let host = rest[at + 1..].split(|c: char| !(c.is_alphanumeric() || ".-".contains(c))).next();
        let host = host.unwrap_or_default().trim_end_matches(['.', '-']);
        if start < at && host.contains('.') {
            out += &rest[..start];
            out += "[redacted]";
            rest = &rest[at + 1 + host.len()..];
        } else {
            out += &rest[..=at];
            rest = &rest[at + 1..];
        }
    }
    out + rest
}

/// Rewrites the strings one by one: numbers and order stay as they were, and `\n` before an address is not part of it.
fn in_json(json: &str) -> String {
    let (mut out, mut rest) = (String::new(), json);
    while let Some(quote) = rest.find('"') {
        let mut strings = serde_json::Deserializer::from_str(&rest[quote..]).into_iter::<String>();
        let Some(Ok(text)) = strings.next() else { break };
        out += &rest[..quote];
        out += &serde_json::Value::from(in_text(&text)).to_string();
        rest = &rest[quote + strings.byte_offset()..];
    }
    out + &in_text(rest)
}

hermes_tool::export_hook!(pre = keep_keys, transform = redact);

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_tool::testing::FakeHost;

    #[test]
    fn addresses_go_and_the_rest_stays() {
        let after = |outcome| FakeHost::new().transform(HOOK, "mail_read", "{}", outcome);
        for (before, wanted) in [
            ("From: Ada <ada.l+x@mail.example.org>.", "From: Ada <[redacted]>."),
            ("a@b.c, d@e.f.", "[redacted], [redacted]."),
            ("@home, x@localhost, 3 @ 4.50", "@home, x@localhost, 3 @ 4.50"),
        ] {
            assert_eq!(after(Outcome::text(before)), Outcome::text(wanted));
            assert_eq!(after(Outcome::error("failed", before)), Outcome::error("failed", wanted));
        }
        let json = |text: &str| Outcome::Reply(vec![Content::Json(text.into())]);
        let before = json(r#"{"b": "hi\nada@x.org", "a@x.org": 12345678901234567890123}"#);
        assert_eq!(after(before), json(r#"{"b": "hi\n[redacted]", "[redacted]": 12345678901234567890123}"#));
    }

    #[test]
    fn a_call_with_a_private_key_is_blocked() {
        let asked = |arguments| FakeHost::new().pre(HOOK, "http_post", arguments);
        let key = r#"{"body":"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA"}"#;
        assert!(matches!(asked(key), Verdict::Block(why) if why.contains("private key")));
        assert_eq!(asked(r#"{"body":"-----BEGIN PUBLIC KEY-----\nAAAA, no PRIVATE KEY"}"#), Verdict::Allow);
    }
}
