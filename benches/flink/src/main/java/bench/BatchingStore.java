package bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * What an expert writes once the blocking form is too slow: events gather, up to 500 or for 50 ms, and go to the database
 * together: one look-up by {@code IN}, one upsert of many rows, one commit. Outputs follow the commit.
 *
 * <p>Before each barrier everything is flushed, so that a checkpoint never has events that are read and not stored. Of several
 * changes of one order in a batch the last one is stored: for an upsert of all columns that is the outcome of all of them.
 */
final class BatchingStore extends AbstractStreamOperator<Output>
    implements OneInputStreamOperator<Order, Output> {
  private static final int MOST = 500;
  private static final long LONGEST_MS = 50;

  private final Database database;

  private transient Connection connection;
  private transient Map<String, PreparedStatement> prepared;
  private transient List<Order> waiting;

  BatchingStore(Database database) {
    this.database = database;
  }

  @Override
  public void open() throws Exception {
    super.open();
    connection = database.connect();
    connection.setAutoCommit(false);
    prepared = new HashMap<>();
    waiting = new ArrayList<>(MOST);
  }

  @Override
  public void processElement(StreamRecord<Order> record) throws Exception {
    if (waiting.isEmpty()) {
      long due = getProcessingTimeService().getCurrentProcessingTime() + LONGEST_MS;
      getProcessingTimeService().registerTimer(due, now -> flush());
    }
    waiting.add(record.getValue());
    if (waiting.size() >= MOST) {
      flush();
    }
  }

  @Override
  public void prepareSnapshotPreBarrier(long checkpoint) throws Exception {
    flush();
  }

  @Override
  public void finish() throws Exception {
    flush();
    super.finish();
  }

  @Override
  public void close() throws Exception {
    if (connection != null) {
      connection.close();
    }
    super.close();
  }

  private void flush() throws SQLException {
    if (waiting.isEmpty()) {
      return;
    }
    Map<Long, Customer> customers = customers();
    store();
    connection.commit();
    for (Order order : waiting) {
      output.collect(new StreamRecord<>(Output.of(order, customers.get(order.customer))));
    }
    waiting.clear();
  }

  private Map<Long, Customer> customers() throws SQLException {
    long[] wanted = waiting.stream().mapToLong(order -> order.customer).distinct().toArray();
    PreparedStatement statement = statement(Database.customers(size(wanted.length)));
    for (int at = 0; at < size(wanted.length); at++) {
      statement.setLong(at + 1, wanted[Math.min(at, wanted.length - 1)]);
    }
    Map<Long, Customer> found = new HashMap<>();
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        found.put(rows.getLong(1), new Customer(rows.getString(2), rows.getString(3)));
      }
    }
    return found;
  }

  /** Sorted by key: subtasks then lock rows in one order and do not meet in deadlocks. */
  private void store() throws SQLException {
    Map<String, Order> last = new LinkedHashMap<>();
    waiting.forEach(order -> last.put(order.id, order));
    List<Order> rows = new ArrayList<>(new TreeMap<>(last).values());
    for (int from = 0; from < rows.size(); ) {
      int many = Integer.highestOneBit(rows.size() - from);
      PreparedStatement statement = statement(Database.upsert(many));
      int at = 1;
      for (Order order : rows.subList(from, from + many)) {
        at = Database.bind(statement, at, order);
      }
      statement.executeUpdate();
      from += many;
    }
  }

  /** Few sizes, so that few statements are prepared. */
  private static int size(int many) {
    int half = Integer.highestOneBit(many);
    return half == many ? many : half << 1;
  }

  private PreparedStatement statement(String sql) throws SQLException {
    PreparedStatement known = prepared.get(sql);
    if (known == null) {
      known = connection.prepareStatement(sql);
      prepared.put(sql, known);
    }
    return known;
  }
}
