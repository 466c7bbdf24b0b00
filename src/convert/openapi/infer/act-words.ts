import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import { endpointOf, type InferenceContext, successOf } from './context.ts';
import { pathParts, wholeParameter, wordsOfName } from './paths.ts';

/** What a status is called after an act, where the document lists no words for it. */
export const participles: ReadonlyMap<string, string> = new Map([
  ...['archive', 'revoke', 'close', 'approve', 'complete', 'expire', 'pause', 'disable', 'enable', 'merge'].map(
    (verb): [string, string] => [verb, `${verb}d`],
  ),
  ...['cancel', 'reject', 'accept', 'publish', 'suspend', 'void'].map((verb): [string, string] => [verb, `${verb}ed`]),
  ['activate', 'active'],
  ['deactivate', 'inactive'],
  ['resume', 'active'],
]);

/** What an act takes back. */
export const opposite: ReadonlyMap<string, string> = new Map([
  ['enable', 'disable'],
  ['disable', 'enable'],
  ['activate', 'deactivate'],
  ['open', 'close'],
  ['restore', 'delete'],
  ['unarchive', 'archive'],
]);

/** The words of a name as one, without `is`. */
export function plainOf(name: string): string {
  return wordsOfName(name)
    .filter((word) => word !== 'is')
    .join('');
}

/** How what an act leads to is called: `cancel` is `canceled` or `cancelled`, `ban` `banned`, `activate` `active` too. */
export function formsOf(verb: string): ReadonlySet<string> {
  const stem = verb.replace(/e$/, '');
  const regular = [
    verb.replace(/ion$/, 'ed'),
    `${stem}ed`,
    `${verb}${verb.at(-1)}ed`,
    verb.replace(/y$/, 'ied'),
    stem.replace(/at$/, 'ive'),
  ];
  return new Set([...regular.filter((form) => form !== verb), ...(irregular.get(verb) ?? [])]);
}

const irregular: ReadonlyMap<string, readonly string[]> = new Map([
  ['send', ['sent']],
  ['pay', ['paid']],
  ['void', ['void', 'voided']],
  ['open', ['open', 'opened']],
  ['hold', ['held', 'on_hold']],
  ['resume', ['active', 'running']],
  ['reopen', ['open']],
  ['deactivate', ['inactive']],
  ['disable', ['disabled', 'inactive']],
  ['enable', ['enabled', 'active']],
  ['reactivate', ['active']],
  ['unsuspend', ['active']],
  ['unarchive', ['active']],
  ['unpause', ['active', 'running']],
  ['start', ['started', 'running', 'active', 'in_progress']],
  ['stop', ['stopped', 'ready', 'stop_requested', 'inactive', 'suspended']],
  ['terminate', ['terminated', 'terminating']],
  ['restart', ['running', 'active', 'pending']],
  ['complete', ['complete']],
]);

/** The segments of an act's path, without a word that only gathers acts: `/users/{id}/lifecycle/suspend` as `/users/{id}/suspend`. */
export function actSegments(path: string): readonly string[] {
  const { segments } = pathParts(path);
  const isGathered = gathering.test(segments.at(-2) ?? '') && wholeParameter(segments.at(-3)) !== undefined;
  return isGathered ? [...segments.slice(0, -2), segments.at(-1) ?? ''] : segments;
}

const gathering = /^_?(?:lifecycle|actions?|operations?|commands?|transitions?|do)$/i;

/** The word that the example of an act's own answer shows in a field of the thing, where the act is called like it: `status: cancelled` after `cancel`. */
export function wordShownAfter(
  context: InferenceContext,
  operation: SourceOperation,
  name: string,
  verb: string,
): string | undefined {
  const endpoint = endpointOf(context, operation);
  const status = successOf(endpoint);
  const answer = status !== undefined && isMap(endpoint.response) ? endpoint.response[status] : undefined;
  const examples: readonly (Json | undefined)[] = isMap(answer) && isMap(answer.examples) ? Object.values(answer.examples) : [];
  for (const example of examples) {
    if (!isMap(example)) continue;
    const shown = [example, ...Object.values(example)].find((one) => isMap(one) && typeof one[name] === 'string');
    const word = isMap(shown) ? shown[name] : undefined;
    if (typeof word === 'string' && formsOf(verb).has(word.toLowerCase())) return word;
  }
  return undefined;
}
