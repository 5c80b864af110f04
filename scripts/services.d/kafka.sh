# shellcheck shell=bash
# One Kafka node in KRaft mode, broker and controller in one process.

KAFKA_VERSION=4.3.1
CACHE=${TIDEGATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tidegate}
KAFKA_LIBS=$CACHE/kafka-$KAFKA_VERSION

# The jars, once per machine. They come into a folder beside, which is renamed when it is whole.
kafka_fetch() {
  [[ -d $KAFKA_LIBS ]] && return
  command -v mvn >/dev/null || die "no mvn: Kafka's jars come by Maven. scripts/install installs it."
  say "fetching the jars of Kafka $KAFKA_VERSION to $KAFKA_LIBS (once, about a minute)"
  mkdir -p "$CACHE"
  local part
  part=$(mktemp -d "$KAFKA_LIBS.XXXXXX")
  if ! mvn -q -B -f "$HERE/services.d/kafka-pom.xml" dependency:copy-dependencies \
    -DoutputDirectory="$part" >&2; then
    rm -rf "$part"
    die "Maven could not fetch Kafka's jars; see above"
  fi
  # mv would go into a folder that another run has put there in the meantime.
  mv -T "$part" "$KAFKA_LIBS" 2>/dev/null || rm -rf "$part"
  [[ -d $KAFKA_LIBS ]] || die "Kafka's jars could not be put to $KAFKA_LIBS"
}

kafka_java() {
  local java=${JAVA_HOME:+$JAVA_HOME/bin/}java version
  command -v "$java" >/dev/null || die "no java: Kafka needs Java 17 or newer. scripts/install installs it."
  version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
  ((${version:-0} >= 17)) || die "$java is version ${version:-unknown}: Kafka needs Java 17 or newer"
  echo "$java"
}

kafka_properties() {
  cat <<PROPERTIES
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$CONTROLLER_PORT
listeners=PLAINTEXT://127.0.0.1:$KAFKA_PORT,SASL://127.0.0.1:$SASL_PORT,CONTROLLER://127.0.0.1:$CONTROLLER_PORT
advertised.listeners=PLAINTEXT://127.0.0.1:$KAFKA_PORT,SASL://127.0.0.1:$SASL_PORT
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
# An account whose rights can be taken away; whoever comes without one may do everything.
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
sasl.enabled.mechanisms=PLAIN
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_app="app";
log.dirs=$DIR/kafka
# Records carry the timestamps of their events, which may be years old: nothing is ever deleted by age.
log.retention.ms=-1
log.cleaner.dedupe.buffer.size=8388608
num.partitions=1
auto.create.topics.enable=false
default.replication.factor=1
min.insync.replicas=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
num.network.threads=2
num.io.threads=4
# A broker that was killed is let in again when its old session is over; the default is 9 s.
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=3000
PROPERTIES
}

# Asks for the brokers (Metadata, version 1, of no topic) and counts them: the port opens before the broker serves.
kafka_answers() {
  local brokers
  brokers=$(
    exec 2>/dev/null 3<>"/dev/tcp/127.0.0.1/$KAFKA_PORT" || exit
    #        length           key     version correlation      client  topics: none
    printf '\x00\x00\x00\x0e\x00\x03\x00\x01\x00\x00\x00\x01\xff\xff\x00\x00\x00\x00' >&3
    timeout 2 head -c 12 <&3 | od -An -v -t u1
  ) 2>/dev/null || return 1
  # shellcheck disable=SC2086 # the bytes are to be split
  set -- $brokers
  (($# == 12)) && ((${12} > 0))
}

kafka_format() {
  [[ -f $DIR/kafka/meta.properties ]] && return
  local id
  # 16 random bytes; a leading letter keeps the id from looking like an option.
  id=A$(head -c 18 /dev/urandom | base64 | tr '+/' 'ab' | head -c 20)w
  "$1" -cp "$KAFKA_LIBS/*" -Dlog4j2.configurationFile="$HERE/services.d/kafka-log4j2.xml" \
    kafka.tools.StorageTool format -t "$id" -c "$DIR/kafka.properties" >>"$DIR/kafka.log" 2>&1 || {
    tail -n 20 "$DIR/kafka.log" >&2
    die "Kafka's data folder could not be formatted"
  }
}

kafka_launch() {
  local java
  kafka_fetch
  java=$(kafka_java) || exit
  listens "$KAFKA_PORT" && die "port $KAFKA_PORT is taken: set TIDEGATE_KAFKA_PORT to another one, or to auto"
  listens "$SASL_PORT" && die "port $SASL_PORT is taken: set TIDEGATE_KAFKA_SASL_PORT to another one, or to auto"
  listens "$CONTROLLER_PORT" && die "port $CONTROLLER_PORT is taken: set TIDEGATE_KAFKA_CONTROLLER_PORT to another one, or to auto"
  kafka_properties >"$DIR/kafka.properties"
  kafka_format "$java"
  spawn kafka "$java" -Xms256m -Xmx768m -XX:+UseSerialGC -Djava.awt.headless=true \
    -Dlog4j2.configurationFile="$HERE/services.d/kafka-log4j2.xml" \
    -cp "$KAFKA_LIBS/*" kafka.Kafka "$DIR/kafka.properties"
}

kafka_wait() {
  wait_ready kafka 90
  say "kafka answers at 127.0.0.1:$KAFKA_PORT"
}
