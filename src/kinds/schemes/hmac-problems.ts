import type { JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { isToken } from '../http-token.ts';
import type { Problem } from '../problem.ts';
import type { SchemeFacts } from './kind.ts';
import { fillSigned, templateWords, valueTemplate } from './signing-template.ts';
import { commonProblems, isStatedText, tooLittle, wrongAt } from './signing-words.ts';

interface Stated {
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signs: string;
  readonly tolerance: string | null;
  readonly replay: string | null;
}

/** What is stated of an HMAC over a request. */
export function statedHmac({ own }: Pick<SchemeFacts, 'own'>): Stated & JsonMap {
  const { value, signs, headers, tolerance, replay } = own;
  const fields = isMap(headers)
    ? Object.entries(headers).flatMap(([name, text]) => (isStatedText(text) ? [[name, text] as const] : []))
    : [];
  return {
    value: isStatedText(value) ? value : '',
    signs: isStatedText(signs) ? signs : '',
    headers: Object.fromEntries(fields),
    tolerance: isStatedText(tolerance) ? tolerance : null,
    replay: isStatedText(replay) ? replay : null,
  };
}

/** What is wrong with how an HMAC over a request is stated. */
export function hmacProblems(facts: SchemeFacts & { readonly carriedIn?: string }, words: readonly string[]): Problem[] {
  const { value, signs, headers, replay } = statedHmac(facts);
  const missing = (['value', 'signs'] as const).filter((word) => !words.includes(word));
  if (missing.length > 0)
    return missing.map((word) =>
      word === 'value'
        ? wrongAt(
            `Nothing says what stands in the header of \`${facts.name}\`.`,
            'Add `value: "t={timestamp},v1={hmac-sha256:hex}"`.',
          )
        : wrongAt(`Nothing says what \`${facts.name}\` signs.`, 'Add `signs: "{method}\\n{target}\\n{timestamp}\\n{body}"`.'),
    );
  // Left open, or given up: what is not known is not judged.
  if (!isStatedText(facts.own.value) || !isStatedText(facts.own.signs)) return commonProblems(facts);
  const templates: readonly (readonly [at: readonly string[], text: string])[] = [
    [['value'], value],
    ...Object.entries(headers).map(([name, text]) => [['headers', name], text] as const),
  ];
  const unread = templates.flatMap(([at, text]) => {
    const read = valueTemplate(text);
    return 'wrong' in read ? [wrongAt(read.wrong, valueRemedy, ...at)] : [];
  });
  const strange = templateWords(signs).flatMap((word) =>
    fillSigned.knows(word) ? [] : [wrongAt(`\`{${word}}\` is no word of what is signed.`, signsRemedy, 'signs')],
  );
  const names = Object.keys(headers).flatMap((name, index, all) => {
    if (!isToken(name)) return [wrongAt(`\`${name}\` is no header name.`, 'Write letters, digits and hyphens.', 'headers', name)];
    const others = [facts.carriedIn ?? '', ...all.slice(0, index)].map((other) => other.toLowerCase());
    return others.includes(name.toLowerCase())
      ? [wrongAt(`\`${name}\` carries something else already.`, 'Give it a header field of its own.', 'headers', name)]
      : [];
  });
  if (unread.length + strange.length + names.length > 0) return [...commonProblems(facts), ...unread, ...strange, ...names];
  const carried = templates.flatMap(([, text]) => templateWords(text)).map(plainWord);
  const wrong = [...commonProblems(facts), ...wrongsOf({ value, signs, replay }, carried)];
  const signed = templateWords(signs).map(plainWord);
  return wrong.length > 0 ? wrong : tooLittle(facts.name, signed.includes('method') || signed.includes('body'), 'signs');
}

const valueRemedy =
  'There are {key_id}, {timestamp}, {timestamp:ms}, {timestamp:http-date}, {nonce}, {hmac-sha256:hex} and the like.';
const signsRemedy =
  'There are {method}, {path}, {query}, {target}, {host}, {key_id}, {timestamp}, {nonce}, {body}, {body-sha256:hex} and {header:NAME}.';

/** What is wrong with words that are each known. */
function wrongsOf({ value, signs, replay }: Pick<Stated, 'value' | 'signs' | 'replay'>, carried: readonly string[]): Problem[] {
  const count = (word: string) => carried.filter((one) => one === word).length;
  const signed = new Set(templateWords(signs).map(plainWord));
  const repeated = ['key_id', 'timestamp', 'nonce'].filter((word) => count(word) > 1);
  const unsigned = ['timestamp', 'nonce'].filter((word) => count(word) === 1 && !signed.has(word));
  const untold = ['timestamp', 'nonce', 'key_id'].filter((word) => count(word) === 0 && signed.has(word));
  const hmacs = templateWords(value).filter((word) => word.startsWith('hmac-'));
  return [
    ...(hmacs.length === 1 && count('hmac') === 1
      ? []
      : [wrongAt('One HMAC stands in the value, and none elsewhere.', 'Write `{hmac-sha256:hex}` into it, once.', 'value')]),
    ...(count('key_id') === 0
      ? [
          wrongAt(
            'Nothing says whose key a request is signed with.',
            'Write `{key_id}` into the value, or `headers: { X-Key: "{key_id}" }`.',
            'value',
          ),
        ]
      : []),
    ...repeated.map((word) => wrongAt(`\`{${word}}\` stands there twice.`, 'Keep one of them.', 'value')),
    ...unsigned.map((word) =>
      wrongAt(
        `\`{${word}}\` is told and not signed, so that anybody could change it.`,
        `Add \`{${word}}\` to what is signed.`,
        'signs',
      ),
    ),
    ...untold.map((word) =>
      wrongAt(
        `\`{${word}}\` is signed and not told, so that nobody could judge it.`,
        `Write \`{${word}}\` into the value, or into one of the headers.`,
        'signs',
      ),
    ),
    ...(replay === null || (count('nonce') === 1 && count('timestamp') === 1)
      ? []
      : [wrongAt('What comes again cannot be told.', 'Let a `{nonce}` and a `{timestamp}` be told and signed.', 'replay')]),
  ];
}

/** A word without its form: `timestamp`, `hmac`, `body`. */
export function plainWord(word: string): string {
  return word.replace(/^(hmac|body)-.*/s, '$1').replace(/:.*/s, '');
}
