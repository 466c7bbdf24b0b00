import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { keyParameters } from '../../parts/path-keys.ts';
import { identifierParameter } from '../../parts/payload.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { TrialRow } from '../exchange/row.ts';
import type { Done } from '../exchange/step.ts';
import { Captured, type Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import { rowIn, rowPlace } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { bareMap } from '../values/at-path.ts';
import { knownThrough } from './path-keys.ts';
import { noteRow } from './seen.ts';

/** The row that a creation has made: what its answer shows of it, and what was sent to have it. @throws {Untestable} where it cannot be named. */
export function rowMade(
  session: Session,
  made: {
    readonly resource: string;
    readonly endpoint: Endpoint;
    readonly done: Done<TrialExchange>;
    readonly caller: TrialCaller | undefined;
    readonly path: Readonly<Record<string, Symbolic>>;
    readonly json: Symbolic | undefined;
    readonly parents: Readonly<Record<string, TrialRow>>;
  },
): TrialRow {
  const { resource, endpoint, done, caller, path, json, parents } = made;
  const { model } = session;
  const fields = rowIn(done.value);
  const place = rowPlace(endpoint, resource, done.value.status) ?? [];
  const identifier = statedValue(model.resource(resource)?.identifier);
  const field = identifier?.field ?? 'id';
  const last = identifierParameter(endpoint);
  const isShown = fields?.[field] !== undefined;
  // What is sent names the row only where it is for the caller to say.
  const isChosen = identifier?.generate === 'client' && typeof json === 'object' && json !== null && Object.hasOwn(json, field);
  const sent = isChosen ? (json as Readonly<Record<string, Symbolic>>)[field] : undefined;
  const inPath = last === undefined ? undefined : path[last];
  const id = isShown ? session.captured(done, ...place, field) : (inPath ?? sent);
  if (id === undefined)
    throw new Untestable(`the answer to ${endpoint.key} shows no ${field}, so that what it made cannot be named`);
  // Of a path that names rows by keys, only what is no key of theirs is the row's own.
  const keys = keyParameters(endpoint);
  const owned = Object.entries(path).filter(([name]) => !keys.has(name));
  const known: Record<string, Symbolic> = bareMap({ ...Object.fromEntries(owned), ...knownThrough(parents) });
  const stated = model.resource(resource);
  for (const [name, value] of Object.entries(fields ?? {})) {
    const target = isMap(value) && stated ? entryOf(stated.fields, name)?.ref : undefined;
    // An expanded reference is named by the identifier in it.
    const pointer = [...place, name, ...(target === undefined ? [] : [model.identifierField(target)])];
    known[name] = new Captured(done.step, { in: 'body', pointer });
  }
  const row: TrialRow = { resource, id, known, made: done, caller, shown: fields ? done : undefined, fields };
  noteRow(session, row);
  return row;
}

/** The row that an answer to a creation shows. @throws {Untestable} where it shows no identifier. */
export function rowFrom(session: Session, resource: string, endpoint: Endpoint, made: Done<TrialExchange>): TrialRow {
  const field = statedValue(session.model.resource(resource)?.identifier)?.field ?? 'id';
  const fields = rowIn(made.value);
  const place = rowPlace(endpoint, resource, made.value.status) ?? [];
  if (fields?.[field] === undefined)
    throw new Untestable(`the answer to ${endpoint.key} shows no ${field}, so that what it made cannot be named`);
  const known: Record<string, Symbolic> = bareMap(made.value.sent.path);
  for (const name of Object.keys(fields)) known[name] = new Captured(made.step, { in: 'body', pointer: [...place, name] });
  return { resource, id: session.captured(made, ...place, field), known, made, caller: made.value.caller, shown: made, fields };
}
