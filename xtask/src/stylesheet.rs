//! Joins the stylesheets that `style/main.css` imports into one, layer by layer.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::css::{Token, tokens};

/// Reads a stylesheet and puts every file it imports in the place of the import.
pub fn bundle(path: &Path) -> Result<String> {
    let mut bundled = String::new();
    inline(path, &mut Vec::new(), &mut bundled)?;
    Ok(bundled)
}

fn inline(path: &Path, importers: &mut Vec<PathBuf>, bundled: &mut String) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if importers.iter().any(|importer| importer == path) {
        bail!("the stylesheet {name} imports itself");
    }
    let text = fs::read_to_string(path)
        .with_context(|| format!("could not read the stylesheet {}", path.display()))?;
    let directory = path.parent().unwrap_or(Path::new(""));
    importers.push(path.to_path_buf());

    let mut rest = tokens(&text).into_iter();
    while let Some(token) = rest.next() {
        if token != Token::Word("@import") {
            token.write(bundled);
            continue;
        }
        let statement: Vec<_> =
            rest.by_ref().take_while(|token| *token != Token::Symbol(';')).collect();
        let import = Import::parse(&statement).with_context(|| format!("in {name}"))?;
        bundled.push_str(&import.opening());
        inline(&directory.join(&import.file), importers, bundled)?;
        bundled.push_str(import.closing());
    }
    importers.pop();
    Ok(())
}

/// What stands between `@import` and its semicolon.
struct Import {
    file: String,
    /// Everything behind the file's name: nothing, `layer` or `layer(name)`.
    condition: String,
}

impl Import {
    fn parse(statement: &[Token]) -> Result<Self> {
        let mut parts = statement
            .iter()
            .copied()
            .filter(|token| !matches!(token, Token::Space(_) | Token::Comment(_)));
        let Some(Token::Literal(file)) = parts.next() else {
            bail!("an @import must name its file in quotes");
        };
        let file = file.trim_matches(['"', '\'']).to_owned();
        if file.contains("://") || file.starts_with('/') || file.contains('(') {
            bail!("only files beside the stylesheet can be imported, not {file}");
        }
        let mut condition = String::new();
        parts.for_each(|token| token.write(&mut condition));
        let layer = condition.is_empty()
            || condition == "layer"
            || (condition.starts_with("layer(")
                && condition.find(')') == Some(condition.len() - 1));
        if !layer {
            bail!("the import of {file} may only be put in a layer, not under {condition}");
        }
        Ok(Self { file, condition })
    }

    fn opening(&self) -> String {
        let name = self.condition.trim_start_matches("layer");
        let name = name.trim_matches(['(', ')']);
        match (self.condition.is_empty(), name.is_empty()) {
            (true, _) => format!("/* {} */\n", self.file),
            (false, true) => format!("/* {} */\n@layer {{\n", self.file),
            (false, false) => format!("/* {} */\n@layer {name} {{\n", self.file),
        }
    }

    fn closing(&self) -> &'static str {
        if self.condition.is_empty() { "\n" } else { "}\n" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(statement: &str) -> Option<String> {
        Import::parse(&tokens(statement)).ok().map(|import| import.opening())
    }

    #[test]
    fn an_import_becomes_the_layer_it_names() {
        let plain = opening(r#" "reset.css""#);
        assert_eq!(plain.as_deref(), Some("/* reset.css */\n"));
        let layered = opening(r#" "reset.css" layer( base.reset )"#);
        let expected = "/* reset.css */\n@layer base.reset {\n";
        assert_eq!(layered.as_deref(), Some(expected));
        let unnamed = opening(r#" 'reset.css' layer"#);
        assert_eq!(unnamed.as_deref(), Some("/* reset.css */\n@layer {\n"));
    }

    #[test]
    fn an_import_that_would_lose_its_meaning_is_refused() {
        for statement in [
            r#" "reset.css" screen"#,
            r#" "reset.css" layer(base) supports(display: grid)"#,
            r#" "https://example.org/reset.css""#,
            " url(reset.css)",
            "",
        ] {
            assert_eq!(opening(statement), None, "{statement}");
        }
    }
}
