//! Signing in, staying signed in, and being signed out, through a real server.

use std::time::Duration;

use futures::StreamExt;
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use tempfile::TempDir;
use throughline::server::auth::offer_pairing;
use throughline::server::auth::password::PasswordFile;
use throughline::server::config::Config;
use throughline::server::store::Store;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::test_app::TestApp;

const PASSWORD: &str = "correct horse battery";
const TOKEN: &str = "a-token-of-a-program";

async fn locked(change: impl FnOnce(&mut Config)) -> TestApp {
    let (data, workspace) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    PasswordFile::of(data.path()).set(PASSWORD).unwrap();
    TestApp::start_changed(data, workspace, change).await
}

fn browser() -> Client {
    Client::builder().redirect(Policy::none()).build().unwrap()
}

async fn try_password(app: &TestApp, client: &Client, password: &str, next: &str) -> Response {
    let body = format!("password={}&next={next}", password.replace(' ', "+"));
    let request = client.post(format!("{}/login", app.base)).body(body);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    request.header("user-agent", "Chrome/1 Android").send().await.unwrap()
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

fn cookie_of(response: &Response) -> String {
    header(response, "set-cookie").split(';').next().unwrap().to_owned()
}

async fn sign_in(app: &TestApp) -> String {
    let response = try_password(app, &browser(), PASSWORD, "").await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    cookie_of(&response)
}

async fn status(app: &TestApp, path: &str, cookie: &str) -> StatusCode {
    let request = browser().get(format!("{}{path}", app.base)).header("cookie", cookie);
    request.send().await.unwrap().status()
}

async fn open_socket(app: &TestApp, cookie: &str) -> Result<(), String> {
    let mut request =
        format!("{}/ws", app.base.replace("http", "ws")).into_client_request().unwrap();
    request.headers_mut().insert("cookie", cookie.parse().unwrap());
    connect_async(request).await.map(drop).map_err(|error| error.to_string())
}

#[tokio::test]
async fn every_door_is_closed_without_a_cookie() {
    let app = locked(|_| ()).await;
    let client = browser();
    for path in [
        "/api/sessions",
        "/api/events",
        "/api/blobs/00",
        "/api/sessions/x/agent/messages",
        "/api/nowhere",
        "/fn/about",
    ] {
        let told = client.get(format!("{}{path}", app.base)).send().await.unwrap();
        assert_eq!(told.status(), StatusCode::UNAUTHORIZED, "{path}");
        assert!(told.text().await.unwrap().contains("signed_out"), "{path}");
    }
    for path in [
        "/rpc",
        "/fn/about",
        "/api/chat/start",
        "/api/blobs",
        "/new",
        "/logout",
        "/devices/x/revoke",
    ] {
        let told = client.post(format!("{}{path}", app.base)).body("{}").send().await.unwrap();
        assert_eq!(told.status(), StatusCode::UNAUTHORIZED, "{path}");
    }
    let refused = open_socket(&app, "throughline=nothing").await.unwrap_err();
    assert!(refused.contains("401"), "{refused}");
    for path in ["/healthz", "/login"] {
        assert_eq!(status(&app, path, "").await, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn a_reader_comes_back_to_where_they_wanted_to_be() {
    let app = locked(|_| ()).await;
    let client = browser();
    let asked = client.get(format!("{}/session/abc?message=m%26x", app.base)).send().await.unwrap();
    assert_eq!(asked.status(), StatusCode::SEE_OTHER);
    let place = header(&asked, "location").to_owned();
    assert_eq!(place, "/login?next=/session/abc%3Fmessage%3Dm%2526x");
    let page = client.get(format!("{}{place}", app.base)).send().await.unwrap();
    let policy = header(&page, "content-security-policy").to_owned();
    assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{policy}");
    let page = page.text().await.unwrap();
    assert!(page.contains("value=\"/session/abc?message=m%26x\""), "{page}");
    assert!(!page.contains("<script"), "{page}");
    let done = try_password(&app, &client, PASSWORD, "/session/abc").await;
    assert_eq!(header(&done, "location"), "/session/abc");
    let cookie = header(&done, "set-cookie");
    for word in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "{cookie}");
    let cookie = cookie_of(&done);
    assert_eq!(status(&app, "/", &cookie).await, StatusCode::OK);
    assert_eq!(status(&app, "/api/sessions", &cookie).await, StatusCode::OK);
    open_socket(&app, &cookie).await.unwrap();
}

#[tokio::test]
async fn nobody_is_led_to_another_site() {
    let app = locked(|_| ()).await;
    for next in [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "evil",
        "%2F%2Fevil.example",
        "/a%0d%0ab",
    ] {
        let done = try_password(&app, &browser(), PASSWORD, next).await;
        assert_eq!(header(&done, "location"), "/", "{next}");
    }
}

#[tokio::test]
async fn the_cookie_is_secure_behind_a_trusted_proxy_alone() {
    for (trusted, secure) in [(false, false), (true, true)] {
        let app = locked(|config| {
            config.access.trust_proxy = trusted;
            config.access.hosts = vec!["throughline.example".to_owned()];
        })
        .await;
        let request = browser().post(format!("{}/login", app.base));
        let request = request
            .header("host", "throughline.example")
            .header("origin", "https://throughline.example")
            .header("x-forwarded-proto", "https")
            .header("content-type", "application/x-www-form-urlencoded");
        let done = request.body(format!("password={}", PASSWORD.replace(' ', "+"))).send().await;
        let done = done.unwrap();
        assert_eq!(done.status(), StatusCode::SEE_OTHER);
        assert_eq!(header(&done, "set-cookie").contains("Secure"), secure);
    }
}

#[tokio::test]
async fn twenty_wrong_passwords_are_slowed_down() {
    let app = locked(|_| ()).await;
    let cookie = sign_in(&app).await;
    let client = browser();
    let mut statuses = Vec::new();
    for number in 0..20 {
        statuses.push(try_password(&app, &client, &format!("wrong {number}"), "").await.status());
    }
    let looked_at = statuses.iter().filter(|status| **status == StatusCode::UNAUTHORIZED).count();
    assert!((3..=6).contains(&looked_at), "{statuses:?}");
    assert!(statuses[6..].iter().all(|status| *status == StatusCode::TOO_MANY_REQUESTS));
    let right = try_password(&app, &client, PASSWORD, "").await;
    assert_eq!(right.status(), StatusCode::TOO_MANY_REQUESTS, "a right guess is one too many");
    assert!(!header(&right, "retry-after").is_empty());
    assert!(right.text().await.unwrap().contains("Too many attempts"));
    // Whoever is signed in, or elsewhere, is not held up.
    assert_eq!(status(&app, "/api/sessions", &cookie).await, StatusCode::OK);
    let elsewhere = Client::builder().redirect(Policy::none());
    let elsewhere = elsewhere.local_address(std::net::IpAddr::from([127, 0, 0, 2])).build();
    let right = try_password(&app, &elsewhere.unwrap(), PASSWORD, "").await;
    assert_eq!(right.status(), StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn guesses_at_once_are_counted_each() {
    let app = locked(|_| ()).await;
    let client = browser();
    let guesses = (0..20).map(|number| {
        let (app, client) = (&app, &client);
        async move { try_password(app, client, &format!("wrong {number}"), "").await.status() }
    });
    let statuses = futures::future::join_all(guesses).await;
    let looked_at = statuses.iter().filter(|status| **status == StatusCode::UNAUTHORIZED).count();
    assert!(looked_at <= 6, "{statuses:?}");
}

#[tokio::test]
async fn an_expired_cookie_is_none() {
    let app = locked(|_| ()).await;
    let cookie = sign_in(&app).await;
    assert_eq!(status(&app, "/api/sessions", &cookie).await, StatusCode::OK);
    let (data, workspace) = app.stop().await;
    let app = TestApp::start_changed(data, workspace, |config| {
        config.access.stay_signed_in = Duration::ZERO;
    })
    .await;
    assert_eq!(status(&app, "/api/sessions", &cookie).await, StatusCode::UNAUTHORIZED);
    assert_eq!(status(&app, "/", &cookie).await, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_revoked_device_is_out_at_once_its_socket_too() {
    let app = locked(|_| ()).await;
    let (lost, kept) = (sign_in(&app).await, sign_in(&app).await);
    let mut request =
        format!("{}/ws", app.base.replace("http", "ws")).into_client_request().unwrap();
    request.headers_mut().insert("cookie", lost.parse().unwrap());
    let (mut socket, _) = connect_async(request).await.unwrap();
    let events = browser().get(format!("{}/api/events", app.base)).header("cookie", &lost);
    let mut events = events.send().await.unwrap();

    let asked = browser().get(format!("{}/settings", app.base)).header("cookie", &kept);
    let page = asked.send().await.unwrap().text().await.unwrap();
    assert!(page.contains("This device") && page.contains("Chrome on Android"), "{page}");
    let form = page.split("action=\"/devices/").nth(1).unwrap();
    let id = form.split('/').next().unwrap();
    let revoke = browser().post(format!("{}/devices/{id}/revoke", app.base));
    let done = revoke.header("cookie", &kept).send().await.unwrap();
    assert_eq!(header(&done, "location"), "/settings");

    assert_eq!(status(&app, "/api/sessions", &lost).await, StatusCode::UNAUTHORIZED);
    assert_eq!(status(&app, "/api/sessions", &kept).await, StatusCode::OK);
    let ended = async {
        while let Some(Ok(message)) = socket.next().await {
            if message.is_close() {
                break;
            }
        }
        while events.chunk().await.unwrap().is_some() {}
    };
    tokio::time::timeout(Duration::from_secs(10), ended).await.unwrap();
}

#[tokio::test]
async fn signing_out_takes_the_cookie_and_its_meaning() {
    let app = locked(|_| ()).await;
    let cookie = sign_in(&app).await;
    let out = browser().post(format!("{}/logout", app.base)).header("cookie", &cookie);
    let out = out.send().await.unwrap();
    assert_eq!(header(&out, "location"), "/login");
    assert!(header(&out, "set-cookie").contains("throughline=; "));
    assert!(header(&out, "set-cookie").contains("Max-Age=0"));
    assert_eq!(status(&app, "/api/sessions", &cookie).await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_code_signs_one_device_in_once() {
    let app = locked(|_| ()).await;
    // As `throughline pair` does, beside the running server.
    let store = Store::open(app.data.path()).await.unwrap();
    let code = offer_pairing(&store).await.unwrap();
    let address = format!("{}/pair", app.base);
    let page = browser().get(format!("{address}?code={}", code.reveal())).send().await.unwrap();
    assert!(page.text().await.unwrap().contains("Sign this device in"));
    let pair = || {
        let request = browser().post(&address).body(format!("code={}", code.reveal()));
        request.header("content-type", "application/x-www-form-urlencoded").send()
    };
    let done = pair().await.unwrap();
    assert_eq!(done.status(), StatusCode::SEE_OTHER);
    assert_eq!(status(&app, "/api/sessions", &cookie_of(&done)).await, StatusCode::OK);
    let again = pair().await.unwrap();
    assert_eq!(again.status(), StatusCode::UNAUTHORIZED);
    assert!(again.text().await.unwrap().contains("used already"));
}

#[tokio::test]
async fn a_token_lets_programs_in_and_never_shows() {
    let app = locked(|config| config.access.token = Some(TOKEN.parse().unwrap())).await;
    let ask = |token: &'static str| {
        let request = app.client.get(format!("{}/api/sessions", app.base));
        request.bearer_auth(token).send()
    };
    assert_eq!(ask(TOKEN).await.unwrap().status(), StatusCode::OK);
    assert_eq!(ask("another-token-altogether").await.unwrap().status(), StatusCode::UNAUTHORIZED);
    let done = try_password(&app, &browser(), TOKEN, "/").await;
    assert_eq!(done.status(), StatusCode::SEE_OTHER);
    let config = throughline::server::config::AccessConfig {
        token: Some(TOKEN.parse().unwrap()),
        ..Default::default()
    };
    assert!(!format!("{config:?}").contains(TOKEN));
}

#[test]
fn what_is_stored_is_hashed() {
    let data = TempDir::new().unwrap();
    let file = PasswordFile::of(data.path());
    assert!(file.set("short").is_err());
    file.set(PASSWORD).unwrap();
    let stored = std::fs::read_to_string(data.path().join("password")).unwrap();
    assert!(stored.starts_with("$argon2id$") && !stored.contains(PASSWORD), "{stored}");
    assert!(file.is(PASSWORD).unwrap() && !file.is("correct horse").unwrap());
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(data.path().join("password")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
