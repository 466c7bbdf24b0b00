import { entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { isHidden } from '../model/fields.ts';
import type { Model } from '../model/model.ts';
import type { Misfit } from '../model/schemas.ts';
import type { Observed, Observer } from '../observer.ts';
import { type Exchange, fieldsOf, isDone } from '../script/exchange.ts';

/** Every row that is shown has the fields, types, formats and values that its resource states. */
export const shownShapes: Observer = {
  name: 'resources/shown shapes',
  *observe(exchange, model) {
    const { endpoint } = exchange;
    if (!endpoint || !isDone(exchange) || endpoint.response.standing !== 'open') return;
    const effect = statedValue(endpoint.does);
    const name = resourceOfEffect(effect);
    if (name === undefined || effect?.verb === 'list' || effect?.verb === 'delete') return;
    yield* observeRow(exchange, model, name);
  },
};

function* observeRow(exchange: Exchange, model: Model, name: string): Iterable<Observed> {
  const resource = model.resource(name);
  const row = fieldsOf(exchange);
  if (!resource || !row) return;
  const misfits = model.schemas.of({ resource: name }, 'shown')(row);
  const fields = statedValue(resource.fields);
  if (!fields) return;
  for (const [field, stated] of Object.entries(fields)) {
    const subject = `${name}.${field}`;
    const isShown = Object.hasOwn(row, field);
    if (isShown && isHidden(stated, exchange.caller)) continue;
    if (!isShown) continue;
    const own = misfits.filter((misfit) => misfit.path[0] === field);
    for (const [kind, words] of kinds) {
      const wrong = own.find((misfit) => words(misfit));
      const judgement = wrong && { promised: `${field} ${wrong.message}`, seen: JSON.stringify(row[field]) };
      yield { fact: { kind, subject }, reason: 'shown', judgement };
    }
  }
  const unstated = Object.keys(row).filter((field) => entryOf(resource.fields, field) === undefined);
  yield {
    fact: { kind: 'field names', subject: name },
    reason: 'shown',
    judgement:
      unstated.length === 0 || resource.additionalProperties
        ? undefined
        : { promised: `no fields but the stated ones`, seen: unstated.join(', ') },
  };
}

/** Which kind of fact a keyword of JSON Schema speaks of. */
const kinds: readonly (readonly [kind: string, speaksOf: (misfit: Misfit) => boolean])[] = [
  ['types', ({ keyword }) => keyword === 'type'],
  ['formats', ({ keyword }) => keyword === 'format'],
  ['allowed values', ({ keyword }) => keyword !== 'type' && keyword !== 'format'],
];
