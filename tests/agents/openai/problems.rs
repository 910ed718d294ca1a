//! What goes wrong with a model server is told in plain words, and the session stays usable.

use throughline::server::agents::openai::OpenAiSettings;

use super::{answer_to, start, start_with, words};
use crate::fake_model::Dialect;

async fn check(prompt: &str, told: &str) {
    let (app, _model) = start(Dialect::Ollama).await;
    let id = app.new_session().await;
    let answer = answer_to(&app, &id, "t1", prompt).await;
    assert_eq!(answer["state"], "failed", "{prompt}: {answer}");
    assert!(answer.to_string().contains(told), "{prompt}: {answer}");
    assert_eq!(words(&app, &id, "t2", "say usable").await, "usable", "{prompt}");
}

#[tokio::test]
async fn refusals_are_told_in_plain_words() {
    check("status 401", "Model wants a key. It says: the reason is told").await;
    check("status 404", "does not know the model “small”").await;
    check("status 429", "its limit is reached").await;
    check("status 503", "failed with status 503").await;
    check("status 418", "refused with status 418").await;
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_told_and_its_words_are_kept() {
    check("break", "broke off in the middle of the answer").await;
    check("break", "half an").await;
    check("fail", "It says: out of memory").await;
}

#[tokio::test]
async fn no_server_is_told() {
    let app = start_with(OpenAiSettings {
        id: "model".to_owned(),
        name: "Model".to_owned(),
        base_url: "http://127.0.0.1:9/v1".to_owned(),
        ..OpenAiSettings::default()
    })
    .await;
    let id = app.new_session().await;
    let answer = answer_to(&app, &id, "t1", "say hello").await;
    assert_eq!(answer["state"], "failed");
    assert!(answer.to_string().contains("No model server answers at http://127.0.0.1:9/v1"));
}

/// A server that refuses tools, and to count, still answers.
#[tokio::test]
async fn what_a_server_does_not_understand_is_left_out() {
    let (app, _model) = start(Dialect::Vllm).await;
    let id = app.new_session().await;
    let answer = answer_to(&app, &id, "t1", "say hello").await;
    assert_eq!(answer["state"], "complete");
    assert!(answer.to_string().contains("takes no tools"), "{answer}");
    let answer = answer_to(&app, &id, "t2", "say hello").await;
    assert!(!answer.to_string().contains("takes no tools"), "it is told once: {answer}");
}
