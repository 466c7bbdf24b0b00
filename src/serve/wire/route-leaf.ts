import { newBare } from './bare.ts';
import { decodeFormText } from './percent.ts';
import { type Query, splitQuery } from './query.ts';
import type { FixedQuery } from './route-template.ts';

/** An endpoint to be found: its method, its path template as the document's key writes it, and what stands for it. */
export interface Route<T> {
  readonly method: string;
  readonly path: string;
  readonly value: T;
}

/**
 * What a request's method and path come to. `params` are decoded texts by name, without a prototype; `raw` holds them
 * as they were sent, only where something in the path was encoded. `allow` lists the path's methods, HEAD with GET.
 */
export type Found<T> =
  | { readonly kind: 'found'; readonly value: T; readonly params: Params; readonly raw: Params | undefined }
  | { readonly kind: 'method'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown' };

export type Params = Readonly<Record<string, string>>;

export const unknown = Object.freeze({ kind: 'unknown' } as const);

interface Operation<T> {
  readonly value: T;
  readonly names: readonly string[];
  readonly fixed: readonly FixedQuery[];
}

/** All operations on one real path, by method. */
export class Leaf<T> {
  readonly methods = new Map<string, Operation<T>[]>();
  /** Whether every operation here wants a query, so that the path alone reaches none. */
  private onlyFixed = true;

  add(route: Route<T>, names: readonly string[], fixed: readonly FixedQuery[]): void {
    const operations = this.methods.get(route.method) ?? [];
    operations.push({ value: route.value, names, fixed });
    operations.sort((a, b) => b.fixed.length - a.fixed.length);
    this.methods.set(route.method, operations);
    if (fixed.length === 0) this.onlyFixed = false;
  }

  applies(query: LazyQuery): boolean {
    return !this.onlyFixed || [...this.methods.keys()].some((method) => this.choose(method, query) !== undefined);
  }

  answer(method: string, query: LazyQuery, values: readonly string[], sent: readonly string[] | undefined): Found<T> {
    const operation = this.choose(method, query) ?? (method === 'HEAD' ? this.choose('GET', query) : undefined);
    if (operation === undefined) return this.refuse(method, query);
    const params = named(operation.names, values);
    const raw = sent === undefined ? undefined : named(operation.names, sent);
    return { kind: 'found', value: operation.value, params, raw };
  }

  private choose(method: string, query: LazyQuery): Operation<T> | undefined {
    const operations = this.methods.get(method);
    if (operations === undefined) return undefined;
    for (const operation of operations) {
      if (operation.fixed.length === 0 || operation.fixed.every((pair) => query.holds(pair))) return operation;
    }
    return undefined;
  }

  private refuse(method: string, query: LazyQuery): Found<T> {
    if (this.methods.has(method)) return unknown;
    const allow = [...this.methods.keys()].filter((one) => this.choose(one, query) !== undefined);
    if (allow.includes('GET') && !allow.includes('HEAD')) allow.push('HEAD');
    return { kind: 'method', allow };
  }
}

/** A query that is split when an operation first asks for it. */
export class LazyQuery {
  private readonly raw: string;
  private split: Query | undefined;
  constructor(raw: string) {
    this.raw = raw;
  }

  holds(pair: FixedQuery): boolean {
    this.split ??= splitQuery(this.raw);
    const values = this.split.values.get(pair.name);
    if (values === undefined) return false;
    return pair.value === undefined || values.some((value) => decodeFormText(value) === pair.value);
  }
}

const noParams: Params = Object.freeze(newBare<string>());

function named(names: readonly string[], values: readonly string[]): Params {
  if (names.length === 0) return noParams;
  const params = newBare<string>();
  for (let i = 0; i < names.length; i++) params[names[i] ?? ''] = values[i] ?? '';
  return params;
}
