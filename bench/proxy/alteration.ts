/** What is altered of the exchanges with a service that is right, and how an exchange is known. */
import { randomUUID } from 'node:crypto';
import { signingKeyOf } from '../../src/kinds/schemes/request-keys.ts';
import type { RequestSigning } from '../../src/kinds/schemes/signing.ts';
import { kindOfScheme, placed, type Scheme, schemePrefix } from '../../src/parts/authentication.ts';
import type { Endpoint } from '../../src/parts/endpoints.ts';
import { entriesOf, statedValue } from '../../src/parts/fact.ts';
import type { Spec } from '../../src/parts/spec.ts';
import type { GivenCaller } from '../../src/verify/exchange/callers.ts';
import type { Bent, Passing } from '../../test/verify/stand.ts';

/** A web hook on its way. */
export interface Told {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** What a proxy between a service and those who ask it can do. */
export interface Altering {
  readonly bend?: (request: Bent) => Partial<Bent>;
  readonly spoil?: (passing: Passing) => Partial<Passing>;
  /** A piece of an event stream. */
  readonly tell?: (text: string) => string;
  /** A web hook; nothing = it is not passed on. */
  readonly deliver?: (told: Told) => Partial<Told> | undefined;
}

/** One alteration, and the part that speaks of what it breaks. */
export interface Alteration {
  readonly id: string;
  readonly part: string;
  readonly altering: Altering;
}

/** What alterations are made of. */
export interface Setting {
  readonly spec: Spec;
  readonly basePath: string;
  readonly endpoints: readonly Endpoint[];
  /** Filled in once the service runs. */
  readonly callers: GivenCaller[];
}

/** Reads out of a document what alterations are made of. */
export function settingOf(spec: Spec): Setting {
  const [base] = statedValue(spec.purpose.baseUrls) ?? [];
  const basePath = base === undefined ? '' : new URL(base).pathname.replace(/\/+$/, '');
  return { spec, basePath, endpoints: entriesOf(spec.endpoints.all).map(([, endpoint]) => endpoint), callers: [] };
}

/** Whether a request is one of an endpoint; literal segments beat parameters. */
export function isOf(
  { basePath, endpoints }: Setting,
  endpoint: Endpoint,
  asked: { readonly method: string; readonly target: string },
): boolean {
  const path = asked.target.split('?')[0] ?? '';
  const fits = endpoints.filter((one) => one.method === asked.method && patternOf(basePath, one.path).test(path));
  const least = Math.min(...fits.map((one) => one.path.split('{').length));
  return fits.find((one) => one.path.split('{').length === least) === endpoint;
}

function patternOf(basePath: string, path: string): RegExp {
  const escaped = path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${basePath}${escaped.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`);
}

/** A JSON map. */
export type Row = Record<string, unknown>;

/** A text of JSON with its top changed; what is none stays. */
export function withJson(text: string, change: (body: Row) => unknown): string {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? JSON.stringify(change(body as Row)) : text;
  } catch {
    return text;
  }
}

/** An answer with every row of a resource in it changed; `items` is the member of a page that holds its rows. */
export function withRows(setting: Setting, resource: string, change: (row: Row) => Row, passing: Passing): Partial<Passing> {
  const endpoint = setting.endpoints.find((one) => isOf(setting, one, passing));
  const effect = endpoint && statedValue(endpoint.does);
  if (passing.status >= 300 || !effect || !('resource' in effect) || effect.resource !== resource) return {};
  const rowsOf = (items: readonly unknown[]): unknown[] => items.map((row) => change(row as Row));
  const text = withJson(passing.text, (body) => (effect.verb === 'list' ? withItems(body, rowsOf) : change(body)));
  return text === passing.text ? {} : { text };
}

/** The body of a list with its rows changed: a bare list, or the first list in it. */
export function withItems(body: Row, change: (items: readonly unknown[]) => readonly unknown[]): unknown {
  if (Array.isArray(body)) return change(body);
  const [key, items] = Object.entries(body).find(([, value]) => Array.isArray(value)) ?? [];
  return key === undefined || !Array.isArray(items) ? body : { ...body, [key]: change(items) };
}

/** Whose credential a request shows. */
export function callerOf({ spec, callers }: Setting, { headers }: Pick<Bent, 'headers'>): GivenCaller | undefined {
  const [scheme] = schemesOf(spec);
  const signing = scheme && signingOf(scheme);
  const shown = Object.values(headers).flatMap((value) => (Array.isArray(value) ? value : [value ?? '']));
  if (!signing) return callers.find(({ credential }) => shown.some((value) => value.endsWith(credential)));
  return callers.find(({ credential }) => shown.some((value) => value.includes(credential.split(':')[0] ?? credential)));
}

/** Whether a request shows a good credential; of one that is signed nobody knows without signing it anew. */
export function isGood(setting: Setting, request: Bent): boolean {
  const [scheme] = schemesOf(setting.spec);
  return scheme !== undefined && !signingOf(scheme) && callerOf(setting, request) !== undefined;
}

/** Headers with one caller's credential in the place of what is shown; without one, in the first header that a scheme names. */
export function shownAs({ spec }: Setting, request: Bent, caller: GivenCaller | undefined): Bent['headers'] {
  const schemes = schemesOf(spec);
  const carriers = schemes.flatMap(({ carrier }) => statedValue(carrier) ?? []).map((name) => name.toLowerCase());
  const kept = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !carriers.includes(name)));
  const scheme = schemes.find(({ name }) => name === caller?.scheme) ?? schemes[0];
  const carrier = scheme && statedValue(scheme.carrier)?.toLowerCase();
  if (!caller || !scheme || carrier === undefined) return kept;
  const signing = signingOf(scheme);
  if (!signing) return { ...kept, [carrier]: caller.credential };
  const [keyId = '', secret = ''] = caller.credential.split(':');
  const key = signingKeyOf(signing.algorithms, secret);
  const { method, target, text } = request;
  const headers = Object.fromEntries(Object.entries(kept).map(([name, value]) => [name, String(value)]));
  const toSign = { method, target, headers, body: text === '' ? undefined : Buffer.from(text), origin: '' };
  const fields = key && signing.sign(toSign, { keyId, key }, { nowMs: Date.now(), nonce: randomUUID() });
  return { ...kept, ...fields, [carrier]: `${schemePrefix(scheme) ?? ''} ${fields?.[carrier] ?? ''}` };
}

const schemesOf = (spec: Spec): Scheme[] => entriesOf(spec.authentication.schemes).map(([, scheme]) => scheme);

function signingOf(scheme: Scheme): RequestSigning | undefined {
  const proof = kindOfScheme(scheme)?.proof;
  return proof?.by === 'signing' ? proof.compile(placed(scheme)) : undefined;
}
