//! Processes that meet, that wait, and that do not fit together.
use super::*;
use std::sync::Arc;

fn cluster(hosts: &[String], process: usize) -> Cluster {
    Cluster { workers: 1, process, hosts: hosts.to_vec() }
}

fn hosts(count: usize) -> Vec<String> {
    // Bound all at once, so that no two are the same; free again when this returns.
    let listeners: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    listeners.iter().map(|l| l.local_addr().unwrap().to_string()).collect()
}

fn greeting(job: u64) -> Greeting {
    Greeting { processes: 3, workers: 1, job }
}

fn outcome(jobs: [u64; 3]) -> Vec<Result<usize, String>> {
    let hosts = hosts(3);
    let give_up = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..3)
        .map(|process| {
            let (cluster, give_up, greeting) =
                (cluster(&hosts, process), Arc::clone(&give_up), greeting(jobs[process]));
            std::thread::spawn(move || {
                let result = connect(&cluster, &greeting, &give_up);
                if result.is_err() {
                    give_up.store(true, Ordering::Relaxed);
                }
                match result {
                    Ok(sockets) => Ok(sockets.iter().flatten().count()),
                    Err(NoCluster::Failed(text)) => Err(text),
                    Err(NoCluster::Cancelled) => Err("cancelled".to_owned()),
                }
            })
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

#[test]
fn three_processes_meet() {
    assert_eq!(outcome([7, 7, 7]), vec![Ok(2), Ok(2), Ok(2)]);
}

#[test]
fn another_job_file_is_refused() {
    let outcome = outcome([7, 8, 7]);
    let refused = |o: &Result<usize, String>| o.as_ref().is_err_and(|text| text.contains("another job file"));
    assert!(outcome.iter().any(refused), "{outcome:?}");
}

#[test]
fn a_stranger_is_no_process() {
    let hosts = hosts(2);
    let cancelled = Arc::new(AtomicBool::new(false));
    let (first, seen) = (cluster(&hosts, 0), Arc::clone(&cancelled));
    let waiting = std::thread::spawn(move || connect(&first, &greeting(1), &seen));
    let mut stranger = loop {
        if let Ok(stranger) = TcpStream::connect(&hosts[0]) {
            break stranger;
        }
    };
    stranger.write_all(&[b'x'; GREETING_BYTES]).unwrap();
    // The stranger is closed, and the wait goes on until it is told to end.
    let mut rest = Vec::new();
    let _reset_or_closed = stranger.read_to_end(&mut rest);
    cancelled.store(true, Ordering::Relaxed);
    assert!(matches!(waiting.join().unwrap(), Err(NoCluster::Cancelled)));
}
