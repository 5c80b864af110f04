//! Prober: one per process and outside world (database, broker): finds out when it answers again.
//!
//! In:        "it is out, tell me when it is back", from any operator     Out: one answer to each who asked
//! Holds:     who waits, since when it is out, and how often it was asked without anything having worked in between
//! Order:     all who wait are answered at once
//! Fails:     gives up after the job's limit for outages, where there is one; and when the world refuses (rights, a schema
//!            that does not fit) and goes on refusing: a statement would halt then, too (refusals)
//!
//! It also watches what was asked and not answered: a frozen server says nothing, and a person should not have to wait
//! for a deadline to hear that the job holds.
//!
//! Not here:  what a lane does with the answer (protocol)
//!
//! Full-jitter backoff: each pause is drawn between nothing and a bound that doubles up to 0.75 s, so that many
//! processes do not knock together, and a world that is there for a second at a time is met each time. The pauses also grow when the probe succeeds and the work then fails again (a full
//! disk answers a probe): only `Prober::worked` resets them.

use super::host::{Chance, Host};
use super::refusals::Refusals;
use crate::protocol::halt::{Halt, HaltKind};
use crate::status::Board;
use crate::status::World;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Asks the world once.
pub type Probe = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), Said>> + Send>> + Send + Sync>;

/// What the world said to a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its words, for a person.
    pub text: String,
    /// It is there and refuses: how a job halts that goes on being refused. `None`: it is out.
    pub refuses: Option<HaltKind>,
}

impl Said {
    /// It is out.
    pub fn out(text: impl Into<String>) -> Said {
        Said { text: text.into(), refuses: None }
    }
}

/// What those who wait get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It answers again.
    Up,
    /// It was out for longer than the job allows, or goes on refusing.
    GaveUp(Halt),
}

type Waiter = Box<dyn FnOnce(Answer) + Send>;

/// Knocks until somebody opens.
pub struct Prober {
    world: World,
    limit: Option<Duration>,
    board: Arc<Board>,
    state: Mutex<State>,
    asked: Notify,
    chance: Chance,
}

#[derive(Default)]
struct State {
    waiters: Vec<Waiter>,
    since: Option<Instant>,
    /// What it said last in this outage.
    said: Option<String>,
    fruitless: u32,
    /// Since when each question is open, by a number of its own.
    open: BTreeMap<u64, Instant>,
    next_question: u64,
    /// When something worked last: one slow answer among many good ones is no hold.
    worked_at: Option<Instant>,
}

/// A question that is open until this is dropped.
pub struct Question {
    prober: Arc<Prober>,
    number: u64,
}

impl Drop for Question {
    fn drop(&mut self) {
        self.prober.lock().open.remove(&self.number);
    }
}

/// From this time on an unanswered question is a hold.
const SLOW: Duration = Duration::from_secs(3);

const PAUSE_FIRST: Duration = Duration::from_millis(25);
const PAUSE_MAX: Duration = Duration::from_millis(750);

impl Prober {
    /// A prober of this world; `limit`: how long an outage may last.
    pub fn start(
        world: World,
        limit: Option<Duration>,
        board: Arc<Board>,
        host: &Host,
        probe: Probe,
    ) -> Arc<Prober> {
        let prober = Arc::new(Prober {
            world,
            limit,
            board,
            state: Mutex::new(State::default()),
            asked: Notify::new(),
            chance: host.chance(),
        });
        host.spawn(run(Arc::downgrade(&prober), probe));
        prober
    }

    /// It is out: `why` is what it said. `waiter` gets one answer.
    pub fn wait(&self, why: &str, waiter: impl FnOnce(Answer) + Send + 'static) {
        let mut state = self.lock();
        state.since.get_or_insert_with(Instant::now);
        state.said = Some(why.to_owned());
        state.waiters.push(Box::new(waiter));
        drop(state);
        self.board.holds(self.world, why);
        self.asked.notify_one();
    }

    /// Something that this world had to do has worked: the outage, if there was one, is over.
    pub fn worked(&self) {
        let mut state = self.lock();
        state.fruitless = 0;
        state.worked_at = Some(Instant::now());
        if state.waiters.is_empty() && state.since.take().is_some() {
            state.said = None;
            drop(state);
            self.board.resumes(self.world);
        }
    }

    /// Something is asked: the answer is waited for until the question is dropped.
    pub fn ask(self: &Arc<Prober>) -> Question {
        let mut state = self.lock();
        let number = state.next_question;
        state.next_question = number.wrapping_add(1);
        state.open.insert(number, Instant::now());
        drop(state);
        Question { prober: Arc::clone(self), number }
    }

    /// Says that the job holds when a question has been open for long.
    fn look(&self) {
        let mut state = self.lock();
        let slow = |since: Option<&Instant>| since.map(|since| since.elapsed()).filter(|time| *time >= SLOW);
        let Some(oldest) = slow(state.open.values().min()) else { return };
        if state.worked_at.is_some() && slow(state.worked_at.as_ref()).is_none() {
            return;
        }
        state.since.get_or_insert_with(Instant::now);
        let mut why = format!("no answer for {} s", oldest.as_secs());
        // Silence must not hide what the world has said: that may tell what to do.
        if let Some(said) = &state.said {
            why = format!("{why}, after: {said}");
        }
        drop(state);
        self.board.holds(self.world, &why);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, answer: &Answer) {
        let waiters = std::mem::take(&mut self.lock().waiters);
        for waiter in waiters {
            waiter(answer.clone());
        }
    }

    /// The next pause, and whether the limit has passed.
    fn next_pause(&self) -> (Duration, Option<Duration>) {
        let mut state = self.lock();
        let bound = PAUSE_FIRST.saturating_mul(1 << state.fruitless.min(10)).min(PAUSE_MAX);
        state.fruitless = state.fruitless.saturating_add(1);
        let out_for = state.since.map(|since| since.elapsed());
        let over = out_for.filter(|out_for| self.limit.is_some_and(|limit| *out_for >= limit));
        (bound.mul_f64(self.chance.draw()), over)
    }

    /// Why nobody needs to wait any longer.
    fn given_up(
        &self,
        said: &Said,
        out_for: Option<Duration>,
        refused_for: Option<Duration>,
    ) -> Option<Halt> {
        let (world, text) = (self.world.as_str(), &said.text);
        if let Some((kind, refused_for)) = said.refuses.zip(refused_for) {
            let seconds = refused_for.as_secs();
            return Some(Halt::new(kind, format!("the {world} has refused for {seconds} s: {text}")));
        }
        let seconds = out_for?.as_secs();
        let text = format!("{world} out for {seconds} s, and outage.limit_s allows no more: {text}");
        Some(Halt::new(HaltKind::Outage, text))
    }

    fn waits(&self) -> bool {
        !self.lock().waiters.is_empty()
    }
}

async fn run(prober: std::sync::Weak<Prober>, probe: Probe) {
    // The task ends when nobody holds the prober any more; it wakes now and then to see that.
    const LOOK_AROUND: Duration = Duration::from_secs(1);
    let mut refusals = Refusals::default();
    while let Some(prober) = prober.upgrade() {
        if !prober.waits() {
            prober.look();
            let _timed_out = tokio::time::timeout(LOOK_AROUND, prober.asked.notified()).await;
            continue;
        }
        let (pause, over) = prober.next_pause();
        tokio::time::sleep(pause).await;
        let answer = probe().await;
        let refused_for = match &answer {
            Err(Said { refuses: Some(_), .. }) => refusals.again(),
            _ => {
                refusals.end();
                None
            }
        };
        match answer {
            Ok(()) => prober.answer(&Answer::Up),
            Err(said) => {
                prober.board.holds(prober.world, &said.text);
                if let Some(halt) = prober.given_up(&said, over, refused_for) {
                    refusals.end();
                    prober.answer(&Answer::GaveUp(halt));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::refusals::STAYS_FOR;

    #[test]
    fn silence_does_not_hide_what_the_world_has_said() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let host = Host::real(Arc::new(runtime));
        let board = Arc::new(Board::new(1));
        let probe: Probe = Box::new(|| Box::pin(async { Ok(()) }));
        let prober = Prober::start(World::Broker, None, Arc::clone(&board), &host, probe);
        let slow = Instant::now().checked_sub(SLOW).unwrap();
        let why = || board.holding().iter().map(|hold| hold.why.clone()).collect::<Vec<_>>();

        prober.lock().open.insert(7, slow);
        prober.look();
        assert_eq!(why(), ["no answer for 3 s"]);
        prober.wait("a transaction is not decided", |_| {});
        prober.look();
        assert_eq!(why(), ["no answer for 3 s, after: a transaction is not decided"]);

        // The next outage begins with nothing said.
        prober.answer(&Answer::Up);
        prober.worked();
        prober.lock().worked_at = Some(slow);
        prober.look();
        assert_eq!(why(), ["no answer for 3 s"]);
    }
    /// What happens to somebody who waits while a world gives these answers, the last one again and again: the answer,
    /// and after how long.
    fn waited(limit: Option<Duration>, answers: &[Result<(), Said>]) -> (Answer, Duration) {
        let answers: Arc<Mutex<Vec<_>>> = Arc::new(Mutex::new(answers.iter().rev().cloned().collect()));
        let probe: Probe = Box::new(move || {
            let mut answers = answers.lock().unwrap();
            let answer = if answers.len() > 1 { answers.pop() } else { answers.last().cloned() };
            Box::pin(async move { answer.unwrap() })
        });
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build().unwrap();
        let wait = async {
            let host = Host::simulated(7, Arc::new(Notify::new()));
            let prober = Prober::start(World::Database, limit, Arc::new(Board::new(1)), &host, probe);
            let (sender, answered) = tokio::sync::oneshot::channel();
            let began = Instant::now();
            prober.wait("it is out", move |answer| drop(sender.send(answer)));
            (answered.await.unwrap(), began.elapsed())
        };
        tokio::task::LocalSet::new().block_on(&runtime, wait)
    }

    fn refuses(kind: HaltKind) -> Result<(), Said> {
        Err(Said { text: "access denied".to_owned(), refuses: Some(kind) })
    }

    #[test]
    fn rights_that_stay_lost_halt_and_are_named() {
        for kind in [HaltKind::Rights, HaltKind::Misconfigured] {
            let (answer, after) = waited(None, &[Err(Said::out("refused")), refuses(kind)]);
            let Answer::GaveUp(halt) = answer else { panic!("{answer:?}") };
            assert_eq!(halt.kind, kind);
            assert!(halt.message.contains("the database has refused for 1"), "{halt}");
            assert!(halt.message.ends_with("s: access denied"), "{halt}");
            assert!((STAYS_FOR..STAYS_FOR * 2).contains(&after), "{after:?}");
        }
    }

    #[test]
    fn rights_that_come_back_are_waited_for() {
        let lost: Vec<_> = std::iter::repeat_n(refuses(HaltKind::Rights), 6).collect();
        let answers = [&lost[..], &[Ok(())]].concat();
        assert_eq!(waited(None, &answers).0, Answer::Up);
        // An outage between two rows of refusals: neither is long enough.
        let out: Vec<_> = std::iter::repeat_n(Err(Said::out("refused")), 8).collect();
        let answers = [&lost[..], &out, &lost, &out, &lost, &[Ok(())]].concat();
        let (answer, after) = waited(None, &answers);
        assert_eq!(answer, Answer::Up);
        assert!(after > STAYS_FOR, "all of it took {after:?}: the test shows nothing");
    }

    #[test]
    fn an_outage_of_any_length_is_no_refusal() {
        let limit = Duration::from_secs(60);
        let (answer, after) = waited(Some(limit), &[Err(Said::out("refused"))]);
        let Answer::GaveUp(halt) = answer else { panic!("{answer:?}") };
        assert_eq!(halt.kind, HaltKind::Outage);
        assert!(after >= limit, "{after:?}");
    }
}
