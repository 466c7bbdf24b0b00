import type { Prose } from '../document/document.ts';
import { nearest } from '../document/nearest.ts';
import { pathOf } from '../document/pointer.ts';
import { keysAt } from '../parts/form.ts';
import { type Rule, type Subject, type Wrong, warning } from './subject/rule.ts';

/** Tables and fences under a part that look as if they stated something, and are prose. */
export const structureRules: readonly Rule[] = [
  warning(
    'prose/misspelt-table',
    'A table is prose, since its first header is nearly a key of its place and is none.',
    'Write the header as the key is written.',
    inProse((prose, lines) => {
      const path = pathOf(prose.at);
      const known = [...keysAt(path), ...(path.length === 1 ? path : [])];
      return headersIn(lines).flatMap(({ header, line }): Found[] => {
        const meant = known.includes(header) ? undefined : nearest(header, known);
        if (meant === undefined || header.toLowerCase() === meant.toLowerCase()) return [];
        const message = `\`${header}\` is no key here, so the table states nothing.`;
        return [{ line, message, remedy: `Write \`${meant}\`, or another word if the table only explains.` }];
      });
    }),
  ),
  warning(
    'prose/unmarked-fence',
    'A fence without a mark holds keys of its place, and is prose.',
    'Mark it `yaml`; or `text`, where it only shows something.',
    inProse((prose, lines) => {
      const path = pathOf(prose.at);
      const knows = (below: readonly string[], words: readonly string[]) => {
        const known = keysAt([...path, ...below]);
        return words.some((word) => known.includes(word));
      };
      // Some places take words of the author's own: then what stands below one of them tells.
      return fencesIn(lines)
        .filter(({ keys, inner }) => knows([], keys) || keys.some((key) => knows([key], inner)))
        .map(({ line }) => ({ line, message: 'The fence states nothing: no word says that it is YAML.' }));
    }),
  ),
];

interface Found {
  /** Counted from the first line of the prose. */
  readonly line: number;
  readonly message: string;
  readonly remedy?: string;
}

function inProse(find: (prose: Prose, lines: readonly string[]) => readonly Found[]): Rule['find'] {
  return ({ spec }: Subject) =>
    spec.prose.flatMap((prose) => {
      const lines = prose.text.split('\n');
      return find(prose, lines).map(({ line, message, remedy }): Wrong => {
        const at = prose.place.line + line;
        const length = lines[line]?.trimEnd().length ?? 0;
        return {
          message,
          ...(remedy !== undefined && { remedy }),
          at: prose.at,
          place: { ...prose.place, line: at, column: 1, endLine: at, endColumn: 1 + length },
        };
      });
    });
}

/** The first cell of each table's header; tables inside fences are none. */
function headersIn(lines: readonly string[]): { readonly header: string; readonly line: number }[] {
  const found: { header: string; line: number }[] = [];
  let fence: string | undefined;
  for (const [line, words] of lines.entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(words)?.[1];
    if (mark !== undefined) fence = fence === undefined ? mark : mark.startsWith(fence) ? undefined : fence;
    if (fence !== undefined || !/^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t:|-]*)?$/.test(lines[line + 1] ?? '')) continue;
    const header = /^ {0,3}\|?([^|]*)\|/.exec(words)?.[1]?.replaceAll('`', '').trim();
    if (header) found.push({ header, line });
  }
  return found;
}

/** How many lines of a fence are looked at. */
const linesMost = 200;

interface UnmarkedFence {
  readonly line: number;
  /** The keys at its left edge, and those further in. */
  readonly keys: readonly string[];
  readonly inner: readonly string[];
}

/** The fences without a word after their mark; none where something else than keys stands at the left edge. */
function fencesIn(lines: readonly string[]): UnmarkedFence[] {
  const found: UnmarkedFence[] = [];
  for (let line = 0; line < lines.length; line++) {
    const open = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(lines[line] ?? '');
    if (!open) continue;
    let end = line + 1;
    while (end < lines.length && !(lines[end] ?? '').trim().startsWith(open[1] as string)) end++;
    const inside = lines
      .slice(line + 1, Math.min(end, line + linesMost))
      .filter((one) => one.trim() !== '' && !/^\s*#/.test(one));
    const edge = inside.filter((one) => !/^\s/.test(one));
    const keys = edge.flatMap(keyOf);
    const inner = inside.filter((one) => /^\s/.test(one)).flatMap((one) => keyOf(one.trim()));
    if (open[2]?.trim() === '' && edge.length > 0 && keys.length === edge.length) found.push({ line, keys, inner });
    line = end;
  }
  return found;
}

function keyOf(line: string): readonly string[] {
  const [, key] = /^["']?([^"':]+)["']?:(?:\s|$)/.exec(line) ?? [];
  return key === undefined ? [] : [key];
}
