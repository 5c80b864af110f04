//! The files of templates: whoever loads the job reads and compiles them, and hands text and names in here.
//!
//! In:        a template's text and the names that it takes from the event     Out: the job with both in it
//! Fails:     names that no field, list, look-up or meta field gives
//! Not here:  what a template is (xml), reading the file (cli)

use super::references::meta;
use super::suggest::nearest;
use super::{Document, JobSpec, Step};

/// Meta fields without `_header.NAME`.
const METAS: [&str; 6] = ["_topic", "_partition", "_offset", "_timestamp", "_key", "_now"];

impl JobSpec {
    /// Index into [`JobSpec::outputs`] and `output.template_file` as the user wrote it, relative to the job file's folder.
    pub fn template_files(&self) -> Vec<(usize, String)> {
        let outputs = self.outputs.iter().enumerate();
        let of_template = |(index, output): (usize, &super::OutputSpec)| match &output.document {
            Document::Template(template) => Some((index, template.file.clone())),
            Document::Input | Document::Element | Document::Nothing => None,
        };
        outputs.filter_map(of_template).collect()
    }

    /// Fills in the text of a template. `names` are those that it takes from the event, such as `total` and
    /// `customer.tier`: the columns among them are asked for by their look-ups from now on.
    ///
    /// # Errors
    /// One sentence per name that nothing gives.
    pub fn fill_template(
        &mut self,
        output: usize,
        source: &str,
        names: &[String],
    ) -> Result<(), Vec<String>> {
        let wrong: Vec<String> = names.iter().filter_map(|name| self.take_name(name).err()).collect();
        if !wrong.is_empty() {
            return Err(wrong);
        }
        if let Some(Document::Template(template)) =
            self.outputs.get_mut(output).map(|output| &mut output.document)
        {
            source.clone_into(&mut template.source);
        }
        Ok(())
    }

    fn take_name(&mut self, name: &str) -> Result<(), String> {
        let (head, inner) = name.split_once('.').map_or((name, None), |(head, inner)| (head, Some(inner)));
        if head.starts_with('_') {
            return if head == "_header" || meta(name).is_ok() { Ok(()) } else { Err(self.unknown(name)) };
        }
        // A look-up may have the name of a field: then the name is the look-up's, since only it has names inside.
        let is_field = self.event.fields.iter().any(|field| field.name == head);
        let is_known = is_field || self.event.lists.iter().any(|list| list.name == head);
        let lookup = self.database.steps.iter_mut().find_map(|step| match step {
            Step::Lookup(lookup) if lookup.name.as_deref() == Some(head) => Some(lookup),
            Step::Lookup(_) | Step::Store(_) => None,
        });
        let (lookup, inner) = match (lookup, inner) {
            (Some(lookup), Some(inner)) => (lookup, inner),
            (None, _) if is_known => return Ok(()),
            _ => return Err(self.unknown(name)),
        };
        let column = inner.split('.').next().unwrap_or(inner);
        if !lookup.columns.iter().any(|known| known == column) {
            lookup.columns.push(column.to_owned());
        }
        Ok(())
    }

    fn unknown(&self, name: &str) -> String {
        let lookup = |step: &Step| match step {
            Step::Lookup(lookup) => lookup.name.clone(),
            Step::Store(_) => None,
        };
        let lookups: Vec<String> = self.database.steps.iter().filter_map(lookup).collect();
        if lookups.iter().any(|lookup| lookup == name) {
            return format!("`{name}` is a look-up: write `{name}.COLUMN`");
        }
        let fields = self.event.fields.iter().map(|field| field.name.as_str());
        let lists = self.event.lists.iter().map(|list| list.name.as_str());
        let known = fields.chain(lists).chain(lookups.iter().map(String::as_str)).chain(METAS);
        let head = name.split('.').next().unwrap_or(name);
        match nearest(head, known) {
            Some(near) => format!("nothing gives `{name}`: did you mean `{near}`?"),
            None => format!("nothing gives `{name}`: it is no field, list, look-up or meta field"),
        }
    }
}
