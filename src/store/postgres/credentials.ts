import type { CredentialSearch, StoredCredential } from '../store.ts';
import type { FoundValues, Sql } from './connection.ts';
import type { StoreNames } from './names.ts';
import { read, written } from './texts.ts';

/** What finds credentials. */
export function credentialSql(names: StoreNames, search: CredentialSearch): Sql {
  const find = (where: string, ...values: string[]): Sql => ({
    text: `SELECT name, serial, scheme, lookup, "user", caller, doc FROM ${names.own('credentials')} WHERE ${where}`,
    values: values.map(written),
  });
  if ('lookup' in search) return find('lookup = $1 AND scheme = $2 ORDER BY name, serial', search.lookup, search.scheme);
  if ('caller' in search) return find('caller = $1 AND "user" = $2 ORDER BY name, serial', search.caller, search.user);
  if ('name' in search) return find('name = $1 ORDER BY serial', search.name);
  return find('name > $1 ORDER BY name, serial LIMIT $2::int8', search.after, String(search.most));
}

export function credentialOf(values: FoundValues): StoredCredential {
  // The columns are those that `credentialSql` selects.
  const [name, serial, scheme, lookup, user, caller, doc] = values as [string, number, string, string, string, string, string];
  return {
    name: read(name),
    serial,
    scheme: read(scheme),
    lookup: read(lookup),
    user: read(user),
    caller: read(caller),
    doc: read(doc),
  };
}
