import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { nearest } from '../../document/nearest.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { callableOperations } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { BeforeHandlers, Handler, Handlers } from '../../serve/operations/handlers.ts';
import { Misuse } from '../verb.ts';

/** The user's own code out of one module. */
export interface OwnCode {
  readonly handlers: Handlers;
  readonly before: BeforeHandlers;
}

/**
 * Loads a module of handlers: its exports `handlers` and `before`, or, where it has neither, each function that it exports under
 * a handler's name. Loaded again, the module is read anew; what it imports is not.
 * @throws {Misuse} where it cannot be loaded, or has something that the document does not.
 */
export async function loadHandlers(path: string, spec: Spec, reading = 0): Promise<OwnCode> {
  const exported = await load(path, reading);
  const named = handlerNames(spec);
  if (exported.handlers === undefined && exported.before === undefined)
    return { handlers: functionsAmong(exported, named, path), before: {} };
  const handlers = functionsOf(exported.handlers, 'handlers', path);
  const before = functionsOf(exported.before, 'before', path);
  refuseUnknown(path, 'a handler', Object.keys(handlers), named, 'handler');
  refuseUnknown(path, 'code before', Object.keys(before), operationNames(spec), 'operation');
  return { handlers, before };
}

async function load(path: string, reading: number): Promise<Readonly<Record<string, unknown>>> {
  const url = pathToFileURL(resolve(path));
  if (reading > 0) url.search = `reading=${reading}`;
  try {
    return await import(url.href);
  } catch (error) {
    const isMissing = error instanceof Error && 'url' in error && error.url === url.href;
    const isThere = !(isMissing && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND');
    const told = isThere ? `could not be loaded:\n${inspect(error)}` : 'cannot be read: there is no such file.';
    throw new Misuse(`${path} ${told}`, { cause: error });
  }
}

/** Without a list of handlers, whatever bears a handler's name is one, and other exports are the module's own business. */
function functionsAmong(exported: Readonly<Record<string, unknown>>, named: readonly string[], path: string): Handlers {
  const handlers: Record<string, Handler> = Object.create(null);
  for (const name of named) {
    const value = exported[name];
    if (isHandler(value)) handlers[name] = value;
  }
  if (Object.keys(handlers).length > 0) return handlers;
  // Node gives a module that exports nothing these two.
  const names = Object.keys(exported).filter((name) => name !== 'default' && name !== 'module.exports');
  const has = names.length === 0 ? 'exports nothing by name' : `exports ${names.join(', ')}`;
  const wanted = named.length === 0 ? 'the document has no handlers' : `the document's handlers are ${named.join(', ')}`;
  throw new Misuse(
    `${path} ${has}, and ${wanted}. Write \`export const handlers = { … }\`, \`export const before = { … }\` or a function of a handler's name.`,
  );
}

function functionsOf(value: unknown, name: string, path: string): Handlers {
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null) throw new Misuse(`${path}: its export \`${name}\` is no object of functions.`);
  const functions: Record<string, Handler> = Object.create(null);
  for (const [key, one] of Object.entries(value)) {
    if (!isHandler(one)) throw new Misuse(`${path}: \`${key}\` in its export \`${name}\` is no function.`);
    functions[key] = one;
  }
  return functions;
}

// What a function takes and gives is only known when it runs; serving validates both.
function isHandler(value: unknown): value is Handler {
  return typeof value === 'function';
}

function refuseUnknown(path: string, what: string, given: readonly string[], known: readonly string[], kind: string): void {
  const unknown = given.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = nearest(unknown, known);
  const list = known.length === 0 ? `it has no ${kind}s.` : `its ${kind}s are ${known.join(', ')}.`;
  throw new Misuse(
    `${path} has ${what} \`${unknown}\`, which the document does not have${meant === undefined ? `: ${list}` : `. Did you mean \`${meant}\`?`}`,
  );
}

function handlerNames(spec: Spec): string[] {
  const names = entriesOf(spec.endpoints.all).flatMap(([, endpoint]) => {
    const effect = statedValue(endpoint.does);
    return effect?.verb === 'handler' ? [effect.name] : [];
  });
  return [...new Set(names)];
}

function operationNames(spec: Spec): string[] {
  return callableOperations(spec).flatMap(({ name, endpoint }) => (endpoint === undefined ? [] : [name]));
}
