//! Hashes, their letters, and chance.
use std::fs::File;
use std::io::Read;

pub fn sha256(data: &[u8]) -> [u8; 32] {
    let primes: Vec<u64> = (2u64..312).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0)).collect();
    let part = |x: f64| ((x - x.floor()) * 4294967296.0) as u32;
    let k: Vec<u32> = primes[..64].iter().map(|p| part((*p as f64).cbrt())).collect();
    let mut h: Vec<u32> = primes[..8].iter().map(|p| part((*p as f64).sqrt())).collect();
    let mut text = data.to_vec();
    text.push(0x80);
    while text.len() % 64 != 56 {
        text.push(0);
    }
    text.extend(((data.len() as u64) * 8).to_be_bytes());
    for block in text.chunks(64) {
        let mut w = [0u32; 64];
        for i in 0..16 {
            w[i] = u32::from_be_bytes(block[i * 4..i * 4 + 4].try_into().unwrap());
        }
        for i in 16..64 {
            let a = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
            let b = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
            w[i] = w[i - 16].wrapping_add(a).wrapping_add(w[i - 7]).wrapping_add(b);
        }
        let mut v = h.clone();
        for i in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let ch = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let t1 = v[7].wrapping_add(s1).wrapping_add(ch).wrapping_add(k[i]).wrapping_add(w[i]);
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let t2 = s0.wrapping_add((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(t1);
            v[0] = t1.wrapping_add(t2);
        }
        for i in 0..8 {
            h[i] = h[i].wrapping_add(v[i]);
        }
    }
    let mut out = [0; 32];
    for i in 0..8 {
        out[i * 4..i * 4 + 4].copy_from_slice(&h[i].to_be_bytes());
    }
    out
}

pub fn hmac(key: &[u8], data: &[u8]) -> [u8; 32] {
    let mut block = [0u8; 64];
    if key.len() > 64 {
        block[..32].copy_from_slice(&sha256(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let mut inner: Vec<u8> = block.iter().map(|b| b ^ 0x36).collect();
    inner.extend(data);
    let mut outer: Vec<u8> = block.iter().map(|b| b ^ 0x5c).collect();
    outer.extend(sha256(&inner));
    sha256(&outer)
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

const PLAIN: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub fn base64(bytes: &[u8], url: bool) -> String {
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let n = (three[0] as u32) << 16 | (*three.get(1).unwrap_or(&0) as u32) << 8 | *three.get(2).unwrap_or(&0) as u32;
        for i in 0..4 {
            if i <= three.len() {
                let c = PLAIN[(n >> (18 - 6 * i)) as usize & 63] as char;
                out.push(match c {
                    '+' if url => '-',
                    '/' if url => '_',
                    c => c,
                });
            } else if !url {
                out.push('=');
            }
        }
    }
    out
}

pub fn unbase64(text: &str) -> Option<Vec<u8>> {
    let (mut out, mut n, mut bits) = (vec![], 0u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        let c = match c {
            b'-' => b'+',
            b'_' => b'/',
            c => c,
        };
        n = (n << 6 | PLAIN.iter().position(|p| *p == c)? as u32) & 0xffffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((n >> bits) as u8);
        }
    }
    Some(out)
}

pub fn chance(n: usize) -> Vec<u8> {
    let mut out = vec![0; n];
    File::open("/dev/urandom").unwrap().read_exact(&mut out).unwrap();
    out
}

pub fn letters(n: usize) -> String {
    let mut out = String::new();
    while out.len() < n {
        for b in chance(64) {
            if b < 248 && out.len() < n {
                out.push(PLAIN[b as usize % 62] as char);
            }
        }
    }
    out
}

pub fn uuid() -> String {
    let mut b = chance(16);
    b[6] = b[6] & 15 | 64;
    b[8] = b[8] & 63 | 128;
    let h = hex(&b);
    format!("{}-{}-{}-{}-{}", &h[..8], &h[8..12], &h[12..16], &h[16..20], &h[20..])
}

pub fn ulid(ms: i64) -> String {
    let mut n = (ms as u128) << 80;
    for b in chance(10).iter().enumerate() {
        n |= (*b.1 as u128) << (8 * b.0);
    }
    (0..26).rev().map(|i| b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"[(n >> (5 * i)) as usize & 31] as char).collect()
}
