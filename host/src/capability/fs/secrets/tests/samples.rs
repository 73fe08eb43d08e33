//! Secrets, put together here so that no scanner finds one in this file, and what they become.

use super::super::{mark::LABEL, mask};

/// A text with its secrets masked, and how many there were.
pub(in super::super) fn masked(text: &str) -> (String, u32) {
    let mut bytes = text.as_bytes().to_vec();
    let count = mask(&mut bytes);
    (String::from_utf8(bytes).unwrap(), count)
}

/// The mark over as many bytes.
pub(in super::super) fn mark(length: usize) -> String {
    if length < LABEL.len() { "*".repeat(length) } else { format!("«redacted»{}", "*".repeat(length - LABEL.len())) }
}

/// Bytes that look random: the alphabet, again and again.
pub(super) fn random(alphabet: &str, length: usize) -> String {
    alphabet.chars().cycle().take(length).collect()
}

/// Alphabets whose repetition looks random.
pub(super) const HEX: &str = "9f2c4e1a7b30d586";
pub(super) const UPPER: &str = "Q7ZK3V6XB2LM5RT4";
pub(super) const ALNUM: &str = "Zk3Qv9Xb7Lm2Rt5Wp8Yc4Ns6Hd1Gf0Ja";
pub(super) const WORD: &str = "Zk3Qv9Xb7Lm2Rt5Wp8-c4Ns6Hd1Gf0_a";

/// What stays of a token, and the alphabet and length of its rest.
pub(super) const TOKENS: &[(&str, &str, usize)] = &[
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
    ("DB_PASSWORD=\"", "hunter2!", 8),
    ("\"client_secret\": \"", ALNUM, 40),
    ("\"client_secret\":\"", "hunter2!", 16),
    ("<password>", "hunter2!", 8),
    ("\"refresh_token\": \"", WORD, 40),
    ("postgres://app:", "hunter2", 7),
    ("mongodb+srv://app:", ALNUM, 20),
];

/// What stands between a value and the rest of its line.
pub(super) fn tail(kept: &str) -> &'static str {
    match kept {
        "<password>" => "</password>",
        _ if kept.starts_with("DB_PASSWORD") || kept.contains("client_") || kept.contains("_token\"") => "\"",
        _ if kept.contains("://") => "@db.internal/x",
        _ => "",
    }
}

/// A private key of so many lines, with something before and after each.
pub(super) fn private_key(label: &str, lines: usize, before: &str, after: &str) -> String {
    let line = |text: &str| format!("{before}{text}{after}");
    let body =
        line(&random("MIIEaB3+cD4/eF5g", 64)).repeat(lines - 1) + &line(&random("aB3+cD4/eF5g", 30)) + &line("=aB3");
    [line(&format!("-----BEGIN {label}-----")), body, line(&format!("-----END {label}-----"))].concat()
}

/// The same with its secrets masked.
pub(super) fn masked_key(label: &str, lines: usize, before: &str, after: &str) -> String {
    let line = |text: &str| format!("{before}{text}{after}");
    let first = line(&mark(64));
    let body = first + &line(&"*".repeat(64)).repeat(lines - 2) + &line(&"*".repeat(30)) + &line("****");
    [line(&format!("-----BEGIN {label}-----")), body, line(&format!("-----END {label}-----"))].concat()
}

/// What private keys are called.
pub(super) const LABELS: [&str; 6] = [
    "PRIVATE KEY",
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
];

/// Pieces of which hostile text is made.
pub(super) const PIECES: &[&str] = &[
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
    "PASSWORD=",
    "DB_PASSWORD=",
    "\"client_secret\": \"",
    "password: ",
    "\npassword = ",
    "<password>",
    "</password>",
    "api_key=",
    "API_KEY=",
    "access_token",
    "hunter2!",
    "(",
    ")",
    ";",
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
