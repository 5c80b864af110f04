package bench;

/** One record to send. */
public class Output {
  public String key;
  public byte[] document;

  public Output() {}

  private Output(String key, byte[] document) {
    this.key = key;
    this.document = document;
  }

  /** The order's document with what the look-up found as the last child of its customer; as it was, where it found nothing. */
  static Output of(Order order, Customer customer) {
    return new Output(order.id, customer == null ? order.document : customer.into(order));
  }
}
