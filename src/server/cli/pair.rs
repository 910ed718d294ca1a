//! `throughline pair`: a code that signs a phone in.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;

use super::data::DataOptions;
use crate::server::auth::offer_pairing;
use crate::server::store::Store;

/// Where a running server says how it is reached.
const ADDRESS: &str = "address";

#[derive(Debug, Args)]
pub struct PairOptions {
    #[command(flatten)]
    data: DataOptions,
    /// Address at which the phone finds the server [default: what the server said when it started]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

/// Prints a code that signs in once, within five minutes.
pub async fn run(options: PairOptions) -> anyhow::Result<ExitCode> {
    let folder = options.data.existing()?;
    let base = match options.url {
        Some(url) => url,
        None => std::fs::read_to_string(folder.join(ADDRESS))
            .context("no server was started yet: start it, or name its address with --url")?,
    };
    let store = Store::open_beside_server(folder).await?;
    let code = offer_pairing(&store).await?;
    store.close().await;
    let address = format!("{}/pair?code={}", base.trim().trim_end_matches('/'), code.reveal());
    let picture = QrCode::new(&address)?.render::<Dense1x2>().build();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{picture}\n\n{address}\n")?;
    writeln!(out, "Scan it with the phone's camera. It signs one device in, within five minutes.")?;
    Ok(ExitCode::SUCCESS)
}

/// Lets `throughline pair` know how the server that starts now is reached.
pub fn remember_address(data_dir: &Path, address: &str) -> std::io::Result<()> {
    std::fs::write(data_dir.join(ADDRESS), address)
}
