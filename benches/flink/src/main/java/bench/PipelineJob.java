package bench;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The whole job: Kafka, orders by key, look-up and store, Kafka in transactions that end with a checkpoint.
 *
 * <p>In: the options below. Out: the job runs in this process until its input ends, or until it is killed. Guarantees: outputs
 * exactly once; the database's rows are written at least once, which an upsert does not show and a plain insert does.
 */
public final class PipelineJob {
  private PipelineJob() {}

  public static void main(String[] arguments) throws Exception {
    Map<String, String> options = options(arguments);
    int parallelism = Integer.parseInt(options.get("parallelism"));
    int connections = Integer.parseInt(options.get("db-parallelism"));
    Database database =
        new Database(options.get("jdbc-url"), options.get("db-user"), options.get("db-password"));

    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.createLocalEnvironment(
            Math.max(parallelism, connections), new Configuration());
    environment.setParallelism(parallelism);
    environment.getConfig().enableObjectReuse();
    environment.enableCheckpointing(
        Long.parseLong(options.get("checkpoint-ms")), CheckpointingMode.EXACTLY_ONCE);

    KeyedStream<Order, String> orders =
        environment
            .fromSource(source(options), WatermarkStrategy.noWatermarks(), "orders")
            .returns(TypeInformation.of(Order.class))
            .keyBy(order -> order.id);
    stored(options.get("form"), orders, database)
        .setParallelism(connections)
        .sinkTo(sink(options))
        .setParallelism(connections);
    environment.execute("bench");
  }

  private static SingleOutputStreamOperator<Output> stored(
      String form, KeyedStream<Order, String> orders, Database database) {
    return switch (form) {
      case "blocking" -> orders.map(new BlockingStore(database));
      case "batching" ->
          orders.transform("store", TypeInformation.of(Output.class), new BatchingStore(database));
      default -> throw new IllegalArgumentException("--form is blocking or batching, not " + form);
    };
  }

  private static KafkaSource<Order> source(Map<String, String> options) {
    KafkaSourceBuilder<Order> builder =
        KafkaSource.<Order>builder()
            .setBootstrapServers(options.get("bootstrap.servers"))
            .setTopics(options.get("topic-in"))
            .setGroupId(options.get("group"))
            .setProperty("isolation.level", "read_committed")
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setDeserializer(new OrderReader());
    if (Boolean.parseBoolean(options.get("bounded"))) {
      builder.setBounded(OffsetsInitializer.latest());
    }
    return builder.build();
  }

  private static KafkaSink<Output> sink(Map<String, String> options) {
    // The broker takes no transaction that may stay open for longer than its own limit, 15 minutes.
    String timeout = String.valueOf(Duration.ofMinutes(10).toMillis());
    return KafkaSink.<Output>builder()
        .setBootstrapServers(options.get("bootstrap.servers"))
        .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .setTransactionalIdPrefix(options.get("transactional-id-prefix"))
        .setProperty("transaction.timeout.ms", timeout)
        .setProperty("linger.ms", "20")
        .setProperty("batch.size", "262144")
        .setRecordSerializer(new OutputWriter(options.get("topic-out")))
        .build();
  }

  /** {@code --name value ...} */
  private static Map<String, String> options(String[] arguments) {
    Map<String, String> options = new HashMap<>();
    for (int at = 0; at + 1 < arguments.length; at += 2) {
      options.put(arguments[at].substring("--".length()), arguments[at + 1]);
    }
    return options;
  }
}
