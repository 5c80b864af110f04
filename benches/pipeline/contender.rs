//! Contender: who is measured, as one or more processes with an input topic and an output topic.
//!
//! In:        [`Contender`], topics     Out: running processes; whether they ended well
//! Fails:     by panicking with the end of the process's log
//! Not here:  what Tidegate's job says (job); what is measured (sampler, output)

use crate::job::{Shape, job_file, sqlite};
use crate::world::World;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Contender {
    Tidegate {
        shape: Shape,
        workers: usize,
        processes: usize,
    },
    Loop {
        lanes: usize,
        batch: usize,
    },
    /// Subtasks of the database and the sink; the source has two.
    Flink {
        form: &'static str,
        subtasks: usize,
    },
}

impl Contender {
    pub(crate) fn tidegate(workers: usize) -> Contender {
        Contender::Tidegate { shape: Shape::Main, workers, processes: 1 }
    }

    /// As the tables call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Contender::Tidegate { shape, workers, processes } => {
                let shape =
                    if *shape == Shape::Main { String::new() } else { format!(" {shape:?}").to_lowercase() };
                let processes =
                    if *processes == 1 { String::new() } else { format!(", {processes} processes") };
                format!("tidegate{shape} -w {workers}{processes}")
            }
            Contender::Loop { lanes, batch } => format!("loop, {lanes} lanes of {batch}"),
            Contender::Flink { form, subtasks: 2 } => format!("flink, {form}"),
            Contender::Flink { form, subtasks } => format!("flink, {form}, {subtasks} connections"),
        }
    }
}

/// Where a contender reads and writes.
pub(crate) struct Place<'a> {
    pub(crate) world: &'a World,
    pub(crate) tidegate: &'a Path,
    pub(crate) folder: &'a Path,
    pub(crate) topic_in: &'a str,
    pub(crate) topic_out: &'a str,
    /// Ends where the topic ended at the start.
    pub(crate) is_bounded: bool,
}

/// Processes that run.
pub(crate) struct Running {
    pub(crate) children: Vec<Child>,
    logs: Vec<PathBuf>,
    name: String,
}

impl Contender {
    pub(crate) fn start(&self, place: &Place<'_>) -> Running {
        let commands = match self {
            Contender::Tidegate { shape, workers, processes } => {
                let job = job_file(place, *shape);
                if *shape == Shape::Sqlite {
                    sqlite(place)
                }
                let hosts = hosts(place.folder, *processes);
                (0..*processes)
                    .map(|index| tidegate(place, &job, *workers, *processes, index, &hosts))
                    .collect()
            }
            Contender::Loop { lanes, batch } => vec![the_loop(place, *lanes, *batch)],
            Contender::Flink { form, subtasks } => vec![flink(place, form, *subtasks)],
        };
        let log = |index: usize| place.folder.join(format!("{}-{index}.log", place.topic_out));
        let logs: Vec<PathBuf> = (0..commands.len()).map(log).collect();
        let children = commands.into_iter().zip(&logs).map(|(mut command, log)| {
            let file = File::create(log).expect("a log file");
            let twin = file.try_clone().expect("a log file");
            command
                .stdin(Stdio::null())
                .stdout(twin)
                .stderr(file)
                .spawn()
                .unwrap_or_else(|e| panic!("{command:?}: {e}"))
        });
        Running { children: children.collect(), logs, name: self.name() }
    }
}

impl Running {
    /// Waits for the end; every process must end with 0.
    pub(crate) fn wait(&mut self, limit: Duration) {
        let begun = Instant::now();
        while !self.has_ended() {
            if begun.elapsed() > limit {
                self.kill();
                panic!("{} did not end within {limit:?}; {}", self.name, self.said());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let well = self.children.iter_mut().all(|child| child.wait().is_ok_and(|status| status.success()));
        assert!(well, "{} did not end well; {}", self.name, self.said());
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.children.iter_mut().all(|child| matches!(child.try_wait(), Ok(Some(_))))
    }

    /// As from outside: no goodbye.
    pub(crate) fn kill(&mut self) {
        for child in &mut self.children {
            drop(child.kill());
            drop(child.wait());
        }
    }

    /// Asks for the end by SIGTERM, and waits; Flink and the loop are not asked how they liked it.
    pub(crate) fn stop(&mut self, must_end_well: bool) {
        for child in &self.children {
            drop(Command::new("kill").arg(child.id().to_string()).status());
        }
        if must_end_well {
            return self.wait(Duration::from_secs(30));
        }
        let begun = Instant::now();
        while !self.has_ended() && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.kill();
    }

    fn said(&self) -> String {
        let last = |log: &PathBuf| {
            let text = std::fs::read_to_string(log).unwrap_or_default();
            let lines: Vec<&str> = text.lines().rev().take(8).collect();
            lines.into_iter().rev().collect::<Vec<_>>().join("\n")
        };
        format!("it said:\n{}", self.logs.iter().map(last).collect::<Vec<_>>().join("\n"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

fn tidegate(
    place: &Place<'_>,
    job: &Path,
    workers: usize,
    processes: usize,
    index: usize,
    hosts: &Path,
) -> Command {
    let mut command = Command::new(place.tidegate);
    command.arg("run").arg(job).args(["-w", &workers.to_string()]).arg("--incident-dir").arg(place.folder);
    if place.is_bounded {
        command.arg("--until-end");
    }
    if processes > 1 {
        command.args(["-n", &processes.to_string(), "-p", &index.to_string()]).arg("--hosts").arg(hosts);
    }
    command.current_dir(place.folder);
    command
}

fn hosts(folder: &Path, processes: usize) -> PathBuf {
    let port = |_| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        format!("{}\n", listener.local_addr().expect("its address"))
    };
    let file = folder.join("hosts");
    std::fs::write(&file, (0..processes).map(port).collect::<String>()).expect("the hosts file");
    file
}

fn the_loop(place: &Place<'_>, lanes: usize, batch: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["loop", "--kafka", &place.world.kafka, "--database", &place.world.database]);
    command.args(["--topic-in", place.topic_in, "--topic-out", place.topic_out]);
    command.args(["--lanes", &lanes.to_string(), "--batch", &batch.to_string()]);
    if place.is_bounded {
        command.arg("--bounded");
    }
    command
}

/// Where the Flink job is built.
pub(crate) fn flink_jar() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/flink/target/tidegate-flink-bench.jar")
}

fn flink(place: &Place<'_>, form: &str, subtasks: usize) -> Command {
    let (credentials, address) =
        place.world.database.split_once("://").and_then(|(_, rest)| rest.split_once('@')).expect("a URL");
    let (user, password) = credentials.split_once(':').expect("user and password");
    let mut command = Command::new("java");
    command.args(["-Xmx1g", "--add-opens=java.base/java.util=ALL-UNNAMED", "-jar"]).arg(flink_jar());
    command.args(["--form", form, "--bootstrap.servers", &place.world.kafka]);
    command.args(["--topic-in", place.topic_in, "--topic-out", place.topic_out]);
    command.args([
        "--jdbc-url",
        &format!("jdbc:mariadb://{address}"),
        "--db-user",
        user,
        "--db-password",
        password,
    ]);
    let bounded = if place.is_bounded { "true" } else { "false" };
    command.args(["--parallelism", "2", "--db-parallelism", &subtasks.to_string()]);
    command.args(["--checkpoint-ms", "1000", "--bounded", bounded]);
    command.args(["--transactional-id-prefix", place.topic_out, "--group", place.topic_out]);
    command
}
