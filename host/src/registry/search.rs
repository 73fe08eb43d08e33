//! Finds tools by words: BM25 over names, descriptions and parameter names.

use std::collections::HashMap;

use serde_json::Value;

/// Characters of a query that are looked at. A model writes a few words; what is longer is a mistake or an attack.
const QUERY_CHARS: usize = 400;

/// How fast a word that comes again stops counting (k1), and how much a long text is held against a tool (b): the usual values.
const SATURATION: f64 = 1.5;
const LENGTH: f64 = 0.75;

/// What is known of one tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Document<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its description.
    pub description: &'a str,
    /// The JSON Schema of its parameters, of which only the names count.
    pub parameters: &'a Value,
}

/// One tool that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    /// Which of the documents.
    pub at: usize,
    /// How well it fits; 0 where only its name contains the query.
    pub score: f64,
}

/// The tools that fit the query best, at most `limit`, best first. Where no word is found, those whose name contains the query.
pub(crate) fn search(documents: &[Document<'_>], query: &str, limit: usize) -> Vec<Hit> {
    let query: String = query.trim().chars().take(QUERY_CHARS).collect();
    let mut hits = by_words(documents, &query);
    if hits.is_empty() {
        hits = by_name(documents, &query);
    }
    let name = |hit: &Hit| documents.get(hit.at).map(|document| document.name);
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| name(a).cmp(&name(b))).then(a.at.cmp(&b.at)));
    hits.truncate(limit);
    hits
}

fn by_words(documents: &[Document<'_>], query: &str) -> Vec<Hit> {
    let mut wanted = Vec::new();
    split_name(query, &mut wanted);
    wanted.sort();
    wanted.dedup();
    let texts: Vec<Vec<String>> = documents.iter().map(terms).collect();
    let counts: Vec<HashMap<&str, f64>> = texts.iter().map(|terms| count(terms)).collect();
    let average = texts.iter().map(Vec::len).sum::<usize>() as f64 / texts.len().max(1) as f64;
    let mut scores = vec![0.0; texts.len()];
    for term in &wanted {
        let found = counts.iter().filter(|counts| counts.contains_key(term.as_str())).count() as f64;
        let rarity = (1.0 + (texts.len() as f64 - found + 0.5) / (found + 0.5)).ln();
        for ((score, counts), text) in scores.iter_mut().zip(&counts).zip(&texts) {
            let times = counts.get(term.as_str()).copied().unwrap_or(0.0);
            let length = 1.0 - LENGTH + LENGTH * text.len() as f64 / average.max(1.0);
            *score += rarity * times * (SATURATION + 1.0) / (times + SATURATION * length);
        }
    }
    scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0).map(|(at, score)| Hit { at, score }).collect()
}

fn by_name(documents: &[Document<'_>], query: &str) -> Vec<Hit> {
    let query = query.to_lowercase();
    let fits = |document: &Document<'_>| !query.is_empty() && document.name.to_lowercase().contains(&query);
    let found = documents.iter().enumerate().filter(|(_, document)| fits(document));
    found.map(|(at, _)| Hit { at, score: 0.0 }).collect()
}

fn terms(document: &Document<'_>) -> Vec<String> {
    let mut terms = Vec::new();
    split_name(document.name, &mut terms);
    terms.extend(words(document.description).map(stem));
    for name in document.parameters.get("properties").and_then(Value::as_object).into_iter().flat_map(|all| all.keys())
    {
        split_name(name, &mut terms);
    }
    terms
}

fn count(terms: &[String]) -> HashMap<&str, f64> {
    let mut counts = HashMap::new();
    for term in terms {
        *counts.entry(term.as_str()).or_insert(0.0) += 1.0;
    }
    counts
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// `readFile` is found as read, as file and as readfile; so is what a query writes that way.
fn split_name(name: &str, terms: &mut Vec<String>) {
    for word in words(name) {
        terms.push(stem(word));
        let mut start = 0;
        let mut before = None;
        for (at, c) in word.char_indices() {
            if c.is_uppercase() && before.is_some_and(char::is_lowercase) {
                terms.push(stem(&word[start..at]));
                start = at;
            }
            before = Some(c);
        }
        if start > 0 {
            terms.push(stem(&word[start..]));
        }
    }
}

/// One form for `search`, `searches` and `searching`, and for `write` and `writing`. It need not be a word: it is only compared.
fn stem(word: &str) -> String {
    let mut word = word.to_lowercase();
    if !word.is_ascii() || word.len() < 4 {
        return word;
    }
    if word.ends_with("ies") {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        word.truncate(word.len() - 1);
    }
    if let Some(verb) = word.strip_suffix("ing").filter(|verb| verb.contains(['a', 'e', 'i', 'o', 'u', 'y'])) {
        word.truncate(verb.len());
    }
    if word.len() > 3 && word.ends_with('e') {
        word.truncate(word.len() - 1);
    }
    // `running` is left with two n and `process` with two s; so is every other form of them.
    let mut last = word.chars().rev();
    if last.next() == last.next() {
        word.pop();
    }
    word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Name, description, parameters.
    const CATALOGUE: [(&str, &str, &[&str]); 20] = [
        ("read_file", "Shows a text file with line numbers, page by page.", &["path", "offset", "limit"]),
        ("write_file", "Replaces the whole content of a file.", &["path", "content"]),
        ("search_files", "Finds files by name or lines by a regular expression.", &["pattern", "path", "glob"]),
        ("patch", "Changes parts of a file by replacing text.", &["path", "old_string", "new_string"]),
        ("terminal", "Runs a shell command and returns what it prints.", &["command", "timeout", "background"]),
        ("process", "Lists, watches and kills background commands.", &["action", "id"]),
        ("web_search", "Searches the web and returns titles and addresses.", &["query", "limit"]),
        ("web_extract", "Fetches pages and returns them as markdown.", &["urls"]),
        ("browser_navigate", "Opens an address in the browser.", &["url"]),
        ("browser_click", "Clicks an element of the page.", &["ref"]),
        ("vision_analyze", "Answers a question about a picture.", &["image_url", "question"]),
        ("image_generate", "Paints a picture from a description.", &["prompt", "aspect_ratio"]),
        ("text_to_speech", "Turns text into spoken audio.", &["text", "voice"]),
        ("todo", "Keeps the list of tasks of this conversation.", &["todos"]),
        ("memory", "Saves facts that should outlive the conversation.", &["action", "content"]),
        ("sendMessage", "Delivers a message to a chat on Telegram or Discord.", &["chat", "text"]),
        ("cronjob", "Schedules something to run later or again and again.", &["schedule", "prompt"]),
        ("ha_call_service", "Switches lights and other devices at home.", &["domain", "service", "entity_id"]),
        ("spotify_playback", "Plays, pauses and skips music.", &["action", "device_id"]),
        ("calendar-events", "Reads and makes appointments.", &["startTime", "attendees"]),
    ];

    fn find(query: &str, limit: usize) -> Vec<&'static str> {
        let schemas = CATALOGUE.map(|(_, _, names)| {
            let properties: Value = names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
            json!({"type": "object", "properties": properties})
        });
        let documents: Vec<Document<'_>> = CATALOGUE
            .iter()
            .zip(&schemas)
            .map(|((name, description, _), parameters)| Document { name, description, parameters })
            .collect();
        search(&documents, query, limit).into_iter().map(|hit| CATALOGUE[hit.at].0).collect()
    }

    #[test]
    fn the_tool_that_is_meant_comes_first() {
        for (query, expected) in [
            ("read a file", "read_file"),
            ("searching files for a regex", "search_files"),
            ("run shell commands", "terminal"),
            ("kill a background process", "process"),
            ("search the web", "web_search"),
            ("generate image", "image_generate"),
            ("send a telegram message", "sendMessage"),
            ("schedule a job for later", "cronjob"),
            ("turn on the lights at home", "ha_call_service"),
            ("attendees of an appointment", "calendar-events"),
        ] {
            assert_eq!(find(query, 3).first(), Some(&expected), "{query}: {:?}", find(query, 3));
        }
    }

    #[test]
    fn words_of_names_are_found_apart_and_together() {
        for query in ["send", "sendmessage", "sendMessage", "SEND_MESSAGE"] {
            assert_eq!(find(query, 1), ["sendMessage"], "{query}");
        }
        assert_eq!(find("start time", 1), ["calendar-events"]);
    }

    #[test]
    fn forms_of_a_word_are_one() {
        for forms in [
            ["search", "searches", "searching"],
            ["write", "writes", "writing"],
            ["run", "runs", "running"],
            ["kill", "kills", "killing"],
            ["memory", "memories", "Memory"],
            ["process", "processes", "processing"],
            ["file", "files", "filing"],
        ] {
            assert_eq!(forms.map(stem), [(); 3].map(|()| stem(forms[0])), "{forms:?}");
        }
        assert_eq!(["string", "bus", "ids"].map(stem), ["string", "bus", "ids"]);
    }

    #[test]
    fn saying_a_word_again_does_not_make_it_count_more() {
        assert_eq!(find("music file music music music", 20), find("file music", 20));
        let parameters = json!({});
        let documents = ["b c", "a a"].map(|description| Document { name: "", description, parameters: &parameters });
        assert_eq!(search(&documents, "a b a a", 2), search(&documents, "a b", 2));
    }

    #[test]
    fn part_of_a_name_is_found_where_no_word_is() {
        assert_eq!(find("FY_PLAY", 5), ["spotify_playback"]);
        assert_eq!(find("brows", 5), ["browser_click", "browser_navigate"]);
        assert_eq!(find("zzz", 5), [""; 0]);
        assert_eq!(find("  ", 5), [""; 0]);
    }

    #[test]
    fn equals_stand_in_the_order_of_their_names() {
        let parameters = json!({});
        let documents = ["b", "c", "a"].map(|name| Document { name, description: "same", parameters: &parameters });
        assert_eq!(search(&documents, "same", 9).iter().map(|hit| hit.at).collect::<Vec<_>>(), [2, 0, 1]);
    }

    #[test]
    fn a_long_query_is_cut() {
        let query = "x ".repeat(QUERY_CHARS) + "telegram";
        assert_eq!(find(&query, 5), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_search_is_bounded_ordered_and_repeatable(
            texts in prop::collection::vec(("[a-cA-C_ä-]{0,6}", "\\PC{0,20}|(a|b|ab|files) (b|c|file)"), 0..8),
            query in "\\PC{0,20}|[a-cA-C_ä ]{0,8}",
            limit in 0usize..6,
        ) {
            let parameters = json!({"properties": {"ab": {}}});
            let documents: Vec<_> = texts
                .iter()
                .map(|(name, description)| Document { name, description, parameters: &parameters })
                .collect();
            let hits = search(&documents, &query, limit);
            prop_assert!(hits.len() <= limit);
            prop_assert!(hits.iter().all(|hit| hit.at < documents.len() && hit.score.is_finite()));
            for pair in hits.windows(2) {
                let (a, b) = (&pair[0], &pair[1]);
                prop_assert!(a.score > b.score || (a.score == b.score && documents[a.at].name <= documents[b.at].name));
            }
            prop_assert_eq!(search(&documents, &query, limit), hits);
        }
    }
}
