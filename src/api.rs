//! The functions that pages call on the server, one file a resource.
//!
//! Rule at the door: a dozen lines each. Take the services, call one, map the error. The server's
//! modules are named inside the bodies only, for the browser knows just the signatures.

pub mod agents;
pub mod lineage;
pub mod lists;
pub mod recovery;
pub mod sessions;
pub mod settings;
