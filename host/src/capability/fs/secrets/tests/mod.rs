//! What is masked and what is left alone.

mod properties;
pub(super) mod samples;

use super::{has_mask, mask_range};
use samples::{ALNUM, HEX, LABELS, TOKENS, mark, masked, masked_key, private_key, random, tail};

#[test]
fn every_kind_of_secret_is_masked_and_keeps_its_beginning() {
    for (kept, alphabet, length) in TOKENS {
        let token = format!("{kept}{}{}", random(alphabet, *length), tail(kept));
        let expected = format!("{kept}{}{}", mark(*length), tail(kept));
        for (before, after) in [("", ""), ("one\n", "\ntwo"), ("é ", " é"), ("(", ")"), ("**", "**"), ("\r\n", "\r\n")]
        {
            let text = [before, &token, after].concat();
            assert_eq!(masked(&text), ([before, &expected, after].concat(), 1), "{text}");
            assert!(has_mask([before, &expected, after].concat().as_bytes()), "{expected}");
            assert!(!has_mask(text.as_bytes()), "{text}");
        }
    }
}

#[test]
fn tokens_are_masked_where_programs_put_them() {
    let token = ["ghp", "_", &random(ALNUM, 36)].concat();
    let expected = ["ghp_", &mark(36)].concat();
    for frame in
        ["x = \"T\"", "'T'", "<T>", "https://T@github.com/x", "token=T&x=1", "T,T", "my-T", "T/T", "[T](T)", "`T`"]
    {
        let text = frame.replace('T', &token);
        assert_eq!(masked(&text), (frame.replace('T', &expected), frame.matches('T').count() as u32), "{frame}");
    }
}

#[test]
fn mailchimp_keeps_its_data_centre() {
    let text = format!("{}-us12", random(HEX, 32));
    assert_eq!(masked(&text), (format!("{}-us12", mark(32)), 1));
}

#[test]
fn a_url_is_masked_in_both_its_halves() {
    let token = ["ghp", "_", &random(ALNUM, 36)].concat();
    let (text, count) = masked(&format!("https://{token}:hunter22@github.com"));
    assert_eq!((text, count), (format!("https://ghp_{}:********@github.com", mark(36)), 2));
}

#[test]
fn what_is_no_secret_is_left_alone() {
    let integrity = format!("\"integrity\": \"sha512-{}==\"", random("aB3+cD4/eF5gH", 86));
    let image = format!("data:image/png;base64,iVBORw0KGgo{}", random("AAAAEAAAsk-aB3/AKIA+", 600).replace('-', "A"));
    let minified = format!("!function(e,t){{{}}}", "e.sk_a=t.key-e;return a?b:c://x\n,".repeat(20));
    let certificate = format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", random(ALNUM, 64));
    let public = certificate.replace("CERTIFICATE", "PUBLIC KEY");
    for text in [
        "a task-force and a risk-based-approach-to-everything-2024 on a desk-mounted-device",
        "sk-fading-circle12 sk-cube-grid sk-folding-cube-with-a-very-long-name-2",
        "class=\"sk-loading-indicator-animation-container-2x mask-image-linear-gradient\"",
        "commit 9f2c4e1a7b30d5869f2c4e1a7b30d5869f2c4e1a",
        "sha256:9f2c4e1a7b30d5869f2c4e1a7b30d5869f2c4e1a7b30d5869f2c4e1a7b30d586",
        "123e4567-e89b-12d3-a456-426614174000 urn:uuid:123e4567-e89b-12d3-a456-426614174000",
        "checksum = \"9f2c4e1a7b30d5869f2c4e1a7b30d5869f2c4e1a7b30d5869f2c4e1a7b30d586\"",
        &integrity,
        &image,
        &minified,
        &certificate,
        &public,
        "AKIA and ASIA are prefixes; AKIAIOSFODNN is short; ASIAPACIFICREGIONALHQ is a word",
        "npm_config_registry npm_package_version_string_of_the_parent_package",
        "hf_transfer_enable_and_more_words_that_are_long secret_access_key_identifier_name",
        "github_pat_from_the_environment glpat-as-a-long-hyphenated-name dckr_pat_read_from_a_file",
        "ghp_ is a prefix; ghp_short; gho_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "key-value-pairs-in-a-very-long-hyphenated-name fc-match fw_update_in_progress_flag_name",
        "pypi-publish-to-the-package-index-workflow am_i_a_very_long_function_name_or_what",
        "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx sk-your-api-key-1234567890abcdef sk-...",
        "pk_live_Zk3Qv9Xb7Lm2Rt5Wp8Yc4Ns6Hd1Gf0Ja",
        "Authorization: Bearer $TOKEN\nAuthorization: Bearer <token>\nX-Api-Key: ${API_KEY_2}",
        "fn authorization(&self) -> Option<&str> { self.authorization.as_deref() }",
        "postgres://user:password@localhost/x https://user:${PW}@host http://localhost:8080/a@b",
        "aws_secret_access_key = <40 characters>\nAWS_SECRET_ACCESS_KEY=$SECRET",
        "time 12:34:56 12345678:AB ratio 123456789:AAshort",
        "eyJhbGciOiJIUzI1NiJ9 eyJhbGciOiJub25lIn0AAAAA.eyJzdWIiOiIxIn0.",
        "SG.some_long_method_name_in_ruby MSG.Zk3Qv9Xb7Lm2Rt5Wp8Yc4.Zk3Qv9Xb7Lm2Rt5Wp8Yc4",
        "the line -----BEGIN RSA PRIVATE KEY----- opens\na\nkey\n\nword",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
        "-----BEGIN RSA PRIVATE KEY-----\n<your key>\n-----END RSA PRIVATE KEY-----",
        "«redacted»",
        "",
    ] {
        assert_eq!(masked(text), (text.to_string(), 0));
    }
}

#[test]
fn private_keys_are_masked_line_by_line() {
    for label in LABELS {
        for (before, after) in [
            ("", "\n"),
            ("", "\r\n"),
            ("    ", "\n"),
            ("# ", "\n"),
            ("> ", "\n"),
            ("// ", "\n"),
            (" \"", "\\n\" +\n"),
            ("", "\\n"),
        ] {
            let text = private_key(label, 5, before, after) + "the rest";
            assert_eq!(masked(&text), (masked_key(label, 5, before, after) + "the rest", 1), "{text}");
        }
    }
}

#[test]
fn headers_of_a_private_key_stay() {
    let head = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,9F2C4E1A7B30D586\n\n";
    let (body, end) = (random("aB3+cD4/eF5g", 64), "\n-----END RSA PRIVATE KEY-----");
    assert_eq!(masked(&[head, &body, end].concat()), ([head, &mark(64), end].concat(), 1));
    let comment = "-----BEGIN PGP PRIVATE KEY BLOCK-----\nComment: https://me:hunter2@host\n\n";
    let expected = comment.replace("hunter2", "*******") + &mark(64);
    assert_eq!(masked(&[comment, &body].concat()), (expected, 2));
}

#[test]
fn a_private_key_without_its_end_is_masked_up_to_other_text() {
    let body = random("aB3+cD4/eF5g", 64);
    let text = format!("-----BEGIN PRIVATE KEY-----\n{body}\n{body}\nthis is prose\n{body}\n");
    let stars = "*".repeat(64);
    let expected = format!("-----BEGIN PRIVATE KEY-----\n{}\n{stars}\nthis is prose\n{body}\n", mark(64));
    assert_eq!(masked(&text), (expected, 1));
}

#[test]
fn a_private_key_in_one_line_is_masked() {
    let body = random("aB3+cD4/eF5g", 64);
    let stars = "*".repeat(64);
    for gap in ["\\n", "\\\\n", "\\r\\n", " "] {
        let key = |first: &str, second: &str| {
            format!(
                "{{\"key\": \"-----BEGIN PRIVATE KEY-----{gap}{first}{gap}{second}{gap}-----END PRIVATE KEY-----\", \"x\": 1}}"
            )
        };
        assert_eq!(masked(&key(&body, &body)), (key(&mark(64), &stars), 1), "{gap}");
    }
}

#[test]
fn a_range_in_the_middle_of_a_secret_is_masked() {
    let text = format!("first\n{}last\n", private_key("RSA PRIVATE KEY", 20, "", "\n"));
    let at = text.len() / 2;
    assert_eq!(mask_range(text.as_bytes(), at..at + 10), (masked(&text).0.as_bytes()[at..at + 10].to_vec(), 1));
    assert_eq!(mask_range(text.as_bytes(), 0..6), (b"first\n".to_vec(), 0));
    let token = ["a ghp", "_", &random(ALNUM, 36), " b"].concat();
    assert_eq!(mask_range(token.as_bytes(), 30..44), (b"************ b".to_vec(), 1));
    assert_eq!(mask_range(token.as_bytes(), 42..44), (b" b".to_vec(), 0));
    let both = [&token, " ", &token].concat();
    assert_eq!(mask_range(both.as_bytes(), 41..52), (format!("* b a ghp_{}", '*').into_bytes(), 2));
}

#[test]
fn a_range_outside_the_text_is_empty() {
    for range in [0..0, 3..3, 9..12] {
        assert_eq!(mask_range(b"text", range), (Vec::new(), 0));
    }
    assert_eq!(mask_range(b"text", 2..9), (b"xt".to_vec(), 0));
}

#[test]
fn stars_beside_a_name_are_a_mark() {
    for text in ["postgres://app:***@db", "Authorization: Bearer ********", "\"x-api-key\": \"*********\""] {
        assert!(has_mask(text.as_bytes()), "{text}");
    }
    for text in
        ["**bold**", "https://*:*@x", "a ***** b", "Authorization: ***", "redacted", "/****/ ://", "x://a:b*c@d"]
    {
        assert!(!has_mask(text.as_bytes()), "{text}");
    }
}
