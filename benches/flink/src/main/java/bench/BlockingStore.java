package bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;

/** The form that most jobs have: for each event one look-up and one upsert, each waited for, on a connection per subtask. */
final class BlockingStore extends RichMapFunction<Order, Output> {
  private final Database database;

  private transient Connection connection;
  private transient PreparedStatement customer;
  private transient PreparedStatement upsert;

  BlockingStore(Database database) {
    this.database = database;
  }

  @Override
  public void open(OpenContext context) throws SQLException {
    connection = database.connect();
    customer = connection.prepareStatement(Database.CUSTOMER);
    upsert = connection.prepareStatement(Database.upsert(1));
  }

  @Override
  public Output map(Order order) throws SQLException {
    customer.setLong(1, order.customer);
    Customer found = null;
    try (ResultSet rows = customer.executeQuery()) {
      if (rows.next()) {
        found = new Customer(rows.getString(1), rows.getString(2));
      }
    }
    Database.bind(upsert, 1, order);
    upsert.executeUpdate();
    return Output.of(order, found);
  }

  @Override
  public void close() throws SQLException {
    if (connection != null) {
      connection.close();
    }
  }
}
