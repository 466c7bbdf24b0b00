import { entriesOf, statedValue } from '../../parts/fact.ts';
import { lookAt, viewIn } from '../make/look.ts';
import type { Model } from '../model/model.ts';
import { type Claim, moot } from '../script/claim.ts';
import { type Exchange, fieldsOf, isDone } from '../script/exchange.ts';
import type { Case, Trial } from '../trial.ts';
import { difference } from '../values/difference.ts';

/** What a creation answered is what is read afterwards, field by field. */
export const readBack: Trial = {
  name: 'resources/read back',
  part: 'resources',
  about: 'What was created is read back as it was answered.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      const identifier = statedValue(resource.identifier);
      if (!identifier) continue;
      const fields = entriesOf(resource.fields).map(([field]) => ({ kind: 'allowed values', subject: `${name}.${field}` }));
      yield { name, facts: fields, run: (session) => readBackOnce(session, model, name) };
    }
  },
};

const readBackOnce = async (session: Parameters<Case['run']>[0], model: Model, name: string): Promise<void> => {
  const row = await session.make(name, { style: 'full' });
  const created = row.made;
  session.need(created !== undefined && fieldsOf(created.value) !== undefined, `the answer to its creation shows no ${name}`);
  const look = await lookAt(session, row);
  const stated = model.resource(name);
  for (const [field] of stated ? entriesOf(stated.fields) : []) {
    const claim: Claim<readonly [Exchange, Exchange]> = {
      fact: { kind: 'allowed values', subject: `${name}.${field}` },
      reason: 'read back',
      of: [created, look.done],
      judge(made, seen) {
        const before = isDone(made) ? fieldsOf(made) : undefined;
        const after = viewIn(model, name, made, seen);
        if (!before || !after) return moot('one of the two shows no row');
        if (!(field in before) || model.unseenBy(name, seen.caller).has(field)) return moot('it is not shown');
        return difference(before[field], after[field], `${field} as the creation answered it`);
      },
    };
    session.claim(claim);
  }
};
