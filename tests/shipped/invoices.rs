//! Invoices, in both syntaxes.

use super::{Shipped, rows, text, with};

/// The edits of a routed invoice.
fn routed(document: &str, end_of_party: &str, reference: (&str, &str)) -> String {
    let routing = "<x:Routing xmlns:x=\"urn:shop:invoice-routing:1\" costCentre=\"Zeitschriften &amp; Bücher\" \
                   scheme=\"internal\">70012</x:Routing>";
    let added = with(document, end_of_party, &format!("{routing}{end_of_party}"));
    with(&added, reference.0, reference.1)
}

#[allow(clippy::too_many_lines, reason = "a table of what is expected")]
pub fn invoices() -> Shipped {
    let ubl = text("invoices", "sample.xml");
    let sub_lines = text("invoices", "sample-sublines.xml");
    let cii = text("invoices", "sample-cii.xml");
    let wrong_date = with(
        &cii,
        ">20160621</udt:DateTimeString>\n        </ram:IssueDateTime>",
        ">20160631</udt:DateTimeString>\n        </ram:IssueDateTime>",
    );
    let long = with(
        &ubl,
        "<cbc:RegistrationName>[Seller name]<",
        &format!("<cbc:RegistrationName>{}<", "S".repeat(101)),
    );
    let long = with(&long, "<cbc:ID>123456XX<", "<cbc:ID>123457XX<");
    // Nineteen digits in front of the point: more than the type holds, and no value is cut to fit.
    let large = with(
        &ubl,
        "<cbc:PayableAmount currencyID=\"EUR\">336.9<",
        "<cbc:PayableAmount currencyID=\"EUR\">1234567890123456789.5<",
    );
    let ubl_routed = routed(
        &ubl,
        "</cac:Party>\n    </cac:AccountingSupplierParty>",
        (">04011000-12345-03<", ">04011000-12345-34<"),
    );
    let cii_routed = routed(&cii, "</ram:SellerTradeParty>", (">04011000-12346-97<", ">04011000-12345-34<"));
    Shipped {
        folder: "invoices",
        file: "job.toml",
        name: "invoices",
        input: "invoices",
        outputs: &["invoices.routed", "invoices.unknown"],
        rejected: "invoices.rejected",
        before: &[],
        sent: vec![
            ("invoices.routed", "DE 123456789|123456XX".to_owned(), ubl_routed),
            ("invoices.routed", "DE123456789|123456".to_owned(), cii_routed),
            // Of an unknown supplier: byte for byte as it came.
            ("invoices.unknown", "DE/12/345/67890|12345".to_owned(), sub_lines.clone()),
        ],
        records: vec![ubl, wrong_date, sub_lines, long, cii, large],
        rows: vec![
            (
                "SELECT vat_id, id, issued_on, type_code, currency, payable, buyer_ref, seller, account FROM invoice ORDER BY id",
                rows(&[
                    "DE/12/345/67890|12345|2019-05-15|380|EUR|4918.84|12345678-12345-83|M. Meier Handwerk GbR|NULL",
                    "DE123456789|123456|2016-06-21|380|EUR|12.6|04011000-12346-97|[Seller name]|70012",
                    "DE123456789|123456XX|2016-04-04|380|EUR|336.9|04011000-12345-03|[Seller name]|70012",
                ]),
            ),
            (
                "SELECT notes FROM invoice WHERE id = '123456XX'",
                rows(&[r##"["#ADU#Es gelten unsere Allgem. Geschäftsbedingungen, die Sie unter […] finden."]"##]),
            ),
            (
                "SELECT line, sub_line, sub_sub_line, line_id, name, quantity, unit, amount, tax FROM invoice_line
                 WHERE invoice IN ('123456', '123456XX') ORDER BY invoice, line",
                rows(&[
                    "1|0|0|SZ300540|Denk doch, wie du willst|1|XPP|11.78|7",
                    "1|0|0|Zeitschrift [...]|Zeitschrift [...]|1|XPP|288.79|7",
                    "2|0|0|Porto + Versandkosten|Porto + Versandkosten|1|XPP|26.07|7",
                ]),
            ),
            (
                "SELECT line, sub_line, sub_sub_line, line_id, quantity, unit, amount FROM invoice_line
                 WHERE invoice = '12345' AND line = 1 ORDER BY sub_line, sub_sub_line",
                rows(&[
                    "1|0|0|1|1|XPP|818.04",
                    "1|1|0|1 1|1|XPP|335.79",
                    "1|1|1|1 1 1|149|MTR|193.7",
                    "1|1|2|1 1 2|32.5|MTR|48.75",
                    "1|1|3|1 1 3|71.8|MTR|93.34",
                    "1|2|0|1 2|1|XPP|482.25",
                    "1|2|1|1 2 1|9.5|MTR|99.75",
                    "1|2|2|1 2 2|45|MTR|382.5",
                ]),
            ),
            ("SELECT COUNT(*) FROM invoice_line WHERE invoice = '12345'", rows(&["15"])),
        ],
        dead: vec![("field_type", "issued_cii", 1), ("refused", "", 3), ("field_type", "payable", 5)],
    }
}
