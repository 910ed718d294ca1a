//! Who may talk to the server.
//!
//! `guard` turns away what another site's page could have caused. Where a password or a token is
//! set, `gate` lets nobody through who is not signed in: a browser by its cookie, a program by the
//! token. Without either the server answers its own machine alone, and everyone there is let in.

mod attempts;
mod caller;
pub mod gate;
pub mod guard;
pub mod password;
pub mod secret;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use tokio::sync::{Semaphore, watch};

use self::attempts::Attempts;
use self::password::PasswordFile;
use self::secret::Secret;
use super::config::{AccessConfig, Config};
use super::error::ServiceError;
use super::mint;
use super::store::{Device, Store, StoreError};
use crate::domain::time::Timestamp;
use crate::wire::error::FailureCode;

pub use caller::device_name;

/// How exactly it is known when a device was last seen.
const SEEN_EVERY_MILLIS: i64 = 3_600_000;

/// How long a code that signs a device in is good.
const PAIRING_MILLIS: i64 = 5 * 60 * 1000;

/// Who a request is from, once that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedIn {
    /// A browser, by the id of its device.
    Device(String),
    /// A program that has the token.
    Program,
}

/// Why somebody is not signed in.
#[derive(Debug)]
pub enum NotSignedIn {
    Wrong,
    /// There were too many tries; this long no other is looked at.
    Wait(Duration),
    Failed(ServiceError),
}

/// Knows the password, the token and the devices that are signed in.
#[derive(Clone)]
pub struct Auth {
    access: Arc<AccessConfig>,
    password: PasswordFile,
    store: Store,
    required: bool,
    attempts: Arc<Attempts>,
    /// Hashing takes much memory, so few do it at the same time.
    hashing: Arc<Semaphore>,
    /// Fires when a device is signed out.
    signed_out: watch::Sender<()>,
}

impl Auth {
    pub fn new(config: &Config, store: Store) -> Self {
        let password = PasswordFile::of(&config.data_dir);
        Self {
            required: config.access.token.is_some() || password.exists(),
            access: Arc::new(config.access.clone()),
            password,
            store,
            attempts: Arc::default(),
            hashing: Arc::new(Semaphore::new(2)),
            signed_out: watch::channel(()).0,
        }
    }

    /// Tells whether one must be signed in.
    pub fn is_required(&self) -> bool {
        self.required
    }

    /// Finds out who a request is from.
    pub async fn identify(
        &self,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Result<SignedIn, NotSignedIn> {
        if let Some(given) = caller::bearer(headers) {
            let token = self.access.token.as_ref().ok_or(NotSignedIn::Wrong)?;
            if token.is(given) {
                return Ok(SignedIn::Program);
            }
            let address = caller::address(&self.access, headers, extensions);
            self.begin(address)?;
            return Err(NotSignedIn::Wrong);
        }
        let secret = caller::cookie(headers).ok_or(NotSignedIn::Wrong)?;
        let device = self.store.device_by_secret(&secret::hash(secret)).await?;
        let now = mint::now();
        let device = device.filter(|device| device.last_seen_at >= self.oldest(now));
        let device = device.ok_or(NotSignedIn::Wrong)?;
        if now.millis() - device.last_seen_at.millis() >= SEEN_EVERY_MILLIS {
            self.store.touch_device(&device.device_id, now).await?;
        }
        Ok(SignedIn::Device(device.device_id))
    }

    /// Signs a browser in by the password, or by the token in its place, and gives its cookie.
    pub async fn sign_in(&self, request: &Parts, given: String) -> Result<String, NotSignedIn> {
        let address = caller::address(&self.access, &request.headers, &request.extensions);
        self.begin(address)?;
        let is_token = self.access.token.as_ref().is_some_and(|token| token.is(&given));
        if !is_token && !self.is_password(given).await? {
            return Err(NotSignedIn::Wrong);
        }
        self.attempts.succeeded(address);
        self.add_device(&request.headers).await
    }

    /// Signs a browser in by a code, which is then used up, and gives its cookie.
    pub async fn pair(&self, request: &Parts, code: &str) -> Result<String, NotSignedIn> {
        let address = caller::address(&self.access, &request.headers, &request.extensions);
        self.begin(address)?;
        if !self.store.take_pairing(&secret::hash(code), mint::now()).await? {
            return Err(NotSignedIn::Wrong);
        }
        self.attempts.succeeded(address);
        self.add_device(&request.headers).await
    }

    /// Signs a device out wherever it is connected, and tells whether there was one.
    pub async fn sign_out(&self, device_id: &str) -> Result<bool, ServiceError> {
        let removed = self.store.remove_device(device_id).await?;
        self.signed_out.send_replace(());
        Ok(removed)
    }

    /// Gives the cookie that makes a browser forget its own.
    pub fn forgetting_cookie(&self, headers: &HeaderMap) -> String {
        caller::signed_out_cookie(&self.access, headers)
    }

    /// Lists the devices that are signed in, the last seen first.
    pub async fn devices(&self) -> Result<Vec<Device>, ServiceError> {
        Ok(self.store.devices_since(self.oldest(mint::now())).await?)
    }

    /// Waits until whoever opened a connection is signed out.
    pub async fn until_signed_out(self, who: Option<SignedIn>) {
        let Some(SignedIn::Device(device_id)) = who else {
            return std::future::pending().await;
        };
        let mut signed_out = self.signed_out.subscribe();
        loop {
            match self.devices().await {
                Ok(known) if known.iter().all(|known| known.device_id != device_id) => return,
                _ => {}
            }
            if signed_out.changed().await.is_err() {
                return;
            }
        }
    }

    fn begin(&self, address: IpAddr) -> Result<(), NotSignedIn> {
        self.attempts.begin(address, Instant::now()).map_err(NotSignedIn::Wait)
    }

    async fn is_password(&self, given: String) -> Result<bool, NotSignedIn> {
        let _turn = self.hashing.acquire().await;
        let file = self.password.clone();
        let checked = tokio::task::spawn_blocking(move || file.is(&given)).await;
        let checked = checked.map_err(std::io::Error::other).and_then(|checked| checked);
        checked.map_err(|error| NotSignedIn::Failed(error.into()))
    }

    async fn add_device(&self, headers: &HeaderMap) -> Result<String, NotSignedIn> {
        let now = mint::now();
        self.store.remove_devices_before(self.oldest(now)).await?;
        let secret = Secret::mint();
        let device = Device {
            device_id: mint::message_id().to_string(),
            name: device_name(headers),
            created_at: now,
            last_seen_at: now,
        };
        self.store.add_device(&device, &secret.hash()).await?;
        tracing::info!(device = %device.name, "signed in");
        Ok(caller::signed_in_cookie(&self.access, headers, &secret))
    }

    /// Gives the time before which a device must not have been seen last.
    fn oldest(&self, now: Timestamp) -> Timestamp {
        let kept = i64::try_from(self.access.stay_signed_in.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(now.millis().saturating_sub(kept))
    }
}

/// Makes a code that signs one device in within five minutes.
pub async fn offer_pairing(store: &Store) -> Result<Secret, StoreError> {
    let (code, now) = (Secret::mint(), mint::now());
    let expires_at = Timestamp::from_millis(now.millis() + PAIRING_MILLIS);
    store.add_pairing(&code.hash(), now, expires_at).await?;
    Ok(code)
}

/// Finds who the page or function under way is for.
pub fn of_context() -> Option<SignedIn> {
    leptos::context::use_context::<Parts>()?.extensions.get().cloned()
}

impl From<StoreError> for NotSignedIn {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

impl NotSignedIn {
    /// Says it as every door does.
    pub fn into_failure(self) -> ServiceError {
        match self {
            Self::Wrong => ServiceError::refused(FailureCode::SignedOut, "Sign in again."),
            Self::Wait(wait) => {
                let message = format!("Too many attempts. {}.", wait_words(wait));
                ServiceError::refused(FailureCode::TooManyAttempts, message)
            }
            Self::Failed(error) => error,
        }
    }
}

/// Says how long to wait, rounded up.
pub fn wait_words(wait: Duration) -> String {
    match wait.as_secs() + 1 {
        1 => "Try again in a second".to_owned(),
        seconds @ ..120 => format!("Try again in {seconds} seconds"),
        seconds => format!("Try again in {} minutes", seconds.div_ceil(60)),
    }
}
