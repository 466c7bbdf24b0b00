import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { derivationsOf } from '../../parts/derived/derivations.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { isWritable } from '../../parts/payload.ts';
import { conditionsOfTransition, type Transition } from '../../parts/states.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialRow } from '../exchange/row.ts';
import { ifTestable } from '../exchange/untestable.ts';
import { type Aim, isAimedAt, targetTaken } from '../model/access.ts';
import { mayHold, writesFields } from '../model/own-body.ts';
import type { Session } from '../session/session.ts';
import { callersFor } from './callers-for.ts';
import { sendChange } from './change-sent.ts';
import { valuesThatFit } from './fitting-values.ts';
import { lookAt } from './look.ts';

/** So many changes of what a row refers to are tried for one transition. */
const changesMost = 4;

/**
 * Changes what a row refers to until a transition's conditions, which read that, hold: a night has more places before whoever waits for one gets it.
 * Who may not change it, or where no change does it, leaves it as it is.
 */
export async function changeBehind(session: Session, row: TrialRow, transition: Transition, to: Aim): Promise<void> {
  const { model } = session;
  const conditions = conditionsOfTransition(transition);
  const reads = conditions.flatMap((one) => model.expressions.readsOf(one, undefined));
  const through = reads.flatMap(({ root, path: [name = '', ...more], follows: [member, ...deeper] = [] }) =>
    root !== 'request' && more.length === 0 && member !== undefined && deeper.length === 0 ? [{ name, member }] : [],
  );
  let tries = 0;
  for (const [name, those] of Map.groupBy(through, (one) => one.name)) {
    const resource = entryOf(model.resource(row.resource)?.fields, name)?.ref;
    const id = row.known[name] ?? row.fields?.[name];
    if (resource === undefined || id === undefined || !row.fields) continue;
    const other: TrialRow = { resource, id, known: {}, caller: row.caller, shown: undefined, fields: undefined };
    await ifTestable(lookAt(session, other));
    const holds = (fields: TrialRow['fields']) => isAimedAt(takenWith(session, row, transition, fields), to);
    if (!other.fields || holds(other.fields)) continue;
    const own = reads.flatMap(({ path: [field = ''], follows }) => (follows ? [] : [row.fields?.[field]]));
    const source = conditions.map((one) => one.source).join(' ');
    for (const endpoint of model.endpointsThat('update', resource)) {
      const [caller] = callersFor(session, endpoint, other);
      if (endpoint.identity || !writesFields(model, endpoint) || !caller) continue;
      for (const { field, isReckoned } of fieldsBehind(session, resource, those)) {
        if (!mayHold(model, endpoint, field)) continue;
        for (const value of valuesOf(session, other, field, { own, source })) {
          // What is reckoned of it is seen once it is changed.
          if (!isReckoned && !holds({ ...other.fields, [field]: value })) continue;
          if (++tries > changesMost) return;
          await ifTestable(sendChange(session, other, { endpoint, caller, chosen: { [field]: value } }));
          if (holds(other.fields)) return;
        }
      }
    }
  }
}

/** What a transition would take if what its conditions read through a reference were so. */
function takenWith({ model, run }: Session, row: TrialRow, transition: Transition, fields: TrialRow['fields']) {
  return targetTaken(model.expressions, transition, {
    operation: '',
    row: row.fields ?? {},
    unseen: model.unseenIn(row.resource, row.caller, row.fields),
    request: undefined,
    caller: row.caller,
    nowMs: run.clock.toService(Date.now()),
    follow: () => ({ ...fields }),
  });
}

/** The fields that callers write of what is read through a reference: those that are read, and those that a read one is reckoned of. */
function fieldsBehind(
  { model }: Session,
  resource: string,
  read: readonly { readonly member: string }[],
): readonly { readonly field: string; readonly isReckoned: boolean }[] {
  const stated = model.resource(resource);
  const derivations = derivationsOf(model.spec).of(resource);
  const all = read.flatMap(({ member }) => {
    const derivation = derivations.find(({ field }) => field.name === member);
    const derive = derivation?.field.derive;
    const of = derive ? [...derive.source.matchAll(/\bresource\.(\w+)/g)].map(([, field = '']) => field) : [];
    return derivation ? of.map((field) => ({ field, isReckoned: true })) : [{ field: member, isReckoned: false }];
  });
  return all.filter(({ field }) => {
    const one = entryOf(stated?.fields, field);
    return stated && one && !one.immutable && one.ref === undefined && isWritable(model.spec, stated, one);
  });
}

/** Other values of a field: what fits its shape and the condition; of a number as much more and less as the row itself has of what is read, and the ends of its range. */
function valuesOf(
  session: Session,
  { resource, fields }: TrialRow,
  name: string,
  { own, source }: { readonly own: readonly (Json | undefined)[]; readonly source: string },
): readonly Json[] {
  const shape = statedValue(entryOf(session.model.resource(resource)?.fields, name)?.shape);
  const now = fields?.[name];
  if (!shape || !isMap(shape)) return [];
  const fits = session.model.schemas.of(shape, 'sent');
  const numbers = own.filter((one) => typeof one === 'number');
  const { minimum, maximum } = shape;
  const beside = typeof now === 'number' ? numbers.flatMap((by) => [now + by, now - by]) : [];
  const ends = [maximum, minimum].filter((one) => typeof one === 'number');
  const all = typeof now === 'number' ? [...beside, ...ends] : valuesThatFit(session, shape, source);
  return [...new Set(all)].filter((one) => asText(one) !== asText(now ?? '') && fits(one).length === 0);
}
