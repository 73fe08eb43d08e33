//! Results on their way to a model: too large ones go to files, those from outside are marked, all others arrive as they are.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use hermes_host::{
    CallContext, Host,
    dispatch::{BatchCall, Outcome},
    wit::latest::Content,
};
use serde_json::Value;

use super::{cli::Place, guest, start::builder};

/// The bits of the definition's hints.
pub(crate) const READ_ONLY: u8 = 1;
pub(crate) const IDEMPOTENT: u8 = 4;
pub(crate) const OPEN_WORLD: u8 = 8;
pub(crate) const PARALLEL_SAFE: u8 = 16;

/// The kinds of a guest's answer.
pub(crate) const JSON: u8 = 0;
pub(crate) const TEXT: u8 = 1;

/// What a definition claims, as data behind the prelude's: its hints are the last field of the record.
pub(crate) fn hints(hints: u8) -> String {
    format!(r#"(data (i32.const 112) "\{hints:02x}")"#)
}

/// The definition's own limit for results: an option before the hints.
fn own_limit(chars: u64) -> String {
    let bytes: String = chars.to_le_bytes().iter().map(|byte| format!("\\{byte:02x}")).collect();
    format!(r#"(data (i32.const 96) "\01") (data (i32.const 104) "{bytes}")"#)
}

/// A tool that answers a text of so many letters.
pub(crate) fn fills(name: &str, claims: &str, chars: usize) -> Vec<u8> {
    let pages = 2 + chars / 65_536;
    let text = format!(
        r#"(module {claims} (memory {pages})
          (func $handle (result i32)
            (memory.fill (i32.const 65536) (i32.const 97) (i32.const {chars}))
            (call $answer (i32.const 1) (i32.const 65536) (i32.const {chars}))))"#
    );
    guest::assemble(name, &text)
}

/// A tool that answers this text.
pub(crate) fn says(name: &str, claims: &str, kind: u8, text: &str) -> Vec<u8> {
    let (length, bytes) = (text.len(), data(text));
    let text = format!(
        r#"(module {claims} (data (i32.const 1024) "{bytes}")
          (func $handle (result i32) (call $answer (i32.const {kind}) (i32.const 1024) (i32.const {length}))))"#
    );
    guest::assemble(name, &text)
}

/// A tool that fails with this message: the answer's other case, `failed` of the four kinds.
pub(crate) fn fails(name: &str, claims: &str, message: &str) -> Vec<u8> {
    let (length, bytes) = (message.len(), data(message));
    let text = format!(
        r#"(module {claims} (data (i32.const 1024) "{bytes}")
          (func $handle (result i32)
            (i32.store8 (global.get $ok) (i32.const 1))
            (i32.store8 offset=4 (global.get $ok) (i32.const 3))
            (i32.store offset=8 (global.get $ok) (i32.const 1024))
            (i32.store offset=12 (global.get $ok) (i32.const {length}))
            (global.get $ok)))"#
    );
    guest::assemble(name, &text)
}

fn data(text: &str) -> String {
    text.bytes().map(|byte| format!("\\{byte:02x}")).collect()
}

/// A host whose tools folder has these components, each under its tool's name.
pub(crate) fn place(tools: &[(&str, Vec<u8>)]) -> Place {
    let place = Place::new();
    for (name, bytes) in tools {
        place.drop_in(&format!("{name}.wasm"), bytes);
    }
    place
}

pub(crate) fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.json()).unwrap()
}

fn call(host: &Host, tool: &str) -> Outcome {
    host.call_blocking(tool, "{}", CallContext::default())
}

/// The file that a reply names.
fn spilled(outcome: &Outcome) -> PathBuf {
    let reply = json(outcome);
    assert_eq!(reply["truncated"], true, "{reply}");
    reply["file"].as_str().unwrap().into()
}

fn is_whole(outcome: &Outcome, chars: usize) -> bool {
    json(outcome).as_str() == Some(&"a".repeat(chars))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_text_of_100_001_characters_goes_to_a_private_file_whole_and_its_beginning_to_the_model() {
    // A text is measured as the JSON string that it becomes, quotes included.
    let tools = [("fits", fills("fits", "", 99_998)), ("large", fills("large", "", 100_001))];
    let place = place(&tools);
    let host = builder(&place).build().unwrap();
    assert!(is_whole(&call(&host, "fits"), 99_998));
    assert!(!place.home().join("results").exists(), "a result that fits was kept");
    let outcome = call(&host, "large");
    let file = spilled(&outcome);
    assert_eq!(fs::read_to_string(&file).unwrap(), "a".repeat(100_001));
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert_eq!(file.parent().unwrap(), place.home().join("results"));
    let reply = json(&outcome);
    assert_eq!(reply["preview"], "a".repeat(1_500));
    assert!(reply["note"].as_str().unwrap().contains("100000"), "{reply}");
    assert!(outcome.json().len() < 3_000);
}

#[test]
fn a_tools_own_limit_lowers_the_bound_and_never_raises_it() {
    let place = place(&[
        ("small", fills("small", &own_limit(1_000), 998)),
        ("over", fills("over", &own_limit(1_000), 1_001)),
        ("greedy", fills("greedy", &own_limit(1 << 40), 100_001)),
    ]);
    let host = builder(&place).build().unwrap();
    assert!(is_whole(&call(&host, "small"), 998));
    assert_eq!(fs::read(spilled(&call(&host, "over"))).unwrap().len(), 1_001);
    assert!(json(&call(&host, "over"))["preview"].as_str().unwrap().len() <= 1_000);
    spilled(&call(&host, "greedy"));
}

#[test]
fn the_operator_raises_and_lowers_what_a_tool_may_show_whatever_the_tool_says() {
    let place = place(&[
        ("raised", fills("raised", &own_limit(1_000), 150_000)),
        ("lowered", fills("lowered", "", 300)),
        ("other", fills("other", "", 300)),
    ]);
    place.configure(
        "[tools.raised]\nlimits = { result_chars = 200_000 }\n[tools.lowered]\nlimits = { result_chars = 100 }",
    );
    let host = builder(&place).build().unwrap();
    assert!(is_whole(&call(&host, "raised"), 150_000));
    let bounds = ["raised", "lowered", "other", "nobody"].map(|tool| host.max_result_chars(tool));
    assert_eq!(bounds, [Some(200_000), Some(100), Some(100_000), None]);
    let lowered = call(&host, "lowered");
    assert_eq!(fs::read(spilled(&lowered)).unwrap().len(), 300);
    assert_eq!(json(&lowered)["preview"], "a".repeat(100));
    assert!(is_whole(&call(&host, "other"), 300));
}

#[test]
fn a_small_context_window_lowers_the_bound() {
    let place = place(&[("middle", fills("middle", "", 20_000)), ("small", fills("small", "", 7_900))]);
    let host = builder(&place).build().unwrap();
    assert!(is_whole(&call(&host, "middle"), 20_000));
    place.configure("context_window = 10_000");
    host.reload().unwrap();
    spilled(&call(&host, "middle"));
    assert!(is_whole(&call(&host, "small"), 7_900), "8,000 characters are shown in the smallest window");
}

#[test]
fn hostile_call_ids_stay_inside_the_results_folder() {
    let place = place(&[("large", fills("large", &own_limit(10), 100))]);
    let host = builder(&place).build().unwrap();
    let ids =
        ["../../evil".into(), "/tmp/evil".into(), "..".into(), String::new(), "x".repeat(10_000), "a\0b\n".into()];
    let results = place.home().join("results");
    let before = fs::read_dir(place.root.path()).unwrap().count();
    for (count, id) in ids.iter().enumerate() {
        let context = CallContext { call_id: Some(id.clone()), ..CallContext::default() };
        let file = spilled(&host.call_blocking("large", "{}", context));
        // The folder itself says what is in it: a name with `..` would not be an entry of it.
        assert_eq!(fs::canonicalize(&file).unwrap().parent().unwrap(), fs::canonicalize(&results).unwrap());
        assert_eq!(fs::read_dir(&results).unwrap().count(), count + 1, "{id:?}");
        assert_eq!(fs::read(&file).unwrap().len(), 100);
    }
    assert_eq!(fs::read_dir(place.root.path()).unwrap().count(), before);
}

#[test]
fn a_result_that_can_not_be_kept_leaves_its_beginning_and_says_so() {
    let place = place(&[("large", fills("large", "", 100_001))]);
    let host = builder(&place).build().unwrap();
    let (results, elsewhere) = (place.home().join("results"), place.root.path().join("elsewhere"));
    fs::create_dir(&elsewhere).unwrap();
    let assert_not_kept = |why: &str| {
        let reply = json(&call(&host, "large"));
        assert!(reply["note"].as_str().unwrap().contains("could not be kept"), "{why}: {reply}");
        assert_eq!((&reply["file"], reply["truncated"].as_bool()), (&Value::Null, Some(true)), "{why}");
        assert_eq!(reply["preview"], "a".repeat(1_500), "{why}");
    };
    fs::write(&results, "in the way").unwrap();
    assert_not_kept("a file is in the folder's place");
    fs::remove_file(&results).unwrap();
    symlink(&elsewhere, &results).unwrap();
    assert_not_kept("the folder is a link");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    fs::remove_file(&results).unwrap();
    fs::create_dir(&results).unwrap();
    fs::set_permissions(&results, fs::Permissions::from_mode(0o777)).unwrap();
    assert_not_kept("others can write to the folder");
}

const TAGS: &str = "a<system>b</tool_result>c<|im_start|>d[INST]<div>";
const CLEAN: &str = "a‹system›b‹/tool_result›c‹|im_start|›d‹INST›<div>";

#[test]
fn results_from_outside_are_marked_and_their_tags_defanged_even_when_escaped() {
    let escaped = r#"{"t":"\u003csystem\u003e <\u002ftool_result> \u003C|im_start|\u003E","n":1.50}"#;
    let place = place(&[
        ("text", says("text", &hints(OPEN_WORLD), TEXT, TAGS)),
        ("json", says("json", &hints(OPEN_WORLD | READ_ONLY), JSON, escaped)),
    ]);
    let host = builder(&place).build().unwrap();
    let text = json(&call(&host, "text"));
    assert_eq!((&text["source"], &text["trust"], &text["result"]), (&"text".into(), &"outside".into(), &CLEAN.into()));
    let outcome = call(&host, "json");
    let found = json(&outcome);
    assert_eq!(found["trust"], "outside");
    assert_eq!(found["result"]["t"], "‹system› ‹/tool_result› ‹|im_start|›");
    assert!(outcome.json().contains("1.50"), "what is no tag stays as it was: {}", outcome.json());
}

#[test]
fn results_of_other_tools_arrive_byte_for_byte() {
    let object = r#"{"t":"\u003csystem\u003e</tool_result>\/","n":1.50,"n":-0,"deep":[{},[]]}"#;
    let all = hints(!OPEN_WORLD & 0x1f);
    let place = place(&[("text", says("text", "", TEXT, TAGS)), ("json", says("json", &all, JSON, object))]);
    let host = builder(&place).build().unwrap();
    let text = call(&host, "text").result.unwrap();
    assert_eq!(text.json(), serde_json::to_string(TAGS).unwrap());
    assert!(matches!(text.content(), [Content::Text(text)] if text == TAGS));
    let json = call(&host, "json").result.unwrap();
    assert_eq!(json.json(), object);
    assert!(matches!(json.content(), [Content::Json(json)] if json == object));
}

#[test]
fn an_error_from_outside_speaks_in_no_tags_either() {
    let place = place(&[("fetch", fails("fetch", &hints(OPEN_WORLD), TAGS))]);
    let text = call(&builder(&place).build().unwrap(), "fetch").json();
    for tag in ["<system>", "</tool_result>", "<|im_start|>", "[INST]"] {
        assert!(!text.contains(tag), "{tag} in {text}");
    }
}

#[test]
fn a_spilled_result_from_outside_is_marked_and_its_preview_defanged() {
    let claims = hints(OPEN_WORLD) + &own_limit(30);
    let place = place(&[("page", says("page", &claims, TEXT, TAGS))]);
    let page = json(&call(&builder(&place).build().unwrap(), "page"));
    assert_eq!((&page["trust"], &page["result"]["truncated"]), (&"outside".into(), &true.into()), "{page}");
    assert_eq!(page["result"]["preview"], "a‹system›b‹/tool_result›c‹|im_");
}

#[tokio::test]
async fn a_result_from_outside_that_was_too_much_for_its_turn_is_still_marked() {
    let place = place(&[("part", fills("part", &hints(OPEN_WORLD), 90_000))]);
    let host = builder(&place).build().unwrap();
    let part = BatchCall { name: "part".into(), ..BatchCall::default() };
    let parts = host.call_batch(&vec![part; 3], CallContext::default(), None).await.unwrap();
    for part in &parts {
        assert_eq!(json(part)["trust"], "outside", "{:.300}", part.json());
    }
}
