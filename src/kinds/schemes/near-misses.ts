import { readTemplate } from '../generators/template.ts';
import type { NearMiss, SchemeFacts } from './kind.ts';

type Edited = Omit<NearMiss, 'breaks'>;

/** Near misses of which each breaks the same. */
export function breaking(breaks: NearMiss['breaks'], edited: readonly Edited[]): NearMiss[] {
  return edited.map((one) => ({ ...one, breaks }));
}

/** A text with something missing, something more and something else, and a word that nobody gave out. */
export function ofText(text: string): NearMiss[] {
  const edited = [
    { how: 'its last character is missing', text: text.slice(0, -1) },
    { how: 'it has one character more', text: `${text}0` },
    { how: 'a character in it is another', text: withAnother(text, text.length - 2) },
    { how: 'a character in its middle is another', text: withAnother(text, text.length >> 1) },
    { how: 'its first character is another', text: withAnother(text, 0) },
    { how: 'it is a word that nobody gave out', text: 'ninefold-verify' },
  ];
  return breaking(
    'schemes',
    edited.filter((one) => one.text !== '' && one.text !== text),
  );
}

/** The near misses of a key. Letters of both cases are told apart where its generator draws on both. */
export function ofKey({ generate = '' }: Pick<SchemeFacts, 'generate'>, text: string): NearMiss[] {
  const read = readTemplate(generate);
  const drawsOnBoth = 'template' in read && read.template.mixesCases;
  const inOtherCase = { how: 'its small letters are capitals, and the other way round', text: otherCase(text) };
  return [...ofText(text), ...(drawsOnBoth ? breaking('schemes', [inOtherCase]) : [])];
}

/** A text with its small letters as capitals, and the other way round. */
export function otherCase(text: string): string {
  return [...text].map((letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase())).join('');
}

/** The text with one of its characters replaced by another of its sort. */
export function withAnother(text: string, at: number): string {
  const character = text[at] ?? '';
  const other = /\d/.test(character) ? (character === '7' ? '8' : '7') : character === 'q' ? 'r' : 'q';
  return `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
}

/** The near misses of `KEYID:SECRET`: another secret, and a key that nobody has. */
export function ofSigner(text: string): NearMiss[] {
  const colon = text.indexOf(':');
  const [keyId, secret] = [text.slice(0, colon), text.slice(colon + 1)];
  return breaking('schemes', [
    { how: 'its secret is another', text: `${keyId}:${withAnother(secret, secret.length - 2)}` },
    { how: 'its secret is cut off', text: `${keyId}:${secret.slice(0, -4) || 'x'}` },
    { how: 'its key is one that nobody has', text: `${keyId}x:${secret}` },
    { how: 'it is a word that nobody gave out', text: 'ninefold-verify:ninefold-verify' },
  ]);
}
