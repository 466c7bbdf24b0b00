import { isExchange } from '../exchange/exchange.ts';
import type { TrialRow } from '../exchange/row.ts';
import { derivedElsewhere } from '../model/derived.ts';
import type { Known } from '../model/expressions.ts';
import { followedIn } from '../model/followed.ts';
import { rowKnown } from '../model/row-known.ts';
import { unexpanded } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';

/** What is known of a row, and of the rows that it refers to, for conditions; nothing where it was never shown. */
export function contextOfRow(session: Session, row: TrialRow): Known | undefined {
  const { model, run } = session;
  if (!row.fields) return undefined;
  const reader = row.shown ? model.readerOf(row.shown.value) : row.caller;
  // What some rule leaves out, and was shown all the same, is known.
  const shown = row.fields;
  const hidden = new Set([...model.unseenBy(row.resource, reader)].filter((name) => shown[name] === undefined));
  const { fields, unseen } = rowKnown(model, row.resource, {
    // Conditions read what a reference names, however it is shown.
    fields: unexpanded(model, row.resource, row.fields),
    unseen: hidden,
    creation: row.made?.value,
  });
  const follow = followedIn(
    model,
    run.results.filter((result) => isExchange(result)),
  );
  return {
    context: { resource: fields, follow },
    unseen: { resource: new Set([...unseen, ...derivedElsewhere(model.spec, row.resource)]) },
  };
}
