//! Under which addresses the server answers, and to whom.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::time::Duration;

use clap::Args;

use super::ConfigError;
use crate::server::auth::password::PasswordFile;
use crate::server::auth::secret::Secret;

/// A device that was not seen for so long must sign in again.
const STAY_SIGNED_IN: Duration = Duration::from_secs(90 * 24 * 3600);

#[derive(Debug, Clone, Args)]
pub struct AccessOptions {
    /// Name or address under which the server is reached, such as throughline.example; may be
    /// repeated
    #[arg(long = "host", env = "THROUGHLINE_HOST", value_name = "NAME", value_delimiter = ',')]
    pub hosts: Vec<String>,

    /// Believe the X-Forwarded-Proto and X-Forwarded-For that a proxy in front of the server sends
    #[arg(long, env = "THROUGHLINE_TRUST_PROXY", num_args = 0..=1, default_missing_value = "1", value_parser = clap::builder::FalseyValueParser::new())]
    pub trust_proxy: bool,

    /// Secret that programs send as `Authorization: Bearer …`, and that signs browsers in like a
    /// password; better given by the environment than on the command line
    #[arg(long, env = "THROUGHLINE_TOKEN", hide_env_values = true, value_name = "SECRET")]
    pub token: Option<Secret>,
}

#[derive(Debug, Clone)]
pub struct AccessConfig {
    /// Whether other machines may reach the server.
    pub reachable: bool,
    /// Names besides those of this machine that the server answers to.
    pub hosts: Vec<String>,
    pub trust_proxy: bool,
    pub token: Option<Secret>,
    pub stay_signed_in: Duration,
}

impl Default for AccessConfig {
    /// Answers this machine alone.
    fn default() -> Self {
        Self {
            reachable: false,
            hosts: Vec::new(),
            trust_proxy: false,
            token: None,
            stay_signed_in: STAY_SIGNED_IN,
        }
    }
}

impl AccessConfig {
    /// Settles who is let in. Whatever others can reach, be it through a proxy, needs a login.
    pub fn settle(
        options: AccessOptions,
        address: SocketAddr,
        data_dir: &Path,
    ) -> Result<Self, ConfigError> {
        let AccessOptions { hosts, trust_proxy, token } = options;
        let local = address.ip().is_loopback();
        let needed = !local || trust_proxy || hosts.iter().any(|host| !is_this_machine(host));
        if needed && token.is_none() && !PasswordFile::of(data_dir).exists() {
            return Err(ConfigError::NoLogin(address));
        }
        Ok(Self { reachable: !local, hosts, trust_proxy, token, ..Self::default() })
    }

    /// Tells whether a `Host` is this server's own. A name that somebody made to point here is not;
    /// a bare address cannot be made to, so any will do where others may come at all.
    pub fn answers_to(&self, host: &str) -> bool {
        let name = name_of(host);
        let named =
            |known: &String| known.eq_ignore_ascii_case(host) || known.eq_ignore_ascii_case(name);
        is_this_machine(name)
            || self.hosts.iter().any(named)
            || (self.reachable && address_of(name).is_some())
    }

    /// Gives the address under which a phone finds the server that listens at an address.
    pub fn public_address(&self, listening: SocketAddr) -> String {
        match self.hosts.first() {
            Some(host) if self.trust_proxy => format!("https://{host}"),
            Some(host) if host.contains(':') => format!("http://{host}"),
            Some(host) => format!("http://{host}:{}", listening.port()),
            None => {
                let seen = outward_address().filter(|_| listening.ip().is_unspecified());
                let ip = seen.unwrap_or(listening.ip());
                format!("http://{}", SocketAddr::new(ip, listening.port()))
            }
        }
    }
}

/// Takes the port away.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn address_of(name: &str) -> Option<IpAddr> {
    match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        Some(bare) => bare.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => name.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
    }
}

fn is_this_machine(host: &str) -> bool {
    let name = name_of(host);
    name.eq_ignore_ascii_case("localhost") || address_of(name).is_some_and(|it| it.is_loopback())
}

/// Finds the address that this machine has in its network; no packet is sent for that.
fn outward_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}
