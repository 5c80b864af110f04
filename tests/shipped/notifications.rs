//! Bank notifications: an event for each entry.

use super::{Shipped, part, rows, text, with};

const IBAN: &str = "CH2909000000250094239";

/// An entry as it goes out: alone, with its account.
fn alone(entry: &str) -> String {
    let declared = "xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.054.001.04\" \
                    xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
    let inside = entry.trim_start_matches("<Ntry>").trim_end_matches("</Ntry>");
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Ntry {declared}>{inside}<Acct>{IBAN}</Acct></Ntry>")
}

fn entries(message: &str) -> [&str; 2] {
    let first = part(message, "<Ntry>", "</Ntry>");
    let behind = &message[message.find(first).unwrap() + first.len()..];
    [first, part(behind, "<Ntry>", "</Ntry>")]
}

pub fn notifications() -> Shipped {
    let sample = text("notifications", "sample.xml");
    let [credit, debit] = entries(&sample).map(str::to_owned);
    // The same day's notification of another number: its first entry cannot be read, the second can.
    let other = with(&sample, "20190424375204228750931", "20190424375204228750932");
    let one_bad = with(&other, "<NbOfTxs>5<", "<NbOfTxs>five<");
    // And one whose first entry the table does not hold.
    let third = with(&sample, "20190424375204228750931", "20190424375204228750933");
    let one_refused = third.replace("<Nm>Bernasconi Maria</Nm>", &format!("<Nm>{}</Nm>", "M".repeat(141)));
    let empty = format!(
        "{}{}",
        &sample[..sample.find("<Ntry>").unwrap()],
        "</Ntfctn></BkToCstmrDbtCdtNtfctn></Document>"
    );
    let sent = |topic, entry: &str| (topic, IBAN.to_owned(), alone(entry));
    let beside_refused = entries(&one_refused)[1].to_owned();
    Shipped {
        folder: "notifications",
        file: "job.toml",
        name: "notifications",
        input: "account.notifications",
        outputs: &["account.credits", "account.debits"],
        rejected: "account.notifications.rejected",
        before: &[],
        sent: vec![
            sent("account.credits", &credit),
            sent("account.debits", &debit),
            sent("account.debits", &debit),
            sent("account.debits", &beside_refused),
        ],
        records: vec![sample, one_bad, empty, one_refused],
        rows: vec![
            (
                "SELECT notification_id, reference, message_id, iban, notified_at, entry_ref, amount, currency, side, booked_on,
                        value_on, charges, batch_of, transactions_in
                 FROM notified_entry ORDER BY notification_id, reference",
                // Twenty past midnight in Zurich's summer is the day before in UTC.
                rows(&[
                    "20190424375204228750931|07582000303KBMSU|20190424375204228750928|CH2909000000250094239|\
                     2019-04-24 22:20:05|014295803|1537|CHF|credit|2019-04-24|2019-04-25|0|5|5",
                    "20190424375204228750931|100820002V496ZRA|20190424375204228750928|CH2909000000250094239|\
                     2019-04-24 22:20:05|020010001|147|CHF|debit|2019-04-24|2019-04-25|4.4|1|1",
                    "20190424375204228750932|100820002V496ZRA|20190424375204228750928|CH2909000000250094239|\
                     2019-04-24 22:20:05|020010001|147|CHF|debit|2019-04-24|2019-04-25|4.4|1|1",
                    "20190424375204228750933|100820002V496ZRA|20190424375204228750928|CH2909000000250094239|\
                     2019-04-24 22:20:05|020010001|147|CHF|debit|2019-04-24|2019-04-25|4.4|1|1",
                ]),
            ),
            (
                "SELECT end_to_end_ids FROM notified_entry WHERE notification_id = '20190424375204228750931' ORDER BY reference",
                rows(&[r#"["EndToEndId-001-02-02","EndToEndId-001-02-01","EndToEndId-001-02-03"]"#, "[]"]),
            ),
            (
                "SELECT entry, transaction_no, reference, end_to_end, amount, debtor, creditor_ref, accepted_at
                 FROM notified_transaction WHERE notification_id = '20190424375204228750931' AND transaction_no IN (1, 4)
                 ORDER BY entry, transaction_no",
                rows(&[
                    "07582000303KBMSU|1|180315CH02ZX5RI3|EndToEndId-001-02-02|250|Bernasconi Maria|\
                     120000000000234478943216899|2019-04-24 18:00:00",
                    "07582000303KBMSU|4|180315CH02ZZ4OOX|NULL|324|Bernasconi Maria|\
                     359335273113716998981168243|2019-04-24 18:00:00",
                    "100820002V496ZRA|1|180410CH02UZ2PC1|NULL|147|NULL|100041698214115449371805270|2019-04-23 18:00:00",
                ]),
            ),
            ("SELECT COUNT(*) FROM notified_transaction", rows(&["8"])),
        ],
        dead: vec![("field_type", "batch_of", 1), ("refused", "", 3)],
    }
}
