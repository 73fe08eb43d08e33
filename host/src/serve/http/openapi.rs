//! The document that describes the API, made from the types that are sent.

use utoipa::{
    Modify, OpenApi, ToSchema,
    openapi::{
        Content, Ref, RefOr, ResponseBuilder,
        path::Operation,
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

use super::{
    approvals, audit, call, guard,
    limits::{BODY_BYTES, BODY_WAIT},
    problem::Problem,
    status, tools,
};

/// The whole document.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "hermes-host",
        description = "Tools for AI agents, each in a sandbox. MCP is at /mcp; this is for those who do not speak it. \
                       Errors are always `{\"error\": …, \"kind\": …}`, but what is no HTTP gets an answer without a \
                       body, or none. Every path but /healthz needs the server's token.",
    ),
    paths(
        tools::tools,
        call::call,
        call::batch,
        approvals::list,
        approvals::answer,
        audit::audit,
        status::health,
        status::metrics,
        status::document,
    ),
    modifiers(&Bearer, &Before),
    security(("bearer" = [])),
)]
struct Document;

/// The token.
struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        document.components.get_or_insert_default().add_security_scheme("bearer", SecurityScheme::Http(scheme));
    }
}

/// What may be answered before an operation begins, whichever it is: by the server, the guard and the reader of bodies.
struct Before;

impl Modify for Before {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        for (path, item) in &mut document.paths.paths {
            for operation in [&mut item.get, &mut item.post].into_iter().flatten() {
                // Every body is read, also where none is wanted.
                add(operation, "400", "the body broke off");
                if path != guard::OPEN {
                    add(operation, "401", "the token is missing, or is not the one of this server");
                }
                add(operation, "403", "the Host header does not name this server, or a page of another site asks");
                add(operation, "408", &format!("the body did not arrive within {} s", BODY_WAIT.as_secs()));
                add(operation, "413", &format!("the body is larger than {BODY_BYTES} bytes"));
                if operation.request_body.is_some() {
                    add(operation, "415", "the body is not said to be JSON");
                }
                add(operation, "503", "the server has as many requests as it can serve; try again later");
            }
        }
    }
}

/// Says why else, or why at all, an operation may answer so.
fn add(operation: &mut Operation, status: &str, why: &str) {
    let responses = &mut operation.responses.responses;
    match responses.get_mut(status) {
        Some(RefOr::T(response)) => response.description += &format!(", or nothing was done: {why}"),
        // None of ours is written elsewhere.
        Some(RefOr::Ref(_)) => {}
        None => {
            let content = Content::new(Some(Ref::from_schema_name(Problem::name())));
            let response = ResponseBuilder::new().description(format!("Nothing was done: {why}"));
            responses.insert(status.to_owned(), response.content("application/json", content).into());
        }
    }
}

/// The document.
pub(super) fn document() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{dispatch::BATCH_CALLS, sandbox::limits::thousands};

    #[test]
    fn every_route_is_in_the_document_and_the_other_way_round() {
        let document = document();
        let described: BTreeSet<&str> = document.paths.paths.keys().map(String::as_str).collect();
        let served: BTreeSet<&str> = super::super::routes().into_iter().map(|(path, _)| path).collect();
        assert_eq!(described, served);
    }

    #[test]
    fn every_operation_says_what_may_be_answered_before_it() {
        let document = serde_json::to_value(document()).unwrap();
        for (path, operations) in document["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                let has = |status: &str| operation["responses"][status]["description"].is_string();
                for status in ["200", "400", "403", "408", "413", "503"] {
                    assert!(has(status), "{method} {path} {status}");
                }
                assert_eq!(has("401"), path != guard::OPEN, "{path}");
                assert_eq!(has("415"), method == "post", "{path}");
            }
        }
        let refused = &document["paths"]["/v1/call"]["post"]["responses"]["403"]["description"];
        let refused = refused.as_str().unwrap();
        assert!(refused.starts_with("Something was refused, or ") && refused.contains("Host"), "{refused}");
    }

    #[test]
    fn the_number_of_calls_in_a_batch_is_the_hosts() {
        let document = serde_json::to_value(document()).unwrap();
        let calls = &document["components"]["schemas"]["BatchRequest"]["properties"]["calls"];
        assert_eq!(calls["description"], format!("At most {}.", thousands(BATCH_CALLS as u64)));
    }

    #[test]
    fn every_operation_has_one_method_and_all_references_lead_somewhere() {
        let document = serde_json::to_value(document()).unwrap();
        assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
        for (path, operations) in document["paths"].as_object().unwrap() {
            let methods: Vec<_> = operations.as_object().unwrap().keys().collect();
            assert_eq!(methods.len(), 1, "{path}: {methods:?}");
        }
        let text = document.to_string();
        for reference in text.split(r##""$ref":"#"##).skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(document.pointer(reference).is_some(), "{reference}");
        }
    }
}
