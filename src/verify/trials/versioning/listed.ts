import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { callersFor } from '../../make/callers-for.ts';
import { requestAbout } from '../../make/request-about.ts';
import { inVersion } from '../../make/versions.ts';
import type { Session } from '../../session/session.ts';
import { oneLine } from '../../values/difference.ts';
import { largestPage } from '../authentication/lists.ts';

const fact = { kind: 'version identifiers', subject: 'service' } as const;

/** A row that was read in the newest version and in an older one. */
interface ReadInBoth {
  readonly row: TrialRow;
  readonly version: string;
  readonly newest: Done<TrialExchange>;
  readonly read: Done<TrialExchange>;
}

/** Claims that lists of an older version show a row as reading it there does, wherever the version has it otherwise. */
export async function claimListed(session: Session, { row, version, newest, read }: ReadInBoth): Promise<void> {
  const { model } = session;
  const field = model.identifierField(row.resource);
  for (const endpoint of model.endpointsThat('list', row.resource)) {
    const [caller] = callersFor(session, endpoint, row);
    const query = largestPage(model, endpoint);
    const plan = await ifTestable(requestAbout(session, row, endpoint, { caller, query }));
    if (!plan) continue;
    const { endpoint: _endpoint, ...older }: RequestPlan = inVersion(model, plan, version);
    const listed = await session.send(older);
    session.claim({
      fact,
      reason: `${row.resource} is listed`,
      of: [newest, read, listed] as const,
      judge: (one: TrialExchange, other: TrialExchange, list: TrialExchange): Judgement => {
        const id = rowsIn(one.body).find((shown) => shown[field] !== undefined)?.[field];
        const [whole, alone] = [one, other].map((seen) => (isDone(seen) ? rowWithId(seen.body, field, id) : undefined));
        const item = isDone(list) && id !== undefined ? rowWithId(list.body, field, id) : undefined;
        if (!whole || !alone || !item) return moot('it is not on the page, or not called so there');
        const otherwise = [...new Set([...Object.keys(whole), ...Object.keys(alone)])].filter(
          (name) => !isSame(whole[name], alone[name]),
        );
        for (const name of otherwise) {
          // A list may show less; what it has is as it is in that version.
          if (item[name] === undefined || isSame(item[name], alone[name])) continue;
          return { promised: `${name} in a list of ${version}: ${oneLine(alone[name])}`, seen: oneLine(item[name]) };
        }
        return otherwise.length === 0 ? moot('nothing of it is otherwise there') : undefined;
      },
    });
  }
}

type Shown = Readonly<Record<string, Json>>;

const deepest = 3;

/** The maps of a body, those in lists and members of it too. */
function rowsIn(body: Json | undefined, depth = 0): Shown[] {
  if (depth > deepest) return [];
  if (Array.isArray(body)) return (body as readonly Json[]).flatMap((one) => rowsIn(one, depth + 1));
  return isMap(body) ? [body, ...Object.values(body).flatMap((one) => rowsIn(one, depth + 1))] : [];
}

function rowWithId(body: Json | undefined, field: string, id: Json | undefined): Shown | undefined {
  return rowsIn(body).find((one) => one[field] !== undefined && isSame(one[field], id));
}
