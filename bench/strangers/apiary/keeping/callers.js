import { createHmac, timingSafeEqual } from 'node:crypto';
import { broken } from './faults.js';

const SECRET = process.env.APIARY_SECRET ?? 'the-hum-of-ten-thousand-wings-at-noon';
const USERS = ['keeper', 'inspector', 'grocer'];

/** The keys that are given out. */
const KEYS = new Map([
  ['apk_annaannaannaannaannaanna', { id: 'anna', users: ['keeper'], scopes: [] }],
  ['apk_bertbertbertbertbertbert', { id: 'bert', users: ['keeper'], scopes: [] }],
  ['apk_carlcarlcarlcarlcarlcarl', { id: 'carl', users: ['keeper'], scopes: [] }],
  ['apk_inesinesinesinesinesines', { id: 'ines', users: ['inspector'], scopes: ['vet'] }],
  ['apk_ivanivanivanivanivanivan', { id: 'ivan', users: ['inspector'], scopes: [] }],
  ['apk_greggreggreggreggreggreg', { id: 'greg', users: ['grocer'], scopes: [] }],
  ['apk_ginaginaginaginaginagina', { id: 'gina', users: ['grocer'], scopes: [] }],
]);

export const byKey = (key) =>
  broken('au-key-case') ? [...KEYS].find(([one]) => one.toLowerCase() === key.toLowerCase())?.[1] : KEYS.get(key);

const decode = (part) => JSON.parse(Buffer.from(part, 'base64url').toString());
const mac = (text) => createHmac('sha256', SECRET).update(text).digest();

/** A signed token, as the one who gives them out makes it. */
export function signed(claims, { alg = 'HS256' } = {}) {
  const head = [{ alg, typ: 'JWT' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${head}.${mac(head).toString('base64url')}`;
}

/** Whom a token speaks for, or undefined. */
export function byToken(token, nowMs) {
  try {
    const [head, claims, signature, more] = token.split('.');
    if (more !== undefined || decode(head).alg !== 'HS256') return undefined;
    const given = Buffer.from(signature, 'base64url');
    const wanted = mac(`${head}.${claims}`);
    if (given.length !== wanted.length || (!timingSafeEqual(given, wanted) && !broken('au-token-signature'))) return undefined;
    const { iss, aud, exp, nbf, sub, role, scope } = decode(claims);
    const now = nowMs / 1000;
    if (iss !== 'https://id.apiary.example' && !broken('au-token-issuer')) return undefined;
    if (![aud].flat().includes('apiary') && !broken('au-token-audience')) return undefined;
    if (exp !== undefined && !(now < exp) && !broken('au-token-expired')) return undefined;
    if (nbf !== undefined && !(now >= nbf)) return undefined;
    if (typeof sub !== 'string' || sub === '') return undefined;
    const users = [role].flat();
    if (users.length === 0 || users.some((user) => !USERS.includes(user))) return undefined;
    if (scope !== undefined && typeof scope !== 'string') return undefined;
    return { id: sub, users, scopes: scope && !broken('au-token-scope') ? scope.split(' ') : [] };
  } catch {
    return undefined;
  }
}
