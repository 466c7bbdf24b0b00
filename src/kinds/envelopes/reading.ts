import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { literalOf } from './all.ts';
import type { EnvelopeMembers } from './kind.ts';

/** What is known of an event from its envelope; a member is absent where the envelope does not show it. */
export interface Told {
  readonly id: string | undefined;
  readonly kind: string | undefined;
  readonly at: string | undefined;
  readonly payload: Json | undefined;
}

/** Reads an event by its envelope; without one, all of it is the payload. */
export function readEnveloped(members: EnvelopeMembers | undefined, body: Json | undefined): Told {
  if (!members) return { id: undefined, kind: undefined, at: undefined, payload: body };
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
export function envelopedFlaw(members: EnvelopeMembers | undefined, body: Json | undefined): string | undefined {
  if (!members) return undefined;
  if (body === undefined || !isMap(body)) return 'the body is no JSON object';
  const lacking = Object.keys(members).find((name) => body[name] === undefined);
  if (lacking !== undefined) return `there is no ${lacking} in ${JSON.stringify(body).slice(0, 300)}`;
  for (const [name, source] of Object.entries(members)) {
    const value = body[name];
    const literal = literalOf(source);
    if (literal !== undefined && value !== literal)
      return `${name} is ${JSON.stringify(value)}, and not ${JSON.stringify(literal)}`;
    if (['event.id', 'event.kind', 'event.at'].includes(source) && (typeof value !== 'string' || value === ''))
      return `${name} is ${JSON.stringify(value)}`;
    if (source === 'event.at' && Number.isNaN(Date.parse(String(value))))
      return `${name} is ${JSON.stringify(value)}, which is no time`;
  }
  return undefined;
}

/** Bodies that nearly are of an envelope, made of one that is: each is wrong by one member. */
export function envelopeMisses(members: EnvelopeMembers, body: Readonly<Record<string, Json>>): { how: string; body: Json }[] {
  return Object.entries(members).flatMap(([name, source]) => {
    const { [name]: _left, ...others } = body;
    const isText = ['event.id', 'event.kind', 'event.at'].includes(source) || literalOf(source) !== undefined;
    return [
      { how: `there is no ${name}`, body: others },
      ...(isText ? [{ how: `${name} is of another sort`, body: { ...body, [name]: { value: body[name] ?? null } } }] : []),
      ...(source === 'event.at' ? [{ how: `${name} is no time`, body: { ...body, [name]: 'some time ago' } }] : []),
    ];
  });
}
