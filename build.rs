//! Puts the site inside the server binary when `THROUGHLINE_EMBED` names its directory.

use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const MIGRATIONS: &str = "src/server/store/migrations";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=THROUGHLINE_EMBED");
    // Cargo takes a path that is not there for one that has just changed.
    if Path::new(MIGRATIONS).exists() {
        println!("cargo::rerun-if-changed={MIGRATIONS}");
    }
    let embedded = match env::var_os("THROUGHLINE_EMBED") {
        Some(site) => embed(Path::new(&site))?,
        None => code("\"\"", ""),
    };
    let output = env::var_os("OUT_DIR").ok_or("Cargo gave no output directory")?;
    fs::write(Path::new(&output).join("embedded.rs"), embedded)?;
    Ok(())
}

/// Writes the code that holds every file of a site, with the packed copies beside it.
fn embed(site: &Path) -> Result<String, Box<dyn Error>> {
    let manifest = site.join("assets.json");
    // The manifest names the hash of every file, so it changes with any of them.
    println!("cargo::rerun-if-changed={}", manifest.display());
    if !manifest.is_file() {
        return Err(format!("{} is missing: run `cargo xtask dist`", manifest.display()).into());
    }
    let mut entries = String::new();
    for file in files_in(site)? {
        let packed = ["br", "gz"].iter().any(|extension| {
            file.extension().is_some_and(|found| found == *extension)
                && file.with_extension("").is_file()
        });
        if packed || file == manifest {
            continue;
        }
        let name = file.strip_prefix(site)?.to_string_lossy().replace('\\', "/");
        writeln!(
            entries,
            "    ({:?}, include_bytes!({file:?}), {}, {}),",
            format!("/{name}"),
            packed_copy(&file, "br"),
            packed_copy(&file, "gz"),
        )?;
    }
    Ok(code(&format!("include_str!({manifest:?})"), &entries))
}

fn code(manifest: &str, entries: &str) -> String {
    format!(
        "/// Holds `assets.json`, or nothing when the site lies in a directory of its own.\n\
         pub static MANIFEST: &str = {manifest};\n\n\
         /// Path, content, and the content packed with Brotli and with gzip.\n\
         pub type EmbeddedFile = (&'static str, &'static [u8], Option<&'static [u8]>, Option<&'static [u8]>);\n\n\
         /// Every file of the site but the manifest.\n\
         pub static FILES: &[EmbeddedFile] = &[\n{entries}];\n"
    )
}

fn packed_copy(file: &Path, extension: &str) -> String {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    let path = PathBuf::from(name);
    if path.is_file() { format!("Some(include_bytes!({path:?}))") } else { String::from("None") }
}

fn files_in(directory: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_in(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
