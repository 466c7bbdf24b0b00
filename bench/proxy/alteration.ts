/** What is altered of the exchanges with a service that is right, and how an exchange is known. */
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
  const text = withJson(passing.text, (body) => {
    if (effect.verb !== 'list') return change(body);
    const [key, items] = Object.entries(body).find(([, value]) => Array.isArray(value)) ?? [];
    return key === undefined || !Array.isArray(items) ? body : { ...body, [key]: items.map((row: Row) => change(row)) };
  });
  return { text };
}

/** Whose credential a request shows. */
export function callerOf({ callers }: Setting, { headers }: { readonly headers: Bent['headers'] }): GivenCaller | undefined {
  const shown = Object.values(headers).flatMap((value) => (Array.isArray(value) ? value : [value ?? '']));
  return callers.find(({ credential }) => shown.some((value) => value.endsWith(credential)));
}

/** Headers with one caller's credential in the place of what is shown; without one, in the first header that a scheme names. */
export function shownAs({ spec }: Setting, headers: Bent['headers'], caller: GivenCaller | undefined): Bent['headers'] {
  const schemes = entriesOf(spec.authentication.schemes).map(([, scheme]) => scheme);
  const carriers = schemes.flatMap(({ carrier }) => statedValue(carrier) ?? []).map((name) => name.toLowerCase());
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !carriers.includes(name)));
  const scheme = schemes.find(({ name }) => name === caller?.scheme) ?? schemes[0];
  const carrier = scheme && statedValue(scheme.carrier);
  if (!caller || carrier === undefined) return kept;
  return { ...kept, [carrier.toLowerCase()]: caller.credential };
}
