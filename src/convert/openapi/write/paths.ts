import type { Json, JsonMap } from '../../../document/document.ts';
import { newMap, type OpenMap } from '../../../document/values.ts';
import { pullOf } from '../../../parts/events.ts';
import { callableOperations, type Operation } from '../../../parts/operations.ts';
import { pathParameters } from '../../../parts/payload.ts';
import { isPlainMap } from '../../../parts/source.ts';
import { followsKey, prefix } from '../own/words.ts';
import { pullOperation } from './events.ts';
import { operationObject } from './operations.ts';
import { type RefusalBody, refusalResponses } from './refusals.ts';
import { securityOf } from './security.ts';
import { type ExportWriting, present } from './writing.ts';

/** The methods that OpenAPI has a word for. */
const methods: ReadonlySet<string> = new Set('get put post delete options head patch trace'.split(' '));

/** Every endpoint under its path, in the order of the document, and the stream of events. */
export function pathsOf(writing: ExportWriting, payload: RefusalBody, usual: Json | undefined): JsonMap {
  const paths: Record<string, OpenMap> = newMap() as Record<string, OpenMap>;
  const templates = new Map<string, string>();
  for (const operation of callableOperations(writing.spec)) {
    const { endpoint } = operation;
    if (!endpoint) continue;
    const path = endpoint.path.startsWith('/') ? endpoint.path : `/${endpoint.path}`;
    // Two templates that differ in the names of their parameters alone are one path of OpenAPI.
    const key = templates.get(path.replace(/\{[^{}]*\}/g, '{}')) ?? path;
    templates.set(path.replace(/\{[^{}]*\}/g, '{}'), key);
    const written = operationObject(operation, endpoint, writing, payload, usual);
    place(paths, key, endpoint.method, key === endpoint.path ? written : renamed(written, endpoint.path, key), writing);
  }
  const pull = pullOf(writing.spec.events);
  if (pull?.path.startsWith('/')) {
    const written = withRefusals(pull.operation, pullOperation(pull, writing), writing, payload, usual);
    place(paths, pull.path, pull.method, written, writing);
  }
  return paths;
}

function place(
  paths: Record<string, OpenMap>,
  path: string,
  method: string,
  operation: JsonMap,
  { edition }: ExportWriting,
): void {
  const item = paths[path] ?? newMap();
  paths[path] = item;
  const word = method.toLowerCase();
  if (methods.has(word) || (edition === '3.2' && word === 'query')) item[word] = operation;
  else {
    const key = edition === '3.2' ? 'additionalOperations' : `${prefix}operations`;
    item[key] = { ...(isPlainMap(item[key]) ? item[key] : {}), [method]: operation };
  }
}

/** An operation whose path stands under another template: its parameters bear that template's names. */
function renamed(operation: JsonMap, path: string, key: string): JsonMap {
  const own = pathParameters(path);
  const there = pathParameters(key);
  const parameters = Array.isArray(operation.parameters) ? (operation.parameters as readonly Json[]) : [];
  return {
    ...operation,
    parameters: parameters.map((one) => {
      const at = isPlainMap(one) && one.in === 'path' ? own.indexOf(String(one.name)) : -1;
      return isPlainMap(one) && at >= 0 && there[at] !== own[at]
        ? { ...one, name: there[at] ?? '', [`${prefix}name`]: own[at] ?? '' }
        : one;
    }),
    [`${prefix}path`]: path,
  };
}

function withRefusals(
  operation: Operation,
  written: JsonMap,
  writing: ExportWriting,
  payload: RefusalBody,
  usual: Json | undefined,
): JsonMap {
  const security = securityOf(operation, writing.spec);
  return present({
    ...written,
    responses: {
      ...(isPlainMap(written.responses) ? written.responses : {}),
      ...Object.fromEntries(refusalResponses(operation, writing, payload)),
    },
    security: security === undefined || JSON.stringify(security) === JSON.stringify(usual) ? undefined : security,
    [followsKey]: true,
  });
}
