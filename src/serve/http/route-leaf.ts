import { Bare } from './json.ts';
import type { Headers } from './parameters.ts';
import { decodeFormText, type FixedQuery, splitQuery, type TargetQuery } from './target.ts';

/** The operations on one real path, and which of them a request means. */

/** An endpoint to be found: its method, its path template as the document's key writes it, and what stands for it. */
export interface Route<T> {
  readonly method: string;
  readonly path: string;
  readonly value: T;
  /** What the fragment of its key says of its parameters. */
  readonly told?: readonly ToldParameter[];
}

/** A parameter of which a key's fragment says that it is sent, and as what: `/#Action=CreateTopic`, `/channels#scope=mine&app`. */
export interface ToldParameter extends FixedQuery {
  readonly in: 'query' | 'header';
}

/**
 * What a request's method and path come to. `params` are decoded texts by name, without a prototype; `raw` holds them
 * as they were sent, only where something in the path was encoded. `allow` lists the path's methods, HEAD with GET.
 */
export type RouteMatch<T> =
  | { readonly kind: 'found'; readonly value: T; readonly params: Params; readonly raw: Params | undefined }
  | { readonly kind: 'method'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown' };

type Params = Readonly<Record<string, string>>;

export const unknown = Object.freeze({ kind: 'unknown' } as const);

interface Operation<T> {
  readonly value: T;
  readonly names: readonly string[];
  readonly fixed: readonly FixedQuery[];
  readonly told: readonly ToldParameter[];
}

/** All operations on one real path, by method. */
export class Leaf<T> {
  readonly methods = new Map<string, Operation<T>[]>();
  /** The methods whose operations are told apart by their keys' fragments. */
  private readonly toldApart = new Set<string>();
  /** Whether every operation here wants a query, so that the path alone reaches none. */
  private onlyFixed = true;

  add(route: Route<T>, names: readonly string[], fixed: readonly FixedQuery[]): void {
    const operations = this.methods.get(route.method) ?? [];
    // Header fields are folded once, and not for each request.
    const told = (route.told ?? []).map((one) => (one.in === 'header' ? { ...one, name: one.name.toLowerCase() } : one));
    operations.push({ value: route.value, names, fixed, told });
    if (told.length > 0) this.toldApart.add(route.method);
    operations.sort((a, b) => b.fixed.length - a.fixed.length);
    this.methods.set(route.method, operations);
    if (fixed.length === 0) this.onlyFixed = false;
  }

  applies(query: LazyQuery): boolean {
    return !this.onlyFixed || [...this.methods.keys()].some((method) => this.choose(method, query) !== undefined);
  }

  answer(method: string, query: LazyQuery, values: readonly string[], sent: readonly string[] | undefined): RouteMatch<T> {
    const operation = this.choose(method, query) ?? (method === 'HEAD' ? this.choose('GET', query) : undefined);
    if (operation === undefined) return this.refuse(method, query);
    const params = named(operation.names, values);
    const raw = sent === undefined ? undefined : named(operation.names, sent);
    return { kind: 'found', value: operation.value, params, raw };
  }

  private choose(method: string, query: LazyQuery): Operation<T> | undefined {
    const operations = this.methods.get(method);
    if (operations === undefined) return undefined;
    if (operations.length > 1 && this.toldApart.has(method)) return chooseTold(operations, query);
    for (const operation of operations) {
      if (operation.fixed.length === 0 || operation.fixed.every((pair) => query.holds(pair))) return operation;
    }
    return undefined;
  }

  private refuse(method: string, query: LazyQuery): RouteMatch<T> {
    if (this.methods.has(method)) return unknown;
    const allow = [...this.methods.keys()].filter((one) => this.choose(one, query) !== undefined);
    if (allow.includes('GET') && !allow.includes('HEAD')) allow.push('HEAD');
    return { kind: 'method', allow };
  }
}

/** The operation that fixes most, then that of which most is as its fragment says, then that of which least is left out; one that says another value is none of them. */
function chooseTold<T>(operations: readonly Operation<T>[], query: LazyQuery): Operation<T> | undefined {
  const open = operations.filter(({ fixed }) => fixed.every((pair) => query.holds(pair)));
  let best: Operation<T> | undefined;
  let most = -1;
  for (const operation of open) {
    if (operation.told.some((one) => one.value !== undefined && !query.tells(one))) continue;
    const held = operation.told.filter((one) => query.tells(one)).length;
    const rank = operation.fixed.length * 10_000 + held * 100 - (operation.told.length - held);
    if (best !== undefined && rank <= most) continue;
    best = operation;
    most = rank;
  }
  return best ?? open[0];
}

/** A query that is split when an operation first asks for it, and the header fields beside it. */
export class LazyQuery {
  private readonly raw: string;
  private readonly headers: Headers | undefined;
  private split: TargetQuery | undefined;
  constructor(raw: string, headers: Headers | undefined) {
    this.raw = raw;
    this.headers = headers;
  }

  tells(told: ToldParameter): boolean {
    if (told.in === 'query') return this.holds(told);
    const sent = this.headers?.[told.name];
    return sent !== undefined && (told.value === undefined || sent === told.value);
  }

  holds(pair: FixedQuery): boolean {
    this.split ??= splitQuery(this.raw);
    const values = this.split.values.get(pair.name);
    if (values === undefined) return false;
    return pair.value === undefined || values.some((value) => decodeFormText(value) === pair.value);
  }
}

const noParams: Params = Object.freeze(new Bare<string>());

function named(names: readonly string[], values: readonly string[]): Params {
  if (names.length === 0) return noParams;
  const params = new Bare<string>();
  for (let i = 0; i < names.length; i++) params[names[i] ?? ''] = values[i] ?? '';
  return params;
}
