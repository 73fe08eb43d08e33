//! The document at `/openapi.json` is true: what it describes is served, and what is served is as it describes.

use serde_json::{Value, json};

use super::{
    Serving,
    client::{Client, Reply},
};
use crate::{cli::Place, guest};

/// A reply must be one that the document has, with a body as the document has it.
pub(super) fn assert_described(document: &Value, method: &str, path: &str, reply: &Reply) {
    let responses = &document["paths"][path][method]["responses"];
    let content = &responses[reply.status.to_string()]["content"]["application/json"]["schema"];
    assert!(content.is_object(), "{method} {path} has no {}: {responses}", reply.status);
    let mut schema = content.clone();
    schema["components"] = document["components"].clone();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let body = reply.json();
    let faults: Vec<String> = validator.iter_errors(&body).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{method} {path}: {faults:?}\n{body}\n{content}");
}

#[test]
fn every_operation_is_served_and_no_other_method_is() {
    let place = Place::new();
    let serving = Serving::start(&place);
    let document = serving.client.get("/openapi.json").json();
    for (path, operations) in document["paths"].as_object().unwrap() {
        let real = path.replace("{id}", "none");
        for method in ["get", "post", "put", "delete", "patch"] {
            let reply = serving.client.raw(&serving.client.head(&method.to_ascii_uppercase(), &real, ""));
            let is_described = operations.get(method).is_some();
            assert_eq!(reply.status != 405, is_described, "{method} {path}: {reply:?}");
            assert!(!is_described || !reply.body.contains("there is nothing at"), "{method} {path}");
        }
    }
}

#[test]
fn replies_are_as_the_document_describes_them() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    place.drop_in("traps.wasm", &guest::attack("traps"));
    let serving = Serving::start(&place);
    let client = serving.client;
    let document = client.get("/openapi.json").json();
    for path in ["/healthz", "/v1/tools", "/v1/approvals", "/openapi.json"] {
        assert_described(&document, "get", path, &client.get(path));
    }
    for (path, body) in [
        ("/v1/call", json!({"name": "good"})),
        ("/v1/call", json!({"name": "none"})),
        ("/v1/call", json!({"name": "traps"})),
        ("/v1/call", json!({"nam": "good"})),
        ("/v1/batch", json!({"calls": [{"name": "good"}, {"name": "none"}]})),
        ("/v1/batch", json!({"calls": vec![json!({"name": "good"}); 1_001]})),
        ("/v1/batch", json!([])),
    ] {
        assert_described(&document, "post", path, &client.post(path, &body));
    }
    assert_described(&document, "get", "/v1/audit", &client.get("/v1/audit?limit=5"));
    for (path, query) in [("/v1/audit", "?limit=x"), ("/v1/tools", "?format=x"), ("/v1/tools", "?toolset=none")] {
        assert_described(&document, "get", path, &client.get(&format!("{path}{query}")));
    }
    let answer = client.post("/v1/approvals/none", &json!({"answer": "once"}));
    assert_described(&document, "post", "/v1/approvals/{id}", &answer);
    let metrics = client.get("/metrics");
    assert_eq!((metrics.status, metrics.body.lines().last()), (200, Some("# EOF")));
}

#[test]
fn what_is_refused_before_an_operation_is_described_with_each_of_them() {
    let place = Place::new();
    let serving = Serving::start(&place);
    let (client, stranger) = (serving.client, Client { token: None, ..serving.client });
    let document = client.get("/openapi.json").json();
    let large = "Content-Type: application/json\r\nContent-Length: 5000000\r\nExpect: 100-continue\r\n";
    let plain = "Content-Type: text/plain\r\nContent-Length: 2\r\n";
    for (path, operations) in document["paths"].as_object().unwrap() {
        let real = path.replace("{id}", "none");
        for (method, operation) in operations.as_object().unwrap() {
            let send = |client: Client, more: &str, body: &str| {
                client.raw(&format!("{}{body}", client.head(&method.to_ascii_uppercase(), &real, more)))
            };
            let mut refused = vec![
                (send(client, "Origin: http://evil.example\r\n", ""), 403),
                (send(client, "Sec-Fetch-Site: cross-site\r\n", ""), 403),
                (send(client, large, ""), 413),
            ];
            if path != "/healthz" {
                refused.push((send(stranger, "", ""), 401));
            }
            if operation["requestBody"].is_object() {
                refused.push((send(client, plain, "{}"), 415));
            }
            for (reply, status) in refused {
                assert_eq!(reply.status, status, "{method} {path}: {reply:?}");
                assert_described(&document, method, path, &reply);
            }
        }
    }
}

#[test]
fn a_question_is_as_the_document_describes_it() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    place.configure("[policy]\ngood = \"ask\"\n[approval]\ntimeout = \"20s\"\n");
    let serving = Serving::start(&place);
    let client = serving.client;
    let document = client.get("/openapi.json").json();
    client.get("/v1/approvals");
    let call = std::thread::spawn(move || client.post("/v1/call", &json!({"name": "good"})).status);
    let reply = client.get("/v1/approvals?wait=20");
    assert_described(&document, "get", "/v1/approvals", &reply);
    let path = format!("/v1/approvals/{}", reply.json()["questions"][0]["id"].as_str().unwrap());
    let answer = client.post(&path, &json!({"answer": "once"}));
    assert_described(&document, "post", "/v1/approvals/{id}", &answer);
    assert_eq!(call.join().unwrap(), 200);
}
