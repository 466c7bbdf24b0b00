import type { Deprecation } from '../../parts/versioning.ts';

/** A comment over what follows: one line where it fits, a paragraph each otherwise. Nothing for nothing. */
export function docLines(paragraphs: readonly string[], indent: string): string[] {
  const texts = paragraphs.map((text) => lines(harmless(text), 125 - indent.length)).filter((block) => block.length > 0);
  if (texts.length === 0) return [];
  const all = texts.flatMap((block, index) => (index === 0 || block[0]?.startsWith('@') ? block : ['', ...block]));
  if (all.length === 1 && indent.length + (all[0]?.length ?? 0) + 7 <= 130) return [`${indent}/** ${all[0]} */`];
  return [`${indent}/**`, ...all.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}

/** A line of its own that says how something stands which the document leaves open. */
export function openLine(what: string, question?: string): string {
  return question === undefined ? `Open: ${what}.` : `Open: ${what}: ${question}`;
}

/** What an editor strikes out. */
export function deprecationLine(deprecation: Deprecation | undefined): string[] {
  if (!deprecation) return [];
  const { deprecated, sunset, alternative } = deprecation;
  const words = [
    deprecated === undefined ? '' : `Since ${deprecated}.`,
    sunset === undefined ? '' : `Gone after ${sunset}.`,
    alternative === undefined ? '' : `Use ${alternative}.`,
  ];
  return [`\u0000@deprecated ${words.filter((text) => text !== '').join(' ')}`];
}

/** Text that neither ends the comment nor speaks to an editor; a zero in front marks a tag of ours. */
function harmless(text: string): string {
  const isTag = text.startsWith('\u0000');
  const safe = text
    .replaceAll('*/', '*\\/')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (unit) => (unit === '\n' ? '\n' : unit === '\u0000' ? '' : ' '));
  return isTag ? safe : safe.replace(/(^|[\s{])@(?=[a-zA-Z])/g, '$1\\@');
}

/** Wraps what is longer than a line; the author's own line ends stay. */
function lines(text: string, width: number): string[] {
  return text
    .trim()
    .split('\n')
    .flatMap((line) => wrap(line.trimEnd(), width));
}

function wrap(line: string, width: number): string[] {
  const out: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const space = rest.lastIndexOf(' ', width);
    if (space <= 0) break;
    out.push(rest.slice(0, space).trimEnd());
    rest = rest.slice(space + 1);
  }
  return rest === '' && out.length > 0 ? out : [...out, rest];
}
