import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Document } from '../../src/document/document.ts';
import { conditions } from '../../src/parts/conditions.ts';
import { ledgerOf } from '../../src/parts/facts/ledger.ts';
import { operationsOf } from '../../src/parts/operations.ts';
import { boundRows } from '../../src/parts/path-keys.ts';
import { boundByPath, requestShape } from '../../src/parts/payload.ts';
import { mightArise } from '../../src/parts/possible-errors.ts';
import { readSpec } from '../../src/parts/spec.ts';
import { expressionUses } from '../../src/parts/uses/all.ts';
import { quiet } from '../check/cases/quiet.ts';
import { securityCases } from '../check/cases/security.ts';
import { base, changed } from '../check/harness.ts';

/**
 * What is understood of the base document, and what is understood otherwise of each sound change of it, as a text to be read:
 * `node test/parts/models.ts` writes it anew where it has changed on purpose, and the difference is part of the change.
 */
const file = join(import.meta.dirname, 'models.txt');

export function writtenModels(): string[] {
  return readFileSync(file, 'utf8').trimEnd().split('\n\n');
}

export function models(): string[] {
  const usual = modelOf(base);
  const changes = [...Object.values(quiet), ...securityCases.map(({ snippets }) => snippets)];
  return [
    differences(usual, {}).join('\n'),
    ...changes.map((snippets) =>
      [
        ...snippets.map((snippet) => `> ${snippet.replace(/\s*\n\s*/g, ' ')}`),
        ...differences(modelOf(changed(snippets)), usual),
      ].join('\n'),
    ),
  ];
}

/** What is understood of a document: its parts, its operations by their names, what its expressions read, and what does not stand as stated. */
export function modelOf(document: Document): Plain {
  const whole = readSpec(document);
  const { document: _, ...spec } = whole;
  const operations = operationsOf(whole).map((operation) => {
    const { name, endpoint, ...rest } = operation;
    const arises = Object.fromEntries(
      conditions.filter((condition) => mightArise(whole, condition, operation)).map((condition) => [condition, true]),
    );
    const sends = endpoint && {
      request: requestShape(whole, endpoint),
      bound: boundByPath(whole, endpoint),
      rows: boundRows(whole, endpoint).map(({ row, field }) => `${row.resource} by ${field}`),
    };
    return [name, { ...rest, ...sends, arises }];
  });
  const expressions = expressionUses(whole).map(({ at, role, source, scopes, expected }) => [
    at,
    `${role} ${source}: ${JSON.stringify(expected)} of ${scopes.map(({ operation, scope }) => `${operation} (${Object.keys(scope)})`).join(', ')}`,
  ]);
  const facts = ledgerOf(whole).facts.map(({ part, kind, subject, standing }) => [`${part}, ${kind} of ${subject}`, standing]);
  const unstated = facts.filter(([, standing]) => standing !== 'stated');
  const named = { operations, expressions, facts: unstated };
  return plain({ ...spec, ...Object.fromEntries(Object.entries(named).map(([key, all]) => [key, Object.fromEntries(all)])) });
}

type Plain = string | { readonly [key: string]: Plain };

/** A model without the pointers of its facts, which follow from the path, each as its value where it has one. */
function plain(value: unknown): Plain {
  if (value instanceof Set || value instanceof Map) return plain([...value]);
  if (typeof value !== 'object' || value === null)
    return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? '-');
  const { at: _, ...rest } = value as Readonly<Record<string, unknown>>;
  const { standing, question, ...more } = rest;
  if (typeof standing === 'string' && 'value' in more)
    return standing === 'stated' ? plain(more.value) : { [standing]: plain(more.value) };
  if (typeof standing === 'string' && Object.keys(more).length === 0)
    return question === undefined ? standing : `${standing}: ${question}`;
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return JSON.stringify(value);
  return Object.fromEntries(Object.entries(rest).flatMap(([key, inner]) => (inner === undefined ? [] : [[key, plain(inner)]])));
}

/** A line for each path at which a model is another: what it has there, or that it has nothing. */
function differences(model: Plain | undefined, usual: Plain | undefined, at = ''): string[] {
  if (model === undefined) return [`no ${at}`];
  if (typeof model === 'string') return model === usual ? [] : [`${at} ${model}`];
  if (at.split('/').length > 4 && usual === undefined) return [`${at} ${written(model)}`];
  const [old, path] = [typeof usual === 'string' ? {} : (usual ?? {}), (key: string) => `${at}/${key}`];
  return [...new Set([...Object.keys(model), ...Object.keys(old)])].flatMap((key) =>
    differences(model[key], old[key], path(key)),
  );
}

function written(model: Plain): string {
  if (typeof model === 'string') return model;
  if (Object.keys(model).length === 0) return '{}';
  return `{ ${Object.entries(model)
    .map(([key, inner]) => `${key}: ${written(inner)}`)
    .join(', ')} }`;
}

if (import.meta.main) writeFileSync(file, `${models().join('\n\n')}\n`);
