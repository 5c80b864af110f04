//! Bank statements, of both versions.

use super::{Shipped, part, rows, text, with};

const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const XSI: &str = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";

/// A statement as it goes out: alone, with what was declared around it.
fn alone(message: &str, version: &str) -> String {
    let statement = part(message, "<Stmt>", "</Stmt>").trim_start_matches("<Stmt>");
    let namespace = format!("xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.{version}\"");
    format!("{XML}<Stmt {namespace} {XSI}>{statement}")
}

#[allow(clippy::too_many_lines, reason = "a table of what is expected")]
pub fn newer() -> Shipped {
    let sample = text("statements", "sample.xml");
    // The next statement, and its correction, which has one entry less.
    let next = with(&sample, "<ElctrncSeqNb>118<", "<ElctrncSeqNb>119<");
    let last = part(&next[next.rfind("<Ntry>").unwrap()..], "<Ntry>", "</Ntry>").to_owned();
    let corrected = with(&next.replacen(&last, "", 1), ">OPBD<", ">PRCD<");
    // Two statements in one message, of which one cannot be read.
    let broken = with(&sample, "<ElctrncSeqNb>118<", "<ElctrncSeqNb>120<");
    let broken = part(&broken, "<Stmt>", "</Stmt>").replace(">215112.21<", ">215.112,21<");
    let both = with(&sample, "</BkToCstmrStmt>", &format!("{broken}</BkToCstmrStmt>"));
    let both = both.replacen("<ElctrncSeqNb>118<", "<ElctrncSeqNb>121<", 1);
    // A name that the column does not hold.
    let long = "R".repeat(141);
    let long = with(&sample, "Robert Schneider SA Grands magasins Biel/Bienne", &long);
    let long = with(&long, "<ElctrncSeqNb>118<", "<ElctrncSeqNb>122<");
    let cut = sample[..sample.len() - 200].to_owned();
    let of = |document: &String| {
        ("account.statements.stored", "CH2909000000250094239".to_owned(), alone(document, "04"))
    };
    Shipped {
        folder: "statements",
        file: "job.toml",
        name: "account-statements",
        input: "account.statements",
        outputs: &["account.statements.stored"],
        rejected: "account.statements.rejected",
        before: &[],
        sent: vec![of(&sample), of(&next), of(&corrected), of(&both)],
        records: vec![sample, next, corrected, cut, both, long],
        rows: vec![
            (
                "SELECT iban, number, id, message_id, created_at, owner, opening, closing, currency, entries_in
                 FROM bank_statement ORDER BY number",
                // Two o'clock in Zurich in November is one in UTC.
                [(118, 5), (119, 4), (121, 5)]
                    .map(|(number, entries)| {
                        format!(
                            "CH2909000000250094239|{number}|20201124375204229003973|20201124375204229003967|\
                             2020-11-25 01:02:16|Robert Schneider SA Grands magasins Biel/Bienne|211993.19|215112.21|CHF|\
                             {entries}"
                        )
                    })
                    .to_vec(),
            ),
            (
                "SELECT code, amount, currency, credit, dated FROM bank_balance WHERE number = 118 ORDER BY code",
                rows(&[
                    "CLAV|215112.21|CHF|1|2020-11-24",
                    "CLBD|215112.21|CHF|1|2020-11-24",
                    "FWAV|216649.21|CHF|1|2020-11-25",
                    "OPBD|211993.19|CHF|1|2020-11-24",
                ]),
            ),
            (
                "SELECT entry, reference, entry_ref, amount, credit, reversal, booked_on, value_on, family, sub_family
                 FROM bank_entry WHERE number = 118 ORDER BY entry",
                rows(&[
                    "1|0758103031480900|41100000000872849|4.5|1|0|2020-11-24|2020-11-24|IDDT|PMDD",
                    "2|0758103031480977|NULL|77.7|0|0|2020-11-24|2020-11-24|ICDT|AUTT",
                    "3|07582000303F0C7U|NULL|1500|1|0|2020-11-24|2020-11-24|RCDT|AUTT",
                    "4|07582000303KBMSU|014295803|1537|1|0|2020-11-24|2020-11-25|RCDT|VCOM",
                    "5|07582000303KBMSU|CH7730000001250094239|1692.22|1|0|2020-11-24|2020-11-24|RCDT|VCOM",
                ]),
            ),
            ("SELECT number, COUNT(*) FROM bank_balance GROUP BY number ORDER BY number", rows(&["118|4", "119|4", "121|4"])),
            ("SELECT number, COUNT(*) FROM bank_entry GROUP BY number ORDER BY number", rows(&["118|5", "119|4", "121|5"])),
            (
                "SELECT info FROM bank_entry WHERE number = 118 AND entry = 3",
                rows(&["SAMMELGUTSCHRIFT FÜR KONTO: CH2909000000250094239 VERARBEITUNG VOM 23.11.2020 PAKET ID: 9999999999999999"]),
            ),
            (
                "SELECT entry, transaction_no, reference, end_to_end, amount, currency FROM bank_transaction
                 WHERE number = 119 ORDER BY entry, transaction_no",
                rows(&[
                    "1|1|0758103031480900|NULL|4.5|CHF",
                    "2|1|0758103031480977|NULL|77.7|CHF",
                    "3|1|07582000303F0C7U|NULL|1500|CHF",
                    "4|1|07582000303KBMSU|NULL|1537|CHF",
                ]),
            ),
        ],
        dead: vec![("not_well_formed", "", 3), ("field_type", "closing", 4), ("refused", "", 5)],
    }
}

pub fn older() -> Shipped {
    let sample = text("statements", "older.xml");
    let wrong = with(&sample, "<ElctrncSeqNb>120<", "<ElctrncSeqNb>one hundred<");
    let long = with(&sample, "BANK ACCOUNT OWNER", &"B".repeat(141));
    let long = with(&long, "<ElctrncSeqNb>120<", "<ElctrncSeqNb>121<");
    Shipped {
        folder: "statements",
        file: "older.toml",
        name: "account-statements-older",
        input: "account.statements.older",
        outputs: &["account.statements.older.stored"],
        rejected: "account.statements.older.rejected",
        before: &[],
        sent: vec![("account.statements.older.stored", "FI7433010001222090".to_owned(), alone(&sample, "02"))],
        records: vec![wrong, sample, long],
        rows: vec![
            (
                "SELECT iban, number, id, message_id, created_at, owner, opening, closing, currency, entries_in FROM bank_statement",
                // Two o'clock at +02:00 is midnight in UTC, wherever the bank is.
                rows(&["FI7433010001222090|120|BANKSTMTID0972009|BANKFILEID00001|2009-10-30 00:00:00|BANK ACCOUNT OWNER|10000|\
                        23644.83|EUR|10"]),
            ),
            (
                "SELECT entry, reference, amount, credit FROM bank_entry WHERE entry IN (1, 2, 10) ORDER BY entry",
                rows(&["1|091029ACCTSTMTARCH01|1000.12|0", "2|091029ACCTSTMTARCH02|4000|0", "10|091029ACCTSTMTARCH09|200|0"]),
            ),
            ("SELECT COUNT(*) FROM bank_transaction", rows(&["12"])),
            ("SELECT MIN(amount), MAX(amount) FROM bank_transaction WHERE entry = 10", rows(&["100|100"])),
            // The first entry's transaction has no amount of its own.
            (
                "SELECT entry, transaction_no, reference, amount, currency FROM bank_transaction WHERE entry IN (1, 3)
                 ORDER BY entry, transaction_no",
                rows(&[
                    "1|1|NULL|1000.12|EUR",
                    "3|1|091029ARCH03001|2000.02|EUR",
                    "3|2|091029ARCH03002|1000.01|EUR",
                    "3|3|091029ARCH03003|1230.02|EUR",
                ]),
            ),
        ],
        dead: vec![("field_type", "number", 0), ("refused", "", 2)],
    }
}
