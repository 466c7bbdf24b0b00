import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Delivery } from '../../parts/events.ts';
import type { Expression, Named } from '../../parts/fact.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';

/** What is known of an event from its envelope; a member is absent where the envelope does not show it. */
export interface Told {
  readonly id: string | undefined;
  readonly kind: string | undefined;
  readonly at: string | undefined;
  readonly payload: Json | undefined;
}

const usual: Readonly<Record<string, string>> = {
  id: 'event.id',
  type: 'event.kind',
  timestamp: 'event.at',
  data: 'event.payload',
};

/** The members of the envelope, and what makes each of them. */
export function membersOf(spec: Spec): Readonly<Record<string, string>> {
  const stated: Named<Expression> | undefined = deliveryOf(spec)?.envelope;
  if (!stated) return usual;
  return Object.fromEntries(Object.entries(stated).map(([name, { source }]) => [name, source.trim()]));
}

export function deliveryOf(spec: Spec): Delivery | undefined {
  return statedValue(spec.events.delivery);
}

/** Reads an event by the document's own envelope. */
export function toldIn(spec: Spec, body: Json | undefined): Told {
  const members = membersOf(spec);
  const memberOf = (source: string): Json | undefined => {
    const name = Object.keys(members).find((member) => members[member] === source);
    return name === undefined || body === undefined || !isMap(body) ? undefined : body[name];
  };
  const textOf = (source: string): string | undefined => {
    const value = memberOf(source);
    return typeof value === 'string' ? value : undefined;
  };
  return { id: textOf('event.id'), kind: textOf('event.kind'), at: textOf('event.at'), payload: memberOf('event.payload') };
}

/** What is wrong with an envelope; nothing where every member is there and of its sort. */
export function envelopeFlaw(spec: Spec, body: Json | undefined): string | undefined {
  if (body === undefined || !isMap(body)) return 'the body is no JSON object';
  const members = membersOf(spec);
  const lacking = Object.keys(members).find((name) => body[name] === undefined);
  if (lacking !== undefined) return `there is no ${lacking} in ${JSON.stringify(body).slice(0, 300)}`;
  for (const [name, source] of Object.entries(members)) {
    const value = body[name];
    if (['event.id', 'event.kind', 'event.at'].includes(source) && (typeof value !== 'string' || value === ''))
      return `${name} is ${JSON.stringify(value)}`;
    if (source === 'event.at' && Number.isNaN(Date.parse(String(value))))
      return `${name} is ${JSON.stringify(value)}, which is no time`;
  }
  return undefined;
}
