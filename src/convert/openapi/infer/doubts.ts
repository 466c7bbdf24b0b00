import { isMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import {
  type Collection,
  collectionAt,
  collectionOfItem,
  endpointOf,
  type InferenceContext,
  shapeOfAnswer,
  successOf,
} from './context.ts';
import { pathParts, shapeOfPath, wholeParameter, wordsOfName } from './paths.ts';
import { documentFields, isAnyMap, listIn, shownRowOf } from './rows.ts';

/** How sure an effect is, where something speaks against what the custom of its method says; `usual` where nothing does. */
export function confidenceOf(
  context: InferenceContext,
  operation: SourceOperation,
  collection: Collection,
  usual: number,
): number {
  const { resource, path } = collection;
  const isOwn = path === shapeOfPath(operation.path);
  const doubts = [
    isOfMembers(operation),
    operation.method === 'GET' && (isStatistic(operation) || (!isOwn && showsManyForOne(context, operation, collection))),
    operation.method === 'GET' && showsMoreThanList(context, operation, resource),
    operation.method === 'DELETE' && isCalledOff(operation),
    operation.method === 'PATCH' && sharesNothing(context, operation, resource),
  ];
  return doubts.includes(true) ? Math.min(usual, doubtful) : usual;
}

const doubtful = 0.6;

/** How sure an effect is, given how sure it usually is: less where the path calls the thing otherwise than it calls itself. */
export function asCalled(context: InferenceContext, operation: SourceOperation, usual: number): number {
  const collection = collectionOfItem(context, operation) ?? collectionAt(context, operation.path);
  return collection?.field === undefined ? usual : Math.min(usual, calledOtherwiseMost);
}

const calledOtherwiseMost = 0.8;

/** `/usage/events/{type}` counts events. */
function isStatistic({ path }: SourceOperation): boolean {
  return pathParts(path).segments.some((segment) => statistics.test(segment));
}

const statistics = /^(?:stats?|statistics|usage|metrics|analytics|insights)$/i;

/** `/groups/{group}/members/{user}`: what is loosed there is a bond, and the thing stays. */
function isOfMembers({ path }: SourceOperation): boolean {
  const { segments, last } = pathParts(path);
  const isOfOne = last !== undefined && wholeParameter(segments.at(-3)) !== undefined;
  return isOfOne && /^(?:members|owners|followers|assignees|collaborators|watchers|subscribers)$/i.test(segments.at(-2) ?? '');
}

/** An answer about one thing that is a list: of what belongs to it, or of what is found by it. */
export function showsManyForOne(
  context: InferenceContext,
  operation: SourceOperation,
  { resource, parameter }: Collection,
): boolean {
  if (pathParts(operation.path).last === undefined) return false;
  const endpoint = endpointOf(context, operation);
  const shape = shapeOfAnswer(endpoint, successOf(endpoint));
  const isRow = context.written.resourceOf(shape) === resource || shownRowOf(context.written, shape, parameter) !== undefined;
  return !isRow && listIn(context.written, shape, undefined) !== undefined;
}

/** `{ automatic: [backup], snapshot: { current: backup } }` is more than a list of backups. */
function showsMoreThanList({ written, ...context }: InferenceContext, operation: SourceOperation, resource: string): boolean {
  if (pathParts(operation.path).last !== undefined) return false;
  const endpoint = endpointOf({ written, ...context }, operation);
  const members = Object.values(written.propertiesOf(shapeOfAnswer(endpoint, successOf(endpoint)))?.all ?? {});
  return members.some((member) => {
    const inner = Object.values(written.propertiesOf(member)?.all ?? {});
    return [member, ...inner].some((one) => written.resourceOf(one) === resource);
  });
}

/** `Cancel a transfer`: called off, and perhaps still there. */
function isCalledOff({ map, id }: SourceOperation): boolean {
  const { summary } = map.value;
  return wordsOfName(`${String(summary ?? '')} ${id ?? ''}`).some((word) => word === 'cancel' || word === 'revoke');
}

/** A change of which no member is a field: instructions, and no fields. */
function sharesNothing(context: InferenceContext, operation: SourceOperation, resource: string): boolean {
  const { request } = endpointOf(context, operation);
  const sent = context.written.propertiesOf(request)?.all;
  if (sent === undefined || !isMap(sent) || isAnyMap(context.written, request)) return false;
  const fields = documentFields(context.resources, resource);
  const inner = Object.values(sent).flatMap((member) => Object.keys(context.written.propertiesOf(member)?.all ?? {}));
  return ![...Object.keys(sent), ...inner].some((name) => Object.hasOwn(fields, name));
}
