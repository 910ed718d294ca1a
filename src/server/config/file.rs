//! `throughline.toml`: which agents there are and where they may work.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::{AgentEntry, AgentKind, AgentsConfig};
use crate::domain::ids::LONGEST_ID;
use crate::server::agents::acp::AcpSettings;
use crate::server::agents::openai::OpenAiSettings;
use crate::server::agents::pi::PiSettings;
use crate::server::agents::{DEMO, presets};

/// The name that the file has in the data directory.
pub const FILE_NAME: &str = "throughline.toml";

/// Says what is wrong with the file, and in which line.
#[derive(Debug, thiserror::Error)]
#[error("{}, line {line}: {message}", file.display())]
pub struct FileError {
    pub file: PathBuf,
    pub line: usize,
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    roots: Vec<Spanned<PathBuf>>,
    idle_minutes: Option<u32>,
    #[serde(default)]
    agents: BTreeMap<Spanned<String>, Entry>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Acp,
    Pi,
    OpenAi,
    Demo,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    kind: Option<Kind>,
    name: Option<String>,
    description: Option<String>,
    command: Option<Spanned<String>>,
    arguments: Option<Vec<String>>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    folder: Option<Spanned<PathBuf>>,
    compress: Option<String>,
    base_url: Option<Spanned<String>>,
    model: Option<String>,
    key_variable: Option<Spanned<String>>,
    context: Option<u64>,
    #[serde(default = "yes")]
    enabled: bool,
}

fn yes() -> bool {
    true
}

/// Reads the file over what holds without it. A file that is wrong in any way is refused whole.
pub fn read(file: &Path, text: &str, config: &mut AgentsConfig) -> Result<(), FileError> {
    let reader = Reader { file, text };
    let parsed: File = toml::from_str(text)
        .map_err(|error| reader.error(error.span().unwrap_or_default(), error.message()))?;
    for root in &parsed.roots {
        config.roots.push(reader.folder(root)?);
    }
    if let Some(minutes) = parsed.idle_minutes {
        config.idle_after = Duration::from_secs(u64::from(minutes.max(1)) * 60);
    }
    let named = parsed.agents.into_iter().map(|(id, entry)| reader.entry(id, entry));
    let named = named.collect::<Result<Vec<_>, _>>()?;
    config.roots.extend(named.iter().filter_map(|entry| entry.folder.clone()));
    config.entries.retain(|known| named.iter().all(|entry| entry.id != known.id));
    config.entries.splice(0..0, named);
    Ok(())
}

struct Reader<'a> {
    file: &'a Path,
    text: &'a str,
}

impl Reader<'_> {
    fn entry(&self, id: Spanned<String>, entry: Entry) -> Result<AgentEntry, FileError> {
        let span = id.span();
        let id = id.into_inner();
        let plain =
            |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
        if id.is_empty() || id.len() > LONGEST_ID || !id.chars().all(plain) {
            let message = "an agent is named by letters, digits, dots and dashes";
            return Err(self.error(span, message));
        }
        let folder = entry.folder.as_ref().map(|folder| self.folder(folder)).transpose()?;
        let kind = match (entry.enabled, entry.kind) {
            (false, _) => AgentKind::Off,
            (true, Some(Kind::Demo) | None) if id == DEMO => AgentKind::Demo,
            (true, Some(Kind::Demo)) => {
                return Err(self.error(span, "the agent of kind demo is named demo"));
            }
            (true, Some(Kind::Pi)) => AgentKind::Pi(self.pi(id.clone(), entry)?),
            (true, None) if id == presets::PI => AgentKind::Pi(self.pi(id.clone(), entry)?),
            (true, Some(Kind::OpenAi)) => {
                AgentKind::OpenAi(self.openai(id.clone(), span, entry)?)
            }
            (true, None) if presets::model_servers().any(|known| known.id == id) => {
                AgentKind::OpenAi(self.openai(id.clone(), span, entry)?)
            }
            (true, Some(Kind::Acp) | None) => AgentKind::Acp(self.acp(&id, span, entry)?),
        };
        Ok(AgentEntry { id, kind, folder })
    }

    /// Fills in what the file leaves out from the agent known by that name.
    fn acp(&self, id: &str, span: Range<usize>, entry: Entry) -> Result<AcpSettings, FileError> {
        let known = presets::find(id);
        let command = match (self.command(&entry)?, &known) {
            (Some(command), _) => command,
            (None, Some(known)) => known.command.clone(),
            (None, None) => {
                let message = format!("the agent {id} needs a command: command = \"…\"");
                return Err(self.error(span, &message));
            }
        };
        let known = known.unwrap_or_else(|| AcpSettings {
            id: id.to_owned(),
            name: id.to_owned(),
            description: format!("Runs {command}."),
            command: String::new(),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            compress_command: "/compact".to_owned(),
            install: String::new(),
        });
        Ok(AcpSettings {
            command,
            name: entry.name.unwrap_or(known.name),
            description: entry.description.unwrap_or(known.description),
            arguments: entry.arguments.unwrap_or(known.arguments),
            environment: entry.environment,
            compress_command: entry.compress.unwrap_or(known.compress_command),
            ..known
        })
    }

    /// Fills in what the file leaves out from how pi is usually started.
    fn pi(&self, id: String, entry: Entry) -> Result<PiSettings, FileError> {
        let usual = presets::pi();
        Ok(PiSettings {
            command: self.command(&entry)?.unwrap_or(usual.command),
            name: entry.name.unwrap_or_else(|| id.clone()),
            description: entry.description.unwrap_or(usual.description),
            arguments: entry.arguments.unwrap_or_default(),
            environment: entry.environment,
            install: usual.install,
            id,
        })
    }

    /// Fills in what the file leaves out from the model server known by that name.
    fn openai(
        &self,
        id: String,
        span: Range<usize>,
        entry: Entry,
    ) -> Result<OpenAiSettings, FileError> {
        let known = presets::model_servers().find(|known| known.id == id);
        let named = entry.base_url.is_some();
        let base_url = match (&entry.base_url, &known) {
            (Some(url), _) if !is_web_address(url.get_ref()) => {
                return Err(self.error(url.span(), "base_url must begin with http:// or https://"));
            }
            (Some(url), _) => url.get_ref().clone(),
            (None, Some(known)) => known.base_url.clone(),
            (None, None) => {
                let message =
                    format!("the agent {id} needs an address: base_url = \"http://…/v1\"");
                return Err(self.error(span, &message));
            }
        };
        if let Some(name) = entry.key_variable.as_ref().filter(|it| !is_variable(it.get_ref())) {
            let message = "key_variable names an environment variable; the key itself does not \
                           belong in this file";
            return Err(self.error(name.span(), message));
        }
        let known = known.unwrap_or_default();
        Ok(OpenAiSettings {
            name: entry.name.unwrap_or_else(|| named_or(known.name, &id)),
            description: entry.description.unwrap_or_else(|| format!("A model at {base_url}.")),
            model: entry.model,
            key_variable: entry.key_variable.map(Spanned::into_inner),
            context: entry.context,
            start: known.start.filter(|_| !named),
            base_url,
            id,
        })
    }

    fn command(&self, entry: &Entry) -> Result<Option<String>, FileError> {
        let Some(command) = &entry.command else { return Ok(None) };
        if command.get_ref().trim().is_empty() {
            return Err(self.error(command.span(), "the command is empty"));
        }
        Ok(Some(expand(command.get_ref()).display().to_string()))
    }

    fn folder(&self, folder: &Spanned<PathBuf>) -> Result<PathBuf, FileError> {
        let path = expand(&folder.get_ref().to_string_lossy());
        if !path.is_absolute() {
            let message = format!("{} must begin with / or ~/", path.display());
            return Err(self.error(folder.span(), &message));
        }
        match path.canonicalize() {
            Ok(found) if found.is_dir() => Ok(found),
            Ok(_) => Err(self.error(folder.span(), &format!("{} is no folder", path.display()))),
            Err(_) => Err(self.error(folder.span(), &format!("{} does not exist", path.display()))),
        }
    }

    fn error(&self, span: Range<usize>, message: &str) -> FileError {
        let before = self.text.get(..span.start).unwrap_or_default();
        FileError {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            message: message.to_owned(),
        }
    }
}

fn named_or(name: String, id: &str) -> String {
    if name.is_empty() { id.to_owned() } else { name }
}

fn is_web_address(url: &str) -> bool {
    url.starts_with("http://") || url.starts_with("https://")
}

fn is_variable(name: &str) -> bool {
    let fits = |character: char| character.is_ascii_alphanumeric() || character == '_';
    !name.is_empty() && name.chars().all(fits)
}

/// Puts the home folder in place of `~/`.
fn expand(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => PathBuf::from(path),
    }
}
