//! Clinical documents, one of which replaces another.

use super::{Shipped, part, rows, text, with};

/// Entries and title of each section, as the notice has them.
const SUMMARY: [(usize, &str); 21] = [
    (1, "ADMISSION DIAGNOSIS"),
    (3, "ALLERGIES, ADVERSE REACTIONS, ALERTS"),
    (0, "REASON FOR VISIT/CHIEF COMPLAINT"),
    (1, "DISCHARGE DIAGNOSIS"),
    (1, "DISCHARGE MEDICATIONS"),
    (1, "FAMILY HISTORY"),
    (1, "Functional Status"),
    (0, "PAST MEDICAL HISTORY"),
    (0, "HISTORY OF PRESENT ILLNESS"),
    (0, "HOSPITAL CONSULTATIONS"),
    (0, "HOSPITAL COURSE"),
    (0, "HOSPITAL DISCHARGE INSTRUCTIONS"),
    (0, "HOSPITAL DISCHARGE PHYSICAL"),
    (0, "HOSPITAL DISCHARGE STUDIES SUMMARY"),
    (2, "IMMUNIZATIONS"),
    (1, "PLAN OF CARE"),
    (2, "Problem List"),
    (1, "Procedures"),
    (0, "REVIEW OF SYSTEMS"),
    (1, "Social History"),
    (1, "VITAL SIGNS"),
];

const REPLACEMENT: [(usize, &str); 20] = [
    (1, "ALLERGIES AND ADVERSE REACTIONS"),
    (1, "MEDICATIONS"),
    (1, "Admission Medications"),
    (0, "Discharge Medications"),
    (1, "PROBLEMS"),
    (0, "ENCOUNTERS"),
    (0, "Procedures"),
    (1, "MEDICAL EQUIPMENT"),
    (1, "IMMUNIZATIONS"),
    (0, "VITAL SIGNS"),
    (2, "SOCIAL HISTORY"),
    (0, "RESULTS"),
    (0, "ASSESSMENTS"),
    (0, "TREATMENT PLAN"),
    (0, "Goals Section"),
    (1, "Health Concerns"),
    (0, "HOSPITAL DISCHARGE INSTRUCTIONS"),
    (0, "MENTAL STATUS"),
    (0, "FUNCTIONAL STATUS"),
    (0, "Interventions Section"),
];

/// The notice of a document; `head`: what stands above its sections.
fn notice(
    version: u8,
    code: &str,
    extension: &str,
    title: &str,
    head: &str,
    sections: &[(usize, &str)],
) -> String {
    let sections: Vec<String> = sections
        .iter()
        .map(|(entries, title)| format!("    <section entries=\"{entries}\">{title}</section>\n"))
        .collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <notice xmlns=\"urn:shop:clinical-notice:1\" version=\"{version}\" code=\"{code}\">\n  \
         <document root=\"2.16.840.1.113883.19.5.99999.1\" extension=\"{extension}\"/>\n  <title>{title}</title>\n{head}  \
         <sections>\n{}  </sections>\n</notice>",
        sections.concat()
    )
}

pub fn clinical() -> Shipped {
    let summary = text("clinical", "sample.xml");
    let replacement = text("clinical", "sample-replacement.xml");
    // What it replaces: of the same set, an earlier version without a predecessor of its own.
    let relation = part(&replacement, "<relatedDocument", "</relatedDocument>").to_owned();
    let old =
        replacement.replacen(&relation, "", 1).replacen("extension=\"TT662\"", "extension=\"TT661\"", 1);
    let old = with(&old, "<versionNumber value=\"2\"/>", "<versionNumber value=\"1\"/>");
    let wrong = with(
        &summary,
        "<effectiveTime value=\"201409171904-0500\"/>",
        "<effectiveTime value=\"17 September 2014\"/>",
    );
    let long = summary.replacen("<family>Jones</family>", &format!("<family>{}</family>", "J".repeat(41)), 1);
    let long = with(&long, "<id extension=\"TT988\"", "<id extension=\"TT989\"");
    Shipped {
        folder: "clinical",
        file: "job.toml",
        name: "clinical-documents",
        input: "clinical.documents",
        outputs: &["clinical.notices"],
        rejected: "clinical.rejected",
        before: &[],
        sent: vec![
            of_summary(),
            of_replacement("TT661", 1, ""),
            of_replacement(
                "TT662",
                2,
                "  <replaces root=\"2.16.840.1.113883.19.5.99999.1\" extension=\"TT661\" version=\"1\"/>\n",
            ),
        ],
        records: vec![old, wrong, summary.clone(), replacement, long],
        rows: vec![
            (
                "SELECT extension, set_root, set_extension, version, code, title, made_at, patient, family, born_on,
                        replaces_extension, replaced_by_extension
                 FROM clinical_document ORDER BY extension",
                rows(&[
                    "TT661|004bb033-b948-4f4c-b5bf-a8dbd7d8dd40|NULL|1|34133-9|CCD Demonstrating Replacement of Prior CCD|\
                     2015-07-22 23:00:00|414122222|Maur|1980-08-01|NULL|TT662",
                    "TT662|004bb033-b948-4f4c-b5bf-a8dbd7d8dd40|NULL|2|34133-9|CCD Demonstrating Replacement of Prior CCD|\
                     2015-07-22 23:00:00|414122222|Maur|1980-08-01|TT661|NULL",
                    "TT988|2.16.840.1.113883.19.5.99999.19|sTT988|1|18842-5|Community Health and Hospitals: Discharge Summary|\
                     2014-09-18 00:04:00|998991|Jones|2005-05-01|NULL|NULL",
                ]),
            ),
            (
                "SELECT section, code, title, entries FROM clinical_section WHERE extension = 'TT988' AND section <= 3
                 ORDER BY section",
                rows(&[
                    "1|42347-5|ADMISSION DIAGNOSIS|1",
                    "2|48765-2|ALLERGIES, ADVERSE REACTIONS, ALERTS|3",
                    "3|46239-0|REASON FOR VISIT/CHIEF COMPLAINT|0",
                ]),
            ),
            (
                "SELECT narrative FROM clinical_section WHERE extension = 'TT988' AND section = 2",
                vec![narrative(&summary)],
            ),
        ],
        dead: vec![("field_type", "made_at", 1), ("refused", "", 4)],
    }
}

/// The allergies' narrative: a table, byte for byte.
fn narrative(summary: &str) -> String {
    let section = &summary[summary.find("<title>ALLERGIES").unwrap()..];
    part(section, "<text>", "</text>").to_owned()
}

fn of_summary() -> (&'static str, String, String) {
    // Four minutes past seven in the evening at -05:00.
    let head = "  <made>2014-09-18T00:04:00Z</made>\n  <patient root=\"2.16.840.1.113883.19.5.99999.2\" id=\"998991\"/>\n";
    let title = "Community Health and Hospitals: Discharge Summary";
    let document = notice(1, "18842-5", "TT988", title, head, &SUMMARY);
    ("clinical.notices", "2.16.840.1.113883.19.5.99999.2|998991".to_owned(), document)
}

fn of_replacement(extension: &str, version: u8, replaces: &str) -> (&'static str, String, String) {
    let head =
        "  <made>2015-07-22T23:00:00Z</made>\n  <patient root=\"2.16.840.1.113883.4.1\" id=\"414122222\"/>\n";
    let head = format!("{head}{replaces}");
    let title = "CCD Demonstrating Replacement of Prior CCD";
    let document = notice(version, "34133-9", extension, title, &head, &REPLACEMENT);
    ("clinical.notices", "2.16.840.1.113883.4.1|414122222".to_owned(), document)
}
