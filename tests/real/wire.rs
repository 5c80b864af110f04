//! A wire to a server that can be taken away: a TCP proxy that refuses, or that swallows without a word, and counts.
//!
//! In:        the server's address     Out: an address to give to the job
//! Holds:     how the wire is just now; how many connections it took, and how many of them were open at the same time
//! Order:     bytes that are swallowed are kept, and come through when the wire is whole again, as TCP would do it
//! Fails:     a server that takes no connection: the client's is closed
//! Not here:  no protocol (tests/kills/proxy loses single answers)

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How the wire is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Whole,
    /// Connections are cut and refused, as where a server has ended.
    Refuses,
    /// Nothing comes through in either direction, not even a close.
    Swallows,
}

/// A running proxy.
pub struct Wire {
    /// `127.0.0.1:port`
    pub address: String,
    shared: Arc<Shared>,
}

struct Shared {
    state: AtomicU8,
    ended: AtomicBool,
    open: Mutex<Vec<Arc<Pair>>>,
    taken: Mutex<Vec<Instant>>,
    open_now: AtomicUsize,
    open_most: AtomicUsize,
}

struct Pair {
    client: TcpStream,
    server: TcpStream,
    closed: AtomicBool,
}

impl Pair {
    fn cut(&self) {
        // One that is closed already cannot be shut down any more.
        self.client.shutdown(Shutdown::Both).ok();
        self.server.shutdown(Shutdown::Both).ok();
    }
}

/// How often a pump looks at the wire's state.
const LOOK: Duration = Duration::from_millis(10);

impl Wire {
    /// Listens on a free port.
    pub fn start(server: &str) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address").to_string();
        let shared = Arc::new(Shared {
            state: AtomicU8::new(State::Whole as u8),
            ended: AtomicBool::new(false),
            open: Mutex::default(),
            taken: Mutex::default(),
            open_now: AtomicUsize::new(0),
            open_most: AtomicUsize::new(0),
        });
        let (server, of_thread) = (server.to_owned(), Arc::clone(&shared));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if of_thread.ended.load(Ordering::Acquire) {
                    return;
                }
                if let Ok(client) = client {
                    take(&of_thread, client, &server);
                }
            }
        });
        Wire { address, shared }
    }

    pub fn set(&self, state: State) {
        self.shared.state.store(state as u8, Ordering::Release);
        if state == State::Refuses {
            lock(&self.shared.open).drain(..).for_each(|pair| pair.cut());
        }
    }

    /// When each connection was asked for, refused ones included.
    pub fn taken_since(&self, since: Instant) -> Vec<Duration> {
        lock(&self.shared.taken).iter().filter_map(|at| at.checked_duration_since(since)).collect()
    }

    /// How many are open on the client's side.
    pub fn open_now(&self) -> usize {
        self.shared.open_now.load(Ordering::Acquire)
    }

    /// How many were open at the same time since the last time that this was asked.
    pub fn open_most(&self) -> usize {
        self.shared.open_most.swap(self.open_now(), Ordering::AcqRel)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        // Wakes the listener, which looks at the flag.
        TcpStream::connect(&self.address).ok();
        lock(&self.shared.open).drain(..).for_each(|pair| pair.cut());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn take(shared: &Arc<Shared>, client: TcpStream, server: &str) {
    lock(&shared.taken).push(Instant::now());
    if shared.state.load(Ordering::Acquire) == State::Refuses as u8 {
        return;
    }
    let Ok(server) = TcpStream::connect(server) else { return };
    for stream in [&client, &server] {
        stream.set_nodelay(true).ok();
        stream.set_read_timeout(Some(LOOK)).expect("a time-out");
    }
    let pair = Arc::new(Pair { client, server, closed: AtomicBool::new(false) });
    lock(&shared.open).push(Arc::clone(&pair));
    let now = shared.open_now.fetch_add(1, Ordering::AcqRel) + 1;
    shared.open_most.fetch_max(now, Ordering::AcqRel);
    let (there, back) = ((Arc::clone(shared), Arc::clone(&pair)), (Arc::clone(shared), pair));
    std::thread::spawn(move || {
        let (shared, pair) = there;
        pump(&shared, &pair, &pair.client, &pair.server);
    });
    std::thread::spawn(move || {
        let (shared, pair) = back;
        pump(&shared, &pair, &pair.server, &pair.client);
    });
}

/// Hands bytes on while the wire is whole, and keeps them while it swallows.
fn pump(shared: &Shared, pair: &Pair, from: &TcpStream, to: &TcpStream) {
    let (mut from, mut to) = (from, to);
    let (mut kept, mut buffer, mut over) = (Vec::new(), vec![0; 64 * 1024], false);
    loop {
        if over {
            std::thread::sleep(LOOK);
        } else {
            match from.read(&mut buffer) {
                Ok(0) => over = true,
                Ok(bytes) => kept.extend_from_slice(&buffer[..bytes]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(_) => over = true,
            }
        }
        if over && !pair.closed.swap(true, Ordering::AcqRel) {
            shared.open_now.fetch_sub(1, Ordering::AcqRel);
        }
        if shared.state.load(Ordering::Acquire) == State::Swallows as u8
            && !shared.ended.load(Ordering::Acquire)
        {
            continue;
        }
        if over || to.write_all(&kept).is_err() {
            break;
        }
        kept.clear();
    }
    pair.cut();
}
