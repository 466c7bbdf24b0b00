/** What has to be refused: no credential, a body that does not fit, what was never made. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';
import { isFlaggedRefusal, type Told } from './asking.ts';
import { misfitOf, typesOf } from './fitting.ts';
import { isAbsent } from './judging.ts';
import type { Life } from './law.ts';
import { bodyFor, nameFor } from './making.ts';
import { namingMember } from './things.ts';

export async function askBare(life: Life): Promise<void> {
  const { family, asking, owners } = life;
  if (family.create.security.length === 0) return;
  const path = family.isNamed ? [...owners, nameFor(life, 3)] : owners;
  const told = await asking.ask(family.create, { path, body: await bodyFor(life, family.create, 3), isBare: true });
  const isRefused = told.status === 401 || told.status === 403 || isFlaggedRefusal(told);
  life.hold('let in', family.create, told, isRefused ? undefined : `answered ${told.status} without a credential`);
}

/** Bodies without something required, and with something of another type. */
export async function askRefused(life: Life): Promise<void> {
  const { family, asking, owners } = life;
  const { described } = asking;
  const whole = await bodyFor(life, family.create, 4);
  if (!isMap(whole) || !family.create.body) return;
  const flat = described.flat(family.create.body.schema);
  const path = family.isNamed ? [...owners, nameFor(life, 4)] : owners;
  // Whoever makes things may give a name to one that has none.
  const naming = namingMember(described, family.create.body.schema, family);
  const isAsked = (name: string) =>
    name !== naming &&
    !/(?:id|ids|key|token|type|kind|password|secret)$/i.test(name) &&
    !family.create.path.includes(`{${name}}`);
  const required = (Array.isArray(flat.required) ? flat.required.map(String) : []).filter(
    (name) => name in whole && isAsked(name),
  );
  const tries: [string, Json][] = [];
  if (required[0] !== undefined) {
    const { [required[0]]: _, ...rest } = whole;
    tries.push([`without ${required[0]}`, rest]);
  }
  const wrong = wrongOf(life, whole, isAsked);
  if (wrong) tries.push([`${wrong[0]} of a wrong type`, { ...whole, [wrong[0]]: wrong[1] }]);
  if (tries.length === 0) return;
  let last: Told | undefined;
  for (const [what, body] of tries) {
    const told = await asking.ask(family.create, { path, body });
    last = told;
    const isRefused = (told.status >= 400 && told.status < 500) || isFlaggedRefusal(told);
    if (!isRefused) {
      life.hold('refused', family.create, told, `answered ${told.status} ${what}`);
      return;
    }
  }
  if (last) life.hold('refused', family.create, last, undefined);
}

function wrongOf(
  { family, asking: { described } }: Life,
  whole: JsonMap,
  isAsked: (name: string) => boolean,
): [string, Json] | undefined {
  const isForm = family.create.body?.mediaType.includes('urlencoded');
  const members = described.membersOf(family.create.body?.schema);
  const wrongs: Record<string, Json> = { string: { wrong: true }, integer: 'no number', number: 'no number', boolean: 'no flag' };
  for (const name of Object.keys(whole)) {
    const flat = described.flat(Object.hasOwn(members, name) ? members[name] : undefined);
    const types = typesOf(flat);
    const wrong = types.length === 1 ? wrongs[types[0]!] : undefined;
    if (wrong !== undefined && isAsked(name) && !(isForm && isMap(wrong)) && misfitOf(described, wrong, flat))
      return [name, wrong];
  }
  return undefined;
}

export async function askUnknown(life: Life, id: string): Promise<void> {
  const { family, asking, owners } = life;
  const parameter = family.read.parameters.find((one) => one.place === 'path' && one.name === family.parameter);
  const other = neverMade(id);
  const flat = asking.described.flat(parameter?.schema);
  const fits = misfitOf(
    asking.described,
    typesOf(flat).some((type) => type === 'integer' || type === 'number') ? Number(other) : other,
    flat,
  );
  if (fits !== undefined) return;
  const told = await asking.ask(family.read, { path: [...owners, other] });
  life.hold('unknown', family.read, told, isAbsent(family.read, told) ? undefined : `answered ${told.status}`);
}

/** An identifier like this one that nothing has. */
function neverMade(id: string): string {
  if (/^\d+$/.test(id)) return String(Number(id) + 100_000);
  let left = 6;
  const turned = [...id].reverse().map((sign) => {
    if (left === 0 || !/[a-z0-9]/i.test(sign)) return sign;
    left--;
    return /\d/.test(sign)
      ? String((Number(sign) + 5) % 10)
      : /[a-f]/i.test(sign)
        ? /[a-z]/.test(sign)
          ? 'c'
          : 'C'
        : sign === 'q'
          ? 'r'
          : sign === sign.toLowerCase()
            ? 'q'
            : 'Q';
  });
  const other = turned.reverse().join('');
  return other === id ? `${id}9` : other;
}
