/** What a document says, as plain values that remember where they were written. */

/** A value that could be written as JSON. */
export type Json = null | boolean | number | string | readonly Json[] | JsonMap;
/** A map of values. Maps made by this project have no prototype, so every key is only a key. */
export interface JsonMap {
  readonly [key: string]: Json;
}

/** A JSON Pointer (RFC 6901) into a document's tree: `/resources/parcel/fields/weight_g`. The whole tree is the empty string. */
export type Pointer = string;

/** A place in a source file. Lines and columns count from 1, columns in UTF-16 code units; the end is exclusive. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** Prose that stands in a part or under one of its headings; it explains and never states. */
export interface Prose {
  /** The innermost place of the tree that the prose stands under: `/resources/parcel`, or the empty string. */
  readonly at: Pointer;
  readonly text: string;
  readonly place: Place;
}

/** Something wrong with a document, as a value: reading and checking never throw. */
export interface Finding {
  /** `part/what-is-wrong`, found in `docs/findings.md`, never reused. */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  /** What is wrong, as one sentence. */
  readonly message: string;
  /** What to write instead. */
  readonly remedy?: string;
  /** Where in the tree. */
  readonly at?: Pointer;
  readonly place: Place;
  /** Other places that belong to it, such as the first of two equal keys. */
  readonly also?: readonly { readonly message: string; readonly place: Place }[];
}

/**
 * A document as it was written: one tree with the nine part names, and `evidence`, as keys, before anything is made of it.
 * `!open "q"`, `!none` and `!any` stand in the tree in their JSON forms `{ $open: "q" }`, `{ $none: true }`, `{ $any: true }`;
 * the bare words `none` and `any` are still strings.
 */
export interface Document {
  readonly title: string;
  readonly tree: JsonMap;
  /** Where each value stands, by pointer. A key's own place is under its pointer followed by `#`. */
  readonly places: ReadonlyMap<string, Place>;
  readonly prose: readonly Prose[];
  /** Each file's text, the first being the document itself; code frames are drawn from it. */
  readonly sources: ReadonlyMap<string, string>;
  readonly findings: readonly Finding[];
  /** Whether a tool made it of a document in another language: what is wrong with it was shipped so, or was inferred. */
  readonly isTaken?: boolean;
}

/** The nine parts, in their order. */
export const partNames = [
  'purpose',
  'resources',
  'states',
  'endpoints',
  'authentication',
  'events',
  'errors',
  'limits',
  'versioning',
] as const;
export type PartName = (typeof partNames)[number];
