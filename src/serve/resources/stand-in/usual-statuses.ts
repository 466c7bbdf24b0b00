/** The status of a refusal of which no code is stated, as an endpoint's own statuses have it. */

import type { Answer } from '../../../parts/answers.ts';
import { type ErrorCondition, generalCondition } from '../../../parts/conditions.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { isStated, statedValue } from '../../../parts/fact.ts';
import type { Refusal } from '../../exchange/exchange.ts';

/** The status that is usual for a refusal; nothing where it is that of the language. */
export function usualStatusOf({ when }: Refusal, endpoint: Endpoint | undefined): number | undefined {
  if (when === undefined) return undefined;
  if (when === 'resource.missing' && endpoint && isGoneAlready(endpoint)) return 204;
  const said = endpoint && statusNamed(endpoint, when);
  // Of 21 vendors that state 400 or 422, 20 state 400, and one 422 alone.
  return said ?? (isWrong(when) ? statusOfInvalid(endpoint) : undefined);
}

/**
 * Whether deleting what is not there is no error: a deletion answers 204 beside 200 or 202, and states no 404. Of 720 such deletions of 2,639 descriptions
 * 278 say in words that 204 is for what is not there.
 */
function isGoneAlready(endpoint: Endpoint): boolean {
  const statuses = statusesOf(endpoint);
  const isOfTwo = statuses.includes('204') && (statuses.includes('200') || statuses.includes('202'));
  return isOfTwo && !statuses.includes('404') && statedValue(endpoint.does)?.verb === 'delete';
}

/** What an error is called that is about what a request says. */
const wrong = /^(?:invalid|validation|malformed|bad_?request)/i;

/** What shapes of errors are called by conditions, and the status that these have where it is stated. */
const named: readonly {
  readonly when: (condition: ErrorCondition) => boolean;
  readonly status: string;
  readonly called: RegExp;
}[] = [
  { when: (one) => one === 'resource.missing', status: '404', called: /not_?found|no_?such|does_?not_?exist/i },
  { when: isWrong, status: '400', called: wrong },
  { when: (one) => one === 'resource.exists', status: '409', called: /already_?exists|^conflict|duplicate|^resource_?in_?use/i },
  { when: (one) => one.startsWith('caller.forbidden'), status: '403', called: /^(?:access_?denied|forbidden|not_?authorized)/i },
];

/** The status whose error is called after the condition, where the usual one is not stated: 482 of a `ResourceNotFoundException`. */
function statusNamed(endpoint: Endpoint, when: ErrorCondition): number | undefined {
  const row = named.find((one) => one.when(when));
  const answers = statedValue(endpoint.response) ?? [];
  if (!row || answers.some(({ status }) => status === row.status)) return undefined;
  const found = answers.find((answer) => /^4\d\d$/.test(answer.status) && row.called.test(nameOfError(answer)));
  const own = found ?? (row.status === '404' ? ofInvalid(answers) : undefined);
  return own && Number(own.status);
}

/**
 * What is not there is wrong with the request where a service has statuses of its own, which HTTP does not know, and an error of requests among them, but none that
 * is called after it: `480 InvalidRequestException`.
 */
function ofInvalid(answers: readonly Answer[]): Answer | undefined {
  const failing = answers.filter(({ status }) => /^4\d\d$/.test(status));
  const names = failing.map(nameOfError);
  const isOwn = failing.every(({ status }) => Number(status) >= firstUnknown) && !names.some((name) => hiding.test(name));
  return isOwn ? failing[names.findIndex((name) => wrong.test(name))] : undefined;
}

/** By what is refused to somebody, what is not there may be told as well. */
const hiding = /forbidden|denied|unauthori[sz]ed|not_?authori[sz]ed/i;

function nameOfError({ shape }: Answer): string {
  const name = isStated(shape) ? shape.value.resource : undefined;
  return typeof name === 'string' ? name : '';
}

/** No status of HTTP is between this one and 499. */
const firstUnknown = 452;

/** What is wrong with a request is 422 where the endpoint states that and not 400. */
function statusOfInvalid(endpoint: Endpoint | undefined): number {
  const statuses = endpoint ? statusesOf(endpoint) : [];
  return statuses.includes('422') && !statuses.includes('400') ? 422 : 400;
}

function statusesOf({ response }: Endpoint): readonly string[] {
  return (statedValue(response) ?? []).map(({ status }) => status);
}

/** Whether a refusal is of what a request says, in its body or its parameters. */
function isWrong(when: ErrorCondition): boolean {
  const general = generalCondition(when);
  return general === 'request.invalid' || general === 'request.parameter';
}
