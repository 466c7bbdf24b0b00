/** What an answer says of a thing, and whether it says that there is none. */
import type { Json } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';
import { isFlaggedRefusal, isGood, statedAnswer, type Told } from './asking.ts';
import type { DescribedOperation } from './description.ts';
import { misfitOf } from './fitting.ts';
import type { Life } from './law.ts';
import { otherwise, placeOfThing, short, shownOf, valueAt } from './things.ts';

/** In what an answer that reads a thing is not what it has to be. */
export function unlike(
  { family, asking: { described } }: Life,
  told: Told,
  body: Json | undefined,
  id: string,
): string | undefined {
  if (!isGood(family.read, told)) return `answered ${told.status}`;
  const schema = statedAnswer(family.read, told.status)?.schema;
  if (!schema) return undefined;
  const misfit = told.body === undefined ? 'no body in JSON' : misfitOf(described, told.body, schema);
  if (misfit !== undefined) return misfit;
  const place = placeOfThing(described, schema, family);
  const shown = place.naming === undefined ? undefined : valueAt(told.body, [...place.steps, place.naming]);
  if (shown !== undefined && String(shown) !== id) return `${place.naming} is ${short(shown)}, not ${id}`;
  return otherwise(shownOf(described, body, schema, place), told.body);
}

/** That a thing is not there: 404, 410, or another refusal that the operation states. */
export function isAbsent(operation: DescribedOperation, told: Told): boolean {
  if (told.status === 404 || told.status === 410 || isFlaggedRefusal(told)) return true;
  const isOther = told.status >= 400 && told.status < 500 && told.status !== 401 && told.status !== 429;
  return isOther && operation.answers.has(String(told.status)) && (told.status !== 403 || !operation.answers.has('404'));
}

export function messageOf({ body, text }: Told): string {
  if (body === undefined) return text.slice(0, 120);
  const found = firstMessage(body, 0);
  return found ?? (isMap(body) ? Object.keys(body).join(', ') : '');
}

function firstMessage(value: Json, depth: number): string | undefined {
  if (typeof value === 'string') return depth > 0 ? value : undefined;
  if (depth > 3) return undefined;
  if (Array.isArray(value)) return value.length > 0 ? firstMessage(value[0]!, depth + 1) : undefined;
  if (!isMap(value)) return undefined;
  for (const name of ['detail', 'message', 'error_description', 'description', 'error', 'errors', 'fault', 'title']) {
    const found = value[name] === undefined ? undefined : firstMessage(value[name], depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
