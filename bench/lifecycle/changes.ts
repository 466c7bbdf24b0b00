/** The end of a life: changed, deleted, and gone. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';
import { isGood, statedAnswer } from './asking.ts';
import type { DescribedOperation } from './description.ts';
import { isOnlyLater, successOf } from './families.ts';
import { isAbsent, unlike } from './judging.ts';
import type { Life } from './law.ts';
import { countedIn, listPlace } from './lists.ts';
import { bodyFor } from './making.ts';
import { isMarkedDeleted, namingMember, placeOfThing, shownOf, type ThingPlace, valueAt } from './things.ts';
import { CannotMake } from './values.ts';

export async function changedAndGone(life: Life, id: string, second: string | undefined): Promise<void> {
  await askChanged(life, id);
  await askGone(life, id, second === id ? undefined : second);
}

/** By the first operation that can change what reading shows. */
async function askChanged(life: Life, id: string): Promise<void> {
  const { family, asking, owners } = life;
  for (const operation of family.changes) {
    if (isOnlyLater(operation)) continue;
    const body = await changeFor(life, operation, id);
    if (body === undefined) continue;
    const told = await asking.ask(operation, { path: [...owners, id], body });
    if (!isGood(operation, told)) {
      life.hold('changed', operation, told, `answered ${told.status}`);
      return;
    }
    const read = await asking.ask(family.read, { path: [...owners, id] });
    life.hold('changed', operation, read, unlike(life, read, body, id));
    return;
  }
}

/** A body that changes something which is shown; nothing where it cannot be made. */
async function changeFor(life: Life, operation: DescribedOperation, id: string): Promise<Json | undefined> {
  const { family, asking } = life;
  const { described } = asking;
  try {
    const body = await bodyFor(life, operation, 2, id);
    if (!isMap(body)) return undefined;
    const naming = namingMember(described, operation.body?.schema, family);
    const { [naming ?? '']: own, ...rest } = body;
    const required = described.flat(operation.body?.schema).required;
    const isNeeded = own !== undefined && Array.isArray(required) && required.includes(naming!);
    const sent = isNeeded ? { ...rest, [naming!]: typeof own === 'number' ? Number(id) : id } : rest;
    const isShown = successOf(family.read).some(
      ([, { schema }]) => schema && shownOf(described, rest, schema, placeOfThing(described, schema, family)).length > 0,
    );
    return isShown ? withOwnName(sent, placeOfThing(described, operation.body?.schema, family), id) : undefined;
  } catch (error) {
    if (error instanceof CannotMake) return undefined;
    throw error;
  }
}

/** A body whose thing lies in an envelope (`data: { id, … }`) and says of itself what it is called. */
function withOwnName(sent: JsonMap, { steps, naming }: ThingPlace, id: string): JsonMap {
  const [first, ...deeper] = steps;
  const inner = first === undefined ? undefined : sent[first];
  if (first === undefined || deeper.length > 0 || naming === undefined || !isMap(inner) || inner[naming] === undefined)
    return sent;
  return { ...sent, [first]: { ...inner, [naming]: typeof inner[naming] === 'number' ? Number(id) : id } };
}

async function askGone(life: Life, id: string, second: string | undefined): Promise<void> {
  const { family, asking, owners } = life;
  const { remove } = family;
  if (!remove || remove.isForeign || isOnlyLater(remove)) return;
  const needsBody = remove.body !== undefined;
  const told = await asking.ask(remove, { path: [...owners, id], ...(needsBody && { body: await removal(life, remove) }) });
  if (!life.hold('deleted', remove, told, isGood(remove, told) ? undefined : `answered ${told.status}`)) return;
  const read = await asking.ask(family.read, { path: [...owners, id] });
  const place = placeOfThing(asking.described, statedAnswer(family.read, read.status)?.schema, family);
  const isGone = isAbsent(family.read, read) || (isGood(family.read, read) && isMarkedDeleted(valueAt(read.body, place.steps)));
  if (!isGone) {
    life.hold('gone', family.read, read, `is still read with ${read.status}`);
    return;
  }
  const list = listPlace(life);
  const counts = list && (await countedIn(life, list, [id, second ?? ''], id));
  const [times = 0, other = 0] = counts?.failed === undefined ? (counts?.times ?? []) : [];
  const isOtherLost = counts !== undefined && counts.failed === undefined && second !== undefined && other === 0;
  const broken = times > 0 ? 'is still listed' : isOtherLost ? 'the other one is not listed any more' : undefined;
  life.hold('gone', family.read, counts && broken !== undefined ? counts.told : read, broken);
}

async function removal(life: Life, remove: DescribedOperation): Promise<Json | undefined> {
  try {
    return await bodyFor(life, remove, 0);
  } catch (error) {
    if (error instanceof CannotMake) return undefined;
    throw error;
  }
}
