import { readTemplate } from '../generators/template.ts';
import { basic } from './basic.ts';
import type { NearMiss, SchemeFacts, SchemeKind } from './kind.ts';
import { breaking, ofKey } from './near-misses.ts';

const { read: readPair, write: writePair } = basic.proof;

/** A key that was given out, as the name of HTTP's basic scheme (RFC 7617) with an empty password: `curl -u KEY:`. */
export const basicKey = {
  word: 'basic_key',
  meaning: 'A key that was given out, as the name of the basic scheme, before an empty password.',
  members: { generate: { form: { type: 'string', description: 'What a key looks like: sk_live_{random:32}.' } } },
  usualHeader: 'Authorization',
  prefix: 'Basic',
  proof: { by: 'key', read: keyIn, write: (key) => writePair(key, '') },
  hasStandardForm: false,
  hasStandardChallenge: true,
  problems: () => [],
  challenge: basic.challenge,
  takes: (text) => !text.slice(0, -1).includes(':'),
  presented: (text) => ({ text: presentedText(text) }),
  invented: writePair('ninefold-verify', ''),
  formFlaw,
  nearMisses,
  toOpenApi: () => ({ written: { type: 'http', scheme: 'basic' }, told: [], isKindTold: false, takesScopes: false }),
  isInOpenApi: () => false,
  // A scheme of others says basic, and not what its name is.
  ofForeign: () => undefined,
  toAsyncApi: () => ({ type: 'http', scheme: 'basic' }),
  compare: () => 'same',
} as const satisfies SchemeKind;

/** The key in what follows `Basic`; nothing where a password stands behind it. */
function keyIn(text: string): string | undefined {
  const pair = readPair(text);
  return pair && pair.password === '' ? pair.name : undefined;
}

/** `KEY` and `KEY:` are written as they are sent; what is sent already stays. */
function presentedText(text: string): string {
  const sent = /^Basic ([A-Za-z0-9+/]+=*)$/i.exec(text)?.[1];
  return sent ?? writePair(text.replace(/:$/, ''), '');
}

/** A key may have been brought along by its owner, in whatever form. */
function formFlaw({ generate }: SchemeFacts, text: string) {
  const read = generate === undefined ? undefined : readTemplate(generate);
  const fits = read && 'template' in read && new RegExp(read.template.pattern, 'u').test(keyIn(text) ?? text);
  return fits ? undefined : { moot: 'the key that was given is not of that form; somebody may have brought it along' };
}

/** The near misses of a key as names, and the key where it does not belong. */
function nearMisses(facts: Pick<SchemeFacts, 'generate'>, text: string): NearMiss[] {
  const key = keyIn(text) ?? '';
  const asNames = ofKey(facts, key).map((miss) => ({ ...miss, text: writePair(miss.text, '') }));
  const elsewhere = breaking('schemes', [
    { how: 'it is a password, and not the name before it', text: writePair('ninefold-verify', key) },
    { how: 'it is no Base64', text: '%%%' },
    ...(key === '' ? [] : [{ how: 'a password stands behind it', text: writePair(key, 'ninefold-verify') }]),
  ]);
  return [...asNames, ...elsewhere];
}
