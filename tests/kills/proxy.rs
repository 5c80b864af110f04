//! A TCP proxy in front of a server that understands just enough of its protocol to lose one certain answer.
//!
//! In:        the server's address, and what watches the frames of one connection ([`Watch`])
//! Out:       an address to give to the job; connections that are cut when the watch says so, or all at once
//! Order:     two threads a connection, one each way: what one connection waits for holds no other
//! Fails:     a server that takes no connection: the client's is closed, as a dead server's would be
//! Not here:  what is in a frame (`proxy/kafka.rs`, `proxy/mariadb.rs`)

pub mod kafka;
pub mod mariadb;

use std::io::{BufReader, BufWriter, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    /// It goes nowhere, and its connection is cut both ways.
    Cut,
}

/// Looks at the frames of one connection; may change bytes, never a length.
pub trait Watch: Send + 'static {
    /// Bytes of a frame behind its head of four.
    fn length(head: [u8; 4]) -> usize;
    /// A whole frame of the client, its head included.
    fn request(&mut self, frame: &mut [u8]) -> Verdict;
    /// A whole frame of the server.
    fn answer(&mut self, frame: &mut [u8]) -> Verdict;
}

/// One connection: both its sides, to be cut.
struct Wire {
    client: TcpStream,
    server: TcpStream,
}

impl Wire {
    fn cut(&self) {
        // One that is closed already cannot be shut down any more.
        self.client.shutdown(Shutdown::Both).ok();
        self.server.shutdown(Shutdown::Both).ok();
    }
}

/// A running proxy.
pub struct Proxy {
    /// `127.0.0.1:port`
    pub address: String,
    wires: Arc<Mutex<Vec<Arc<Wire>>>>,
    ended: Arc<AtomicBool>,
}

impl Proxy {
    /// Listens on a free port; `watch` is asked for each connection.
    pub fn start<W: Watch>(server: &str, watch: impl Fn(u16) -> W + Send + 'static) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let wires = Arc::new(Mutex::new(Vec::new()));
        let ended = Arc::new(AtomicBool::new(false));
        let proxy = Proxy {
            address: format!("127.0.0.1:{port}"),
            wires: Arc::clone(&wires),
            ended: Arc::clone(&ended),
        };
        let server = server.to_owned();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if ended.load(Ordering::Acquire) {
                    return;
                }
                let Ok(client) = client else { continue };
                let (server, wires, watch) = (server.clone(), Arc::clone(&wires), watch(port));
                // Its own thread: a server that is slow to accept holds nobody else.
                std::thread::spawn(move || {
                    // A refused connection ends the client's by dropping it.
                    if let Ok(server) = TcpStream::connect(&server) {
                        open(Wire { client, server }, watch, &wires);
                    }
                });
            }
        });
        proxy
    }

    /// Cuts every connection; gives how many there were.
    pub fn cut_all(&self) -> usize {
        let wires = std::mem::take(&mut *lock(&self.wires));
        wires.iter().for_each(|wire| wire.cut());
        wires.len()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        // Wakes the listener, which looks at the flag.
        TcpStream::connect(&self.address).ok();
        self.cut_all();
    }
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open<W: Watch>(wire: Wire, watch: W, wires: &Arc<Mutex<Vec<Arc<Wire>>>>) {
    for stream in [&wire.client, &wire.server] {
        stream.set_nodelay(true).ok();
    }
    let wire = Arc::new(wire);
    lock(wires).push(Arc::clone(&wire));
    let watch = Arc::new(Mutex::new(watch));
    let (wires, there, back) = (Arc::clone(wires), (Arc::clone(&wire), Arc::clone(&watch)), (wire, watch));
    std::thread::spawn(move || {
        let (wire, watch) = there;
        pump::<W>(&wire.client, &wire.server, |frame| lock(&watch).request(frame));
        wire.cut();
        lock(&wires).retain(|other| !Arc::ptr_eq(other, &wire));
    });
    std::thread::spawn(move || {
        let (wire, watch) = back;
        pump::<W>(&wire.server, &wire.client, |frame| lock(&watch).answer(frame));
        wire.cut();
    });
}

/// Hands frames on until either side closes or one is to be cut.
fn pump<W: Watch>(from: &TcpStream, to: &TcpStream, mut look: impl FnMut(&mut [u8]) -> Verdict) {
    let mut from = BufReader::with_capacity(64 * 1024, from);
    let mut to = BufWriter::with_capacity(64 * 1024, to);
    let mut frame = Vec::new();
    loop {
        let mut head = [0; 4];
        if from.read_exact(&mut head).is_err() {
            return;
        }
        frame.clear();
        frame.extend(head);
        frame.resize(4 + W::length(head), 0);
        if from.read_exact(&mut frame[4..]).is_err() || look(&mut frame) == Verdict::Cut {
            return;
        }
        let is_last = from.buffer().is_empty();
        if to.write_all(&frame).is_err() || (is_last && to.flush().is_err()) {
            return;
        }
    }
}
