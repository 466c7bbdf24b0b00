import { entriesOf } from '../../../parts/fact.ts';
import type { Change } from '../../../parts/versioning.ts';
import type { History } from '../../../parts/versions/carry.ts';
import type { EarlierResources } from '../../../parts/versions/earlier-resources.ts';
import type { Models } from '../../resources/act.ts';

/** Which document the stored rows are of: kept in the store with the rows, so that the next document knows how to carry them. */
export interface RowsOrigin {
  /** The versions that it listed, oldest first, with what each changed of rows. */
  readonly versions: readonly { readonly name: string; readonly changes: readonly string[] }[];
  readonly resources: Readonly<Record<string, OriginResource>>;
}

interface OriginResource {
  readonly fields: readonly string[];
  /** What its references refer to, by field. */
  readonly refs: Readonly<Record<string, string>>;
}

export function originOf(models: Models, history: History | undefined): RowsOrigin {
  const resources: Record<string, OriginResource> = Object.create(null);
  for (const model of models.values()) {
    resources[model.name] = {
      fields: [...model.fields.keys()],
      refs: Object.fromEntries(model.references.map(({ field, target }) => [field, target])),
    };
  }
  return {
    versions: (history?.versions ?? []).map(({ name }) => ({
      name,
      changes: rowSteps(history as History, name).map(({ change }) => changeText(change)),
    })),
    resources,
  };
}

/** The changes of rows that one version made. */
function rowSteps(history: History, version: string) {
  return history.steps.filter((step) => step.version === version && 'resource' in step.change);
}

/** A change as text that stays the same wherever it stands. */
function changeText(change: Change): string {
  return JSON.stringify(change, (key, value: unknown) => (key === 'at' ? undefined : value));
}

/** The level of a history that stored rows are of, or why that cannot be known, with what to do. */
export type RowsLevel = { readonly level: number } | { readonly unknown: string };

const sayFrom = 'say which version they are of: ninefold store migrate DOC --store FILE --from VERSION';

/**
 * @param resources The resources at each level of the history.
 * @param from What was said of it by hand: a version of the document.
 */
export function levelOfRows(
  origin: RowsOrigin | undefined,
  history: History,
  resources: EarlierResources,
  from: string | undefined,
): RowsLevel {
  const listed = new Set(history.versions.map(({ name }) => name));
  if (from !== undefined) {
    if (listed.has(from)) return { level: history.levelOf(from) };
    return { unknown: `The document lists no version ${from}; it lists ${[...listed].join(', ')}.` };
  }
  if (history.steps.every(({ change }) => !('resource' in change))) return { level: history.newest };
  if (!origin) return { unknown: `The store does not say which version its rows are of; ${sayFrom}.` };
  for (const { name, changes } of [...origin.versions].reverse()) {
    if (listed.has(name)) return { level: levelInside(history, name, changes) };
    if (changes.length > 0)
      return {
        unknown: `The stored rows are of version ${name}, which the document does not list. Serve them with a document that does, or ${sayFrom}.`,
      };
  }
  const level = levelByFields(origin, history, resources);
  return level === undefined
    ? { unknown: `The stored rows have the fields of no version that the document lists; ${sayFrom}.` }
    : { level };
}

/** Changes may have been added to a version since the rows were carried to it: those that were there already are done. */
function levelInside(history: History, version: string, done: readonly string[]): number {
  const top = history.levelOf(version);
  const steps = history.steps.filter((step) => step.version === version);
  const rows = steps.filter(({ change }) => 'resource' in change);
  const next = rows[done.length];
  const isContinued = next !== undefined && done.every((text, index) => rows[index] && changeText(rows[index].change) === text);
  return isContinued ? next.level : top;
}

/** The oldest version that has, of the fields which came or went with versions, those that the rows of an unversioned document had. */
function levelByFields(origin: RowsOrigin, history: History, resources: EarlierResources): number | undefined {
  const changed = new Set(history.steps.flatMap(({ change }) => ('resource' in change ? [change.resource] : [])));
  const levels = history.versions.map(({ name }) => history.levelOf(name));
  const fieldsAt = (resource: string, level: number) =>
    new Set(entriesOf(resources.at(resource, level)?.fields).map(([field]) => field));
  return levels.find((level) =>
    [...changed].every((resource) => {
      const had = origin.resources[resource]?.fields;
      if (!had) return true;
      const then = fieldsAt(resource, level);
      const others = levels.map((other) => fieldsAt(resource, other));
      const telling = new Set(
        others.flatMap((fields) => [...fields].filter((field) => !others.every((each) => each.has(field)))),
      );
      return [...telling].every((field) => then.has(field) === had.includes(field));
    }),
  );
}

/** What the changes above a level do to rows, in words. */
export function changesAbove(history: History, level: number): string[] {
  return history.steps
    .filter((step) => step.level >= level)
    .flatMap(({ change }) => ('resource' in change ? [wordsOf(change)] : []));
}

function wordsOf(change: Exclude<Change, { readonly kind: 'endpoint' }>): string {
  const field = `${change.resource}.${change.field}`;
  switch (change.kind) {
    case 'rename':
      return `${field} becomes ${change.to}`;
    case 'add':
      return change.default ? `${field} is added as ${JSON.stringify(change.default.value)}` : `${field} is added`;
    case 'remove':
      return `${field} is removed`;
    case 'map':
      return `${field} is mapped${change.up ? ` by ${change.up.source}` : ''}`;
    case 'enum':
      return `${field}: ${Object.entries(change.values)
        .map(([old, value]) => `${old} becomes ${String(value)}`)
        .join(', ')}`;
  }
}

/** Reads a origin as it is kept; nothing of a store from before. */
export function readOrigin(body: string): RowsOrigin | undefined {
  if (body === '') return undefined;
  // What is kept is what `originOf` made.
  return JSON.parse(body) as RowsOrigin;
}

/** The same rows under the names that their resources have from now on. */
export function renamedOrigin(
  origin: RowsOrigin | undefined,
  renamed: readonly { readonly from: string; readonly to: string }[],
): RowsOrigin | undefined {
  if (!origin || renamed.length === 0) return origin;
  const names = new Map(renamed.map(({ from, to }) => [from, to]));
  const called = (name: string) => names.get(name) ?? name;
  return {
    ...origin,
    resources: Object.fromEntries(
      Object.entries(origin.resources).map(([name, { fields, refs }]) => [
        called(name),
        { fields, refs: Object.fromEntries(Object.entries(refs).map(([field, target]) => [field, called(target)])) },
      ]),
    ),
  };
}
