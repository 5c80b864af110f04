//! Documents written in every way that XML has for the same content: the values must come out the same, and splicing
//! must keep every byte and every value.

use super::*;
use proptest::prelude::*;

/// What a document says, however it is written.
#[derive(Clone, Debug)]
struct Content {
    id: String,
    name: String,
    amount: Option<i64>,
    note: String,
    added: Vec<String>,
}

fn characters() -> impl Strategy<Value = String> {
    let c = prop_oneof![
        4 => proptest::char::range('a', 'e'),
        3 => proptest::sample::select(vec!['&', '<', '>', '"', '\'', ']', '-', '?', ' ']),
        2 => proptest::sample::select(vec!['\n', '\t', '\r']),
        1 => proptest::sample::select(vec!['ä', '€', '😀', '\u{85}', '\u{2028}', '\u{fffd}']),
    ];
    proptest::collection::vec(c, 0..12).prop_map(|chars| chars.into_iter().collect())
}

fn content() -> impl Strategy<Value = Content> {
    let amount = proptest::option::of(any::<i64>());
    let added = proptest::collection::vec(characters(), 5);
    ("[a-z]{1,4}", characters(), amount, characters(), added)
        .prop_map(|(id, name, amount, note, added)| Content { id, name, amount, note, added })
}

/// Writes content, asking the dice for every choice that XML leaves open.
struct Pen {
    dice: Vec<u8>,
    rolled: usize,
}

impl Pen {
    fn roll(&mut self, sides: usize) -> usize {
        self.rolled += 1;
        let round = self.rolled / self.dice.len();
        (usize::from(self.dice[self.rolled % self.dice.len()]) + round) % sides
    }

    fn pick(&mut self, choices: &[&'static str]) -> &'static str {
        choices[self.roll(choices.len())]
    }

    fn blank(&mut self) -> &'static str {
        self.pick(&["", "", " ", "\n", "\r\n\t"])
    }

    fn reference(&mut self, c: char) -> String {
        match (c, self.roll(3)) {
            ('&', 0) => "&amp;".into(),
            ('<', 0) => "&lt;".into(),
            ('>', 0) => "&gt;".into(),
            ('"', 0) => "&quot;".into(),
            ('\'', 0) => "&apos;".into(),
            (_, 1) => format!("&#x{:X};", u32::from(c)),
            _ => format!("&#{:03};", u32::from(c)),
        }
    }

    fn text(&mut self, text: &str) -> String {
        let mut out = String::new();
        for c in text.chars() {
            out.push_str(self.pick(&["", "", "", "", "<!-- <c> & -->", "<?p <c> & ?>", "<![CDATA[]]>"]));
            match (c, self.roll(4)) {
                ('\r', _) | (_, 0) => out.push_str(&self.reference(c)),
                ('\n', 1) => out.push_str("\r\n"),
                (']' | '>' | '&' | '<', 1) => out.push_str(&self.reference(c)),
                // Alone in its section, no character can end it.
                ('\n', _) if out.ends_with('\r') => out.push_str("&#10;"),
                (']' | '>' | '&' | '<', _) | (_, 2) => out.push_str(&format!("<![CDATA[{c}]]>")),
                _ => out.push(c),
            }
        }
        out
    }

    fn attribute(&mut self, name: &str, text: &str) -> String {
        let quote = self.pick(&["'", "\""]);
        let mut value = String::new();
        for c in text.chars() {
            let must = matches!(c, '&' | '<' | '\n' | '\r' | '\t') || quote.starts_with(c);
            match (must || self.roll(4) == 0, c) {
                (true, c) => value.push_str(&self.reference(c)),
                (false, ' ') => value.push_str(self.pick(&[" ", "\t", "\n", "\r\n"])),
                (false, c) => value.push(c),
            }
        }
        let before = self.pick(&[" ", "\n", "\t "]);
        format!("{before}{name}{}={}{quote}{value}{quote}", self.blank(), self.blank())
    }

    fn element(&mut self, name: &str, attributes: &str, inside: &str) -> String {
        let blank = self.blank();
        if inside.is_empty() && self.roll(2) == 0 {
            format!("<{name}{attributes}{blank}/>")
        } else {
            format!("<{name}{attributes}{blank}>{inside}</{name}{}>", self.blank())
        }
    }

    fn noise(&mut self) -> &'static str {
        self.pick(&[
            "",
            "",
            "\n  ",
            "<!-- - -->",
            "<?p?>",
            "<z><u:name xmlns:u='urn:x'>no</u:name></z>",
            "<name xmlns=''/>",
        ])
    }

    fn document(&mut self, content: &Content) -> String {
        let prefix = self.pick(&["", "u", "v", "x"]);
        let own =
            |local: &str| if prefix.is_empty() { local.to_owned() } else { format!("{prefix}:{local}") };
        let name_text = self.text(&content.name);
        let name = self.element(&own("name"), "", &name_text);
        let amount = match content.amount {
            Some(amount) => {
                let digits = self.text(&amount.to_string());
                let around = (self.blank(), self.blank());
                self.element(&own("amount"), "", &format!("{}{digits}{}", around.0, around.1))
            }
            None => self.noise().to_owned(),
        };
        let note = self.attribute("note", &content.note);
        let inner = self.element(&own("inner"), "", "");
        let middle = format!("{}{inner}{}", self.noise(), self.noise());
        let box_ = self.element(&own("box"), &note, &middle);
        let mut inside: Vec<String> = vec![name, amount, box_];
        let turn = self.roll(3);
        inside.rotate_left(turn);
        let inside: String = inside.into_iter().map(|part| format!("{}{part}", self.noise())).collect();
        let declare = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
        let mut attributes = vec![self.attribute(&declare, "urn:u"), self.attribute("id", &content.id)];
        attributes.push(self.pick(&["", " xmlns:w='urn:v'", " xmlns:n='urn:u'"]).to_owned());
        let turn = self.roll(3);
        attributes.rotate_left(turn);
        let root = self.element(&own("r"), &attributes.concat(), &inside);
        let head = self.pick(&["", "\u{feff}", "<?xml version='1.0' encoding='UTF-8'?>\r\n", "<!-- c -->\n"]);
        format!("{head}{root}{}", self.pick(&["", "\n", "<!-- d -->", "<?p?>"]))
    }
}

fn job() -> Job {
    Job::new()
        .root("u:r")
        .key("@id")
        .field("u:name", FieldType::Text)
        .optional("u:amount", FieldType::Int64)
        .field("u:box/@note", FieldType::Text)
        .add("u:box/u:inner", "u:one")
        .add(".", "v:two")
        .add("u:name", "u:three")
        .add("u:box", "four")
        .add("u:box/u:inner", "v:five")
}

fn job_of_output() -> Job {
    Job { additions: Vec::new(), ..job() }
        .field("u:box/u:inner/u:one", FieldType::Text)
        .field("v:two", FieldType::Text)
        .field("u:name/u:three", FieldType::Text)
        .field("u:box/four", FieldType::Text)
        .field("u:box/u:inner/v:five", FieldType::Text)
}

/// The slow way to splice, to hold the fast one to: each addition alone, from the back, into what is there.
fn splice_one_by_one(document: &str, marks: &[Mark], added: &[Added]) -> String {
    let mut order: Vec<usize> = (0..marks.len()).collect();
    let place = |mark: &Mark| match mark {
        Mark::Add { at, .. } => usize::try_from(*at).unwrap(),
        other => panic!("{other:?}"),
    };
    order.sort_by_key(|index| (place(&marks[*index]), *index));
    let mark_bytes = document.len() - document.trim_start_matches('\u{feff}').len();
    let mut out = document.to_owned();
    for (turn, index) in order.iter().enumerate().rev() {
        let (mark, added) = (&marks[*index], &added[*index]);
        let Mark::Add { empty_tag, name, declare, .. } = mark else { panic!() };
        let at = place(mark) + mark_bytes;
        let escaped = added.text.clone().unwrap();
        let escaped =
            escaped.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\r', "&#13;");
        let declare = match declare {
            None => String::new(),
            Some((prefix, uri)) if prefix.is_empty() => format!(" xmlns=\"{uri}\""),
            Some((prefix, uri)) => format!(" xmlns:{prefix}=\"{uri}\""),
        };
        let element = format!("<{0}{declare}>{escaped}</{0}>", name);
        let last_here = order.get(turn + 1).is_none_or(|next| place(&marks[*next]) != place(mark));
        let first_here = turn == 0 || place(&marks[order[turn - 1]]) != place(mark);
        let (before, after) = match empty_tag {
            Some(name) => {
                if last_here {
                    out.insert_str(at + 1, name);
                }
                (if first_here { ">" } else { "" }, if last_here { "<" } else { "" })
            }
            None => ("", ""),
        };
        out.insert_str(at, &format!("{before}{element}{after}"));
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn values_do_not_depend_on_how_they_are_written(
        content in content(),
        dice in proptest::collection::vec(any::<u8>(), 1..200),
    ) {
        let document = Pen { dice, rolled: 0 }.document(&content);
        let mut decoder = job().decoder();
        let decoded = decode_one(&mut decoder, &document)
            .map_err(|reason| TestCaseError::fail(format!("{reason}\n{document}")))?;
        let amount = content.amount.map_or(Value::Null, Value::Int);
        prop_assert_eq!(&decoded.key, content.id.as_bytes());
        prop_assert_eq!(&decoded.reading.values, &[text(&content.name), amount.clone(), text(&content.note)]);

        let added: Vec<Added> = content.added.iter()
            .map(|text| Added { text: Some(text.clone()), attributes: Vec::new() }).collect();
        let output = splice(document.as_bytes(), &decoded.reading.marks, &added).unwrap();
        let output = String::from_utf8(output).unwrap();
        prop_assert_eq!(&output, &splice_one_by_one(&document, &decoded.reading.marks, &added));

        let again = decode_one(&mut job_of_output().decoder(), &output)
            .map_err(|reason| TestCaseError::fail(format!("{reason}\n{output}")))?;
        let mut expected = vec![text(&content.name), amount, text(&content.note)];
        expected.extend(content.added.iter().map(|added| text(added)));
        prop_assert_eq!(again.key, decoded.key);
        prop_assert_eq!(again.reading.values, expected);
    }
}
