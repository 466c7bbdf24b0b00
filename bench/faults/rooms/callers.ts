/** Who calls: tokens of the house's identity provider (HS256), and passwords of the desk. */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { decodeJwt, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { type Caller, type House, Refused, type User } from './house.ts';

/** The variable ROOMS_TOKEN_SECRET of a service that runs for trials alone. */
export const tokenSecret = 'the secret of a house that nobody lives in';
const issuer = 'https://id.rooms.example';
const audience = 'rooms';
const key = new TextEncoder().encode(tokenSecret);

export interface Person extends Caller {
  readonly password?: string;
}

/** Everybody that the house knows; who has a password comes with it, the others with tokens. */
export const people: readonly Person[] = [
  { id: 'mia', user: 'member', scopes: [] },
  { id: 'max', user: 'member', scopes: [], password: 'blue door' },
  { id: 'hilda', user: 'host', scopes: ['rooms'] },
  { id: 'hugo', user: 'host', scopes: ['rooms'], password: 'green: door' },
  { id: 'hanna', user: 'host', scopes: [] },
];

export interface Claims {
  readonly secret?: string;
  readonly issuer?: string;
  readonly audience?: string;
  readonly endsMs?: number;
  readonly beginsMs?: number;
}

/** A token for somebody, good for a century unless said otherwise. */
export async function tokenFor({ id, user, scopes }: Caller, claims: Claims = {}): Promise<string> {
  const token = new SignJWT({ role: user, ...(scopes.length > 0 && { scope: scopes.join(' ') }) })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(id)
    .setIssuer(claims.issuer ?? issuer)
    .setAudience(claims.audience ?? audience)
    .setExpirationTime(Math.floor((claims.endsMs ?? Date.now() + 100 * 365 * 86_400_000) / 1000));
  if (claims.beginsMs !== undefined) token.setNotBefore(Math.floor(claims.beginsMs / 1000));
  return token.sign(claims.secret === undefined ? key : new TextEncoder().encode(claims.secret));
}

const challenges = 'Bearer realm="Meeting Rooms", Basic realm="Meeting Rooms", charset="UTF-8"';

export async function identify(house: House, request: FastifyRequest): Promise<Caller> {
  const header = request.headers.authorization ?? '';
  const [, scheme = '', credential = ''] = /^(\S+) +(.+)$/.exec(header) ?? [];
  const isToken =
    scheme.toLowerCase() === 'bearer' || (house.faults.has('token-under-any-word') && scheme.toLowerCase() === 'token');
  const caller = isToken
    ? await byToken(house, credential)
    : scheme.toLowerCase() === 'basic'
      ? byPassword(house, credential)
      : undefined;
  if (!caller || (house.faults.has('hosts-not-known') && caller.user === 'host')) {
    throw new Refused('UNAUTHENTICATED', [], house.faults.has('no-challenge') ? {} : { 'WWW-Authenticate': challenges });
  }
  return caller;
}

async function byToken({ clock, faults }: House, token: string): Promise<Caller | undefined> {
  if (
    faults.has('unsigned-token-taken') &&
    /"alg":"none"/i.test(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())
  ) {
    return callerOf(decodeJwt(token));
  }
  if (faults.has('signature-not-verified')) return callerOf(safely(() => decodeJwt(token)));
  try {
    const verified = await jwtVerify(token, key, {
      algorithms: ['HS256'],
      ...(!faults.has('audience-not-looked-at') && { audience }),
      ...(!faults.has('issuer-not-looked-at') && { issuer }),
      currentDate: faults.has('token-never-ends') ? new Date(0) : new Date(clock.now()),
    });
    return callerOf(verified.payload);
  } catch {
    return undefined;
  }
}

function safely(read: () => JWTPayload): JWTPayload {
  try {
    return read();
  } catch {
    return {};
  }
}

function callerOf({ sub, role, scope }: JWTPayload): Caller | undefined {
  if (sub === undefined || !isUser(role)) return undefined;
  return { id: sub, user: role, scopes: typeof scope === 'string' ? scope.split(' ') : [] };
}

function isUser(role: unknown): role is User {
  return role === 'member' || role === 'host';
}

function byPassword({ faults }: House, credential: string): Caller | undefined {
  const [, name = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(credential, 'base64').toString()) ?? [];
  const person = people.find(({ id, password: right }) => id === name && right !== undefined);
  if (!person?.password) return undefined;
  const sent = faults.has('password-in-any-case') ? password.toLowerCase() : password;
  if (faults.has('empty-password-taken') && password === '') return person;
  return same(sent, person.password) ? person : undefined;
}

function same(text: string, right: string): boolean {
  const [sent, known] = [Buffer.from(text), Buffer.from(right)];
  return sent.length === known.length && timingSafeEqual(sent, known);
}
