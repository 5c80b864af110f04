//! Every kind of mistake by its message: the part of the job that was changed, and what the check says to it.

use super::{ORDERS, errors, mistakes};

/// One test per mistake: a part of the job, what stands there instead, and the snapshot of the messages.
macro_rules! mistakes {
    ($($name:ident: $from:expr => $to:expr;)*) => {
        $(#[test]
        fn $name() {
            snapshot(stringify!($name), $to, &mistakes($from, $to));
        })*
    };
}

fn snapshot(name: &str, instead: &str, messages: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, format!("{instead}\n--\n{messages}")));
}

mod job_and_source {
    use super::*;

    mistakes! {
        job_without_a_name: "name = \"orders\"\n" => "";
        job_name_with_capitals: "name = \"orders\"" => "name = \"Orders\"";
        job_name_too_long: "name = \"orders\"" => "name = \"oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo\"";
        key_groups_zero: "key_groups = 16" => "key_groups = 0";
        key_groups_negative: "key_groups = 16" => "key_groups = -3";
        key_groups_text: "key_groups = 16" => "key_groups = \"16\"";
        audit_text: "key_groups = 16" => "key_groups = 16\naudit = \"yes\"";
        unknown_key_near_another: "key_groups = 16" => "key_group = 16";
        unknown_key_near_none: "key_groups = 16" => "parallelism = 16";
        unknown_section: "[outage]" => "[outages]";
        section_that_is_no_table: "[outage]\nlimit_s = 0" => "[[outage]]\nlimit_s = 0";
        not_toml: "key_groups = 16" => "key_groups = = 16\nname 5";
        key_twice: "key_groups = 16" => "key_groups = 16\nkey_groups = 17";
        field_twice: "note      =" => "total     =";
        bootstrap_servers_without_port: "\"127.0.0.1:9092\"" => "\"kafka-1,kafka-2:9092\"";
        bootstrap_servers_as_list: "\"127.0.0.1:9092\"" => "[\"127.0.0.1:9092\"]";
        topics_empty: "topics = [\"orders\"]" => "topics = []";
        topics_as_text: "topics = [\"orders\"]" => "topics = \"orders\"";
        topic_twice: "topics = [\"orders\"]" => "topics = [\"orders\", \"returns\", \"orders\"]";
        topic_illegal: "topics = [\"orders\"]" => "topics = [\"orders\", \"or ders\", \"\", \"..\", 5]";
        start_misspelt: "start = \"earliest\"" => "start = \"earlyest\"";
        group_id_empty: "\"tidegate-orders\"" => "\"\"";
        client_options_that_tidegate_owns: "client = { \"fetch.min.bytes\" = \"1\" }" => "client = { \"acks\" = \"1\", \"group.id\" = \"mine\", \"enable.auto.commit\" = \"true\", \"queued.min.messages\" = \"5\", \"transactional.id\" = \"x\", \"rebalance_cb\" = \"f\", \"auto.offset.reset\" = \"latest\" }";
        client_option_with_bare_dots: "client = { \"fetch.min.bytes\" = \"1\" }" => "client = { fetch.min.bytes = \"1\" }";
        client_option_of_no_kind: "client = { \"fetch.min.bytes\" = \"1\" }" => "client = { \"fetch.min.bytes\" = 1.5 }";
    }
}

mod variables {
    use super::*;

    mistakes! {
        variable_not_set: "\"127.0.0.1:9092\"" => "\"${KAFKA_HOST}:${KAFKA_PORT:9092}\"";
        variable_left_open: "\"127.0.0.1:9092\"" => "\"${KAFKA\"";
        variable_without_a_name: "\"127.0.0.1:9092\"" => "\"${kafka-host}\"";
        variable_whose_value_is_wrong: "\"127.0.0.1:9092\"" => "\"${KAFKA:nowhere}\"";
    }
}

mod event {
    use super::*;

    mistakes! {
        format_that_is_not_xml: "format = \"xml\"" => "format = \"json\"";
        namespace_without_a_uri: "s = \"urn:shop:1\"" => "s = \"\"";
        namespace_prefixes_that_are_reserved: "s = \"urn:shop:1\"" => "s = \"urn:shop:1\", xml = \"urn:a\", xmlns = \"urn:b\", \"\" = \"urn:c\", \"1a\" = \"urn:d\"";
        each_relative: "each = \"/s:order\"" => "each = \"s:order\"";
        each_upwards: "each = \"/s:order\"" => "each = \"/s:orders/../s:order\"";
        each_of_two: "each = \"/s:order\"" => "each = \"/s:order | /s:invoice\"";
        each_counted: "each = \"/s:order\"" => "each = \"count(/s:order)\"";
        no_match_misspelt: "each = \"/s:order\"" => "each = \"/s:order\"\nno_match = \"discarded\"\ndoctype = \"expand\"\ntombstone = \"delete\"";
        each_anywhere: "each = \"/s:order\"" => "each = \"//s:order\"";
        key_empty: "key = [\"@id\"]" => "key = []";
        key_as_text: "key = [\"@id\"]" => "key = \"@id\"";
        key_part_twice: "key = [\"@id\"]" => "key = [\"@id\", \"/s:order/@id\"]";
        key_part_that_is_a_field: "key = [\"@id\"]" => "key = [\":id\", \":_offset\", \":_header.\"]";
        key_part_twice_of_the_record: "key = [\"@id\"]" => "key = [\":_key\", \":_header.a\", \":_key\"]";
        path_with_an_unknown_prefix_in_a_predicate: "\"s:note\"" => "\"s:note[t:kind/@u:x='a']\"";
        path_above_the_root: "\"s:note\"" => "\"../s:note\"";
        path_with_an_alternative_twice: "\"s:note\"" => "\"s:note | s:remark | /s:order/s:note\"";
        path_that_counts_below_nothing: "\"s:note\"" => "\"s:note[0]\"";
        path_that_calls_a_function: "\"s:note\"" => "\"normalize-space(s:note)\"";
        path_that_calculates: "\"s:note\"" => "\"s:note[last()-1]\"";
        path_with_an_unknown_prefix: "\"s:note\"" => "\"shop:note\"";
        path_that_cannot_match: "\"/s:order/s:total\"" => "\"/s:invoice/s:total\"";
        path_that_cannot_match_by_namespace: "\"/s:order/s:total\"" => "\"/order/s:total\"";
        path_with_an_attribute_inside: "\"s:customer/@ref\"" => "\"s:customer/@ref/s:x\"";
        path_with_a_bad_name: "\"s:note\"" => "\"s:notes/s:2nd\"";
        path_with_a_star: "\"s:note\"" => "\"s:notes/*\"";
        path_empty: "\"s:note\"" => "\"\"";
        path_that_ends_with_a_slash: "\"s:note\"" => "\"s:note/\"";
        path_with_text_inside: "\"s:note\"" => "\"text()/s:note\"";
        path_with_an_axis: "\"s:note\"" => "\"child::note\"";
        field_with_a_bad_name: "note      =" => "\"order-note\" =";
        field_named_like_meta: "note      =" => "_note =";
        field_as_text: "{ path = \"s:note\", type = \"text\", optional = true }" => "\"s:note\"";
        field_without_path_and_type: "{ path = \"s:note\", type = \"text\", optional = true }" => "{ optional = true }";
        field_with_an_unknown_key: "type = \"text\", optional = true" => "type = \"text\", optinal = true";
        field_optional_as_text: "optional = true" => "optional = \"yes\"";
        type_of_other_systems: "type = \"int64\"" => "type = \"integer\"";
        type_misspelt: "type = \"int64\"" => "type = \"int46\"";
        type_unknown: "type = \"int64\"" => "type = \"geometry\"";
        decimal_out_of_range: "decimal(12,2)" => "decimal(66,2)";
        decimal_scale_over_precision: "decimal(12,2)" => "decimal(12,13)";
        decimal_without_digits: "decimal(12,2)" => "decimal";
        decimal_not_numbers: "decimal(12,2)" => "decimal(a,b)";
        bytes_without_encoding: "decimal(12,2)" => "bytes";
        zone_unknown: "Europe/Zurich" => "Europe/Zuerich";
        zone_of_a_text: "type = \"text\", optional = true" => "type = \"text\", zone = \"UTC\"";
    }
}

mod lists {
    use super::*;

    const BEHIND: &str = "[database]\n";
    const STORE: &str = "store = \"\"\"INSERT INTO orders (id, customer, total, placed_at) VALUES (:id, :customer, :total, :placed_at)\n           ON DUPLICATE KEY UPDATE total = VALUES(total)\"\"\"";

    /// A list of lines, in which each has taxes, in front of what stands in its place.
    fn with_lists(store: &str) -> String {
        let lists = "[event.lists.lines]\neach = \"s:lines/s:line\"\n\
                     fields = { sku = { path = \"@sku\", type = \"text\" } }\n\
                     [event.lists.lines.lists.taxes]\neach = \"s:tax\"\n\
                     fields = { rate = { path = \"@rate\", type = \"int64\" }, sku = { path = \"../@sku\", type = \"text\" } }\n\
                     [event.lists.notes]\neach = \"s:note\"\n\n[database]\n";
        super::super::changed(STORE, store).replace(BEHIND, lists)
    }

    mistakes! {
        list_that_is_no_table: BEHIND => "[event.lists]\nlines = \"s:line\"\n[database]\n";
        list_without_each: BEHIND => "[event.lists.lines]\nfields = {}\n[database]\n";
        list_from_the_root: BEHIND => "[event.lists.lines]\neach = \"/s:order/s:line\"\n[database]\n";
        list_of_the_event_itself: BEHIND => "[event.lists.lines]\neach = \".\"\n[database]\n";
        list_of_attributes: BEHIND => "[event.lists.lines]\neach = \"s:line/@id\"\n[database]\n";
        list_upwards: BEHIND => "[event.lists.lines]\neach = \"../s:line\"\n[database]\n";
        list_named_like_a_field: BEHIND => "[event.lists.total]\neach = \"s:line\"\n[database]\n";
        list_named_like_a_step: BEHIND => "[event.lists.customer]\neach = \"s:line\"\n[database]\n";
        list_named_twice: BEHIND => "[event.lists.a]\neach = \"s:a\"\n[event.lists.b]\neach = \"s:b\"\n[event.lists.b.lists.a]\neach = \"s:a\"\n[database]\n";
        list_with_a_bad_name: BEHIND => "[event.lists.order-lines]\neach = \"s:line\"\n[database]\n";
        list_with_an_unknown_key: BEHIND => "[event.lists.lines]\neach = \"s:line\"\nfeilds = {}\n[database]\n";
        list_whose_field_leads_out: BEHIND => "[event.lists.lines]\neach = \"s:line\"\nfields = { a = { path = \"../../x\", type = \"text\" } }\n[database]\n";
    }

    /// One test per mistake in a store: what stands there, and the snapshot of the messages.
    macro_rules! stores {
        ($($name:ident: $store:expr;)*) => {
            $(#[test]
            fn $name() {
                snapshot(stringify!($name), $store, &errors(&with_lists($store)).to_string());
            })*
        };
    }

    stores! {
        row_outside_of_its_list: "store = \"DELETE FROM a WHERE b = :lines.sku\"";
        row_index_outside_of_its_list: "store = \"DELETE FROM a WHERE b = :lines._index\"";
        row_of_an_inner_list: "for_each = \"lines\"\nstore = \"DELETE FROM a WHERE b = :taxes.rate\"";
        row_of_another_list: "for_each = \"notes\"\nstore = \"DELETE FROM a WHERE b = :taxes.rate\"";
        row_field_misspelt: "for_each = \"lines\"\nstore = \"DELETE FROM a WHERE b = :lines.sk AND c = :line.sku AND d = :lines.weight\"";
        row_field_without_its_list: "for_each = \"taxes\"\nstore = \"DELETE FROM a WHERE b = :rate\"";
        row_list_alone: "for_each = \"lines\"\nstore = \"DELETE FROM a WHERE b = :lines\"";
        for_each_of_nothing: "for_each = \"line\"\nstore = \"DELETE FROM a WHERE b = :lines.sku\"";
        for_each_on_a_lookup: "for_each = \"lines\"\nlookup = \"SELECT 1\"";
        when_of_a_row_outside: "when = \":lines.sku = 'a'\"\nstore = \"DELETE FROM a\"";
    }

    #[test]
    fn row_in_an_output() {
        let text = with_lists("store = \"DELETE FROM a\"")
            .replace("text = \":customer.name\"", "text = \":lines.sku\"");
        snapshot("row_in_an_output", "text = \":lines.sku\"", &errors(&text).to_string());
    }
}

mod tombstones {
    use super::*;

    const STORE: &str = "store = \"\"\"INSERT INTO orders (id, customer, total, placed_at) VALUES (:id, :customer, :total, :placed_at)\n           ON DUPLICATE KEY UPDATE total = VALUES(total)\"\"\"";

    mistakes! {
        tombstones_that_are_no_events: STORE => "on = \"tombstone\"\nstore = \"DELETE FROM a WHERE b = :_key\"";
        on_misspelt: STORE => "on = \"tombstones\"\nstore = \"DELETE FROM a WHERE b = :_key\"";
    }

    #[test]
    fn tombstones_have_no_document() {
        let text = super::super::changed(STORE, "on = \"tombstone\"\nwhen = \":total > 1\"\nstore = \"DELETE FROM a WHERE b = :id OR c = :customer.tier\"")
            .replace("format = \"xml\"", "format = \"xml\"\ntombstone = \"event\"")
            .replace("document = \"input\"", "document = \"input\"\non = \"tombstone\"\ntemplate_file = \"a\"\nset = []\nremove = []");
        snapshot("tombstones_have_no_document", "", &errors(&text).to_string());
    }
}

mod caches {
    use super::*;

    mistakes! {
        cache_of_a_table_that_the_job_writes: "FROM customer WHERE id = :customer\"" => "FROM orders WHERE id = :customer\"\ncache_s = 60";
        cache_of_what_locks: "WHERE id = :customer\"" => "WHERE id = :customer FOR UPDATE\"\ncache_s = 60";
        cache_for_too_long: "missing = \"reject\"" => "missing = \"reject\"\ncache_s = 86401";
        cache_of_a_store: "UPDATE total = VALUES(total)\"\"\"" => "UPDATE total = VALUES(total)\"\"\"\ncache_s = 5";
    }
}

mod conditions {
    use super::*;

    mistakes! {
        when_with_two_signs: "missing = \"reject\"" => "missing = \"reject\"\nwhen = \":total == 5\"";
        when_of_unlike_kinds: "missing = \"reject\"" => "missing = \"reject\"\nwhen = \":total > '5'\"";
        when_of_its_own_columns: "missing = \"reject\"" => "missing = \"reject\"\nwhen = \":customer.tier = 'gold'\"";
        when_of_no_field: "document = \"input\"" => "document = \"input\"\nwhen = \":totl > 5\"";
        when_empty: "document = \"input\"" => "document = \"input\"\nwhen = \"\"";
        when_boolean: "document = \"input\"" => "document = \"input\"\nwhen = true";
    }
}

mod fields {
    use super::*;

    const NOTE: &str = "{ path = \"s:note\", type = \"text\", optional = true }";

    mistakes! {
        field_with_two_sources: NOTE => "{ path = \"s:note\", header = \"note\", record_key = true, type = \"text\" }";
        field_of_an_empty_header: NOTE => "{ header = \"\", type = \"text\" }";
        field_of_no_record_key: NOTE => "{ record_key = false, type = \"text\" }";
        field_of_an_unknown_list: NOTE => "{ list = \"lines\", type = \"json\" }";
        field_of_a_header_as_json: NOTE => "{ header = \"note\", type = \"json\" }";
        field_of_an_attribute_as_xml: NOTE => "{ path = \"s:note/@lang\", type = \"xml\" }";
        header_that_is_nil: NOTE => "{ header = \"note\", type = \"text\", nil = \"null\" }";
        default_not_of_its_type: NOTE => "{ path = \"s:note\", type = \"decimal(4,2)\", default = \"1.005\" }";
        default_of_another_kind: NOTE => "{ path = \"s:note\", type = \"int64\", default = 0 }";
        default_that_nothing_uses: NOTE => "{ path = \"s:note\", type = \"int64\", default = \"0\", absent = \"null\" }";
        default_missing: NOTE => "{ path = \"s:note\", type = \"int64\", nil = \"default\" }";
        default_of_json: NOTE => "{ path = \"s:note\", type = \"json\", default = \"{}\" }";
        default_of_an_element: NOTE => "{ path = \"s:note\", type = \"xml\", default = \"<a/>\" }";
        gap_misspelt: NOTE => "{ path = \"s:note\", type = \"text\", absent = \"nul\", empty = \"keep\" }";
        values_empty: NOTE => "{ path = \"s:note\", type = \"text\", values = {} }";
        values_as_a_list: NOTE => "{ path = \"s:note\", type = \"text\", values = [\"a\"] }";
        values_not_of_their_type: NOTE => "{ path = \"s:note\", type = \"int64\", values = { A = \"1\", B = \"two\", C = 3 } }";
        values_that_can_never_be: NOTE => "{ path = \"s:note\", type = \"text\", values = { \" A\" = \"a\" } }";
        rules_that_mean_nothing: NOTE => "{ path = \"s:note\", type = \"bool\", round = \"half_up\", format = \"%Y\", white_space = \"trim\", zone = \"UTC\" }";
        round_unknown: NOTE => "{ path = \"s:note\", type = \"decimal(4,2)\", round = \"half-up\" }";
        format_without_the_time: NOTE => "{ path = \"s:note\", type = \"timestamp\", format = \"%Y%m%d\" }";
        format_of_java: NOTE => "{ path = \"s:note\", type = \"date\", format = \"yyyyMMdd\" }";
        format_with_a_zone_name: NOTE => "{ path = \"s:note\", type = \"timestamp\", format = \"%F %T %Z\" }";
        text_of_no_characters: NOTE => "{ path = \"s:note\", type = \"text(0)\" }";
        type_double: NOTE => "{ path = \"s:note\", type = \"double\" }";
    }
}

mod database {
    use super::*;

    const URL: &str = "url = \"mysql://app@127.0.0.1:3306/shop\"";
    const STORE: &str = "store = \"\"\"INSERT INTO orders (id, customer, total, placed_at) VALUES (:id, :customer, :total, :placed_at)\n           ON DUPLICATE KEY UPDATE total = VALUES(total)\"\"\"";
    const LOOKUP: &str = "lookup = \"SELECT name, tier FROM customer WHERE id = :customer\"";

    mistakes! {
        url_missing: URL => "";
        url_of_another_engine: URL => "url = \"postgres://app@127.0.0.1/shop\"";
        url_without_slashes: URL => "url = \"mysql:app@127.0.0.1/shop\"";
        url_without_user: URL => "url = \"mysql://127.0.0.1:3306/shop\"";
        url_without_host: URL => "url = \"mysql://app@:3306/shop\"";
        url_without_schema: URL => "url = \"mysql://app@127.0.0.1:3306\"";
        url_with_a_bad_port: URL => "url = \"mysql://app@127.0.0.1:0/shop\"";
        url_with_options: URL => "url = \"mysql://app@127.0.0.1:3306/shop?ssl=true\"";
        url_with_a_broken_code: URL => "url = \"mysql://ap%zz@127.0.0.1:3306/shop\"";
        url_of_sqlite_in_memory: URL => "url = \"sqlite::memory:\"";
        url_with_password_beside_a_password_file: URL => "url = \"mysql://app:secret@127.0.0.1:3306/shop\"";
        password_file_for_sqlite: URL => "url = \"sqlite:shop.db\"";
        connections_too_many: URL => "url = \"mysql://app@127.0.0.1:3306/shop\"\nconnections = 65\nbatch_events = 0\ndeadline_s = 3601";
        connections_for_sqlite: URL => "url = \"sqlite:shop.db\"\nconnections = 4";
        step_with_both: LOOKUP => "lookup = \"SELECT 1\"\nstore = \"DELETE FROM a\"";
        step_with_neither: STORE => "name = \"nothing\"";
        step_name_twice: STORE => "name = \"customer\"\nstore = \"DELETE FROM a\"";
        step_name_illegal: STORE => "name = \"a-b\"\nstore = \"DELETE FROM a\"";
        step_unknown_key: STORE => "stroe = \"DELETE FROM a\"";
        missing_on_a_store: STORE => "missing = \"null\"\nstore = \"DELETE FROM a\"";
        missing_misspelt: "missing = \"reject\"" => "missing = \"nil\"";
        statement_not_one: STORE => "store = \"DELETE FROM a; DELETE FROM b\"";
        statement_left_open: STORE => "store = \"DELETE FROM a WHERE b = 'x\"";
        statement_empty: STORE => "store = \" -- nothing\"";
        statement_with_question_marks: STORE => "store = \"DELETE FROM a WHERE id = ?\"";
        statement_with_a_lone_colon: STORE => "store = \"DELETE FROM a WHERE id = : id\"";
        statement_with_executed_comment: STORE => "store = \"DELETE /*!50000 QUICK */ FROM a\"";
        store_that_reads: STORE => "store = \"SELECT 1\"";
        store_that_makes_tables: STORE => "store = \"CREATE TABLE a (b INT)\"";
        lookup_that_writes: LOOKUP => "lookup = \"UPDATE a SET b = 1\"";
        lookup_that_writes_behind_with: LOOKUP => "lookup = \"WITH c AS (SELECT 1) DELETE FROM a\"";
        lookup_into: LOOKUP => "lookup = \"SELECT a INTO OUTFILE '/tmp/x' FROM b\"";
        parameter_unknown: STORE => "store = \"DELETE FROM a WHERE id = :totl AND b = :weight\"";
        parameter_that_is_a_step: STORE => "store = \"DELETE FROM a WHERE id = :id\"\n[[database.steps]]\nname = \"other\"\nlookup = \"SELECT 1\"\n[[database.steps]]\nstore = \"DELETE FROM a WHERE id = :other\"";
        parameter_meta_unknown: STORE => "store = \"DELETE FROM a WHERE id = :_ofset AND b = :_weather AND c = :_header.\"";
        parameter_of_an_unknown_lookup: STORE => "store = \"DELETE FROM a WHERE id = :custmer.id AND b = :total.x AND c = :zebra.x\"";
        parameter_of_the_step_itself: LOOKUP => "lookup = \"SELECT a FROM b WHERE c = :customer.name\"";
        parameter_of_a_later_step: STORE => "store = \"DELETE FROM a WHERE id = :late.x\"\n[[database.steps]]\nname = \"late\"\nlookup = \"SELECT 1\"";
        parameter_of_a_store: STORE => "name = \"kept\"\nstore = \"DELETE FROM a\"\n[[database.steps]]\nstore = \"DELETE FROM a WHERE b = :kept.x\"";
        parameter_in_a_text_with_escapes: STORE => "store = \"DELETE FROM a\\tWHERE id = :totl\"";
    }
}

mod output_and_the_rest {
    use super::*;

    mistakes! {
        output_without_topic: "topic = \"orders.enriched\"\n" => "";
        output_into_an_input: "topic = \"orders.enriched\"" => "topic = \"orders\"";
        output_into_the_progress_topic: "topic = \"orders.enriched\"" => "topic = \"tidegate-orders-progress\"";
        output_key_empty: "key = [\":id\"]" => "key = []";
        output_key_without_colon: "key = [\":id\"]" => "key = [\"id\", \":ids\"]";
        output_document_unknown: "document = \"input\"" => "document = \"copy\"";
        output_topic_by_no_field: "topic = \"orders.enriched\"" => "topic = \":topik\"\ntopics = [\"a\"]";
        output_topic_by_field_without_topics: "topic = \"orders.enriched\"" => "topic = \":id\"";
        output_topics_wrong: "topic = \"orders.enriched\"" => "topic = \":id\"\ntopics = [\"a\", \"orders\", \"a\", \"b c\", \"orders.rejected\"]";
        output_topics_empty: "topic = \"orders.enriched\"" => "topic = \":id\"\ntopics = []";
        output_topics_beside_a_topic: "topic = \"orders.enriched\"" => "topic = \"orders.enriched\"\ntopics = [\"a\"]";
        output_template_without_a_file: "document = \"input\"" => "document = \"template\"";
        output_template_with_edits: "document = \"input\"" => "document = \"template\"\ntemplate_file = \"a.xml\"\nremove = [\"s:note\"]";
        output_template_file_alone: "document = \"input\"" => "document = \"input\"\ntemplate_file = \"a.xml\"";
        output_element_with_a_place_outside: "document = \"input\"" => "document = \"element\"\nset = [{ at = \"/s:order/s:total\", text = \"a\" }, { at = \"/s:order[s:a='b']/s:total\", text = \"a\" }]";
        set_without_at_and_text: "document = \"input\"" => "document = \"input\"\nset = [{}]";
        set_at_a_count: "document = \"input\"" => "document = \"input\"\nset = [{ at = \"count(s:note)\", text = \"a\", to = \"b\" }]";
        remove_what_is_no_place: "document = \"input\"" => "document = \"input\"\nremove = [\"s:note/text()\", \"count(s:note)\", \"s:note | .\", \"/s:order\", \"s:no te\"]";
        remove_as_text: "document = \"input\"" => "document = \"input\"\nremove = \"s:note\"";
        add_without_at_and_element: "at = \"s:customer\"\nelement = \"s:name\"\n" => "";
        add_at_an_attribute: "at = \"s:customer\"" => "at = \"s:customer/@ref\"";
        add_with_an_unknown_prefix: "element = \"s:name\"" => "element = \"t:name\"";
        add_with_a_bad_name: "element = \"s:name\"" => "element = \"s:na me\"";
        add_text_without_its_colon: "text = \":customer.name\"" => "text = \"customer.name\"";
        add_text_of_nothing: "text = \":customer.name\"" => "text = \":customr.name\"";
        add_text_of_two: "text = \":customer.name\"" => "text = \":id and :total\"";
        add_text_with_a_control_character: "text = \":customer.name\"" => "text = \"a\\u0001b\"";
        add_attributes_with_bad_names: "tier = \":customer.tier\"" => "\"s:tier\" = \":id\", xmlns = \"x\", \"a b\" = \"y\"";
        add_unknown_key: "element = \"s:name\"" => "elment = \"s:name\"";
        unreadable_parked: "unreadable = \"dead_letter\"" => "unreadable = \"park\"";
        unreadable_misspelt: "unreadable = \"dead_letter\"" => "unreadable = \"dead-letter\"";
        dead_letters_without_a_topic: "dead_letter_topic = \"orders.rejected\"\n" => "";
        dead_letters_into_an_input: "dead_letter_topic = \"orders.rejected\"" => "dead_letter_topic = \"orders\"";
        dead_letters_into_the_output: "dead_letter_topic = \"orders.rejected\"" => "dead_letter_topic = \"orders.enriched\"";
        letters_of_other_kinds_without_a_topic: "dead_letter_topic = \"orders.rejected\"\n" => "refused = \"dead_letter\"\n";
        budget_without_a_share: "dead_letter_topic" => "budget = { at_least = 5 }\ndead_letter_topic";
        budget_over_all: "dead_letter_topic" => "budget = { share = 1.5, window_s = 0, of = 1 }\ndead_letter_topic";
        budget_no_table: "dead_letter_topic" => "budget = 0.05\ndead_letter_topic";
        reject_rule_unknown: "dead_letter_topic" => "refused = \"stop\"\ndead_letter_topic";
        status_not_built: "[outage]" => "[status]\nlisten = \"127.0.0.1:9464\"\n[outage]";
        outage_limit_negative: "limit_s = 0" => "limit_s = -1";
        size_with_a_wrong_unit: "in_flight_bytes = \"64MiB\"" => "in_flight_bytes = \"64MB\"";
        size_out_of_range: "document_bytes = \"1MiB\"" => "document_bytes = \"2GiB\"";
        size_not_a_number: "document_bytes = \"1MiB\"" => "document_bytes = \"MiB\"";
        size_of_no_kind: "document_bytes = \"1MiB\"" => "document_bytes = true";
        in_flight_under_document: "in_flight_bytes = \"64MiB\"\ndocument_bytes = \"1MiB\"" => "in_flight_bytes = \"1MiB\"\ndocument_bytes = \"2MiB\"";
    }

    /// The job with these outputs in the place of its own.
    fn with_outputs(outputs: &str) -> String {
        let (start, rest) = ORDERS.split_once("[output]").unwrap_or_default();
        let (_, end) = rest.split_once("[rejects]").unwrap_or_default();
        format!("{start}{outputs}\n[rejects]{end}")
    }

    #[test]
    fn outputs_named_twice() {
        let outputs = "[[output]]\nname = \"a\"\ntopic = \"x\"\n[[output]]\nname = \"a\"\ntopic = \"orders\"\n[[output]]\nname = \"a-b\"\n";
        snapshot("outputs_named_twice", outputs, &errors(&with_outputs(outputs)).to_string());
    }

    #[test]
    fn outputs_that_are_none() {
        for (name, output) in [
            ("outputs_empty", "output = []"),
            ("output_text", "output = \"x\""),
            ("outputs_of_text", "output = [\"x\"]"),
        ] {
            let text = format!("{output}\n{}", with_outputs(""));
            snapshot(name, output, &errors(&text).to_string());
        }
    }

    #[test]
    fn dead_letters_into_a_topic_of_a_field() {
        let outputs =
            "[[output]]\ntopic = \"x\"\n[[output]]\ntopic = \":id\"\ntopics = [\"y\", \"orders.rejected\"]\n";
        snapshot(
            "dead_letters_into_a_topic_of_a_field",
            outputs,
            &errors(&with_outputs(outputs)).to_string(),
        );
    }

    #[test]
    fn nothing_at_all() {
        snapshot("nothing_at_all", "", &errors("").to_string());
    }

    #[test]
    fn a_job_that_would_do_nothing() {
        let text = ORDERS.split("[[database.steps]]").next().unwrap_or_default();
        snapshot("a_job_that_would_do_nothing", "", &errors(text).to_string());
    }
}

#[test]
fn many_mistakes_come_all_at_once() {
    let text = include_str!("many_mistakes.toml");
    let messages = errors(text);
    snapshot("many_mistakes", text, &messages.to_string());
    let places: Vec<_> = messages.0.iter().map(|e| (e.line, e.column)).collect();
    assert!(places.is_sorted(), "{places:?}");
}

/// The reference's whole job uses a section whose work comes later: it is refused by name, and nothing else is wrong with it.
#[test]
fn the_whole_contract_is_known() {
    let messages = errors(include_str!("contract.toml"));
    snapshot("the_whole_contract_is_known", "", &messages.to_string());
    for error in &messages.0 {
        assert!(error.message.contains("not built yet"), "{error}");
    }
}
