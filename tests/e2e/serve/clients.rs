//! The official clients of the Model Context Protocol against the real binary: Python's, which speaks the current revision and, asked
//! to, the one before; and TypeScript's, which speaks the one before. Each over stdio and over HTTP.
//!
//! `guests.sh setup-tests` installs them.

mod conversation;

use std::{fs, time::Instant};

use serde_json::{Value, json};

use self::conversation::{APPROVED, Client, Conversation, Door, PATIENCE, each, meet};
use crate::{cli::stdout, guest};

/// The names of the tools that a client was given.
fn names(tools: &Value) -> Vec<&str> {
    tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// The one text of a result.
fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text first: {result}"))
}

#[test]
fn every_client_learns_who_serves_and_which_revision_was_agreed_on() {
    each(&[], |talk| {
        let connected = talk.expect("connected");
        assert_eq!(connected["server"]["name"], "hermes-host", "{talk}");
        assert_eq!(connected["protocol"], talk.client.protocol(), "{talk}");
        assert_eq!(connected["capabilities"]["tools"]["listChanged"], true, "{talk}");
        for other in ["prompts", "resources", "completions"] {
            assert_eq!(connected["capabilities"][other], Value::Null, "{talk}");
        }
    });
}

#[test]
fn every_client_lists_and_calls_tools() {
    each(&[], |talk| {
        let list = talk.list();
        let all = names(&list);
        for name in ["calculate", "test_simple_text", "test_structured_output"] {
            assert!(all.contains(&name), "{talk}: {all:?}");
        }
        let again = talk.list();
        assert_eq!(names(&again), all, "{talk}");

        let sum = talk.call("calculate", json!({"expression": "6*7"}));
        let sum: Value = serde_json::from_str(text(&sum)).unwrap();
        assert_eq!(sum["result"], "42", "{talk}");

        let wrong = talk.call("calculate", json!({"expression": {"a": 1}}));
        assert_eq!(wrong["isError"], true, "{talk}: {wrong}");
        assert!(text(&wrong).contains("argument expression"), "{talk}: {wrong}");

        talk.step(&json!({"do": "call", "tool": "calculat", "arguments": {}}));
        let why = talk.expect("failed");
        assert!(why.as_str().unwrap().contains("calculat"), "{talk}: {why}");
    });
}

#[test]
fn content_of_every_kind_arrives_as_it_was_made() {
    each(&[], |talk| {
        let mixed = talk.call("test_multiple_content_types", json!({}));
        let pieces = mixed["content"].as_array().unwrap();
        let kinds: Vec<&str> = pieces.iter().map(|piece| piece["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["text", "image", "resource"], "{talk}");
        assert_eq!(pieces[1]["mimeType"], "image/png", "{talk}");
        // What every PNG begins with.
        assert!(pieces[1]["data"].as_str().unwrap().starts_with("iVBORw0KGgo"), "{talk}: {mixed}");
        let document = &pieces[2]["resource"];
        assert_eq!(
            (&document["uri"], &document["mimeType"]),
            (&json!("test://mixed-content-resource"), &json!("application/json"))
        );
        assert_eq!(document["text"], r#"{"test":"data","value":123}"#, "{talk}");

        let sound = talk.call("test_audio_content", json!({}));
        assert_eq!(sound["content"][0]["mimeType"], "audio/wav", "{talk}");

        let failed = talk.call("test_error_handling", json!({}));
        assert_eq!(failed["isError"], true, "{talk}");
        assert!(text(&failed).contains("intentionally"), "{talk}: {failed}");
    });
}

/// The clients themselves hold the value against the schema.
#[test]
fn a_structured_result_has_its_schema_in_the_list() {
    each(&[], |talk| {
        let list = talk.list();
        let tools = list["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == "test_structured_output").unwrap();
        assert_eq!(tool["outputSchema"]["properties"]["temperature"]["type"], "number", "{talk}: {tool}");
        let weather = talk.call("test_structured_output", json!({}));
        let expected = json!({"temperature": 22.5, "conditions": "cloudy"});
        assert_eq!(weather["structuredContent"], expected, "{talk}");
        assert_eq!(serde_json::from_str::<Value>(text(&weather)).unwrap(), expected, "{talk}");
    });
}

/// The call still waits for an answer when its progress is there.
#[test]
fn progress_arrives_while_a_call_runs() {
    each(&[], |talk| {
        talk.ask("test_streaming_elicitation", json!({}), json!([{"action": "accept", "content": {"ok": true}}]));
        let progress = talk.expect("progress");
        let numbers = [progress[0].as_f64(), progress[1].as_f64()];
        assert_eq!((numbers, &progress[2]), ([Some(1.0), Some(2.0)], &json!("about to ask")), "{talk}");
        talk.expect("asked");
        assert!(text(&talk.expect("result")).contains(r#"content={"ok":true}"#), "{talk}");
    });
}

#[test]
fn no_progress_is_lost_or_late() {
    each(&[], |talk| {
        // TypeScript's forgets a call's progress as soon as it has read the result, even if the progress came first.
        if talk.client == Client::TypeScript {
            return;
        }
        talk.step(&json!({"do": "call", "tool": "test_tool_with_progress"}));
        let done: Vec<f64> = (0..3).map(|_| talk.expect("progress")[0].as_f64().unwrap()).collect();
        assert_eq!(done, [0.0, 50.0, 100.0], "{talk}");
        talk.expect("result");
    });
}

#[test]
fn a_question_reaches_the_person_and_the_answer_the_tool() {
    each(&[], |talk| {
        let given = json!({"action": "accept", "content": {"username": "ada", "email": "ada@example.com"}});
        for (answer, says) in [
            (given, r#""username":"ada""#),
            (json!({"action": "decline"}), "action=decline"),
            (json!({"action": "cancel"}), "action=cancel"),
        ] {
            talk.ask("test_elicitation", json!({"message": "Who are you?"}), json!([answer]));
            let asked = talk.expect("asked");
            assert!(asked["message"].as_str().unwrap().contains("Who are you?"), "{talk}: {asked}");
            assert_eq!(asked["form"]["required"], json!(["username", "email"]), "{talk}: {asked}");
            let result = talk.expect("result");
            assert!(text(&result).contains(says), "{talk}: {result}");
        }
    });
}

#[test]
fn a_tool_that_asks_twice_remembers_the_first_answer() {
    each(&[], |talk| {
        let answers = json!([
            {"action": "accept", "content": {"name": "Ada"}},
            {"action": "accept", "content": {"color": "green"}},
        ]);
        talk.ask("test_input_required_result_multi_round", json!({}), answers);
        for step in ["Step 1", "Step 2"] {
            let asked = talk.expect("asked");
            assert!(asked["message"].as_str().unwrap().contains(step), "{talk}: {asked}");
        }
        assert_eq!(text(&talk.expect("result")), "Ada likes green.", "{talk}");
    });
}

/// What Hermes Agent's handler of elicitations sends (`tools/mcp_tool.py`, 0.19): its approval prompt shows no fields, a yes is
/// `accept` with an empty object, a no is `decline`, and its own deadline is `cancel`.
#[test]
fn a_bare_yes_approves_one_call() {
    each(&[], |talk| {
        let arguments = json!({"value": 5, "from": "km", "to": "m"});
        let yes = json!({"action": "accept", "content": {}});
        for (answer, refused) in [(&yes, false), (&yes, false), (&json!({"action": "decline"}), true)] {
            talk.ask(APPROVED, arguments.clone(), json!([answer]));
            let asked = talk.expect("asked");
            assert_eq!(asked["form"]["required"], json!(["decision"]), "{talk}: {asked}");
            let result = talk.expect("result");
            assert_eq!(result["isError"].as_bool().unwrap_or_default(), refused, "{talk}: {result}");
            assert_eq!(text(&result).contains("5000"), !refused, "{talk}: {result}");
        }
    });
}

#[test]
fn a_client_that_shows_no_questions_is_asked_nothing() {
    each(&["--mute"], |talk| {
        let result = talk.call("test_elicitation", json!({"message": "Who are you?"}));
        assert_eq!(result["isError"], true, "{talk}: {result}");
        assert!(text(&result).contains("nobody to ask"), "{talk}: {result}");
    });
}

#[test]
fn a_cancelled_call_ends_the_guest_and_the_next_is_served() {
    each(&[], |talk| {
        talk.step(&json!({"do": "cancel", "tool": "test_endless"}));
        talk.expect("progress");
        assert_eq!(talk.expect("cancelled"), "test_endless", "{talk}");
        let next = talk.call("test_simple_text", json!({}));
        assert_eq!(text(&next), "This is a simple text response for testing.", "{talk}");
        // The record of a call is written when its guest has ended. At its limits it would end by itself, and otherwise.
        let deadline = Instant::now() + PATIENCE;
        let record = loop {
            let records = stdout(&talk.place.run(&["audit", "--json", "--tool", "test_endless"]));
            if let Some(record) = records.lines().next() {
                break serde_json::from_str::<Value>(record).unwrap();
            }
            assert!(Instant::now() < deadline, "{talk}: the guest still runs");
        };
        assert_eq!(record["outcome"], "cancelled", "{talk}");
    });
}

#[test]
fn a_dropped_file_is_told_listed_and_called_and_a_removed_one_is_gone() {
    each(&[], |talk| {
        talk.step(&json!({"do": "watch"}));
        talk.expect("watching");
        talk.place.drop_in("hi.wasm", &guest::good("hi"));
        talk.expect("changed");
        assert!(names(&talk.list()).contains(&"hi"), "{talk}");
        assert!(text(&talk.call("hi", json!({}))).contains("ok"), "{talk}");
        fs::remove_file(talk.place.tools().join("hi.wasm")).unwrap();
        talk.expect("changed");
        assert!(!names(&talk.list()).contains(&"hi"), "{talk}");
    });
}

/// Two clients of one host, and what one answers is not what the other is asked.
#[test]
fn two_clients_of_one_host_are_asked_each_for_itself() {
    let (place, open) = meet(Door::Http);
    let [mut one, mut other] =
        [Client::Python, Client::TypeScript].map(|client| Conversation::open(client, &place, &open, &[]));
    for talk in [&mut one, &mut other] {
        let name = format!("{:?}", talk.client);
        let answer = json!([{"action": "accept", "content": {"username": name, "email": "x@example.com"}}]);
        talk.ask("test_elicitation", json!({"message": name}), answer);
    }
    for talk in [&mut one, &mut other] {
        let name = format!("{:?}", talk.client);
        assert!(talk.expect("asked")["message"].as_str().unwrap().contains(&name), "{talk}");
        assert!(text(&talk.expect("result")).contains(&name), "{talk}");
    }
}
