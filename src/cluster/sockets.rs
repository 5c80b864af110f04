//! Sockets: one connection between every two processes, after both have said who they are.
//!
//! In:        the hosts, this process's number, what it runs     Out: a socket per other process
//! Order:     each process connects to those before it and accepts those behind it
//! Fails:     a peer that is not there yet is waited for; one that runs something else is an error on both sides
//! Not here:  what goes over the sockets (timely)

use super::launch::Cluster;
use crate::job::JobSpec;
use siphasher::sip::SipHasher13;
use std::hash::Hasher;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why there is no cluster.
#[derive(Debug)]
pub(super) enum NoCluster {
    /// Told to end.
    Cancelled,
    /// It cannot be.
    Failed(String),
}

/// What two processes must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Greeting {
    processes: u32,
    workers: u32,
    /// Of the whole checked job, secrets left out.
    job: u64,
}

const MAGIC: &[u8; 8] = b"tidegat1";
const GREETING_BYTES: usize = 28;
const PAUSE: Duration = Duration::from_millis(100);
const ANSWER: Duration = Duration::from_secs(5);
const SAY_AFTER: Duration = Duration::from_secs(3);

impl Greeting {
    pub(super) fn new(spec: &JobSpec, cluster: &Cluster) -> Greeting {
        let mut hasher = SipHasher13::new();
        hasher.write(format!("{spec:?}").as_bytes());
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Greeting {
            processes: number(cluster.hosts.len()),
            workers: number(cluster.workers),
            job: hasher.finish(),
        }
    }

    fn to_bytes(self, process: u32) -> Vec<u8> {
        let numbers = [process, self.processes, self.workers].map(u32::to_be_bytes);
        [&MAGIC[..], &numbers.concat(), &self.job.to_be_bytes()].concat()
    }

    fn from_bytes(bytes: &[u8; GREETING_BYTES]) -> Option<(u32, Greeting)> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let number = |at: usize| Some(u32::from_be_bytes(rest.get(at..at + 4)?.try_into().ok()?));
        let job = u64::from_be_bytes(rest.get(12..20)?.try_into().ok()?);
        Some((number(0)?, Greeting { processes: number(4)?, workers: number(8)?, job }))
    }
}

/// Connects to every other process. The place of this one is `None`.
pub(super) fn connect(
    cluster: &Cluster,
    greeting: &Greeting,
    cancelled: &AtomicBool,
) -> Result<Vec<Option<TcpStream>>, NoCluster> {
    let own =
        cluster.hosts.get(cluster.process).ok_or_else(|| failed("this process is not among the hosts"))?;
    let listener =
        TcpListener::bind(own).map_err(|error| failed(&format!("cannot listen on {own}: {error}")))?;
    listener.set_nonblocking(true).map_err(|error| failed(&error.to_string()))?;
    let mut sockets: Vec<Option<TcpStream>> = cluster.hosts.iter().map(|_| None).collect();
    let begun = Instant::now();
    let mut said = false;
    loop {
        let open = |i: &usize| *i != cluster.process && sockets.get(*i).is_some_and(Option::is_none);
        let missing: Vec<usize> = (0..sockets.len()).filter(open).collect();
        if missing.is_empty() {
            return Ok(sockets);
        }
        if cancelled.load(Ordering::Relaxed) {
            return Err(NoCluster::Cancelled);
        }
        if !said && begun.elapsed() >= SAY_AFTER {
            said = true;
            tracing::warn!(processes = ?missing, "waiting for the other processes of the cluster");
        }
        let mut found = accept(&listener, cluster, greeting)?;
        for process in missing.into_iter().filter(|process| *process < cluster.process) {
            if let Some(host) = cluster.hosts.get(process) {
                found.extend(call(host, process, cluster, greeting)?);
            }
        }
        if found.is_empty() {
            std::thread::sleep(PAUSE);
        }
        for (process, socket) in found {
            if let Some(place) = sockets.get_mut(process) {
                *place = Some(socket);
            }
        }
    }
}

type Found = Vec<(usize, TcpStream)>;

/// Whoever knocks and is behind this process.
fn accept(listener: &TcpListener, cluster: &Cluster, greeting: &Greeting) -> Result<Found, NoCluster> {
    let mut found = Vec::new();
    loop {
        match listener.accept() {
            Ok((socket, from)) => match greet(socket, cluster, greeting)? {
                Some((process, socket)) if process > cluster.process => found.push((process, socket)),
                _ => tracing::warn!(%from, "a connection that is no process of this cluster was closed"),
            },
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(found),
            Err(error) => return Err(failed(&format!("cannot accept the other processes: {error}"))),
        }
    }
}

/// Knocks at a process before this one. Nothing when it is not there yet.
fn call(host: &str, process: usize, cluster: &Cluster, greeting: &Greeting) -> Result<Found, NoCluster> {
    let Ok(socket) = TcpStream::connect(host) else { return Ok(Vec::new()) };
    match greet(socket, cluster, greeting)? {
        Some((found, socket)) if found == process => Ok(vec![(process, socket)]),
        Some((found, _)) => {
            Err(failed(&format!("{host} should be process {process} and says that it is process {found}")))
        }
        None => Ok(Vec::new()),
    }
}

/// Says who this is and hears who that is. None: it went away, or is something else.
fn greet(
    mut socket: TcpStream,
    cluster: &Cluster,
    greeting: &Greeting,
) -> Result<Option<(usize, TcpStream)>, NoCluster> {
    let own = u32::try_from(cluster.process).unwrap_or(u32::MAX);
    let mut bytes = [0; GREETING_BYTES];
    let talk = |socket: &mut TcpStream, bytes: &mut [u8; GREETING_BYTES]| -> std::io::Result<()> {
        socket.set_nonblocking(false)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(ANSWER))?;
        socket.write_all(&greeting.to_bytes(own))?;
        socket.read_exact(bytes)?;
        socket.set_read_timeout(None)
    };
    if talk(&mut socket, &mut bytes).is_err() {
        return Ok(None);
    }
    let Some((process, theirs)) = Greeting::from_bytes(&bytes) else { return Ok(None) };
    if theirs != *greeting {
        let text = format!(
            "process {process} was started differently ({} processes of {} workers, {} job file): start every process \
             with the same job file, -n and -w",
            theirs.processes,
            theirs.workers,
            if theirs.job == greeting.job { "the same" } else { "another" }
        );
        return Err(failed(&text));
    }
    Ok(usize::try_from(process).ok().map(|process| (process, socket)))
}

fn failed(text: &str) -> NoCluster {
    NoCluster::Failed(text.to_owned())
}

#[cfg(test)]
mod tests;
