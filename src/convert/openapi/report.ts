import type { Json, JsonMap, Pointer } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { isMap, isStanding } from '../../document/values.ts';
import { ledgerOf } from '../../parts/facts/ledger.ts';
import { readSpec } from '../../parts/spec.ts';
import type { Imported } from './import.ts';
import type { Evidence } from './read/evidence.ts';
import { openapiKeywords } from './read/keywords.ts';
import type { SourceReader } from './read/reader.ts';

/** What became of a source: what was taken, what was inferred from it, what stayed open, and what the nine parts cannot hold. */
export interface ImportReport {
  /** Values of the document that the source states. */
  readonly taken: number;
  readonly inferred: readonly Evidence[];
  readonly open: readonly { readonly kind: string; readonly subject: string; readonly at: Pointer; readonly question?: string }[];
  readonly notCarried: readonly NotCarried[];
}

/** Values of the source that are nowhere in the document, one row for each kind of them. */
export interface NotCarried {
  /** The key, or the reason why: `externalDocs`, `x-codeSamples`, `another media type …`. */
  readonly what: string;
  readonly count: number;
  /** Where the first few of them stand in the source. */
  readonly at: readonly Pointer[];
}

/** Draws up the report of an import that was traced; of each kind of what is not carried it gives the first few places, or as many as are asked for. */
export function reportOfImport({ document, reader, trail }: Imported, placesMost = 3): ImportReport {
  const open = ledgerOf(readSpec(document)).facts.filter(({ standing }) => standing === 'open');
  return {
    taken: leavesOf(document.tree, '', new Set(trail.evidence.map(({ fact }) => fact))),
    inferred: trail.evidence,
    open: open.map(({ kind, subject, at, question }) => ({ kind, subject, at, ...(question !== undefined && { question }) })),
    notCarried: notCarriedOf(reader, placesMost),
  };
}

/** The values of a tree that no inferred fact stands over. */
function leavesOf(value: Json, at: Pointer, inferred: ReadonlySet<Pointer>): number {
  if (inferred.has(at) || at === '/evidence' || isStanding(value)) return 0;
  if (Array.isArray(value))
    return value.reduce((sum: number, item: Json, index) => sum + leavesOf(item, below(at, index), inferred), 0);
  if (!isMap(value)) return 1;
  return Object.entries(value).reduce((sum, [key, inner]) => sum + leavesOf(inner, below(at, key), inferred), 0);
}

/** Goes through the source and gathers what was not taken. */
function notCarriedOf(reader: SourceReader, placesMost: number): NotCarried[] {
  const rows = new Map<string, { count: number; at: Pointer[] }>();
  const add = (what: string, at: Pointer): void => {
    const row = rows.get(what) ?? { count: 0, at: [] };
    row.count += 1;
    if (row.at.length < placesMost) row.at.push(at);
    rows.set(what, row);
  };
  walk(reader.root.value, '', undefined, reader, add);
  return [...rows].map(([what, row]) => ({ what, ...row })).sort((a, b) => b.count - a.count);
}

type Add = (what: string, at: Pointer) => void;

/** `label` names the map by its place where its own keys are words of the author. */
function walk(map: JsonMap, at: Pointer, label: string | undefined, reader: SourceReader, add: Add): void {
  const taken = reader.taken?.get(map);
  for (const key of Object.keys(map)) {
    const value = map[key] as Json;
    const place = below(at, key);
    const reason = reader.reasons.get(place);
    if (reason !== undefined) add(reason, place);
    else if (at === '' && (key === 'openapi' || key === 'swagger')) continue;
    else if (isMap(value) && holdsMaps(key, label)) walk(value, place, key, reader, add);
    else if (isMap(value)) walkMap(value, place, key, taken?.has(key) ?? false, reader, add);
    else if (Array.isArray(value) && value.some((item: Json) => isMap(item))) {
      if (isWhole(key)) {
        if (!taken?.has(key)) add(label === undefined || !byName.has(label) ? key : label, place);
      } else walkList(value, place, key, taken?.has(key) ?? false, reader, add);
    } else if (!taken?.has(key)) add(key === '$ref' ? 'references that nothing leads to' : key, place);
  }
}

function walkList(list: readonly Json[], at: Pointer, key: string, isTaken: boolean, reader: SourceReader, add: Add): void {
  for (const [index, item] of list.entries()) if (isMap(item)) walkMap(item, below(at, index), key, isTaken, reader, add);
}

/** A map of which nothing was taken is one row; of another, what is left over in it. */
function walkMap(map: JsonMap, at: Pointer, key: string, isTaken: boolean, reader: SourceReader, add: Add): void {
  const reason = reader.reasons.get(at);
  if (reader.again.has(map)) return;
  if (reason !== undefined) add(reason, at);
  else if (isTaken && key === 'examples') walkExamples(map, at, reader, add);
  else if (isTaken && isWhole(key)) return;
  else if (!isTaken && !reader.taken?.has(map) && !holdsTaken(map, reader)) add(key, at);
  else walk(map, at, key, reader, add);
}

/** Whole bodies by name or by media type: those that are left out, and what stands beside those that are taken. */
function walkExamples(examples: JsonMap, at: Pointer, reader: SourceReader, add: Add): void {
  const byType = reader.taken?.get(examples);
  for (const [name, one] of Object.entries(examples)) {
    const place = below(at, name);
    const taken = isMap(one) ? reader.taken?.get(one) : undefined;
    if (byType?.has(name) || (isMap(one) && Object.hasOwn(one, '$ref'))) continue;
    if (!taken) add('examples', place);
    else if (isMap(one)) for (const key of Object.keys(one)) if (!taken.has(key)) add(key, below(place, key));
  }
}

/** Keys whose values are taken as they are, with all that is in them. */
function isWhole(key: string): boolean {
  const kind = openapiKeywords.get(key);
  return kind === 'json' || kind === 'list' || kind === 'word map' || key === 'scopes' || key === 'availableScopes';
}

/** Maps from words of the author to maps of the format. */
const byName: ReadonlySet<string> = new Set([
  'paths',
  'schemas',
  'definitions',
  'properties',
  'responses',
  'parameters',
  'content',
  'headers',
]);

function holdsMaps(key: string, label: string | undefined): boolean {
  return label !== 'properties' && byName.has(key);
}

function holdsTaken(value: Json, reader: SourceReader): boolean {
  if (Array.isArray(value)) return value.some((item: Json) => holdsTaken(item, reader));
  if (!isMap(value)) return false;
  return (reader.taken?.has(value) ?? false) || Object.values(value).some((inner) => holdsTaken(inner, reader));
}
