//! Pages as the server sends them, to readers without script.

use reqwest::StatusCode;

use crate::test_app::TestApp;

/// What a reader without script sees: the page without the data that only scripts read.
fn visible(page: &str) -> &str {
    page.split("<script nonce").next().unwrap()
}

#[tokio::test]
async fn the_whole_newest_page_of_a_transcript_is_in_the_html() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    for number in 0..12 {
        app.converse(&id, &format!("t{number}"), &format!("[[say **answer number {number}** ]]"))
            .await;
    }
    let page = app.get_text(&format!("/session/{id}")).await;
    for number in 0..12 {
        let answer = format!("<strong>answer number {number}");
        assert!(visible(&page).contains(&answer), "{answer} is missing");
    }
}

#[tokio::test]
async fn the_list_is_in_the_html_of_every_page() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "Weekend plans").await;
    for path in ["/", "/settings", &format!("/session/{id}")] {
        let page = app.get_text(path).await;
        assert!(visible(&page).contains("Weekend plans"), "{path}");
        assert!(visible(&page).contains(&format!("href=\"/session/{id}\"")), "{path}");
    }
}

#[tokio::test]
async fn an_empty_list_says_what_to_do() {
    let app = TestApp::start().await;
    let page = app.get_text("/").await;
    assert!(visible(&page).contains("No conversations yet"));
}

#[tokio::test]
async fn hostile_text_is_shown_as_text_wherever_it_appears() {
    const HOSTILE: &str =
        "<script>alert(1)</script><img src=x onerror=alert(2)> [x](javascript:alert(3))";
    let app = TestApp::start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", &format!("[[say {HOSTILE}]]")).await;
    let page = app.get_text(&format!("/session/{id}")).await;
    assert!(visible(&page).contains("&lt;script&gt;alert(1)"));
    assert!(!page.contains("<script>alert"), "not in the page, its title or its data");
    assert!(!page.contains("</title></script>"));
    assert!(!visible(&page).contains("<img src=x"));
    assert!(!visible(&page).contains("href=\"javascript:"));
}

#[tokio::test]
async fn a_new_conversation_can_be_started_by_a_plain_form() {
    let app = TestApp::start().await;
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let request = client.build().unwrap().post(format!("{}/new", app.base));
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    let location = response.headers()["location"].to_str().unwrap();
    assert!(location.starts_with("/session/"), "{location}");
    assert_eq!(app.get(location).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn pages_are_compressed_for_those_who_can_read_it() {
    let app = TestApp::start().await;
    let response = reqwest::Client::builder().no_gzip().no_brotli().build().unwrap();
    let response = response.get(&app.base).header("accept-encoding", "br").send().await.unwrap();
    assert_eq!(response.headers()["content-encoding"], "br");
}

#[tokio::test]
async fn the_chosen_theme_is_in_the_first_paint() {
    let app = TestApp::start().await;
    let page = |cookie: &'static str| {
        let request = app.client.get(&app.base).header("cookie", cookie);
        async { request.send().await.unwrap().text().await.unwrap() }
    };
    assert!(page("theme=dark").await.contains("data-theme=\"dark\""));
    assert!(!page("theme=\"><script>").await.contains("data-theme"));
}
