//! What is kept, who may do what, and each operation, in the order of refusals.
use crate::json::*;
use crate::hashes::*;
use crate::times::*;
use crate::addresses::*;
use crate::bug;
use crate::shapes::*;
use crate::told::Delivery;
use std::collections::HashMap;
use std::sync::{Condvar, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

pub struct Shared {
    pub world: Mutex<World>,
    pub bell: Condvar,
}

#[derive(Clone)]
pub struct Caller {
    pub user: String,
    pub id: String,
    pub scopes: Vec<String>,
}

#[derive(Default)]
pub struct Req {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub header_bytes: usize,
    pub body: Vec<u8>,
    pub close: bool,
}

impl Req {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(k, _)| k == name).map(|(_, v)| v.as_str())
    }
    fn count(&self, name: &str) -> usize {
        self.headers.iter().filter(|(k, _)| k == name).count()
    }
}

#[derive(Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Option<J>,
}

struct Kept {
    print: String,
    answer: Answer,
    until: i64,
}

pub struct World {
    pub ahead: i64,
    pub nr: u64,
    pub rows: HashMap<&'static str, Vec<Row>>,
    pub waiting: Vec<Delivery>,
    kept: HashMap<String, Kept>,
    used: HashMap<String, (i64, i64)>,
}

/// A refusal: its code, the places, and headers.
pub struct No(&'static str, Vec<String>, Vec<(String, String)>);

fn no<X>(code: &'static str) -> Result<X, No> {
    Err(No(code, vec![], vec![]))
}

const CODES: [(&str, u16, &str); 36] = [
    ("not_json", 400, "The body is no JSON."), ("not_that_type", 415, "Bodies are JSON."), ("not_that_form", 406, "Answers are JSON."),
    ("odd_question", 400, "A parameter is not right."), ("odd_page", 400, "There is no such page."), ("does_not_fit", 422, "The body does not fit."),
    ("no_such_place", 404, "There is no such place."), ("not_done_here", 405, "That is not done here."), ("stranger", 401, "Who are you?"),
    ("no_business", 403, "That is not for you."), ("gone_or_never", 404, "It is not there."), ("already_there", 409, "It is there already."),
    ("points_nowhere", 422, "What is named is not there."), ("still_used", 409, "It is still used."), ("not_now", 409, "Not in this state."),
    ("changed_since", 412, "It has changed since."), ("tag_missing", 428, "Say which one with If-Match."), ("key_reused", 422, "The key was used for something else."),
    ("key_busy", 409, "The key is in use."), ("crossed", 409, "Somebody was faster."), ("slow_down", 429, "Too many requests."),
    ("enough_today", 403, "Enough for today."), ("too_large", 413, "That is too much."), ("too_late", 408, "That took too long."),
    ("edition_never", 400, "There is no such edition."), ("edition_over", 410, "That edition is over."), ("drained", 503, "The canal is drained."),
    ("leak", 500, "Something leaks."), ("not_booked", 409, "Only a booked passage can arrive."), ("not_waiting", 409, "Only a waiting passage is let in."),
    ("under_seal", 409, "A sealed passage is not cancelled."), ("light_gravel", 422, "Gravel draws 80 cm at least."),
    ("too_long", 422, "The barge is longer than the chamber."), ("idle_barge", 409, "The barge is laid up."), ("gates_shut", 409, "The lock is shut."),
    ("not_built", 501, "Not yet."),
];
const OWN: [&str; 4] = ["light_gravel", "too_long", "idle_barge", "gates_shut"];

pub fn refused(code: &str, places: Vec<String>) -> Answer {
    let (_, mut status, text) = *CODES.iter().find(|c| c.0 == code).unwrap();
    let mut word = code;
    match code {
        "gone_or_never" if bug("er-410") => status = 410,
        "not_json" if bug("er-not-json") => status = 422,
        "no_business" if bug("er-word") => word = "forbidden",
        "already_there" if bug("er-exists-400") => status = 400,
        _ => {}
    }
    let wheres = places.iter().map(|p| if bug("er-where") { J::s(p) } else { obj(&[("at", J::s(p))]) }).collect();
    let mut body = vec![("fault", J::s(word)), ("http", J::Int(status.into())), ("text", J::s(text)), ("where", J::Arr(wheres))];
    if bug("er-no-text") {
        body.remove(2);
    }
    Answer { status, headers: vec![], body: Some(obj(&body)) }
}

const ROUTES: [(&str, &str, &str); 30] = [
    ("POST", "/barges", "create barge"), ("GET", "/barges", "list barge"), ("GET", "/barges/{}", "read barge"), ("PATCH", "/barges/{}", "update barge"),
    ("PUT", "/barges/{}", "replace barge"), ("DELETE", "/barges/{}", "delete barge"), ("POST", "/locks", "create lock"), ("GET", "/locks", "list lock"),
    ("GET", "/locks/{}", "read lock"), ("PATCH", "/locks/{}", "update lock"), ("DELETE", "/locks/{}", "delete lock"),
    ("POST", "/passages", "create passage"), ("GET", "/passages", "list passage"), ("GET", "/passages/{}", "read passage"),
    ("PATCH", "/passages/{}", "update passage"), ("DELETE", "/passages/{}", "delete passage"), ("POST", "/passages/{}/arrive", "arrive passage"),
    ("POST", "/passages/{}/admit", "admit passage"), ("POST", "/passages/{}/pass", "pass passage"), ("POST", "/passages/{}/refloat", "refloat passage"),
    ("POST", "/passages/{}/cancel", "cancel passage"), ("POST", "/passages/{}/log", "create entry"), ("GET", "/passages/{}/log", "list entry"),
    ("GET", "/passages/{}/log/{}", "read entry"), ("POST", "/hooks", "create hook"), ("GET", "/hooks", "list hook"), ("GET", "/hooks/{}", "read hook"),
    ("PATCH", "/hooks/{}", "update hook"), ("DELETE", "/hooks/{}", "delete hook"), ("GET", "/board", "read board"),
];

const PASSES: [(&str, &str, &str, bool); 5] = [
    ("lp_aaaaaaaaaaaaaaaaarne", "skipper", "arne", false), ("lp_bbbbbbbbbbbbbbbbrita", "skipper", "brita", false),
    ("lp_cccccccccccccccccleo", "skipper", "leo", false), ("lp_ddddddddddddddddkaja", "keeper", "kaja", true),
    ("lp_eeeeeeeeeeeeeeeemons", "keeper", "mons", false),
];

pub fn key_of<'a>(res: &str, row: &'a Row) -> &'a str {
    row[if res == "lock" { "code" } else { "id" }].str()
}

/// Which user an operation is for, and the scope that it asks for; nothing where anyone may.
fn meant_for(op: &str) -> &'static [&'static str] {
    match op {
        "list lock" | "read lock" | "read board" => &["anyone"],
        "list barge" | "read barge" | "list passage" | "read passage" | "create entry" | "list entry" | "read entry" => &["skipper", "keeper"],
        "create lock" | "update lock" | "delete lock" | "admit passage" | "pass passage" | "refloat passage" => &["keeper"],
        _ if op.ends_with("hook") => &["skipper", "keeper"],
        _ => &["skipper"],
    }
}

struct Turn<'a> {
    r: &'a Req,
    op: &'static str,
    verb: &'static str,
    res: &'static str,
    ids: Vec<String>,
    query: Vec<(String, String)>,
    old: bool,
    caller: Option<Caller>,
    body: J,
}

impl Turn<'_> {
    fn keeper(&self) -> bool {
        self.caller.as_ref().is_some_and(|c| c.user == "keeper")
    }
    fn who(&self) -> String {
        self.caller.as_ref().map_or("at 127.0.0.1".to_string(), |c| format!("{} {}", c.user, c.id))
    }
}

fn base_path() -> &'static str {
    if bug("pu-base") { "/api" } else { "/canal/api" }
}

impl World {
    pub fn new() -> World {
        let rows = ["barge", "lock", "passage", "entry", "hook"].into_iter().map(|r| (r, vec![])).collect();
        World { ahead: 0, nr: 0, rows, waiting: vec![], kept: HashMap::new(), used: HashMap::new() }
    }
    pub fn now(&self) -> i64 {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64 + self.ahead
    }
    pub fn all(&self, res: &str) -> &Vec<Row> {
        &self.rows[res]
    }
    fn find(&self, res: &str, id: &str) -> Option<&Row> {
        self.all(res).iter().find(|r| key_of(res, r) == id)
    }

    /// Whether a caller may read a row.
    pub fn sees(&self, res: &str, row: &Row, caller: Option<&Caller>) -> bool {
        if res == "lock" {
            return true;
        }
        let Some(c) = caller else { return false };
        let skipper = c.user == "skipper";
        match res {
            "barge" => !skipper || row["skipper"].str() == c.id,
            "passage" if skipper => row["skipper"].str() == c.id,
            "passage" => self.find("lock", row["lock"].str()).is_some_and(|l| l["keeper"].str() == c.id),
            "entry" => self.find("passage", row["passage"].str()).is_some_and(|p| self.sees("passage", p, caller)),
            _ => row["owner"].str() == c.id && row["_user"].str() == c.user,
        }
    }

    // ------------------------------------------------------------ the clock

    /// Does what has fallen due, in its order.
    pub fn tick(&mut self) {
        let now = self.now();
        let wait = if bug("st-miss-early") { 2 } else { 3 } * 86_400_000;
        loop {
            let due = |p: &Row| match p["status"].str() {
                "booked" if !p["_off"].is_true() && !bug("st-miss-never") => Some(p["_entered"].int() + wait),
                "waiting" if !bug("st-yield-never") => instant(p["wait_until"].str(), false).map(|us| us / 1000),
                _ => None,
            };
            let first = self.all("passage").iter().filter_map(|p| Some((due(p)?, p["_seq"].int()))).min();
            let Some((at, seq)) = first else { return };
            if at > now {
                return;
            }
            let i = self.all("passage").iter().position(|p| p["_seq"].int() == seq).unwrap();
            let mut p = self.rows["passage"][i].clone();
            if p["status"].str() == "booked" && p["sealed"].is_true() && !bug("st-miss-sealed") {
                self.rows.get_mut("passage").unwrap()[i].insert("_off".to_string(), J::Bool(true));
                continue;
            }
            let to = match p["status"].str() {
                "booked" => "missed",
                _ if bug("st-yield-word") => "cancelled",
                _ => "turned_away",
            };
            self.enter(&mut p, to);
            p.insert("ended_at".to_string(), J::Str(stamp(now)));
            self.rows.get_mut("passage").unwrap()[i] = p.clone();
            if !bug("ev-clock-silent") {
                self.over(&p);
            }
        }
    }

    fn enter(&self, p: &mut Row, state: &str) {
        let now = self.now();
        p.insert("status".to_string(), J::s(state));
        p.insert("_entered".to_string(), J::Int(now));
        p.insert("_off".to_string(), J::Bool(false));
        p.insert("touched_at".to_string(), J::Str(stamp(now)));
    }

    fn over(&mut self, p: &Row) {
        let mut data = vec![("id", p["id"].clone()), ("status", p["status"].clone()), ("when", J::Str(stamp(self.now())))];
        if bug("ev-over-when") {
            data.pop();
        }
        self.emit("passage.over", "passage", p, Some(obj(&data)));
    }

    // ------------------------------------------------------------ one request

    pub fn answer(&mut self, r: &Req) -> Answer {
        let mut headers = vec![];
        let out = self.staged(r, &mut headers);
        let mut a = match out {
            Ok(a) => a,
            Err(No(code, places, more)) => {
                let mut a = refused(code, places);
                a.headers.extend(more);
                a
            }
        };
        a.headers.extend(headers);
        a.headers.push(("Vary".to_string(), "Sluice-Edition, Authorization, Sluice-Token".to_string()));
        a
    }

    fn staged(&mut self, r: &Req, headers: &mut Vec<(String, String)>) -> Result<Answer, No> {
        if r.target.len() > 2048 && !bug("li-url") || r.header_bytes > 6144 && !bug("li-headers") {
            return no("too_large");
        }
        let (path, query) = r.target.split_once('?').unwrap_or((&r.target, ""));
        let old = match r.header("sluice-edition") {
            Some("spring") => true,
            None => bug("ve-default-old"),
            _ => false,
        };
        let Some(steps) = path.strip_prefix(base_path()).filter(|p| p.starts_with('/')) else { return no("no_such_place") };
        let steps: Vec<&str> = steps[1..].split('/').collect();
        let fits = |pattern: &str| {
            let p: Vec<&str> = pattern.trim_start_matches('/').split('/').collect();
            p.len() == steps.len() && p.iter().zip(&steps).all(|(p, s)| if *p == "{}" { !s.is_empty() } else { p == s })
        };
        let here: Vec<_> = ROUTES.iter().filter(|x| fits(x.1) && !(x.2 == "refloat passage" && bug("pu-refloat"))).collect();
        if here.is_empty() || here[0].2 == "read board" && old && !bug("ve-board") {
            return no("no_such_place");
        }
        let Some(route) = here.iter().find(|x| x.0 == r.method) else {
            let allow = here.iter().map(|x| x.0).collect::<Vec<_>>().join(", ");
            return Err(No(if bug("er-405") { "no_such_place" } else { "not_done_here" }, vec![], vec![("Allow".to_string(), allow)]));
        };
        match r.header("sluice-edition") {
            None | Some("autumn" | "spring") => {}
            _ if bug("ve-unknown") => {}
            _ => return no("edition_never"),
        }
        if !bug("ve-echo") {
            headers.push(("Sluice-Edition".to_string(), if old { "spring" } else { "autumn" }.to_string()));
        }
        if old {
            if !bug("ve-deprecation") {
                headers.push(("Deprecation".to_string(), "@1740787200".to_string()));
            }
            headers.push(("Sunset".to_string(), http_date(if bug("ve-sunset-date") { 1_930_003_200_000 } else { 1_961_712_000_000 })));
            headers.push(("Link".to_string(), format!("<https://sluice.example/editions>; rel=\"deprecation\", <{}>; rel=\"successor-version\"", r.target)));
            if self.now() >= 1_961_712_000_000 && !bug("ve-over") {
                return no("edition_over");
            }
        }
        let (verb, res) = route.2.split_once(' ').unwrap();
        let ids = route.1.trim_start_matches('/').split('/').zip(&steps).filter(|(p, _)| *p == "{}").map(|(_, s)| decoded(s, false).unwrap_or_default()).collect();
        let mut t = Turn { r, op: route.2, verb, res, ids, query: vec![], old, caller: None, body: J::Null };
        if t.op != "read board" {
            t.caller = self.caller_of(r, t.op)?;
        }
        self.rates(&t, headers)?;
        self.may(&t)?;
        if t.op == "delete barge" && bug("pu-scrap") {
            return no("not_built");
        }
        if !accepts(r.header("accept")) {
            return no("not_that_form");
        }
        let reads = matches!(verb, "create" | "update" | "replace" | "pass");
        if reads && !is_json(r, verb) {
            return no("not_that_type");
        }
        if r.body.len() > 12288 && !bug("li-body") {
            return no("too_large");
        }
        if reads {
            t.body = parse(&r.body).ok_or(No("not_json", vec![], vec![]))?;
        }
        t.query = pairs(query)?;
        if verb != "list" {
            self.no_params(&t)?;
        }
        self.once(&t)
    }

    fn caller_of(&self, r: &Req, op: &str) -> Result<Option<Caller>, No> {
        let says = |e: &str| {
            let one = |s: &str| ("WWW-Authenticate".to_string(), format!("{s} realm=\"Sluice\"{e}"));
            Err(No("stranger", vec![], vec![one("Lockpass"), one("Bearer")]))
        };
        let bad = ", error=\"invalid_token\"";
        let mut found: Vec<Caller> = vec![];
        if r.count("authorization") > 1 || r.count("sluice-token") > 1 {
            return says(bad);
        }
        if let Some(v) = r.header("authorization") {
            let (prefix, pass) = v.split_once(' ').unwrap_or((v, ""));
            let known = PASSES.iter().find(|p| p.0 == pass.trim() || bug("au-any-pass") && pass.len() == 23 && pass.starts_with("lp_"));
            match known {
                Some(p) if prefix.eq_ignore_ascii_case("lockpass") => found.push(Caller {
                    user: p.1.to_string(),
                    id: p.2.to_string(),
                    scopes: if p.3 { vec!["sluice".to_string()] } else { vec![] },
                }),
                _ if bug("au-anyone-bad") && meant_for(op)[0] == "anyone" => {}
                _ => return says(bad),
            }
        }
        if let Some(v) = r.header("sluice-token") {
            let Some(c) = self.token(v) else { return says(bad) };
            found.push(c);
        }
        if found.iter().any(|c| c.user == "keeper") && bug("pu-keeper") {
            return says(bad);
        }
        let Some(mut c) = found.pop() else {
            return if meant_for(op)[0] == "anyone" && !(op == "read lock" && bug("au-lock-closed")) { Ok(None) } else { says("") };
        };
        if let Some(other) = found.pop() {
            if other.user != c.user || other.id != c.id {
                return says(bad);
            }
            c.scopes.extend(other.scopes);
        }
        Ok(Some(c))
    }

    fn token(&self, text: &str) -> Option<Caller> {
        let parts: Vec<&str> = text.split('.').collect();
        let [head, claims, mac] = parts[..] else { return None };
        let secret = std::env::var("SLUICE_SECRET").unwrap_or("nine-gates-and-one-long-straight-canal".to_string());
        let J::Obj(h) = parse(&unbase64(head)?)? else { return None };
        let right = hmac(secret.as_bytes(), format!("{head}.{claims}").as_bytes());
        if h.get("alg")?.str() != "HS256" && !(bug("au-none") && h["alg"].str() == "none") || unbase64(mac)? != right && !bug("au-forged") && !(bug("au-none") && mac.is_empty()) {
            return None;
        }
        let J::Obj(c) = parse(&unbase64(claims)?)? else { return None };
        let is_us = match c.get("aud")? {
            J::Str(s) => s == "sluice",
            J::Arr(list) => list.iter().any(|a| a.str() == "sluice"),
            _ => false,
        };
        let now = self.now() / 1000;
        let time = |name: &str| match c.get(name) {
            None => Some(None),
            Some(J::Int(n)) => Some(Some(*n)),
            Some(J::Num(n)) => Some(Some(*n as i64)),
            _ => None,
        };
        if c.get("iss")?.str() != "https://waterways.example" && !bug("au-issuer") || !is_us && !bug("au-audience") {
            return None;
        }
        if time("exp")?.is_some_and(|e| e + 5 <= now) && !bug("au-expired") || time("nbf")?.is_some_and(|n| n - 5 > now) && !bug("au-early") {
            return None;
        }
        let (J::Str(id), J::Str(user)) = (c.get("sub")?, c.get("post")?) else { return None };
        if !matches!(user.as_str(), "skipper" | "keeper") {
            return None;
        }
        let scopes = c.get("scope").map_or("", |s| s.str()).split(' ').map(str::to_string).collect();
        Some(Caller { user: user.clone(), id: id.clone(), scopes })
    }

    fn rates(&mut self, t: &Turn, headers: &mut Vec<(String, String)>) -> Result<(), No> {
        let mut all = vec![("caller-1m", 5000, 60_000)];
        if t.op == "create entry" && !bug("li-entry") {
            all.push(("caller-1h-create-entry", 250, 3_600_000));
        }
        if bug("li-rate") {
            all.remove(0);
        }
        let now = self.now();
        let who = if bug("li-shared") { "all".to_string() } else { t.who() };
        let (mut wait, mut told, mut policy) = (0, vec![], vec![]);
        for (name, limit, window) in &all {
            let slot = self.used.entry(format!("{name} {who}")).or_insert((now, 0));
            if now - slot.0 >= *window && !bug("li-stuck") {
                *slot = (now, 0);
            }
            if slot.1 >= *limit {
                wait = wait.max(slot.0 + window - now).max(1);
            }
            policy.push(format!("\"{name}\";q={limit};w={}", window / 1000));
        }
        for (name, limit, window) in &all {
            let slot = self.used.get_mut(&format!("{name} {who}")).unwrap();
            if wait == 0 {
                slot.1 += 1;
            }
            told.push(format!("\"{name}\";r={};t={}", limit - slot.1, (slot.0 + window - now + 999) / 1000));
        }
        headers.push(("RateLimit-Policy".to_string(), policy.join(", ")));
        headers.push(("RateLimit".to_string(), told.join(", ")));
        if wait > 0 {
            return Err(No("slow_down", vec![], vec![("Retry-After".to_string(), ((wait + 999) / 1000).to_string())]));
        }
        Ok(())
    }

    /// Whether there is a rule for this user and operation at all.
    fn may(&self, t: &Turn) -> Result<(), No> {
        let users = meant_for(t.op);
        if users[0] == "anyone" {
            return Ok(());
        }
        let c = t.caller.as_ref().unwrap();
        let scoped = matches!(t.verb, "admit" | "pass" | "refloat") && !bug("au-scope");
        if !users.contains(&c.user.as_str()) && !(bug("au-role") && t.op == "create lock") || scoped && !c.scopes.iter().any(|s| s == "sluice") {
            return no("no_business");
        }
        Ok(())
    }

    /// What was answered to a key before, or the work itself.
    fn once(&mut self, t: &Turn) -> Result<Answer, No> {
        let key = t.r.header("sluice-key").filter(|_| t.r.method == "POST" && !(bug("en-key-ignored") && t.op == "create passage"));
        let Some(key) = key else { return self.work(t) };
        let now = self.now();
        let slot = format!("{}\n{}\n{key}", t.who(), t.op);
        let slot = if bug("en-key-shared") && t.op == "create barge" { format!("{}\n{key}", t.op) } else { slot };
        let print = format!("{} {} {}", t.r.target, t.old, t.body.text());
        if let Some(k) = self.kept.get(&slot).filter(|k| k.until > now || t.op == "create barge" && bug("en-key-forever")) {
            if k.print != print && !bug("er-key-reused") {
                return no("key_reused");
            }
            return Ok(k.answer.clone());
        }
        let out = self.work(t);
        let mut keep = match &out {
            Ok(a) => a.clone(),
            Err(No(code, places, _)) if OWN.contains(code) => refused(code, places.clone()),
            _ => return out,
        };
        if let (Some(J::Obj(b)), "hook") = (&mut keep.body, t.res) {
            b.remove("secret");
        }
        self.kept.insert(slot, Kept { print, answer: keep, until: now + 6 * 3_600_000 });
        out
    }

    // ------------------------------------------------------------ the work

    fn work(&mut self, t: &Turn) -> Result<Answer, No> {
        if t.op == "read board" {
            return Ok(Answer { status: 200, headers: vec![], body: Some(obj(&[("canal", J::s("Long Cut")), ("speed_kmh", J::Int(6))])) });
        }
        if t.verb == "list" {
            return self.list(t);
        }
        if t.verb == "create" {
            return self.create(t);
        }
        let c = t.caller.as_ref();
        let id = t.ids.last().unwrap();
        let lax = match t.op {
            "read barge" => bug("au-barge"),
            "read passage" => bug("au-keeper-all") && t.keeper(),
            "read hook" => bug("au-hook"),
            _ => false,
        };
        let row = self.find(t.res, id).filter(|r| lax || self.sees(t.res, r, c)).filter(|r| t.res != "entry" || r["passage"].str() == t.ids[0]).cloned();
        let Some(row) = row else { return no("gone_or_never") };
        if t.res == "lock" && t.verb != "read" && row["keeper"].str() != c.unwrap().id && !bug("au-lock") {
            return no("no_business");
        }
        if t.verb == "read" {
            return Ok(self.show(t, 200, &row));
        }
        self.match_tag(t, &row)?;
        match t.verb {
            "update" | "replace" => self.change(t, row),
            "delete" => self.delete(t, row),
            _ => self.fire(t, row),
        }
    }

    fn no_params(&self, t: &Turn) -> Result<(), No> {
        if t.query.is_empty() || bug("en-any-question") { Ok(()) } else { Err(No("odd_question", t.query.iter().map(|(k, _)| k.clone()).collect(), vec![])) }
    }

    fn tag(&self, t: &Turn, row: &Row) -> String {
        let text = format!("{} {} {}", t.old, t.keeper(), shown(t.res, row, t.keeper(), t.old, false).text());
        let text = if t.res == "barge" && bug("en-tag-still") { key_of(t.res, row).to_string() } else { text };
        format!("\"{}\"", &hex(&sha256(text.as_bytes()))[..24])
    }

    fn show(&self, t: &Turn, status: u16, row: &Row) -> Answer {
        let mut a = Answer { status, headers: vec![], body: Some(shown(t.res, row, t.keeper(), t.old, t.op == "create hook")) };
        let tagged = match t.verb {
            "create" => matches!(t.res, "barge" | "passage"),
            "read" | "update" | "replace" => matches!(t.res, "barge" | "passage" | "lock"),
            _ => false,
        };
        if tagged && !(bug("en-no-tag") && t.op == "read passage") {
            let tag = self.tag(t, row);
            if t.verb == "read" && !(t.res == "barge" && bug("en-304")) {
                if let Some(v) = t.r.header("if-none-match") {
                    if v.split(',').any(|x| x.trim() == "*" || x.trim().trim_start_matches("W/") == tag) {
                        a = Answer { status: 304, headers: vec![], body: None };
                    }
                }
            }
            a.headers.push(("ETag".to_string(), tag));
        }
        match t.op {
            "read barge" => a.headers.push(("Cache-Control".to_string(), if bug("en-cache") { "public, max-age=45" } else { "private, max-age=45" }.to_string())),
            "read lock" => a.headers.push(("Cache-Control".to_string(), "public, max-age=120".to_string())),
            _ => {}
        }
        a
    }

    fn match_tag(&self, t: &Turn, row: &Row) -> Result<(), No> {
        let Some(v) = t.r.header("if-match") else {
            return if t.op == "update passage" && !bug("er-tag-missing") { no("tag_missing") } else { Ok(()) };
        };
        let looked = matches!(t.op, "update passage" | "update barge" | "replace barge" | "delete barge" | "update lock");
        let tag = self.tag(t, row);
        if looked && !v.split(',').any(|x| x.trim() == "*" || x.trim() == tag) && !bug("er-match") {
            return no("changed_since");
        }
        Ok(())
    }

    /// References that lead nowhere this caller may read.
    fn refs(&self, t: &Turn, next: &Row, before: Option<&Row>) -> Result<(), No> {
        for f in fields(t.res, t.old) {
            let (T::Ref(to), Some(v)) = (&f.t, next.get(f.key)) else { continue };
            if before.is_some_and(|b| b.get(f.key) == Some(v)) {
                continue;
            }
            if !self.find(to, v.str()).is_some_and(|row| self.sees(to, row, t.caller.as_ref()) || t.op == "create passage" && bug("au-ref")) {
                return Err(No(if bug("er-points") { "gone_or_never" } else { "points_nowhere" }, vec![format!("/{}", f.name)], vec![]));
            }
        }
        Ok(())
    }

    fn unique(&self, t: &Turn, next: &Row) -> Result<(), No> {
        let others = || self.all(t.res).iter().filter(|o| o["_seq"] != next["_seq"]);
        let clash = match t.res {
            "barge" => others().any(|o| {
                let same = o["skipper"] == next["skipper"];
                o["plate"] == next["plate"] && (same || !bug("re-plate-twice")) || same && o["name"] == next["name"] && !(bug("re-name-clash") && t.verb != "create")
            }),
            "lock" => others().any(|o| o["code"] == next["code"]),
            "passage" => next["status"].str() == "chamber" && !bug("st-two-inside") && others().any(|o| o["status"].str() == "chamber" && o["lock"] == next["lock"]),
            _ => false,
        };
        if clash { no("already_there") } else { Ok(()) }
    }

    fn own_errors(&self, t: &Turn, next: &Row) -> Result<(), No> {
        let gravel = t.res == "barge" && next["cargo"].str() == "gravel" && next["draught_cm"].int() < 80;
        if gravel && !bug("er-gravel") && !(bug("er-gravel-put") && t.verb == "replace") {
            return no("light_gravel");
        }
        if t.op == "create passage" && !bug("er-too-long") {
            let (b, l) = (self.find("barge", next["barge"].str()).unwrap(), self.find("lock", next["lock"].str()).unwrap());
            if b["length_cm"].int() > l["chamber_cm"].int() || bug("er-too-long-same") && b["length_cm"] == l["chamber_cm"] {
                return no("too_long");
            }
        }
        Ok(())
    }

    fn create(&mut self, t: &Turn) -> Result<Answer, No> {
        let c = t.caller.clone().unwrap();
        let bound = if t.res == "entry" { Some(("passage", t.ids[0].as_str())) } else { None };
        if let Some((_, id)) = bound {
            if !self.find("passage", id).is_some_and(|p| self.sees("passage", p, Some(&c))) {
                return no("gone_or_never");
            }
        }
        let (mut row, wrong) = next(t.res, Way::Create, &Row::new(), &t.body, t.old, bound);
        if !wrong.is_empty() {
            return Err(No("does_not_fit", wrong, vec![]));
        }
        self.refs(t, &row, None)?;
        let now = self.now();
        let at = J::Str(stamp(now));
        self.nr += 1;
        row.insert("_seq".to_string(), J::Int(self.nr as i64));
        let mut set = |k: &str, v: J| row.insert(k.to_string(), v);
        match t.res {
            "barge" => {
                set("id", J::Str(format!("brg_{}", letters(10))));
                set("skipper", J::s(&c.id));
                set("registered_at", at.clone());
                set("touched_at", at);
            }
            "lock" => {
                set("keeper", J::s(&c.id));
                set("opened_at", at);
            }
            "passage" => {
                set("id", J::Str(if bug("re-short-id") { letters(12) } else { uuid() }));
                set("skipper", J::s(&c.id));
                set("booked_at", at);
                set("wait_until", J::Str(stamp(now + 7 * 86_400_000)));
                let toll = self.find("lock", row["lock"].str()).unwrap()["toll"].int();
                let more = if row["direction"].str() == "up" && !bug("re-toll-flat") { 150 } else { 0 };
                row.insert("toll".to_string(), J::Int(toll + more));
                self.enter(&mut row, if bug("st-starts-waiting") { "waiting" } else { "booked" });
            }
            "entry" => {
                set("id", J::Str(format!("log-{}", letters(16))));
                set("author", J::s(&c.id));
                set("made_at", at);
            }
            _ => {
                set("id", J::Str(ulid(now)));
                set("owner", J::s(&c.id));
                set("secret", J::Str(format!("whsec_{}", base64(&chance(32), false))));
                set("made_at", at);
                set("_user", J::s(&c.user));
                set("_old", J::Bool(t.old));
            }
        }
        self.own_errors(t, &row)?;
        self.unique(t, &row)?;
        if t.res == "hook" {
            self.quota(t, now)?;
        }
        self.rows.get_mut(t.res).unwrap().push(row.clone());
        match t.res {
            "barge" => self.emit("barge.registered", "barge", &row, None),
            "entry" => self.emit("entry.made", "entry", &row, None),
            "passage" => {
                self.emit("passage.booked", "passage", &row, None);
                if row["crew"].int() >= if bug("ev-big") { 11 } else { 10 } {
                    self.emit("passage.big", "passage", &row, None);
                }
            }
            _ => {}
        }
        let mut a = self.show(t, if bug("en-200") && t.res == "entry" { 200 } else { 201 }, &row);
        let folder = if let Some((_, id)) = bound { format!("passages/{id}/log") } else { format!("{}s", t.res) };
        let base = if bug("en-location") && t.res == "passage" { "" } else { "/canal/api" };
        a.headers.push(("Location".to_string(), format!("{base}/{folder}/{}", key_of(t.res, &row))));
        Ok(a)
    }

    fn quota(&mut self, t: &Turn, now: i64) -> Result<(), No> {
        let day = if bug("li-quota-forever") { 0 } else { now.div_euclid(86_400_000) };
        let slot = self.used.entry(format!("quota {}", t.who())).or_insert((day, 0));
        if slot.0 != day {
            *slot = (day, 0);
        }
        if slot.1 >= 50 && !bug("li-quota") {
            let left = (86_400_000 - now.rem_euclid(86_400_000) + 999) / 1000;
            return Err(No("enough_today", vec![], vec![("Retry-After".to_string(), left.to_string())]));
        }
        slot.1 += 1;
        Ok(())
    }

    fn change(&mut self, t: &Turn, row: Row) -> Result<Answer, No> {
        let way = if t.verb == "update" { Way::Patch } else { Way::Put };
        let (mut to, wrong) = next(t.res, way, &row, &t.body, t.old, None);
        if !wrong.is_empty() {
            return Err(No("does_not_fit", wrong, vec![]));
        }
        self.refs(t, &to, Some(&row))?;
        if t.res == "passage" && row["status"].str() != "booked" && !bug("st-patch-later") {
            return no("not_now");
        }
        if to == row && !(t.res == "barge" && bug("re-touched-always")) {
            self.own_errors(t, &to)?;
            return Ok(self.show(t, 200, &row));
        }
        if row.contains_key("touched_at") && !(t.res == "barge" && bug("re-touched")) {
            to.insert("touched_at".to_string(), J::Str(stamp(self.now())));
        }
        self.own_errors(t, &to)?;
        self.unique(t, &to)?;
        self.put(t.res, &to);
        match t.res {
            "barge" => self.emit("barge.changed", "barge", &to, None),
            "passage" => self.emit("passage.changed", "passage", &to, None),
            "lock" if row["open"].is_true() && !to["open"].is_true() || bug("ev-shut") && t.res == "lock" => self.emit("lock.shut", "lock", &to, None),
            _ => {}
        }
        Ok(self.show(t, 200, &to))
    }

    fn put(&mut self, res: &str, row: &Row) {
        let all = self.rows.get_mut(res).unwrap();
        let i = all.iter().position(|o| o["_seq"] == row["_seq"]).unwrap();
        all[i] = row.clone();
    }

    fn delete(&mut self, t: &Turn, row: Row) -> Result<Answer, No> {
        let id = key_of(t.res, &row).to_string();
        if t.res == "passage" && !matches!(row["status"].str(), "booked" | "cancelled" | "missed" | "turned_away") && !bug("st-delete-any") {
            return no("not_now");
        }
        let held = matches!(t.res, "barge" | "lock") && self.all("passage").iter().any(|p| p[t.res].str() == id);
        if held && !bug("er-held") {
            return no("still_used");
        }
        self.rows.get_mut(t.res).unwrap().retain(|o| o["_seq"] != row["_seq"]);
        if t.res == "passage" {
            self.rows.get_mut("entry").unwrap().retain(|e| e["passage"].str() != id);
        }
        if t.res == "barge" {
            if !bug("re-not-cleared") {
                for e in self.rows.get_mut("entry").unwrap() {
                    if e.get("barge").is_some_and(|b| b.str() == id) {
                        e.remove("barge");
                    }
                }
            }
            self.emit("barge.scrapped", "barge", &row, Some(obj(&[("id", row["id"].clone()), ("plate", row["plate"].clone())])));
        }
        let (status, body) = if bug("en-delete-200") && t.res == "hook" { (200, Some(obj(&[]))) } else { (204, None) };
        Ok(Answer { status, headers: vec![], body })
    }

    fn fire(&mut self, t: &Turn, row: Row) -> Result<Answer, No> {
        let mut water = 0;
        if t.verb == "pass" {
            let mut wrong = vec![];
            match &t.body {
                J::Obj(b) => match b.get("water_cm") {
                    Some(v) => judge(&T::Int(0, 900, 1), v, "/water_cm", &mut wrong),
                    None => wrong.push("/water_cm".to_string()),
                },
                _ => wrong.push(String::new()),
            }
            if !wrong.is_empty() {
                return Err(No("does_not_fit", wrong, vec![]));
            }
            if let J::Obj(b) = &t.body {
                water = b["water_cm"].int();
            }
        }
        let barge = self.find("barge", row["barge"].str()).unwrap().clone();
        let low = water < barge["draught_cm"].int() && !bug("st-aground") || bug("st-aground-edge") && water == barge["draught_cm"].int();
        let (from, to): (&[&str], &str) = match t.verb {
            "arrive" => (if bug("st-arrive-again") { &["booked", "cancelled", "missed"] } else { &["booked"] }, "waiting"),
            "admit" => (if bug("st-admit-booked") { &["waiting", "booked"] } else { &["waiting"] }, "chamber"),
            "pass" => (&["chamber"], if low { "aground" } else { "through" }),
            "refloat" => (&["aground"], if bug("st-refloat") { "through" } else { "chamber" }),
            _ => (if bug("st-cancel") { &["booked"] } else { &["booked", "waiting"] }, "cancelled"),
        };
        if !from.contains(&row["status"].str()) {
            return no(match t.verb {
                "arrive" if !bug("er-else") => "not_booked",
                "admit" => "not_waiting",
                _ => "not_now",
            });
        }
        if t.verb == "cancel" && row["sealed"].is_true() && !bug("st-seal") {
            return no("under_seal");
        }
        if t.verb == "arrive" && barge["laid_up"].is_true() && !bug("er-idle") {
            return no("idle_barge");
        }
        if t.verb == "admit" && !self.find("lock", row["lock"].str()).unwrap()["open"].is_true() && !bug("er-gates") {
            return no("gates_shut");
        }
        let mut next = row;
        let now = self.now();
        self.enter(&mut next, to);
        if t.verb == "arrive" {
            next.insert("wait_until".to_string(), J::Str(stamp(now + if bug("st-wait-8h") { 8 } else { 6 } * 3_600_000)));
        }
        if t.verb == "pass" {
            next.insert("water_cm".to_string(), J::Int(water));
        }
        if matches!(t.verb, "pass" | "cancel") && !(t.verb == "cancel" && bug("re-ended")) {
            next.insert("ended_at".to_string(), J::Str(stamp(now)));
        }
        self.unique(t, &next)?;
        self.put("passage", &next);
        match t.verb {
            "arrive" => self.emit("passage.waiting", "passage", &next, None),
            "admit" => self.emit("passage.admitted", "passage", &next, None),
            "refloat" if !bug("ev-refloat") => self.emit("passage.admitted", "passage", &next, None),
            "refloat" => {}
            "pass" if to == "aground" => self.emit("passage.aground", "passage", &next, None),
            _ => self.over(&next),
        }
        Ok(self.show(t, 200, &next))
    }

    // ------------------------------------------------------------ lists

    fn list(&mut self, t: &Turn) -> Result<Answer, No> {
        let (mut order, mut filters, mut size, mut from) = (default_order(t.res), vec![], if bug("li-default") && t.res == "barge" { 10 } else { 8 }, None);
        let most = if bug("li-most") && t.res == "lock" { 60 } else { 40 };
        for (k, v) in &t.query {
            match k.as_str() {
                "count" => match v.parse::<usize>() {
                    Ok(n) if (1..=most).contains(&n) && v.bytes().all(|b| b.is_ascii_digit()) => size = n,
                    Ok(n) if n > most && bug("li-clamp") && t.res == "lock" => size = most,
                    _ => return Err(No("odd_page", vec![k.clone()], vec![])),
                },
                "from" => from = Some(v.clone()),
                "order_by" if matches!(t.res, "barge" | "passage") => {
                    let all: [&'static str; 4] = if t.res == "barge" { ["length_cm", "-length_cm", "registered_at", "-registered_at"] } else { ["eta", "-eta", "crew", "-crew"] };
                    order = all.into_iter().find(|o| o == v).ok_or(No("odd_question", vec![k.clone()], vec![]))?;
                    if bug("en-minus") && t.res == "passage" {
                        order = order.trim_start_matches('-');
                    }
                }
                _ => match filter(t, k, v) {
                    Some(f) => filters.push(f),
                    None if bug("en-any-question") => {}
                    None => return Err(No("odd_question", vec![k.clone()], vec![])),
                },
            }
        }
        let mut bound: Vec<String> = t.query.iter().filter(|(k, _)| k != "from" && k != "count").map(|(k, v)| format!("{k}={v}")).collect();
        bound.sort();
        let bound = format!("{} {} {} {:?} {}", t.op, t.who(), t.old, t.ids, bound.join("&"));
        let bound = if t.res == "barge" && bug("li-any-cursor") { String::new() } else { hex(&sha256(bound.as_bytes()))[..16].to_string() };
        let after = match from {
            Some(text) => Some(open_cursor(&text, &bound).ok_or(No("odd_page", vec!["from".to_string()], vec![]))?),
            None => None,
        };
        if t.res == "entry" && !self.find("passage", &t.ids[0]).is_some_and(|p| self.sees("passage", p, t.caller.as_ref()) || bug("au-log") && t.keeper()) {
            return no("gone_or_never");
        }
        let desc = order.starts_with('-');
        let field = order.trim_start_matches('-');
        let rank = |row: &Row| {
            let n = match row.get(field) {
                Some(J::Str(s)) => instant(s, true).unwrap_or(0),
                Some(v) => v.int(),
                None => 0,
            };
            (if desc { -n } else { n }, row["_seq"].int())
        };
        let mut rows: Vec<&Row> = self.all(t.res).iter().filter(|r| {
            let lax = t.res == "passage" && bug("au-list") || t.res == "entry" && bug("au-log") && t.keeper();
            let mine = lax || self.sees(t.res, r, t.caller.as_ref());
            mine && (t.res != "entry" || r["passage"].str() == t.ids[0]) && filters.iter().all(|f| f(r))
        }).collect();
        rows.sort_by_key(|r| rank(r));
        rows.retain(|r| after.is_none_or(|a| rank(r) > a));
        let has_more = rows.len() > size;
        rows.truncate(size);
        let mut a = Answer { status: 200, headers: vec![], body: Some(J::Arr(rows.iter().map(|r| shown(t.res, r, t.keeper(), t.old, false)).collect())) };
        if has_more && !(t.res == "barge" && bug("li-no-link")) {
            let mut last = rank(rows[rows.len() - 1]);
            if bug("li-skips") && t.res == "barge" {
                last.1 += 1;
                last.0 += 1;
            }
            let mut query: Vec<String> = t.query.iter().filter(|(k, _)| k != "from").map(|(k, v)| format!("{k}={}", encoded(v))).collect();
            query.push(format!("from={}", cursor(last, &bound)));
            let path = t.r.target.split('?').next().unwrap();
            a.headers.push(("Link".to_string(), format!("<{path}?{}>; rel=\"next\"", query.join("&"))));
        }
        Ok(a)
    }
}

fn default_order(res: &str) -> &'static str {
    match res {
        "barge" => "length_cm",
        "lock" if bug("en-order") => "chamber_cm",
        "lock" => "-chamber_cm",
        "passage" => "eta",
        "entry" => "-grade",
        _ => "_none",
    }
}

fn cursor(at: (i64, i64), bound: &str) -> String {
    let text = format!("{bound} {} {}", at.0, at.1);
    base64(format!("{text} {}", &hex(&hmac(b"pages of the canal", text.as_bytes()))[..16]).as_bytes(), true)
}

fn open_cursor(text: &str, bound: &str) -> Option<(i64, i64)> {
    let plain = String::from_utf8(unbase64(text)?).ok()?;
    let w: Vec<&str> = plain.split(' ').collect();
    let at = (w.get(1)?.parse().ok()?, w.get(2)?.parse().ok()?);
    (cursor(at, bound) == text).then_some(at)
}

type Filter = Box<dyn Fn(&Row) -> bool>;

/// The filter that a parameter states, or nothing where there is none such.
fn filter(t: &Turn, name: &str, v: &str) -> Option<Filter> {
    let text = v.to_string();
    let eq = |key: &'static str, v: J| -> Option<Filter> { Some(Box::new(move |r: &Row| r.get(key) == Some(&v))) };
    let whole = || v.parse::<i64>().ok().filter(|_| !v.starts_with('+'));
    let flag = || match v {
        "true" => Some(J::Bool(true)),
        "false" => Some(J::Bool(false)),
        _ => None,
    };
    match (t.res, name) {
        ("barge", "cargo") if !t.old && CARGO.contains(&v) => if bug("en-cargo") { Some(Box::new(|_| true)) } else { eq("cargo", J::Str(text)) },
        ("barge", "laid_up") => eq("laid_up", flag()?),
        ("barge", "min_length") => {
            let n = whole()?;
            Some(Box::new(move |r| r["length_cm"].int() >= n + i64::from(bug("en-min"))))
        }
        ("barge", "max_length") => {
            let n = whole()?;
            Some(Box::new(move |r| r["length_cm"].int() <= n))
        }
        ("barge", "named") => Some(Box::new(move |r| if bug("en-named") { r["name"].str().contains(&text) } else { r["name"].str().starts_with(&text) })),
        ("lock", "open") => eq("open", flag()?),
        ("lock", "keeper") => eq("keeper", J::Str(text)),
        ("lock", "min_chamber") => {
            let n = whole()?;
            Some(Box::new(move |r| r["chamber_cm"].int() >= n))
        }
        ("passage", "status") if STATES.contains(&v) => eq("status", J::Str(text)),
        ("passage", "lock") => eq("lock", J::Str(text)),
        ("passage", "barge") => eq("barge", J::Str(text)),
        ("passage", "direction") => {
            let words = if t.old && !bug("ve-direction") { ["upstream", "downstream"] } else { ["up", "down"] };
            if words.contains(&v) { eq("direction", up("direction", &J::Str(text), t.old)) } else { None }
        }
        ("passage", "min_crew") => {
            let n = whole()?;
            Some(Box::new(move |r| r["crew"].int() >= n))
        }
        ("passage", "eta_from" | "eta_before") => {
            let (at, is_from) = (instant(v, false)?, name == "eta_from");
            if bug("en-eta-text") {
                return Some(Box::new(move |r| if is_from { r["eta"].str() >= text.as_str() } else { r["eta"].str() < text.as_str() }));
            }
            Some(Box::new(move |r| instant(r["eta"].str(), true).is_some_and(|e| if is_from { e >= at } else { e < at })))
        }
        ("entry", "grade") => eq("grade", J::Int(whole().filter(|n| (1..=5).contains(n))?)),
        ("entry", "author") => eq("author", J::Str(text)),
        _ => None,
    }
}

// ---------------------------------------------------------------- what is sent

fn accepts(header: Option<&str>) -> bool {
    let Some(h) = header.filter(|h| !h.trim().is_empty()) else { return true };
    if bug("er-accept") {
        return true;
    }
    let mut best = (0, 0.0);
    for part in h.split(',') {
        let mut words = part.split(';').map(str::trim);
        let rank = match words.next().unwrap_or("").to_ascii_lowercase().as_str() {
            "application/json" => 3,
            "application/*" => 2,
            "*/*" => 1,
            _ => continue,
        };
        let q = words.find_map(|w| w.strip_prefix("q=")).and_then(|q| q.parse().ok()).unwrap_or(1.0);
        if rank > best.0 {
            best = (rank, q);
        }
    }
    best.1 > 0.0
}

fn is_json(r: &Req, verb: &str) -> bool {
    let kind = r.header("content-type").unwrap_or("").split(';').next().unwrap().trim().to_ascii_lowercase();
    kind == "application/json" || verb == "update" && kind == "application/merge-patch+json" || r.body.is_empty() || bug("er-media")
}

fn pairs(query: &str) -> Result<Vec<(String, String)>, No> {
    let mut out: Vec<(String, String)> = vec![];
    for part in query.split('&').filter(|p| !p.is_empty()) {
        let (k, v) = part.split_once('=').unwrap_or((part, ""));
        let (Some(k), Some(v)) = (decoded(k, true), decoded(v, true)) else { return no("odd_question") };
        if out.iter().any(|(o, _)| *o == k) {
            return Err(No("odd_question", vec![k], vec![]));
        }
        out.push((k, v));
    }
    Ok(out)
}
