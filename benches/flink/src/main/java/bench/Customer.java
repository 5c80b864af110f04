package bench;

import static java.nio.charset.StandardCharsets.UTF_8;

/** What the look-up gives. */
record Customer(String name, String tier) {
  /** {@code <s:customer ref="1"/>} becomes {@code <s:customer ref="1"><s:name tier="...">...</s:name></s:customer>}. */
  byte[] into(Order order) {
    String added = "><s:name tier=\"" + escaped(tier) + "\">" + escaped(name) + "</s:name></s:customer";
    byte[] middle = added.getBytes(UTF_8);
    byte[] before = order.document;
    byte[] after = new byte[before.length - 1 + middle.length];
    System.arraycopy(before, 0, after, 0, order.slash);
    System.arraycopy(middle, 0, after, order.slash, middle.length);
    int rest = before.length - order.slash - 1;
    System.arraycopy(before, order.slash + 1, after, order.slash + middle.length, rest);
    return after;
  }

  private static String escaped(String text) {
    boolean plain = text.chars().noneMatch(c -> c == '&' || c == '<' || c == '>' || c == '"');
    if (plain) {
      return text;
    }
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
  }
}
