//! JSON, read and written.
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Debug)]
pub enum J {
    Null,
    Bool(bool),
    Int(i64),
    Num(f64),
    Str(String),
    Arr(Vec<J>),
    Obj(Row),
}
pub type Row = BTreeMap<String, J>;

impl J {
    pub fn s(text: &str) -> J {
        J::Str(text.to_string())
    }
    pub fn str(&self) -> &str {
        match self {
            J::Str(s) => s,
            _ => "",
        }
    }
    pub fn int(&self) -> i64 {
        match self {
            J::Int(n) => *n,
            _ => 0,
        }
    }
    pub fn is_true(&self) -> bool {
        *self == J::Bool(true)
    }
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
    fn write(&self, out: &mut String) {
        match self {
            J::Null => out.push_str("null"),
            J::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            J::Int(n) => out.push_str(&n.to_string()),
            J::Num(n) => out.push_str(&format!("{n}")),
            J::Str(s) => quote(s, out),
            J::Arr(list) => {
                out.push('[');
                for (i, v) in list.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    v.write(out);
                }
                out.push(']');
            }
            J::Obj(map) => {
                out.push('{');
                for (i, (k, v)) in map.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    quote(k, out);
                    out.push(':');
                    v.write(out);
                }
                out.push('}');
            }
        }
    }
}

fn quote(s: &str, out: &mut String) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 32 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

pub fn obj(pairs: &[(&str, J)]) -> J {
    J::Obj(pairs.iter().map(|(k, v)| (k.to_string(), v.clone())).collect())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

pub fn parse(bytes: &[u8]) -> Option<J> {
    let mut r = Reader { text: std::str::from_utf8(bytes).ok()?, at: 0 };
    let v = r.value(0)?;
    r.space();
    (r.at == r.text.len()).then_some(v)
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        *self.text.as_bytes().get(self.at).unwrap_or(&0)
    }
    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }
    fn eat(&mut self, word: &str) -> Option<()> {
        if !self.text[self.at..].starts_with(word) {
            return None;
        }
        self.at += word.len();
        Some(())
    }
    fn value(&mut self, depth: usize) -> Option<J> {
        if depth > 100 {
            return None;
        }
        self.space();
        match self.peek() {
            b'"' => self.string().map(J::Str),
            b'{' => {
                self.at += 1;
                let mut map = Row::new();
                self.space();
                if self.eat("}").is_some() {
                    return Some(J::Obj(map));
                }
                loop {
                    self.space();
                    let key = self.string()?;
                    self.space();
                    self.eat(":")?;
                    let v = self.value(depth + 1)?;
                    map.insert(key, v);
                    self.space();
                    if self.eat(",").is_none() {
                        self.eat("}")?;
                        return Some(J::Obj(map));
                    }
                }
            }
            b'[' => {
                self.at += 1;
                let mut list = vec![];
                self.space();
                if self.eat("]").is_some() {
                    return Some(J::Arr(list));
                }
                loop {
                    list.push(self.value(depth + 1)?);
                    self.space();
                    if self.eat(",").is_none() {
                        self.eat("]")?;
                        return Some(J::Arr(list));
                    }
                }
            }
            b't' => self.eat("true").map(|_| J::Bool(true)),
            b'f' => self.eat("false").map(|_| J::Bool(false)),
            b'n' => self.eat("null").map(|_| J::Null),
            _ => self.number(),
        }
    }
    fn digits(&mut self) -> Option<usize> {
        let from = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        (self.at > from).then_some(self.at - from)
    }
    fn number(&mut self) -> Option<J> {
        let from = self.at;
        let _ = self.eat("-");
        let first = self.peek();
        if self.digits()? > 1 && first == b'0' {
            return None;
        }
        let mut whole = true;
        if self.eat(".").is_some() {
            whole = false;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            whole = false;
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        let text = &self.text[from..self.at];
        if whole {
            if let Ok(n) = text.parse() {
                return Some(J::Int(n));
            }
        }
        let n: f64 = text.parse().ok()?;
        Some(if n.fract() == 0.0 && n.abs() < 9e15 { J::Int(n as i64) } else { J::Num(n) })
    }
    fn hex4(&mut self) -> Option<u32> {
        let four = self.text.get(self.at..self.at + 4)?;
        if !four.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(four, 16).ok()
    }
    fn string(&mut self) -> Option<String> {
        self.eat("\"")?;
        let mut out = String::new();
        loop {
            let c = self.text[self.at..].chars().next()?;
            self.at += c.len_utf8();
            match c {
                '"' => return Some(out),
                '\\' => {
                    let e = self.peek();
                    self.at += 1;
                    match e {
                        b'n' => out.push('\n'),
                        b'r' => out.push('\r'),
                        b't' => out.push('\t'),
                        b'b' => out.push('\u{8}'),
                        b'f' => out.push('\u{c}'),
                        b'"' | b'\\' | b'/' => out.push(e as char),
                        b'u' => {
                            let mut n = self.hex4()?;
                            if (0xd800..0xdc00).contains(&n) {
                                self.eat("\\u")?;
                                let low = self.hex4()?;
                                if !(0xdc00..0xe000).contains(&low) {
                                    return None;
                                }
                                n = 0x10000 + ((n - 0xd800) << 10) + (low - 0xdc00);
                            }
                            out.push(char::from_u32(n)?);
                        }
                        _ => return None,
                    }
                }
                c if (c as u32) < 32 => return None,
                c => out.push(c),
            }
        }
    }
}
