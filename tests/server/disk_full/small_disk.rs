//! A server in a mount namespace of its own, whose data is on a small disk in memory.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::process::Command;

use crate::live_process::{BINARY, LiveProcess};

pub struct SmallDisk {
    pub server: LiveProcess,
    /// Where the disk is mounted, inside the namespace.
    place: TempDir,
    /// Keeps the namespace while the server is killed and started again.
    keeper: tokio::process::Child,
}

fn is_skipped() -> bool {
    let skipped = std::env::var_os("THROUGHLINE_SKIP_TMPFS").is_some_and(|value| value == "1");
    if skipped {
        println!("passed over: THROUGHLINE_SKIP_TMPFS is set");
    }
    skipped
}

/// Runs something in a new namespace, after a script that mounts the disk.
fn unshare(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", script]).stdin(Stdio::piped()).kill_on_drop(true);
    command
}

impl SmallDisk {
    /// Mounts a disk of a size and starts a server on it; `None` where that is to be passed over.
    pub async fn mount(size: &str) -> Option<Self> {
        if is_skipped() {
            return None;
        }
        let place = TempDir::new().unwrap();
        let at = place.path().display();
        let script = format!(
            "mount -t tmpfs -o size={size} tmpfs {at} && mkdir {at}/data && echo mounted && exec cat"
        );
        let mut keeper = unshare(&script).stdout(Stdio::piped()).spawn().unwrap();
        let mut words = tokio::io::BufReader::new(keeper.stdout.take().unwrap());
        let mut line = String::new();
        tokio::io::AsyncBufReadExt::read_line(&mut words, &mut line).await.unwrap();
        assert_eq!(
            line, "mounted\n",
            "this test needs to mount a tmpfs in a namespace of its own; where that is not \
             permitted, set THROUGHLINE_SKIP_TMPFS=1"
        );
        let server = serve(keeper.id().unwrap(), place.path()).await;
        Some(Self { server, place, keeper })
    }

    pub async fn kill_and_restart(self) -> Self {
        self.server.kill().await;
        let server = serve(self.keeper.id().unwrap(), self.place.path()).await;
        Self { server, ..self }
    }

    fn outside(&self) -> PathBuf {
        seen_from_outside(self.keeper.id().unwrap(), self.place.path())
    }

    /// The data directory, as the test can reach it.
    pub fn data(&self) -> PathBuf {
        self.outside().join("data")
    }

    /// Leaves no room at all.
    pub fn fill(&self) {
        let mut ballast = File::create(self.outside().join("ballast")).unwrap();
        for size in [64 << 10, 4 << 10, 1] {
            while ballast.write_all(&vec![0; size]).is_ok() {}
        }
    }

    /// Leaves room for about so many bytes.
    pub fn fill_but(&self, room: usize) {
        fs::write(self.outside().join("room"), vec![0; room]).unwrap();
        self.fill();
        fs::remove_file(self.outside().join("room")).unwrap();
    }

    pub fn free(&self) {
        fs::remove_file(self.outside().join("ballast")).unwrap();
    }

    /// Lets nothing in the data directory be opened for writing; what is open stays so.
    pub fn make_read_only(&self) {
        let data = self.place.path().join("data");
        let data = data.display();
        self.inside(&format!("mount --bind {data} {data} && mount -o remount,bind,ro {data}"));
    }

    pub fn make_writable(&self) {
        self.inside(&format!("umount -l {}", self.place.path().join("data").display()));
    }

    fn inside(&self, script: &str) {
        let keeper = self.keeper.id().unwrap().to_string();
        let done = std::process::Command::new("nsenter")
            .args(["-t", &keeper, "-U", "-m", "--preserve-credentials", "sh", "-c", script])
            .status();
        assert!(done.unwrap().success(), "{script}");
    }
}

async fn serve(keeper: u32, place: &Path) -> LiveProcess {
    let mut command = Command::new("nsenter");
    command.args(["-t", &keeper.to_string(), "-U", "-m", "--preserve-credentials", BINARY]);
    let child = LiveProcess::served(&mut command, &place.join("data")).stderr(Stdio::null());
    LiveProcess::ready(child.spawn().unwrap()).await
}

fn seen_from_outside(process: u32, path: &Path) -> PathBuf {
    Path::new(&format!("/proc/{process}/root")).join(path.strip_prefix("/").unwrap())
}

/// Starts a server on a data directory that cannot be written to, and gives what it says.
pub async fn start_on_read_only() -> Option<String> {
    if is_skipped() {
        return None;
    }
    let place = TempDir::new().unwrap();
    let at = place.path().display();
    let script = format!(
        "mount -t tmpfs -o size=1m tmpfs {at} && mkdir {at}/data && mount -o remount,ro {at} && \
         exec {BINARY} serve --addr 127.0.0.1:0 --data-dir {at}/data"
    );
    let output = unshare(&script).stdin(Stdio::null()).output().await.unwrap();
    assert!(!output.status.success());
    Some(String::from_utf8(output.stderr).unwrap())
}
