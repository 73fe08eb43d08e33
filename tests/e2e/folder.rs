//! What lies in a tools folder besides tools: one reason each, and the good ones load.

use std::{fs, os::unix::fs::symlink, path::Path};

use serde_json::Value;

use super::{cli::Place, cli::parse, guest};

#[test]
fn every_bad_file_has_one_reason_and_the_good_ones_load() {
    let place = Place::new();
    let tools = place.tools();
    let good = guest::good("good");
    place.drop_in("good.wasm", &good);
    place.drop_in("truncated.wasm", &good[..good.len() / 2]);
    place.drop_in("text.wasm", b"this is not wasm");
    place.drop_in("wat.wasm", b"(module)");
    place.drop_in("core.wasm", &wat::parse_str("(module)").unwrap());
    place.drop_in("other.wasm", &wat::parse_str("(component)").unwrap());
    place.drop_in("empty.wasm", b"");
    place.drop_in("bad name.wasm", &good);
    fs::create_dir(tools.join("folder.wasm")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        tools.join("fifo.wasm"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    symlink("/etc/passwd", tools.join("link.wasm")).unwrap();
    fs::File::create(tools.join("sparse.wasm")).unwrap().set_len(3 << 30).unwrap();
    place.drop_in(".hidden.wasm", b"an editor's");
    place.drop_in("notes.txt", b"not asked for");

    let list = parse(&place.run(&["list", "--json"]));
    let expected = [
        ("truncated.wasm", "cut short"),
        ("text.wasm", "is text"),
        ("wat.wasm", "is text"),
        ("core.wasm", "core module"),
        ("other.wasm", "not a tool"),
        ("empty.wasm", "is empty"),
        ("bad name.wasm", "rename it"),
        ("folder.wasm", "is a directory"),
        ("fifo.wasm", "not a regular file"),
        ("link.wasm", "symbolic link"),
        ("sparse.wasm", "the limit for a component is"),
    ];
    let refused = list["refused"].as_array().unwrap();
    for (file, reason) in expected {
        let found: Vec<&Value> =
            refused.iter().filter(|r| Path::new(r["place"].as_str().unwrap()).file_name().unwrap() == file).collect();
        assert_eq!(found.len(), 1, "{file}: {refused:?}");
        let text = found[0]["reason"].as_str().unwrap();
        assert!(text.contains(reason), "{file}: {text}");
        assert!(!text.contains('\n'), "{file}: more than one line");
    }
    assert_eq!(refused.len(), expected.len(), "{refused:?}");
    assert!(list["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "good"));
    assert_eq!(place.run(&["call", "good"]).status.code(), Some(0));
}

#[test]
fn random_bytes_after_a_valid_start_never_stop_the_host() {
    let place = Place::new();
    let mut bytes = guest::good("good");
    place.drop_in("good.wasm", &bytes);
    // One flipped byte at a time, spread over the file: some still load, none may harm.
    for step in 0..24 {
        let at = 8 + step * (bytes.len() - 8) / 24;
        bytes[at] ^= 0x5a;
        place.drop_in(&format!("mutant{step}.wasm"), &bytes);
        bytes[at] ^= 0x5a;
    }
    let output = place.run(&["list", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(place.run(&["call", "good"]).status.code(), Some(0));
}
