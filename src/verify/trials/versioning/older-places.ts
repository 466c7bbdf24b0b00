import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { resolve, type Symbolic } from '../../exchange/symbol.ts';
import { placesTold, placeWrittenAs } from '../../make/told-places.ts';
import type { Session } from '../../session/session.ts';
import { withMember, withoutMember } from '../../values/at-path.ts';

const fact = { kind: 'version identifiers', subject: 'service' } as const;

/** A member that a version calls otherwise: the way to it there, and in the newest. */
interface Renamed {
  readonly older: readonly string[];
  readonly newer: readonly string[];
}

/** So many members are broken, each in two ways. */
const renamedMost = 3;

/** Claims that what is wrong with a body of an older version is told in the words of that version. `plan` sends it, `newest` is the same in the newest. */
export async function claimOlderPlaces(
  session: Session,
  version: string,
  plan: RequestPlan,
  { older, newest }: Readonly<Record<'older' | 'newest', Symbolic>>,
): Promise<void> {
  const { model, run } = session;
  const { body } = plan;
  if (!body || !('value' in body) || !model.refusals.placeAt('request.invalid')) return;
  for (const renamed of renamedIn(resolve(older, run), resolve(newest, run)).slice(0, renamedMost)) {
    const broken = [withoutMember(older, renamed.older), withMember(older, renamed.older, { nf: 'x' })];
    for (const value of broken) {
      const done = await session.send({ ...plan, body: { ...body, value } });
      session.claim({
        fact,
        reason: 'told in its words',
        of: [done] as const,
        control: plan,
        judge: (seen: TrialExchange): Judgement => {
          if (isDone(seen) || seen.status >= 500) return moot('it was not refused for it');
          const told = placesTold(model, seen);
          const [wanted, other] = [renamed.older, renamed.newer].map((path) => placeWrittenAs(path, model.spec.errors.paths));
          if (told.includes(wanted)) return undefined;
          return told.includes(other)
            ? { promised: `the place of what is wrong, as ${version} calls it: ${wanted}`, seen: `${other}` }
            : moot('something else is told to be wrong');
        },
      });
    }
  }
}

const deepest = 3;

/** The members of two bodies that have one value and two names. */
function renamedIn(older: Json | undefined, newest: Json | undefined, path: readonly string[] = []): Renamed[] {
  if (!isMap(older) || !isMap(newest) || path.length > deepest) return [];
  const [ofOlder, ofNewest] = [
    Object.keys(older).filter((name) => !Object.hasOwn(newest, name)),
    Object.keys(newest).filter((name) => !Object.hasOwn(older, name)),
  ];
  const here = ofOlder.flatMap((name): Renamed[] => {
    const same = ofNewest.filter((other) => isSame(newest[other], older[name]));
    return same.length === 1 ? [{ older: [...path, name], newer: [...path, ...same] }] : [];
  });
  const inside = Object.keys(older).flatMap((name) => renamedIn(older[name], newest[name], [...path, name]));
  return [...here, ...inside];
}
