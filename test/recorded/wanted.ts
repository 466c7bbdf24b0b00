import type { Chance } from '../../bench/drawn/chance.ts';
import type { Json, JsonMap } from '../../src/document/document.ts';
import type { Endpoint } from '../../src/parts/endpoints.ts';
import { paramsShape } from '../../src/parts/expressions/operation-scope.ts';
import { entriesOf, entryOf, statedValue } from '../../src/parts/fact.ts';
import { namesOperation, resourceOfEffect } from '../../src/parts/operations.ts';
import { identifierParameter, pathParameters, requestShape } from '../../src/parts/payload.ts';
import { type Ground, nothing } from '../../src/parts/samples/sampler.ts';
import { Samples } from '../../src/parts/samples/samples.ts';
import type { Spec } from '../../src/parts/spec.ts';
import { versionedPath } from '../../src/parts/versioning.ts';
import type { Caller } from '../../src/serve/exchange/exchange.ts';
import { editAt, edited, sitesOf } from './edits.ts';

/** A request as it goes out. */
export interface Wanted {
  readonly method: string;
  readonly target: string;
  readonly caller: Caller | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What is known of the rows that were made: their identifiers by resource, the last one last, and the last validator that was told. */
export interface Known {
  readonly rows: ReadonlyMap<string, readonly string[]>;
  /** Who made each row. */
  readonly makers: ReadonlyMap<string, Caller | undefined>;
  readonly tag: string | undefined;
  readonly next: string | undefined;
  /** Whether nothing is to be made wrong: rows have to be there first. */
  readonly isCareful: boolean;
}

/** Makes requests of a document: mostly right ones as far as the document tells, and a share of near misses. */
export class Wanting {
  readonly #spec: Spec;
  readonly #chance: Chance;
  readonly #samples: Samples;
  readonly #base: string;
  #made = 0;
  #isCareful = true;

  constructor(spec: Spec, chance: Chance) {
    this.#spec = spec;
    this.#chance = chance;
    this.#samples = new Samples(spec, { size: 'ordinary', isSent: true });
    this.#base = new URL(statedValue(spec.purpose.baseUrls)?.[0] ?? '/', 'http://a').pathname.replace(/\/$/, '');
  }

  of(endpoint: Endpoint, known: Known): Wanted {
    this.#made++;
    this.#isCareful = known.isCareful;
    if (known.next !== undefined && this.#isOneOf(2)) {
      return { method: 'GET', target: known.next, caller: this.#caller(endpoint), headers: {} };
    }
    const ground: Ground = {
      seed: `${this.#made} ${endpoint.operation}`,
      identifierOf: (resource) => this.#row(resource, known),
      sampled: () => {},
      isFull: this.#isOneOf(2),
    };
    const body = this.#body(endpoint, ground);
    const target = this.#target(endpoint, known, ground);
    const maker = this.#isMissed(3)
      ? undefined
      : known.makers.get(target.split(/[/?]/).findLast((part) => known.makers.has(part)) ?? '');
    return {
      method: this.#isMissed(25) ? this.#chance.one(['PUT', 'PATCH', 'OPTIONS', 'HEAD', 'DELETE', 'GET']) : endpoint.method,
      target,
      caller: this.#caller(endpoint, maker),
      headers: {
        ...this.#headers(endpoint, known, ground),
        ...(body !== undefined && { 'content-type': this.#typeOf(endpoint) }),
      },
      ...(body !== undefined && { body }),
    };
  }

  #isOneOf(many: number): boolean {
    return this.#chance.between(1, many) === 1;
  }

  /** Whether something is made wrong this time. */
  #isMissed(many: number): boolean {
    return this.#isOneOf(many) && !this.#isCareful;
  }

  #row(resource: string, { rows }: Known): string {
    const all = rows.get(resource) ?? [];
    if (all.length === 0 || this.#isMissed(12)) return `no-${resource}`;
    return this.#isOneOf(3) ? this.#chance.one(all) : all.at(-1)!;
  }

  /** Who made the row, or one whom the document lets, mostly; now and then another one, or nobody. */
  #caller(endpoint: Endpoint, maker?: Caller): Caller | undefined {
    const { permissions } = this.#spec.authentication;
    const resource = resourceOfEffect(statedValue(endpoint.does));
    const operation = { name: endpoint.operation, ...(resource !== undefined && { resource }), endpoint };
    const rules = (statedValue(permissions) ?? []).filter(({ allow }) => namesOperation(allow, operation));
    if (maker && rules.some(({ to }) => to === 'anyone' || to.includes(maker.user))) return maker;
    const rule = rules.length > 0 ? this.#chance.one(rules) : undefined;
    const users = entriesOf(this.#spec.purpose.users).map(([name]) => name);
    if (this.#isMissed(15) || users.length === 0) return undefined;
    const user = this.#chance.one(rule && rule.to !== 'anyone' && !this.#isMissed(10) ? rule.to : users);
    const attributes = Object.keys(this.#spec.authentication.attributes).map((name) => [
      name,
      `${name} ${this.#chance.between(1, 2)}`,
    ]);
    return {
      id: `${user}-${this.#isMissed(4) ? 2 : 1}`,
      user,
      scopes: this.#isMissed(8) ? [] : [...new Set((statedValue(permissions) ?? []).flatMap(({ scopes }) => scopes))],
      ...(attributes.length > 0 && { attributes: Object.fromEntries(attributes) }),
    } as Caller;
  }

  #target(endpoint: Endpoint, known: Known, ground: Ground): string {
    const shapes = this.#samples.membersOf(paramsShape(this.#spec, endpoint));
    const path = pathParameters(endpoint.path).reduce(
      (written, name) =>
        written.replace(`{${name}}`, encodeURIComponent(this.#inPath(endpoint, name, shapes[name], known, ground))),
      endpoint.path,
    );
    const asked = entriesOf(endpoint.parameters).flatMap(([name, one]) => {
      if (one.in !== 'query' || (!one.required && !this.#isMissed(3))) return [];
      const made = one.sorts && this.#isOneOf(2) ? nothing : this.#samples.of(shapes[name] ?? {}, name).make(ground, `/${name}`);
      const value = made === nothing ? 'word' : this.#nearly(made as Json);
      return [`${encodeURIComponent(name)}=${encodeURIComponent(Array.isArray(value) ? value.join(',') : String(value))}`];
    });
    const paged = /list/.test(statedValue(endpoint.does)?.verb ?? '') && this.#isOneOf(2) ? this.#page(endpoint) : [];
    const query = [...asked, ...paged, ...(this.#isMissed(20) ? ['stray=1'] : [])].join('&');
    return `${this.#base}${this.#version()}${path}${query === '' ? '' : `?${query}`}`;
  }

  /** What the path begins with where it says the version. */
  #version(): string {
    const selection = statedValue(this.#spec.versioning.select);
    const versions = entriesOf(this.#spec.versioning.versions).map(([name]) => name);
    if (selection?.by !== 'path' || versions.length === 0) return '';
    return versionedPath(selection.carrier, this.#isOneOf(3) ? this.#chance.one(versions) : versions.at(-1)!);
  }

  /** How many rows a page is to have. */
  #page(endpoint: Endpoint): string[] {
    const stated = statedValue(endpoint.pagination) ?? statedValue(this.#spec.limits.pagination);
    const words = Object.values((stated ?? {}) as JsonMap).filter((word) => typeof word === 'string');
    const size = words.find((word) => /size|limit|per|count|max/.test(word)) ?? 'limit';
    return [`${size}=${this.#chance.one(['1', '2', '2', '0', '3', '100000', 'x'])}`];
  }

  #inPath(endpoint: Endpoint, name: string, shape: Json | undefined, known: Known, ground: Ground): string {
    const resource = resourceOfEffect(statedValue(endpoint.does));
    const fields = entryOf(this.#spec.resources.all, resource ?? '')?.fields;
    const meant = name === identifierParameter(endpoint) ? resource : (entryOf(fields, name)?.ref ?? name);
    if (meant !== undefined && known.rows.has(meant)) return this.#row(meant, known);
    const made = this.#samples.of(shape ?? {}, name).make(ground, `/${name}`);
    return made === nothing ? 'x1' : String(made);
  }

  #body(endpoint: Endpoint, ground: Ground): string | undefined {
    const shape = statedValue(requestShape(this.#spec, endpoint));
    if (shape === undefined || endpoint.method === 'GET') return this.#isMissed(30) ? '{}' : undefined;
    const made = this.#samples.of(shape).make(ground, '');
    if (made === nothing || this.#isMissed(25)) return this.#chance.one(['', '{', '[]', 'null', '"word"', '{"a":1,"a":2}']);
    return JSON.stringify(this.#nearly(made as Json));
  }

  /** Most values as they are; one in five with something else in it. */
  #nearly(value: Json): Json {
    if (!this.#isMissed(5)) return value;
    if (typeof value !== 'object' || value === null) return this.#chance.one<Json>(['word', -1, `${value}x`, '', 1e9]);
    const sites = sitesOf(value);
    if (sites.length === 0) return value;
    return edited(value as JsonMap, [editAt(this.#chance.one(sites), sites, this.#chance)]);
  }

  #typeOf({ consumes }: Endpoint): string {
    if (this.#isMissed(20))
      return this.#chance.one(['text/plain', 'application/xml', 'application/json; charset=latin1', 'nonsense']);
    return consumes?.[0] ?? 'application/json';
  }

  #headers(endpoint: Endpoint, { tag }: Known, ground: Ground): Record<string, string> {
    const headers: Record<string, string> = {};
    const isChange = !['GET', 'HEAD'].includes(endpoint.method);
    if (isChange && (endpoint.ifMatch === 'required' ? !this.#isMissed(8) : this.#isMissed(4))) {
      headers['if-match'] = this.#isMissed(3) ? this.#chance.one(['"other"', '*', 'nonsense']) : (tag ?? '*');
    }
    if (!isChange && tag !== undefined && this.#isOneOf(4)) headers['if-none-match'] = this.#chance.one([tag, '*', '"other"']);
    if (endpoint.idempotency && !this.#isOneOf(3)) {
      headers[endpoint.idempotency.header] = this.#isMissed(3) ? 'key again' : `key ${this.#made}`;
    }
    if (this.#isMissed(12))
      headers.accept = this.#chance.one(['text/html', 'application/*;q=0.5', '*/*', 'application/problem+json']);
    for (const [name, one] of entriesOf(endpoint.parameters)) {
      if (one.in !== 'header' || (!one.required && !this.#isOneOf(2))) continue;
      const made = this.#samples.of(statedValue(one.shape) ?? {}, name).make(ground, `/${name}`);
      headers[name] = encodeURIComponent(String(made === nothing ? 'x' : made));
    }
    const selection = statedValue(this.#spec.versioning.select);
    if (selection?.by === 'header' && this.#isOneOf(3)) {
      const versions = entriesOf(this.#spec.versioning.versions).map(([name]) => name);
      headers[selection.carrier] = this.#isMissed(4) ? 'no-version' : this.#chance.one(versions);
    }
    return headers;
  }
}
