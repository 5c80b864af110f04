//! A MariaDB for tests: the one that an environment variable names, or one that is started here.
//!
//! Holds:     a shell that waits on a pipe from this process, stops the server by its process id and removes its
//!            folder when the pipe closes: however the tests end, nothing is left behind

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// A server and its administrator.
pub(in crate::database) struct Server {
    pub(in crate::database) admin: Opts,
    /// `None`: not ours to stop.
    keeper: Option<Mutex<Child>>,
}

/// The server that the tests share.
static SHARED: OnceLock<Arc<Server>> = OnceLock::new();

/// Its arguments: the folder, then the server's command line.
const KEEPER: &str =
    r#"folder=$1; shift; "$@" & server=$!; read -r _; kill -9 $server; wait $server; rm -rf "$folder""#;

impl Server {
    /// The shared server.
    pub(in crate::database) fn shared() -> Arc<Server> {
        let make = || match std::env::var("TIDEGATE_DB_ADMIN_URL") {
            Ok(url) => Server { admin: admin(Opts::from_url(&url).unwrap()), keeper: None },
            Err(_) => Server::start(&[]),
        };
        Arc::clone(SHARED.get_or_init(|| Arc::new(make())))
    }

    /// A server of one's own, as unlike what the job needs as it can be: latin1, and no strict mode.
    pub(in crate::database) fn start(more: &[&str]) -> Server {
        let folder = tempfile::tempdir().unwrap().keep();
        let at = |name: &str| folder.join(name).display().to_string();
        let install = Command::new("mariadb-install-db")
            .args([
                "--no-defaults",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--user=root",
            ])
            .arg(format!("--datadir={}", at("data")))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(
            install.is_ok_and(|status| status.success()),
            "these tests need MariaDB: install `mariadb-server`, or name a server in TIDEGATE_DB_ADMIN_URL"
        );
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let installed = "/usr/sbin/mariadbd";
        let program = if Path::new(installed).exists() { installed } else { "mariadbd" };
        let keeper = Command::new("sh")
            .args(["-c", KEEPER, "keeper"])
            .arg(&folder)
            .arg(program)
            .args(["--no-defaults", "--user=root", "--bind-address=127.0.0.1", "--skip-name-resolve"])
            .args(["--character-set-server=latin1", "--sql-mode=", "--innodb-buffer-pool-size=32M"])
            .args(["--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=16M"])
            .arg(format!("--port={port}"))
            .arg(format!("--datadir={}", at("data")))
            .arg(format!("--socket={}", at("socket")))
            .arg(format!("--pid-file={}", at("pid")))
            .arg(format!("--log-error={}", at("log")))
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("these tests need `sh`");
        let options = OptsBuilder::default().ip_or_hostname("127.0.0.1").tcp_port(port).user(Some("root"));
        let server = Server { admin: admin(options.into()), keeper: Some(Mutex::new(keeper)) };
        server.wait_until_ready();
        server
    }

    fn wait_until_ready(&self) {
        let address = format!("127.0.0.1:{}", self.admin.tcp_port());
        let deadline = Instant::now() + Duration::from_secs(60);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        while runtime.block_on(Conn::new(self.admin.clone())).is_err() {
            assert!(Instant::now() < deadline, "mariadbd does not answer at {address}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Runs statements as the administrator.
    pub(in crate::database) async fn admin(&self, statements: &[&str]) {
        let mut conn = Conn::new(self.admin.clone()).await.unwrap();
        for text in statements {
            conn.query_drop(*text).await.unwrap_or_else(|error| panic!("{text}: {error}"));
        }
        conn.disconnect().await.unwrap();
    }

    /// Stops the server, if it is ours.
    pub(in crate::database) fn stop(&self) {
        let Some(keeper) = &self.keeper else { return };
        let mut keeper = keeper.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        drop(keeper.stdin.take());
        keeper.wait().expect("the shell that keeps the server ends");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn admin(options: Opts) -> Opts {
    OptsBuilder::from_opts(options).prefer_socket(false).into()
}
