use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::test_app::TestApp;

async fn call(app: &TestApp, body: &Value) -> Value {
    let response = app.post("/rpc", body).await;
    assert_eq!(response.status(), StatusCode::OK);
    response.json().await.unwrap()
}

#[tokio::test]
async fn resolving_gives_the_answer_of_the_other_doors() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let old = app.converse(&id, "t1", "[[compress]]").await;
    let tip = old["continuation"].as_str().unwrap();
    for requested in [id.as_str(), tip, "gone", "not an id"] {
        for inspect in [false, true] {
            let params = json!({ "session_id": requested, "inspect": inspect });
            let request =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "resolveSession", "params": params });
            let by_rest =
                app.get_json(&format!("/api/sessions/{requested}/resolve?inspect={inspect}")).await;
            assert_eq!(call(&app, &request).await["result"], by_rest, "{requested}");
        }
    }
    let positional =
        json!({ "jsonrpc": "2.0", "id": "x", "method": "resolveSession", "params": [id] });
    let answer = call(&app, &positional).await;
    assert_eq!(answer["result"]["session_id"], tip);
    assert_eq!(answer["id"], "x");
}

#[tokio::test]
async fn a_batch_is_answered_entry_by_entry_and_notifications_are_not() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "listSessions" },
        { "jsonrpc": "2.0", "method": "listSessions" },
        { "jsonrpc": "2.0", "id": 2, "method": "getSession", "params": { "session_id": id } },
        { "jsonrpc": "2.0", "id": 3, "method": "getSession", "params": { "session_id": "gone" } },
        { "jsonrpc": "2.0", "id": 4, "method": "getSession", "params": {} },
        { "jsonrpc": "2.0", "id": 5, "method": "unheardOf" },
        { "foo": 1 },
    ]);
    let answers = call(&app, &batch).await;
    let of = |id: Value| answers.as_array().unwrap().iter().find(|it| it["id"] == id).unwrap();
    assert_eq!(answers.as_array().unwrap().len(), 6);
    assert_eq!(of(json!(1))["result"]["sessions"][0]["session_id"], id);
    assert_eq!(of(json!(2))["result"]["session_id"], id);
    assert_eq!(of(json!(2))["result"]["parent_session_id"], Value::Null);
    assert_eq!(of(json!(3))["error"]["code"], -32001);
    assert_eq!(of(json!(3))["error"]["data"]["code"], "session_not_found");
    assert_eq!(of(json!(4))["error"]["code"], -32602);
    assert_eq!(of(json!(5))["error"]["code"], -32601);
    assert_eq!(of(Value::Null)["error"]["code"], -32600);
}

#[tokio::test]
async fn what_is_not_json_is_a_parse_error() {
    let app = TestApp::start().await;
    let response = app
        .client
        .post(format!("{}/rpc", app.base))
        .header("content-type", "application/json")
        .body("{not json")
        .send()
        .await
        .unwrap();
    let answer: Value = response.json().await.unwrap();
    assert_eq!(answer["error"]["code"], -32700);
}

#[tokio::test]
async fn a_lone_notification_gets_nothing_and_an_empty_batch_is_refused() {
    let app = TestApp::start().await;
    let notification = json!({ "jsonrpc": "2.0", "method": "getSessionLeaves" });
    for sent in [notification.clone(), json!([notification, notification])] {
        let response = app.post("/rpc", &sent).await;
        assert_eq!(response.status(), StatusCode::NO_CONTENT, "{sent}");
        assert_eq!(response.text().await.unwrap(), "", "{sent}");
    }
    assert_eq!(call(&app, &json!([])).await["error"]["code"], -32600);
}

#[tokio::test]
async fn parameters_may_be_absent_named_or_in_order() {
    let app = crate::plant::app("a b/a c/b d").await;
    let ask = async |params: Option<Value>| {
        let mut request = json!({ "jsonrpc": "2.0", "id": 1, "method": "getSessionLeaves" });
        if let Some(params) = params {
            request["params"] = params;
        }
        call(&app, &request).await["result"].clone()
    };
    let all = ask(None).await;
    assert_eq!(all["sessions"].as_array().unwrap().len(), 2);
    for params in [json!({}), json!([]), Value::Null, json!([false]), json!({ "limit": null })] {
        assert_eq!(ask(Some(params.clone())).await, all, "{params}");
    }
    let first = ask(Some(json!([true, 1]))).await;
    assert_eq!(first, ask(Some(json!({ "include_forks": true, "limit": 1 }))).await);
    assert_eq!(first["sessions"].as_array().unwrap().len(), 1);
}
