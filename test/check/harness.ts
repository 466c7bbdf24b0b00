import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rules } from '../../src/check/all.ts';
import { check } from '../../src/check/check.ts';
import { securityRules } from '../../src/check/security/bounds.ts';
import type { Document, Finding, Json, JsonMap } from '../../src/document/document.ts';
import { parseDocument } from '../../src/document/read/parse.ts';
import { isMap, isStanding } from '../../src/document/values.ts';
import { isKey } from '../../src/parts/form.ts';

/** Snippets of YAML that are merged over the base document, one after the other, and what is found then. */
export interface Case {
  /** A null takes out what it stands for. */
  readonly snippets: readonly string[];
  /** Each finding as `code @ pointer`, in the order of the text. */
  readonly finds: readonly string[];
}

/** Snippets likewise, and what a reviewer asks then. */
export interface SecurityCase extends Pick<Case, 'snippets'> {
  /** What is asked besides what is asked of the base document. */
  readonly more?: readonly string[];
  /** What is asked of the base document and no longer of this one, */
  readonly less?: readonly string[];
  /** or everything asked of it whose place has this in its pointer. */
  readonly lessBelow?: string;
}

/** The small sound document that every case changes. */
export const base = read(readFileSync(join(import.meta.dirname, 'sound-service.yaml'), 'utf8'), 'sound-service.yaml');

/** A document from its text. */
export function read(text: string, file = 'document.yaml'): Document {
  return parseDocument(text, file, { isKey });
}

/** The base document with snippets merged over it, written down and read again, so that everything has a place. */
export function changed(snippets: readonly string[]): Document {
  const tree = snippets.reduce<Json>((merged, snippet) => merge(merged, treeOf(snippet)), base.tree);
  return read(JSON.stringify({ title: base.title, ...(tree as JsonMap) }, undefined, 1), 'document.json');
}

/** What is found in a document, as `code @ pointer`, each once. */
export function found(document: Document): string[] {
  return [...new Set(check(document).findings.map(named))];
}

/** What a reviewer asks of a document, and nothing that is found without one. */
export function asked(document: Document): Finding[] {
  return check(document, { rules: [...rules, ...securityRules] }).findings.filter(({ code }) => code.startsWith('security/'));
}

export function named({ code, at }: Finding): string {
  return `${code} @ ${at ?? ''}`;
}

/** What a snippet states. */
export function treeOf(snippet: string): Json {
  const { tree, findings } = read(snippet.replace('@@@', 'x'.repeat(5000)), 'snippet.yaml');
  const [first] = findings;
  if (first) throw new Error(`${first.message} In: ${snippet}`);
  return tree;
}

function merge(target: Json | undefined, change: Json): Json {
  if (!isMap(change) || isStanding(change)) return change;
  if (isStanding(target)) return merge({}, change);
  const merged: Record<string, Json> = Object.create(null);
  for (const [key, value] of Object.entries(isMap(target) ? target : {})) if (change[key] !== null) merged[key] = value;
  for (const [key, value] of Object.entries(change)) if (value !== null) merged[key] = merge(merged[key], value);
  return merged;
}
