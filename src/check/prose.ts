import type { PartName, Prose } from '../document/document.ts';
import { nearest } from '../document/nearest.ts';
import { pathOf } from '../document/pointer.ts';
import type { Fact } from '../parts/fact.ts';
import { keysAt } from '../parts/form.ts';
import type { Spec } from '../parts/spec.ts';
import { error, type Rule, type Subject, type Wrong, warning } from './subject/rule.ts';

/** What prose seems to state. It explains and never states, so a fact that stands only there is open. */
export const proseRules: readonly Rule[] = [
  warning(
    'prose/looks-stated',
    'Prose seems to state a fact that is open: nothing enforces what only prose says.',
    'State it in a `yaml` fence or a table under its part.',
    ({ spec }: Subject) => spec.prose.flatMap((prose) => signs.flatMap((sign) => looksStated(spec, prose, sign))),
  ),
];

interface Sign {
  readonly part: PartName;
  readonly fact: (spec: Spec) => Fact<unknown>;
  /** What it looks like, and how often before it is more than a mention. */
  readonly looks: RegExp;
  readonly atLeast: number;
  readonly what: string;
  readonly write: string;
}

const methods = 'GET|HEAD|POST|PUT|PATCH|DELETE';

const signs: readonly Sign[] = [
  {
    part: 'purpose',
    fact: ({ purpose }) => purpose.baseUrls,
    looks: /\bhttps?:\/\/[\w.-]*(?:api|service)[\w.-]*(?:\/[\w./-]*)?/gi,
    atLeast: 1,
    what: 'a base address',
    write: 'base_url: https://…',
  },
  {
    part: 'resources',
    fact: ({ resources }) => resources.all,
    looks: /^\s*\|[^\n]*\b(?:type|required|format)\b[^\n]*\|\s*\n\s*\|[\s|:-]+\|/gim,
    atLeast: 1,
    what: 'a table of fields',
    write: 'a heading for the resource, and `fields` as the first header of the table',
  },
  {
    part: 'states',
    fact: ({ states }) => states.all,
    looks: /\b[a-z]\w*\s*(?:->|→)\s*[a-z]\w*/g,
    atLeast: 1,
    what: 'transitions',
    write: 'transitions: { buy: draft -> bought }',
  },
  {
    part: 'endpoints',
    fact: ({ endpoints }) => endpoints.all,
    looks: new RegExp(`^\\s*(?:[-*+]|\\d+[.)]|\\|)\\s*[\`*]*(?:${methods})[\`*\\s|]+/\\S*`, 'gm'),
    atLeast: 2,
    what: 'a list of endpoints',
    write: '`GET /parcels: { does: list parcel }`',
  },
  {
    part: 'authentication',
    fact: ({ authentication }) => authentication.schemes,
    looks: /\bAuthorization:|\bBearer\s+[<{$\w]|\bX-[\w-]*Key\b/g,
    atLeast: 1,
    what: 'how a credential is sent',
    write: 'schemes: { key: { type: api_key, header: X-API-Key } }',
  },
  {
    part: 'events',
    fact: ({ events }) => events.kinds,
    looks: /`[a-z]\w*\.[a-z]\w*`/g,
    atLeast: 2,
    what: 'kinds of event',
    write: 'kinds: { parcel.created: { on: [create parcel], payload: parcel } }',
  },
  {
    part: 'errors',
    fact: ({ errors }) => errors.codes,
    looks: /(?<![\d.-])[45]\d\d(?![\d-]|\.\d)/g,
    atLeast: 2,
    what: 'statuses of errors',
    write: 'codes: { not_found: { status: 404, when: resource.missing } }',
  },
  {
    part: 'limits',
    fact: ({ limits }) => limits.rate,
    looks: /\b\d[\d,. ]*(?:requests?|calls?)\s+(?:per|an?|each|every|\/)\s*(?:second|minute|hour|day|month)/gi,
    atLeast: 1,
    what: 'a rate limit',
    write: 'rate: [{ per: caller, limit: 100, window: 1m }]',
  },
  {
    part: 'limits',
    fact: ({ limits }) => limits.size,
    looks: /\b(?:bod(?:y|ies)|payloads?|uploads?|files?|requests?)\b[^.\n]{0,60}\b\d+\s?(?:[KMG]i?B|bytes)\b/gi,
    atLeast: 1,
    what: 'a size limit',
    write: 'size: { body: 1MiB }',
  },
  {
    part: 'limits',
    fact: ({ limits }) => limits.pagination,
    looks: /\b\d+\s+(?:items?|rows?|results?|entries)\s+(?:per|a)\s+page\b|\bpage size\b[^.\n]{0,30}\d/gi,
    atLeast: 1,
    what: 'a page size',
    write: 'pagination: { style: cursor, cursor: cursor, default: 20, max: 100 }',
  },
  {
    part: 'limits',
    fact: ({ limits }) => limits.timeout,
    looks: /\btime[- ]?outs?\b[^.\n]{0,30}\b\d+\s?(?:ms|s|seconds?|minutes?)\b/gi,
    atLeast: 1,
    what: 'a time-out',
    write: 'timeout: { request: 10s }',
  },
  {
    part: 'versioning',
    fact: ({ versioning }) => versioning.versions,
    looks: /`(?:v\d+(?:\.\d+)*|\d{4}-\d{2}-\d{2})`/g,
    atLeast: 1,
    what: 'a version',
    write: 'versions: { "2026-01-15": { current: true } }',
  },
];

/** Prose of the part, where the fact is open and no one has written the question that it asks. */
function looksStated(spec: Spec, prose: Prose, { part, fact, looks, atLeast, what, write }: Sign): Wrong[] {
  if (pathOf(prose.at)[0] !== part) return [];
  const { standing, ...rest } = fact(spec);
  if (standing !== 'open' || 'question' in rest) return [];
  const matches = [...prose.text.matchAll(looks)];
  const [first] = matches;
  if (!first || matches.length < atLeast) return [];
  const before = prose.text.slice(0, first.index + (first[0].length - first[0].trimStart().length));
  const line = prose.place.line + before.split('\n').length - 1;
  return [
    {
      message: `\`${first[0].trim().split('\n')[0]?.slice(0, 60)}\` looks like ${what}, and only structure states.`,
      remedy: `State it: ${write}.`,
      at: prose.at,
      place: {
        ...prose.place,
        line,
        column: 1,
        endLine: line,
        endColumn: 1 + (before.split('\n').at(-1)?.length ?? 0) + first[0].trim().length,
      },
    },
  ];
}

/** Tables and fences under a part that look as if they stated something, and are prose. */
export const structureRules: readonly Rule[] = [
  error(
    'prose/lost-table',
    'A table of facts is prose, since its first header is nearly a key of its place and is none.',
    'Write the header as the key is written.',
    misspeltTables((isOfFacts) => isOfFacts),
  ),
  warning(
    'prose/misspelt-table',
    'A table is prose, since its first header is nearly a key of its place and is none.',
    'Write the header as the key is written.',
    misspeltTables((isOfFacts) => !isOfFacts),
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

/** The tables whose first header is nearly a key: they are of facts where another header is a key of what stands below that one. */
function misspeltTables(isWanted: (isOfFacts: boolean) => boolean): Rule['find'] {
  return inProse((prose, lines) => {
    const path = pathOf(prose.at);
    const known = [...keysAt(path), ...(path.length === 1 ? path : [])];
    return headersIn(lines).flatMap(({ header, others, line }): Found[] => {
      const meant = known.includes(header) ? undefined : nearest(header, known);
      if (meant === undefined || header.toLowerCase() === meant.toLowerCase()) return [];
      const words = keysAt([...path, ...(path.length === 1 && path[0] === meant ? [] : [meant]), 'x']);
      if (!isWanted(others.some((other) => words.includes(other)))) return [];
      const message = `\`${header}\` is no key here, so the table states nothing.`;
      return [{ line, message, remedy: `Write \`${meant}\`, or another word if the table only explains.` }];
    });
  });
}

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

/** The cells of a table's header. */
interface TableHeader {
  readonly header: string;
  readonly others: readonly string[];
  readonly line: number;
}

/** The header of each table; tables inside fences are none. */
function headersIn(lines: readonly string[]): TableHeader[] {
  const found: TableHeader[] = [];
  let fence: string | undefined;
  for (const [line, words] of lines.entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(words)?.[1];
    if (mark !== undefined) fence = fence === undefined ? mark : mark.startsWith(fence) ? undefined : fence;
    if (fence !== undefined || !/^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t:|-]*)?$/.test(lines[line + 1] ?? '')) continue;
    const [header, ...others] = words
      .replace(/^ {0,3}\|/, '')
      .replaceAll('`', '')
      .split('|')
      .map((cell) => cell.trim());
    if (header && others.length > 0) found.push({ header, others, line });
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
