//! What agents with a process of their own need of the server.

use std::path::PathBuf;
use std::time::Duration;

use super::programs::Programs;
use crate::server::blobs::Blobs;

#[derive(Debug, Clone)]
pub struct Household {
    pub keeper: PathBuf,
    pub programs: Programs,
    pub blobs: Blobs,
    /// How long a process may do nothing before it is let go.
    pub idle_after: Duration,
}

impl Household {
    /// Says what is missing, where a program is not there.
    pub fn missing(&self, command: &str, install: &str) -> Option<String> {
        match self.programs.find(command) {
            Some(_) => None,
            None => {
                Some(format!("The program {command} was not found. {install}").trim().to_owned())
            }
        }
    }
}
