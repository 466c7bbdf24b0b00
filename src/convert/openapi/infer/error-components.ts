import type { Json } from '../../../document/document.ts';
import { plainName } from '../../../document/nearest.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, type OpenMap } from '../../../document/values.ts';
import { endpointOf, type InferenceContext, shapeOfAnswer, successOf } from './context.ts';
import { celOf } from './list-data.ts';
import { wordsOf } from './shapes.ts';

/** The shape of errors that a source has although none of its operations says that it fails. */
export interface ComponentError {
  readonly shape: Json;
  /** Where it was read off. */
  readonly at: string;
}

/**
 * The shape of errors where no operation states an answer of failure: most answers of success have a member `errors` that lists a thing
 * which says what errors say; else a component is called an error, and says little besides.
 */
export function errorOfComponents(context: InferenceContext): ComponentError | undefined {
  const counts = new Map<string, number>();
  let answers = 0;
  for (const operation of context.operations) {
    const endpoint = endpointOf(context, operation);
    const members = context.written.propertiesOf(shapeOfAnswer(endpoint, successOf(endpoint)))?.all;
    if (members === undefined) continue;
    answers += 1;
    const items = members.errors === undefined ? undefined : context.written.itemsOf(members.errors);
    const name = context.written.resourceOf(items);
    if (name !== undefined && saysError(context, name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const [listed] = [...counts].sort((a, b) => b[1] - a[1]);
  if (listed !== undefined && listed[1] * 2 > answers) {
    const shape = { type: 'object', properties: { errors: [listed[0]] }, required: ['errors'] };
    return { shape, at: below('/resources', listed[0]) };
  }
  const called = Object.keys(context.resources).find((name) => isCalledError.test(name) && saysError(context, name));
  return called === undefined ? undefined : { shape: called, at: below('/resources', called) };
}

const isCalledError =
  /^(?:api|http|base|common|standard|default|generic)?[_.-]?errors?[_.-]?(?:response|model|body|payload|object|detail|details|message)?$/i;

/** Whether a component has a message or a code, and most of what it has is what errors say: a report on errors counts them. */
function saysError({ written }: InferenceContext, name: string): boolean {
  const names = Object.keys(written.propertiesOf(name)?.all ?? {}).map(plainName);
  const inner = names.length === 1 ? written.propertiesOf(written.propertiesOf(name)?.all[names[0] ?? '']) : undefined;
  const said = inner === undefined ? names : Object.keys(inner.all).map(plainName);
  const known = said.filter((word) => isErrorWord.test(word)).length;
  return known > 0 && known * 2 > said.length;
}

const isErrorWord =
  /^(?:code|errorcode|error|errors|message|errormessage|detail|details|description|category|field|param|parameter|type|title|status|statuscode|reason|requestid|documentationurl|docurl|instance|messages|summary|help|success)$/;

/** The words that the code of an error may be, where they stand beside it: `Error` has a text `code`, and `ErrorCode` lists words. */
export function codesBeside(context: InferenceContext, error: string | undefined): readonly string[] | undefined {
  const beside =
    error === undefined ? undefined : [`${error}Code`, `${error}_code`].find((name) => isMap(context.resources[name]));
  const listed = beside === undefined ? undefined : wordsOf([...(context.written.listedOf(beside) ?? [])]);
  return listed !== undefined && listed.length > 2 ? listed : undefined;
}

/** How many shapes are looked at for how a source writes its words. */
const looksMost = 100_000;

/** Whether a source writes the words of its lists in capitals: three times as many of them as in small letters, and five at the least. */
export function isInCapitals({ resources }: InferenceContext): boolean {
  const known = written.get(resources) ?? areInCapitals(resources);
  written.set(resources, known);
  return known;
}

/** How the sources that were looked at write their words. */
const written = new WeakMap<object, boolean>();

function areInCapitals(resources: OpenMap): boolean {
  let [capitals, small] = [0, 0];
  const left: Json[] = [resources as Json];
  for (let looks = 0; left.length > 0 && looks < looksMost; looks++) {
    const one = left.pop();
    if (Array.isArray(one)) left.push(...one);
    if (!isMap(one)) continue;
    const words = wordsOf(one.enum);
    if (words.length > 1 && words.every((word) => /^[A-Z][A-Z0-9_]{1,99}$/.test(word))) capitals += 1;
    else if (words.length > 1 && words.every((word) => /^[a-z][a-z0-9_.-]{0,99}$/.test(word))) small += 1;
    left.push(...Object.values(one));
  }
  return capitals >= 5 && capitals >= 3 * small;
}

/** One of the listed words: the one that is named after the status, else one for faults of the service and one for those of requests. */
export function wordByStatus(words: readonly string[]): string | undefined {
  const find = (pattern: RegExp) => words.find((word) => pattern.test(word));
  const known = statusWords.flatMap(([status, pattern]) => {
    const word = find(pattern);
    return word === undefined ? [] : [[status, word] as const];
  });
  const own = find(/internal|server_?error|^api_error|fatal|unexpected|unknown_error/i);
  const theirs = find(/bad_?request|^invalid(?:_request(?:_error)?)?$|validation|invalid_arg|invalid/i);
  if (own === undefined && theirs === undefined && known.length === 0) return undefined;
  const rest = theirs ?? own ?? known[0]?.[1] ?? words[0];
  const chain = known.map(([status, word]) => `status == ${status} ? ${celOf(word)} : `).join('');
  const failing = own === undefined ? '' : `status >= 500 ? ${celOf(own)} : `;
  const chosen = `${chain}${failing}${celOf(rest ?? '')}`;
  return words.length > 4 ? `code == null ? (${chosen}) : code` : chosen;
}

/** Statuses with the words by which lists of error codes call them. */
const statusWords: readonly (readonly [number, RegExp])[] = [
  [401, /^(?:unauthorized|unauthenticated|not_authed|authentication(?:_error|_failed)?|invalid_auth)$/i],
  [403, /^(?:forbidden|access_denied|permission_denied|not_allowed)$/i],
  [404, /^(?:not_found|resource_not_found|missing)$/i],
  [405, /^method_not_allowed$/i],
  [409, /^(?:conflict|already_exists)$/i],
  [412, /^precondition_failed$/i],
  [429, /^(?:too_many_requests|rate_?limit(?:ed|_exceeded)?)$/i],
  [503, /^(?:service_unavailable|unavailable)$/i],
];
