//! Tokens that are known by how they begin: the prefixes of services, and what follows them.

use std::{ops::Range, sync::LazyLock};

use super::{
    charset::{
        Charset::{self, Alnum, Base64, Hex, Upper, Word},
        has_digit_and_letter, has_long_part, has_random_part, is_mixed,
    },
    placeholder::{self, HEAD},
};

/// Bytes of a token at most. Longer words are data, not keys. What may hold `+` and `/` is masked up to here, so that the next
/// search goes on behind it and hostile text costs no more than its length.
const LONGEST: usize = 8 << 10;

/// What must be true of a token besides its prefix, its bytes and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// Little, because no word begins like this: it is not made of plain words, as a variable's name is. It may also follow a
    /// hyphen or an underscore; all others begin a word.
    Prefix,
    /// There is a digit and a letter.
    Digit,
    /// As before, or there are letters of both cases.
    Mixed,
    /// One of its parts is as long as only a key's are.
    Random,
    /// As `Mixed`, and it is not a piece of Base64, which holds every prefix of letters sooner or later.
    Apart,
}

use Proof::{Apart, Digit, Mixed, Prefix, Random};

/// The tokens of one kind.
#[derive(Debug)]
pub(super) struct Family {
    prefix: &'static str,
    charset: Charset,
    min: usize,
    max: usize,
    proof: Proof,
}

const fn family(prefix: &'static str, charset: Charset, min: usize, max: usize, proof: Proof) -> Family {
    Family { prefix, charset, min, max, proof }
}

/// Families whose tokens slashes break into words that may be short, so anchors find them: Fly.io, the secrets that sign webhooks
/// (Stripe, Svix), AWS's session tokens.
pub(super) static BROKEN: [Family; 4] = [
    family("fm2_", Base64, 60, LONGEST, Mixed),
    family("whsec_", Base64, 24, LONGEST, Mixed),
    family("IQoJb3JpZ2lu", Base64, 100, LONGEST, Mixed),
    family("FwoGZXIvYXdz", Base64, 100, LONGEST, Mixed),
];

/// All others. The lengths are those of the prefix's rest; where a service does not promise one, they leave room.
static FAMILIES: &[Family] = &[
    // OpenAI, and DeepSeek, Moonshot, Stability and others with the same prefix
    family("sk-", Word, 20, 512, Random),
    family("sk-proj-", Word, 20, 512, Random),
    family("sk-svcacct-", Word, 20, 512, Random),
    family("sk-admin-", Word, 20, 512, Random),
    // Anthropic
    family("sk-ant-", Word, 20, 512, Random),
    family("sk-ant-api03-", Word, 20, 512, Random),
    // OpenRouter, Langfuse, Hindsight
    family("sk-or-v1-", Word, 20, 128, Random),
    family("sk-lf-", Word, 36, 36, Digit),
    family("hsk-", Alnum, 20, 128, Digit),
    // ElevenLabs
    family("sk_", Hex, 40, 64, Digit),
    // Stripe; its publishable keys are no secret
    family("sk_live_", Alnum, 16, 256, Prefix),
    family("sk_test_", Alnum, 16, 256, Prefix),
    family("sk_prod_", Alnum, 16, 256, Prefix),
    family("rk_live_", Alnum, 16, 256, Prefix),
    family("rk_test_", Alnum, 16, 256, Prefix),
    family("rk_prod_", Alnum, 16, 256, Prefix),
    // GitHub
    family("ghp_", Alnum, 16, 255, Prefix),
    family("gho_", Alnum, 16, 255, Prefix),
    family("ghu_", Alnum, 16, 255, Prefix),
    family("ghs_", Alnum, 16, 255, Prefix),
    family("ghr_", Alnum, 16, 255, Prefix),
    family("github_pat_", Word, 20, 255, Prefix),
    // GitLab
    family("glpat-", Word, 18, 320, Prefix),
    family("gloas-", Word, 18, 320, Mixed),
    family("gldt-", Word, 18, 320, Mixed),
    family("glrt-", Word, 18, 320, Mixed),
    family("glrtr-", Word, 18, 320, Mixed),
    family("glcbt-", Word, 18, 320, Mixed),
    family("glptt-", Word, 18, 320, Mixed),
    family("glft-", Word, 18, 320, Mixed),
    family("glimt-", Word, 18, 320, Mixed),
    family("glagent-", Word, 18, 320, Mixed),
    family("glsoat-", Word, 18, 320, Mixed),
    family("glffct-", Word, 18, 320, Mixed),
    family("glwt-", Word, 18, 320, Mixed),
    family("GR1348941", Word, 18, 64, Mixed),
    // Slack
    family("xoxa-", Word, 15, 320, Prefix),
    family("xoxb-", Word, 15, 320, Prefix),
    family("xoxc-", Word, 15, 320, Prefix),
    family("xoxe-", Word, 15, 320, Prefix),
    family("xoxo-", Word, 15, 320, Digit),
    family("xoxp-", Word, 15, 320, Prefix),
    family("xoxr-", Word, 15, 320, Prefix),
    family("xoxs-", Word, 15, 320, Prefix),
    family("xapp-", Word, 20, 320, Digit),
    // AWS: key ids, Bedrock
    family("AKIA", Upper, 16, 16, Prefix),
    family("ASIA", Upper, 16, 16, Digit),
    family("ABIA", Upper, 16, 16, Digit),
    family("ACCA", Upper, 16, 16, Digit),
    family("ABSK", Base64, 100, LONGEST, Apart),
    // Google
    family("AIza", Word, 30, 40, Mixed),
    family("GOCSPX-", Word, 20, 64, Prefix),
    // Alibaba Cloud
    family("LTAI", Alnum, 16, 24, Mixed),
    // Twilio
    family("SK", Hex, 32, 32, Digit),
    // package registries: npm, PyPI, RubyGems, Clojars, Artifactory
    family("npm_", Alnum, 30, 64, Mixed),
    family("pypi-", Word, 32, 1024, Random),
    family("rubygems_", Hex, 48, 48, Prefix),
    family("CLOJARS_", Hex, 60, 60, Prefix),
    family("AKCp", Alnum, 60, 80, Mixed),
    // models and search for them: Hugging Face, Replicate, Groq, xAI, Perplexity, Tavily, Exa, Firecrawl, fal, Fireworks,
    // Cerebras, Pinecone, LangSmith, Jina, E2B, Together, Browserbase, Mem0, RetainDB, ByteRover, AgentMail
    family("hf_", Alnum, 30, 40, Mixed),
    family("api_org_", Alnum, 30, 40, Mixed),
    family("r8_", Alnum, 30, 45, Mixed),
    family("gsk_", Alnum, 30, 80, Mixed),
    family("xai-", Alnum, 40, 128, Mixed),
    family("pplx-", Alnum, 30, 64, Mixed),
    family("tvly-", Word, 20, 64, Random),
    family("exa_", Alnum, 20, 64, Digit),
    family("fc-", Alnum, 30, 40, Digit),
    family("fal_", Word, 24, 128, Random),
    family("fw_", Alnum, 20, 64, Digit),
    family("fpk_", Alnum, 20, 64, Digit),
    family("csk-", Alnum, 40, 64, Mixed),
    family("pcsk_", Word, 40, 128, Mixed),
    family("lsv2_", Word, 40, 64, Mixed),
    family("jina_", Alnum, 40, 80, Mixed),
    family("e2b_", Hex, 40, 40, Mixed),
    family("tgp_v1_", Word, 32, 64, Mixed),
    family("bb_live_", Word, 20, 64, Mixed),
    family("mem0_", Alnum, 20, 64, Digit),
    family("retaindb_", Alnum, 20, 64, Digit),
    family("brv_", Alnum, 20, 64, Digit),
    family("am_", Alnum, 20, 64, Digit),
    family("am_org_", Alnum, 20, 64, Digit),
    // Databricks
    family("dapi", Hex, 32, 32, Digit),
    // clouds and hosts: DigitalOcean, Cloudflare, Fly.io, Heroku, Netlify, Render, Supabase, PlanetScale, Tailscale, Alchemy
    family("dop_v1_", Alnum, 32, 64, Prefix),
    family("doo_v1_", Alnum, 32, 64, Prefix),
    family("dor_v1_", Alnum, 32, 64, Prefix),
    family("cfut_", Alnum, 40, 64, Mixed),
    family("cfat_", Alnum, 40, 64, Mixed),
    family("cfk_", Alnum, 40, 64, Mixed),
    family("fo1_", Word, 40, 64, Mixed),
    family("HRKU-", Word, 36, 72, Prefix),
    family("nfp_", Alnum, 36, 64, Mixed),
    family("rnd_", Alnum, 28, 40, Mixed),
    family("sbp_", Alnum, 40, 48, Mixed),
    family("sb_secret_", Word, 20, 64, Mixed),
    family("pscale_tkn_", Word, 32, 64, Prefix),
    family("pscale_pw_", Word, 32, 64, Prefix),
    family("pscale_oauth_", Word, 32, 64, Prefix),
    family("tskey-", Word, 20, 96, Mixed),
    // work: Linear, Notion, Figma, Contentful, HubSpot, Atlassian, Typeform, ReadMe
    family("lin_api_", Alnum, 32, 48, Prefix),
    family("lin_oauth_", Alnum, 32, 64, Prefix),
    family("ntn_", Alnum, 40, 50, Mixed),
    family("secret_", Alnum, 40, 50, Mixed),
    family("figd_", Word, 36, 64, Mixed),
    family("CFPAT-", Word, 40, 48, Prefix),
    family("pat-na1-", Word, 36, 36, Digit),
    family("pat-eu1-", Word, 36, 36, Digit),
    family("ATATT3", Base64, 100, LONGEST, Mixed),
    family("tfp_", Word, 40, 64, Mixed),
    family("rdme_", Alnum, 60, 72, Mixed),
    // shops and payment: Shopify, Square, EasyPost, Shippo
    family("shpat_", Alnum, 32, 40, Prefix),
    family("shpss_", Alnum, 32, 40, Prefix),
    family("shpca_", Alnum, 32, 40, Prefix),
    family("shppa_", Alnum, 32, 40, Prefix),
    family("sq0atp-", Word, 22, 64, Prefix),
    family("sq0csp-", Word, 22, 64, Prefix),
    family("EAAA", Word, 60, 60, Apart),
    family("EZAK", Alnum, 54, 54, Mixed),
    family("shippo_live_", Hex, 40, 40, Prefix),
    // mail: Mailgun, Brevo
    family("key-", Hex, 32, 32, Digit),
    family("xkeysib-", Word, 64, 96, Prefix),
    // building and watching: Docker, Postman, New Relic, Grafana, Sentry, Pulumi, Prefect, Buildkite
    family("dckr_pat_", Word, 20, 64, Prefix),
    family("dckr_oat_", Word, 20, 64, Prefix),
    family("PMAK-", Word, 50, 64, Prefix),
    family("NRAK-", Alnum, 24, 32, Mixed),
    family("NRII-", Word, 32, 32, Mixed),
    family("glsa_", Word, 40, 44, Mixed),
    family("glc_", Base64, 32, LONGEST, Mixed),
    family("eyJrIjoi", Base64, 60, LONGEST, Mixed),
    family("sntrys_", Base64, 60, LONGEST, Mixed),
    family("sntryu_", Hex, 64, 64, Prefix),
    family("pul-", Hex, 40, 40, Digit),
    family("pnu_", Alnum, 36, 36, Mixed),
    family("bkua_", Hex, 40, 40, Prefix),
    // safes: age, 1Password, Python's Fernet; Matrix
    family("AGE-SECRET-KEY-1", Upper, 50, 58, Prefix),
    family("ops_eyJ", Base64, 100, LONGEST, Mixed),
    family("gAAAAAB", Word, 60, LONGEST, Apart),
    family("syt_", Word, 20, 128, Mixed),
];

/// The families by the first byte of their prefix, the longest prefix first.
static BY_FIRST: LazyLock<[Vec<&Family>; 128]> = LazyLock::new(|| {
    let mut by_first = [const { Vec::new() }; 128];
    for family in FAMILIES {
        let first = family.prefix.as_bytes().first().and_then(|first| by_first.get_mut(usize::from(*first)));
        first.into_iter().for_each(|families| families.push(family));
    }
    by_first.iter_mut().for_each(|families| families.sort_by_key(|family| usize::MAX - family.prefix.len()));
    by_first
});

/// The secret part of a token that begins at `start` in a word that ends at `end`. Whether `start` begins the word decides what
/// counts.
pub(super) fn find(text: &[u8], start: usize, end: usize, begins_word: bool) -> Option<Range<usize>> {
    let families = BY_FIRST.get(usize::from(*text.get(start)?))?;
    families
        .iter()
        .filter(|family| begins_word || family.proof == Prefix)
        // Cheaper than to compare whole prefixes, and nearly all differ here.
        .filter(|family| family.prefix.as_bytes().get(1) == text.get(start + 1))
        .find_map(|family| family.secret(text, start, end))
}

impl Family {
    /// The secret part of a token of this family.
    pub(super) fn secret(&self, text: &[u8], start: usize, word_end: usize) -> Option<Range<usize>> {
        if !text.get(start..word_end)?.starts_with(self.prefix.as_bytes()) {
            return None;
        }
        let body = start + self.prefix.len();
        let head = &text[body..text.len().min(body + HEAD)];
        let head = &head[..self.charset.run(head)];
        let is_plausible = || self.proven(head) && !placeholder::is_token(head);
        let end = match self.charset {
            Word => word_end,
            // It may end far away, and a refusal must be cheap.
            Base64 if head.len() < self.min.min(HEAD) || !is_plausible() => return None,
            Base64 => body + Base64.run(&text[body..text.len().min(body + self.max)]),
            _ => body + self.charset.run(&text[body..word_end.min(body + self.max + 1)]),
        };
        let fits = (self.min..=self.max).contains(&(end - body));
        let cut_short = self.charset != Base64 && text.get(end).is_some_and(u8::is_ascii_alphanumeric);
        let apart = self.proof != Apart || is_apart(text, start, end);
        (fits && !cut_short && apart && is_plausible()).then_some(body..end)
    }

    fn proven(&self, head: &[u8]) -> bool {
        match self.proof {
            Prefix => head.iter().any(u8::is_ascii_digit) || is_mixed(head) || has_long_part(head),
            Digit => has_digit_and_letter(head),
            Mixed | Apart => is_mixed(head),
            Random => has_random_part(head),
        }
    }
}

/// Whether neither neighbour is of Base64, nor of a data URL.
fn is_apart(text: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).and_then(|at| text.get(at));
    !matches!(before, Some(b'+' | b'/' | b',')) && !matches!(text.get(end), Some(b'+' | b'/' | b'='))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{
        super::{charset, mark, word},
        *,
    };

    #[test]
    fn every_family_can_be_found_and_marked() {
        let mut prefixes = HashSet::new();
        for family in FAMILIES {
            let prefix = family.prefix;
            assert!(prefixes.insert(prefix), "{prefix} twice");
            assert!(prefix.bytes().all(charset::is_word), "{prefix} is one word");
            assert!(prefix.len() + family.min >= word::SHORTEST, "{prefix} is too short to be looked at");
            assert!(family.min >= mark::LABEL.len(), "{prefix} has no room for a mark");
            assert!(family.min <= family.max && family.max <= LONGEST, "{prefix}");
        }
    }

    #[test]
    fn a_fixed_length_is_kept() {
        let key = |length: usize| ["AKIA", &"A7".repeat(length)].concat();
        let found = |text: &str| find(text.as_bytes(), 0, text.len(), true);
        assert_eq!(found(&key(8)), Some(4..20));
        assert_eq!(found(&key(7)), None);
        assert_eq!(found(&key(9)), None);
    }

    #[test]
    fn only_sure_prefixes_count_within_a_word() {
        for (prefix, within) in [("ghp_", true), ("npm_", false)] {
            let text = [prefix, &"a1B2".repeat(9)].concat();
            assert_eq!(find(text.as_bytes(), 0, text.len(), false).is_some(), within, "{prefix}");
            assert!(find(text.as_bytes(), 0, text.len(), true).is_some(), "{prefix}");
        }
    }
}
