/** What is sent with an act so that what comes after it leads where it is to: a high quote, which has the finished work inspected. */
import type { Json } from '../../document/document.ts';
import { conditionsOfTransition, type Transition } from '../../parts/states.ts';
import type { TrialRow } from '../exchange/row.ts';
import { isAimedAt } from '../model/access.ts';
import { hintsIn } from '../model/expressions.ts';
import type { ShownFields } from '../model/row-shown.ts';
import { type SetBySent, setBySent } from '../model/set-by-sent.ts';
import type { Session } from '../session/session.ts';
import type { Leg } from './legs.ts';
import { leadsFrom } from './opened.ts';

/** The members that are sent with a transition for what is wanted of the row in the end, and for where later acts on its way are to lead. */
export function sentAhead(
  session: Session,
  row: TrialRow,
  { name }: Transition,
  { wanted = {}, legs }: { readonly wanted?: ShownFields | undefined; readonly legs: readonly Leg[] },
): Readonly<Record<string, Json>> {
  const sent: Record<string, Json> = {};
  for (const one of setBySent(session.model, row.resource)) {
    if (one.transition !== name) continue;
    const value = wanted[one.field] ?? valueFor(session, row, one, legs);
    if (value !== undefined) sent[one.member] = value;
  }
  return sent;
}

/** A value with which the first act that reads it leads where it is to, neither the least nor the greatest; nothing where none has to be chosen. */
function valueFor(session: Session, row: TrialRow, { field, shape }: SetBySent, legs: readonly Leg[]): Json | undefined {
  const { model } = session;
  const reads = (transition: Transition) =>
    conditionsOfTransition(transition).filter((one) =>
      model.expressions.readsOf(one, undefined).some(({ path: [first] }) => first === field),
    );
  const leg = legs.find(({ transition }) => reads(transition).length > 0);
  if (!leg) return undefined;
  const fits = model.schemas.of(shape, 'sent');
  const able = reads(leg.transition)
    .flatMap(({ source }) => hintsIn(source))
    .filter((value) => fits(value).length === 0)
    .filter((value) =>
      isAimedAt(leadsFrom(session, { row, transition: leg.transition }, { ...row.fields, [field]: value }), leg.to),
    );
  return able[Math.floor(able.length / 2)];
}
