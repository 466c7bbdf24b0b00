import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { askedFor, meansKind } from '../../parts/event-telling.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { along } from '../../parts/reach.ts';
import type { Model } from './model.ts';

/** The kinds as a subscriber may ask for them: every one by `*` where its field's shape takes that, else those of them that it takes; nothing where it takes none. */
export function askedKinds(model: Model, kinds: readonly string[]): readonly string[] | undefined {
  const { subscribers } = statedValue(model.spec.events.delivery)?.push ?? {};
  const resource = model.resource(subscribers?.resource ?? '');
  const shape = resource && statedValue(entryOf(resource.fields, subscribers?.events ?? '')?.shape);
  if (!shape) return kinds;
  const fits = (list: readonly string[]) => model.schemas.of(shape, 'sent')([...list]).length === 0;
  if (fits(kinds)) return kinds;
  const names = kinds.includes('*') ? [...new Set(entriesOf(model.spec.events.kinds).map(([, kind]) => askedFor(kind)))] : kinds;
  // Of each alone only what is wrong with the item counts: a list of one may be too short.
  const single = names.filter((name) =>
    model.schemas
      .of(
        shape,
        'sent',
      )([name])
      .every(({ path }) => path.length === 0),
  );
  for (let count = single.length; count > 0; count--) if (fits(single.slice(0, count))) return single.slice(0, count);
  return undefined;
}

/** Whether a subscriber asks for what is no kind of event, whatever its list takes. */
export function asksForNoKind(model: Model, endpoint: Endpoint, json: Json): boolean {
  const { subscribers } = statedValue(model.spec.events.delivery)?.push ?? {};
  if (subscribers?.events === undefined || resourceOfEffect(statedValue(endpoint.does)) !== subscribers.resource) return false;
  const asked = along<Json>(json, subscribers.events);
  const isKnown = (one: Json) =>
    one === '*' || (typeof one === 'string' && entriesOf(model.spec.events.kinds).some(([, kind]) => meansKind(one, kind)));
  return Array.isArray(asked) && !asked.every(isKnown);
}

/** A value at an edge of what subscribers ask for is so many kinds that there are; nothing where there are fewer. Elsewhere it is what it is. */
export function askedAtEdge(model: Model, endpoint: Endpoint, path: readonly string[], edge: Json): Json | undefined {
  const { subscribers } = statedValue(model.spec.events.delivery)?.push ?? {};
  const isOfSubscriber = resourceOfEffect(statedValue(endpoint.does)) === subscribers?.resource;
  const isTheirs = subscribers !== undefined && isOfSubscriber && subscribers.events === path.join('.');
  if (!isTheirs || !Array.isArray(edge) || edge.length === 0) return edge;
  const shape = statedValue(entryOf(model.resource(subscribers.resource)?.fields, subscribers.events ?? '')?.shape);
  const kinds = entriesOf(model.spec.events.kinds).map(([, kind]) => askedFor(kind));
  const words = [...new Set([...kinds, ...kinds.map((one) => one.replace(/\.[^.]*$/, '.*')), '*'])];
  const flawsOf = shape && model.schemas.of(shape, 'sent');
  // That one word is too few is no flaw of the word.
  const isTaken = (word: string) => flawsOf?.([word]).every(({ path: at }) => at.length === 0);
  const asked = words.filter(isTaken).slice(0, edge.length);
  return asked.length === edge.length ? asked : undefined;
}
