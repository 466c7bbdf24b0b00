import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Resource, Unique } from '../../../parts/resources.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { claimUnchanged } from '../../make/transitions.ts';
import { beforeFrom } from '../../model/expected.ts';
import { writesFields } from '../../model/own-body.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { isValid } from '../endpoints/bodies.ts';
import { areAlike, freshValues, isChangeable, rowAfter, rowMeant, uniqueFact } from './alike.ts';

/** A row cannot be changed into one that is not unique. */
export const uniqueChanged: Trial = {
  name: 'resources/unique changed',
  part: 'resources',
  about: 'A change that would give a row the unique values of another is refused, and changes nothing.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      if (!statedValue(resource.identifier)) continue;
      for (const endpoint of [...model.endpointsThat('update', name), ...model.endpointsThat('replace', name)]) {
        for (const rule of resource.unique) {
          const changing = rule.fields.filter((field) => isChangeable(model, resource, field));
          if (!writesFields(model, endpoint) || changing.length === 0) continue;
          const facts = [uniqueFact(name, rule.fields)];
          const by = `${endpoint.key} by ${rule.fields.join(' and ')}`;
          yield { name: by, facts, run: (session) => changeIntoOther(session, endpoint, { resource, rule, changing }) };
        }
      }
    }
  },
};

interface Changing {
  readonly resource: Resource;
  readonly rule: Unique;
  /** The fields of the rule that a change can write; in the others the two rows are alike from the beginning. */
  readonly changing: readonly string[];
}

async function changeIntoOther(session: Session, endpoint: Endpoint, { resource, rule, changing }: Changing): Promise<void> {
  const { model } = session;
  const { name } = resource;
  const taken = await freshValues(session, resource, rule.fields);
  const one = await session.make(name, taken);
  session.need(one.shown !== undefined, `a ${name} that was made is not shown`);
  const free = await freshValues(session, resource, changing);
  const [state] = endpoint.in ?? [];
  const other = await session.make(name, {
    body: { ...taken.body, ...free.body },
    parents: { ...taken.parents, ...free.parents },
    ...(state !== undefined && { state }),
  });
  const before = (await lookAt(session, other)).done;
  const values = Object.fromEntries(
    changing.flatMap((field) => (Object.hasOwn(taken.body, field) ? [[field, taken.body[field] ?? null]] : [])),
  );
  const done = await session.send(await changeTo(session, endpoint, other, values));
  const fact = uniqueFact(name, rule.fields);
  claimRefused(session, done, {
    by: { when: 'resource.exists' },
    fact,
    reason: 'unique, changed',
    at: rule.at,
    beside: [one.shown, before],
    control: () => changeTo(session, endpoint, other, free.body),
    what: `${endpoint.key} with the ${changing.join(' and ')} of another ${name}`,
    isSo: (exchange, first, was) => {
      const old = was && rowWith(model, was, idIn(model, exchange));
      if (!first || !old || !isValid(model, exchange)) return false;
      const next = rowMeant(model, exchange, { fields: old, ...beforeFrom(model, name, was) });
      // A replay may be of one row alone.
      const isAnother = !rowWith(model, first, idIn(model, exchange));
      return isAnother && areAlike(model, resource, rule, { one: rowAfter(model, resource, first), other: next });
    },
  });
  await claimUnchanged(session, other, { before, attempt: done, fact });
}

async function changeTo(
  session: Session,
  endpoint: Endpoint,
  row: TrialRow,
  values: Readonly<Record<string, Symbolic>>,
): Promise<RequestPlan> {
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  const plan = await requestAbout(session, row, endpoint, { caller, headers });
  const drawn = plan.body && 'value' in plan.body ? plan.body.value : {};
  // A patch says what it changes and nothing else.
  const json = statedValue(endpoint.does)?.verb === 'update' ? values : { ...(drawn as Record<string, Symbolic>), ...values };
  return { ...plan, body: { value: json, type: plan.body?.type ?? 'application/json' } };
}
