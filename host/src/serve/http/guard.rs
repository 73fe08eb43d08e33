//! Who is let in: checked before anything of a request's body is read.
//!
//! A page in a browser on this machine reaches loopback, too. It may have its own name point here (DNS rebinding), so the name that the
//! client used must be one of ours; or it may send requests to our name, which browsers then mark with where the page comes from.

use std::sync::Arc;

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};

use super::{
    authority::{Authority, Origin},
    body::{self, Room},
    problem::Problem,
    refusals::{PeerAddress, TokenRefusals},
    settings::Settings,
};

/// The one path that needs no token: it says that the server is there, and nothing else.
pub(super) const OPEN: &str = "/healthz";

/// How a browser says where a request without an origin comes from.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Puts the guard before everything in the router, and reads bodies whole: in size and time bounded, before any handler runs. Call
/// it last, after everything was merged and nested.
pub fn guarded(router: Router, settings: Arc<Settings>) -> Router {
    router
        // Bodies are bounded below, for all.
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(Room::default(), body::whole))
        .layer(middleware::from_fn_with_state((settings, Arc::default()), guard))
}

/// What the guard knows, and whom it refused.
type Watch = (Arc<Settings>, Arc<TokenRefusals>);

async fn guard(State((settings, refusals)): State<Watch>, request: Request, next: Next) -> Response {
    let client = request.extensions().get::<PeerAddress>().copied();
    let mut response = match check(&settings, request.uri(), request.headers(), |why| refusals.note(client, why)) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    // Nothing here is for other sites to embed, for browsers to guess at or for caches to keep.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Whether a request may pass. One without the right token is noted.
fn check(settings: &Settings, uri: &Uri, headers: &HeaderMap, note: impl FnOnce(&str)) -> Result<(), Problem> {
    let host = host(settings, uri, headers)?;
    origin(settings, &host, headers)?;
    if uri.path() == OPEN {
        return Ok(());
    }
    token(settings, headers).map_err(|error| {
        note(error);
        Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", error)
    })
}

/// The name that the client used. Where it stands in two places, both must be ours.
fn host(settings: &Settings, uri: &Uri, headers: &HeaderMap) -> Result<Authority, Problem> {
    let refused = |error: &str| Problem::new(StatusCode::FORBIDDEN, "forbidden-host", error);
    let value = only(headers, &header::HOST)
        .ok_or_else(|| refused("the request has more than one Host header"))?
        .ok_or_else(|| refused("the request has no Host header; send one with the server's name"))?;
    let allowed = |text: &str| Authority::parse(text).filter(|authority| settings.allows_host(authority));
    let foreign = "this server does not go by the name in the Host header; use its address, or let the operator start it \
                   with --allow-host NAME";
    let host = value.to_str().ok().and_then(allowed).ok_or_else(|| refused(foreign))?;
    match uri.authority() {
        Some(target) if allowed(target.as_str()).is_none() => Err(refused(foreign)),
        _ => Ok(host),
    }
}

/// Where a page that sends this comes from. Programs send neither header.
fn origin(settings: &Settings, host: &Authority, headers: &HeaderMap) -> Result<(), Problem> {
    let refused = || {
        let error = "pages of other sites may not use this server; let the operator start it with --allow-host NAME";
        Problem::new(StatusCode::FORBIDDEN, "forbidden-origin", error)
    };
    let given = only(headers, &header::ORIGIN).ok_or_else(refused)?;
    let site = only(headers, &FETCH_SITE).ok_or_else(refused)?;
    match given {
        Some(origin) => {
            let origin = origin.to_str().ok().and_then(Origin::parse);
            origin.filter(|origin| settings.allows_origin(origin, host)).map(drop).ok_or_else(refused)
        }
        // Images, links and forms of other pages come without an origin.
        None if site.is_none_or(|site| site == "same-origin" || site == "none") => Ok(()),
        None => Err(refused()),
    }
}

/// What every client must know, or what is wrong.
fn token(settings: &Settings, headers: &HeaderMap) -> Result<(), &'static str> {
    const MISSING: &str = "a token is needed; send it as: Authorization: Bearer TOKEN";
    let value = only(headers, &header::AUTHORIZATION).flatten().ok_or(MISSING)?;
    let (scheme, given) = value.as_bytes().split_at_checked("Bearer ".len()).ok_or(MISSING)?;
    if !scheme.eq_ignore_ascii_case(b"Bearer ") {
        return Err(MISSING);
    }
    if settings.token().matches(given.trim_ascii()) { Ok(()) } else { Err("the token is not the one of this server") }
}

/// A header that may stand there once: `None` where it does so more often.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Option<&'a HeaderValue>> {
    let mut all = headers.get_all(name).iter();
    let first = all.next();
    all.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::serve::http::token::Token;

    const SECRET: &str = "0123456789abcdef";

    fn settings(named: &[&str]) -> Settings {
        let named: Vec<String> = named.iter().map(|&name| name.to_owned()).collect();
        Settings::new("127.0.0.1:7411".parse().unwrap(), Token::new(SECRET).unwrap(), &named).unwrap()
    }

    /// The same for a client that sends the token.
    fn verdict_of_client(settings: &Settings, target: &str, given: &[(&str, &str)]) -> &'static str {
        verdict(settings, target, &[given, &[("authorization", &format!("Bearer {SECRET}"))]].concat())
    }

    /// `ok`, or the status of the problem, for a request with this target and these headers.
    fn verdict(settings: &Settings, target: &str, given: &[(&str, &str)]) -> &'static str {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        match check(settings, &target.parse().unwrap(), &headers, |_| ()) {
            Ok(()) => "ok",
            Err(problem) => match problem.into_response().status() {
                StatusCode::FORBIDDEN => "403",
                StatusCode::UNAUTHORIZED => "401",
                _ => "other",
            },
        }
    }

    const HERE: (&str, &str) = ("host", "127.0.0.1:7411");

    #[test]
    fn a_foreign_a_missing_and_a_second_host_are_refused() {
        let settings = settings(&["tools.lan"]);
        for (target, headers, expected) in [
            ("/v1/tools", &[HERE][..], "ok"),
            ("/v1/tools", &[("host", "LOCALHOST.:7411")], "ok"),
            ("/v1/tools", &[("host", "[::1]:7411")], "ok"),
            ("/v1/tools", &[("host", "tools.lan")], "ok"),
            ("/v1/tools", &[], "403"),
            ("/v1/tools", &[("host", "")], "403"),
            ("/v1/tools", &[("host", "evil.example:7411")], "403"),
            ("/v1/tools", &[("host", "user@127.0.0.1:7411")], "403"),
            ("/v1/tools", &[("host", "127.0.0.1:7411@evil.example")], "403"),
            ("/v1/tools", &[("host", "0.0.0.0:7411")], "403"),
            ("/v1/tools", &[("host", "127.0.0.1\u{e4}")], "403"),
            ("/v1/tools", &[HERE, HERE], "403"),
            ("/v1/tools", &[HERE, ("host", "evil.example")], "403"),
            ("http://evil.example/v1/tools", &[HERE], "403"),
            ("http://127.0.0.1:7411/v1/tools", &[HERE], "ok"),
            ("http://127.0.0.1:7411/v1/tools", &[("host", "evil.example")], "403"),
            ("http://127.0.0.1:7411/v1/tools", &[], "403"),
            ("http://user@127.0.0.1:7411/v1/tools", &[HERE], "403"),
            ("/healthz", &[("host", "evil.example")], "403"),
        ] {
            assert_eq!(verdict_of_client(&settings, target, headers), expected, "{target} {headers:?}");
        }
    }

    #[test]
    fn pages_of_other_sites_are_refused_and_programs_pass() {
        let settings = settings(&["app.example"]);
        for (headers, expected) in [
            (&[HERE][..], "ok"),
            (&[HERE, ("origin", "http://127.0.0.1:7411")], "ok"),
            (&[HERE, ("origin", "https://app.example")], "ok"),
            (&[HERE, ("origin", "http://evil.example")], "403"),
            (&[HERE, ("origin", "http://127.0.0.1:3000")], "403"),
            (&[HERE, ("origin", "null")], "403"),
            (&[HERE, ("origin", "")], "403"),
            (&[HERE, ("origin", "chrome-extension://abc")], "403"),
            (&[HERE, ("origin", "http://127.0.0.1:7411"), ("origin", "http://evil.example")], "403"),
            (&[HERE, ("sec-fetch-site", "none")], "ok"),
            (&[HERE, ("sec-fetch-site", "same-origin")], "ok"),
            (&[HERE, ("sec-fetch-site", "same-site")], "403"),
            (&[HERE, ("sec-fetch-site", "cross-site")], "403"),
            (&[HERE, ("sec-fetch-site", "cross-site"), ("origin", "https://app.example")], "ok"),
            (&[HERE, ("sec-fetch-site", "same-origin"), ("origin", "http://evil.example")], "403"),
        ] {
            assert_eq!(verdict_of_client(&settings, "/v1/call", headers), expected, "{headers:?}");
        }
    }

    #[test]
    fn a_token_is_asked_for_everywhere_but_at_healthz() {
        let with = settings(&[]);
        let bearer = |text: &str| verdict(&with, "/v1/call", &[HERE, ("authorization", text)]);
        assert_eq!(bearer(&format!("Bearer {SECRET}")), "ok");
        assert_eq!(bearer(&format!("bearer  {SECRET} ")), "ok");
        for wrong in
            ["", "Bearer", "Bearer ", SECRET, "Basic 0123456789abcdef", "Bearer 0123456789abcdeF", "Bearerx", "ä"]
        {
            assert_eq!(bearer(wrong), "401", "{wrong}");
        }
        let twice = ("authorization", "Bearer 0123456789abcdef");
        assert_eq!(verdict(&with, "/v1/call", &[HERE, twice, twice]), "401");
        for path in
            ["/", "/mcp", "/metrics", "/openapi.json", "/healthz/", "/healthz/x", "//healthz", "/HEALTHZ", "/none"]
        {
            assert_eq!(verdict(&with, path, &[HERE]), "401", "{path}");
        }
        assert_eq!(verdict(&with, "/healthz", &[HERE]), "ok");
        assert_eq!(verdict(&with, "/v1/call", &[HERE]), "401");
    }

    proptest! {
        #[test]
        fn nothing_but_allowed_names_passes(text in "[a-zA-Z0-9.:@\\[\\]/%_ -]{0,40}|(localhost|127\\.0\\.0\\.1|\\[::1\\])[a-z0-9.:@/-]{0,12}") {
            let settings = settings(&[]);
            if verdict_of_client(&settings, "/v1/call", &[("host", &text)]) == "ok" {
                let name = text.rsplit_once(':').filter(|(_, port)| !port.contains(']')).map_or(&*text, |(name, _)| name);
                let bare = name.to_ascii_lowercase();
                let bare = bare.strip_suffix('.').unwrap_or(&bare).trim_start_matches('[').trim_end_matches(']');
                let loopback = bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback());
                prop_assert!(bare == "localhost" || loopback, "{text}");
            }
        }

        #[test]
        fn no_origin_passes_but_the_servers_own(text in "https?://[a-z0-9.:@-]{0,30}|https?://127\\.0\\.0\\.1(:[0-9]{1,5})?[a-z.@]{0,3}|\\PC{0,20}") {
            let allowed = verdict_of_client(&settings(&[]), "/v1/call", &[HERE, ("origin", &text)]) == "ok";
            prop_assert!(!allowed || text == "http://127.0.0.1:7411" || text == "https://127.0.0.1:7411", "{text}");
        }

        #[test]
        fn no_token_passes_but_the_right_one(text in "[ -~]{0,40}") {
            let passes = verdict(&settings(&[]), "/v1/call", &[HERE, ("authorization", &format!("Bearer {text}"))]) == "ok";
            prop_assert_eq!(passes, text.trim() == SECRET);
        }
    }
}
