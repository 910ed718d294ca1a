//! The real binary as a process of its own.

use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

pub const BINARY: &str = env!("CARGO_BIN_EXE_throughline");

/// A server that answers requests; it is killed when the test lets go of it.
pub struct LiveProcess {
    child: Child,
    pub base: String,
}

impl LiveProcess {
    pub async fn start(data: &Path) -> Self {
        Self::ready(Self::spawn(data)).await
    }

    /// Starts a server without waiting until it is ready.
    pub fn spawn(data: &Path) -> Child {
        let mut command = Command::new(BINARY);
        Self::served(&mut command, data).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Gives a command the arguments of a server.
    pub fn served<'a>(command: &'a mut Command, data: &Path) -> &'a mut Command {
        command
            .args(["serve", "--addr", "127.0.0.1:0", "--demo-pace", "0"])
            .arg("--data-dir")
            .arg(data)
            .args(["--workspace", env!("CARGO_MANIFEST_DIR")])
            // Whatever else this machine has to offer.
            .env("THROUGHLINE_AGENT", "demo")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
    }

    /// Waits until a server says where it is.
    pub async fn ready(mut child: Child) -> Self {
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.next_line().await.unwrap().expect("the server should have started");
        let base = line.strip_prefix("Throughline is ready at ").unwrap().to_owned();
        Self { child, base }
    }

    /// Sends a signal by its name, such as TERM.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().expect("the server runs").to_string();
        let sent = std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits until the process has ended.
    pub async fn wait(&mut self) -> std::process::ExitStatus {
        self.child.wait().await.unwrap()
    }

    /// Ends the process with SIGKILL.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}
