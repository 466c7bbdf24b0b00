import { type Deprecation, endOf } from '../../parts/versioning.ts';

/** The columns of a line, by the project's own formatter settings. */
const columns = 130;

/** A comment over what follows: one line where it fits, a paragraph each otherwise. Nothing for nothing. */
export function docLines(paragraphs: readonly string[], indent: string, deprecated?: string): string[] {
  const blocks = paragraphs
    .filter((text) => text.trim() !== '')
    .map((text) => lines(harmless(text), columns - 5 - indent.length));
  const said = blocks.flatMap((block, index) => (index === 0 ? block : ['', ...block]));
  const all = deprecated === undefined ? said : [...said, `@deprecated ${harmless(deprecated)}`.trimEnd()];
  if (all.length === 0) return [];
  if (all.length === 1 && indent.length + (all[0]?.length ?? 0) + 7 <= columns) return [`${indent}/** ${all[0]} */`];
  return [`${indent}/**`, ...all.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}

/** What is said of something that is given up. */
export function deprecationText(deprecation: Deprecation | undefined): string | undefined {
  if (!deprecation) return undefined;
  const { deprecated, alternative } = deprecation;
  const sunset = endOf(deprecation);
  return [
    ...(deprecated === undefined ? [] : [`Since ${deprecated}.`]),
    ...(sunset === undefined ? [] : [`Gone after ${sunset}.`]),
    ...(alternative === undefined ? [] : [`Use ${alternative}.`]),
  ].join(' ');
}

/** Text that neither ends the comment nor speaks to an editor in its own tags. */
export function harmless(text: string): string {
  return text
    .replaceAll('*/', '*\\/')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (unit) => (unit === '\n' ? '\n' : ' '))
    .replace(/(^|[\s{])@(?=[a-zA-Z])/g, '$1\\@');
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
  return [...out, rest];
}
