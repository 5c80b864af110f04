# shellcheck shell=bash
# What both services need: words to the user, waiting, ports, and processes that are signalled by pid alone.
#
# A pid file holds `PID START`. START is the process's start time, so that a pid which the system has given to
# somebody else in the meantime is never signalled.

say() { printf 'services: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# start_time PID: when the process started, in whatever unit the system has; nothing when there is no such process.
start_time() {
  if [[ -r /proc/self/stat ]]; then
    local stat
    { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 0
    stat=${stat##*) } # the name in front may hold blanks
    # shellcheck disable=SC2086 # the fields are to be split
    set -- $stat
    # A zombie has ended: only its parent has not looked yet.
    [[ $1 == Z || $1 == X ]] || echo "${20}"
  else
    ps -o lstart= -p "$1" 2>/dev/null | tr -s ' ' '_'
  fi
}

# pid_of NAME: the pid of a service that this script started and that still runs; nothing otherwise.
pid_of() {
  local pid start
  [[ -f $DIR/$1.pid ]] || return 0
  read -r pid start <"$DIR/$1.pid" || return 0
  [[ -n $start && $(start_time "$pid") == "$start" ]] && echo "$pid"
  return 0
}

# spawn NAME COMMAND...: runs the command detached from this terminal, its output in NAME.log.
spawn() {
  local name=$1 pid
  shift
  # Not one descriptor of the caller may live on in the service: a caller that reads our output waits for its end.
  (
    for fd in /proc/self/fd/*; do
      fd=${fd##*/}
      if ((fd > 2)); then eval "exec $fd>&-" 2>/dev/null || true; fi
    done
    exec setsid "$@"
  ) </dev/null >>"$DIR/$name.log" 2>&1 &
  pid=$!
  disown "$pid"
  printf '%s %s\n' "$pid" "$(start_time "$pid")" >"$DIR/$name.pid"
}

# wait_until SECONDS COMMAND...: asks ten times a second; fails when the time is over.
wait_until() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.1
  done
}

# wait_ready NAME SECONDS: until NAME_answers says yes; ends with the tail of its log when it died or never answers.
wait_ready() {
  local name=$1 deadline=$((SECONDS + $2))
  until "${name}_answers"; do
    if [[ -z $(pid_of "$name") ]]; then
      tail -n 20 "$DIR/$name.log" >&2
      die "$name ended while it was starting; its log is $DIR/$name.log"
    fi
    if ((SECONDS >= deadline)); then
      tail -n 20 "$DIR/$name.log" >&2
      die "$name does not answer after $2 s; its log is $DIR/$name.log"
    fi
    sleep 0.1
  done
}

gone() { [[ -z $(pid_of "$1") ]]; }

# signal NAME SIGNAL
signal() {
  local pid
  pid=$(pid_of "$1")
  [[ -n $pid ]] || die "$1 does not run in $DIR: nothing to send SIG$2 to"
  kill -s "$2" "$pid"
}

# stop_service NAME: SIGTERM and wait; a frozen one is thawed, since it could not hear the signal.
stop_service() {
  if gone "$1"; then
    say "$1 does not run"
  else
    signal "$1" TERM
    signal "$1" CONT 2>/dev/null || true
    if ! wait_until 60 gone "$1"; then
      say "$1 did not end within 60 s of SIGTERM: killing it"
      signal "$1" KILL
      wait_until 10 gone "$1" || die "$1 cannot be killed"
    fi
    say "$1 stopped"
  fi
  rm -f "$DIR/$1.pid"
}

# kill_service NAME: SIGKILL, as a crash is.
kill_service() {
  signal "$1" KILL
  wait_until 10 gone "$1" || die "$1 cannot be killed"
  rm -f "$DIR/$1.pid"
  say "$1 killed"
}

freeze_service() { signal "$1" STOP && say "$1 frozen"; }
thaw_service() { signal "$1" CONT && say "$1 goes on"; }

# listens PORT: does anybody accept connections there?
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# free_port: below the range that the system takes for outgoing connections, so that nobody's connection can
# take the port while a service is stopped.
free_port() {
  local port
  while :; do
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
    listens "$port" || break
  done
  echo "$port"
}
