package bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;

/** A record under its order's id: the partition is the one that any Java client would choose for the key. */
final class OutputWriter implements KafkaRecordSerializationSchema<Output> {
  private final String topic;

  OutputWriter(String topic) {
    this.topic = topic;
  }

  @Override
  public ProducerRecord<byte[], byte[]> serialize(
      Output output, KafkaSinkContext context, Long timestamp) {
    return new ProducerRecord<>(topic, output.key.getBytes(UTF_8), output.document);
  }
}
