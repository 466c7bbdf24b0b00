import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { OpenFact, OpenFacts } from '../exchange/open.ts';
import { type RuleColumn, RuleColumns } from './columns.ts';
import { compileListing, compileListRule, type ListAccess, type ListRule, wholeListing } from './list-access.ts';
import { compilePassing, freeAccess, type OperationAccess } from './operation-access.ts';
import { compileReading, freeReading, type RowAccess } from './row-access.ts';
import { operationsOn, type Prepare, rulesOf } from './rules.ts';

/** Who may do what (section 5 of the language, authentication): first the user, then scopes, then conditions. What no rule allows is refused. */
export interface Access {
  /** The open facts that an operation would need: its rules, or the schemes that say whom they are for. */
  doubts(operation: Operation): readonly OpenFact[];
  /** What a user may do. An upsert is the making of a row or its replacement, and a rule for either allows it too. */
  of(operation: Operation, user: string | undefined, as?: 'create' | 'replace'): OperationAccess;
  /** Which rows of a list a user sees. */
  listing(operation: Operation, user: string | undefined): ListAccess;
  /** Which rows of a resource a user may read. */
  reading(resource: string, user: string | undefined): RowAccess;
  /** The columns that the rules of lists need of a resource: plain fields, and columns of their own. */
  columnsOf(resource: string): AskedColumns;
  /** The columns of a list's rows that have to equal something for one of its rules. */
  equalIn(operation: string): readonly string[];
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
  return inDoubt || !asks ? freeAccessOf(spec, facts, inDoubt) : compileRules(spec, prepare);
}

/** Nothing is asked of anybody, or it is not decided what. */
function freeAccessOf(spec: Spec, facts: OpenFacts, inDoubt: boolean): Access {
  return {
    doubts(operation) {
      if (!inDoubt || namesOperation(spec.authentication.public, operation)) return [];
      const isOfSchemes = spec.authentication.schemes.standing === 'open';
      return isOfSchemes ? facts.about('schemes', 'service') : facts.about('permission rules', operation.name);
    },
    of: () => freeAccess,
    listing: () => wholeListing,
    reading: () => freeReading,
    columnsOf: () => ({ fields: [], own: [], sought: [] }),
    equalIn: () => [],
  };
}

function compileRules(spec: Spec, prepare: Prepare): Access {
  const columns = new RuleColumns(spec);
  const listRules = compileListRules(spec, prepare, columns);
  const passings = new Map<string, OperationAccess>();
  const listings = new Map<string, ListAccess>();
  const readings = new Map<string, RowAccess>();
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
    columnsOf: (resource) => ({
      fields: columns.fieldsOf(resource),
      own: columns.ownOf(resource),
      sought: columns.soughtOf(resource),
    }),
    equalIn: (operation) => [...listRules].flatMap(([key, { equal }]) => (key.endsWith(`\n${operation}`) ? equal : [])),
  };
}

/** The operations whose rules an operation goes by. */
function meant(spec: Spec, operation: Operation, as: 'create' | 'replace' | undefined): Operation[] {
  const effect = operation.endpoint && statedValue(operation.endpoint.does);
  if (effect?.verb !== 'upsert') return [operation];
  const verbs = as === undefined ? ['create', 'replace'] : [as];
  return [operation, ...verbs.flatMap((verb) => operationsOn(spec, effect.resource, verb))];
}

/** The rules of every list for whatever user, in the words of the store. */
function compileListRules(spec: Spec, prepare: Prepare, columns: RuleColumns): ReadonlyMap<string, ListRule> {
  const compiled = new Map<string, ListRule>();
  for (const [resource] of entriesOf(spec.resources.all)) {
    for (const operation of operationsOn(spec, resource, 'list')) {
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
