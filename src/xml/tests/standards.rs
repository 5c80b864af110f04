//! Every sample with its key and its fields, and one edit that changes nothing else. See testdata/README.md.

use super::*;
use crate::job::Round;
use crate::xml::text_of;

/// What is to be read of one sample.
struct Sample {
    document: &'static str,
    prefixes: &'static [(&'static str, &'static str)],
    each: &'static str,
    keys: &'static [&'static str],
    key: &'static str,
    fields: Vec<(&'static str, FieldType, &'static str)>,
    /// Where an element is added.
    at: &'static str,
}

const TEXT: FieldType = FieldType::Text;
const INT: FieldType = FieldType::Int64;
const DATE: FieldType = FieldType::Date;
const TIME: FieldType = FieldType::Timestamp { zone: None };
const JSON: FieldType = FieldType::Json;

/// The format of a date or time that is not ISO.
fn format_of(path: &str) -> Option<&'static str> {
    match path {
        "c:effectiveTime/@value" => Some("%Y%m%d%H%M%z"),
        "r:ExchangedDocument/a:IssueDateTime/t:DateTimeString" => Some("%Y%m%d"),
        _ => None,
    }
}

impl Sample {
    fn job(&self) -> Job {
        let mut job = self
            .prefixes
            .iter()
            .fold(Job::new(), |job, (prefix, uri)| job.prefix(prefix, uri))
            .each(self.each);
        job = self.keys.iter().fold(job, |job, path| job.key(path));
        for (path, of_type, _) in &self.fields {
            job = job.field(path, of_type.clone());
            let rules = &mut job.event.fields.last_mut().unwrap().rules;
            rules.format = format_of(path).map(str::to_owned);
            // Nanoseconds are more than a timestamp holds.
            rules.round = if *of_type == TIME { Round::Down } else { Round::Never };
        }
        job.add(self.at, "added")
    }

    fn check(&self, document: &str) {
        let job = self.job();
        let decoded = decode_one(&mut job.decoder(), document).unwrap_or_else(|reason| panic!("{reason}"));
        assert_eq!(decoded.key, self.key);
        for ((path, _, expected), value) in self.fields.iter().zip(&decoded.reading.values) {
            assert_eq!(text_of(value).as_deref(), Some(*expected), "{path}");
        }
        let output = job.splice(document, &["a < b"]);
        let (before, rest) = output.split_once("<added").unwrap();
        let (_, after) = rest.split_once("</added>").unwrap();
        assert_eq!(format!("{before}{after}"), document);
        let again = decode_one(&mut job.decoder(), &output).unwrap();
        assert_eq!((again.key, again.reading.values), (decoded.key, decoded.reading.values));
    }
}

const CAMT_053_04: &[(&str, &str)] = &[("c", "urn:iso:std:iso:20022:tech:xsd:camt.053.001.04")];
const HL7: &[(&str, &str)] = &[("c", "urn:hl7-org:v3")];
const UBL: &[(&str, &str)] = &[
    ("i", "urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"),
    ("a", "urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"),
    ("b", "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"),
];

fn statement() -> Sample {
    Sample {
        document: include_str!("../testdata/iso-01.xml"),
        prefixes: CAMT_053_04,
        each: "/c:Document/c:BkToCstmrStmt/c:Stmt",
        keys: &["c:Id"],
        key: "20201124375204229003973",
        fields: vec![
            ("c:ElctrncSeqNb", INT, "118"),
            ("c:Acct/c:Id/c:IBAN", TEXT, "CH2909000000250094239"),
            ("c:Bal[c:Tp/c:CdOrPrtry/c:Cd='CLBD']/c:Amt", decimal(18, 5), "215112.21"),
            ("c:Bal[c:Tp/c:CdOrPrtry/c:Cd='CLBD']/c:Amt/@Ccy", TEXT, "CHF"),
            ("c:CreDtTm", TIME, "2020-11-25T02:02:16"),
            ("count(c:Bal)", INT, "4"),
            ("c:Ntry/c:Amt", JSON, "[\"4.50\",\"77.70\",\"1500.00\",\"1537.00\",\"1692.22\"]"),
        ],
        at: "c:Acct",
    }
}

fn parking() -> Sample {
    Sample {
        document: include_str!("../testdata/datex-04.xml"),
        prefixes: &[("p", "http://datex2.eu/schema/3/parking"), ("d", "http://datex2.eu/schema/3/d2Payload")],
        each: "/d:payload",
        keys: &["p:parkingRecordStatus[1]/p:parkingRecordReference/@id"],
        key: "NL-12_413",
        fields: vec![
            ("p:parkingRecordStatus[1]/p:parkingStatusOriginTime", TIME, "2026-07-24T19:47:03.118715Z"),
            ("p:parkingRecordStatus[1]/p:parkingOccupancy/p:parkingNumberOfVacantSpaces", INT, "0"),
            ("p:parkingRecordStatus[1]/p:parkingOccupancy/p:parkingNumberOfOccupiedSpaces", INT, "0"),
            ("p:parkingTableReference/@version", INT, "97"),
            ("count(p:parkingRecordStatus)", INT, "8"),
        ],
        at: "p:parkingRecordStatus[1]",
    }
}

fn invoice() -> Sample {
    Sample {
        document: include_str!("../testdata/ubl-01.xml"),
        prefixes: UBL,
        each: "/i:Invoice",
        keys: &["a:AccountingSupplierParty/a:Party/a:PartyTaxScheme/b:CompanyID", "b:ID"],
        key: "DE 123456789|123456XX",
        fields: vec![
            ("b:IssueDate", DATE, "2016-04-04"),
            ("b:InvoiceTypeCode", INT, "380"),
            ("b:DocumentCurrencyCode", TEXT, "EUR"),
            ("a:LegalMonetaryTotal/b:PayableAmount", decimal(18, 2), "336.9"),
            ("b:BuyerReference", TEXT, "04011000-12345-03"),
        ],
        at: "a:LegalMonetaryTotal",
    }
}

#[test]
fn bank_statements_and_notifications() {
    statement().check(statement().document);
    let one_line: String = statement().document.lines().map(str::trim).collect();
    statement().check(&one_line);
    let finnish = Sample {
        document: include_str!("../testdata/iso-02.xml"),
        prefixes: &[("c", "urn:iso:std:iso:20022:tech:xsd:camt.053.001.02")],
        each: "/c:Document/c:BkToCstmrStmt/c:Stmt",
        keys: &["c:Acct/c:Id/c:IBAN", "c:ElctrncSeqNb"],
        key: "FI7433010001222090|120",
        fields: vec![
            ("c:Id", TEXT, "BANKSTMTID0972009"),
            ("c:CreDtTm", TIME, "2009-10-30T00:00:00Z"),
            ("c:Ntry[1]/c:Amt", decimal(18, 5), "1000.12"),
            ("c:Ntry[1]/c:Amt/@Ccy", TEXT, "EUR"),
            ("c:Ntry[1]/c:AcctSvcrRef", TEXT, "091029ACCTSTMTARCH01"),
            ("c:LglSeqNb", INT, "97"),
        ],
        at: "c:Ntry[last()]",
    };
    finnish.check(finnish.document);
    let notification = Sample {
        document: include_str!("../testdata/iso-03.xml"),
        prefixes: &[("c", "urn:iso:std:iso:20022:tech:xsd:camt.054.001.04")],
        each: "/c:Document/c:BkToCstmrDbtCdtNtfctn/c:Ntfctn",
        keys: &["c:Id"],
        key: "20190424375204228750931",
        fields: vec![
            ("c:Acct/c:Id/c:IBAN", TEXT, "CH2909000000250094239"),
            ("c:Ntry[1]/c:NtryRef", TEXT, "014295803"),
            ("c:Ntry[1]/c:Amt", decimal(18, 5), "1537.00"),
            ("c:Ntry[1]/c:BookgDt/c:Dt", DATE, "2019-04-24"),
            ("c:Ntry[1]/c:NtryDtls/c:Btch/c:NbOfTxs", INT, "5"),
            ("count(c:Ntry/c:NtryDtls/c:TxDtls)", INT, "6"),
        ],
        at: ".",
    };
    notification.check(notification.document);
}

#[test]
fn payments() {
    let order = Sample {
        document: include_str!("../testdata/iso-04.xml"),
        prefixes: &[("c", "urn:iso:std:iso:20022:tech:xsd:pain.001.001.03")],
        each: "/c:Document/c:CstmrCdtTrfInitn/c:PmtInf",
        keys: &["../c:GrpHdr/c:MsgId"],
        key: "MSGID0002",
        fields: vec![
            ("c:PmtInfId", TEXT, "201509280002"),
            ("c:CdtTrfTxInf/c:PmtId/c:EndToEndId", TEXT, "EndToEndId0002"),
            ("c:CdtTrfTxInf/c:Amt/c:InstdAmt", decimal(18, 5), "111.11"),
            ("c:CdtTrfTxInf/c:Amt/c:InstdAmt/@Ccy", TEXT, "USD"),
            ("c:DbtrAcct/c:Id/c:IBAN", TEXT, "LT007180000000000000"),
            ("c:ReqdExctnDt", DATE, "2015-09-28"),
            ("c:CdtTrfTxInf/c:CdtrAcct/c:Id/c:IBAN | c:CdtTrfTxInf/c:Amt/c:InstdAmt", TEXT, "111.11"),
        ],
        at: "../c:GrpHdr",
    };
    order.check(order.document);
    let wrapped = Sample {
        document: include_str!("../testdata/iso-07.xml"),
        prefixes: &[
            ("h", "urn:iso:std:iso:20022:tech:xsd:head.001.001.01"),
            ("p", "urn:iso:std:iso:20022:tech:xsd:pacs.008.001.07"),
        ],
        each: "/message",
        keys: &["h:AppHdr/h:BizMsgIdr"],
        key: "12312312312",
        fields: vec![
            ("p:Document/p:FIToFICstmrCdtTrf/p:CdtTrfTxInf/p:PmtId/p:EndToEndId", TEXT, "223423423"),
            ("p:Document/p:FIToFICstmrCdtTrf/p:CdtTrfTxInf/p:PmtId/p:TxId", TEXT, "123452342"),
            ("p:Document/p:FIToFICstmrCdtTrf/p:CdtTrfTxInf/p:IntrBkSttlmAmt", decimal(18, 5), "5000"),
            ("p:Document/p:FIToFICstmrCdtTrf/p:CdtTrfTxInf/p:IntrBkSttlmDt", DATE, "2018-07-31"),
            ("h:AppHdr/h:CreDt", TIME, "2018-04-27T20:53:13Z"),
            ("h:AppHdr/h:PssblDplct", FieldType::Bool, "false"),
        ],
        at: "h:AppHdr",
    };
    wrapped.check(wrapped.document);
}

#[test]
fn traffic() {
    parking().check(parking().document);
    let swapped = parking().document.replace("ns2", "ns0").replace("ns3", "ns2").replace("ns0", "ns3");
    parking().check(&swapped);
    let roadworks = Sample {
        document: include_str!("../testdata/datex-01.xml"),
        prefixes: &[("d", "http://datex2.eu/schema/2/2_0")],
        each: "/d:d2LogicalModel/d:payloadPublication/d:situation",
        keys: &["@id", "@version"],
        key: "GUID50467344|1",
        fields: vec![
            ("d:overallSeverity", TEXT, "highest"),
            ("d:situationRecord[1]/@id", TEXT, "GUID5047012301"),
            ("d:situationRecord[1]/d:situationRecordVersionTime", TIME, "2026-07-14T14:04:02.057Z"),
            (
                "d:situationRecord[1]/d:validity/d:validityTimeSpecification/d:overallStartTime",
                TIME,
                "2026-07-19T21:00:00Z",
            ),
            (
                "d:situationRecord[1]/d:groupOfLocations/d:alertCLinear/d:alertCMethod2PrimaryPointLocation\
                 /d:alertCLocation/d:specificLocation",
                INT,
                "7628",
            ),
        ],
        at: "d:headerInformation",
    };
    roadworks.check(roadworks.document);
    let situations = Sample {
        document: include_str!("../testdata/datex-03.xml"),
        prefixes: &[
            ("m", "http://datex2.eu/schema/3/messageContainer"),
            ("s", "http://datex2.eu/schema/3/situation"),
            ("c", "http://datex2.eu/schema/3/common"),
        ],
        each: "/m:messageContainer/m:payload",
        keys: &["s:situation[1]/@id"],
        key: "RWS01_SM1162215_D2_WWA",
        fields: vec![
            ("s:situation[1]/s:situationVersionTime", TIME, "2026-07-07T07:10:18Z"),
            ("s:situation[1]/s:overallSeverity", TEXT, "medium"),
            ("s:situation[1]/s:situationRecord[1]/@id", TEXT, "RWS01_M1162215_SPEED_MANAGEMENT_D2_WWA"),
            ("s:situation[1]/s:situationRecord[1]/@version", INT, "18"),
            ("c:publicationTime", TIME, "2026-07-24T21:12:00.002308Z"),
        ],
        at: "c:publicationCreator",
    };
    situations.check(situations.document);
}

#[test]
fn invoices() {
    let sample = invoice();
    sample.check(sample.document);
    let amount = ">336.9</cbc:PayableAmount>";
    let cut_up = ">33<!-- c --><![CDATA[6.]]>&#57;<?p x?></cbc:PayableAmount>";
    assert!(sample.document.contains(amount));
    sample.check(&sample.document.replacen(amount, cut_up, 1));
    let name = "[Seller name]";
    for (written, read) in [("a ]]&gt; b &amp;lt; c", "a ]]> b &lt; c"), ("Bäcker 😀 𠀀", "Bäcker 😀 𠀀")]
    {
        let document = sample.document.replacen(name, written, 1);
        let path = "a:AccountingSupplierParty/a:Party/a:PartyLegalEntity/b:RegistrationName";
        let named = Sample { fields: vec![(path, TEXT, read)], ..invoice() };
        named.check(&document);
    }
    let extended = Sample {
        document: include_str!("../testdata/ubl-02.xml"),
        key: "DE/12/345/67890|12345",
        fields: vec![
            ("b:IssueDate", DATE, "2019-05-15"),
            ("b:InvoiceTypeCode", INT, "380"),
            ("b:DocumentCurrencyCode", TEXT, "EUR"),
            ("a:LegalMonetaryTotal/b:PayableAmount", decimal(18, 2), "4918.84"),
            ("b:BuyerReference", TEXT, "12345678-12345-83"),
        ],
        ..invoice()
    };
    extended.check(extended.document);
    let cross_industry = Sample {
        document: include_str!("../testdata/cii-01.xml"),
        prefixes: &[
            ("r", "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"),
            ("a", "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"),
            ("t", "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100"),
        ],
        each: "/r:CrossIndustryInvoice",
        keys: &["r:ExchangedDocument/a:ID"],
        key: "123456",
        fields: vec![
            ("r:ExchangedDocument/a:IssueDateTime/t:DateTimeString", DATE, "2016-06-21"),
            ("r:ExchangedDocument/a:TypeCode", INT, "380"),
            (
                "r:SupplyChainTradeTransaction/a:ApplicableHeaderTradeSettlement\
                 /a:SpecifiedTradeSettlementHeaderMonetarySummation/a:DuePayableAmount",
                decimal(18, 2),
                "12.6",
            ),
            (
                "r:SupplyChainTradeTransaction/a:ApplicableHeaderTradeSettlement/a:InvoiceCurrencyCode",
                TEXT,
                "EUR",
            ),
            (
                "r:SupplyChainTradeTransaction/a:ApplicableHeaderTradeAgreement/a:SellerTradeParty/a:Name",
                TEXT,
                "[Seller name]",
            ),
            ("count(r:ExchangedDocument/a:IncludedNote)", INT, "4"),
        ],
        at: "r:ExchangedDocument",
    };
    cross_industry.check(cross_industry.document);
}

#[test]
fn clinical_documents() {
    let summary = Sample {
        document: include_str!("../testdata/cda-01.xml"),
        prefixes: HL7,
        each: "/c:ClinicalDocument",
        keys: &["c:id/@root", "c:id/@extension"],
        key: "2.16.840.1.113883.19.5.99999.1|TT988",
        fields: vec![
            ("c:effectiveTime/@value", TIME, "2014-09-18T00:04:00Z"),
            ("c:setId/@root", TEXT, "2.16.840.1.113883.19.5.99999.19"),
            ("c:versionNumber/@value", INT, "1"),
            ("c:recordTarget/c:patientRole/c:id[1]/@extension", TEXT, "998991"),
            ("c:code/@code", TEXT, "18842-5"),
            ("c:title", TEXT, "Community Health and Hospitals: Discharge Summary"),
        ],
        at: "c:recordTarget/c:patientRole",
    };
    summary.check(summary.document);
    let replacement = Sample {
        document: include_str!("../testdata/cda-03.xml"),
        key: "2.16.840.1.113883.19.5.99999.1|TT662",
        fields: vec![
            ("c:effectiveTime/@value", TIME, "2015-07-22T23:00:00Z"),
            ("c:setId/@root", TEXT, "004bb033-b948-4f4c-b5bf-a8dbd7d8dd40"),
            ("c:versionNumber/@value", INT, "2"),
            ("c:recordTarget/c:patientRole/c:id[1]/@extension", TEXT, "414122222"),
            ("c:code/@code", TEXT, "34133-9"),
            ("c:title", TEXT, "CCD Demonstrating Replacement of Prior CCD"),
            ("c:relatedDocument[@typeCode='RPLC']/c:parentDocument/c:id/@extension", TEXT, "TT661"),
        ],
        ..summary
    };
    replacement.check(replacement.document);
}

#[test]
fn orders() {
    let order = Sample {
        document: include_str!("../testdata/cxml-01.xml"),
        prefixes: &[],
        each: "/cXML/Request/OrderRequest/OrderRequestHeader",
        keys: &["@orderID"],
        key: "DO1234",
        fields: vec![
            ("@orderDate", TIME, "2000-10-13T02:41:29Z"),
            ("@type", TEXT, "new"),
            ("Total/Money", decimal(18, 2), "85.00"),
            ("Total/Money/@currency", TEXT, "EUR"),
            ("ShipTo/Address/PostalAddress/City", TEXT, "Sunnyvale"),
            ("/cXML/@payloadID", TEXT, "1625586002.193314.7293@dev"),
        ],
        at: "Total",
    };
    let notice = Sample {
        document: include_str!("../testdata/cxml-02.xml"),
        prefixes: &[],
        each: "/cXML/Request/ShipNoticeRequest",
        keys: &["ShipNoticeHeader/@shipmentID"],
        key: "S2-123",
        fields: vec![
            ("ShipNoticeHeader/@shipmentDate", TIME, "2000-10-14T16:30:19Z"),
            ("ShipControl/CarrierIdentifier[@domain='SCAC']", TEXT, "FDE"),
            ("ShipControl/ShipmentIdentifier", TEXT, "8202 8261 1194"),
            ("ShipNoticePortion/OrderReference/@orderID", TEXT, "DO1234"),
        ],
        at: "ShipControl",
    };
    let cart = Sample {
        document: include_str!("../testdata/cxml-03.xml"),
        prefixes: &[],
        each: "/cXML/Message/PunchOutOrderMessage",
        keys: &["BuyerCookie"],
        key: "1CX3L4843PPZO",
        fields: vec![
            ("PunchOutOrderMessageHeader/Total/Money", decimal(18, 2), "763.20"),
            ("ItemIn[1]/@quantity", INT, "3"),
            ("ItemIn[1]/ItemID/SupplierPartID", TEXT, "5555"),
            ("ItemIn[1]/ItemDetail/UnitPrice/Money", decimal(18, 4), "763.20"),
        ],
        at: "ItemIn[last()]",
    };
    for sample in [order, notice, cart] {
        let mut job = sample.job();
        job.event.doctype = Doctype::Read;
        let decoded = job.decode(sample.document);
        assert_eq!(decoded.key, sample.key);
        let values: Vec<_> = decoded.reading.values.iter().map(|value| text_of(value).unwrap()).collect();
        let expected: Vec<_> = sample.fields.iter().map(|(_, _, expected)| *expected).collect();
        assert_eq!(values, expected);
        let output = job.splice(sample.document, &["x"]);
        assert_eq!(output.replacen("<added>x</added>", "", 1), sample.document);
    }
}
