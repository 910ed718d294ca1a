//! The page that a first visit gets: the list of a server with some conversations, as it is sent.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::server::{Running, Start};

/// How many conversations the list has: a full page of it.
const CONVERSATIONS: usize = 50;

const PATIENCE: Duration = Duration::from_secs(20);

/// Starts the release server on a directory of its own, and weighs the packed list that it sends.
pub fn weigh(project: &Project) -> Result<u64> {
    let address = free_address()?;
    let folder = project.target.join("first-page");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let arguments =
        ["--addr".into(), address.to_string().into(), "--data-dir".into(), folder.into_os_string()];
    let server = Running::start(project, &Start::dist(project, &arguments))?;
    let weight = fill(address).and_then(|()| body_length(&request(address, "GET / HTTP/1.1", "")?));
    server.stop()?;
    weight
}

fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

fn fill(address: SocketAddr) -> Result<()> {
    for number in 0..CONVERSATIONS {
        let title = format!("Look into report {number} and mend what it names");
        let body = format!("{{\"title\":\"{title}\"}}");
        let made = request(address, "POST /api/sessions/new HTTP/1.1", &body)?;
        if !made.starts_with(b"HTTP/1.1 20") {
            bail!("the server made no conversation: {}", String::from_utf8_lossy(&made));
        }
    }
    Ok(())
}

/// Sends a request as a browser would and reads the whole answer.
fn request(address: SocketAddr, line: &str, body: &str) -> Result<Vec<u8>> {
    let mut stream = connect(address)?;
    write!(
        stream,
        "{line}\r\nhost: {address}\r\nconnection: close\r\naccept: text/html\r\n\
         accept-encoding: br\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len(),
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer)
}

fn connect(address: SocketAddr) -> Result<TcpStream> {
    let started = Instant::now();
    loop {
        match TcpStream::connect(address) {
            Ok(stream) => return Ok(stream),
            Err(error) if started.elapsed() > PATIENCE => {
                return Err(error).context("the server does not answer");
            }
            Err(_) => thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn body_length(answer: &[u8]) -> Result<u64> {
    let head = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let head = head.context("the server's answer has no end to its head")?;
    if !String::from_utf8_lossy(&answer[..head]).to_lowercase().contains("content-encoding: br") {
        bail!("the server did not pack its page");
    }
    Ok((answer.len() - head - 4) as u64)
}
