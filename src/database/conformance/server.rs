//! A MariaDB for tests: the one that an environment variable names, or one that is started here and stopped by its
//! process id.

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A server and its administrator.
pub(in crate::database) struct Server {
    pub(in crate::database) admin: Opts,
    /// `None`: not ours to stop.
    process: Option<Mutex<Child>>,
    _folder: Option<TempDir>,
}

/// The server that the tests share while any of them runs.
static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());

impl Server {
    /// The shared server.
    pub(in crate::database) fn shared() -> Arc<Server> {
        let mut shared = SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(server) = shared.upgrade() {
            return server;
        }
        let server = Arc::new(match std::env::var("TIDEGATE_DB_ADMIN_URL") {
            Ok(url) => Server { admin: admin(Opts::from_url(&url).unwrap()), process: None, _folder: None },
            Err(_) => Server::start(&[]),
        });
        *shared = Arc::downgrade(&server);
        server
    }

    /// A server of one's own, as unlike what the job needs as it can be: latin1, and no strict mode.
    pub(in crate::database) fn start(more: &[&str]) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let install = Command::new("mariadb-install-db")
            .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", "--user=root"])
            .arg(format!("--datadir={}", at("data")))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(
            install.is_ok_and(|status| status.success()),
            "these tests need MariaDB: install `mariadb-server`, or name a server in TIDEGATE_DB_ADMIN_URL"
        );
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let program = ["/usr/sbin/mariadbd", "mariadbd"].into_iter().find(|p| *p == "mariadbd" || std::path::Path::new(p).exists());
        let child = Command::new(program.unwrap())
            .args(["--no-defaults", "--user=root", "--bind-address=127.0.0.1", "--skip-name-resolve"])
            .args(["--character-set-server=latin1", "--sql-mode=", "--innodb-buffer-pool-size=32M"])
            .arg(format!("--port={port}"))
            .arg(format!("--datadir={}", at("data")))
            .arg(format!("--socket={}", at("socket")))
            .arg(format!("--pid-file={}", at("pid")))
            .arg(format!("--log-error={}", at("log")))
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("these tests need `mariadbd`");
        let options = OptsBuilder::default().ip_or_hostname("127.0.0.1").tcp_port(port).user(Some("root"));
        let server = Server { admin: admin(options.into()), process: Some(Mutex::new(child)), _folder: Some(folder) };
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
        let Some(process) = &self.process else { return };
        let mut child = process.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if matches!(child.try_wait(), Ok(None)) {
            child.kill().expect("the server that this test started can be killed");
            child.wait().expect("the server that this test started ends");
        }
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
