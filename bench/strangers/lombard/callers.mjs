// Who calls: keys that were given out, and tokens that the house's identity provider signs.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Problem } from './problems.mjs';

const SECRET = process.env.LOMBARD_TOKEN_SECRET ?? 'lombard-on-the-hill-lends-since-1623';
const KEYS = new Map(
  Object.entries({
    lk_AmberQ7fT2xWm9LdRv3s: { user: 'pledger', id: 'p1', scopes: [] },
    lk_BerylK4hY8nZc1PgUj6t: { user: 'pledger', id: 'p2', scopes: [] },
    lk_CoralM5jV3bXe7SkWn2q: { user: 'clerk', id: 'c1', scopes: ['lend'] },
    lk_DiamdN6kB9cYf4TmXp1r: { user: 'clerk', id: 'c2', scopes: [] },
    lk_EmeraP8mD5dZg2VnYq7w: { user: 'auditor', id: 'a1', scopes: [] },
    lk_FluorR3nF6gAh9WpZs4x: { user: 'pledger', id: 'p3', scopes: [], isRevoked: true },
  }),
);
const USERS = new Set(['pledger', 'clerk', 'auditor']);
const json = (part) => JSON.parse(Buffer.from(part, 'base64url').toString());
const LEEWAY = 5;

function byToken(token, { fault, clock }) {
  const parts = token.split('.');
  if (parts.length !== 3) return undefined;
  try {
    const [head, claims] = [json(parts[0]), json(parts[1])];
    const isUnsigned = fault === 'alg-none' && head.alg === 'none';
    if (head.alg !== 'HS256' && !isUnsigned) return undefined;
    const good = createHmac('sha256', SECRET).update(`${parts[0]}.${parts[1]}`).digest();
    const shown = Buffer.from(parts[2], 'base64url');
    if (!isUnsigned && fault !== 'signature-unread' && (shown.length !== good.length || !timingSafeEqual(shown, good))) return undefined;
    const now = clock.now() / 1000;
    if (claims.iss !== 'https://id.lombard.example') return undefined;
    if (fault !== 'any-audience' && ![claims.aud].flat().includes('lombard')) return undefined;
    if (fault !== 'expired-tokens' && claims.exp !== undefined && !(typeof claims.exp === 'number' && now < claims.exp + LEEWAY)) return undefined;
    if (claims.nbf !== undefined && !(typeof claims.nbf === 'number' && now >= claims.nbf - LEEWAY)) return undefined;
    if (typeof claims.sub !== 'string' || !USERS.has(claims.role)) return undefined;
    return { user: claims.role, id: claims.sub, scopes: typeof claims.scope === 'string' ? claims.scope.split(' ') : [] };
  } catch {
    return undefined;
  }
}
function byKey(key, { fault }, call) {
  let found = KEYS.get(key);
  if (fault === 'keys-any-case') for (const [one, caller] of KEYS) if (one.toLowerCase() === key.toLowerCase()) found ??= caller;
  if (fault === 'key-by-prefix') for (const [one, caller] of KEYS) if (key.length >= 12 && one.startsWith(key.slice(0, 12))) found ??= caller;
  if (found?.isRevoked && !(fault === 'revoked-lists' && call.operation.startsWith('list'))) return undefined;
  return found;
}

export function callerOf(call, house) {
  const { headers } = call;
  const key = headers['x-lombard-key'];
  const bearer = headers.authorization;
  const challenge = { headers: { 'WWW-Authenticate': 'Bearer realm="lombard"' } };
  if (key === undefined && bearer === undefined) throw new Problem(house.fault === 'missing-as-bad' ? 'bad_credential' : 'no_credential', challenge);
  const callers = [];
  if (key !== undefined) callers.push(byKey(key, house, call));
  if (bearer !== undefined && !(house.fault === 'second-unread' && key !== undefined)) callers.push(byToken(/^Bearer +(\S+)$/i.exec(bearer)?.[1] ?? '', house));
  const [first, second] = callers;
  if (callers.includes(undefined) || (second && (first.user !== second.user || first.id !== second.id))) throw new Problem('bad_credential', challenge);
  const scopes = [...new Set(callers.flatMap((one) => one.scopes))];
  return { user: house.fault === 'clerks-in-v1' && call.version === 'v1' && first.user === 'clerk' ? 'pledger' : first.user, id: first.id, scopes };
}
