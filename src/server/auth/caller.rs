//! What a request tells about who sent it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap, HeaderName, header};

use super::secret::Secret;
use crate::server::config::AccessConfig;

const COOKIE: &str = "throughline";

/// As long as browsers keep a cookie at most: when a device must sign in again is the server's to
/// say.
const COOKIE_SECONDS: u32 = 400 * 24 * 3600;

const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Finds the address that a request came from. What a proxy says is believed only if one is there.
pub fn address(access: &AccessConfig, headers: &HeaderMap, extensions: &Extensions) -> IpAddr {
    let forwarded = || {
        let last = text(headers, &FORWARDED_FOR)?.rsplit(',').next()?;
        last.trim().parse().ok()
    };
    let direct = || extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    let forwarded = access.trust_proxy.then(forwarded).flatten();
    forwarded.or_else(direct).unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
}

/// Reads the secret that a browser was given.
pub fn cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies
        .flat_map(|cookies| cookies.split(';'))
        .find_map(|cookie| cookie.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

/// Reads the token that a program sends.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (kind, token) = text(headers, &header::AUTHORIZATION)?.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Writes the cookie that signs a browser in.
pub fn signed_in_cookie(access: &AccessConfig, headers: &HeaderMap, secret: &Secret) -> String {
    write_cookie(access, headers, secret.reveal(), COOKIE_SECONDS)
}

/// Writes the cookie that signs a browser out.
pub fn signed_out_cookie(access: &AccessConfig, headers: &HeaderMap) -> String {
    write_cookie(access, headers, "", 0)
}

fn write_cookie(access: &AccessConfig, headers: &HeaderMap, value: &str, age: u32) -> String {
    let proto = text(headers, &FORWARDED_PROTO);
    let encrypted = access.trust_proxy && proto.is_some_and(|proto| proto == "https");
    let secure = if encrypted { "; Secure" } else { "" };
    format!("{COOKIE}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Lax{secure}")
}

/// Names a device by what its browser says of itself.
pub fn device_name(headers: &HeaderMap) -> String {
    let agent = text(headers, &header::USER_AGENT).unwrap_or_default();
    let first = |known: &[(&str, &'static str)]| {
        known.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name)
    };
    // Each browser also claims to be those that came before it, so the order matters.
    let browser = first(&[
        ("Firefox/", "Firefox"),
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ]);
    let system = first(&[
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("Mac OS X", "Mac"),
        ("Linux", "Linux"),
    ]);
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(only), None) | (None, Some(only)) => only.to_owned(),
        (None, None) => "A program".to_owned(),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
