import { evaluate } from '@marcbachmann/cel-js';
import type { JsonMap } from '../../src/document/document.ts';
import type { Spec } from '../../src/index.ts';
import type { Permission } from '../../src/parts/authentication.ts';
import type { Endpoint } from '../../src/parts/endpoints.ts';
import type { Caller } from '../../src/serve/exchange/exchange.ts';

/** What the permissions of a document say of one request: worked out from section 5 of the language, and not by the service's own code. */
export type Verdict =
  | 'allowed'
  | 'caller.unknown'
  | 'caller.forbidden'
  | 'resource.missing'
  | 'reference.missing'
  | { readonly code: string };

/** A request, with the rows that are there. */
export interface Asked {
  readonly spec: Spec;
  readonly rows: Readonly<Record<string, readonly JsonMap[]>>;
  readonly caller: Caller | undefined;
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string>>;
  readonly body: JsonMap | undefined;
}

export function verdictOf(asked: Asked): Verdict {
  const { spec, caller, endpoint } = asked;
  if (names(spec.authentication.public, endpoint)) return 'allowed';
  const rules = permissionsOf(spec).filter((rule) => names(rule.allow, endpoint));
  if (!caller && !rules.some(({ to }) => to === 'anyone')) return 'caller.unknown';
  const granted = rules.filter((rule) => concerns(rule, caller));
  if (granted.length === 0) return 'caller.forbidden';
  const row = rowOf(asked);
  if (row === 'missing' || !parentsReadable(asked)) return 'resource.missing';
  // A list is not refused: it shows the rows for which a rule holds.
  if (verbOf(endpoint) === 'list') return 'allowed';
  const early = granted.filter((rule) => !isLate(rule));
  if (early.some((rule) => holds(rule, asked, row))) return unreadableReference(asked) ? 'reference.missing' : 'allowed';
  if (early.length < granted.length && row && !isReadable(asked, resourceOf(endpoint), row)) return 'resource.missing';
  if (early.length < granted.length && unreadableReference(asked)) return 'reference.missing';
  if (granted.some((rule) => isLate(rule) && holds(rule, asked, row))) return 'allowed';
  const own = granted.find((rule) => rule.else !== undefined)?.else;
  if (own !== undefined) return { code: own };
  return row && !isReadable(asked, resourceOf(endpoint), row) ? 'resource.missing' : 'caller.forbidden';
}

/** The rows that a list shows, by what its path and its rules say. */
export function shownRows(asked: Asked): readonly JsonMap[] {
  const { spec, endpoint, caller, params } = asked;
  const rules = permissionsOf(spec).filter((rule) => names(rule.allow, endpoint) && concerns(rule, caller));
  const isPublic = names(spec.authentication.public, endpoint);
  return (asked.rows[resourceOf(endpoint)] ?? [])
    .filter((row) => pathNames(endpoint).every((name) => String(row[name]) === params[name]))
    .filter((row) => isPublic || rules.some((rule) => holds(rule, asked, row)));
}

function permissionsOf({ authentication }: Spec): readonly Permission[] {
  return 'value' in authentication.permissions ? authentication.permissions.value : [];
}

function names(list: readonly string[], endpoint: Endpoint): boolean {
  return list.includes(endpoint.operation) || list.includes(`all ${resourceOf(endpoint)}`);
}

function concerns({ to, scopes }: Permission, caller: Caller | undefined): boolean {
  const isFor = to === 'anyone' || (caller !== undefined && to.includes(caller.user));
  return isFor && scopes.every((scope) => caller?.scopes.includes(scope));
}

function isLate({ if: condition }: Permission): boolean {
  return /\b(?:next|request)\./.test(condition?.source ?? '');
}

function holds({ if: condition }: Permission, asked: Asked, row: JsonMap | undefined): boolean {
  if (!condition) return true;
  const { caller, params, body } = asked;
  const resource = row && followed(asked, row, condition.source);
  try {
    return evaluate(condition.source, { caller, params, request: body, next: { ...row, ...body }, resource }) === true;
  } catch {
    return false;
  }
}

/** A row in which the references that a condition goes on through are what they refer to. */
function followed(asked: Asked, row: JsonMap, source: string): JsonMap {
  const through = [...source.matchAll(/resource\.(\w+)\./g)].map(([, name]) => name as string);
  const entries = through.map((name) => [name, rowBy(asked, name, String(row[name]))] as const);
  return { ...row, ...(Object.fromEntries(entries) as JsonMap) };
}

function verbOf({ does }: Endpoint): string {
  return 'value' in does ? does.value.verb : '';
}

function resourceOf({ does }: Endpoint): string {
  return 'value' in does && 'resource' in does.value ? does.value.resource : '';
}

/** The row that a request is about; nothing where it is about none, or is to make one. */
function rowOf(asked: Asked): JsonMap | undefined | 'missing' {
  const { endpoint, params, caller } = asked;
  if (!['read', 'update', 'replace', 'upsert', 'delete', 'transition'].includes(verbOf(endpoint))) return undefined;
  const last = allPathNames(endpoint).at(-1);
  const id = endpoint.identity ? caller?.id : last && params[last];
  return rowBy(asked, resourceOf(endpoint), id ?? '') ?? (verbOf(endpoint) === 'upsert' ? undefined : 'missing');
}

function rowBy({ spec, rows }: Asked, resource: string, id: string): JsonMap | undefined {
  const field = identifierOf(spec, resource);
  return rows[resource]?.find((row) => String(row[field]) === id);
}

function identifierOf({ resources }: Spec, resource: string): string {
  const stated = 'value' in resources.all ? resources.all.value[resource]?.identifier : undefined;
  return stated && 'value' in stated ? stated.value.field : 'id';
}

function allPathNames({ path }: Endpoint): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
}

/** The path's parameters but for the identifier, where they name a field. */
function pathNames(endpoint: Endpoint): string[] {
  const all = allPathNames(endpoint);
  return ['create', 'list'].includes(verbOf(endpoint)) ? all : all.slice(0, -1);
}

function refsOf({ resources }: Spec, resource: string): Readonly<Record<string, string>> {
  const fields = 'value' in resources.all ? resources.all.value[resource]?.fields : undefined;
  const entries = fields && 'value' in fields ? Object.entries(fields.value) : [];
  return Object.fromEntries(entries.flatMap(([name, { ref }]) => (ref === undefined ? [] : [[name, ref]])));
}

function parentsReadable(asked: Asked): boolean {
  const refs = refsOf(asked.spec, resourceOf(asked.endpoint));
  return pathNames(asked.endpoint).every((name) => {
    const target = refs[name];
    const parent = target === undefined ? undefined : rowBy(asked, target, asked.params[name] ?? '');
    return target === undefined || (parent !== undefined && isReadable(asked, target, parent));
  });
}

function unreadableReference(asked: Asked): boolean {
  const { endpoint, body } = asked;
  if (!body || !['create', 'upsert', 'update', 'replace'].includes(verbOf(endpoint))) return false;
  const refs = refsOf(asked.spec, resourceOf(endpoint));
  return Object.entries(refs).some(([name, target]) => {
    const found = body[name] === undefined ? undefined : rowBy(asked, target, String(body[name]));
    return body[name] !== undefined && (!found || !isReadable(asked, target, found));
  });
}

/** May read = a read rule holds; for a resource with no read operation, a list rule. */
function isReadable(asked: Asked, resource: string, row: JsonMap): boolean {
  const { spec, caller } = asked;
  const endpoints = 'value' in spec.endpoints.all ? Object.values(spec.endpoints.all.value) : [];
  const of = (verb: string) => endpoints.filter((one) => verbOf(one) === verb && resourceOf(one) === resource);
  const shows = of('read').length > 0 ? of('read') : of('list');
  return shows.some((endpoint) => {
    if (endpoint.identity && String(row[identifierOf(spec, resource)]) !== caller?.id) return false;
    if (names(spec.authentication.public, endpoint)) return true;
    const rules = permissionsOf(spec).filter((rule) => names(rule.allow, endpoint) && concerns(rule, caller));
    return rules.some((rule) => holds(rule, asked, row));
  });
}
