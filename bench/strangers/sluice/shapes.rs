//! The fields of each resource in both editions: what fits, what is kept, what is shown.
use crate::json::*;
use crate::times::*;
use crate::bug;

#[derive(Clone)]
pub enum T {
    Text(usize, usize),
    Like(fn(&str) -> bool),
    Int(i64, i64, i64),
    Num(f64, f64),
    Bool,
    Enum(&'static [&'static str]),
    Date,
    Instant,
    Target,
    Berth,
    Flags,
    Topics,
    Ref(&'static str),
}

#[derive(Clone)]
pub struct F {
    /// The name in this edition, and the one under which it is kept.
    pub name: &'static str,
    pub key: &'static str,
    pub t: T,
    pub need: bool,
    pub ro: bool,
    pub imm: bool,
    pub default: Option<J>,
}

fn f(name: &'static str, t: T) -> F {
    F { name, key: name, t, need: true, ro: false, imm: false, default: None }
}
fn own(name: &'static str) -> F {
    F { ro: true, need: false, ..f(name, T::Bool) }
}
impl F {
    fn may(self) -> F {
        F { need: false, ..self }
    }
    fn fixed(self) -> F {
        F { imm: true, ..self }
    }
    fn or(self, v: J) -> F {
        F { default: Some(v), ..self }
    }
}

fn plate(s: &str) -> bool {
    let b = s.as_bytes();
    let long = if bug("re-plate-loose") { b.len() >= 7 } else { b.len() == 7 };
    long && b[..2].iter().all(u8::is_ascii_uppercase) && b[2] == b'-' && b[3..7].iter().all(u8::is_ascii_digit)
}
fn code(s: &str) -> bool {
    (3..=12).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_lowercase())
}
fn pin(s: &str) -> bool {
    s.len() == 6 && s.bytes().all(|b| b.is_ascii_digit())
}

pub const KINDS: [&str; 12] = [
    "barge.registered", "barge.changed", "barge.scrapped", "lock.shut", "passage.booked", "passage.big", "passage.changed",
    "passage.waiting", "passage.admitted", "passage.aground", "passage.over", "entry.made",
];
pub const STATES: [&str; 8] = ["booked", "waiting", "chamber", "through", "aground", "cancelled", "missed", "turned_away"];
pub const CARGO: [&str; 4] = ["empty", "gravel", "grain", "timber"];

pub fn fields(res: &str, old: bool) -> Vec<F> {
    let deep = if bug("re-draught-max") { 4000 } else { 400 };
    match res {
        "barge" => {
            let mut all = vec![
                own("id"), own("skipper"), f("plate", T::Like(plate)).fixed(), f("name", T::Text(1, 40)), f("length_cm", T::Int(300, 11000, 1)),
                f("draught_cm", if old { T::Int(300, deep * 10, 10) } else { T::Int(30, deep, 1) }),
                f("laid_up", T::Bool).or(J::Bool(false)), f("power", T::Num(0.0, 2000.0)).may(), f("insured_until", T::Date).may(),
                f("berth", T::Berth).may(), f("flags", T::Flags).may(), own("registered_at"), own("touched_at"),
            ];
            if !old || bug("ve-cargo") {
                all.push(f("cargo", T::Enum(&CARGO)).or(J::s(if bug("re-cargo-default") { "timber" } else { "empty" })));
            }
            all
        }
        "lock" => vec![
            f("code", T::Like(code)).fixed(), own("keeper"), f("title", T::Text(1, 60)), f("chamber_cm", T::Int(1000, 20000, 1)),
            f("toll", T::Int(0, 100_000, 1)), f("open", T::Bool).or(J::Bool(true)), f("channel", T::Int(1, 88, 1)).may(), own("opened_at"),
        ],
        "passage" => vec![
            own("id"), own("skipper"), f("barge", T::Ref("barge")).fixed(), f("lock", T::Ref("lock")).fixed(),
            f("direction", if old { T::Enum(&["upstream", "downstream"]) } else { T::Enum(&["up", "down"]) }), f("crew", T::Int(1, 12, 1)),
            f("eta", T::Instant), F { name: if old { "comment" } else { "memo" }, ..f("memo", T::Text(0, 200)).may() },
            f("sealed", T::Bool).or(J::Bool(false)), f("pin", T::Like(pin)).may(), own("status"), own("toll"), own("wait_until"),
            own("water_cm"), own("ended_at"), own("booked_at"), own("touched_at"),
        ],
        "entry" => vec![
            own("id"), f("passage", T::Ref("passage")), own("author"), f("text", T::Text(1, 400)), f("grade", T::Int(1, 5, 1)).or(J::Int(3)),
            f("barge", T::Ref("barge")).may(), own("made_at"),
        ],
        _ => vec![
            own("id"), own("owner"), f("target", T::Target), f("topics", T::Topics).may(), f("live", T::Bool).or(J::Bool(true)),
            own("secret"), own("made_at"),
        ],
    }
}

/// Adds the places at which `v` is not what the field takes.
pub fn judge(t: &T, v: &J, at: &str, out: &mut Vec<String>) {
    let fits = match (t, v) {
        (T::Text(min, max), J::Str(s)) => (*min..=*max).contains(&s.chars().count()),
        (T::Like(fits), J::Str(s)) => fits(s),
        (T::Int(min, max, of), J::Int(n)) => n >= min && n <= max && n % of == 0,
        (T::Num(min, max), J::Int(n)) => *n as f64 >= *min && *n as f64 <= *max,
        (T::Num(min, max), J::Num(n)) => n >= min && n <= max,
        (T::Bool, J::Bool(_)) => true,
        (T::Enum(list), J::Str(s)) => list.contains(&s.as_str()),
        (T::Date, J::Str(s)) => date(s).is_some() || bug("re-insured-date"),
        (T::Instant, J::Str(s)) => instant(s, bug("re-eta-zone")).is_some(),
        (T::Target, J::Str(s)) => s.chars().count() <= 250 && target(s).is_some(),
        (T::Ref(_), J::Str(_)) => true,
        (T::Berth, J::Obj(map)) => {
            for (k, v) in map {
                match k.as_str() {
                    "quay" => judge(&T::Text(1, 30), v, &format!("{at}/quay"), out),
                    "number" => judge(&T::Int(1, 500, 1), v, &format!("{at}/number"), out),
                    k => out.push(format!("{at}/{k}")),
                }
            }
            if !map.contains_key("quay") && !bug("re-berth-quay") {
                out.push(format!("{at}/quay"));
            }
            true
        }
        (T::Flags, J::Arr(list)) => {
            for (i, v) in list.iter().enumerate() {
                if !((2..=12).contains(&v.str().len()) && v.str().bytes().all(|b| b.is_ascii_lowercase())) {
                    out.push(format!("{at}/{i}"));
                }
            }
            list.len() <= 4 && (bug("re-flags-twice") || (0..list.len()).all(|i| !list[..i].contains(&list[i])))
        }
        (T::Topics, J::Arr(list)) => {
            for (i, v) in list.iter().enumerate() {
                let known = KINDS.contains(&v.str()) || v.str() == "*" || v.str().strip_suffix('*').is_some_and(|p| p.ends_with('.') && KINDS.iter().any(|k| k.starts_with(p)));
                if !known {
                    out.push(format!("{at}/{i}"));
                }
            }
            list.len() <= 12
        }
        _ => false,
    };
    if !fits {
        out.push(at.to_string());
    }
}

/// Host with port, and path, of an address that can be sent to.
pub fn target(text: &str) -> Option<(String, String)> {
    let lower = text.to_ascii_lowercase();
    let skip = if lower.starts_with("http://") { 7 } else if lower.starts_with("https://") { 8 } else { return None };
    let (plain, rest) = (skip == 7, &text[skip..]);
    if text.bytes().any(|b| b <= 32 || b > 126 || b"\"<>\\^`{|}".contains(&b)) {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = &rest[..end];
    let (name, port) = match host.rsplit_once(':') {
        Some((n, p)) if !p.ends_with(']') => (n, p.to_string()),
        _ => (host, if plain { "80" } else { "443" }.to_string()),
    };
    if name.is_empty() || name.contains('@') || port.parse::<u16>().is_err() {
        return None;
    }
    let path = rest[end..].split('#').next().unwrap_or("");
    let path = if path.starts_with('/') { path.to_string() } else { format!("/{path}") };
    Some((format!("{name}:{port}"), path))
}

fn direction_up(v: &J) -> J {
    J::s(match v.str() {
        "upstream" => "up",
        "downstream" => "down",
        other => other,
    })
}

/// A value of the old edition as it is kept.
pub fn up(key: &str, v: &J, old: bool) -> J {
    match (key, v) {
        ("draught_cm", J::Int(n)) if old && !bug("ve-draught-up") => J::Int(n / 10),
        ("direction", _) if old => direction_up(v),
        _ => v.clone(),
    }
}

fn down(key: &str, v: &J, old: bool) -> J {
    match (key, v) {
        ("draught_cm", J::Int(n)) if old => J::Int(n * 10),
        ("direction", _) if old => J::s(if v.str() == "up" { "upstream" } else { "downstream" }),
        _ => v.clone(),
    }
}

/// The row as a caller sees it in an edition.
pub fn shown(res: &str, row: &Row, keeper: bool, old: bool, reveal: bool) -> J {
    let mut out = Row::new();
    for f in fields(res, old) {
        let Some(v) = row.get(f.key) else { continue };
        let hidden = match f.key {
            "pin" => !bug("re-pin-shown"),
            "secret" => !reveal && !bug("re-secret-again"),
            "water_cm" => !keeper && !bug("re-water-seen"),
            _ => false,
        };
        if hidden {
            continue;
        }
        let mut v = down(f.key, v, old);
        if res == "lock" && f.key == "toll" && bug("re-toll-text") {
            v = J::Str(v.text());
        }
        let name = if bug("ve-comment") { f.key } else { f.name };
        out.insert(name.to_string(), v);
    }
    J::Obj(out)
}

fn merged(old: &J, patch: &J) -> J {
    let J::Obj(patch) = patch else { return patch.clone() };
    let mut out = if let J::Obj(map) = old { map.clone() } else { Row::new() };
    for (k, v) in patch {
        if *v == J::Null {
            out.remove(k);
        } else {
            out.insert(k.clone(), merged(out.get(k).unwrap_or(&J::Null), v));
        }
    }
    J::Obj(out)
}

#[derive(PartialEq, Clone, Copy)]
pub enum Way {
    Create,
    Patch,
    Put,
}

/// What would be kept, and the places that do not fit. `bound`: a field that the path has set.
pub fn next(res: &str, way: Way, before: &Row, body: &J, old: bool, bound: Option<(&str, &str)>) -> (Row, Vec<String>) {
    let all = fields(res, old);
    let mut out = before.clone();
    let mut wrong = vec![];
    let J::Obj(body) = body else { return (out, vec![String::new()]) };
    for k in body.keys() {
        if !all.iter().any(|f| f.name == k) && !(res == "lock" && bug("re-extra-lock")) {
            wrong.push(format!("/{}", k.replace('~', "~0").replace('/', "~1")));
        }
    }
    for f in all.iter().filter(|f| !f.ro) {
        let at = format!("/{}", f.name);
        if let Some((name, id)) = bound {
            if name == f.name {
                if body.get(name).is_some_and(|v| v.str() != id) {
                    wrong.push(at);
                }
                out.insert(name.to_string(), J::s(id));
                continue;
            }
        }
        let hidden = f.key == "pin";
        match body.get(f.name) {
            None if way == Way::Patch => {}
            None if f.default.is_some() => {
                out.insert(f.key.to_string(), f.default.clone().unwrap());
            }
            None if f.need => wrong.push(at),
            None if way == Way::Put && !hidden && !bug("en-put-keeps") => {
                out.remove(f.key);
            }
            None => {}
            Some(J::Null) if way == Way::Patch => {
                if f.need {
                    wrong.push(at);
                } else if !(res == "barge" && bug("en-null-kept")) {
                    out.remove(f.key);
                }
            }
            Some(v) => {
                let was = before.get(f.key).map(|v| down(f.key, v, old));
                let v = if way == Way::Patch { merged(was.as_ref().unwrap_or(&J::Null), v) } else { v.clone() };
                let had = wrong.len();
                judge(&f.t, &v, &at, &mut wrong);
                if wrong.len() > had {
                    continue;
                }
                if f.imm && way != Way::Create && was.as_ref() != Some(&v) && !(f.key == "lock" && bug("re-lock-moved")) {
                    wrong.push(at);
                    continue;
                }
                if was.as_ref() != Some(&v) {
                    out.insert(f.key.to_string(), up(f.key, &v, old));
                }
            }
        }
    }
    if old && way == Way::Create && res == "barge" {
        out.insert("cargo".to_string(), J::s("empty"));
    }
    (out, wrong)
}
