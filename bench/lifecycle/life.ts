/** The life of two things of a family, and which laws it keeps. */
import { type Asking, isGood, statedAnswer } from './asking.ts';
import { changedAndGone } from './changes.ts';
import type { Family } from './families.ts';
import { misfitOf } from './fitting.ts';
import { messageOf, unlike } from './judging.ts';
import type { Kept, Life, Made } from './law.ts';
import { countedIn, listPlace } from './lists.ts';
import { made, ownersOf } from './making.ts';
import { askBare, askRefused, askUnknown } from './refusing.ts';
import { otherwise, placeOfThing, shownOf, type ThingPlace } from './things.ts';

/** One life, before anything of it was asked: with what stands above its things. @throws {Spent} */
export async function lifeOf(family: Family, families: ReadonlyMap<string, Family>, asking: Asking, kept: Kept[]): Promise<Life> {
  return {
    family,
    families,
    asking,
    owners: await ownersOf(family, families, asking),
    kept,
    hold(law, { method, path }, told, broken) {
      const message = broken === undefined ? '' : messageOf(told);
      kept.push({
        law,
        isHeld: broken === undefined,
        operation: `${method} ${path}`,
        reason: broken ?? '',
        status: told.status,
        message,
      });
      return broken === undefined;
    },
  };
}

/** Lives through it. @throws {Spent} @throws {CannotMake} where no body can be made */
export async function live(family: Family, families: ReadonlyMap<string, Family>, asking: Asking, kept: Kept[]): Promise<void> {
  const life = await lifeOf(family, families, asking, kept);
  await askBare(life);
  const first = await made(life, 0);
  if (!isGood(family.create, first.told)) {
    life.hold('created', family.create, first.told, `answered ${first.told.status}`);
    return;
  }
  const place = askCreated(life, first);
  if (first.id !== undefined) await askRead(life, first, first.id);
  const second = await made(life, 1);
  await askListed(life, first, second, place);
  await askRefused(life);
  if (first.id === undefined) return;
  await askUnknown(life, first.id);
  await changedAndGone(life, first.id, second.id);
}

/** What the answer to the making says. */
function askCreated(life: Life, { told, body, id }: Made): ThingPlace {
  const { family, asking } = life;
  const { described } = asking;
  const stated = statedAnswer(family.create, told.status);
  const place = placeOfThing(described, stated?.schema, family);
  const misfit = stated?.schema && (told.body === undefined ? 'no body in JSON' : misfitOf(described, told.body, stated.schema));
  life.hold('created', family.create, told, misfit);
  if (stated?.schema) {
    const sent = shownOf(described, body, stated.schema, place);
    if (sent.length > 0) life.hold('echoed', family.create, told, otherwise(sent, told.body));
  }
  const isTold = !family.isNamed && (place.naming !== undefined || stated?.headers.includes('location'));
  if (isTold) life.hold('identifier', family.create, told, id === undefined ? `no ${place.naming ?? 'Location'}` : undefined);
  return place;
}

async function askRead(life: Life, { body }: Made, id: string): Promise<void> {
  const { family, asking, owners } = life;
  const told = await asking.ask(family.read, { path: [...owners, id] });
  life.hold('read', family.read, told, unlike(life, told, body, id));
}

async function askListed(life: Life, first: Made, second: Made, place: ThingPlace): Promise<void> {
  const { family } = life;
  const list = listPlace(life);
  const counts = list && first.id !== undefined ? await countedIn(life, list, [first.id, second.id ?? '']) : undefined;
  if (counts && family.list) {
    const [times = 0] = counts.times;
    const broken = counts.failed ?? (times === 1 ? undefined : `it is there ${times} times of ${counts.all}`);
    life.hold('listed', family.list, counts.told, broken);
  }
  if (!isGood(family.create, second.told)) {
    life.hold('twice', family.create, second.told, `answered ${second.told.status}`);
  } else if (first.id !== undefined && second.id !== undefined && (place.naming !== undefined || family.isNamed)) {
    const isOne = first.id === second.id ? `both are ${first.id}` : undefined;
    const isListed = counts === undefined || counts.failed !== undefined || counts.times.every((times) => times > 0);
    const told = isListed || !counts ? second.told : counts.told;
    life.hold('twice', family.create, told, isOne ?? (isListed ? undefined : 'not both are listed'));
  }
}
