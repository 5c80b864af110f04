//! The servers that the tests run on, and taking turns on them.
//!
//! Either the environment names an instance (`scripts/test` does), or one is started here. That one is stopped by a
//! keeper process which waits for the end of its standard input: the pipe closes when this process ends, however it
//! ends.

use super::sql::Sql;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// One of the two servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    Kafka,
    Db,
}

impl Server {
    fn name(self) -> &'static str {
        match self {
            Server::Kafka => "kafka",
            Server::Db => "db",
        }
    }
}

/// A running instance of both.
pub struct Services {
    dir: PathBuf,
    /// `host:port`
    pub kafka: String,
    /// The same broker for the account `app` with the password `app`, which may do what ACLs allow it.
    pub kafka_sasl: String,
    /// `127.0.0.1:port`
    pub db: String,
    _keeper: Option<Child>,
}

/// The right to use the servers alone.
pub struct Turn {
    pub services: &'static Services,
    _alone: MutexGuard<'static, ()>,
}

/// Waits for the servers to be free, and sees that both answer, whatever the test before did to them.
pub fn turn() -> Turn {
    static ALONE: Mutex<()> = Mutex::new(());
    // A test that failed while it had its turn has left nothing here that could be broken.
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let services = instance();
    for server in [Server::Kafka, Server::Db] {
        // Fails where the server does not run; `up` starts it then.
        services.script(&[server.name(), "thaw"]).ok();
    }
    services.script(&["up"]).unwrap_or_else(|output| panic!("the servers do not come up:\n{output}"));
    Turn { services, _alone: alone }
}

fn instance() -> &'static Services {
    static INSTANCE: OnceLock<Services> = OnceLock::new();
    INSTANCE.get_or_init(|| match std::env::var("TIDEGATE_SERVICES_DIR") {
        Ok(dir) => Services::open(Path::new(&dir), None),
        Err(_) => start_own(),
    })
}

fn start_own() -> Services {
    let dir = std::env::temp_dir().join(format!("tidegate-real-{}", std::process::id()));
    let keeper = Command::new("sh")
        .args(["-c", "trap '' INT TERM; cat >/dev/null; \"$0\" down --wipe >/dev/null 2>&1"])
        .arg(script_path())
        .env("TIDEGATE_SERVICES_DIR", &dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("sh runs");
    Services::open(&dir, Some(keeper))
}

fn script_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/services")
}

impl Services {
    fn open(dir: &Path, keeper: Option<Child>) -> Services {
        run_script(dir, &["up"]).unwrap_or_else(|output| {
            panic!(
                "the tests on real servers need Kafka and MariaDB, which `scripts/services up` could not \
                 start (`scripts/test` installs what is missing):\n{output}"
            )
        });
        let env = std::fs::read_to_string(dir.join("env")).expect("`up` writes the file env");
        let env: HashMap<_, _> = env.lines().filter_map(|line| line.split_once('=')).collect();
        Services {
            dir: dir.to_owned(),
            kafka: env["TIDEGATE_KAFKA"].to_owned(),
            kafka_sasl: format!("127.0.0.1:{}", env["TIDEGATE_KAFKA_SASL_PORT"]),
            db: format!("127.0.0.1:{}", env["TIDEGATE_DB_PORT"]),
            _keeper: keeper,
        }
    }

    /// `stop`, `kill`, `freeze`, `thaw` or `start`.
    pub fn act(&self, server: Server, verb: &str) {
        self.script(&[server.name(), verb])
            .unwrap_or_else(|output| panic!("scripts/services {} {verb} failed:\n{output}", server.name()));
    }

    /// A connection with all rights, by the socket that lies in the instance's folder.
    pub fn root(&self) -> Sql {
        let mut sql = Sql::of_root(&self.dir.join("db.sock"));
        // Whatever a test makes of the server's own: whoever must set it right again has to be connected still.
        sql.run("SET SESSION wait_timeout = 3600");
        sql
    }

    fn script(&self, args: &[&str]) -> Result<(), String> {
        run_script(&self.dir, args)
    }
}

fn run_script(dir: &Path, args: &[&str]) -> Result<(), String> {
    let mut command = Command::new(script_path());
    command.args(args).env("TIDEGATE_SERVICES_DIR", dir);
    for port in [
        "TIDEGATE_KAFKA_PORT",
        "TIDEGATE_KAFKA_CONTROLLER_PORT",
        "TIDEGATE_KAFKA_SASL_PORT",
        "TIDEGATE_DB_PORT",
    ] {
        command.env(port, "auto");
    }
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("scripts/services: {e}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
