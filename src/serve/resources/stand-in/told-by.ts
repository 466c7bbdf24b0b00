import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { RowModel } from '../model.ts';
import type { RowToldBy } from '../stand-in.ts';

const lookedAtMost = 1000;

/**
 * Compiles how a thing is found by another field than its identifier: at `GET /releases/tags/{tag}`, where `/releases` is made or listed, by the field that is called
 * as the word or the parameter is (`tag`, `tag_name`). Nothing where a path is of another form, or no field is called so.
 */
export function compileToldBy(endpoint: Endpoint, model: RowModel, spec: Spec): RowToldBy | undefined {
  const [, place = '', word = '', parameter = ''] =
    /^(.+)\/([\w-]+)\/\{([^{}/]+)\}$/.exec(endpoint.path.replace(/[?#].*$/, '')) ?? [];
  if (place === '' || plain(place).endsWith('{}')) return undefined;
  const isPlace = entriesOf(spec.endpoints.all).some(([, { does, path }]) => {
    const effect = statedValue(does);
    return (
      (effect?.verb === 'create' || effect?.verb === 'list') && effect.resource === model.name && plain(path) === plain(place)
    );
  });
  if (!isPlace) return undefined;
  const words = [lettersOf(word.replace(/^(?:by|with)[-_]/i, '')).replace(/s$/, ''), lettersOf(parameter)];
  const names = new Set(words.flatMap((one) => [one, `${one}name`]));
  const fields = [...model.fields.keys()].filter((name) => name !== model.identifier.field && names.has(lettersOf(name)));
  const [field] = fields;
  if (field === undefined || fields.length > 1) return undefined;
  return (rows, value) => {
    const isIt = (one: unknown) => (typeof one === 'string' || typeof one === 'number') && String(one) === value;
    return rows.scan(model.name, 0, lookedAtMost).find((row) => isIt(model.parse(row)[field]));
  };
}

const plain = (path: string): string => path.replace(/[?#].*$/, '').replaceAll(/\{[^{}]*\}/g, '{}');

const lettersOf = (name: string): string => name.replaceAll(/[^A-Za-z\d]/g, '').toLowerCase();
