//! `<!ELEMENT name model>`: only its grammar, since nothing is validated.
//!
//! In:        a declaration     Out: nothing but that it is written well
//! Holds:     one separator per open bracket; nothing recurses
//! Fails:     what the grammar does not allow
//! Not here:  whether a document fits the model

use super::super::cursor::Cursor;
use super::super::fault::Fault;

/// Reads from behind `<!ELEMENT` to the `>`.
pub(super) fn declaration(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    cursor.blanks()?;
    cursor.qname("an element type without a name")?;
    cursor.blanks()?;
    if cursor.take("EMPTY") || cursor.take("ANY") {
        return Ok(());
    }
    let start = *cursor;
    cursor.expect("(", "a content model that is not EMPTY, ANY or in brackets")?;
    cursor.skip_blanks();
    if cursor.take("#PCDATA") { mixed(cursor) } else { children(start, cursor) }
}

/// `(#PCDATA | a | b)*`, from behind `#PCDATA`.
fn mixed(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    let mut names = false;
    loop {
        cursor.skip_blanks();
        if cursor.take(")") {
            break;
        }
        cursor.expect("|", "mixed content that is not `(#PCDATA | name | ...)*`")?;
        cursor.skip_blanks();
        cursor.qname("mixed content in which something is no name")?;
        names = true;
    }
    if !cursor.take("*") && names {
        return Err(cursor.fault("mixed content with names and without `*`"));
    }
    Ok(())
}

/// `(a, (b | c)?, d+)*`, from its first bracket.
fn children<'a>(start: Cursor<'a>, cursor: &mut Cursor<'a>) -> Result<(), Fault> {
    *cursor = start;
    // Of each open bracket: what stands between its parts, once that is known.
    let mut open: Vec<Option<&'static str>> = Vec::new();
    loop {
        // One part: an opening bracket or a name.
        if cursor.take("(") {
            open.push(None);
            cursor.skip_blanks();
            continue;
        }
        cursor.qname("a content model in which something is no name")?;
        occurrence(cursor);
        // What follows a part: closing brackets, then a separator.
        loop {
            if open.is_empty() {
                return Ok(());
            }
            // Of the outermost bracket, white space behind it is not the model's.
            cursor.skip_blanks();
            if !cursor.take(")") {
                break;
            }
            open.pop();
            occurrence(cursor);
        }
        separator(cursor, open.last_mut())?;
        cursor.skip_blanks();
    }
}

fn occurrence(cursor: &mut Cursor<'_>) {
    _ = cursor.take("?") || cursor.take("*") || cursor.take("+");
}

fn separator(cursor: &mut Cursor<'_>, innermost: Option<&mut Option<&'static str>>) -> Result<(), Fault> {
    let fault = cursor.fault("a content model with neither `|` nor `,` between two parts");
    let found = if cursor.take("|") {
        "|"
    } else if cursor.take(",") {
        ","
    } else {
        return Err(fault);
    };
    match innermost {
        Some(known) if known.is_none_or(|known| known == found) => {
            *known = Some(found);
            Ok(())
        }
        _ => Err(Fault::not_well_formed(
            cursor.at().saturating_sub(1),
            "a content model that mixes `|` and `,`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(declaration_text: &str) -> Result<(), String> {
        let mut cursor = Cursor::new(declaration_text, 0);
        declaration(&mut cursor).map_err(|fault| fault.into_reason(declaration_text).detail)?;
        cursor.skip_blanks();
        if cursor.starts_with(">") { Ok(()) } else { Err("no end".to_owned()) }
    }

    #[test]
    fn models() {
        for good in [
            "EMPTY",
            "ANY",
            "(#PCDATA)",
            "( #PCDATA )*",
            "(#PCDATA|a | b:c)*",
            "(a)",
            "(a)?",
            "( a , b )*",
            "(a|b|c)+",
            "(a,(b|c)?,(d+,e*))",
            "((((a))))",
            "(a?|(b,c)*)",
        ] {
            check(&format!(" n {good} >")).unwrap_or_else(|detail| panic!("{good}: {detail}"));
        }
        for bad in [
            "",
            "empty",
            "a",
            "()",
            "(a",
            "(a b)",
            "(a,b|c)",
            "(a|b,c)",
            "(a,)",
            "(,a)",
            "(a)) ",
            "(a ?)",
            "(a) *",
            "(#PCDATA|a)",
            "(#PCDATA,a)*",
            "(#PCDATA|a",
            "(a|#PCDATA)*",
            "(#PCDATA)+",
            "((#PCDATA))",
            "(a)**",
            "(%a;)",
            "(a|b|)",
            "EMPTYa",
        ] {
            assert!(check(&format!(" n {bad}>")).is_err(), "{bad}");
        }
        assert!(check("n EMPTY>").is_err() && check(" n(a)>").is_err() && check(" EMPTY>").is_err());
    }

    #[test]
    fn brackets_by_the_hundred_thousand_take_no_stack() {
        let many = 100_000;
        check(&format!(" n {}a{}>", "(".repeat(many), ")".repeat(many))).unwrap();
        assert!(check(&format!(" n {}", "(".repeat(many))).is_err());
    }
}
