//! `throughline.toml`, as a person writes it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;
use throughline::server::agents::programs::Programs;
use throughline::server::config::{AgentKind, AgentsConfig};

use crate::live_process::BINARY;

fn read(text: &str) -> Result<AgentsConfig, String> {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("throughline.toml");
    std::fs::write(&file, text).unwrap();
    let mut config = AgentsConfig::new(Programs::default(), PathBuf::from(BINARY));
    config.read_file(&file).map_err(|error| error.to_string())?;
    Ok(config)
}

fn check_error(text: &str, line: usize, words: &str) {
    let told = read(text).map(drop).expect_err(text);
    assert!(told.contains(&format!("throughline.toml, line {line}: ")), "{text}\n{told}");
    assert!(told.contains(words), "{text}\n{told}");
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    check_error("roots = [\n  \"/\",\n  \"/nowhere-at-all\",\n]\n", 3, "does not exist");
    check_error("\nroots = [\"relative\"]", 2, "must begin with /");
    check_error("roots = [\"/etc/passwd\"]", 1, "is no folder");
    check_error("[agents.mine]\nname = \"Mine\"\n", 1, "needs a command");
    check_error("[agents.goose]\n\ncommand = \"\"\n", 3, "the command is empty");
    check_error("# all of them\n[agents.goose]\nkind = \"telepathy\"", 3, "telepathy");
    check_error("[agents.goose]\ncomand = \"goose\"", 2, "comand");
    check_error("[agents.goose]\narguments = \"acp\"", 2, "string");
    check_error("[agents.goose]\n[agents.codex]\n[agents.goose]\n", 3, "duplicate");
    check_error("idle_minutes = 5\ncolour = \"blue\"", 2, "colour");
    check_error("[agents.\"my agent\"]\ncommand = \"x\"", 1, "letters");
    check_error("[agents.goose]\nfolder = \"/nowhere\"", 2, "does not exist");
    check_error("[agents.other]\nkind = \"demo\"", 1, "is named demo");
    check_error("[agents.big]\nkind = \"openai\"\nmodel = \"x\"", 1, "needs an address");
    check_error(
        "[agents.big]\nkind = \"openai\"\n\nbase_url = \"ftp://x\"",
        4,
        "must begin with http",
    );
    let key =
        "[agents.big]\nkind = \"openai\"\nbase_url = \"http://x/v1\"\nkey_variable = \"sk-12\"";
    check_error(key, 4, "does not belong in this file");
    check_error("roots = [", 1, "");
}

#[test]
fn an_agent_known_by_name_needs_only_what_differs() {
    let config = read("[agents.goose]\nenvironment = { GOOSE_MODE = \"approve\" }").unwrap();
    let goose = config.entries.first().unwrap();
    let AgentKind::Acp(settings) = &goose.kind else { panic!("{goose:?}") };
    assert_eq!((settings.command.as_str(), settings.name.as_str()), ("goose", "goose"));
    assert_eq!(settings.arguments, ["acp"]);
    assert_eq!(settings.environment["GOOSE_MODE"], "approve");
    assert_eq!(config.entries.iter().filter(|entry| entry.id == "goose").count(), 1);
}

#[test]
fn everything_can_be_said_of_an_agent() {
    let folder = TempDir::new().unwrap();
    let true_path = folder.path().canonicalize().unwrap();
    let text = format!(
        "roots = [{true_path:?}]\nidle_minutes = 3\n\n[agents.mine]\nkind = \"acp\"\nname = \"Mine\"\n\
         description = \"My own.\"\ncommand = \"/opt/mine\"\narguments = [\"--acp\", \"-v\"]\n\
         folder = {true_path:?}\ncompress = \"/shorten\"\n\n[agents.codex]\nenabled = false\n"
    );
    let config = read(&text).unwrap();
    assert_eq!(config.idle_after.as_secs(), 180);
    assert!(config.roots.contains(&true_path));
    let mine = config.entries.iter().find(|entry| entry.id == "mine").unwrap();
    let AgentKind::Acp(settings) = &mine.kind else { panic!("{mine:?}") };
    assert_eq!(settings.command, "/opt/mine");
    assert_eq!(settings.arguments, ["--acp", "-v"]);
    assert_eq!(settings.compress_command, "/shorten");
    assert_eq!(mine.folder.as_ref(), Some(&true_path));
    let codex = config.entries.iter().find(|entry| entry.id == "codex").unwrap();
    assert!(matches!(codex.kind, AgentKind::Off));
}

#[test]
fn pi_and_model_servers_are_told_by_their_kind_or_name() {
    let text = "[agents.pi]\narguments = [\"--no-skills\"]\n\n[agents.mine]\nkind = \"pi\"\n\
                command = \"/opt/pi\"\n\n[agents.ollama]\nmodel = \"small\"\n\n[agents.hosted]\n\
                kind = \"openai\"\nbase_url = \"https://models.example/v1\"\nkey_variable = \"MY_KEY\"\n\
                context = 32000\n";
    let config = read(text).unwrap();
    let kind_of = |id: &str| &config.entries.iter().find(|entry| entry.id == id).unwrap().kind;
    let AgentKind::Pi(pi) = kind_of("pi") else { panic!("{:?}", kind_of("pi")) };
    assert_eq!((pi.command.as_str(), pi.arguments.len()), ("pi", 1));
    let AgentKind::Pi(mine) = kind_of("mine") else { panic!("{:?}", kind_of("mine")) };
    assert_eq!((mine.command.as_str(), mine.name.as_str()), ("/opt/pi", "mine"));
    let AgentKind::OpenAi(ollama) = kind_of("ollama") else { panic!("{:?}", kind_of("ollama")) };
    assert_eq!(ollama.base_url, "http://127.0.0.1:11434/v1");
    assert_eq!((ollama.model.as_deref(), ollama.start.is_some()), (Some("small"), true));
    let AgentKind::OpenAi(hosted) = kind_of("hosted") else { panic!("{:?}", kind_of("hosted")) };
    assert_eq!(hosted.key_variable.as_deref(), Some("MY_KEY"));
    assert_eq!((hosted.context, hosted.start.is_some()), (Some(32000), false));
}

#[test]
fn a_server_does_not_start_with_a_file_that_is_wrong() {
    let data = TempDir::new().unwrap();
    let file = data.path().join("mine.toml");
    std::fs::write(&file, "[agents.goose]\nkind = 7\n").unwrap();
    let started = Command::new(BINARY)
        .args(["serve", "--addr", "127.0.0.1:0", "--config"])
        .arg(&file)
        .arg("--data-dir")
        .arg(data.path().join("data"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!started.status.success());
    let words = String::from_utf8(started.stderr).unwrap();
    assert!(words.contains("mine.toml, line 2"), "{words}");
}

#[test]
fn an_agent_that_there_is_not_cannot_be_the_usual_one() {
    let data = TempDir::new().unwrap();
    let started = Command::new(BINARY)
        .args(["serve", "--addr", "127.0.0.1:0", "--agent", "nobody", "--data-dir"])
        .arg(data.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!started.status.success());
    let words = String::from_utf8(started.stderr).unwrap();
    assert!(words.contains("no agent named \"nobody\""), "{words}");
}
