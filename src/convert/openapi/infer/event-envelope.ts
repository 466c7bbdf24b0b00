import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { envelopeLike, envelopeMembers } from '../../../kinds/envelopes/all.ts';
import { made } from '../made.ts';
import type { Context, InferenceRule } from './context.ts';

/** `{ type, created_at, data }` around every event is the envelope; what each kind carries is its `data`. */
export const eventEnvelope: InferenceRule = {
  name: 'event-envelope',
  says: 'Where the body of every webhook has `data` beside its name, its time or its identifier, these are the envelope, and `data` the payload.',
  infer(context) {
    const { tree, trail, written } = context;
    if (!isMap(tree.events) || !isMap(tree.events.kinds) || !isMap(tree.events.delivery)) return;
    const { kinds, delivery } = tree.events;
    const bodies = Object.entries(kinds).map(([name, kind]) => ({ name, kind, shape: isMap(kind) ? kind.payload : undefined }));
    const envelopes = bodies.map(({ name, shape }) => envelopeOf(context, name, shape));
    const [first] = envelopes;
    const isSame = envelopes.every((one) => one !== undefined && JSON.stringify(one) === JSON.stringify(first));
    if (first === undefined || !isSame) return;
    for (const { name, kind, shape } of bodies) {
      const at = below(below('/events/kinds', name), 'payload');
      const origin = trail.origin(at) ?? '';
      const data = written.propertiesOf(shape)?.all.data;
      if (data === undefined || !isMap(kind)) continue;
      made(kind).payload = data;
      const target = written.resourceOf(shape);
      if (target === undefined) leaveEnvelope(context, origin, Object.keys(first));
      const inside = target === undefined ? below(origin, 'properties') : below(below('/resources', target), 'fields');
      trail.from(at, target === undefined ? below(inside, 'data') : (trail.origin(below(inside, 'data')) ?? origin));
    }
    // What a word says is written by its word.
    made(delivery).envelope = envelopeLike(constantsIn(context, bodies[0]?.shape)) ?? first;
    trail.infer('/events/delivery/envelope', eventEnvelope.name, trail.origin('/events/delivery') ?? '', 0.8);
  },
};

/** What a webhook says of its own envelope, which one of all webhooks stands for. */
function leaveEnvelope({ reader }: Context, body: string, names: readonly string[]): void {
  const why = 'the envelope of all events stands for it';
  reader.leave(below(body, 'title'), why);
  for (const name of names) if (name !== 'data') reader.leave(below(below(body, 'properties'), name), why);
}

/** The members of a body, each with its constant where it has one. */
function constantsIn({ written }: Pick<Context, 'written'>, shape: Json | undefined): Readonly<Record<string, unknown>> {
  const members = Object.entries(written.propertiesOf(shape)?.all ?? {});
  return Object.fromEntries(members.map(([key, inner]) => [key, written.constantOf(inner)?.value]));
}

function envelopeOf({ written }: Context, name: string, shape: Json | undefined): OpenMap | undefined {
  const properties = written.propertiesOf(shape);
  if (properties?.all.data === undefined) return undefined;
  const word = envelopeLike(constantsIn({ written }, shape));
  const known = word && envelopeMembers(word, {});
  if (known) return Object.assign(newMap(), known);
  const envelope: OpenMap = newMap();
  for (const [key, inner] of Object.entries(properties.all)) {
    const constant = written.constantOf(inner)?.value;
    if (key === 'data') envelope.data = 'event.payload';
    else if (/^(?:type|event|event_?type|kind|name)$/i.test(key) && (constant === undefined || constant === name))
      envelope[key] = 'event.kind';
    else if (/^(?:id|event_?id)$/i.test(key)) envelope[key] = 'event.id';
    else if (/^(?:timestamp|created|created_?at|occurred_?at|time)$/i.test(key)) envelope[key] = 'event.at';
    else return undefined;
  }
  return Object.keys(envelope).length > 1 ? envelope : undefined;
}
