//! What is masked, what is left alone, and what holds for every text. Secrets are put together here, so that no scanner finds one
//! in this file.

use std::time::{Duration, Instant};

use proptest::{collection::vec, prelude::*, sample::select};

use super::{has_mask, mark::LABEL, mask, mask_range};

fn masked(text: &str) -> (String, u32) {
    let mut bytes = text.as_bytes().to_vec();
    let count = mask(&mut bytes);
    (String::from_utf8(bytes).unwrap(), count)
}

/// The mark over as many bytes.
fn mark(length: usize) -> String {
    if length < LABEL.len() { "*".repeat(length) } else { format!("«redacted»{}", "*".repeat(length - LABEL.len())) }
}

/// Bytes that look random: the alphabet, again and again.
fn random(alphabet: &str, length: usize) -> String {
    alphabet.chars().cycle().take(length).collect()
}

const HEX: &str = "9f2c4e1a7b30d586";
const UPPER: &str = "Q7ZK3V6XB2LM5RT4";
const ALNUM: &str = "Zk3Qv9Xb7Lm2Rt5Wp8Yc4Ns6Hd1Gf0Ja";
const WORD: &str = "Zk3Qv9Xb7Lm2Rt5Wp8-c4Ns6Hd1Gf0_a";

/// What stays of a token, and the alphabet and length of its rest.
const TOKENS: &[(&str, &str, usize)] = &[
    ("sk-", ALNUM, 48),
    ("sk-", HEX, 32),
    ("sk-proj-", WORD, 156),
    ("sk-svcacct-", WORD, 120),
    ("sk-ant-api03-", WORD, 95),
    ("sk-or-v1-", HEX, 64),
    ("sk_", HEX, 48),
    ("sk_live_", ALNUM, 24),
    ("sk_test_", ALNUM, 99),
    ("rk_live_", ALNUM, 24),
    ("whsec_", ALNUM, 32),
    ("whsec_", "aB3+cD4/eF5g", 32),
    ("ghp_", ALNUM, 36),
    ("gho_", ALNUM, 36),
    ("ghu_", ALNUM, 36),
    ("ghs_", ALNUM, 36),
    ("ghr_", ALNUM, 76),
    ("github_pat_", "Zk3Qv9Xb7Lm_2Rt5Wp8Yc4", 82),
    ("glpat-", WORD, 20),
    ("gldt-", WORD, 20),
    ("glrt-", WORD, 20),
    ("xoxb-", "123456789012-", 50),
    ("xoxp-", "123456789012-", 70),
    ("xoxa-", "2-34567890a", 30),
    ("xoxr-", "2-34567890a", 30),
    ("xoxs-", "2-34567890a", 30),
    ("xapp-", "1-A012BCDE", 60),
    ("AKIA", UPPER, 16),
    ("ASIA", UPPER, 16),
    ("IQoJb3JpZ2lu", "aB3+cD4/eF5g", 300),
    ("AIza", WORD, 35),
    ("GOCSPX-", WORD, 28),
    ("ya29.", WORD, 120),
    ("LTAI", ALNUM, 20),
    ("SK", HEX, 32),
    ("npm_", ALNUM, 36),
    ("pypi-", ALNUM, 170),
    ("rubygems_", HEX, 48),
    ("hf_", ALNUM, 34),
    ("r8_", ALNUM, 37),
    ("gsk_", ALNUM, 52),
    ("xai-", ALNUM, 80),
    ("pplx-", ALNUM, 48),
    ("tvly-", ALNUM, 32),
    ("exa_", ALNUM, 32),
    ("fc-", HEX, 32),
    ("fal_", ALNUM, 40),
    ("fw_", ALNUM, 24),
    ("bb_live_", WORD, 28),
    ("lsv2_", WORD, 48),
    ("pcsk_", WORD, 70),
    ("dapi", HEX, 32),
    ("dop_v1_", HEX, 64),
    ("doo_v1_", HEX, 64),
    ("cfut_", ALNUM, 48),
    ("cfat_", ALNUM, 48),
    ("fm2_", "aB3+cD4/eF5g", 200),
    ("HRKU-", WORD, 60),
    ("sbp_", HEX, 40),
    ("sb_secret_", WORD, 31),
    ("pscale_tkn_", WORD, 43),
    ("tskey-", ALNUM, 40),
    ("lin_api_", ALNUM, 40),
    ("ntn_", ALNUM, 46),
    ("secret_", ALNUM, 43),
    ("figd_", WORD, 40),
    ("pat-na1-", "9f2c4e1a-7b30-d586-9f2c-4e1a7b30d586", 36),
    ("shpat_", HEX, 32),
    ("shpss_", HEX, 32),
    ("sq0atp-", WORD, 22),
    ("sq0csp-", WORD, 43),
    ("EAAA", WORD, 60),
    ("key-", HEX, 32),
    ("xkeysib-", HEX, 64),
    ("dckr_pat_", WORD, 27),
    ("PMAK-", HEX, 59),
    ("NRAK-", UPPER, 27),
    ("glsa_", ALNUM, 41),
    ("glc_", ALNUM, 100),
    ("sntrys_", "eyJpYXQiOjE2MDAwMDAwMDAsInVy+/", 180),
    ("hvs.", WORD, 95),
    ("hvs.", ALNUM, 24),
    ("dp.pt.", ALNUM, 43),
    ("a1B2c3D4e5F6g7.atlasv1.", WORD, 67),
    ("SG.", "Zk3Qv9Xb7Lm2Rt5Wp8Yc4_.Ns6Hd1Gf0JaZk3Qv9Xb7Lm2Rt5Wp8Yc4Ns6Hd1Gf0Jab", 66),
    ("AGE-SECRET-KEY-1", UPPER, 58),
    ("gAAAAAB", WORD, 93),
    ("eyJ", "hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN_HnLQ-UyFDcmNeWr", 97),
    ("123456789:", "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw4", 35),
    ("MTA5NzY1NDMyMTA5ODc2NTQz.", "GaBcDe.Zk3Qv9Xb7Lm2Rt5Wp8Yc4Ns6Hd1Gf0JaZk3Qv9", 45),
    ("Authorization: Bearer ", ALNUM, 40),
    ("Authorization: Basic ", "dXNlcjpwYXNzd29y", 32),
    ("authorization: token ", HEX, 9),
    ("\"X-Api-Key\": \"", ALNUM, 24),
    ("x-auth-token: ", HEX, 32),
    ("AWS_SECRET_ACCESS_KEY=", "aB3+cD4/eF", 40),
    ("aws_secret_access_key = ", "aB3+cD4/eF", 40),
    ("secretAccessKey: '", "aB3+cD4/eF", 40),
    ("AccountName=x;AccountKey=", "aB3+cD4/eF", 86),
    ("postgres://app:", "hunter2", 7),
    ("mongodb+srv://app:", ALNUM, 20),
];

/// What stands between a value and the rest of its line.
fn tail(kept: &str) -> &'static str {
    if kept.contains("://") { "@db.internal/x" } else { "" }
}

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

/// A private key of so many lines, with something before each and after each.
fn private_key(label: &str, lines: usize, before: &str, after: &str) -> String {
    let line = |text: &str| format!("{before}{text}{after}");
    let body =
        line(&random("MIIEaB3+cD4/eF5g", 64)).repeat(lines - 1) + &line(&random("aB3+cD4/eF5g", 30)) + &line("=aB3");
    [line(&format!("-----BEGIN {label}-----")), body, line(&format!("-----END {label}-----"))].concat()
}

fn masked_key(label: &str, lines: usize, before: &str, after: &str) -> String {
    let line = |text: &str| format!("{before}{text}{after}");
    let first = line(&mark(64));
    let body = first + &line(&"*".repeat(64)).repeat(lines - 2) + &line(&"*".repeat(30)) + &line("****");
    [line(&format!("-----BEGIN {label}-----")), body, line(&format!("-----END {label}-----"))].concat()
}

const LABELS: [&str; 6] = [
    "PRIVATE KEY",
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
];

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

/// Pieces of which hostile text is made.
const PIECES: &[&str] = &[
    "sk-",
    "sk-proj-",
    "ghp_",
    "glpat-",
    "github_pat_",
    "AKIA",
    "eyJ",
    "eyJhbGciOiJIUzI1NiJ9",
    ".eyJ",
    "SG.",
    "hvs.",
    "xoxb-",
    "npm_",
    "whsec_",
    "fm2_",
    "glc_",
    "EAAA",
    "key-",
    "-us12",
    ":AA",
    "123456789",
    "MTA5NzY1NDMyMTA5ODc2NTQz",
    ".GaBcDe.",
    "://",
    "https://",
    "postgres://",
    "user:",
    "hunter2",
    "@",
    "@host",
    "/",
    ":",
    "Authorization",
    "authorization: ",
    "Bearer ",
    "Basic ",
    "X-Api-Key",
    "x-auth-token=",
    "secret_access_key = ",
    "AccountKey=",
    "token=",
    "\"",
    "'",
    "\\\"",
    "\\n",
    "\\",
    "=",
    ",",
    " ",
    "\n",
    "\r\n",
    "\t",
    "-----BEGIN ",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n",
    "\n-----END RSA PRIVATE KEY-----",
    "-----",
    "PRIVATE KEY",
    "Comment: ",
    "Proc-Type: 4,ENCRYPTED\n",
    "MIIEaB3+cD4/eF5gMIIEaB3+cD4/eF5g",
    "MIIEaB3+cD4/eF5gMIIE\n",
    "aB3",
    "Q7ZK3V6XB2LM5RT4",
    "Zk3Qv9Xb7Lm2Rt5W",
    "Zk3Qv9Xb7Lm2Rt5Wp8Yc4Ns6Hd1Gf0JaZk3Q",
    "9f2c4e1a7b30d5869f2c4e1a7b30d586",
    "_",
    "-",
    ".",
    "*",
    "***",
    "xxxx",
    "your-",
    "«redacted»",
    "«",
    "»",
    "é",
    "日本",
    "\u{1f600}",
    "word",
    "> ",
    "# ",
    "$",
    "{",
    "%40",
];

fn texts() -> impl Strategy<Value = String> {
    vec(select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}

/// Whole lines of secrets among others, so that most cases have something to mask.
fn documents() -> impl Strategy<Value = String> {
    let token =
        select(TOKENS).prop_map(|(kept, alphabet, length)| format!("{kept}{}{}", random(alphabet, length), tail(kept)));
    let key = (select(&LABELS), 2..6usize, select(&["", "  ", "# "]))
        .prop_map(|(label, lines, before)| private_key(label, lines, before, "\n"));
    vec(prop_oneof![texts(), token, key, Just("\n".into())], 0..8).prop_map(|parts: Vec<String>| parts.concat())
}

/// A part of the masked whole, with the halves of a mark's characters at its edges as stars.
fn part_of(text: &[u8], masked: &[u8], start: usize, end: usize) -> Vec<u8> {
    let mut part = masked[start..end].to_vec();
    let is_split = |at: usize| {
        let wide = at.checked_sub(1).and_then(|from| masked.get(from..=at)).unwrap_or_default();
        (wide == &LABEL[..2] || wide == &LABEL[10..]) && text[at - 1..=at] != *wide
    };
    if let Some(first) = part.first_mut().filter(|_| is_split(start)) {
        *first = b'*';
    }
    if let Some(last) = part.last_mut().filter(|_| is_split(end)) {
        *last = b'*';
    }
    part
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400_000))]

    #[test]
    fn masking_keeps_length_lines_and_utf8_and_finds_all_at_once(text in documents()) {
        let (once, count) = masked(&text);
        prop_assert_eq!(once.len(), text.len());
        for (before, after) in text.bytes().zip(once.bytes()) {
            prop_assert!(before == after || !matches!(before, b'\n' | b'\r') && !matches!(after, b'\n' | b'\r'));
        }
        prop_assert_eq!(once == text, count == 0);
        prop_assert_eq!(masked(&once), (once.clone(), 0));
    }

    #[test]
    fn a_range_is_a_part_of_the_masked_whole(text in documents(), from in 0.0..1.0f64, to in 0.0..1.0f64) {
        let [from, to] = [from, to].map(|at| (at * (text.len() + 1) as f64) as usize);
        let (start, end) = (from.min(to), from.max(to));
        let (whole, count) = masked(&text);
        let (part, part_count) = mask_range(text.as_bytes(), start..end);
        let expected = part_of(text.as_bytes(), whole.as_bytes(), start, end);
        prop_assert_eq!(part.escape_ascii().to_string(), expected.escape_ascii().to_string());
        prop_assert!(part_count <= count);
        prop_assert_eq!(part_count > 0, part != text.as_bytes()[start..end]);
        prop_assert_eq!(std::str::from_utf8(&part).is_ok(), std::str::from_utf8(&text.as_bytes()[start..end]).is_ok());
        prop_assert_eq!(mask_range(text.as_bytes(), 0..text.len()), (whole.into_bytes(), count));
    }

    #[test]
    fn bytes_of_any_kind_are_taken(mut bytes in vec(any::<u8>(), 0..300), piece in select(PIECES), at in 0..300usize) {
        let at = at.min(bytes.len());
        bytes.splice(at..at, piece.bytes());
        let mut once = bytes.clone();
        let count = mask(&mut once);
        prop_assert_eq!(once == bytes, count == 0);
        prop_assert_eq!(mask_range(&bytes, 0..bytes.len()), (once.clone(), count));
        prop_assert_eq!(mask(&mut once), 0);
    }

    #[test]
    fn whoever_masks_leaves_a_mark(text in documents()) {
        let (once, count) = masked(&text);
        prop_assert!(count == 0 || has_mask(once.as_bytes()), "{once}");
    }
}

/// The fastest of some runs over 128 KiB of one piece: what the machine does besides makes a run only slower.
fn fastest(piece: &str) -> Duration {
    let text: Vec<u8> = piece.bytes().cycle().take(128 << 10).collect();
    let run = |_| {
        let mut bytes = text.clone();
        let start = Instant::now();
        mask(&mut bytes);
        mask_range(&text, text.len() / 2..text.len() / 2 + 100);
        has_mask(&text);
        start.elapsed()
    };
    (0..5).map(run).min().unwrap()
}

#[test]
fn hostile_text_costs_no_more_than_its_length() {
    // A candidate every three bytes. What looks far ahead at each of its own takes a hundred times as long, and more.
    let limit = fastest("sk-") * 40;
    for piece in PIECES.iter().copied().chain([
        "://a:a:a:",
        "x://a:bcd@",
        "x://a@a@a@",
        "authorization=bearer ",
        "authorization=authorization=",
        "x-api-key:x-api-key=a1b2c3d4",
        "glc_aaaaaaaaaaaaaaaaaaaaaaaa/",
        "glc_aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3/",
        "glpat-xxxxxxxxxxxxxxxxxxxx-",
        "eyJaaaaaaaaaaaaaaaaaaaaaaaaaa.eyJa.",
        "MTA5NzY1NDMyMTA5ODc2NTQz.GaBcDe.",
        "-----BEGIN PRIVATE KEY-----Comment:",
        "-----BEGIN PRIVATE KEY-----\\n\\n",
        "-----BEGIN PRIVATE KEY-----\nComment: a\n",
        "-----BEGIN PRIVATE KEY-----\nA\n",
        "-----BEGIN PRIVATE KEY----- A ",
        "a\n",
    ]) {
        let taken = fastest(piece);
        assert!(taken < limit, "{piece:?} takes {taken:?}, more than {limit:?}");
    }
}
