//! Leaves, children and trees: one answer through JSON-RPC, REST and the server function.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::plant;
use crate::test_app::TestApp;

async fn by_rpc(app: &TestApp, method: &str, params: Option<Value>) -> Value {
    let mut request = json!({ "jsonrpc": "2.0", "id": 1, "method": method });
    if let Some(params) = params {
        request["params"] = params;
    }
    let answer: Value = app.post("/rpc", &request).await.json().await.unwrap();
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].clone()
}

async fn by_function(app: &TestApp, name: &str, arguments: Value) -> Value {
    let response = app.post(&format!("/fn/{name}"), &arguments).await;
    assert_eq!(response.status(), StatusCode::OK, "{name}");
    response.json().await.unwrap()
}

fn names(rows: &Value) -> String {
    let rows = rows.as_array().expect("a list, never null").iter();
    rows.map(|row| row["session_id"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

/// Checks the leaves of planted rows, newest first, through all three doors, with and without the
/// rows that branches were made of.
async fn check(line: &str, leaves: &str, with_forks: &str) {
    let app = plant::app(line).await;
    for (include_forks, expected) in [(false, leaves), (true, with_forks)] {
        let params = json!({ "include_forks": include_forks });
        let answer = by_rpc(&app, "getSessionLeaves", Some(params)).await;
        assert_eq!(names(&answer["sessions"]), expected, "{line}, forks: {include_forks}");
        for row in answer["sessions"].as_array().unwrap() {
            assert!(row.get("parent_session_id").is_some() && row["sibling_count"].is_u64());
        }
        let address = format!("/api/sessions?view=leaves&include_forks={include_forks}");
        assert_eq!(app.get_json(&address).await, answer, "{line}");
        let query = json!({ "query": { "view": "leaves", "include_forks": include_forks } });
        assert_eq!(by_function(&app, "list", query).await, answer, "{line}");
    }
    let bare = by_rpc(&app, "getSessionLeaves", None).await;
    assert_eq!(names(&bare["sessions"]), leaves, "{line}, without parameters");
    let counts = app.get_json("/api/sessions/counts").await;
    assert_eq!(counts["leaves"], leaves.split_whitespace().count(), "{line}");
}

#[tokio::test]
async fn nothing_stored_gives_an_empty_list() {
    check("", "", "").await;
}

#[tokio::test]
async fn a_session_without_a_child_is_a_leaf() {
    check("a", "a", "a").await;
    check("a b c", "c b a", "c b a").await;
}

#[tokio::test]
async fn only_the_end_of_a_chain_is_a_leaf() {
    check("a* b*<a c<b", "c", "c").await;
    check("a* b*<a c*<b d*<c e*<d f*<e g*<f h*<g i*<h j<i x* y<x", "y j", "y j").await;
}

#[tokio::test]
async fn all_ends_of_a_branching_tree_are_leaves() {
    check("a b/a c/a d/b", "d c", "d c b a").await;
    check("a* b<a f/a", "f b", "f b a").await;
}

#[tokio::test]
async fn an_archived_or_deleted_child_does_not_hide_its_parent() {
    check("a b/a-", "a", "a").await;
    check("a b/a!", "a", "a").await;
    check("a b/a- c/a", "c", "c a").await;
    check("a b/a- c/b", "c a", "c a").await;
    check("a- b/a", "b", "b").await;
}

#[tokio::test]
async fn a_cycle_hides_nobody() {
    check("a/a", "a", "a").await;
    check("a/b b/a", "b a", "b a").await;
    check("a<c b<a c<b", "c b a", "c b a").await;
    check("a/b b/a c/a", "c b", "c b a").await;
    check("c/gone a/c", "a", "a c").await;
}

#[tokio::test]
async fn rows_of_the_same_moment_are_ordered_by_id() {
    let app = plant::app("b@9 c@9 a@9").await;
    plant::run(&app.data, "UPDATE sessions SET created_at = 1").await;
    let answer = by_rpc(&app, "getSessionLeaves", None).await;
    assert_eq!(names(&answer["sessions"]), "c b a");
    let mut seen = Vec::new();
    let mut params = json!({ "limit": 1 });
    loop {
        let page = by_rpc(&app, "getSessionLeaves", Some(params.clone())).await;
        seen.push(names(&page["sessions"]));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        params["cursor"] = cursor.into();
    }
    assert_eq!(seen.join(" "), "c b a", "page by page, none twice, none left out");
}

#[tokio::test]
async fn a_child_appears_and_goes_and_its_parent_follows() {
    let app = TestApp::start().await;
    let parent = app.new_session().await;
    app.converse(&parent, "t1", "[[say hello]]").await;
    let fork = app.post(&format!("/api/sessions/{parent}/fork"), &json!({})).await;
    let fork: Value = fork.json().await.unwrap();
    let fork = fork["session_id"].as_str().unwrap();
    let leaves = async || names(&app.get_json("/api/sessions?view=leaves").await["sessions"]);
    assert_eq!(leaves().await, fork);
    let address = format!("{}/api/sessions/{fork}", app.base);
    let archive = async |archived: bool| {
        let patch = json!({ "archived": archived });
        app.client.patch(&address).json(&patch).send().await.unwrap();
    };
    archive(true).await;
    assert_eq!(leaves().await, parent);
    archive(false).await;
    assert_eq!(leaves().await, fork);
    app.client.delete(&address).send().await.unwrap();
    assert_eq!(leaves().await, parent);
    app.post(&format!("/api/sessions/{fork}/restore"), &Value::Null).await;
    assert_eq!(leaves().await, fork);
}

#[tokio::test]
async fn a_compressed_conversation_is_archived_as_a_whole() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let old = app.converse(&id, "t1", "[[compress]]").await;
    let tip = old["continuation"].as_str().unwrap();
    let views = async || {
        let mut found = Vec::new();
        for view in ["leaves", "visible", "archived"] {
            let page = app.get_json(&format!("/api/sessions?view={view}")).await;
            found.push(names(&page["sessions"]));
        }
        found
    };
    assert_eq!(views().await, [tip, tip, ""]);
    let patch = json!({ "archived": true });
    let address = format!("{}/api/sessions/{tip}", app.base);
    app.client.patch(&address).json(&patch).send().await.unwrap();
    assert_eq!(views().await, ["", "", tip], "its earlier part does not come up in its place");
    let counts = app.get_json("/api/sessions/counts").await;
    assert_eq!(counts, json!({ "leaves": 0, "visible": 0, "archived": 1, "all": 2 }));
}

#[tokio::test]
async fn siblings_and_children_are_counted() {
    let app = plant::app("a b/a c/a d/a- e/a! f/gone g").await;
    let row = async |id: &str| by_rpc(&app, "getSession", Some(json!({ "session_id": id }))).await;
    for (id, children, siblings) in
        [("a", 2, 0), ("b", 0, 1), ("c", 0, 1), ("d", 0, 2), ("f", 0, 0), ("g", 0, 0)]
    {
        let row = row(id).await;
        assert_eq!(row["child_count"], children, "children of {id}");
        assert_eq!(row["sibling_count"], siblings, "siblings of {id}");
        assert!(row.get("parent_session_id").is_some());
    }
}

#[tokio::test]
async fn children_are_read_oldest_first_and_page_by_page() {
    let app = plant::app("a b/a c/a- d/a! e/a").await;
    let params = json!({ "session_id": "a" });
    let answer = by_rpc(&app, "getSessionChildren", Some(params.clone())).await;
    assert_eq!(names(&answer["sessions"]), "b c e");
    assert_eq!(app.get_json("/api/sessions/a/children").await, answer);
    assert_eq!(by_function(&app, "children", params).await, answer);
    let first = app.get_json("/api/sessions/a/children?limit=2").await;
    assert_eq!(names(&first["sessions"]), "b c");
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = app.get_json(&format!("/api/sessions/a/children?limit=2&cursor={cursor}")).await;
    assert_eq!((names(&rest["sessions"]).as_str(), &rest["next_cursor"]), ("e", &Value::Null));
    assert_eq!(app.get_json("/api/sessions/b/children").await["sessions"], json!([]));
    assert_eq!(app.get("/api/sessions/gone/children").await.status(), StatusCode::NOT_FOUND);
}

/// Writes trees as `a(b c(d))`.
fn shape(nodes: &Value) -> String {
    let nodes = nodes.as_array().expect("a list, never null").iter();
    let shapes = nodes.map(|node| {
        let below = shape(&node["children"]);
        let name = node["session_id"].as_str().unwrap();
        if below.is_empty() { name.to_owned() } else { format!("{name}({below})") }
    });
    shapes.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn a_tree_is_told_from_any_row_down_to_any_depth() {
    let app = plant::app("a b/a c/a d/b e/d f! g/f h/h x/y y/x z/x").await;
    for (params, expected, truncated) in [
        (json!({}), "y x(z) h g a(b(d(e)) c)", false),
        (json!({ "root_id": "a" }), "a(b(d(e)) c)", false),
        (json!({ "root_id": "a", "max_depth": 0 }), "a", true),
        (json!({ "root_id": "a", "max_depth": 1 }), "a(b c)", true),
        (json!({ "root_id": "a", "max_depth": 2 }), "a(b(d) c)", true),
        (json!({ "root_id": "a", "max_depth": 3 }), "a(b(d(e)) c)", false),
        (json!({ "root_id": "d" }), "d(e)", false),
        (json!({ "root_id": "x" }), "x(z)", false),
    ] {
        let answer = by_rpc(&app, "getSessionTree", Some(params.clone())).await;
        assert_eq!(shape(&answer["trees"]), expected, "{params}");
        assert_eq!(answer["truncated"], truncated, "{params}");
        let query = json!({ "query": params });
        assert_eq!(by_function(&app, "trees", query).await, answer, "{params}");
        let depth =
            params["max_depth"].as_u64().map_or(String::new(), |it| format!("max_depth={it}"));
        let by_rest = match params["root_id"].as_str() {
            Some(root) => app.get_json(&format!("/api/sessions/{root}/tree?{depth}")).await,
            None => app.get_json("/api/sessions/tree").await,
        };
        assert_eq!(by_rest, answer, "{params}");
    }
    let first = app.get_json("/api/sessions/tree?limit=2").await;
    assert_eq!(shape(&first["trees"]), "y x(z)");
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = app.get_json(&format!("/api/sessions/tree?cursor={cursor}")).await;
    assert_eq!(shape(&rest["trees"]), "h g a(b(d(e)) c)");
    assert_eq!(app.get("/api/sessions/gone/tree").await.status(), StatusCode::NOT_FOUND);
    assert_eq!(by_rpc(&app, "getSessionTree", None).await["truncated"], false);
}

#[tokio::test]
async fn the_list_of_the_app_has_what_runs_and_what_is_pinned_beside_the_leaves() {
    let app = plant::app("p q/p n/q").await;
    plant::run(&app.data, "UPDATE sessions SET pinned = 1 WHERE session_id = 'q'").await;
    let running = app.new_session().await;
    app.converse(&running, "t0", "[[say hello]]").await;
    let fork = app.post(&format!("/api/sessions/{running}/fork"), &json!({})).await;
    let fork: Value = fork.json().await.unwrap();
    let mut socket = app.socket().await;
    socket.subscribe(&running, None).await;
    app.submit(&running, "t1", "[[ask Go on?]]").await;
    socket.until_event("question").await;
    let overview = app.get_json("/api/sessions/overview").await;
    let fork = fork["session_id"].as_str().unwrap();
    assert_eq!(names(&overview["page"]["sessions"]), format!("{fork} n"));
    assert_eq!(names(&overview["always"]), format!("{running} q"));
    assert_eq!(overview["always"][0]["status"], "waiting");
    assert_eq!(overview["counts"]["leaves"], 2);
    assert_eq!(by_function(&app, "overview", json!({ "view": "leaves" })).await, overview);
}

#[tokio::test]
async fn a_store_that_fails_is_an_error_and_never_an_empty_list() {
    let app = plant::app("a").await;
    plant::run(&app.data, "ALTER TABLE sessions RENAME TO elsewhere").await;
    for (method, params) in [
        ("getSessionLeaves", json!({})),
        ("listSessions", json!({})),
        ("getSessionTree", json!({})),
        ("getSessionChildren", json!({ "session_id": "a" })),
    ] {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer: Value = app.post("/rpc", &request).await.json().await.unwrap();
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(answer.get("result").is_none(), "{answer}");
    }
    for path in ["/api/sessions?view=leaves", "/api/sessions/tree", "/api/sessions/overview"] {
        let response = app.get(path).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR, "{path}");
    }
    let query = json!({ "query": { "view": "leaves" } });
    let response = app.post("/fn/list", &query).await;
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
}

#[tokio::test]
async fn bad_parameters_are_refused_in_the_words_of_each_door() {
    let app = TestApp::start().await;
    for params in [
        json!({ "limit": "many" }),
        json!({ "limit": -1 }),
        json!({ "cursor": "nowhere" }),
        json!({ "unheard": 1 }),
        json!({ "include_forks": "yes" }),
    ] {
        let request =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "getSessionLeaves", "params": params });
        let answer: Value = app.post("/rpc", &request).await.json().await.unwrap();
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
    for query in ["view=wrong", "limit=x", "cursor=1.2", "unheard=1", "q=a&cursor=1.2.a"] {
        let response = app.get(&format!("/api/sessions?{query}")).await;
        assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY, "{query}");
    }
}
