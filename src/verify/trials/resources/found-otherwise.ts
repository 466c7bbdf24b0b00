import type { Json, Pointer } from '../../../document/document.ts';
import { isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { boundByPath, isEverShown, isWritable } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { lookAt } from '../../make/look.ts';
import { changedByClock, toldMeanwhile } from '../../model/clock-changes.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import { withMember } from '../../values/at-path.ts';
import { NoValue } from '../../values/scalars.ts';
import { arbitraryValuesOf } from '../../values/values.ts';

/** The reason of the claims that what a creation finds is as it was, whatever else was sent. */
export const foundAsItWas = 'found, as it was';

/** What a creation may say of a row that it finds, beside what it finds it by. */
export function membersOfFound(model: Model, endpoint: Endpoint, resource: Resource, by: readonly string[]): readonly Field[] {
  if (!endpoint.exists || isStated(endpoint.request)) return [];
  const identifier = statedValue(resource.identifier)?.field;
  const bound = new Set([...by, ...boundByPath(model.spec, endpoint), ...(identifier === undefined ? [] : [identifier])]);
  return entriesOf(resource.fields)
    .map(([, field]) => field)
    .filter(
      (field) =>
        !bound.has(field.name) &&
        field.ref === undefined &&
        field.writable === undefined &&
        isEverShown(field) &&
        isWritable(model.spec, resource, field),
    );
}

/** A row that is found again by a creation with other values of all else. */
export interface FoundAgain {
  readonly endpoint: Endpoint;
  readonly resource: Resource;
  /** The fields that it is found by. */
  readonly by: readonly string[];
  readonly at: Pointer;
  /** The creation that finds it, with the values that the row has. */
  readonly plan: RequestPlan;
  /** Whether a request is about the row that an exchange made. */
  readonly isSecond: (before: TrialExchange, exchange: TrialExchange) => boolean;
}

/** Sends another value of each member by which it is not found: the row is as it was. */
export async function findOtherwise(session: Session, row: TrialRow, found: FoundAgain): Promise<void> {
  const { model } = session;
  const { endpoint, resource, by, at, plan, isSecond } = found;
  const { made } = row;
  const body = plan.body && 'value' in plan.body ? plan.body : undefined;
  const members = membersOfFound(model, endpoint, resource, by);
  if (!made || !body || members.length === 0) return;
  const before = await ifTestable(lookAt(session, row));
  if (!before) return;
  let value = body.value;
  for (const field of members) {
    const other = otherValue(session, field, before.fields?.[field.name]);
    if (other !== undefined) value = withMember(value, [field.name], other);
  }
  const again = await session.send({ ...plan, body: { ...body, value } });
  const after = (await lookAt(session, row)).done;
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: foundAsItWas,
    at,
    of: [made, before.done, again, after] as const,
    judge(first: TrialExchange, was: TrialExchange, sent: TrialExchange, seen: TrialExchange): Judgement {
      if (!isSecond(first, sent) || sent.status !== 200) return moot('nothing was found');
      const id = idIn(model, first);
      const [old, now] = [rowWith(model, was, id), rowWith(model, seen, id)];
      if (!old || !now) return moot('the row is not shown');
      const byClock = changedByClock(model, resource.name, [first, was, sent, seen], (one) => rowWith(model, one, id));
      const meanwhile = toldMeanwhile(model.spec, resource.name);
      const other = Object.keys(old).find((name) => !isSame(old[name], now[name]) && !meanwhile.has(name) && !byClock(name));
      if (other === undefined) return undefined;
      return { promised: `${other} as it was: ${JSON.stringify(old[other])}`, seen: JSON.stringify(now[other]) };
    },
  });
}

/** So often another value is drawn. */
const drawsMost = 12;

/** A value of a field that the row does not have; nothing where there is none, or none is found. */
function otherValue({ model, chance }: Session, { shape }: Field, own: Json | undefined): Symbolic | undefined {
  const stated = statedValue(shape);
  try {
    for (let draw = 0; stated && draw < drawsMost; draw++) {
      // A shape without references has values without them.
      const value = chance.value(arbitraryValuesOf(model.spec, stated, 'plain')) as Json;
      if (!isSame(value, own)) return value;
    }
  } catch (error) {
    if (!(error instanceof NoValue)) throw error;
  }
  return undefined;
}
