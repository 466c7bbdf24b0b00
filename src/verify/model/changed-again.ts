import { derivationsOf } from '../../parts/derived/derivations.ts';
import type { Effect } from '../../parts/effects.ts';
import { entriesOf } from '../../parts/fact.ts';
import { actsAfter, comingOf } from '../../parts/followed.ts';
import { machinesOf } from '../../parts/states.ts';
import type { Model } from './model.ts';

/**
 * The fields of a row that what follows from its change may give other values: an answer shows the row as it is in the end, and what was told of
 * the change shows it as it was then.
 */
export function changedAgain(model: Model, name: string, effect: Effect, operation: string): Set<string> {
  const { spec } = model;
  const found = new Set<string>();
  const fields = entriesOf(model.resource(name)?.fields);
  const coming = comingOf(spec, actsAfter(spec, effect, operation));
  for (const { does, set } of coming) {
    if (does?.resource !== name || does.verb === 'create') continue;
    const word = does.verb === 'transition' ? does.transition : does.verb;
    for (const field of Object.keys(set)) found.add(field);
    for (const [field, stated] of fields) if (stated.set[word] || stated.set.write || word === 'delete') found.add(field);
    if (does.verb === 'transition') for (const { field } of machinesOf(spec.states, name)) found.add(field);
  }
  const others = new Set(coming.flatMap(({ does }) => (does ? [does.resource] : [])));
  for (const { field, aggregates, ownReads } of derivationsOf(spec).of(name)) {
    if (aggregates.some(({ from }) => others.has(from)) || ownReads.some((read) => found.has(read))) found.add(field.name);
  }
  return found;
}
