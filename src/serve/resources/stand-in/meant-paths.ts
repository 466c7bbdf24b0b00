/** What a path means that no endpoint or no identifier has. */

import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { basePaths } from '../../../parts/purpose.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Call } from '../../http/call.ts';
import { compileRoutes } from '../../http/route.ts';
import type { RowModel } from '../model.ts';
import type { AsRouted, RowToldBy } from '../stand-in.ts';
import { isVersion } from './version-words.ts';

/**
 * Compiles the reading of paths that no endpoint has: clients write a slash at the end, two in the middle, or another letter case, where their
 * vendors' servers take no notice of it, and none behind a base path; of paths below another of the addresses that a document states, and
 * below the stated one with another version in it. Found is the path that the document has instead.
 */
export function compileAsRouted(spec: Spec): AsRouted {
  const written = entriesOf(spec.endpoints.all).map(([, { method, path }]) => ({ method, path: plainPath(path), value: path }));
  const [base = '', ...others] = basePaths(spec.purpose);
  const otherBases = new Set(others.filter((one) => one !== base).map((one) => one.toLowerCase()));
  let router: ReturnType<typeof compileRoutes<string>> | undefined;
  return (call) => {
    const sent = call.path.split('/').filter((segment) => segment !== '');
    if (call.path.length > lengthMost || sent.length === 0) return undefined;
    router ??= compileRoutes(written.map((route) => ({ ...route, path: lowered(route.path) })));
    // What stands before it is the base path.
    // Where a document has the path `/`, the base path alone means it.
    for (let from = 0; from <= Math.min(sent.length, basesMost); from++) {
      const asked = `/${sent.slice(from).join('/')}`;
      const found = router.find(call.method, asked.toLowerCase(), call.query);
      if (found.kind !== 'found') continue;
      const below = sent.slice(0, from).map((segment) => `/${segment}`);
      const meant = `/${inCaseOf(found.value, sent.slice(from)).join('/')}`;
      // The addresses that are stated are those of one service.
      if (from > 0 && otherBases.has(below.join('').toLowerCase())) return { ...withBody(call), path: `${base}${meant}` };
      if (from > 0 && isBaseOfOtherVersion(below.join(''), base)) {
        const warnings = [...(call.warnings ?? []), `version ${below.filter(saysVersion).join(' ').slice(1)} is not stated`];
        return { ...withBody(call), path: `${base}${meant}`, warnings };
      }
      const path = `${below.join('')}${meant}`;
      // As it came it is none, behind the base path another one may be meant; and nothing is found beside the base path.
      if (path === call.path || !path.startsWith(`${base}/`)) continue;
      return { ...withBody(call), path, warnings: [...(call.warnings ?? []), `path ${call.path} is not stated`] };
    }
    return undefined;
  };
}

/** Whether a base path is the stated one but for the version that it names: the client is of another one. */
function isBaseOfOtherVersion(sent: string, stated: string): boolean {
  const [one, other] = [sent.toLowerCase().split('/'), stated.toLowerCase().split('/')];
  const differing = one.flatMap((segment, at) => (segment === other[at] ? [] : [[segment, other[at] ?? '']]));
  return one.length === other.length && differing.length === 1 && differing.flat().every(isVersion);
}

const saysVersion = (segment: string): boolean => isVersion(segment.slice(1));

const lengthMost = 4096;
/** How many segments a base path has at the most. */
const basesMost = 4;

/** A call without its prototype's members, which a copy would lose. */
function withBody(call: Call): Call {
  return {
    method: call.method,
    path: call.path,
    query: call.query,
    headers: call.headers,
    headerBytes: call.headerBytes,
    address: call.address,
    hasBody: call.hasBody,
    ...(call.isDirect && { isDirect: true }),
    ...(call.warnings && { warnings: call.warnings }),
    body: (bytesMax) => call.body(bytesMax),
    repeats: (name) => call.repeats?.(name) ?? false,
  };
}

/** A path without its query, its fragment and a slash at its end. */
function plainPath(path: string): string {
  return path
    .replace(/[?#].*$/, '')
    .replaceAll(/\/+/g, '/')
    .replace(/(?<=.)\/$/, '');
}

/** A template whose literal texts are in lower case. */
function lowered(template: string): string {
  return template.replaceAll(/\{[^{}]*\}|[^{}]+/g, (part) => (part.startsWith('{') ? part : part.toLowerCase()));
}

/** What was sent, with the segments of a template that have no parameter as the template has them. */
function inCaseOf(template: string, sent: readonly string[]): string[] {
  const segments = template
    .replace(/[?#].*$/, '')
    .split('/')
    .slice(1);
  return segments.map((segment, at) => (segment.includes('{') ? (sent[at] ?? '') : segment));
}

const lookedAtMost = 1000;

/**
 * Compiles how a thing is found by another field than its identifier: at `GET /releases/tags/{tag}`, where `/releases` is made or listed, by the field that is called
 * as the word or the parameter is (`tag`, `tag_name`). Nothing where a path is of another form, or no field is called so.
 */
export function compileToldBy(endpoint: Endpoint, model: RowModel, spec: Spec): RowToldBy | undefined {
  const [, place = '', word = '', parameter = ''] =
    /^(.+)\/([\w-]+)\/\{([^{}/]+)\}$/.exec(endpoint.path.replace(/[?#].*$/, '')) ?? [];
  if (place === '' || plain(place).endsWith('{}')) return undefined;
  const isPlace = entriesOf(spec.endpoints.all).some(([, { does, path }]) => {
    const effect = statedValue(does);
    return (
      (effect?.verb === 'create' || effect?.verb === 'list') && effect.resource === model.name && plain(path) === plain(place)
    );
  });
  if (!isPlace) return undefined;
  const words = [lettersOf(word.replace(/^(?:by|with)[-_]/i, '')).replace(/s$/, ''), lettersOf(parameter)];
  const names = new Set(words.flatMap((one) => [one, `${one}name`]));
  const fields = [...model.fields.keys()].filter((name) => name !== model.identifier.field && names.has(lettersOf(name)));
  const [field] = fields;
  if (field === undefined || fields.length > 1) return undefined;
  return (rows, value) => {
    const isIt = (one: unknown) => (typeof one === 'string' || typeof one === 'number') && String(one) === value;
    return rows.scan(model.name, 0, lookedAtMost).find((row) => isIt(model.parse(row)[field]));
  };
}

const plain = (path: string): string => path.replace(/[?#].*$/, '').replaceAll(/\{[^{}]*\}/g, '{}');

const lettersOf = (name: string): string => name.replaceAll(/[^A-Za-z\d]/g, '').toLowerCase();
