//! Sluice: barges, locks, passages, their log and hooks, kept in memory by one process.
mod addresses;
mod hashes;
mod json;
mod shapes;
mod times;
mod told;
mod work;

use crate::json::*;
use crate::times::*;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};
use work::*;

static FAULT: OnceLock<String> = OnceLock::new();

pub fn bug(id: &str) -> bool {
    FAULT.get().is_some_and(|f| f == id)
}

fn main() {
    let mut args = std::env::args().skip(1);
    let (mut port, mut clock_port) = ("0".to_string(), "0".to_string());
    while let Some(word) = args.next() {
        let value = args.next();
        match (word.as_str(), value) {
            ("--port", Some(v)) => port = v,
            ("--clock-port", Some(v)) => clock_port = v,
            ("--fault", Some(v)) => FAULT.set(v).unwrap(),
            _ => {
                eprintln!("usage: sluice --port N --clock-port N [--fault ID]");
                std::process::exit(2);
            }
        }
    }
    let shared = Arc::new(Shared { world: Mutex::new(World::new()), bell: Condvar::new() });
    let door = TcpListener::bind(format!("127.0.0.1:{clock_port}")).expect("the clock's port");
    let front = TcpListener::bind(format!("127.0.0.1:{port}")).expect("the port");
    println!("http://127.0.0.1:{} clock http://127.0.0.1:{}", front.local_addr().unwrap().port(), door.local_addr().unwrap().port());
    let of_clock = shared.clone();
    std::thread::spawn(move || listen(door, of_clock, true));
    let of_time = shared.clone();
    std::thread::spawn(move || loop {
        let mut w = of_time.world.lock().unwrap();
        w.tick();
        w.start_due(&of_time);
        drop(of_time.bell.wait_timeout(w, Duration::from_millis(40)));
    });
    listen(front, shared, false);
}

fn listen(door: TcpListener, shared: Arc<Shared>, is_clock: bool) {
    for c in door.incoming().flatten() {
        let shared = shared.clone();
        std::thread::spawn(move || talk(c, shared, is_clock));
    }
}

/// One connection, until either side is done with it.
fn talk(mut c: TcpStream, shared: Arc<Shared>, is_clock: bool) {
    let _ = c.set_nodelay(true);
    let mut held = vec![];
    loop {
        let (answer, last) = match next_request(&mut c, &mut held) {
            Next::Gone => return,
            Next::Slow => (refused("too_late", vec![]), true),
            Next::Bad => (refused("not_json", vec![]), true),
            Next::Huge => (refused("too_large", vec![]), true),
            Next::Request(r) if is_clock => (catch_unwind(|| clock(&shared, &r)).unwrap_or_else(|_| refused("leak", vec![])), r.close),
            Next::Request(r) => {
                let mut w = shared.world.lock().unwrap();
                w.tick();
                let a = catch_unwind(AssertUnwindSafe(|| w.answer(&r))).unwrap_or_else(|_| refused("leak", vec![]));
                w.start_due(&shared);
                (a, r.close)
            }
        };
        let body = answer.body.as_ref().map(J::text);
        let mut text = format!("HTTP/1.1 {} {}\r\n", answer.status, phrase(answer.status));
        for (k, v) in &answer.headers {
            text.push_str(&format!("{k}: {v}\r\n"));
        }
        if let Some(b) = &body {
            text.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", b.len()));
        } else if answer.status != 204 && answer.status != 304 {
            text.push_str("Content-Length: 0\r\n");
        }
        if last {
            text.push_str("Connection: close\r\n");
        }
        text.push_str("\r\n");
        text.push_str(body.as_deref().unwrap_or(""));
        if c.write_all(text.as_bytes()).is_err() || last {
            let _ = c.shutdown(std::net::Shutdown::Write);
            // what still comes is read away, so that the answer is not lost with it
            let _ = c.set_read_timeout(Some(Duration::from_millis(300)));
            let until = Instant::now() + Duration::from_secs(3);
            while Instant::now() < until && matches!(c.read(&mut [0; 16384]), Ok(n) if n > 0) {}
            return;
        }
    }
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        _ => "Other",
    }
}

enum Next {
    Request(Req),
    Gone,
    Slow,
    Bad,
    Huge,
}

const MOST: usize = 1 << 20;

/// Reads more; `Err` where there is no more or no more time.
fn more(c: &mut TcpStream, held: &mut Vec<u8>, end: Instant) -> Result<(), Next> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Next::Slow);
    }
    let _ = c.set_read_timeout(Some(left));
    let mut part = [0; 16384];
    match c.read(&mut part) {
        Ok(0) => Err(Next::Gone),
        Ok(n) => {
            held.extend(&part[..n]);
            Ok(())
        }
        Err(e) if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => Err(Next::Slow),
        Err(_) => Err(Next::Gone),
    }
}

fn next_request(c: &mut TcpStream, held: &mut Vec<u8>) -> Next {
    match read_request(c, held) {
        Ok(r) => Next::Request(r),
        Err(n) => n,
    }
}

fn line_of(c: &mut TcpStream, held: &mut Vec<u8>, end: Instant) -> Result<String, Next> {
    loop {
        if let Some(i) = held.windows(2).position(|w| w == b"\r\n") {
            let line = String::from_utf8_lossy(&held[..i]).to_string();
            held.drain(..i + 2);
            return Ok(line);
        }
        if held.len() > MOST {
            return Err(Next::Huge);
        }
        more(c, held, end)?;
    }
}

fn read_request(c: &mut TcpStream, held: &mut Vec<u8>) -> Result<Req, Next> {
    let idle = Duration::from_secs(45);
    while held.is_empty() {
        more(c, held, Instant::now() + idle).map_err(|_| Next::Gone)?;
    }
    let end = Instant::now() + Duration::from_secs(if bug("li-slow") { 80 } else { 8 });
    let first = line_of(c, held, end)?;
    let words: Vec<&str> = first.split(' ').collect();
    if words.len() != 3 || !words[2].starts_with("HTTP/1.") {
        return Err(Next::Bad);
    }
    let mut r = Req { method: words[0].to_string(), target: words[1].to_string(), close: words[2] == "HTTP/1.0", ..Req::default() };
    loop {
        let line = line_of(c, held, end)?;
        if line.is_empty() {
            break;
        }
        let (k, v) = line.split_once(':').ok_or(Next::Bad)?;
        r.headers.push((k.to_ascii_lowercase(), v.trim().to_string()));
        r.header_bytes += k.len() + v.trim().len() + 4;
        if r.headers.len() > 300 {
            return Err(Next::Huge);
        }
    }
    r.close |= r.header("connection").is_some_and(|v| v.eq_ignore_ascii_case("close"));
    if r.header("expect").is_some() {
        let _ = c.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
    }
    if r.header("transfer-encoding").is_some() {
        loop {
            let size = line_of(c, held, end)?;
            let size = usize::from_str_radix(size.split(';').next().unwrap_or("").trim(), 16).map_err(|_| Next::Bad)?;
            if size == 0 {
                while !line_of(c, held, end)?.is_empty() {}
                break;
            }
            if r.body.len() + size > MOST {
                return Err(Next::Huge);
            }
            while held.len() < size + 2 {
                more(c, held, end)?;
            }
            r.body.extend(held.drain(..size + 2).take(size));
        }
    } else if let Some(n) = r.header("content-length") {
        let n: usize = n.parse().map_err(|_| Next::Bad)?;
        if n > MOST {
            return Err(Next::Huge);
        }
        while held.len() < n {
            more(c, held, end)?;
        }
        r.body = held.drain(..n).collect();
    }
    Ok(r)
}

/// The door to the clock, which goes forward alone.
fn clock(shared: &Arc<Shared>, r: &Req) -> Answer {
    let mut w = shared.world.lock().unwrap();
    let says = |status, w: &World| Answer { status, headers: vec![], body: Some(obj(&[("now", J::Str(stamp(w.now())))])) };
    if r.method == "GET" {
        return says(200, &w);
    }
    let body = parse(&r.body);
    let Some(J::Obj(map)) = (if r.method == "POST" { body } else { None }) else { return says(400, &w) };
    let now = w.now();
    let to = match (map.get("advance"), map.get("now")) {
        (Some(J::Str(d)), None) => later(now, d),
        (None, Some(J::Str(t))) => instant(t, false).map(|us| us / 1000),
        _ => None,
    };
    let Some(to) = to else { return says(400, &w) };
    if to < now {
        return says(422, &w);
    }
    w.ahead += to - now;
    w.tick();
    w.start_due(shared);
    says(200, &w)
}
