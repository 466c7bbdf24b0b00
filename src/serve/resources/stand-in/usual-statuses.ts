/** The status of a refusal of which no code is stated, as an endpoint's own statuses have it. */

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

/** What shapes of errors are called by conditions, and the status that these have where it is stated. */
const named: readonly {
  readonly when: (condition: ErrorCondition) => boolean;
  readonly status: string;
  readonly called: RegExp;
}[] = [
  { when: (one) => one === 'resource.missing', status: '404', called: /not_?found|no_?such|does_?not_?exist/i },
  { when: isWrong, status: '400', called: /^(?:invalid|validation|malformed|bad_?request)/i },
  { when: (one) => one === 'resource.exists', status: '409', called: /already_?exists|^conflict/i },
  { when: (one) => one.startsWith('caller.forbidden'), status: '403', called: /^(?:access_?denied|forbidden|not_?authorized)/i },
];

/** The status whose error is called after the condition, where the usual one is not stated: 482 of a `ResourceNotFoundException`. */
function statusNamed(endpoint: Endpoint, when: ErrorCondition): number | undefined {
  const row = named.find((one) => one.when(when));
  const answers = statedValue(endpoint.response) ?? [];
  if (!row || answers.some(({ status }) => status === row.status)) return undefined;
  const found = answers.find(({ status, shape }) => {
    const name = isStated(shape) ? shape.value.resource : undefined;
    return /^4\d\d$/.test(status) && typeof name === 'string' && row.called.test(name);
  });
  return found && Number(found.status);
}

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
