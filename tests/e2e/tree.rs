//! What the source tree promises: who may touch what, and documents that say what the code does.

use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file below a folder, with its path from there.
fn files_below(base: &str) -> Vec<(String, String)> {
    let base = root().join(base);
    let mut found = Vec::new();
    let mut folders = vec![base.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&base).unwrap().display().to_string();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

/// All of their text.
fn texts_below(base: &str) -> String {
    files_below(base).into_iter().map(|(_, text)| text).collect()
}

/// Every source file of the host with its path below `host/src`, tests left out: those at the end of a file, and those beside it.
fn sources() -> Vec<(String, String)> {
    let before_tests = |text: String| text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned();
    let of_tests = |name: &str| name.contains("/tests/") || name.ends_with("/tests.rs");
    let files = files_below("host/src").into_iter().filter(|(name, _)| !of_tests(name));
    files.map(|(name, text)| (name, before_tests(text))).collect()
}

/// Files outside `allowed` in which one of the words stands.
fn offenders(words: &[&str], allowed: &[&str]) -> Vec<String> {
    let outside = sources().into_iter().filter(|(name, _)| !allowed.iter().any(|prefix| name.starts_with(prefix)));
    outside.filter(|(_, text)| words.iter().any(|word| text.contains(word))).map(|(name, _)| name).collect()
}

#[test]
fn only_the_artifact_loader_is_unsafe() {
    assert_eq!(
        offenders(&["unsafe {", "unsafe fn", "unsafe impl", "allow(unsafe_code)"], &["component/artifact.rs"]),
        [""; 0]
    );
}

#[test]
fn only_a_few_rooms_touch_files() {
    let server = ["serve/http/process.rs", "serve/http/token_file.rs"];
    let allowed = [
        "audit/",
        "capability/fs/",
        "capability/terminal/",
        "cli/",
        "component/",
        "dispatch/spill.rs",
        "grant/",
        "paths/",
    ];
    let allowed = [&allowed[..], &server].concat();
    assert_eq!(offenders(&["std::fs", " File::open", "(File::open", "tokio::fs", "rustix::fs"], &allowed), [""; 0]);
}

#[test]
fn only_the_terminal_and_the_compiler_start_processes_and_doctor_asks_what_is_installed() {
    assert_eq!(
        offenders(
            &["process::Command", "process::{Command", "Command::new", "process::{Child"],
            &["capability/terminal/", "component/compile.rs", "cli/doctor.rs"]
        ),
        [""; 0]
    );
}

#[test]
fn only_the_reviewer_and_the_server_open_sockets_and_the_terminal_pipes_alone() {
    let sockets = ["TcpStream", "TcpListener", "TcpSocket", "UdpSocket", "UnixStream", "UnixListener", "UnixDatagram"];
    let allowed = ["approval/reviewer/", "capability/terminal/", "serve/http/server.rs"];
    assert_eq!(offenders(&sockets, &allowed), [""; 0]);
    assert_eq!(offenders(&["ureq"], &["approval/reviewer/"]), [""; 0]);
}

#[test]
fn one_room_knows_the_library_of_the_protocol() {
    assert_eq!(offenders(&["rmcp::", "use rmcp"], &["serve/mcp/"]), [""; 0]);
}

#[test]
fn the_library_never_uses_the_command_line_and_lower_rooms_never_use_higher_ones() {
    assert_eq!(offenders(&["crate::cli"], &["cli/", "main.rs"]), [""; 0]);
    assert_eq!(offenders(&["crate::serve"], &["serve/"]), [""; 0]);
    let below = |room: &str, higher: &[&str]| {
        let inside = sources().into_iter().filter(|(name, _)| name.starts_with(room));
        let bad: Vec<String> =
            inside.filter(|(_, text)| higher.iter().any(|word| text.contains(word))).map(|(name, _)| name).collect();
        assert_eq!(bad, [""; 0], "{room}");
    };
    below("audit/", &["crate::registry", "crate::dispatch", "crate::host", "crate::grant", "crate::component"]);
    below("sandbox/", &["crate::registry", "crate::dispatch", "crate::host", "crate::grant", "crate::component"]);
    let above = ["crate::registry", "crate::dispatch", "crate::host", "crate::component", "crate::approval"];
    below("capability/", &above);
    below("approval/", &["crate::registry", "crate::dispatch", "crate::host", "crate::component", "crate::grant"]);
    let above =
        ["crate::registry", "crate::dispatch", "crate::host", "crate::component", "crate::grant", "crate::approval"];
    below("policy/", &above);
    below("registry/", &["crate::dispatch", "crate::host", "crate::grant"]);
    below("component/", &["crate::dispatch", "crate::host", "crate::grant"]);
    below("dispatch/", &["crate::host", "crate::grant"]);
}

#[test]
fn the_hello_tool_has_15_lines_and_100_kb_at_most() {
    let source = fs::read_to_string(root().join("guest-sdk/examples/hello/src/lib.rs")).unwrap();
    assert!(source.lines().count() <= 15);
    assert!(fs::metadata(root().join("target/examples/hello.wasm")).expect("run make tools").len() <= 100_000);
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains(&source), "README.md shows another hello tool");
}

/// Checks, or with HERMES_WRITE_DOCS=1 writes, what stands between `<!-- name -->` and `<!-- /name -->`.
fn check_block(document: &str, name: &str, expected: &str) {
    let path = root().join(document);
    let text = fs::read_to_string(&path).unwrap();
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let start = text.find(&open).unwrap_or_else(|| panic!("{document} has no block {name}")) + open.len();
    let end = start + text[start..].find(&close).unwrap();
    if std::env::var_os("HERMES_WRITE_DOCS").is_some() {
        fs::write(&path, format!("{}{expected}{}", &text[..start], &text[end..])).unwrap();
    } else {
        assert_eq!(&text[start..end], expected, "{document}: run make docs");
    }
}

mod docs {
    use hermes_host::{capability, sandbox::KillReason, sandbox::limits};

    use super::check_block;

    #[test]
    fn the_tables_of_limits_are_those_of_the_code() {
        check_block("SECURITY.md", "limits", &limits::table());
    }

    #[test]
    fn the_table_of_limits_on_dispatch_is_that_of_the_code() {
        check_block("SECURITY.md", "dispatch-limits", &hermes_host::dispatch::limits_table());
    }

    #[test]
    fn the_table_of_limits_on_files_is_that_of_the_code() {
        check_block("SECURITY.md", "file-limits", &capability::limits_table());
    }

    #[test]
    fn the_table_of_limits_on_commands_is_that_of_the_code() {
        check_block("SECURITY.md", "terminal-limits", &capability::terminal::limits::table());
    }

    #[test]
    fn the_table_of_limits_on_http_is_that_of_the_code() {
        check_block("SECURITY.md", "http-limits", &hermes_host::serve::http::limits::table());
    }

    #[test]
    fn the_table_of_limits_on_mcp_is_that_of_the_code() {
        check_block("SECURITY.md", "mcp-limits", &hermes_host::serve::mcp::limits_table());
    }

    #[test]
    fn the_table_of_limits_on_questions_is_that_of_the_code() {
        check_block("SECURITY.md", "ask-limits", &capability::ask::limits_table());
    }

    #[test]
    fn the_configurations_in_the_documents_are_those_of_the_binary() {
        // The folder is written out for clients that do not say which project they work on.
        let written: &[&str] = &["--workspace", "/home/ada/project"];
        for (client, language, options) in [
            ("claude-desktop", "json", written),
            ("claude-code", "json", &[]),
            ("hermes", "yaml", written),
            ("vscode", "json", &[]),
            ("codex", "toml", &[]),
            ("gemini", "json", &[]),
            ("opencode", "json", &[]),
            ("cursor", "json", &[]),
            ("zed", "json", written),
            ("goose", "yaml", written),
            ("windsurf", "json", written),
        ] {
            let binary = env!("CARGO_BIN_EXE_hermes-host");
            let mut command = std::process::Command::new(binary);
            command.args(["run", "--print-config", client]).args(options);
            let output = command.env_remove("HERMES_HOME").env_remove("HERMES_HOST_TOKEN").output().unwrap();
            let program = std::fs::canonicalize(binary).unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let text = text.replace(program.to_str().unwrap(), "/usr/local/bin/hermes-host");
            check_block("docs/clients.md", &format!("config-{client}"), &format!("```{language}\n{text}```\n"));
        }
    }

    #[test]
    fn the_table_of_imports_is_that_of_the_code() {
        let rows = capability::IMPORTS.iter().map(|(name, meaning)| format!("| `{name}` | {meaning} |\n"));
        check_block(
            "SECURITY.md",
            "imports",
            &format!("| import | meaning |\n|---|---|\n{}", rows.collect::<String>()),
        );
    }

    #[test]
    fn every_kill_reason_is_in_the_readme() {
        let names: Vec<String> = KillReason::ALL.iter().map(|reason| format!("`{reason}`")).collect();
        check_block("README.md", "kinds", &format!("{}\n", names.join(", ")));
    }

    #[test]
    fn the_commands_in_the_readme_are_those_of_the_binary() {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_hermes-host")).arg("--help").output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        check_block("README.md", "help", &format!("```text\n{}\n```\n", help.trim_end()));
    }

    #[test]
    fn every_test_that_the_security_document_names_exists() {
        let text = std::fs::read_to_string(super::root().join("SECURITY.md")).unwrap();
        let sources: String = ["tests/e2e", "host/src", "host/coerce/src", "host/launch/src"]
            .into_iter()
            .map(super::texts_below)
            .collect();
        assert!(!text.contains("none yet"), "a promise of SECURITY.md has no test");
        let named: Vec<&str> = text.split("test `").skip(1).filter_map(|rest| rest.split('`').next()).collect();
        assert!(named.len() > 10, "the document names too few tests");
        for name in named {
            assert!(
                sources.contains(&format!("fn {name}(")),
                "SECURITY.md names the test {name}, which does not exist"
            );
        }
    }
}
