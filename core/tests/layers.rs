//! The architecture as assertions over the sources: who knows whom, where shared memory and `unsafe`
//! are, how long a file is. The invariants are those of `docs/design.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What every store may name. Not another store.
const BELOW_STORES: &[&str] = &["id", "index", "publish", "ranking", "table", "value"];

/// Each module of the core and the ones that it may name: those below it.
const LAYERS: [(&str, &[&str]); 15] = [
    ("ordered", BELOW_STORES),
    ("edge", BELOW_STORES),
    ("buckets", BELOW_STORES),
    ("table", &["index", "publish", "value"]),
    ("ranked", BELOW_STORES),
    ("recorded", BELOW_STORES),
    ("ranking", &["index", "publish", "value"]),
    ("index", &["prefetch", "publish", "value"]),
    ("value", &["publish"]),
    ("closable", &["publish", "sync"]),
    ("publish", &["prefetch", "sync"]),
    ("keyspace", &["id"]),
    ("id", &["sync"]),
    ("prefetch", &[]),
    ("sync", &[]),
];

/// What the core must not know, in code, comments and manifest alike.
const FOREIGN: [&str; 8] = [
    // In two parts, so that a plain search of the core for the word finds nothing.
    concat!("rust", "ler"),
    "erlang",
    "elixir",
    "beam",
    "nif",
    "enif",
    "otp",
    "ets",
];

const LONGEST: usize = 600;

fn root() -> PathBuf {
    // Asked when the test runs: a target folder may be shared with another checkout.
    let core = std::env::var("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    let root = Path::new(&core).parent();
    root.expect("core is in the repository").into()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files under `folder` with one of these extensions, build products left out, with their paths
/// from the root of the repository.
fn files(folder: &str, extensions: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let extension = path.extension().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                if !["target", "_build", "deps", "priv"].contains(&&*name) {
                    folders.push(path);
                }
            } else if extensions.contains(&&*extension) {
                let from_root = path.strip_prefix(root()).expect("under the root");
                found.push((from_root.display().to_string(), read(&path)));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "nothing found under {folder}");
    found
}

fn rust(folder: &str) -> Vec<(String, String)> {
    files(folder, &["rs"])
}

/// Rust without its comments and with its literals emptied.
fn code(text: &str) -> String {
    let text: Vec<char> = text.chars().collect();
    let mut code = String::new();
    let mut at = 0;
    while at < text.len() {
        let end = end_of_token(&text, at);
        if end == at + 1 {
            code.push(text[at]);
        } else {
            code.push(' ');
        }
        at = end;
    }
    code
}

/// Where the comment or literal that starts at `at` ends; `at + 1` if none does.
fn end_of_token(text: &[char], at: usize) -> usize {
    let next = |n: usize| text.get(at + n).copied().unwrap_or('\n');
    let in_word = at > 0 && (text[at - 1].is_alphanumeric() || text[at - 1] == '_');
    match text[at] {
        '/' if next(1) == '/' => find(text, at, "\n"),
        '/' if next(1) == '*' => find(text, at + 2, "*/"),
        '"' => end_of_string(text, at + 1),
        '\'' if next(1) == '\\' => find(text, at + 3, "'"),
        '\'' if next(2) == '\'' => at + 3,
        'r' if !in_word || text[at - 1] == 'b' => {
            let hashes = text[at + 1..].iter().take_while(|c| **c == '#').count();
            if next(1 + hashes) == '"' {
                let closing = format!("\"{}", "#".repeat(hashes));
                find(text, at + 2 + hashes, &closing)
            } else {
                at + 1
            }
        }
        _ => at + 1,
    }
}

/// Just behind the first `wanted` from `at` on.
fn find(text: &[char], at: usize, wanted: &str) -> usize {
    let wanted: Vec<char> = wanted.chars().collect();
    let found = text[at..].windows(wanted.len()).position(|w| w == wanted);
    found.map_or(text.len(), |found| at + found + wanted.len())
}

fn end_of_string(text: &[char], mut at: usize) -> usize {
    while at < text.len() && text[at] != '"' {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

fn has_word(text: &str, wanted: &str) -> bool {
    words(text).any(|word| word.eq_ignore_ascii_case(wanted))
}

/// The first names of the paths that start at the crate's root, in code of a module `depth` levels
/// below it: of `crate::…`, and of `super::…` when it climbs so far.
fn names_from_root(code: &str, depth: usize) -> BTreeSet<String> {
    let climb = "super::".repeat(depth);
    let mut names = BTreeSet::new();
    for start in ["crate::", &climb] {
        for (at, _) in code.match_indices(start) {
            let rest = &code[at + start.len()..];
            if let Some(group) = rest.strip_prefix('{') {
                names.extend(first_names(group));
            } else {
                names.extend(words(rest).next().map(String::from));
            }
        }
    }
    names
}

/// The first name of each path of a `{…}` group, whose opening brace is passed.
fn first_names(group: &str) -> Vec<String> {
    let (mut nested, mut names, mut path) = (0, Vec::new(), String::new());
    for c in group.chars() {
        match c {
            '{' => nested += 1,
            '}' if nested > 0 => nested -= 1,
            ',' | '}' if nested == 0 => {
                names.extend(words(&path).next().map(String::from));
                path.clear();
                if c == '}' {
                    break;
                }
            }
            _ if nested == 0 => path.push(c),
            _ => {}
        }
    }
    names
}

#[test]
fn each_module_of_the_core_names_only_what_is_below_it() {
    let modules: BTreeSet<&str> = LAYERS.iter().map(|(module, _)| *module).collect();
    for (path, text) in rust("core/src") {
        let inside = path.trim_start_matches("core/src/").trim_end_matches(".rs");
        let inside = inside.trim_end_matches("/mod");
        let module = inside.split('/').next().unwrap_or_default();
        if module == "lib" {
            continue;
        }
        let layer = LAYERS.iter().find(|(name, _)| *name == module);
        let (_, below) = layer.unwrap_or_else(|| panic!("{path}: no layer has this module"));
        for name in names_from_root(&code(&text), inside.split('/').count()) {
            let known = name == module || !modules.contains(&*name) || below.contains(&&*name);
            assert!(known, "{path} names {name}, which is not below {module}");
        }
    }
}

#[test]
fn the_core_does_not_know_who_uses_it() {
    let mut texts = rust("core");
    texts.push((
        "core/Cargo.toml".into(),
        read(&root().join("core/Cargo.toml")),
    ));
    for (path, text) in texts {
        if path == "core/tests/layers.rs" {
            continue;
        }
        for word in FOREIGN {
            assert!(!has_word(&text, word), "{path} names {word}");
        }
    }
}

/// `sync.rs`, and what stands in for the real thing under loom.
fn is_door(path: &str) -> bool {
    path == "core/src/sync.rs" || path.starts_with("core/src/sync/")
}

/// A file of tests, or of models, which run on loom's own threads.
fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name == "tests.rs" || name.starts_with("loom")
}

#[test]
fn shared_memory_has_one_door() {
    for (path, text) in rust("core/src") {
        if is_door(&path) || is_test(&path) {
            continue;
        }
        let code = code(&text);
        assert!(
            !has_word(&code, "atomic"),
            "{path} names atomics past sync.rs"
        );
        assert!(
            !has_word(&code, "crossbeam_epoch"),
            "{path} names epochs past sync.rs"
        );
        assert!(!code.contains("loom::"), "{path} names loom past sync.rs");
    }
}

#[test]
fn the_design_names_every_file_with_atomics() {
    let design = read(&root().join("core/docs/design.md"));
    let (_, orderings) = design.split_once("\n## Orderings\n").expect("the section");
    for (path, text) in rust("core/src") {
        if !is_door(&path) && !is_test(&path) && code(&text).contains("Ordering::") {
            let path = path.trim_start_matches("core/src/");
            assert!(
                orderings.contains(&format!("`{path}`")),
                "no ordering of {path}"
            );
        }
    }
}

#[test]
fn the_harness_does_not_depend_on_the_native_library() {
    let manifest = read(&root().join("benches/Cargo.toml"));
    for line in manifest.lines() {
        let line = line.split('#').next().unwrap_or_default();
        assert!(
            !line.contains("echo_data_nif") && !line.contains("../native"),
            "{line}"
        );
    }
    for (path, text) in rust("benches") {
        assert!(!has_word(&code(&text), "echo_data_nif"), "{path}");
    }
}

/// The paths in the README's list.
fn listed_unsafe() -> BTreeSet<String> {
    let readme = read(&root().join("README.md"));
    let (_, section) = readme
        .split_once("\n## Where unsafe lives\n")
        .expect("the README has the section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let items = section.lines().filter(|line| line.starts_with("- "));
    items
        .filter_map(|item| item.split('`').nth(1).map(String::from))
        .collect()
}

#[test]
fn the_readme_lists_the_files_with_unsafe_code() {
    let mut found = BTreeSet::new();
    for (path, text) in ["core", "native", "benches"].into_iter().flat_map(rust) {
        let code = code(&text);
        let allows = code.contains("allow(unsafe_code)");
        assert!(
            !has_word(&code, "unsafe") || allows,
            "{path} has unsafe code and does not say why"
        );
        if allows {
            let reason = text
                .lines()
                .find(|line| line.contains("allow(unsafe_code)"));
            assert!(
                reason.is_some_and(|line| line.contains("//")),
                "{path} gives no reason"
            );
            assert!(
                has_word(&code, "unsafe"),
                "{path} allows unsafe code and has none"
            );
            found.insert(path);
        }
    }
    let listed = listed_unsafe();
    let unlisted: Vec<_> = found.difference(&listed).collect();
    let stale: Vec<_> = listed.difference(&found).collect();
    assert!(
        unlisted.is_empty() && stale.is_empty(),
        "README, \"Where unsafe lives\": add {unlisted:?}, remove {stale:?}"
    );
}

#[test]
fn every_package_takes_the_lints_of_the_workspace() {
    let workspace = read(&root().join("Cargo.toml"));
    assert!(workspace.contains("unsafe_code = \"deny\""));
    assert!(workspace.contains("missing_docs = \"deny\""));
    for package in ["core", "native", "benches"] {
        let manifest = read(&root().join(package).join("Cargo.toml"));
        assert!(manifest.contains("[lints]\nworkspace = true"), "{package}");
    }
}

#[test]
fn no_file_is_too_long_to_read() {
    let extensions = ["rs", "ex", "exs", "md", "toml"];
    for folder in ["core", "native", "benches", "mix_project"] {
        for (path, text) in files(folder, &extensions) {
            let lines = text.lines().count();
            assert!(lines <= LONGEST, "{path} has {lines} lines");
        }
    }
}

#[test]
fn the_reader_of_sources_reads_rust() {
    let text = r##"
        // unsafe in a comment, "quoted"
        /* unsafe */ fn a<'a>(x: &'a str) -> char { '"' } // "
        const B: &str = "unsafe \" unsafe"; const C: &str = r#"unsafe " unsafe"#;
        use crate::{index::{Root, Leaf}, publish}; fn d(e: '\'') {} use super::super::value::Slot;
        for_r"unsafe";
    "##;
    let code = code(text);
    assert!(!has_word(&code, "unsafe"), "{code}");
    assert!(has_word(&code, "str") && has_word(&code, "Slot"), "{code}");
    let names: Vec<_> = names_from_root(&code, 2).into_iter().collect();
    assert_eq!(names, ["index", "publish", "value"]);
}
