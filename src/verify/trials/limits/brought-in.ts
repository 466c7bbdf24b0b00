import type { Json } from '../../../document/document.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../../parts/fact.ts';
import type { RowLimit } from '../../../parts/row-limits.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { claimRefusedAs } from '../../make/claim-refused.ts';
import { counts } from '../../make/places.ts';
import { requestAbout } from '../../make/request-about.ts';
import type { Model } from '../../model/model.ts';
import { mayHold } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import { withMember } from '../../values/at-path.ts';
import { creating, type FullHouse, rowAsked, rowLimitFact } from './row-plans.ts';

/** A member that a body may have, with a value by which a row does not count, and one by which it does. */
interface Telling {
  readonly member: string;
  readonly out: Json;
  readonly into: Json;
}

/** Nothing where what counts is told by nothing that is sent, or by more than one member. */
function tellingMember(model: Model, rule: RowLimit): Telling | undefined {
  const [creation] = model.endpointsThat('create', rule.of);
  const reads = rule.while && creation ? model.expressions.readsOf(rule.while, undefined) : [];
  const [read, ...others] = reads;
  const member = read?.root === 'next' && read.path.length === 1 && !read.follows ? read.path[0] : undefined;
  if (!creation || member === undefined || others.some(({ path }) => path[0] !== member)) return undefined;
  const { type, enum: listed } = statedValue(entryOf(model.resource(rule.of)?.fields, member)?.shape) ?? {};
  const values: readonly Json[] = Array.isArray(listed) ? listed : type === 'boolean' ? [true, false] : [];
  const into = values.find((value) => counts(model, rule, { [member]: value }));
  const out = values.find((value) => !counts(model, rule, { [member]: value }));
  if (into === undefined || out === undefined || !mayHold(model, creation, member)) return undefined;
  return { member, out, into };
}

/** The reason of the claim. */
export const broughtInBy = 'kept, by a change';

/** Whether a change can make a row count that did not. */
export function isBroughtIn(model: Model, rule: RowLimit): boolean {
  return changeOf(model, rule) !== undefined;
}

function changeOf(model: Model, rule: RowLimit): (Telling & { readonly change: Endpoint }) | undefined {
  const telling = tellingMember(model, rule);
  const [change] = model.endpointsThat('update', rule.of);
  return telling && change && mayHold(model, change, telling.member) ? { ...telling, change } : undefined;
}

/** With as many as there may be, one that does not count is made all the same, and no change makes it count. */
export async function claimBroughtIn(session: Session, house: FullHouse, full: Done<TrialExchange>): Promise<void> {
  const { model } = session;
  const { rule, plan, caller, isFull, promised } = house;
  const told = changeOf(model, rule);
  if (!told || model.access.allows(model.operationOf(told.change), caller) === 'no') return;
  const { member, out, into, change } = told;
  const asked = await plan();
  if (!asked.body || !('value' in asked.body)) return;
  const uncounted = { ...asked, body: { ...asked.body, value: withMember(asked.body.value, [member], out) } };
  const made = await session.send({ ...uncounted, endpoint: creating(session, rule) });
  if (!isDone(made.value)) return;
  const row = await rowAsked(session, { rule, plan }, made);
  const changing = await requestAbout(session, row, change, { caller });
  const changed = await session.send({
    ...changing,
    body: { value: { [member]: into }, type: changing.body?.type ?? 'application/json' },
  });
  session.claim({
    fact: rowLimitFact(rule),
    reason: broughtInBy,
    at: rule.at,
    of: [full, made, changed],
    tries: 1,
    judge: (before: TrialExchange, other: TrialExchange, seen: TrialExchange): Judgement => {
      if (!isFull(before) || !isDone(other)) return moot('none that does not count was made beside a full house');
      return isDone(seen) ? { promised, seen: `one more counts by a change of ${member}` } : undefined;
    },
  });
  if (isFull(changed.value))
    claimRefusedAs(session, changed, {
      by: { when: 'limit.quota' },
      what: `a change by which one more than ${promised} counts`,
      beside: [full, made],
      tries: 1,
    });
}
