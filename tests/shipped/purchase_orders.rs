//! Purchase orders and their ship notices.

use super::{Shipped, rows, text, with};

const ORDER_SECRET: &str = "<SharedSecret>coyote</SharedSecret>";

pub fn purchase_orders() -> Shipped {
    let order = text("purchase-orders", "sample.xml");
    let notice = text("purchase-orders", "sample-notice.xml");
    // A second order that is changed, and a third that is deleted.
    let second = with(&order, "orderID=\"DO1234\"", "orderID=\"DO1235\"");
    let changed = with(&with(&second, "type=\"new\"", "type=\"update\""), ">85.00<", ">86.50<");
    let third = with(&order, "orderID=\"DO1234\"", "orderID=\"DO1236\"");
    // Its type is the DTD's default.
    let third = with(&third, "\n                                 type=\"new\">", ">");
    let deleted = with(&third, "orderID=\"DO1236\" ", "orderID=\"DO1236\" type=\"delete\" ");
    let stranger =
        with(&notice, "<OrderReference orderID=\"DO1234\">", "<OrderReference orderID=\"DO9999\">");
    let wrong = with(&order, "type=\"new\"", "type=\"cancel\"");
    let long = with(&order, "<City>Sunnyvale<", &format!("<City>{}<", "S".repeat(101)));
    let long = with(&long, "orderID=\"DO1234\"", "orderID=\"DO1237\"");
    let clean = |document: &str| with(document, ORDER_SECRET, "");
    let noticed = with(&notice, "<SharedSecret>abracadabra</SharedSecret>", "");
    let noticed =
        with(&noticed, "payloadID=\"32232995@hub.acme.com\"", "payloadID=\"1625586002.193314.7293@dev\"");
    let noticed = with(
        &noticed,
        "</ShipNoticeHeader>",
        "<Extrinsic name=\"shipToCity\">Sunnyvale</Extrinsic></ShipNoticeHeader>",
    );
    let sent = |key: &str, document: &str| ("purchase.orders", key.to_owned(), clean(document));
    Shipped {
        folder: "purchase-orders",
        file: "job.toml",
        name: "purchase-orders",
        input: "purchase.requests",
        outputs: &["purchase.orders", "purchase.shipments"],
        rejected: "purchase.rejected",
        before: &[],
        sent: vec![
            sent("DO1234", &order),
            sent("DO1235", &second),
            sent("DO1235", &changed),
            sent("DO1236", &third),
            sent("DO1236", &deleted),
            ("purchase.shipments", "DO1234".to_owned(), noticed),
        ],
        records: vec![order, wrong, notice, second, third, stranger, changed, long, deleted],
        rows: vec![
            (
                "SELECT id, payload_id, sender, ordered_at, total, currency, ship_to, city, deliver_to
                 FROM purchase_order ORDER BY id",
                // 18:41:29 at -08:00.
                ["DO1234|85", "DO1235|86.5"]
                    .map(|order| {
                        let (id, total) = order.split_once('|').unwrap();
                        format!(
                            "{id}|1625586002.193314.7293@dev|inbound@prominate-platform.com|2000-10-13 02:41:29|{total}|EUR|\
                             Acme|Sunnyvale|[\"Joe Smith\",\"Mailstop M-543\"]"
                        )
                    })
                    .to_vec(),
            ),
            (
                "SELECT order_id, line, quantity, wanted, part, price, currency, text, unit FROM purchase_item
                 ORDER BY order_id, line",
                rows(&[
                    "DO1234|1|10|2020-02-28 00:00:00|1233244|2.1|EUR|hello from item 1|EA",
                    "DO1234|2|20|2020-02-28 00:00:00|1233245|3.2|EUR|hello from item 2|EA",
                    "DO1235|1|10|2020-02-28 00:00:00|1233244|2.1|EUR|hello from item 1|EA",
                    "DO1235|2|20|2020-02-28 00:00:00|1233245|3.2|EUR|hello from item 2|EA",
                ]),
            ),
            (
                "SELECT id, order_id, shipped_at, carrier, tracking FROM purchase_shipment",
                rows(&["S2-123|DO1234|2000-10-14 16:30:19|FDE|8202 8261 1194"]),
            ),
        ],
        dead: vec![("field_type", "type", 1), ("missing_lookup", "ordered", 5), ("refused", "", 7)],
    }
}
