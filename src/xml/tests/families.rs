//! Real messages as the jobs in `jobs/` read them: keys and values of each event, by the names of the fields. What the
//! values are was taken from the documents by hand.

use super::*;
use crate::job::{self, JobSpec};

/// Of one event: its key, and fields with their texts.
struct Expected {
    /// The event's place in its record.
    event: usize,
    key: &'static str,
    fields: &'static [(&'static str, &'static str)],
}

fn folder() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs")
}

fn spec_of(text: &str) -> JobSpec {
    job::check("job.toml", text, &|_| None).unwrap_or_else(|errors| panic!("{errors}")).spec
}

fn read(spec: &JobSpec, document: &[u8]) -> Vec<Decoded> {
    let mut decoder = Decoder::new(&spec.event, &spec.outputs, spec.limits).unwrap();
    let record = Record {
        timestamp_ms: None,
        key: None,
        headers: Vec::new(),
        value: Some(Bytes::copy_from_slice(document)),
    };
    decoder.decode(&record).unwrap().into_iter().map(Result::unwrap).collect()
}

fn hold(spec: &JobSpec, events: &[Decoded], expected: &Expected) {
    let event = &events[expected.event];
    assert_eq!(event.key, expected.key);
    for (name, text) in expected.fields {
        let index = spec.event.fields.iter().position(|field| field.name == *name);
        let value = &event.reading.values[index.unwrap_or_else(|| panic!("there is no field {name}"))];
        assert_eq!(crate::xml::text_of(value).as_deref().unwrap_or("NULL"), *text, "{name}");
    }
}

/// Reads a sample with its job; how many events it has, and what one of them is.
fn shipped(job: &str, sample: &str, events: usize, expected: &Expected) {
    let spec = spec_of(&std::fs::read_to_string(folder().join(job)).unwrap());
    let document = std::fs::read(folder().join(sample)).unwrap();
    let read = read(&spec, &document);
    assert_eq!(read.len(), events, "{sample}");
    hold(&spec, &read, expected);
}

#[test]
fn bank_statements_of_two_versions() {
    shipped(
        "statements/job.toml",
        "statements/sample.xml",
        1,
        &Expected {
            event: 0,
            key: "CH2909000000250094239|118",
            fields: &[
                ("id", "20201124375204229003973"),
                ("number", "118"),
                ("iban", "CH2909000000250094239"),
                ("closing", "215112.21"),
                ("currency", "CHF"),
                ("created_at", "2020-11-25T01:02:16Z"),
                ("entries_in", "5"),
            ],
        },
    );
    shipped(
        "statements/older.toml",
        "statements/older.xml",
        1,
        &Expected {
            event: 0,
            key: "FI7433010001222090|120",
            fields: &[
                ("id", "BANKSTMTID0972009"),
                ("created_at", "2009-10-30T00:00:00Z"),
                ("entries_in", "10"),
            ],
        },
    );
}

#[test]
fn entries_of_a_bank_notification() {
    shipped(
        "notifications/job.toml",
        "notifications/sample.xml",
        2,
        &Expected {
            event: 0,
            key: "CH2909000000250094239",
            fields: &[
                ("notification_id", "20190424375204228750931"),
                ("entry_ref", "014295803"),
                ("amount", "1537.00"),
                ("booked_on", "2019-04-24"),
                ("batch_of", "5"),
                (
                    "end_to_end_ids",
                    r#"["EndToEndId-001-02-02","EndToEndId-001-02-01","EndToEndId-001-02-03"]"#,
                ),
            ],
        },
    );
}

#[test]
fn invoices_in_both_syntaxes() {
    shipped(
        "invoices/job.toml",
        "invoices/sample.xml",
        1,
        &Expected {
            event: 0,
            key: "DE 123456789|123456XX",
            fields: &[
                ("issued_ubl", "2016-04-04"),
                ("issued_cii", "NULL"),
                ("type_code", "380"),
                ("currency", "EUR"),
                ("payable", "336.9"),
                ("buyer_ref", "04011000-12345-03"),
            ],
        },
    );
    shipped(
        "invoices/job.toml",
        "invoices/sample-sublines.xml",
        1,
        &Expected {
            event: 0,
            key: "DE/12/345/67890|12345",
            fields: &[
                ("issued_ubl", "2019-05-15"),
                ("payable", "4918.84"),
                ("buyer_ref", "12345678-12345-83"),
            ],
        },
    );
    shipped(
        "invoices/job.toml",
        "invoices/sample-cii.xml",
        1,
        &Expected {
            event: 0,
            key: "DE123456789|123456",
            fields: &[
                ("issued_ubl", "NULL"),
                ("issued_cii", "2016-06-21"),
                ("type_code", "380"),
                ("currency", "EUR"),
                ("payable", "12.6"),
                ("seller", "[Seller name]"),
            ],
        },
    );
}

#[test]
fn orders_and_their_ship_notices() {
    shipped(
        "purchase-orders/job.toml",
        "purchase-orders/sample.xml",
        1,
        &Expected {
            event: 0,
            key: "DO1234",
            fields: &[
                ("type", "new"),
                ("ordered_at", "2000-10-13T02:41:29Z"),
                ("total", "85.00"),
                ("currency", "EUR"),
                ("city", "Sunnyvale"),
                ("payload_id", "1625586002.193314.7293@dev"),
            ],
        },
    );
    shipped(
        "purchase-orders/job.toml",
        "purchase-orders/sample-notice.xml",
        1,
        &Expected {
            event: 0,
            key: "DO1234",
            fields: &[
                ("shipment", "S2-123"),
                ("shipped_at", "2000-10-14T16:30:19Z"),
                ("carrier", "FDE"),
                ("tracking", "8202 8261 1194"),
                ("order_id", "DO1234"),
            ],
        },
    );
}

#[test]
fn situations_roadworks_and_car_parks() {
    shipped(
        "traffic/job.toml",
        "traffic/sample.xml",
        2,
        &Expected {
            event: 0,
            key: "NDWNL|RWS01_SM1162215_D2_WWA",
            fields: &[
                ("changed_at", "2026-07-07T07:10:18Z"),
                ("severity", "medium"),
                // 2308656 nanoseconds, cut to microseconds.
                ("published_at", "2026-07-24T21:12:00.002308Z"),
            ],
        },
    );
    shipped(
        "traffic/roadworks.toml",
        "traffic/roadworks.xml",
        1,
        &Expected {
            event: 0,
            key: "GUID50467344",
            fields: &[
                ("version", "1"),
                ("severity", "highest"),
                ("changed_at", "2026-07-14T14:04:02.057Z"),
                ("begins", "2026-07-19T21:00:00Z"),
                ("location", "7628"),
            ],
        },
    );
    shipped(
        "traffic/parking.toml",
        "traffic/parking.xml",
        8,
        &Expected {
            event: 0,
            key: "NL-12|NL-12_413",
            fields: &[
                ("seen_at", "2026-07-24T19:47:03.118716Z"),
                ("vacant", "0"),
                ("occupied", "0"),
                ("table_version", "97"),
            ],
        },
    );
}

#[test]
fn clinical_documents() {
    shipped(
        "clinical/job.toml",
        "clinical/sample.xml",
        1,
        &Expected {
            event: 0,
            key: "2.16.840.1.113883.19.5.99999.19|sTT988",
            fields: &[
                ("root", "2.16.840.1.113883.19.5.99999.1"),
                ("extension", "TT988"),
                ("made_at", "2014-09-18T00:04:00Z"),
                ("version", "1"),
                ("patient", "998991"),
                ("code", "18842-5"),
                ("title", "Community Health and Hospitals: Discharge Summary"),
            ],
        },
    );
    shipped(
        "clinical/job.toml",
        "clinical/sample-replacement.xml",
        1,
        &Expected {
            event: 0,
            // The set has no extension: its root stands for both.
            key: "004bb033-b948-4f4c-b5bf-a8dbd7d8dd40|004bb033-b948-4f4c-b5bf-a8dbd7d8dd40",
            fields: &[
                ("extension", "TT662"),
                ("made_at", "2015-07-22T23:00:00Z"),
                ("version", "2"),
                ("patient", "414122222"),
                ("code", "34133-9"),
                ("title", "CCD Demonstrating Replacement of Prior CCD"),
                ("old_extension", "TT661"),
            ],
        },
    );
}

/// A job that only reads, with these lines for its event.
fn reading(event: &str) -> JobSpec {
    spec_of(&format!(
        "[job]\nname = \"j\"\nkey_groups = 1\n[source]\nbootstrap_servers = \"k:1\"\ntopics = [\"t\"]\n{event}\n\
         [database]\nurl = \"sqlite:x.db\"\n[[database.steps]]\nstore = \"DELETE FROM t\"\n[rejects]\nunreadable = \"discard\"\n"
    ))
}

#[test]
fn a_wrapper_in_no_namespace_around_two_that_have_one_each() {
    let spec = reading(
        "[event]\nnamespaces = { h = \"urn:iso:std:iso:20022:tech:xsd:head.001.001.01\", p = \"urn:iso:std:iso:20022:tech:xsd:pacs.008.001.07\" }\n\
         each = \"/message\"\nkey = [\"h:AppHdr/h:BizMsgIdr\"]\n[event.fields]\n\
         end_to_end = { path = \"p:Document/p:FIToFICstmrCdtTrf/p:CdtTrfTxInf/p:PmtId/p:EndToEndId\", type = \"text\" }\n\
         tx = { path = \"p:Document/p:FIToFICstmrCdtTrf/p:CdtTrfTxInf/p:PmtId/p:TxId\", type = \"text\" }\n\
         amount = { path = \"p:Document/p:FIToFICstmrCdtTrf/p:CdtTrfTxInf/p:IntrBkSttlmAmt\", type = \"decimal(18,5)\" }\n\
         settled = { path = \"p:Document/p:FIToFICstmrCdtTrf/p:CdtTrfTxInf/p:IntrBkSttlmDt\", type = \"date\" }\n\
         created = { path = \"h:AppHdr/h:CreDt\", type = \"timestamp\" }\n\
         twice = { path = \"h:AppHdr/h:PssblDplct\", type = \"bool\" }",
    );
    let events = read(&spec, include_bytes!("../testdata/iso-07.xml"));
    hold(
        &spec,
        &events,
        &Expected {
            event: 0,
            key: "12312312312",
            fields: &[
                ("end_to_end", "223423423"),
                ("tx", "123452342"),
                ("amount", "5000"),
                ("settled", "2018-07-31"),
                ("created", "2018-04-27T20:53:13Z"),
                ("twice", "false"),
            ],
        },
    );
}

#[test]
fn a_basket_whose_names_are_cdata() {
    let spec = reading(
        "[event]\neach = \"/cXML\"\nkey = [\"Message/PunchOutOrderMessage/BuyerCookie\"]\n[event.fields]\n\
         total = { path = \"Message/PunchOutOrderMessage/PunchOutOrderMessageHeader/Total/Money\", type = \"decimal(18,2)\" }\n\
         quantity = { path = \"Message/PunchOutOrderMessage/ItemIn[1]/@quantity\", type = \"int64\" }\n\
         part = { path = \"Message/PunchOutOrderMessage/ItemIn[1]/ItemID/SupplierPartID\", type = \"text\" }\n\
         price = { path = \"Message/PunchOutOrderMessage/ItemIn[1]/ItemDetail/UnitPrice/Money\", type = \"decimal(18,4)\" }\n\
         last = { path = \"count(Message/PunchOutOrderMessage/ItemIn)\", type = \"int64\" }",
    );
    let events = read(&spec, include_bytes!("../testdata/cxml-03.xml"));
    hold(
        &spec,
        &events,
        &Expected {
            event: 0,
            key: "1CX3L4843PPZO",
            fields: &[
                ("total", "763.20"),
                ("quantity", "3"),
                ("part", "5555"),
                ("price", "763.20"),
                ("last", "2"),
            ],
        },
    );
}
