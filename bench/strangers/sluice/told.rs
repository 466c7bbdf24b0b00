//! Who hears of what: events, and the hooks that they go to.
use crate::json::*;
use crate::hashes::*;
use crate::times::*;
use crate::bug;
use crate::shapes::*;
use crate::work::*;
use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Clone)]
pub struct Delivery {
    nr: u64,
    event: String,
    hook: String,
    row: String,
    kind: &'static str,
    at: i64,
    body: String,
    due: i64,
    tries: usize,
    busy: bool,
}

const RETRY: [i64; 3] = [30_000, 300_000, 7_200_000];

impl World {
    /// Records one event for every hook that is to hear of it. `data` stands in place of the row.
    pub fn emit(&mut self, kind: &'static str, res: &'static str, row: &Row, data: Option<J>) {
        if bug("ev-no-scrapped") && kind == "barge.scrapped" || bug("ev-no-entry") && kind == "entry.made" {
            return;
        }
        let now = self.now();
        self.nr += 1;
        let event = format!("ev{:08}{}", self.nr, letters(6));
        for hook in self.all("hook").clone() {
            let maker = Caller { user: hook["_user"].str().to_string(), id: hook["owner"].str().to_string(), scopes: vec![] };
            let keeper = maker.user == "keeper";
            if !hook["live"].is_true() && !bug("ev-not-live") {
                continue;
            }
            if let (Some(J::Arr(topics)), false) = (hook.get("topics"), bug("ev-topics")) {
                if !topics.iter().any(|t| t.str() == kind || t.str().strip_suffix('*').is_some_and(|p| kind.starts_with(p))) {
                    continue;
                }
            }
            let hears = match kind {
                "passage.admitted" if !bug("ev-admitted-all") => maker.id == row["skipper"].str(),
                _ => self.sees(res, row, Some(&maker)) || bug("ev-foreign"),
            };
            if !hears {
                continue;
            }
            let old = hook["_old"].is_true() && !bug("ve-hook-current");
            let payload = data.clone().unwrap_or_else(|| shown(res, row, keeper, old, false));
            let at = if bug("ev-at-number") { J::Int(now / 1000) } else { J::Str(stamp(now)) };
            let body = obj(&[("event", J::s(&event)), ("topic", J::s(kind)), ("at", at), ("body", payload)]).text();
            self.nr += 1;
            self.waiting.push(Delivery {
                nr: self.nr, event: event.clone(), hook: hook["id"].str().to_string(), row: format!("{res} {}", key_of(res, row)), kind, at: now, body,
                due: now, tries: 0, busy: false,
            });
        }
    }

    /// Starts what is due, in order for one hook and one row.
    pub fn start_due(&mut self, shared: &Arc<Shared>) {
        if self.waiting.is_empty() {
            return;
        }
        let now = self.now();
        let mut blocked = HashSet::new();
        let alive: Vec<(String, Row)> = self.all("hook").iter().map(|h| (h["id"].str().to_string(), h.clone())).collect();
        self.waiting.retain(|d| d.busy || alive.iter().any(|(id, _)| *id == d.hook));
        for d in &mut self.waiting {
            let lane = (d.hook.clone(), d.row.clone());
            if blocked.contains(&lane) {
                continue;
            }
            blocked.insert(lane);
            if d.busy || d.due > now {
                continue;
            }
            d.busy = true;
            let hook = alive.iter().find(|(id, _)| *id == d.hook).unwrap().1.clone();
            let (d, shared) = (d.clone(), shared.clone());
            std::thread::spawn(move || {
                let status = send(&d, &hook, now);
                let mut w = shared.world.lock().unwrap();
                w.done(&d, status);
                drop(w);
                shared.bell.notify_all();
            });
        }
    }

    fn done(&mut self, d: &Delivery, status: u16) {
        let now = self.now();
        let Some(i) = self.waiting.iter().position(|o| o.nr == d.nr) else { return };
        let tries = d.tries + 1;
        if (200..300).contains(&status) || tries > RETRY.len() || bug("ev-one-try") {
            self.waiting.remove(i);
            return;
        }
        let one = &mut self.waiting[i];
        one.tries = tries;
        one.busy = false;
        one.due = now + if bug("ev-late-try") { RETRY[2] } else { RETRY[tries - 1] };
        if status == 410 {
            let gone = d.hook.clone();
            if let Some(hook) = self.rows.get_mut("hook").unwrap().iter_mut().find(|h| h["id"].str() == gone) {
                hook.insert("live".to_string(), J::Bool(false));
            }
            self.waiting.retain(|o| o.hook != gone);
        }
    }
}

/// One try: the status of the answer, or 0.
fn send(d: &Delivery, hook: &Row, now: i64) -> u16 {
    let Some((host, path)) = target(hook["target"].str()) else { return 0 };
    let name = host.rsplit_once(':').unwrap();
    if !matches!(name.0, "127.0.0.1" | "localhost") {
        return 0;
    }
    let at = if bug("ev-signed-ms") { now } else { now / 1000 };
    let id = if bug("ev-new-id") { format!("{}-{}", d.event, d.tries) } else { d.event.clone() };
    let secret = hook["secret"].str();
    let key = if bug("ev-secret-text") { secret.as_bytes().to_vec() } else { unbase64(&secret[6..]).unwrap() };
    let signed = if bug("ev-signed-body") { d.body.clone() } else { format!("{id}.{at}.{}", d.body) };
    let mac = base64(&hmac(&key, signed.as_bytes()), false);
    let kind = if bug("ev-topic-header") { "event" } else { d.kind };
    let text = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\nwebhook-id: {id}\r\n\
         webhook-timestamp: {at}\r\nwebhook-signature: v1,{mac}\r\nSluice-Topic: {kind}\r\nSluice-Sent: {}\r\n\r\n{}",
        d.body.len(), stamp(d.at), d.body
    );
    let wait = Duration::from_secs(4);
    let end = Instant::now() + wait;
    let Ok(addr) = format!("127.0.0.1:{}", name.1).parse::<SocketAddr>() else { return 0 };
    let Ok(mut c) = TcpStream::connect_timeout(&addr, wait) else { return 0 };
    let _ = c.set_write_timeout(Some(wait));
    if c.write_all(text.as_bytes()).is_err() {
        return 0;
    }
    let mut got = vec![];
    let mut part = [0; 4096];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || c.set_read_timeout(Some(left)).is_err() {
            return 0;
        }
        match c.read(&mut part) {
            Ok(n) if n > 0 => got.extend(&part[..n]),
            _ => return 0,
        }
        if got.windows(4).any(|w| w == b"\r\n\r\n") || got.len() > 65536 {
            return String::from_utf8_lossy(&got).split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        }
    }
}
