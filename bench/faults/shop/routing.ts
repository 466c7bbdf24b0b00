/** Which route a request means. */
import { type Answer, Refusal, type Route } from './exchange.ts';
import type { Shop } from './shop.ts';

export interface Entry {
  readonly route: Route;
  readonly steps: readonly string[];
}

export type Table = readonly Entry[];

export function tableOf(routes: readonly Route[]): Table {
  return routes.map((route) => ({ route, steps: route.path.split('/').slice(1) }));
}

export type Matched = { readonly route: Route; readonly path: Record<string, string> } | { readonly answered: Answer };

/** The route of a method and a path, or why there is none. */
export function matched(table: Table, method: string, path: string, { faults }: Shop): Matched {
  const steps = path.split('/').slice(1).map(decoded);
  if (faults.has('slash-at-the-end') && steps.at(-1) === '') steps.pop();
  const fitting = table.flatMap(({ route, steps: stated }) => {
    const bound = bind(stated, steps);
    return bound ? [{ route, path: bound }] : [];
  });
  if (fitting.length === 0) {
    if (faults.has('unknown-path-answered')) return { answered: { status: 200, body: { name: 'Corner Shop' } } };
    throw unrouted('not_found');
  }
  const wanted = method === 'HEAD' ? 'GET' : method;
  const meant =
    faults.has('put-is-patch') && method === 'PUT' && !fitting.some(({ route }) => route.method === 'PUT') ? 'PATCH' : wanted;
  const found = fitting.find(({ route }) => route.method === meant);
  if (found) return found;
  const methods = fitting.map(({ route }) => route.method);
  const Allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  if (method === 'OPTIONS') return { answered: { status: 204, headers: { Allow } } };
  throw unrouted(faults.has('method-is-not-found') ? 'not_found' : 'method_not_allowed', { Allow });
}

/** A refusal of a request that reaches no route. */
export function unrouted(code: string, headers: Readonly<Record<string, string>> = {}): Refusal {
  const refusal = new Refusal(code, [], headers);
  refusal.isUnrouted = true;
  return refusal;
}

function bind(stated: readonly string[], steps: readonly string[]): Record<string, string> | undefined {
  if (stated.length !== steps.length) return undefined;
  const path: Record<string, string> = {};
  for (const [index, word] of stated.entries()) {
    const step = steps[index]!;
    if (word.startsWith('{')) {
      if (step === '') return undefined;
      path[word.slice(1, -1)] = step;
    } else if (word !== step) return undefined;
  }
  return path;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
