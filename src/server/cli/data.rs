//! Which data directory a command works on.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::server::config::default_data_dir;

#[derive(Debug, Args)]
pub struct DataOptions {
    /// Where conversations and attachments are kept
    #[arg(long, env = "THROUGHLINE_DATA_DIR", default_value_os_t = default_data_dir(), value_name = "FOLDER")]
    data_dir: PathBuf,
}

impl DataOptions {
    /// Names the data directory, be it there or not.
    pub fn folder(&self) -> &Path {
        &self.data_dir
    }

    /// Names a data directory that is there already; a mistyped one must not be made.
    pub fn existing(&self) -> anyhow::Result<&Path> {
        let folder = &self.data_dir;
        anyhow::ensure!(
            folder.join("throughline.db").is_file(),
            "{} is no data directory of Throughline",
            folder.display()
        );
        Ok(folder)
    }
}
