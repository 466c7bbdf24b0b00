/** What a creation is asked beside its body: fields in its query, a thing to copy, and a key of idempotency. */

import { plainName } from '../../../document/nearest.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import { WireFile } from '../../http/violation.ts';
import { isFields } from '../body.ts';
import type { RowModel } from '../model.ts';
import type { AskedFields, CopiedFrom, UsualKey } from '../stand-in.ts';

/**
 * Compiles what a creation says of the new row beside its body: a parameter of the query that is called like a field (`POST /hooks?site_id=s1`,
 * `POST /boxes/create?name=a`), and of a file that is sent, its name, size and media type.
 */
export function compileAskedFields({ parameters }: Endpoint, { fields }: RowModel, samples: Samples): AskedFields {
  const fieldCalled = new Map([...fields.keys()].map((name) => [plainName(name), name]));
  const queries = entriesOf(parameters).flatMap(([, { name, in: place }]): [string, string][] => {
    const field = place === 'query' ? fieldCalled.get(plainName(name)) : undefined;
    return field === undefined ? [] : [[name, field]];
  });
  const ofFiles = [...fields.keys()].flatMap((name): [string, (file: WireFile) => Value][] => {
    const tell = fileFields.find(({ named }) => named.test(name))?.tell;
    return tell ? [[name, tell]] : [];
  });
  const fits = (name: string, value: Value) =>
    value !== undefined && samples.of(statedValue(fields.get(name)?.shape ?? open) ?? {}, name).fits(value);
  return ({ params, request }: Exchange, sent) => {
    const out: Fields = {};
    const keep = (name: string, value: Value) => {
      if (sent[name] === undefined && out[name] === undefined && fits(name, value)) out[name] = value;
    };
    for (const [name, field] of queries) keep(field, params[name]);
    const file = isFields(request) ? Object.values(request).find((value: unknown) => value instanceof WireFile) : undefined;
    if ((file as unknown) instanceof WireFile) for (const [name, tell] of ofFiles) keep(name, tell(file as unknown as WireFile));
    return out;
  };
}

const open = { standing: 'open', at: '' } as const;

/** What the fields of a file are called that tell of what was sent. */
const fileFields: readonly { readonly named: RegExp; readonly tell: (file: WireFile) => Value }[] = [
  { named: /^(?:original_?)?(?:file_?)?name$/i, tell: ({ filename }) => filename },
  { named: /^(?:bytes|(?:file_?|content_?)?(?:size|length)|size_?(?:in_?)?bytes)$/i, tell: ({ bytes }) => bytes.length },
  { named: /^(?:mime_?type|content_?type|media_?type)$/i, tell: ({ type }) => type },
];

/**
 * Compiles what a creation copies whose path names a thing of the same kind (`POST /things/{id}/copy`, or `POST /things/{id}` that
 * makes one): the fields of that thing, but for what tells it from others. Nothing where a path names none.
 */
export function compileCopied(spec: Spec, endpoint: Endpoint, model: RowModel): CopiedFrom | undefined {
  // A word that gathers acts (`/actions/replicate`) says nothing of what is copied.
  const segments = plainPath(endpoint.path)
    .replace(/\/actions(?=\/[^/]+$)/, '')
    .split('/');
  const last = segments.lastIndexOf('{}');
  const isCalled = last === segments.length - 2 && copying.test(segments.at(-1) ?? '');
  if (last < 1 || !(isCalled || last === segments.length - 1)) return undefined;
  const [copied, whole] = [segments.slice(0, last + 1).join('/'), endpoint.path.replace(/[?#].*$/, '').split('/')];
  const isOfOne = entriesOf(spec.endpoints.all).some(([, { does, path }]) => {
    const effect = statedValue(does);
    return effect?.verb === 'read' && effect.resource === model.name && plainPath(path) === copied;
  });
  const [, parameter] = /^\{(.+)\}$/.exec(whole[last] ?? '') ?? [];
  if (!isOfOne || parameter === undefined) return undefined;
  return (work, exchange) => {
    const row = work.rows.get(model.name, exchange.pathParams[parameter] ?? '');
    if (!row) return undefined;
    const { [model.identifier.field]: _own, ...fields } = model.parse(row);
    for (const { fields: names } of model.resource.unique) for (const name of names) delete fields[name];
    return fields;
  };
}

const copying = /^(?:cop(?:y|ies)|clones?|duplicates?|forks?|replicate)$/i;

/** A path whatever its parameters are called. */
function plainPath(path: string): string {
  return path.replace(/[?#].*$/, '').replaceAll(/\{[^{}]*\}/g, '{}');
}

/**
 * The idempotency key that is usual for an endpoint: of a POST in `Idempotency-Key` (the IETF's draft), which vendors' clients send where their documents do not name it, in a header whose description says that it is one,
 * in a member of the body, or in a parameter of the query, that is called so or said to be one.
 */
export function usualKeyOf(endpoint: Endpoint, samples: Samples): UsualKey | undefined {
  const { method, at, parameters, request } = endpoint;
  if (!writing.has(method)) return undefined;
  const header = entriesOf(parameters).find(([, one]) => one.in === 'header' && isKey(one.name, describedBy(one.shape)))?.[0];
  const body = statedValue(request);
  const members = body ? Object.entries(samples.membersOf(body)) : [];
  const member = members.find(([name, one]) => isToken(name, isPlainMap(one) ? samples.whole(one) : {}))?.[0];
  const asked = entriesOf(parameters).filter(([, one]) => one.in === 'query');
  const query = asked.find(([name, one]) => isToken(name, samples.whole(statedValue(one.shape) ?? {})))?.[0];
  if (method !== 'POST' && member === undefined && query === undefined) return undefined;
  return {
    at,
    header: header ?? 'Idempotency-Key',
    required: false,
    ...(member !== undefined && { member }),
    ...(query !== undefined && { query }),
  };
}

const writing: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** `idempotency_key`, `clientToken`; and `requestId`, of which it is said that the same request is done once. */
function isToken(name: string, { type, description }: Shape): boolean {
  if (type !== 'string') return false;
  if (/^(?:client_?)?(?:idempotency|idempotent)_?(?:key|token|id)?$|^client_?(?:request_?)?token$/i.test(name)) return true;
  const isCalledSo = /^(?:\w*_)?(?:client_?|creator_?)?request_?id$|token$|^caller_?reference$/i.test(name);
  return isCalledSo && typeof description === 'string' && saysOnce.test(description.slice(0, 2000));
}

const saysOnce =
  /idempoten|ignore the request if it has|safely retry|retry (?:the|your) request|duplicate request|same (?:operation|request) (?:twice|more than)/i;

/** `Idempotency-Key`, `Acme-Idempotency-Token`; and `Acme-Request-Id` of which it is said that its keys are stored, or that it makes requests idempotent. */
function isKey(name: string, description: string): boolean {
  return (
    /idempoten/i.test(name) ||
    (/request-?id$/i.test(name) && /idempoten|\b(?:stores?|remembers?) (?:the )?keys?\b/i.test(description))
  );
}

function describedBy(shape: Parameters<typeof statedValue>[0]): string {
  const stated = statedValue(shape) as { readonly description?: unknown } | undefined;
  return typeof stated?.description === 'string' ? stated.description.slice(0, 2000) : '';
}
