package bench;

import java.io.Serializable;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Properties;

/** Where the tables are, and the statements of the job. */
record Database(String url, String user, String password) implements Serializable {
  static final String CUSTOMER = "SELECT name, tier FROM bench_customer WHERE id = ?";

  private static final String COLUMNS = "INSERT INTO bench_order (id, customer, total, currency, placed_at) VALUES ";
  private static final String ROW = "(?, ?, ?, ?, ?)";
  private static final String UPDATE =
      " ON DUPLICATE KEY UPDATE customer = VALUES(customer), total = VALUES(total),"
          + " currency = VALUES(currency), placed_at = VALUES(placed_at)";

  /** Statements are prepared on the server: half of the server's work for a small one is to parse it. */
  Connection connect() throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", user);
    properties.setProperty("password", password);
    properties.setProperty("useServerPrepStmts", "true");
    properties.setProperty("prepStmtCacheSize", "250");
    properties.setProperty("transactionIsolation", "READ-COMMITTED");
    return DriverManager.getConnection(url, properties);
  }

  /** For so many orders. */
  static String upsert(int orders) {
    return COLUMNS + String.join(", ", java.util.Collections.nCopies(orders, ROW)) + UPDATE;
  }

  /** For so many customers. */
  static String customers(int many) {
    String places = String.join(", ", java.util.Collections.nCopies(many, "?"));
    return "SELECT id, name, tier FROM bench_customer WHERE id IN (" + places + ")";
  }

  /** Binds an order's row; the place behind it. */
  static int bind(PreparedStatement statement, int at, Order order) throws SQLException {
    statement.setString(at++, order.id);
    statement.setLong(at++, order.customer);
    statement.setString(at++, order.total);
    statement.setString(at++, order.currency);
    statement.setString(at++, order.placedAt);
    return at;
  }
}
