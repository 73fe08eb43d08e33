//! Toolsets: what `hermes-host toolsets` shows, what the operator may add, and what a program may at run time.

use std::fs;

use hermes_host::{Host, RegisterError, registry::Toolset};
use serde_json::{Value, json};

use super::{
    cli::{Place, assert_wrong, parse, stderr, stdout},
    definitions::tool::{Tool, component},
    guest, start,
};

/// A place with a tool that works, one that does not, and what the operator says.
fn place(config: &str) -> Place {
    let place = Place::new();
    place.drop_in("forecast.wasm", &Tool { toolset: "weather", ..Tool::named("forecast") }.component());
    let broken = Tool { toolset: "weather", ..Tool::named("radar") };
    place.drop_in("radar.wasm", &component(&[broken], "", "(func $check (result i32) unreachable)"));
    fs::create_dir_all(place.home()).unwrap();
    fs::write(place.home().join("hermes.toml"), config).unwrap();
    place
}

fn shown(place: &Place, arguments: &[&str]) -> Value {
    let output = place.run(&[&["toolsets", "--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(stderr(&output), "");
    parse(&output)
}

#[test]
fn the_list_has_every_preset_and_what_components_registered() {
    let place = place("");
    let all = shown(&place, &[]);
    let names: Vec<&str> = all.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted());
    for name in ["calc", "coding", "debugging", "hermes-cli", "hermes-gateway", "safe", "weather", "web"] {
        assert!(names.contains(&name), "{name}");
    }
    let weather = &all[names.iter().position(|name| *name == "weather").unwrap()];
    let expected = json!({
        "name": "weather",
        "group": "own",
        "description": "",
        "includes": [],
        "tools": ["forecast", "radar"],
        "available_tools": ["forecast"],
        "available": true,
        "problem": null,
    });
    assert_eq!(weather, &expected);
    assert_eq!(shown(&place, &["weather"]), expected, "one toolset is one object");
    let output = place.run(&["toolsets"]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    assert!(text.starts_with("Your own\nTOOLSET"), "{text}");
    let at = |heading: &str| text.find(heading).unwrap_or_else(|| panic!("no {heading}: {text}"));
    assert!(at("weather") < at("By subject") && at("By subject") < at("\nfile "), "{text}");
    assert!(at("\nfile ") < at("By platform") && at("By platform") < at("\nhermes-cli "), "{text}");
    // What has no tool that works here is hidden, and counted.
    assert!(!text.contains("\ncomputer_use "), "{text}");
    assert!(stderr(&output).contains("toolsets without a tool that works here"), "{output:?}");
    let all = stdout(&place.run(&["toolsets", "--all"]));
    let rows = all.lines().filter(|line| !line.is_empty() && !line.starts_with("TOOLSET") && !line.starts_with("By "));
    assert_eq!(rows.count(), names.len() + 1, "and one heading more: {all}");
    let cells: Vec<&str> = text.lines().find(|line| line.starts_with("weather")).unwrap().split_whitespace().collect();
    assert_eq!(cells, ["weather", "2", "1"]);
}

#[test]
fn one_toolset_is_shown_with_every_tool_it_comes_to() {
    let place =
        place("[toolsets.mine]\ndescription = \"My own\"\ntools = [\"forecast\"]\nincludes = [\"todo\", \"weather\"]");
    let output = place.run(&["toolsets", "mine"]);
    assert_eq!(output.status.code(), Some(0));
    let expected = "mine\nMy own\nincludes: todo, weather\n  forecast\n  radar (not here)\n  todo (not here)\n";
    assert_eq!(stdout(&output), expected);
    let debugging = shown(&place, &["debugging"]);
    assert_eq!(debugging["tools"].as_array().unwrap().len(), 8, "{debugging}");
    assert_eq!(shown(&place, &["web_tools"])["tools"], json!(["web_extract", "web_search"]), "an old name");
    let everything = shown(&place, &["all"]);
    assert!(everything["tools"].as_array().unwrap().contains(&json!("radar")));
}

#[test]
fn a_toolset_is_available_if_one_of_its_tools_works() {
    let place = place(
        "[toolsets.one]\ntools = [\"forecast\", \"absent\"]\n\
         [toolsets.broken]\ntools = [\"radar\"]\n\
         [toolsets.absent]\ntools = [\"absent\"]\n\
         [toolsets.empty]\n",
    );
    for (name, tools, available) in [
        ("one", json!(["absent", "forecast"]), json!(["forecast"])),
        ("broken", json!(["radar"]), json!([])),
        ("absent", json!(["absent"]), json!([])),
        ("empty", json!([]), json!([])),
    ] {
        let shown = shown(&place, &[name]);
        assert_eq!((&shown["tools"], &shown["available_tools"]), (&tools, &available), "{name}");
        assert_eq!(shown["available"], available != json!([]), "{name}");
    }
}

#[test]
fn an_unknown_toolset_is_wrong_usage_and_the_nearest_is_named() {
    let place = place("[toolsets.mine]\nincludes = [\"wether\"]");
    assert_wrong(
        &place.run(&["toolsets", "debuging"]),
        &["no toolset is named \"debuging\"", "did you mean debugging"],
    );
    assert_wrong(&place.run(&["toolsets", "--json", "wheather"]), &["did you mean weather"]);
    assert_wrong(&place.run(&["toolsets", "zzzzzz"]), &["`hermes-host toolsets` lists those there are"]);
    assert_wrong(&place.run(&["toolsets", "mine"]), &["\"wether\", which mine includes", "did you mean weather"]);
}

#[test]
fn a_toolset_that_includes_what_is_not_there_says_so_and_the_others_are_listed() {
    let place = place("[toolsets.mine]\ntools = [\"forecast\"]\nincludes = [\"wether\"]");
    let all = shown(&place, &[]);
    let mine = all.as_array().unwrap().iter().find(|one| one["name"] == "mine").unwrap();
    assert!(mine["problem"].as_str().unwrap().contains("\"wether\", which mine includes"), "{mine}");
    let problems = all.as_array().unwrap().iter().filter(|one| one["problem"] != json!(null)).count();
    assert_eq!((problems, all.as_array().unwrap().len() > 50), (1, true));
    let text = stdout(&place.run(&["toolsets"]));
    assert!(text.lines().any(|line| line.starts_with("mine") && line.contains("did you mean weather")), "{text}");
}

#[test]
fn a_custom_toolset_selects_definitions() {
    let place = place("[toolsets.mine]\nincludes = [\"calc\", \"weather\"]");
    let list = parse(&place.run(&["definitions", "--toolset", "mine", "--without", "calc"]));
    let names: Vec<&Value> = list.as_array().unwrap().iter().map(|one| &one["function"]["name"]).collect();
    assert_eq!(names, ["forecast"]);
}

#[test]
fn a_toolset_in_the_configuration_that_can_not_be_used_stops_the_host_and_names_the_file() {
    for (config, message) in [
        ("[toolsets.web]\ntools = [\"x\"]", "the toolset web needs another name: a preset has this one"),
        ("[toolsets.all]\n", "the toolset all needs another name"),
        ("[toolsets.mcp-mine]\n", "the toolset mcp-mine needs another name: names that begin with mcp-"),
        ("[toolsets.hermes-mine]\n", "names that begin with hermes-"),
        ("[toolsets.web_tools]\n", "this one is an old name"),
        ("[toolsets.\"a b\"]\n", "\"a b\" can't name a toolset"),
        ("[toolsets.mine]\ntools = [\"rm -rf\"]", "the toolset mine lists the tool \"rm -rf\""),
        ("[toolsets.mine]\ntool = [\"x\"]", "unknown field `tool`"),
        ("[toolsets.mine]\nposture = true", "unknown field `posture`"),
        ("[toolsets.mine]\ntools = \"x\"", "invalid type"),
    ] {
        let place = place(config);
        let file = place.home().join("hermes.toml").display().to_string();
        assert_wrong(&place.run(&["toolsets"]), &[message, &file]);
        assert_wrong(&place.run(&["list"]), &[message, &file]);
    }
}

#[test]
fn a_sample_depends_on_its_seed_alone() {
    let place = place("");
    let sample = |arguments: &[&str]| place.run(&[&["toolsets", "sample"], arguments].concat());
    let drawn = ["code_execution", "file", "image_gen", "skills", "terminal", "vision"];
    let output = sample(&["balanced", "--seed", "1"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), drawn.join("\n") + "\n"));
    let output = sample(&["balanced", "--seed", "1", "--json"]);
    assert_eq!(parse(&output), json!({"seed": 1, "toolsets": drawn}));
    assert_eq!(output.stdout, sample(&["balanced", "--seed", "1", "--json"]).stdout);
    let seeds = (2..12).map(|seed| stdout(&sample(&["balanced", "--seed", &seed.to_string()])));
    assert!(seeds.into_iter().any(|other| other != drawn.join("\n") + "\n"), "every seed draws the same");
    assert_eq!(parse(&sample(&["balanced", "--json"]))["seed"], 0);
    let names = parse(&sample(&["--json"]));
    assert!(names["distributions"].as_array().unwrap().contains(&json!("balanced")), "{names}");
    assert_wrong(&sample(&["blanced"]), &["no distribution is named \"blanced\"", "balanced"]);
    for seed in ["-1", "x", "18446744073709551616"] {
        assert_wrong(&sample(&["balanced", &format!("--seed={seed}")]), &["--seed"]);
    }
}

fn tools_of(host: &Host, toolset: &str) -> Option<Vec<String>> {
    let found = pollster::block_on(host.list_toolsets(Some(toolset))).ok()?;
    Some(found[0].tools.clone())
}

#[test]
fn a_toolset_of_the_program_stays_over_reloads_and_every_change_counts_once() {
    let place = place("[toolsets.operators]\ntools = [\"a\"]");
    let host = start::builder(&place).build().unwrap();
    let toolset =
        |tools: &[&str]| Toolset { tools: tools.iter().map(ToString::to_string).collect(), ..Toolset::default() };
    let start = host.generation();
    host.add_toolset("mine", toolset(&["forecast"])).unwrap();
    assert_eq!((host.generation(), tools_of(&host, "mine")), (start + 1, Some(vec!["forecast".into()])));
    place.drop_in("more.wasm", &guest::good("more"));
    host.reload().unwrap();
    assert_eq!((host.generation(), tools_of(&host, "mine").unwrap().len()), (start + 2, 1));
    host.add_toolset("mine", toolset(&["forecast"])).unwrap();
    assert_eq!(host.generation(), start + 2, "the same once more is no change");
    host.add_toolset("mine", toolset(&["forecast", "radar"])).unwrap();
    assert_eq!((host.generation(), tools_of(&host, "mine").unwrap().len()), (start + 3, 2));
    for (name, tools) in [("web", "x"), ("mcp-mine", "x"), ("a b", "x"), ("fine", "not fine")] {
        let refused = host.add_toolset(name, toolset(&[tools]));
        assert!(matches!(refused, Err(RegisterError::Toolset(_))), "{name}: {refused:?}");
    }
    assert!(!host.remove_toolset("web").unwrap() && !host.remove_toolset("operators").unwrap());
    assert_eq!(host.generation(), start + 3);
    assert!(host.remove_toolset("mine").unwrap());
    assert_eq!((host.generation(), tools_of(&host, "mine")), (start + 4, None));
    assert_eq!(tools_of(&host, "operators").unwrap(), ["a"]);
}

#[test]
fn a_toolset_comes_and_goes_with_the_component_that_registers_under_it() {
    let place = Place::new();
    let host = start::builder(&place).build().unwrap();
    assert_eq!(tools_of(&host, "weather"), None);
    let web = tools_of(&host, "web").unwrap();
    let tools =
        [Tool { toolset: "weather", ..Tool::named("forecast") }, Tool { toolset: "web", ..Tool::named("feed") }];
    host.register("mine", component(&tools, "", "")).unwrap();
    assert_eq!(tools_of(&host, "weather").unwrap(), ["forecast"]);
    assert_eq!(tools_of(&host, "web").unwrap(), [&["feed".to_owned()][..], &web].concat(), "a leaf gains it");
    host.deregister("mine").unwrap();
    assert_eq!((tools_of(&host, "weather"), tools_of(&host, "web")), (None, Some(web)));
}
