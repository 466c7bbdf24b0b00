import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { OpenFact, OpenFacts } from '../exchange/open.ts';
import { compileChoices, type RowChoice } from './chosen.ts';
import { compileListing, compileListRule, type ListAccess, type ListRule, shownBy, wholeListing } from './list-access.ts';
import {
  compileFieldsShown,
  compilePassing,
  compileReading,
  type FieldsShown,
  freeAccess,
  freeReading,
  type OperationAccess,
  type RowAccess,
} from './operation-access.ts';
import { operationsOn, type Prepare, type RuleColumn, RuleColumns, rulesOf, type UserPermission } from './rules.ts';

/** Who may do what (section 5 of the language, authentication): first the user, then scopes, then conditions. What no rule allows is refused. */
export interface Access extends ListAsking {
  /** The open facts that an operation would need: its rules, or the schemes that say whom they are for. */
  doubts(operation: Operation): readonly OpenFact[];
  /** What a user may do. An upsert is the making of a row or its replacement, and a rule for either allows it too. */
  of(operation: Operation, user: string | undefined, as?: 'create' | 'replace'): OperationAccess;
  /** Which rows of a list a user sees. */
  listing(operation: Operation, user: string | undefined): ListAccess;
  /** Which rows of a resource a user may read. */
  reading(resource: string, user: string | undefined): RowAccess;
  /** Which fields of the rows of a resource a user is shown; nothing where that is no matter of rules. */
  fieldsShown(resource: string, user: string | undefined): FieldsShown | undefined;
  /** What the parameters of a list choose its rows by, where they compare more than one field as it is. */
  choices(operation: string): readonly RowChoice[];
  /** The rows of a resource that a user may read, as a database decides it: those of which it cannot are not shown. */
  seen(resource: string, user: string | undefined): ListAccess;
}

/** What the rules of lists ask of tables. */
export interface ListAsking {
  /** The columns that the rules of lists need of a resource: plain fields, and columns of their own. */
  columnsOf(resource: string): AskedColumns;
  /** The columns of a list's rows that have to equal something for one of its rules. */
  equalIn(operation: string): readonly string[];
  /** Whether whoever asks for a list is shown rows with a certain value in a column alone. */
  alwaysNarrows(operation: string): boolean;
}

/** The columns that the rules of lists need of a resource. */
export interface AskedColumns {
  readonly fields: readonly string[];
  readonly own: readonly RuleColumn[];
  /** Those by which rows are looked up together. */
  readonly sought: readonly (readonly string[])[];
}

/** Compiles the permissions of a document. Lists are seen to at once, because tables need their columns. */
export function compileAccess(spec: Spec, facts: OpenFacts, prepare: Prepare): Access {
  const { schemes, permissions } = spec.authentication;
  const inDoubt =
    schemes.standing === 'open' ? permissions.standing !== 'open' : isStated(schemes) && permissions.standing === 'open';
  const asks = isStated(permissions) || (permissions.standing === 'none' && schemes.standing !== 'none');
  return inDoubt || !asks ? freeAccessOf(spec, facts, inDoubt, prepare) : compileRules(spec, prepare);
}

/** Nothing is asked of anybody, or it is not decided what. */
function freeAccessOf(spec: Spec, facts: OpenFacts, inDoubt: boolean, prepare: Prepare): Access {
  const columns = new RuleColumns(spec);
  const choices = allChoices(spec, prepare, columns);
  return {
    doubts(operation) {
      if (!inDoubt || namesOperation(spec.authentication.public, operation)) return [];
      const isOfSchemes = spec.authentication.schemes.standing === 'open';
      return isOfSchemes ? facts.about('schemes', 'service') : facts.about('permission rules', operation.name);
    },
    of: () => freeAccess,
    listing: () => wholeListing,
    reading: () => freeReading,
    fieldsShown: () => undefined,
    choices: (operation) => choices.get(operation) ?? [],
    seen: () => wholeListing,
    columnsOf: (resource) => askedColumns(columns, resource),
    equalIn: (operation) => leadingOf(choices, operation),
    alwaysNarrows: () => false,
  };
}

function compileRules(spec: Spec, prepare: Prepare): Access {
  const columns = new RuleColumns(spec);
  const choices = allChoices(spec, prepare, columns);
  const through = new Set([...choices.values()].flat().flatMap((choice) => choice.through));
  const listRules = compileListRules(spec, prepare, columns, through);
  const narrowed = narrowedLists(spec, prepare, listRules);
  const seen = new Map<string, ListAccess>();
  const passings = new Map<string, OperationAccess>();
  const listings = new Map<string, ListAccess>();
  const readings = new Map<string, RowAccess>();
  const shown = new Map<string, { readonly fields: FieldsShown | undefined }>();
  const reading = (resource: string, user: string | undefined) =>
    remembered(readings, [resource], user, () => compileReading(spec, resource, user, prepare));
  return {
    doubts: () => [],
    of(operation, user, as) {
      return remembered(passings, [operation.name, as ?? ''], user, () => {
        const { resource } = operation;
        const rules = rulesOf(spec, meant(spec, operation, as), user, prepare);
        return compilePassing(spec, operation, rules, resource === undefined ? undefined : reading(resource, user));
      });
    },
    listing(operation, user) {
      return remembered(listings, [operation.name], user, () => {
        const rules = rulesOf(spec, [operation], user, prepare);
        return compileListing(spec, operation, rules, (rule) => listRules.get(rule.key));
      });
    },
    reading,
    fieldsShown: (resource, user) =>
      remembered(shown, [resource], user, () => ({ fields: compileFieldsShown(spec, resource, user, prepare) })).fields,
    choices: (operation) => choices.get(operation) ?? [],
    seen: (resource, user) =>
      remembered(seen, [resource], user, () => {
        const operations = decidedReads(spec, resource);
        if (operations.some((operation) => namesOperation(spec.authentication.public, operation))) return wholeListing;
        const rules = operations.flatMap((operation) => rulesOf(spec, [operation], user, prepare)).filter(readsRowAlone);
        return shownBy(rules, (rule) => listRules.get(rule.key));
      }),
    columnsOf: (resource) => askedColumns(columns, resource),
    equalIn: (operation) => [
      ...[...listRules].flatMap(([key, { equal }]) => (key.endsWith(`\n${operation}`) ? equal : [])),
      ...leadingOf(choices, operation),
    ],
    alwaysNarrows: (name) => narrowed.has(name),
  };
}

/** The lists of which every user has one rule at most, and that rule asks for a certain value in a column. */
function narrowedLists(spec: Spec, prepare: Prepare, listRules: ReadonlyMap<string, ListRule>): ReadonlySet<string> {
  const users = ['anyone', ...Object.keys(statedValue(spec.purpose.users) ?? {})];
  const lists = entriesOf(spec.resources.all).flatMap(([resource]) => operationsOn(spec, resource, 'list'));
  const narrowed = lists.filter((operation) => {
    if (namesOperation(spec.authentication.public, operation)) return false;
    const rules = users.map((user) => rulesOf(spec, [operation], user, prepare));
    return rules.every((own) => own.length < 2 && own.every(({ key }) => (listRules.get(key)?.equal.length ?? 0) > 0));
  });
  return new Set(narrowed.map(({ name }) => name));
}

function askedColumns(columns: RuleColumns, resource: string): AskedColumns {
  return { fields: columns.fieldsOf(resource), own: columns.ownOf(resource), sought: columns.soughtOf(resource) };
}

/** The choices of every list, by its operation. */
function allChoices(spec: Spec, prepare: Prepare, columns: RuleColumns): ReadonlyMap<string, readonly RowChoice[]> {
  const all = new Map<string, readonly RowChoice[]>();
  for (const [resource] of entriesOf(spec.resources.all)) {
    for (const operation of operationsOn(spec, resource, 'list')) {
      const choices = compileChoices(spec, operation, prepare, columns);
      if (choices.length > 0) all.set(operation.name, choices);
    }
  }
  return all;
}

function leadingOf(choices: ReadonlyMap<string, readonly RowChoice[]>, operation: string): readonly string[] {
  return (choices.get(operation) ?? []).flatMap(({ leading }) => leading);
}

/** The operations that show rows of a resource, whose rules a database can decide for a row: their own path says which row is meant. */
function decidedReads(spec: Spec, resource: string): Operation[] {
  const reads = operationsOn(spec, resource, 'read');
  const operations = reads.length > 0 ? reads : operationsOn(spec, resource, 'list');
  return operations.filter(({ endpoint }) => !endpoint?.identity);
}

/** Whether a rule asks nothing of the request that would read the row. */
function readsRowAlone({ condition }: UserPermission): boolean {
  return !condition?.reads().some(({ root }) => root === 'params' || root === 'request' || root === 'operation');
}

/** The operations whose rules an operation goes by. */
function meant(spec: Spec, operation: Operation, as: 'create' | 'replace' | undefined): Operation[] {
  const effect = operation.endpoint && statedValue(operation.endpoint.does);
  if (effect?.verb !== 'upsert') return [operation];
  const verbs = as === undefined ? ['create', 'replace'] : [as];
  return [operation, ...verbs.flatMap((verb) => operationsOn(spec, effect.resource, verb))];
}

/** The rules of every list for whatever user, in the words of the store, and those for reading what lists are chosen through. */
function compileListRules(
  spec: Spec,
  prepare: Prepare,
  columns: RuleColumns,
  through: ReadonlySet<string>,
): ReadonlyMap<string, ListRule> {
  const compiled = new Map<string, ListRule>();
  for (const [resource] of entriesOf(spec.resources.all)) {
    const reads = through.has(resource) ? decidedReads(spec, resource) : [];
    for (const operation of new Set([...operationsOn(spec, resource, 'list'), ...reads])) {
      for (const user of ['anyone', ...Object.keys(statedValue(spec.purpose.users) ?? {})]) {
        for (const { key, condition, readsRow } of rulesOf(spec, [operation], user, prepare)) {
          if (!condition || !readsRow || compiled.has(key)) continue;
          const rule = compileListRule(spec, resource, condition, columns);
          if (rule) compiled.set(key, rule);
        }
      }
    }
  }
  return compiled;
}

function remembered<T>(known: Map<string, T>, words: readonly string[], user: string | undefined, make: () => T): T {
  const key = [...words, user === undefined ? '' : ` ${user}`].join('\n');
  const made = known.get(key) ?? make();
  known.set(key, made);
  return made;
}
