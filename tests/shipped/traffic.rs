//! Traffic: situations, roadworks and car parks.

use super::{Shipped, part, rows, text, with};

/// The message's situations, alone, with all that was declared around them.
fn alone(message: &str) -> Vec<String> {
    let declared = part(message, "xmlns:sit=", " modelBaseVersion").trim_end_matches(" modelBaseVersion");
    let declared = format!("{declared} xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"");
    let mut rest = message;
    let mut found = Vec::new();
    while let Some(at) = rest.find("<sit:situation ") {
        let situation = part(&rest[at..], "<sit:situation ", "</sit:situation>");
        rest = &rest[at + situation.len()..];
        let situation = situation.replacen("<sit:situation ", &format!("<sit:situation {declared} "), 1);
        found.push(format!("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>{situation}"));
    }
    found
}

pub fn situations() -> Shipped {
    const FIRST: &str = "RWS01_SM1162215_D2_WWA";
    const SECOND: &str = "RWS01_SM1168188_D2_WWA";
    let sample = text("traffic", "sample.xml");
    let renamed = |publisher: &str, document: &str| {
        let creator = "<com:publicationCreator><com:country>nl</com:country><com:nationalIdentifier>";
        with(document, &format!("{creator}NDWNL<"), &format!("{creator}{publisher}<"))
    };
    let severity = |document: &str, word: &str| document.replacen(">medium<", &format!(">{word}<"), 1);
    let severe = renamed("SEVERE", &severity(&sample, "highest"));
    let unknown = renamed("UNKNOWN", &severity(&sample, "catastrophic"));
    let long = renamed("LONG", &sample.replacen(">real<", ">realistic exercise<", 1));
    let nothing =
        format!("{}</mc:payload></mc:messageContainer>", &sample[..sample.find("<sit:situation ").unwrap()]);
    let of = |topic: &'static str, publisher: &str, id: &str, document: &str, place: usize| {
        (topic, format!("{publisher}|{id}"), alone(document).swap_remove(place))
    };
    Shipped {
        folder: "traffic",
        file: "job.toml",
        name: "traffic",
        input: "traffic.messages",
        outputs: &["traffic.severe", "traffic.minor"],
        rejected: "traffic.rejected",
        before: &[],
        sent: vec![
            of("traffic.minor", "NDWNL", FIRST, &sample, 0),
            of("traffic.minor", "NDWNL", SECOND, &sample, 1),
            of("traffic.severe", "SEVERE", FIRST, &severe, 0),
            of("traffic.minor", "SEVERE", SECOND, &severe, 1),
            of("traffic.minor", "UNKNOWN", SECOND, &unknown, 1),
            of("traffic.minor", "LONG", SECOND, &long, 1),
        ],
        records: vec![sample.clone(), severe, unknown, nothing, long],
        rows: vec![
            (
                "SELECT publisher, id, published_at, changed_at, severity, information, records_in FROM traffic_situation
                 ORDER BY publisher, id",
                rows(&[
                    "LONG|RWS01_SM1168188_D2_WWA|2026-07-24 21:12:00.002308|2026-07-24 20:13:31|medium|real|9",
                    "NDWNL|RWS01_SM1162215_D2_WWA|2026-07-24 21:12:00.002308|2026-07-07 07:10:18|medium|real|2",
                    "NDWNL|RWS01_SM1168188_D2_WWA|2026-07-24 21:12:00.002308|2026-07-24 20:13:31|medium|real|9",
                    "SEVERE|RWS01_SM1162215_D2_WWA|2026-07-24 21:12:00.002308|2026-07-07 07:10:18|highest|real|2",
                    "SEVERE|RWS01_SM1168188_D2_WWA|2026-07-24 21:12:00.002308|2026-07-24 20:13:31|medium|real|9",
                    "UNKNOWN|RWS01_SM1168188_D2_WWA|2026-07-24 21:12:00.002308|2026-07-24 20:13:31|medium|real|9",
                ]),
            ),
            (
                "SELECT id, version, kind, changed_at, cause, begins, ends, speed FROM traffic_record
                 WHERE publisher = 'NDWNL' AND situation = 'RWS01_SM1162215_D2_WWA' ORDER BY id",
                rows(&[
                    "RWS01_M1162215_CLOSED_LANES_D2_WWA|18|sit:RoadOrCarriagewayOrLaneManagement|2026-07-07 07:10:18|\
                     roadMaintenance|2026-07-03 10:25:45|2026-12-01 11:00:00|NULL",
                    "RWS01_M1162215_SPEED_MANAGEMENT_D2_WWA|18|sit:SpeedManagement|2026-07-07 07:10:18|roadMaintenance|\
                     2026-07-03 10:25:45|2026-12-01 11:00:00|70",
                ]),
            ),
            (
                "SELECT place FROM traffic_record WHERE publisher = 'NDWNL' AND id = 'RWS01_M1162215_SPEED_MANAGEMENT_D2_WWA'",
                rows(&[part(&sample, "<sit:locationReference", "</sit:locationReference>")]),
            ),
            ("SELECT COUNT(*) FROM traffic_record", rows(&["40"])),
        ],
        dead: vec![("field_type", "route", 2), ("refused", "", 4)],
    }
}

pub fn roadworks() -> Shipped {
    let sample = text("traffic", "roadworks.xml");
    let next = with(
        &sample,
        "<situation id=\"GUID50467344\" version=\"1\">",
        "<situation id=\"GUID50467344\" version=\"2\">",
    );
    let next = with(&next, "<overallSeverity>highest<", "<overallSeverity>low<");
    let wrong = with(
        &sample,
        "<situation id=\"GUID50467344\" version=\"1\">",
        "<situation id=\"GUID50467344\" version=\"1.0\">",
    );
    let long = with(
        &sample,
        "<situation id=\"GUID50467344\" version=\"1\">",
        "<situation id=\"GUID50467344\" version=\"3\">",
    );
    let long = with(&long, "Lisätieto: ", &"ä".repeat(2000));
    let comment = part(&sample, "<value lang=\"fi\">", "</value>");
    let comment = comment.trim_start_matches("<value lang=\"fi\">").trim_end_matches("</value>").to_owned();
    Shipped {
        folder: "traffic",
        file: "roadworks.toml",
        name: "roadworks",
        input: "traffic.roadworks",
        outputs: &["traffic.roadworks.all", "traffic.roadworks.severe"],
        rejected: "traffic.roadworks.rejected",
        before: &[],
        sent: vec![
            ("traffic.roadworks.all", "GUID50467344|1".to_owned(), sample.clone()),
            ("traffic.roadworks.all", "GUID50467344|2".to_owned(), next.clone()),
            ("traffic.roadworks.severe", "GUID50467344|1".to_owned(), severe(&sample)),
        ],
        records: vec![sample, wrong, long, next],
        rows: vec![
            (
                "SELECT id, version, severity, changed_at, begins, ends, location FROM roadworks ORDER BY version",
                rows(&[
                    "GUID50467344|1|highest|2026-07-14 14:04:02.057|2026-07-19 21:00:00|2026-07-31 20:59:59.999|7628",
                    "GUID50467344|2|low|2026-07-14 14:04:02.057|2026-07-19 21:00:00|2026-07-31 20:59:59.999|7628",
                ]),
            ),
            ("SELECT comment FROM roadworks WHERE version = 1", vec![comment]),
            (
                "SELECT record_ids FROM roadworks WHERE version = 1",
                rows(&[r#"["GUID5047012301","GUID5047012302","GUID5047012303"]"#]),
            ),
            (
                "SELECT records FROM roadworks WHERE version = 1",
                rows(&[
                    "[{\"id\":\"GUID5047012301\",\"kind\":\"MaintenanceWorks\",\"severity\":\"highest\"},\
                        {\"id\":\"GUID5047012302\",\"kind\":\"RoadOrCarriagewayOrLaneManagement\",\"severity\":\"highest\"},\
                        {\"id\":\"GUID5047012303\",\"kind\":\"ReroutingManagement\",\"severity\":\"highest\"}]",
                ]),
            ),
        ],
        dead: vec![("field_type", "version", 1), ("refused", "", 2)],
    }
}

/// A situation without its header, alone.
fn severe(message: &str) -> String {
    let situation = part(message, "<situation ", "</situation>");
    let header = part(situation, "<headerInformation>", "</headerInformation>");
    let declared =
        "xmlns=\"http://datex2.eu/schema/2/2_0\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
    let situation =
        with(situation, header, "").replacen("<situation ", &format!("<situation {declared} "), 1);
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n{situation}")
}

pub fn parking() -> Shipped {
    let sample = text("traffic", "parking.xml");
    // Other prefixes for the same namespaces.
    let swapped = sample.replace("ns2", "ns9").replace("ns3", "ns2").replace("ns9", "ns3");
    let broken =
        with(&sample, "<ns2:parkingNumberOfVacantSpaces>29<", "<ns2:parkingNumberOfVacantSpaces>-1<");
    let other = |document: &str, table: &str| {
        with(document, "id=\"NL-12\" version", &format!("id=\"{table}\" version"))
    };
    Shipped {
        folder: "traffic",
        file: "parking.toml",
        name: "parking",
        input: "traffic.parking",
        outputs: &[],
        rejected: "traffic.parking.rejected",
        before: &[],
        sent: Vec::new(),
        records: vec![
            sample.clone(),
            other(&swapped, "NL-13"),
            other(&broken, "NL-14"),
            other(&sample.replacen(">spacesAvailable<", &format!(">{}<", "s".repeat(21)), 1), "NL-15"),
        ],
        rows: vec![
            (
                "SELECT park_table, COUNT(*) FROM parking GROUP BY park_table ORDER BY park_table",
                rows(&["NL-12|8", "NL-13|8", "NL-14|7", "NL-15|7"]),
            ),
            (
                "SELECT park_table, table_version, id, seen_at, vacant, occupied, percent, status FROM parking WHERE park_table = 'NL-13' ORDER BY id",
                rows(&[
                    "NL-13|97|NL-12_408|2026-07-24 19:46:24.805428|29|17|54|spacesAvailable",
                    "NL-13|97|NL-12_409|2026-07-24 19:46:52.879466|46|0|49.3|spacesAvailable",
                    "NL-13|97|NL-12_411|2026-07-24 19:46:44.643374|222|13|36.4|spacesAvailable",
                    "NL-13|97|NL-12_413|2026-07-24 19:47:03.118716|0|0|0|unknown",
                    "NL-13|97|NL-12_414|2026-07-24 19:46:52.611072|0|0|83.3|full",
                    "NL-13|97|NL-12_418|2026-07-24 19:46:52.077902|8|0|62.3|spacesAvailable",
                    "NL-13|97|NL-12_421|2026-07-24 19:46:28.409076|576|0|62.6|spacesAvailable",
                    "NL-13|97|NL-12_8|2026-07-24 19:47:00.293639|326|4|-30|spacesAvailable",
                ]),
            ),
            ("SELECT COUNT(*) FROM parking_group WHERE park_table = 'NL-12'", rows(&["29"])),
            (
                "SELECT number, vacant FROM parking_group WHERE park_table = 'NL-12' AND park = 'NL-12_408' ORDER BY number",
                rows(&["2|13", "3|9", "1000|7"]),
            ),
        ],
        dead: vec![("field_type", "vacant", 2), ("refused", "", 3)],
    }
}
