//! The binary: the way in, the way out, and what happens when something breaks that must not.

use std::panic::PanicHookInfo;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use tidegate::cli::{self, Process, exit};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let decided = Arc::new(AtomicU8::new(0));
    end_on_panic(Arc::clone(&decided));
    ExitCode::from(cli::main(&Process { end_now, decided }))
}

#[allow(clippy::disallowed_methods, reason = "the one place that may end the process")]
fn end_now(code: u8) {
    std::process::exit(i32::from(code))
}

/// A panic of any thread ends the process: a worker that is gone would leave the others waiting for ever, and whatever
/// was going to be committed rests on an assumption that has just failed. The peers see the connection close and end, too.
fn end_on_panic(decided: Arc<AtomicU8>) {
    let say = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let code = match decided.load(Ordering::Relaxed) {
            0 if is_lost_peer(info) => {
                tracing::error!("halted: a peer process was lost; start the cluster again");
                exit::PEER_LOST
            }
            0 => {
                say(info);
                tracing::error!(
                    "halted: an internal fault; the next start goes on where nothing is in doubt"
                );
                exit::INTERNAL
            }
            code => code - 1,
        };
        end_now(code);
    }));
}

/// timely promises this prefix for a peer's closed connection.
fn is_lost_peer(info: &PanicHookInfo<'_>) -> bool {
    let text = info.payload().downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| info.payload().downcast_ref::<&str>().copied());
    text.is_some_and(|text| text.starts_with("timely communication error:"))
}
