//! Grants of files: the commands that give and take them, and what `list` says of them.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::PathBuf,
    process::Output,
};

use hermes_host::component::Digest;
use serde_json::{Value, json};

use super::{
    cli::{Place, Running, assert_wrong, parse, stderr, stdout},
    guest,
};

/// A component with the tool `name` that asks for files.
fn asks(name: &str) -> Vec<u8> {
    guest::assemble(name, "(component (import \"wasi:filesystem/preopens@0.2.0\" (instance)))")
}

/// The same tool in other bytes: a custom section is added.
fn other(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend([0, 3, 1, b'x', 0]);
    bytes
}

/// A place with the component `weather`, whose tool is `forecast`, and two folders to grant.
fn place() -> Place {
    let place = Place::new();
    place.drop_in("weather.wasm", &asks("forecast"));
    for name in ["notes", "work"] {
        fs::create_dir(place.root.path().join(name)).unwrap();
    }
    place
}

fn at(place: &Place, name: &str) -> String {
    place.root.path().canonicalize().unwrap().join(name).to_str().unwrap().to_owned()
}

fn config(place: &Place) -> PathBuf {
    place.home().join("hermes.toml")
}

fn text(place: &Place) -> String {
    fs::read_to_string(config(place)).unwrap()
}

fn done(output: Output) -> Output {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    output
}

/// What `list` says of the grants of a tool.
fn listed(place: &Place, tool: &str) -> Value {
    let list = parse(&place.run(&["list", "--json"]));
    list["tools"].as_array().unwrap().iter().find(|one| one["name"] == tool).unwrap()["grants"].clone()
}

/// The line of a tool in the table.
fn row(place: &Place, tool: &str) -> String {
    stdout(&place.run(&["list"])).lines().find(|line| line.starts_with(tool)).unwrap().to_owned()
}

#[test]
fn a_grant_holds_until_the_bytes_change_and_again_once_it_is_given_anew() {
    let place = place();
    assert!(row(&place, "forecast").contains("  -  "));
    let output = done(place.run(&["grant", "weather", "--read", &at(&place, "notes"), "--write", &at(&place, "work")]));
    let (read, write) = (format!("read {}", at(&place, "notes")), format!("write {}", at(&place, "work")));
    assert!(stdout(&output).contains(&read) && stdout(&output).contains(&write), "{output:?}");
    assert_eq!(stderr(&output), "");
    let fs = json!([
        {"path": at(&place, "notes"), "access": "read", "secrets": "mask", "hard_links": "refuse"},
        {"path": at(&place, "work"), "access": "write", "secrets": "mask", "hard_links": "refuse"},
    ]);
    let grants = listed(&place, "forecast");
    assert_eq!((&grants["stale"], &grants["fs"]), (&json!(false), &fs));
    assert!(row(&place, "forecast").contains(&format!("{read}, {write}")));

    place.drop_in("weather.wasm", &other(asks("forecast")));
    let grants = listed(&place, "forecast");
    assert_eq!((&grants["stale"], &grants["fs"]), (&json!(true), &json!([])));
    let line = row(&place, "forecast");
    assert!(line.contains("stale") && !line.contains(&read), "{line}");
    assert!(
        line.contains("its grant is for other bytes; if you trust these, run: hermes-host grant weather"),
        "{line}"
    );

    done(place.run(&["grant", "weather"]));
    let grants = listed(&place, "forecast");
    assert_eq!((&grants["stale"], &grants["fs"]), (&json!(false), &fs));
}

#[test]
fn other_bytes_get_what_is_named_and_nothing_that_was_there_before() {
    let place = place();
    done(place.run(&["grant", "weather", "--write", &at(&place, "work")]));
    place.drop_in("weather.wasm", &other(asks("forecast")));
    let output = done(place.run(&["grant", "weather", "--read", &at(&place, "notes")]));
    assert!(stderr(&output).contains("had a grant for other bytes, which these were not given: write"), "{output:?}");
    assert_eq!(listed(&place, "forecast")["fs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_path_is_kept_so_that_the_current_directory_does_not_matter() {
    let place = place();
    let mut command = place.command(&["grant", "weather", "--read", "notes", "--write=~/work", "--json"]);
    let output = done(command.current_dir(place.root.path()).env("HOME", place.root.path()).output().unwrap());
    let paths: Vec<Value> = parse(&output)["fs"].as_array().unwrap().iter().map(|row| row["path"].clone()).collect();
    assert_eq!(paths, ["~/notes", "~/work"]);
    // A link is granted as what it leads to now.
    symlink(at(&place, "work"), place.root.path().join("link")).unwrap();
    done(place.run(&["grant", "weather", "--read", &at(&place, "link")]));
    assert!(text(&place).contains(&format!("path = \"{}\"", at(&place, "work"))), "{}", text(&place));
}

#[test]
fn the_same_path_is_granted_once_and_as_it_was_named_last() {
    let place = place();
    let notes = at(&place, "notes");
    done(place.run(&["grant", "weather", "--read", &notes]));
    done(place.run(&["grant", "weather", "--write", &format!("{notes}/"), "--show-secrets", "--hard-links"]));
    let expected = json!([{"path": notes, "access": "write", "secrets": "show", "hard_links": "allow"}]);
    assert_eq!(listed(&place, "forecast")["fs"], expected);
    done(place.run(&["grant", "weather", "--read", &notes, "--write", &notes]));
    let expected = json!([{"path": notes, "access": "write", "secrets": "mask", "hard_links": "refuse"}]);
    assert_eq!(listed(&place, "forecast")["fs"], expected);
}

#[test]
fn a_single_file_can_be_granted_by_name() {
    let place = place();
    fs::write(place.root.path().join(".env"), "KEY=1").unwrap();
    done(place.run(&["grant", "weather", "--read", &at(&place, ".env")]));
    assert_eq!(listed(&place, "forecast")["fs"][0]["path"], at(&place, ".env"));
}

#[test]
fn comments_and_layout_survive_and_the_rest_of_the_file_stays() {
    let place = place();
    let digest = Digest::of(&asks("forecast"));
    let before = format!(
        "# Ada's grants\n\n[tools.weather]   # the demo\ndigest = '{digest}'\nfs = [\n  # the diary\n  {{ path = '{}', access = 'read' }}, # never write\n]\n\n[guardrails] # strict\nstop = false\n",
        at(&place, "notes")
    );
    place.configure(&before);
    done(place.run(&["grant", "weather", "--write", &at(&place, "work")]));
    let row = format!("  {{ path = \"{}\", access = \"write\" }},\n]", at(&place, "work"));
    assert_eq!(text(&place), before.replace("\n]", &format!("\n{row}")));
    done(place.run(&["revoke", "weather", "--write", &at(&place, "work")]));
    assert_eq!(text(&place), before);
}

#[test]
fn a_tools_name_leads_to_its_component_and_an_unknown_one_to_its_neighbours() {
    let place = place();
    let notes = at(&place, "notes");
    let output = done(place.run(&["grant", "forecast", "--read", &notes]));
    assert!(stderr(&output).contains("The tool forecast belongs to the component weather."), "{output:?}");
    assert!(text(&place).contains("[tools.weather]"));
    assert_wrong(&place.run(&["grant", "wether", "--read", &notes]), &["is named \"wether\"", "did you mean weather?"]);
    assert_wrong(&place.run(&["grant", "forcast", "--read", &notes]), &["did you mean forecast?"]);
    assert_wrong(&place.run(&["grant", "../x", "--read", &notes]), &["hermes-host list"]);
}

#[test]
fn of_two_components_with_one_name_the_digest_chooses() {
    let place = place();
    let folder = place.root.path().join("more");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("weather.wasm"), other(asks("forecast"))).unwrap();
    let (notes, more) = (at(&place, "notes"), folder.to_str().unwrap());
    let grant = ["grant", "weather", "--read", &notes, "--tools", more];
    let (mine, theirs) = (Digest::of(&asks("forecast")).to_string(), Digest::of(&other(asks("forecast"))).to_string());
    assert_wrong(&place.run(&grant), &["several components are named weather", &mine, &theirs, "--digest"]);
    let output = done(place.run(&[&grant[..], &["--digest", &theirs, "--json"]].concat()));
    assert_eq!(parse(&output)["digest"], theirs);
    let unknown = Digest::of(b"unknown").to_string();
    assert_wrong(&place.run(&[&grant[..], &["--digest", &unknown]].concat()), &["has other bytes than", &mine]);
    assert_wrong(&place.run(&[&grant[..], &["--digest", "md5:1"]].concat()), &["a digest starts with blake3:"]);
}

#[test]
fn equal_bytes_are_granted_under_the_name_that_is_loaded() {
    let place = place();
    let (_, bytes) = hermes_host::BUNDLED.iter().find(|(name, _)| *name == "calc").unwrap();
    place.drop_in("copy.wasm", bytes);
    let output = done(place.run(&["grant", "copy", "--read", &at(&place, "notes")]));
    assert!(stderr(&output).contains("copy has the same bytes as calc (bundled)"), "{output:?}");
    assert!(text(&place).contains("[tools.calc]"));
}

#[test]
fn what_may_not_be_meant_is_granted_with_a_warning() {
    let place = place();
    place.drop_in("plain.wasm", &guest::good("plain"));
    let root = at(&place, "");
    let warned = |arguments: &[&str]| stderr(&done(place.command(arguments).env("HOME", &root).output().unwrap()));
    let no_effect = warned(&["grant", "plain", "--read", &at(&place, "notes")]);
    assert!(no_effect.contains("warning: this has no effect: plain does not ask for files"), "{no_effect}");
    assert_eq!(warned(&["grant", "weather", "--read", &at(&place, "notes")]), "");
    let home = warned(&["grant", "weather", "--read", &root]);
    assert!(home.contains("read ~: that is your whole home"), "{home}");
    assert!(home.contains("this reaches the host's own files"), "{home}");
    done(place.run(&["revoke", "weather"]));
    assert!(warned(&["grant", "weather", "--read", "/"]).contains("every file of this machine"));
    done(place.run(&["revoke", "weather"]));
    std::fs::create_dir_all(place.home().join("cache")).unwrap();
    let inside = warned(&["grant", "weather", "--write", &at(&place, "home/cache")]);
    assert!(inside.contains("who writes there decides what it is granted"), "{inside}");
    let quiet = warned(&["grant", "weather", "--quiet"]);
    assert_eq!(quiet, "");
}

#[test]
fn wrong_grants_exit_2_change_nothing_and_say_what_to_do() {
    let place = place();
    let notes = at(&place, "notes");
    for (arguments, message) in [
        (vec!["grant", "weather"], "name what it may use: --read PATH, --write PATH"),
        (vec!["grant", "weather", "--show-secrets"], "--read <PATH>|--write <PATH>"),
        (vec!["grant", "weather", "--read", "/no/such/folder"], "/no/such/folder does not exist; make it"),
        (vec!["grant", "weather", "--read", "/dev/null"], "neither a folder nor a regular file"),
        (vec!["grant", "weather", "--read", "~ada/x"], "another user's home"),
        (vec!["grant", "weather", "--read", ""], "a value is required"),
        (vec!["grant"], "required"),
        (vec!["grant", "weather", "--read", &notes, "--config", "/no/such/folder/hermes.toml"], "No such file"),
        (vec!["revoke", "weather", "--all", "--read", &notes], "cannot be used with"),
    ] {
        assert_wrong(&place.run(&arguments), &[message]);
    }
    assert!(!config(&place).exists());
}

#[test]
fn a_file_that_can_not_be_trusted_or_understood_is_left_as_it_is() {
    let place = place();
    let notes = at(&place, "notes");
    let refused = |text: &str, mode: u32, messages: &[&str]| {
        place.configure(text);
        fs::set_permissions(config(&place), fs::Permissions::from_mode(mode)).unwrap();
        for command in [vec!["grant", "weather", "--read", &notes], vec!["revoke", "weather"]] {
            assert_wrong(&place.run(&command), messages);
        }
        assert_eq!(fs::read_to_string(config(&place)).unwrap(), text);
        fs::remove_file(config(&place)).unwrap();
    };
    let good =
        format!("[tools.weather]\ndigest = \"{}\"\nfs = [{{ path = \"/\", access = \"read\" }}]\n", Digest::of(b""));
    refused(&good, 0o666, &["other users can write to it; run chmod go-w on it"]);
    refused(&good, 0o444, &["it is read-only; run chmod u+w on it"]);
    refused("# broken\n[tools.weather]\nfs = [\n", 0o600, &["is not a valid configuration", "line 3, column"]);
    refused("[tools.weather]\nfss = []\n", 0o600, &["unknown field `fss`", "line 2, column 1"]);
}

#[test]
fn a_new_file_is_private_a_mode_stays_and_a_link_is_written_through() {
    let place = place();
    let grant = ["grant", "weather", "--read", &at(&place, "notes")];
    let mode = || fs::metadata(config(&place)).unwrap().permissions().mode() & 0o777;
    done(place.run(&grant));
    assert_eq!(mode(), 0o600);
    fs::set_permissions(config(&place), fs::Permissions::from_mode(0o640)).unwrap();
    let real = place.root.path().join("dotfiles.toml");
    fs::rename(config(&place), &real).unwrap();
    symlink(&real, config(&place)).unwrap();
    done(place.run(&["grant", "weather", "--write", &at(&place, "work")]));
    assert!(config(&place).is_symlink());
    assert_eq!((mode(), fs::read_to_string(real).unwrap().matches("path =").count()), (0o640, 2));
}

#[test]
fn grants_at_the_same_time_lose_nothing() {
    let place = place();
    let folders: Vec<String> = (0..8).map(|number| at(&place, &format!("notes/{number}"))).collect();
    folders.iter().for_each(|folder| fs::create_dir(folder).unwrap());
    let start = |folder: &String| place.command(&["grant", "weather", "--read", folder, "--quiet"]).spawn().unwrap();
    let children: Vec<_> = folders.iter().map(start).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(listed(&place, "forecast")["fs"].as_array().unwrap().len(), 8);
}

#[test]
fn what_is_revoked_is_gone_and_what_is_not_there_exits_1() {
    let place = place();
    let (notes, work) = (at(&place, "notes"), at(&place, "work"));
    let nothing = |arguments: &[&str], message: &str| {
        let output = place.run(arguments);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""), "{output:?}");
        assert!(stderr(&output).contains(message), "{output:?}");
    };
    nothing(&["revoke", "weather"], "weather is granted nothing");
    assert!(!config(&place).exists());
    done(place.run(&["grant", "weather", "--read", &notes, "--write", &work]));
    nothing(&["revoke", "weather", "--write", &notes], "is not granted to write");
    nothing(&["revoke", "weather", "--read", &work, "--read", "/"], "nothing was changed; it has: read");
    nothing(&["revoke", "nobody"], "those who have some: weather");
    // A name whose file is gone, and a folder that is gone.
    fs::remove_file(place.tools().join("weather.wasm")).unwrap();
    fs::remove_dir(&work).unwrap();
    let output = done(place.run(&["revoke", "weather", "--write", &work]));
    assert!(stderr(&output).contains("revoked: write") && stdout(&output).contains(&notes), "{output:?}");
    let output = done(place.run(&["revoke", "weather", "--all", "--json"]));
    assert_eq!(parse(&output)["fs"], json!([]));
    assert_eq!(text(&place), "");
}

#[test]
fn limits_stay_when_the_files_go() {
    let place = place();
    place.configure("[tools.weather]\nlimits = { fuel = 7 }\n");
    done(place.run(&["grant", "weather", "--read", &at(&place, "notes")]));
    done(place.run(&["revoke", "weather"]));
    let grants = listed(&place, "forecast");
    assert_eq!((&grants["limits"]["fuel"], &grants["fs"]), (&json!(7), &json!([])));
}

#[test]
fn files_granted_to_a_name_are_granted_to_nobody_but_a_bundled_component() {
    let place = place();
    let fs = format!("fs = [{{ path = \"{}\", access = \"read\" }}]", at(&place, "notes"));
    place.configure(&format!("[tools.weather]\n{fs}\nlimits = {{ fuel = 7 }}\n[tools.calc]\n{fs}\n"));
    let stranger = listed(&place, "forecast");
    assert_eq!((&stranger["stale"], &stranger["fs"]), (&json!(true), &json!([])));
    assert_ne!(stranger["limits"]["fuel"], 7);
    let reason = stranger["reason"].as_str().unwrap();
    assert!(reason.contains("not to a name") && reason.contains("hermes-host grant weather"), "{reason}");
    let bundled = listed(&place, "calculate");
    assert_eq!((&bundled["stale"], bundled["fs"].as_array().unwrap().len()), (&json!(false), 1));
    done(place.run(&["grant", "weather"]));
    assert_eq!(listed(&place, "forecast")["limits"]["fuel"], 7);
}

#[test]
fn an_update_that_its_limits_kept_out_can_be_granted_again() {
    let place = place();
    // 65 MiB to start with: more than a component without a grant has.
    let large = |name: &str| guest::assemble(name, "(module (memory 1040))");
    place.drop_in("large.wasm", &large("large"));
    place.configure("[tools.large]\nlimits = { memory = \"128MiB\" }\n");
    done(place.run(&["grant", "large"]));
    assert_eq!(listed(&place, "large")["stale"], false);
    place.drop_in("large.wasm", &other(large("large")));
    assert!(stderr(&place.run(&["list"])).contains("bytes of memory; its limit is"));
    done(place.run(&["grant", "large"]));
    assert_eq!(listed(&place, "large")["stale"], false);
}

#[test]
fn a_running_host_takes_up_what_was_granted_and_revoked() {
    let place = place();
    let running = Running::start(&place);
    running.wait_for("Ready");
    done(place.run(&["grant", "weather", "--read", &at(&place, "notes")]));
    running.wait_for("hermes.toml again");
    done(place.run(&["revoke", "weather"]));
    running.wait_for("hermes.toml again");
    place.configure("nonsense");
    running.wait_for("everything stays as it was");
}

#[test]
fn run_says_whose_grant_does_not_hold() {
    let place = place();
    done(place.run(&["grant", "weather", "--read", &at(&place, "notes")]));
    place.drop_in("weather.wasm", &other(asks("forecast")));
    Running::start(&place).wait_for("no grant: weather: its grant is for other bytes");
}

/// A component with the tool `name` that looks at a file in the host's own interface and answers with what it hears.
fn looks(name: &str) -> Vec<u8> {
    guest::assemble(
        name,
        r#"(module
            (import "hermes:tool/filesystem@0.1.0" "stat" (func $stat (param i32 i32 i32)))
            (data (i32.const 1024) "notes.txt")
            (func $handle (result i32)
              (call $stat (i32.const 1024) (i32.const 9) (i32.const 2048))
              (if (i32.eqz (i32.load8_u (i32.const 2048))) (then (return (global.get $ok))))
              ;; The fault: its reason, and its message.
              (call $answer (i32.const 1) (i32.load (i32.const 2060)) (i32.load (i32.const 2064)))))"#,
    )
}

#[test]
fn a_call_is_told_that_its_grant_is_for_other_bytes() {
    let place = Place::new();
    place.drop_in("weather.wasm", &looks("forecast"));
    let root = at(&place, "");
    fs::write(place.root.path().join("notes.txt"), "sunny").unwrap();
    let called = || {
        let mut command = place.command(&["call", "forecast"]);
        stdout(&command.arg("--workspace").arg(&root).output().unwrap())
    };
    assert!(called().contains("no folder was granted"), "{}", called());
    done(place.run(&["grant", "weather", "--read", &root]));
    assert_eq!(called().trim(), "\"ok\"");
    place.drop_in("weather.wasm", &other(looks("forecast")));
    let told = called();
    assert!(
        told.contains("its grant is for other bytes; if you trust these, run: hermes-host grant weather"),
        "{told}"
    );
    assert!(!told.contains("no folder was granted"), "{told}");
    done(place.run(&["grant", "weather"]));
    assert_eq!(called().trim(), "\"ok\"");
}

/// A component with the tool `name` that asks WASI for its folders, and fails as the standard library of a language does.
fn opens(name: &str) -> Vec<u8> {
    let error = "No such file or directory (os error 44)";
    let text = format!(
        r#"(module
            (import "wasi:filesystem/preopens@0.2.0" "get-directories" (func $directories (param i32)))
            (data (i32.const 1024) "{error}")
            (func $handle (result i32)
              (call $directories (i32.const 2048))
              (i32.store8 (global.get $ok) (i32.const 1))
              ;; "failed"
              (i32.store8 offset=4 (global.get $ok) (i32.const 3))
              (i32.store offset=8 (global.get $ok) (i32.const 1024))
              (i32.store offset=12 (global.get $ok) (i32.const {}))
              (global.get $ok)))"#,
        error.len()
    );
    guest::assemble(name, &text)
}

#[test]
fn an_error_of_a_standard_library_names_the_grant_that_is_missing() {
    let place = Place::new();
    place.drop_in("weather.wasm", &opens("forecast"));
    let called = || stdout(&place.run(&["call", "forecast"]));
    let advice =
        "(no folder was granted to weather; the operator can change that: hermes-host grant weather --read PATH)";
    assert!(called().contains(&format!("(os error 44) {advice}")), "{}", called());
    done(place.run(&["grant", "weather", "--read", &at(&place, "")]));
    assert!(called().contains("(os error 44)") && !called().contains("grant"), "{}", called());
}

#[test]
fn a_dev_grant_follows_its_file_until_it_is_revoked_or_pinned() {
    let place = place();
    let notes = at(&place, "notes");
    let output = done(place.run(&["grant", "weather", "--read", &notes, "--dev"]));
    assert!(stderr(&output).contains("dev mode: whatever is written to"), "{output:?}");
    assert!(text(&place).contains("dev = \"") && !text(&place).contains("digest"), "{}", text(&place));
    for bytes in [other(asks("forecast")), asks("forecast")] {
        place.drop_in("weather.wasm", &bytes);
        let grants = listed(&place, "forecast");
        assert_eq!((&grants["stale"], &grants["dev"]), (&json!(false), &json!(true)));
        assert_eq!(grants["fs"][0]["path"], json!(notes));
        assert!(row(&place, "forecast").contains("dev: any bytes of its file"));
    }
    // In red where there are colours.
    let output = place.command(&["list"]).env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(stdout(&output).contains("\u{1b}[31mdev: any bytes of its file"), "{output:?}");
    // The same name elsewhere has none of it.
    let elsewhere = tempfile::tempdir().unwrap();
    fs::rename(place.tools().join("weather.wasm"), elsewhere.path().join("weather.wasm")).unwrap();
    let folder = elsewhere.path().to_str().unwrap();
    let list = parse(&place.run(&["list", "--json", "--tools", folder]));
    let moved = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "forecast").unwrap();
    assert_eq!((&moved["grants"]["stale"], &moved["grants"]["fs"]), (&json!(true), &json!([])));
    assert!(moved["grants"]["reason"].as_str().unwrap().contains("for another file (dev mode)"), "{moved}");
    place.drop_in("weather.wasm", &asks("forecast"));
    // Pinned to the bytes that are there, it is a grant like others.
    done(place.run(&["grant", "weather"]));
    assert!(text(&place).contains("digest = \"") && !text(&place).contains("dev ="), "{}", text(&place));
    assert_eq!(listed(&place, "forecast")["dev"], false);
    done(place.run(&["grant", "weather", "--dev"]));
    assert_eq!(listed(&place, "forecast")["dev"], true);
    done(place.run(&["revoke", "weather"]));
    assert!(!text(&place).contains("weather"), "{}", text(&place));
    assert_wrong(&place.run(&["grant", "calc", "--dev", "--read", &notes]), &["--dev is for a file in a tools folder"]);
}

#[test]
fn limits_are_raised_by_the_command_that_a_kill_names() {
    let place = place();
    let limits = |output| parse(&done(output))["limits"].clone();
    let raised = place.run(&["grant", "weather", "--memory", "256MiB", "--timeout", "60s", "--fuel", "7", "--json"]);
    assert_eq!(limits(raised), serde_json::json!({"memory": 256 << 20, "timeout_seconds": 60, "fuel": 7}));
    // The others stay.
    let raised = place.run(&["grant", "weather", "--memory", "1GiB", "--json"]);
    assert_eq!(limits(raised), serde_json::json!({"memory": 1 << 30, "timeout_seconds": 60, "fuel": 7}));
    let refused = place.run(&["grant", "weather", "--memory", "2GiB"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(stderr(&refused).contains("1 GiB is the most memory that a component can have"), "{refused:?}");
}
