import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, isStanding, newMap } from '../../../document/values.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import type { Spec } from '../../../parts/spec.ts';
import { urlsOf } from '../own/base-url.ts';

/**
 * What the parts state that belongs to no single operation or schema: of each part that the document has, whatever no other
 * place of the export says.
 */
export function remainders(spec: Spec): JsonMap {
  const { tree } = spec.document;
  const out = newMap();
  for (const [part, stated] of Object.entries(tree)) out[part] = remainderOf(part, stated, spec);
  return out;
}

function remainderOf(part: string, stated: Json, spec: Spec): Json {
  if (!isMap(stated) || isStanding(stated)) return stated;
  const said = Object.hasOwn(saidElsewhere, part) ? saidElsewhere[part]?.(stated, spec) : undefined;
  if (!said) return stated;
  const rest = newMap();
  for (const [word, value] of Object.entries(stated)) {
    const inner = said(word, value);
    if (inner !== undefined) rest[word] = inner;
  }
  return rest;
}

/** What is left of a word; undefined where another place says all of it. */
type Left = (word: string, value: Json) => Json | undefined;

const saidElsewhere: Readonly<Record<string, (stated: JsonMap, spec: Spec) => Left>> = {
  purpose: () => (word, value) => {
    if (word === 'purpose') return typeof value === 'string' && value !== '' ? undefined : value;
    return word === 'base_url' && urlsOf(value) ? undefined : value;
  },
  resources: () => unless((word) => word !== 'others'),
  states: (_, { resources }) => {
    const known = new Set(entriesOf(resources.all).map(([name]) => name));
    return unless((word) => known.has(word));
  },
  endpoints: () => unless((word) => word !== 'others' && word !== 'defaults'),
  authentication: (_, { authentication }) =>
    unless((word) => word === 'schemes' && isStated(authentication.schemes) && entriesOf(authentication.schemes).length > 0),
  events:
    (_, { events }) =>
    (word, value) => {
      const isSent = statedValue(events.delivery)?.webhook !== undefined && entriesOf(events.kinds).length > 0;
      if (word !== 'kinds' || !isSent || !isMap(value)) return value;
      return value.others === undefined ? undefined : { others: value.others };
    },
  errors:
    (_, { errors }) =>
    (word, value) => {
      const payload = statedValue(errors.payload);
      if (word !== 'payload' || !isMap(value) || payload === undefined || payload === 'problem' || !isStated(payload.shape))
        return value;
      const { shape: _shape, ...rest } = value;
      return rest;
    },
};

function unless(isSaid: (word: string) => boolean): Left {
  return (word, value) => (isSaid(word) ? undefined : value);
}
