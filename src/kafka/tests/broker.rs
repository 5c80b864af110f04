//! A real broker: a given one, or one that `scripts/services` starts in a folder of its own.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The broker that the tests of this run share.
pub(super) fn shared() -> String {
    addresses().0
}

/// The same broker for the account `app` with the password `app`, which may do nothing that no ACL allows.
pub(super) fn shared_for_accounts() -> String {
    addresses().1
}

fn addresses() -> (String, String) {
    static SHARED: OnceLock<(String, String, Option<OwnBroker>)> = OnceLock::new();
    let given = |name| std::env::var(name).ok().filter(|given| !given.is_empty());
    let (open, accounts, _kept) = SHARED.get_or_init(|| match given("TIDEGATE_KAFKA") {
        Some(open) => (open, given("TIDEGATE_KAFKA_SASL").unwrap_or_default(), None),
        None => {
            let broker = OwnBroker::start();
            (broker.address.clone(), broker.for_accounts.clone(), Some(broker))
        }
    });
    (open.clone(), accounts.clone())
}

/// A broker that belongs to one test, which may freeze and kill it.
pub(super) struct OwnBroker {
    pub(super) address: String,
    for_accounts: String,
    dir: PathBuf,
    /// Waits for the end of its input, which comes with the end of this process or of this value, however they end.
    undertaker: Child,
}

impl OwnBroker {
    pub(super) fn start() -> OwnBroker {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("tidegate-kafka-test-{}-{number}", std::process::id()));
        let undertaker = undertaker(&dir);
        services(&dir, &["kafka", "start"]);
        let env = std::fs::read_to_string(dir.join("env")).expect("scripts/services writes a file `env`");
        let named =
            |name| env.lines().find_map(|line| line.strip_prefix(name)).expect("`env` names it").to_owned();
        let (address, for_accounts) = (named("TIDEGATE_KAFKA="), named("TIDEGATE_KAFKA_SASL="));
        OwnBroker { address, for_accounts, dir, undertaker }
    }

    pub(super) fn freeze(&self) {
        services(&self.dir, &["kafka", "freeze"]);
    }

    pub(super) fn thaw(&self) {
        services(&self.dir, &["kafka", "thaw"]);
    }

    pub(super) fn kill(&self) {
        services(&self.dir, &["kafka", "kill"]);
    }

    pub(super) fn restart(&self) {
        services(&self.dir, &["kafka", "start"]);
    }
}

impl Drop for OwnBroker {
    fn drop(&mut self) {
        drop(self.undertaker.stdin.take());
        self.undertaker.wait().expect("the undertaker ends");
    }
}

fn script() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/services").to_owned()
}

fn command(program: &str, dir: &PathBuf) -> Command {
    let mut command = Command::new(program);
    command
        .env("TIDEGATE_SERVICES_DIR", dir)
        .env("TIDEGATE_KAFKA_PORT", "auto")
        .env("TIDEGATE_KAFKA_CONTROLLER_PORT", "auto")
        .env("TIDEGATE_KAFKA_SASL_PORT", "auto")
        .env("TIDEGATE_DB_PORT", "auto");
    command
}

fn services(dir: &PathBuf, arguments: &[&str]) {
    let output = command(&script(), dir).args(arguments).stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("cannot run {}: {error}", script()));
    assert!(
        output.status.success(),
        "these tests need a real broker, and `scripts/services {}` failed with {}. Set TIDEGATE_KAFKA to the address of \
         a running one, or see what it says:\n{}",
        arguments.join(" "),
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

fn undertaker(dir: &PathBuf) -> Child {
    use std::os::unix::process::CommandExt;
    command("sh", dir)
        .args(["-c", "cat >/dev/null; \"$0\" kafka thaw; exec \"$0\" down --wipe", &script()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // An interrupt from the terminal is for the tests; this one has work to do then.
        .process_group(0)
        .spawn()
        .expect("sh runs")
}
