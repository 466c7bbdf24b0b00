import { report } from './catalogue.ts';
import type { Finding, Json, Place, Prose } from './document.ts';
import { newMap, type OpenMap } from './values.ts';

/** What is bounded while a document is read. */
export interface ReadBounds {
  /** Of one file. */
  readonly bytes: number;
  /** Of keys and indexes from the root of the tree. */
  readonly depth: number;
  /** Values in the whole document. */
  readonly values: number;
  /** Values that YAML aliases stand for. */
  readonly copies: number;
  /** Lexical tokens of one YAML text; they cost most of the memory. */
  readonly tokens: number;
  readonly findings: number;
  readonly includeDepth: number;
  readonly files: number;
}

/** The bounds that hold where nothing else is asked for. */
export const usualBounds: ReadBounds = {
  bytes: 8 * 1024 * 1024,
  depth: 64,
  values: 2_000_000,
  copies: 100_000,
  tokens: 3_000_000,
  findings: 1_000,
  includeDepth: 8,
  files: 64,
};

/** What a value takes with its place and what checking makes of it, and what a lexical token takes. */
const bytesOfValue = 4000;
const bytesOfToken = 600;

/** What a reading has gathered so far, over all files of one document. */
export interface ReadContext {
  readonly bounds: ReadBounds;
  readonly isKey: (path: readonly string[], word: string) => boolean;
  readonly tree: OpenMap;
  places: Map<string, Place>;
  readonly prose: Prose[];
  readonly sources: Map<string, string>;
  readonly findings: Finding[];
  /** Values and copies counted so far. */
  values: number;
  copies: number;
}

/** A value with the places of all that it holds, by pointers from the root of the tree. */
export interface Located {
  readonly value: Json;
  readonly places: Map<string, Place>;
}

/** A new gathering with nothing in it. */
export function newReadContext(isKey: ReadContext['isKey'], bounds: Partial<ReadBounds> = {}, heapBytes?: number): ReadContext {
  const asked = { ...usualBounds, ...bounds };
  const room = heapBytes ?? Number.POSITIVE_INFINITY;
  const values = Math.min(asked.values, Math.floor(room / bytesOfValue));
  const tokens = Math.min(asked.tokens, Math.floor(room / bytesOfToken));
  return {
    bounds: { ...asked, values, tokens },
    isKey,
    tree: newMap(),
    places: new Map(),
    prose: [],
    sources: new Map(),
    findings: [],
    values: 0,
    copies: 0,
  };
}

/** Counts one more value; past the bound it reports once and stops what is being read. */
export function countValue(gathering: ReadContext, place: () => Place): void {
  gathering.values += 1;
  if (gathering.values <= gathering.bounds.values) return;
  if (gathering.values === gathering.bounds.values + 1) {
    const message = `The document holds more than ${gathering.bounds.values} values.`;
    report(gathering, 'document/too-many-values', place(), message);
  }
  throw new Stop();
}

/** Ends the reading of one text whose finding is already made; what was read before it is kept. */
export class Stop extends Error {}
