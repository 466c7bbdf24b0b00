import { plainName } from '../../../document/nearest.ts';
import type { Reader, Row } from '../../../store/store.ts';
import type { Value } from '../../exchange/exchange.ts';
import type { RowModel } from '../model.ts';

/**
 * The row that people call so, where its identifier is another: by its slug, its name or its number. Looks at the first thousand rows. Of those that are known by
 * their whole place the one that is where the path says.
 */
export function rowCalled(
  rows: Reader,
  model: RowModel,
  name: string,
  beside: Readonly<Record<string, string>> = {},
): Row | undefined {
  const fields = [...model.fields.keys()].filter((one) => one !== model.identifier.field && callNames.has(plainName(one)));
  if (fields.length === 0) return undefined;
  const isCalled = (value: Value) => typeof value !== 'object' && isSameName(String(value ?? ''), name);
  const isHidden = (field: string) => model.fields.get(field)?.visible?.length === 0;
  const places = isHidden(model.identifier.field) ? Object.entries(beside).filter(([field]) => isHidden(field)) : [];
  return rows.scan(model.name, 0, lookedAtMost).find((row) => {
    const own = model.parse(row);
    return fields.some((field) => isCalled(own[field])) && places.every(([field, value]) => own[field] === value);
  });
}

/** Whether two names are one: the name of a domain with a dot at its end is the same without it (RFC 1034, section 3.1). */
function isSameName(own: string, name: string): boolean {
  if (own === name) return true;
  const [one, other] = own.endsWith('.') ? [own, `${name}.`] : [`${own}.`, name];
  return one === other && /^(?:[\w-]+\.){2,}$/.test(one);
}

/** The fields by which people call what has another identifier, in small letters and without what joins their words. */
const callNames: ReadonlySet<string> = new Set([
  'id',
  'uid',
  'gid',
  'uuid',
  'guid',
  'shortuuid',
  'slug',
  'login',
  'username',
  'userprincipalname',
  'screenname',
  'email',
  'handle',
  'key',
  'code',
  'sku',
  'alias',
  'name',
  'number',
]);

const lookedAtMost = 1000;
