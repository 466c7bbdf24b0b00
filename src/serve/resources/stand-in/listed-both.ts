import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { listsIn } from './lists-shown.ts';

/** A list of things that is sent and answered. */
export interface ListedBoth {
  readonly resource: string;
  /** The member of the body that holds the list; absent = the body is it. */
  readonly member: string | undefined;
  /** What each of those sent is. */
  readonly items: Shape;
}

const making: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** The resource of which an answer is a list, where the body is a list of the same, or of what has mostly its fields, and nothing else is known. */
export function listedBoth({ method, does, request, response }: Endpoint, samples: Samples): ListedBoth | undefined {
  const sent = statedValue(request);
  if (!making.has(method) || statedValue(does) !== undefined || sent === undefined) return undefined;
  const answer = (statedValue(response) ?? []).find(({ status }) => /^2/.test(status));
  const shown = statedValue(answer?.shape ?? { standing: 'none', at: '' });
  const [list, ...others] = shown === undefined ? [] : listsIn(shown, samples);
  const resource = others.length === 0 ? list?.items.resource : undefined;
  if (list === undefined || typeof resource !== 'string') return undefined;
  const alike = listsIn(sent, samples).filter(
    ({ items }) => items.resource === resource || sharesMost(items, list.items, samples),
  );
  const [only, ...more] = alike;
  return only === undefined || more.length > 0 ? undefined : { resource, member: only.name, items: only.items };
}

function sharesMost(one: Shape, other: Shape, samples: Samples): boolean {
  const names = Object.keys(samples.membersOf(one));
  const known = samples.membersOf(other);
  return names.length > 1 && names.filter((name) => Object.hasOwn(known, name)).length * 2 > names.length;
}
