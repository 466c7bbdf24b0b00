import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { identifierParameter, pathParameters } from '../../parts/payload.ts';
import { isOfWholePath, readerBelow } from '../../parts/whole-paths.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Work } from '../resources/act.ts';
import type { RowModel } from '../resources/model.ts';
import type { Engine } from './engine.ts';

/** A row that a path goes through, or ends in: its resource, the parameter that tells it, and how many steps of the path lead to it. */
export interface NamedRow {
  readonly model: RowModel;
  readonly parameter: string;
  readonly depth: number;
  readonly isLast: boolean;
  /** Its identifier, where that is made of more of the path than its last parameter. */
  readonly whole?: (work: Work, pathParams: Exchange['pathParams']) => string | undefined;
}

/** The row that a path goes through: that of the longest path at which a row is read. */
export function rowNamed({ path }: Endpoint, { models, compilation }: Engine): NamedRow | undefined {
  let best: NamedRow | undefined;
  for (const [, reader] of entriesOf(compilation.spec.endpoints.all)) {
    const effect = statedValue(reader.does);
    const model = effect?.verb === 'read' ? models.get(effect.resource) : undefined;
    const depth = model ? depthWithin(pathOfOne(reader), path) : 0;
    if (!model || depth === 0 || depth <= (best?.depth ?? 0)) continue;
    const parameters = pathParameters(stepsOf(path).slice(0, depth).join('/'));
    const parameter = parameters.at(-1);
    if (parameter === undefined) continue;
    const whole = wholeOf(reader, parameters, compilation);
    best = { model, parameter, depth, isLast: depth === stepsOf(path).length, ...(whole && { whole }) };
  }
  return best;
}

/** Whether others are made below the rows that a path goes through: an account holds what is made in it, a job nothing. */
export function holdsOthers({ path }: Endpoint, { depth, model }: NamedRow, { compilation }: Engine): boolean {
  const holder = stepsOf(path).slice(0, depth).join('/');
  return entriesOf(compilation.spec.endpoints.all).some(([, { does, path: other }]) => {
    const effect = statedValue(does);
    const isMaking = effect?.verb === 'create' || effect?.verb === 'upsert';
    return isMaking && effect.resource !== model.name && depthWithin(holder, other) > 0;
  });
}

/** The identifier that an endpoint which reads one makes of its path, of another path that begins so; its parameters may be called otherwise there. */
function wholeOf(reader: Endpoint, parameters: readonly string[], compilation: Engine['compilation']): NamedRow['whole'] {
  if (!reader.identity) return undefined;
  const identity = compilation.expression(reader.identity, reader.operation);
  const own = pathParameters(reader.path);
  return (work, pathParams) => {
    const params = Object.fromEntries(own.map((name, at) => [name, pathParams[parameters[at] ?? ''] ?? '']));
    const value = identity({ ...work.scope, params });
    return typeof value === 'string' ? value : undefined;
  };
}

/** Where a row that an act shows is, if such rows are told by a whole path: its identifier, and the name that ends it. */
export type PlacedResult = (work: Work, pathParams: Exchange['pathParams'], name: string) => string | undefined;

/** Compiles the place of what an act shows below what its path names: `/configs/{config}:start` that shows a run of `/configs/{config}/runs/{run}`; nothing where no path tells it so. */
export function placedResult(endpoint: Endpoint, shown: RowModel | undefined, { compilation }: Engine): PlacedResult | undefined {
  const found = shown && readerBelow(compilation.spec, endpoint, shown.name);
  const place = found && wholeOf(found.reader, pathParameters(found.reader.path), compilation);
  return place && ((work, pathParams, name) => place(work, { ...pathParams, [found.last]: name }));
}

/** The path of the one thing that an endpoint reads, without a word behind it such as that of `/pets/{id}/json`; nothing where its path names none. */
function pathOfOne(reader: Endpoint): string | undefined {
  const parameter = isOfWholePath(reader) ? pathParameters(reader.path).at(-1) : identifierParameter(reader);
  if (parameter === undefined) return undefined;
  const end = reader.path.lastIndexOf(`{${parameter}}`);
  return end < 0 ? reader.path : reader.path.slice(0, end + parameter.length + 2);
}

/** How many steps of a path another one is, whatever its parameters are called; 0 where it is none of its beginnings. */
function depthWithin(inner: string | undefined, path: string): number {
  if (inner === undefined) return 0;
  const [short, long] = [stepsOf(inner), stepsOf(path)];
  const isBeginning = short.every((step, at) => step === long[at] || (isParameter(step) && isParameter(long[at] ?? '')));
  return isBeginning ? short.length : 0;
}

/** The segments of a path; what is asked of a thing behind a colon (`{id}:cancel`) is a step of its own. */
function stepsOf(path: string): string[] {
  return path
    .replace(/[?#].*$/, '')
    .replace(/\}:(?=\w+$)/, '}/')
    .split('/');
}

function isParameter(step: string): boolean {
  return /^\{[^{}]+\}$/.test(step);
}
