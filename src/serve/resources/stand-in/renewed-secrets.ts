/** Keys and tokens that a stand-in gives out: made anew by an act, and for a credential that is shown. */

import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Chance } from '../../../parts/samples/sampler.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
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

/** A text like another one, with a letter for each letter and a digit for each digit; what stands before a first `-` or `_` stays. A UUID is another UUID. */
export function otherText(text: string, chance: Chance): string {
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text))
    return text.slice(0, 24) + text.slice(24).replaceAll(/./g, () => '0123456789abcdef'[chance.below(16)] ?? '');
  const [start = ''] = /^[A-Za-z]{1,8}[-_]/.exec(text) ?? [];
  const one = (from: string) => from[chance.below(from.length)] ?? '';
  const rest = text
    .slice(start.length)
    .replaceAll(/[a-z]/g, () => one('abcdefghijklmnopqrstuvwxyz'))
    .replaceAll(/[A-Z]/g, () => one('ABCDEFGHIJKLMNOPQRSTUVWXYZ'))
    .replaceAll(/\d/g, () => one('0123456789'));
  return start + rest;
}

/**
 * Whether an endpoint gives a token for what its body shows: a key, a name with a password, or an older token. Whoever asks for its first one
 * has none to show, also where a description asks for one everywhere.
 */
export function exchangesCredential({ method, request, response }: Endpoint, samples: Samples): boolean {
  const sent = statedValue(request);
  if (method !== 'POST' || !sent || !namesIn(sent, samples).some((name) => isShown.test(name))) return false;
  const answers = (statedValue(response) ?? []).filter(({ status }) => /^2|^default$/.test(status));
  return answers.some(({ shape }) => {
    const answered = statedValue(shape);
    return answered !== undefined && tokenNames(namesIn(answered, samples)).length > 0;
  });
}

/** The names by which members are tokens: those that tokens have everywhere, and the pair of which one is called `access`. */
export function tokenNames(names: readonly string[]): readonly string[] {
  const isPair = names.includes('access') && names.some((name) => /^(?:refresh|access_?expires(?:_?(?:in|at))?)$/i.test(name));
  return names.filter((name) => isToken.test(name) || (isPair && (name === 'access' || name === 'refresh')));
}

/** The members of a shape, and of its branches. */
function namesIn(shape: Shape, samples: Samples): readonly string[] {
  return Object.keys(samples.membersOf(shape));
}

const isShown =
  /^(?:api_?key|api_?secret|client_?secret|secret_?(?:key|id)|pass_?(?:word|wd|phrase)|refresh(?:_?token)?|grant_?type|assertion)$/i;
const isToken = /^(?:access|auth|id|refresh|session)_?(?:[Tt]oken|[Jj]wt)$/;
