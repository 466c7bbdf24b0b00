import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Chance } from '../../../parts/samples/chance.ts';
import type { Fields } from '../../exchange/exchange.ts';
import type { RowModel } from '../model.ts';
import type { Renew } from '../stand-in.ts';
import type { Sampling } from './sampling.ts';

/**
 * Compiles the making anew of keys and tokens by an act that is called so: `POST /streams/{id}/reset-key`. Each has other letters and
 * digits in the places of those that it had. Nothing where an act is called otherwise, or nothing is called like a secret.
 */
export function compileSecretRenewal({ path }: Endpoint, model: RowModel, sampling: Sampling): Renew | undefined {
  const last =
    path
      .replace(/[?#].*$/, '')
      .split(/[/:]/)
      .at(-1) ?? '';
  const words = wordsOf(last);
  const secrets = [...model.fields.values()].filter(
    ({ name, shape }) => isSecret(name) && name !== model.identifier.field && statedValue(shape) !== undefined,
  );
  const isNamed = (name: string) => name.toLowerCase() === last.toLowerCase();
  const renewed = words.some((word) => renewing.has(word)) ? secrets : secrets.filter(({ name }) => isNamed(name));
  const spoken = renewed.filter(({ name }) => wordsOf(name).every((word) => words.includes(word)));
  const meant = spoken.length > 0 ? spoken : renewed;
  if (meant.length === 0 || last.startsWith('{')) return undefined;
  return (fields, row) => {
    const out: Fields = {};
    for (const { name, shape } of meant) {
      const [value, stated] = [fields[name], statedValue(shape)];
      if (typeof value !== 'string' || !stated) continue;
      const other = otherText(value, sampling.chance(`${model.name}\n${row.id}\n${name}\n${row.rev}`));
      if (sampling.samples.of(stated, name).fits(other)) out[name] = other;
    }
    return out;
  };
}

/** Words of an act that makes a secret anew. */
const renewing: ReadonlySet<string> = new Set(['reset', 'rotate', 'regenerate', 'renew', 'roll', 'reroll', 'recreate']);

function isSecret(name: string): boolean {
  return /(?:^|_)(?:key|token|secret|password|code)$|[a-z](?:Key|Token|Secret|Password)$/.test(name);
}

function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}

/** A text like another one, with a letter for each letter and a digit for each digit; what stands before a first `-` or `_` stays. */
function otherText(text: string, chance: Chance): string {
  const [start = ''] = /^[A-Za-z]{1,8}[-_]/.exec(text) ?? [];
  const one = (from: string) => from[chance.below(from.length)] ?? '';
  const rest = text
    .slice(start.length)
    .replaceAll(/[a-z]/g, () => one('abcdefghijklmnopqrstuvwxyz'))
    .replaceAll(/[A-Z]/g, () => one('ABCDEFGHIJKLMNOPQRSTUVWXYZ'))
    .replaceAll(/\d/g, () => one('0123456789'));
  return start + rest;
}
