//! The document that describes the API, made from the types that are sent.

use utoipa::{
    Modify, OpenApi,
    openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
};

use super::{approvals, audit, call, status, tools};

/// The whole document.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "hermes-host",
        description = "Tools for AI agents, each in a sandbox. Errors are always `{\"error\": …, \"kind\": …}`. Where the server has a \
                       token, every path but /healthz needs it.",
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
    modifiers(&Bearer),
    security((), ("bearer" = [])),
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

/// The document.
pub(super) fn document() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_route_is_in_the_document_and_the_other_way_round() {
        let document = document();
        let described: BTreeSet<&str> = document.paths.paths.keys().map(String::as_str).collect();
        let served: BTreeSet<&str> = super::super::routes().into_iter().map(|(path, _)| path).collect();
        assert_eq!(described, served);
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
