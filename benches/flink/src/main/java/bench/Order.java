package bench;

/** One change of an order, as it was read, with its document. A plain object, so that Flink serialises it without reflection. */
public class Order {
  public String id;
  public long customer;
  public String total;
  public String currency;
  public String placedAt;
  public byte[] document;
  /** Where the {@code /} of the customer's empty tag stands in the document. */
  public int slash;
}
