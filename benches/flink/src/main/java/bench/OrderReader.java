package bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Arrays;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Reads an order from its document by StAX, in the source, so that threads of the source read while others store.
 *
 * <p>The document is read to its end: one that is not well-formed must not be half an order.
 */
final class OrderReader implements KafkaRecordDeserializationSchema<Order> {
  private static final byte[] CUSTOMER = "<s:customer".getBytes(UTF_8);

  private transient XMLInputFactory factory;

  @Override
  public void open(DeserializationSchema.InitializationContext context) {
    factory = XMLInputFactory.newFactory();
    factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
    factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
  }

  @Override
  public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<Order> out) throws IOException {
    try {
      out.collect(read(record.value()));
    } catch (XMLStreamException error) {
      throw new IOException(error);
    }
  }

  private Order read(byte[] document) throws XMLStreamException {
    Order order = new Order();
    order.document = document;
    order.slash = slash(document);
    XMLStreamReader reader = factory.createXMLStreamReader(new ByteArrayInputStream(document));
    while (reader.hasNext()) {
      if (reader.next() == XMLStreamConstants.START_ELEMENT) {
        switch (reader.getLocalName()) {
          case "order" -> order.id = reader.getAttributeValue(null, "id");
          case "customer" -> order.customer = Long.parseLong(reader.getAttributeValue(null, "ref"));
          case "total" -> {
            order.currency = reader.getAttributeValue(null, "currency");
            order.total = reader.getElementText();
          }
          case "placedAt" -> order.placedAt = reader.getElementText();
          default -> {}
        }
      }
    }
    reader.close();
    return order;
  }

  /** StAX counts characters and the document is spliced as bytes: the tag is looked for. */
  private static int slash(byte[] document) {
    int at = 0;
    while (!Arrays.equals(document, at, at + CUSTOMER.length, CUSTOMER, 0, CUSTOMER.length)) {
      at++;
    }
    while (document[at] != '>') {
      at++;
    }
    return at - 1;
  }

  @Override
  public TypeInformation<Order> getProducedType() {
    return TypeInformation.of(Order.class);
  }
}
