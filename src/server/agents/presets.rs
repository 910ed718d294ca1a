//! Agents that are known by name, and how each is started.

use std::collections::BTreeMap;

use super::acp::AcpSettings;
use super::openai::OpenAiSettings;
use super::pi::PiSettings;

/// The id under which pi is known.
pub const PI: &str = "pi";

struct Preset {
    id: &'static str,
    name: &'static str,
    description: &'static str,
    command: &'static str,
    arguments: &'static [&'static str],
    compress_command: &'static str,
    install: &'static str,
}

const PRESETS: [Preset; 6] = [
    Preset {
        id: "claude",
        name: "Claude Code",
        description: "Anthropic's coding agent.",
        command: "claude-agent-acp",
        arguments: &[],
        compress_command: "/compact",
        install: "Install it with: npm install --global @agentclientprotocol/claude-agent-acp",
    },
    Preset {
        id: "codex",
        name: "Codex",
        description: "OpenAI's coding agent.",
        command: "codex-acp",
        arguments: &[],
        compress_command: "/compact",
        install: "Install it with: npm install --global @agentclientprotocol/codex-acp",
    },
    Preset {
        id: "gemini",
        name: "Gemini CLI",
        description: "Google's coding agent.",
        command: "gemini",
        arguments: &["--acp"],
        compress_command: "/compress",
        install: "Install it with: npm install --global @google/gemini-cli",
    },
    Preset {
        id: "goose",
        name: "goose",
        description: "An open agent for many models.",
        command: "goose",
        arguments: &["acp"],
        compress_command: "/compact",
        install: "Its site tells how to install it; then run: goose configure",
    },
    Preset {
        id: "hermes",
        name: "Hermes",
        description: "Nous Research's agent.",
        command: "hermes-acp",
        arguments: &[],
        compress_command: "/compact",
        install: "Install it with: pip install \"hermes-agent[acp]\"",
    },
    Preset {
        id: "opencode",
        name: "opencode",
        description: "An open coding agent for many models.",
        command: "opencode",
        arguments: &["acp"],
        compress_command: "/compact",
        install: "Install it with: npm install --global opencode-ai",
    },
];

impl Preset {
    fn settings(&self) -> AcpSettings {
        AcpSettings {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            command: self.command.to_owned(),
            arguments: self.arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            environment: BTreeMap::new(),
            compress_command: self.compress_command.to_owned(),
            install: self.install.to_owned(),
        }
    }
}

/// Gives the settings of every agent that is known by name and speaks ACP.
pub fn all() -> impl Iterator<Item = AcpSettings> {
    PRESETS.iter().map(Preset::settings)
}

/// Gives the settings of one of them.
pub fn find(id: &str) -> Option<AcpSettings> {
    PRESETS.iter().find(|preset| preset.id == id).map(Preset::settings)
}

/// Gives the settings of pi.
pub fn pi() -> PiSettings {
    PiSettings {
        id: PI.to_owned(),
        name: PI.to_owned(),
        description: "A small open coding agent for many models.".to_owned(),
        command: PI.to_owned(),
        arguments: Vec::new(),
        environment: BTreeMap::new(),
        install: "Install it with: npm install --global @earendil-works/pi-coding-agent".to_owned(),
    }
}

struct ModelServer {
    id: &'static str,
    name: &'static str,
    port: u16,
    start: &'static str,
}

const MODEL_SERVERS: [ModelServer; 4] = [
    ModelServer { id: "ollama", name: "Ollama", port: 11434, start: "Start it with: ollama serve" },
    ModelServer {
        id: "llama.cpp",
        name: "llama.cpp",
        port: 8080,
        start: "Start it with: llama-server --jinja --model FILE",
    },
    ModelServer {
        id: "lm-studio",
        name: "LM Studio",
        port: 1234,
        start: "Start its server with: lms server start",
    },
    ModelServer { id: "vllm", name: "vLLM", port: 8000, start: "Start it with: vllm serve MODEL" },
];

impl ModelServer {
    fn settings(&self) -> OpenAiSettings {
        OpenAiSettings {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            description: "Models that run on this machine.".to_owned(),
            base_url: format!("http://127.0.0.1:{}/v1", self.port),
            start: Some(self.start.to_owned()),
            ..OpenAiSettings::default()
        }
    }
}

/// Gives the model servers that are looked for at their usual places on this machine.
pub fn model_servers() -> impl Iterator<Item = OpenAiSettings> {
    MODEL_SERVERS.iter().map(ModelServer::settings)
}
