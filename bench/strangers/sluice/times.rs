//! Dates, instants and durations.

pub fn days(y: i64, m: i64, d: i64) -> i64 {
    let y = if m <= 2 { y - 1 } else { y };
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let doy = (153 * (m + if m > 2 { -3 } else { 9 }) + 2) / 5 + d - 1;
    era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468
}

pub fn civil(day: i64) -> (i64, i64, i64) {
    let z = day + 719468;
    let era = z.div_euclid(146097);
    let doe = z.rem_euclid(146097);
    let yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let m = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(m <= 2), m, doy - (153 * mp + 2) / 5 + 1)
}

fn last_day(y: i64, m: i64) -> i64 {
    if m == 12 { 31 } else { days(y, m + 1, 1) - days(y, m, 1) }
}

pub fn stamp(ms: i64) -> String {
    let (y, m, d) = civil(ms.div_euclid(86_400_000));
    let t = ms.rem_euclid(86_400_000);
    format!("{y:04}-{m:02}-{d:02}T{:02}:{:02}:{:02}.{:03}Z", t / 3_600_000, t / 60_000 % 60, t / 1000 % 60, t % 1000)
}

pub fn http_date(ms: i64) -> String {
    let day = ms.div_euclid(86_400_000);
    let (y, m, d) = civil(day);
    let t = ms.rem_euclid(86_400_000) / 1000;
    let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    format!("{}, {d:02} {} {y:04} {:02}:{:02}:{:02} GMT", names[day.rem_euclid(7) as usize], months[m as usize - 1], t / 3600, t / 60 % 60, t % 60)
}

fn number(b: &[u8], from: usize, len: usize) -> Option<i64> {
    let part = b.get(from..from + len)?;
    part.iter().try_fold(0, |n, c| c.is_ascii_digit().then(|| n * 10 + i64::from(c - b'0')))
}

pub fn date(text: &str) -> Option<i64> {
    let b = text.as_bytes();
    let (y, m, d) = (number(b, 0, 4)?, number(b, 5, 2)?, number(b, 8, 2)?);
    if b.len() != 10 || b[4] != b'-' || b[7] != b'-' || !(1..=12).contains(&m) || d < 1 || d > last_day(y, m) {
        return None;
    }
    Some(days(y, m, d))
}

/// RFC 3339 to microseconds; with `loose` the zone may be left out.
pub fn instant(text: &str, loose: bool) -> Option<i64> {
    let b = text.as_bytes();
    if !text.is_ascii() || b.len() < 19 || !matches!(b[10], b'T' | b't') || b[13] != b':' || b[16] != b':' {
        return None;
    }
    let day = date(&text[..10])?;
    let (h, mi, s) = (number(b, 11, 2)?, number(b, 14, 2)?, number(b, 17, 2)?);
    let mut at = 19;
    let mut micros = 0;
    if b.get(at) == Some(&b'.') {
        let end = (at + 1..b.len()).find(|i| !b[*i].is_ascii_digit()).unwrap_or(b.len());
        if end == at + 1 {
            return None;
        }
        micros = format!("{:0<6}", &text[at + 1..end])[..6].parse().ok()?;
        at = end;
    }
    let off = match &text[at..] {
        "Z" | "z" => 0,
        "" if loose => 0,
        zone => {
            let z = zone.as_bytes();
            let (zh, zm) = (number(z, 1, 2)?, number(z, 4, 2)?);
            if z.len() != 6 || !matches!(z[0], b'+' | b'-') || z[3] != b':' || zh > 23 || zm > 59 {
                return None;
            }
            (zh * 60 + zm) * if z[0] == b'-' { -1 } else { 1 }
        }
    };
    let minute = day * 1440 + h * 60 + mi - off;
    if h > 23 || mi > 59 || s > 60 || (s == 60 && minute.rem_euclid(1440) != 1439) {
        return None;
    }
    Some(minute * 60_000_000 + s * 1_000_000 + micros)
}

/// `from` and an ISO 8601 duration later, months and years by the calendar.
pub fn later(from: i64, text: &str) -> Option<i64> {
    let rest = text.strip_prefix('P')?;
    let (mut ms, mut months, mut time, mut digits, mut any, mut part) = (0i64, 0i64, false, String::new(), false, false);
    for c in rest.chars() {
        if c == 'T' {
            if time || !digits.is_empty() {
                return None;
            }
            time = true;
            part = true;
            continue;
        }
        if c.is_ascii_digit() || c == '.' {
            digits.push(c);
            continue;
        }
        let n: f64 = digits.parse().ok()?;
        if n > if time { 1e9 } else { 1e4 } {
            return None;
        }
        digits.clear();
        any = true;
        part = false;
        let unit = match (c, time) {
            ('Y', false) => {
                months += 12 * n as i64;
                continue;
            }
            ('M', false) => {
                months += n as i64;
                continue;
            }
            ('W', false) => 604_800_000.0,
            ('D', false) => 86_400_000.0,
            ('H', true) => 3_600_000.0,
            ('M', true) => 60_000.0,
            ('S', true) => 1000.0,
            _ => return None,
        };
        ms += (n * unit).round() as i64;
    }
    if !any || part || !digits.is_empty() {
        return None;
    }
    let (y, m, d) = civil(from.div_euclid(86_400_000));
    let m = y * 12 + m - 1 + months;
    let (y, m) = (m.div_euclid(12), m.rem_euclid(12) + 1);
    Some(days(y, m, d.min(last_day(y, m))) * 86_400_000 + from.rem_euclid(86_400_000) + ms)
}
