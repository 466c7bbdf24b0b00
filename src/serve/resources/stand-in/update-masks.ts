/** Which of what is sent a change is to change: `PATCH /things/{id}?updateMask=title,labels`. */

import { plainName } from '../../../document/nearest.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf } from '../../../parts/fact.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import { isFields } from '../body.ts';
import type { RowModel } from '../model.ts';
import type { Masked } from '../stand-in.ts';

/**
 * Compiles what a parameter of the query that is called an update mask leaves of a change: the members that it names, each whole as it was sent, or gone where
 * it was not; nothing where no parameter is called so. Names are taken in either way of writing them (`display_name`, `displayName`).
 */
export function compileUpdateMask({ parameters }: Endpoint, { fields }: RowModel): Masked | undefined {
  const mask = entriesOf(parameters).find(([, { name, in: place }]) => place === 'query' && plainName(name) === 'updatemask');
  if (!mask) return undefined;
  const [, { name }] = mask;
  const called = new Map([...fields.keys()].map((field) => [plainName(field), field]));
  return ({ params }: Exchange, before, sent) => {
    const paths = pathsIn(params[name]);
    // What names nothing, or everything, leaves it at what was sent.
    if (paths.length === 0 || paths.includes('*')) return undefined;
    const rest: Fields = { ...before };
    const own: Fields = {};
    for (const path of paths) {
      const [first = '', ...inner] = path.split('.');
      const field = called.get(plainName(first));
      if (field === undefined) continue;
      if (inner.length === 0) {
        delete rest[field];
        own[field] = sent[field];
      } else own[field] = withInner(isFields(own[field]) ? own[field] : {}, inner, valueIn(sent[field], inner));
      if (own[field] === undefined) delete own[field];
    }
    return { before: rest, sent: own };
  };
}

function pathsIn(value: Value): string[] {
  const texts = Array.isArray(value) ? value : [value];
  return texts
    .flatMap((text) => (typeof text === 'string' ? text.split(',') : []))
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .slice(0, pathsMost);
}

const pathsMost = 200;

/** A member below others; null, which removes it, where nothing was sent of it. */
function valueIn(value: Value, names: readonly string[]): Value {
  let inner: Value = value;
  for (const name of names) {
    const held: Fields = isFields(inner) ? inner : {};
    const key = Object.keys(held).find((one) => plainName(one) === plainName(name));
    inner = key === undefined ? undefined : held[key];
  }
  return inner ?? null;
}

function withInner(map: Fields, [first = '', ...rest]: readonly string[], value: Value): Fields {
  const held = map[first];
  return { ...map, [first]: rest.length === 0 ? value : withInner(isFields(held) ? held : {}, rest, value) };
}
