//! Where conversations may work, and nowhere else.

use std::os::unix::fs::symlink;
use std::path::Path;

use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::test_app::TestApp;

struct Place {
    app: TestApp,
    other: TempDir,
    outside: TempDir,
}

/// Two allowed roots and something outside, with links that lead there.
async fn place() -> Place {
    let (data, workspace) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (other, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    for folder in ["alpha", "alpha/one", "alps", ".hidden", "beta"] {
        std::fs::create_dir(workspace.path().join(folder)).unwrap();
    }
    std::fs::write(workspace.path().join("alphabet.txt"), "").unwrap();
    std::fs::create_dir(outside.path().join("secret")).unwrap();
    std::fs::create_dir(other.path().join("gamma")).unwrap();
    symlink(outside.path(), workspace.path().join("away")).unwrap();
    symlink(other.path().join("gamma"), workspace.path().join("across")).unwrap();
    let root = other.path().canonicalize().unwrap();
    let app = TestApp::start_changed(data, workspace, |config| config.agents.roots = vec![root]);
    Place { app: app.await, other, outside }
}

async fn try_folder(app: &TestApp, folder: &str) -> (StatusCode, Value) {
    let asked = app.post("/api/sessions/new", &json!({ "workspace": folder })).await;
    (asked.status(), asked.json().await.unwrap())
}

async fn offered(app: &TestApp, typed: &str) -> Vec<String> {
    let address = format!("{}/api/folders", app.base);
    let asked = app.client.get(address).query(&[("typed", typed)]).send().await.unwrap();
    asked.json().await.unwrap()
}

fn below(root: &Path, name: &str) -> String {
    root.canonicalize().unwrap().join(name).display().to_string()
}

#[tokio::test]
async fn a_folder_is_allowed_by_its_true_path_alone() {
    let Place { app, other, outside } = place().await;
    let root = app.workspace.path().canonicalize().unwrap();
    let gamma = below(other.path(), "gamma");
    for (folder, true_path) in [
        ("alpha", below(&root, "alpha")),
        ("alpha/../beta", below(&root, "beta")),
        ("./alpha/one/", below(&root, "alpha/one")),
        ("across", gamma.clone()),
        (gamma.as_str(), gamma.clone()),
    ] {
        let (status, session) = try_folder(&app, folder).await;
        assert_eq!(status, StatusCode::CREATED, "{folder}");
        assert_eq!(session["workspace"], true_path, "{folder}");
    }
    let outside = outside.path().canonicalize().unwrap();
    let secret = outside.join("secret").display().to_string();
    let climbing = format!("alpha/../../{}", outside.file_name().unwrap().to_str().unwrap());
    for folder in ["..", "/", "/etc", "away", "away/secret", &secret, &climbing] {
        let (status, told) = try_folder(&app, folder).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{folder}");
        assert!(told.to_string().contains("outside the allowed folders"), "{folder}: {told}");
    }
    assert_eq!(try_folder(&app, "nowhere").await.0, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(try_folder(&app, "alphabet.txt").await.0, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn folders_are_completed_inside_the_roots() {
    let Place { app, other, outside } = place().await;
    let root = app.workspace.path().canonicalize().unwrap();
    let named = |names: &[&str]| names.iter().map(|it| below(&root, it)).collect::<Vec<_>>();
    assert_eq!(offered(&app, &below(&root, "al")).await, named(&["alpha", "alps"]));
    assert_eq!(offered(&app, "al").await, named(&["alpha", "alps"]));
    assert_eq!(offered(&app, &format!("{}/", root.display())).await, {
        named(&["across", "alpha", "alps", "beta"])
    });
    assert_eq!(offered(&app, "alpha/").await, named(&["alpha/one"]));
    assert_eq!(offered(&app, ".h").await, named(&[".hidden"]));
    assert!(offered(&app, "/").await.contains(&root.display().to_string()));
    assert!(offered(&app, "/").await.contains(&other.path().display().to_string()));
    let secret = below(outside.path(), "sec");
    for typed in ["away", "away/", "away/se", "..", "../", "/e", "/etc/", secret.as_str()] {
        let offered = offered(&app, typed).await;
        let inside = |path: &String| path.starts_with(root.to_str().unwrap());
        assert!(offered.iter().all(inside), "{typed}: {offered:?}");
        assert!(!offered.iter().any(|path| path.contains("away")), "{typed}: {offered:?}");
    }
}
