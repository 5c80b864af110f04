//! Real messages and their variants. See testdata/README.md.

use super::*;

const STATEMENT: &str = include_str!("../testdata/iso-01.xml");
const PAYMENT: &str = include_str!("../testdata/iso-04.xml");
const INVOICE: &str = include_str!("../testdata/ubl-01.xml");
const PARKING: &str = include_str!("../testdata/datex-04.xml");
const ORDER: &str = include_str!("../testdata/cxml-01.xml");
const SHIP_NOTICE: &str = include_str!("../testdata/cxml-02.xml");
const PUNCH_OUT: &str = include_str!("../testdata/cxml-03.xml");

pub(super) fn all() -> Vec<&'static str> {
    vec![STATEMENT, PAYMENT, INVOICE, PARKING, ORDER, SHIP_NOTICE, PUNCH_OUT]
}

fn statement() -> Job {
    Job::new()
        .prefix("c", "urn:iso:std:iso:20022:tech:xsd:camt.053.001.04")
        .root("c:Document")
        .key("c:BkToCstmrStmt/c:Stmt/c:Id")
        .field("c:BkToCstmrStmt/c:Stmt/c:ElctrncSeqNb", FieldType::Int64)
        .field("c:BkToCstmrStmt/c:Stmt/c:Acct/c:Id/c:IBAN", FieldType::Text)
        .field("c:BkToCstmrStmt/c:Stmt/c:CreDtTm", FieldType::Timestamp { zone: None })
        .add("c:BkToCstmrStmt/c:Stmt", "c:AddtlStmtInf")
}

fn check_statement(document: &str) {
    let decoded = statement().decode(document);
    assert_eq!(decoded.key, "20201124375204229003973");
    assert_eq!(decoded.reading.values[..2], [Value::Int(118), text("CH2909000000250094239")]);
    let Value::Timestamp(created) = &decoded.reading.values[2] else { panic!() };
    assert_eq!(created.to_string(), "2020-11-25T02:02:16");
}

#[test]
fn a_bank_statement() {
    check_statement(STATEMENT);
    let output = statement().splice(STATEMENT, &["a & b"]);
    let added = "<AddtlStmtInf>a &amp; b</AddtlStmtInf>";
    assert!(output.contains(&format!("{added}</Stmt>")));
    assert_eq!(output.replacen(added, "", 1), STATEMENT);
    check_statement(&output);
    let number = Job::new().prefix("c", "urn:iso:std:iso:20022:tech:xsd:camt.053.001.04");
    let (code, _) = number.field("c:BkToCstmrStmt/c:Stmt/c:Id", FieldType::Int64).refusal(STATEMENT);
    assert_eq!(code, ReasonCode::FieldType, "an id of 23 digits is no int64");
}

#[test]
fn a_bank_statement_with_crlf_or_on_one_line() {
    let crlf = STATEMENT.replace("\r\n", "\n").replace('\n', "\r\n");
    check_statement(&crlf);
    assert_eq!(statement().splice(&crlf, &["x"]).replacen("<AddtlStmtInf>x</AddtlStmtInf>", "", 1), crlf);

    let one_line: String = STATEMENT.lines().map(str::trim).collect();
    assert!(!one_line.contains('\n'));
    check_statement(&one_line);
    assert_eq!(
        statement().splice(&one_line, &["x"]).replacen("<AddtlStmtInf>x</AddtlStmtInf>", "", 1),
        one_line
    );
}

#[test]
fn a_bank_statement_that_did_not_arrive_whole() {
    let (code, detail) = statement().refusal(format!("{STATEMENT}\0"));
    assert_eq!(code, ReasonCode::NotWellFormed);
    assert!(detail.contains("U+0000"), "{detail}");
    let bytes = STATEMENT.as_bytes();
    let (code, _) = statement().refusal(&bytes[..bytes.len() - 200]);
    assert_eq!(code, ReasonCode::NotWellFormed);
    for length in 0..bytes.len() - 20 {
        assert!(decode_one(&mut statement().decoder(), &bytes[..length]).is_err(), "{length}");
    }
}

fn payment() -> Job {
    let order = "c:CstmrCdtTrfInitn/c:PmtInf";
    Job::new()
        .prefix("c", "urn:iso:std:iso:20022:tech:xsd:pain.001.001.03")
        .root("c:Document")
        .key("c:CstmrCdtTrfInitn/c:GrpHdr/c:MsgId")
        .field(&format!("{order}/c:PmtInfId"), FieldType::Text)
        .field(&format!("{order}/c:CdtTrfTxInf/c:Amt/c:InstdAmt"), decimal(18, 5))
        .field(&format!("{order}/c:CdtTrfTxInf/c:Amt/c:InstdAmt/@Ccy"), FieldType::Text)
        .field(&format!("{order}/c:ReqdExctnDt"), FieldType::Date)
        .optional(&format!("{order}/c:CdtTrfTxInf/c:CdtrAcct/c:Id/c:IBAN"), FieldType::Text)
        .add("c:CstmrCdtTrfInitn/c:GrpHdr", "c:Authstn")
}

#[test]
fn a_payment_order_with_a_byte_order_mark() {
    assert!(PAYMENT.starts_with('\u{feff}'));
    let check = |document: &str| {
        let decoded = payment().decode(document);
        assert_eq!(decoded.key, "MSGID0002");
        let shown: Vec<_> = decoded.reading.values.iter().map(crate::xml::text_of).collect();
        let shown: Vec<_> = shown.iter().map(Option::as_deref).collect();
        assert_eq!(shown, [Some("201509280002"), Some("111.11"), Some("USD"), Some("2015-09-28"), None]);
    };
    check(PAYMENT);
    let output = payment().splice(PAYMENT, &["x"]);
    assert_eq!(output.replacen("<Authstn>x</Authstn></GrpHdr>", "</GrpHdr>", 1), PAYMENT);
    assert_ne!(output, PAYMENT);
    check(&output);
}

#[test]
fn a_payment_order_with_20000_elements_inside_each_other() {
    let deep = format!("<Nm>{}{}", "<x>".repeat(20_000), "</x>".repeat(20_000));
    let (code, detail) = payment().refusal(PAYMENT.replacen("<Nm>", &deep, 1));
    assert_eq!(code, ReasonCode::Limit);
    assert!(detail.contains("limits.document_depth, 256"), "{detail}");
}

fn invoice() -> Job {
    let party = "cac:AccountingSupplierParty/cac:Party";
    Job::new()
        .prefix("i", "urn:oasis:names:specification:ubl:schema:xsd:Invoice-2")
        .prefix("cac", "urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2")
        .prefix("cbc", "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2")
        .root("i:Invoice")
        .key(&format!("{party}/cac:PartyTaxScheme/cbc:CompanyID"))
        .key("cbc:ID")
        .field("cbc:IssueDate", FieldType::Date)
        .field("cbc:InvoiceTypeCode", FieldType::Int64)
        .field("cac:LegalMonetaryTotal/cbc:PayableAmount", decimal(18, 2))
        .field(&format!("{party}/cac:PartyLegalEntity/cbc:RegistrationName"), FieldType::Text)
        .add(party, "cbc:EndpointID")
}

fn check_invoice(document: &str, name: &str) {
    let decoded = invoice().decode(document);
    assert_eq!(decoded.key, "DE 123456789|123456XX");
    let shown: Vec<_> =
        decoded.reading.values.iter().map(|value| crate::xml::text_of(value).unwrap()).collect();
    assert_eq!(shown, ["2016-04-04", "380", "336.9", name]);
    let output = invoice().splice(document, &["x"]);
    assert_eq!(
        output.replacen("<cbc:EndpointID>x</cbc:EndpointID></cac:Party>", "</cac:Party>", 1),
        document
    );
    assert_eq!(invoice().decode(&output).reading.values, decoded.reading.values);
}

#[test]
fn an_invoice_and_its_variants() {
    let amount = ">336.9</cbc:PayableAmount>";
    let name = "[Seller name]";
    assert!(INVOICE.contains(amount) && INVOICE.contains(&format!("<cbc:RegistrationName>{name}<")));
    check_invoice(INVOICE, name);
    let cut_up = ">33<!-- c --><![CDATA[6.]]>&#57;<?p x?></cbc:PayableAmount>";
    check_invoice(&INVOICE.replacen(amount, cut_up, 1), name);
    check_invoice(&INVOICE.replacen(name, "a ]]&gt; b &amp;lt; c", 1), "a ]]> b &lt; c");
    check_invoice(&INVOICE.replacen(name, "Bäcker 😀 𠀀", 1), "Bäcker 😀 𠀀");
}

fn with_doctype(subset: &str, name: &str) -> String {
    INVOICE.replacen("<ubl:Invoice", &format!("<!DOCTYPE ubl:Invoice [{subset}]>\n<ubl:Invoice"), 1).replacen(
        "[Seller name]",
        name,
        1,
    )
}

#[test]
fn an_invoice_with_an_entity_of_its_own() {
    check_invoice(&with_doctype("<!ENTITY co 'Muster &amp; Söhne'>", "&co;"), "Muster & Söhne");
    let mut refusing = invoice();
    refusing.event.doctype = Doctype::Refuse;
    let (code, detail) = refusing.refusal(with_doctype("<!ENTITY co 'Muster &amp; Söhne'>", "&co;"));
    assert_eq!(
        (code, &*detail),
        (ReasonCode::Doctype, "line 2, column 1: a DOCTYPE: the job refuses them (event.doctype)")
    );
}

#[test]
fn an_invoice_that_asks_for_a_file() {
    let (code, detail) = invoice().refusal(with_doctype("<!ENTITY x SYSTEM 'file:///etc/hostname'>", "&x;"));
    assert_eq!(code, ReasonCode::Doctype);
    assert!(detail.contains("an external entity: nothing outside the document is read"), "{detail}");
}

#[test]
fn an_invoice_that_is_a_bomb() {
    let mut bomb = String::from("<!ENTITY l0 'lol'>");
    for n in 1..10 {
        bomb.push_str(&format!("<!ENTITY l{n} '{}'>", format!("&l{};", n - 1).repeat(10)));
    }
    let (code, detail) = invoice().refusal(with_doctype(&bomb, "&l9;"));
    assert_eq!(code, ReasonCode::Limit);
    assert!(detail.contains("a fixed limit"), "{detail}");
}

#[test]
fn an_invoice_in_utf_16() {
    let declared = INVOICE.replacen("UTF-8", "UTF-16", 1);
    assert_ne!(declared, INVOICE);
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        let bytes: Vec<u8> =
            "\u{feff}".encode_utf16().chain(declared.encode_utf16()).flat_map(order).collect();
        let decoded = decode_one(&mut invoice().decoder(), &bytes).unwrap();
        assert_eq!(decoded.key, "DE 123456789|123456XX");
        assert_eq!(decoded.reading.values, invoice().decode(INVOICE).reading.values);
    }
}

#[test]
fn a_statement_with_a_nul_behind_it_or_cut_off() {
    let (code, detail) = statement().refusal(format!("{STATEMENT}\0"));
    assert_eq!(code, ReasonCode::NotWellFormed);
    assert!(detail.ends_with("the character U+0000, which XML cannot hold"), "{detail}");
    let cut = STATEMENT.len() - 200;
    assert_eq!(statement().refusal(STATEMENT.get(..cut).unwrap()).0, ReasonCode::NotWellFormed);
}

#[test]
fn orders_that_name_a_definition_in_the_network() {
    let order = Job::new()
        .root("cXML")
        .key("Request/OrderRequest/OrderRequestHeader/@orderID")
        .field("Request/OrderRequest/OrderRequestHeader/Total/Money", decimal(18, 2))
        .field("@payloadID", FieldType::Text)
        .add("Request", "n");
    let decoded = order.decode(ORDER);
    assert_eq!(decoded.key, "DO1234");
    assert_eq!(crate::xml::text_of(&decoded.reading.values[0]).unwrap(), "85.00");
    assert_eq!(decoded.reading.values[1], text("1625586002.193314.7293@dev"));
    assert_eq!(order.splice(ORDER, &["x"]).replacen("<n>x</n></Request>", "</Request>", 1), ORDER);

    let notice = Job::new().key("Request/ShipNoticeRequest/ShipNoticeHeader/@shipmentID");
    assert_eq!(notice.decode(SHIP_NOTICE).key, "S2-123");

    let punch_out = Job::new().key("Message/PunchOutOrderMessage/BuyerCookie");
    assert_eq!(punch_out.decode(PUNCH_OUT).key, "1CX3L4843PPZO");
}

fn parking() -> Job {
    Job::new()
        .prefix("c", "http://datex2.eu/schema/3/common")
        .prefix("p", "http://datex2.eu/schema/3/parking")
        .prefix("d", "http://datex2.eu/schema/3/d2Payload")
        .root("d:payload")
        .key("p:parkingTableReference/@id")
        .field("p:parkingTableReference/@version", FieldType::Int64)
        .field("c:publicationCreator/c:nationalIdentifier", FieldType::Text)
        .add("p:parkingTableReference", "p:owner")
}

#[test]
fn parking_status_whatever_its_prefixes() {
    let swapped = PARKING.replace("ns2", "ns0").replace("ns3", "ns2").replace("ns0", "ns3");
    assert_ne!(swapped, PARKING);
    for (document, element) in [(PARKING, "<ns2:owner>x</ns2:owner>"), (&swapped, "<ns3:owner>x</ns3:owner>")]
    {
        let decoded = parking().decode(document);
        assert_eq!(decoded.key, "NL-12");
        assert_eq!(decoded.reading.values, [Value::Int(97), text("NDW")]);
        assert!(parking().splice(document, &["x"]).contains(element));
    }
}

#[test]
fn parking_status_says_what_it_cannot_be() {
    let zone = None;
    let (code, detail) = parking().field("c:publicationTime", FieldType::Timestamp { zone }).refusal(PARKING);
    assert_eq!(code, ReasonCode::FieldType);
    assert!(detail.contains("finer than a microsecond"), "{detail}");
    let repeated = "p:parkingRecordStatus/p:parkingRecordReference/@id";
    let (code, detail) = parking().field(repeated, FieldType::Text).refusal(PARKING);
    assert_eq!(code, ReasonCode::Ambiguous);
    assert!(detail.contains("once more"), "{detail}");
}
