/** Things that are made: what is sent for them, below what, and what they are called. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';
import { type Asking, isGood, parameterValue, statedAnswer, type Told } from './asking.ts';
import type { DescribedOperation } from './description.ts';
import { addressOf, type Family, plainName, singular, successOf } from './families.ts';
import { misfitOf, typesOf } from './fitting.ts';
import type { Life, Made } from './law.ts';
import { namingMember, placeOfThing, schemaAt, valueAt } from './things.ts';
import { CannotMake, type Making, madeOf, variedOf } from './values.ts';

/** Identifiers of what stands before the family in its path: made, where the document has how. */
export async function ownersOf(
  family: Family,
  families: ReadonlyMap<string, Family>,
  asking: Asking,
  depth = 0,
): Promise<string[]> {
  const steps = family.path.split('/');
  const owners: string[] = [];
  for (const [at, step] of steps.entries()) {
    if (!step.includes('{')) continue;
    const above = families.get(addressOf(steps.slice(0, at).join('/')));
    owners.push(
      above && depth < 3 && /^\{[^{}]*\}$/.test(step)
        ? await madeOwner(above, families, asking, owners, depth)
        : given(family, asking, step),
    );
  }
  return owners;
}

async function madeOwner(
  above: Family,
  families: ReadonlyMap<string, Family>,
  asking: Asking,
  owners: readonly string[],
  depth: number,
) {
  const step = `{${above.parameter}}`;
  try {
    const life = { family: above, families, asking, owners: owners.slice(), depth: depth + 1 };
    const { id, told } = await made(life, 0);
    if (isGood(above.create, told) && id !== undefined) return id;
  } catch (error) {
    if (!(error instanceof CannotMake)) throw error;
  }
  return given(above, asking, step, above.read);
}

function given({ create }: Family, { described }: Asking, step: string, operation = create): string {
  const name = /\{([^{}]*)\}/.exec(step)?.[1] ?? '';
  const parameter = operation.parameters.find((one) => one.place === 'path' && one.name === name);
  return parameter ? parameterValue(described, parameter, 0) : 'x';
}

export type Maker = Pick<Life, 'family' | 'families' | 'asking' | 'owners'> & { readonly depth?: number };

/** Makes one thing; another one for another number. What is taken already is called otherwise, as whoever reads the refusal does. */
export async function made(maker: Maker, n: number): Promise<Made> {
  const { family } = maker;
  const first = await madeOnce(maker, n);
  if (first.told.status !== 409 || family.isNamed) return first;
  const turn = (madeInstead.get(family) ?? 0) + 1;
  madeInstead.set(family, turn);
  return madeOnce(maker, n + furtherOn * turn);
}

/** How many things of a family were made instead of others. */
const madeInstead = new WeakMap<Family, number>();
/** So far apart are the numbers of things that are made in turn and of those that are made instead. */
const furtherOn = 10;

async function madeOnce(maker: Maker, n: number): Promise<Made> {
  const { family, asking, owners } = maker;
  const named = family.isNamed ? nameFor(maker, n) : undefined;
  const body = await bodyFor(maker, family.create, n, named);
  const told = await asking.ask(family.create, { path: named === undefined ? owners : [...owners, named], body });
  return { body, told, id: named ?? identifierIn(maker, body, told) };
}

export function nameFor({ family, asking }: Maker, n: number): string {
  const parameter = family.create.parameters.find((one) => one.place === 'path' && one.name === family.parameter);
  if (!parameter) return `thing-${n}`;
  const made = parameterValue(asking.described, parameter, 0);
  if (n === 0) return made;
  const making = { described: asking.described, n, shown: new Set<string>(), named: () => undefined };
  const varied = String(variedOf(making, made, parameter.schema, parameter.name));
  return varied === made ? parameterValue(asking.described, parameter, n) : varied;
}

/** A body of an operation on the family: its example, or of its schema. @throws {CannotMake} */
export async function bodyFor(maker: Maker, operation: DescribedOperation, n: number, named?: string): Promise<Json | undefined> {
  if (!operation.body) return undefined;
  const { family, asking } = maker;
  const { described } = asking;
  const { schema, example } = operation.body;
  const others = await othersOf(maker, schema);
  const shown = new Set(
    successOf(family.read).flatMap(([, answer]) =>
      Object.keys(described.membersOf(schemaAt(described, answer.schema, placeOfThing(described, answer.schema, family).steps))),
    ),
  );
  const making: Making = { described, n, shown, named: (name) => others.get(name) };
  const isExample = isMap(example) && !misfitOf(described, example, schema);
  const body = isExample ? variedOf(making, example, schema, family.noun) : madeOf(making, schema, family.noun);
  if (!isMap(body)) throw new CannotMake('the body is no object');
  const naming = named === undefined ? undefined : namingMember(described, schema, family);
  return naming !== undefined && naming in body && typeof body[naming] === 'string' ? { ...body, [naming]: named! } : body;
}

/** Things that required members of a body name: made, where the document has how. */
async function othersOf(maker: Maker, schema: JsonMap): Promise<ReadonlyMap<string, Json>> {
  const { family, families, asking, owners, depth = 0 } = maker;
  const flat = asking.described.flat(schema);
  const found = new Map<string, Json>();
  for (const name of Array.isArray(flat.required) ? flat.required.map(String) : []) {
    const stem = plainName(/^(.*?)_?(?:[iI][dD]s?|IDs)$/.exec(name)?.[1] ?? '');
    if (stem === '' || depth > 1) continue;
    const at = [...family.path.matchAll(/\{([^{}]*)\}/g)].findIndex(([, one]) => plainName(one!) === `${stem}id`);
    const other = [...families.values()].find(({ noun, path }) => plainName(singular(noun)) === stem && !path.includes('{'));
    const id =
      at >= 0 ? owners[at] : other && other !== family ? await madeOwner(other, families, asking, [], depth + 1) : undefined;
    const [type] = typesOf(asking.described.flat(asking.described.membersOf(schema)[name]));
    if (id !== undefined) found.set(name, type === 'array' ? [id] : type === 'integer' || type === 'number' ? Number(id) : id);
  }
  return found;
}

/** What the answer to a creation calls the thing. */
function identifierIn({ family, asking }: Maker, body: Json | undefined, told: Told): string | undefined {
  const schema = statedAnswer(family.create, told.status)?.schema;
  const { steps, naming } = placeOfThing(asking.described, schema, family);
  const shown = naming === undefined ? undefined : valueAt(told.body, [...steps, naming]);
  if (typeof shown === 'string' || typeof shown === 'number') return String(shown);
  const location = told.headers.get('location');
  if (location !== null && schema === undefined)
    return decodeURIComponent(new URL(location, 'http://x').pathname.split('/').findLast((step) => step !== '') ?? '');
  // Whoever names a thing knows what it is called.
  const member = namingMember(asking.described, family.create.body?.schema, family);
  const sent = member === undefined || !isMap(body) ? undefined : body[member];
  return schema === undefined && typeof sent === 'string' ? sent : undefined;
}
