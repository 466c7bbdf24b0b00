/** What callers choose of an answer, and what can be chosen of a value. */

import type { JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { selectBounds, selectedPaths } from '../../parts/answers.ts';
import type { Children } from '../../parts/children.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { neverShownTo } from '../../parts/left-out.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { isEverShown } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { levelOf, resolvedShape } from '../../parts/shape-level.ts';
import type { Spec } from '../../parts/spec.ts';
import { type Exchange, type Fields, type OperationRun, refusalReply, type Value } from '../exchange/exchange.ts';
import { isHidden } from '../exchange/visibility.ts';
import { describeValue, type Violation } from '../http/violation.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** What was chosen, by member: all of it, or what was chosen within. */
type Chosen = Map<string, Chosen | 'whole'>;

type Selection = { readonly keep: (row: Value) => Value } | { readonly violations: readonly Violation[] };

/** What is remembered of what callers choose: so many texts, of so many characters. */
const remembered = { textsMax: 200, charactersMax: 500 } as const;

/**
 * Compiles the choosing of the fields that an answer shows, before its run; the run alone where nobody chooses. A name that its caller is never
 * shown is refused as one that there is not.
 */
export function compileSelecting(endpoint: Endpoint, compilation: ViewCompilation, run: OperationRun): OperationRun {
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const { select } = endpoint;
  if (!select || resource === undefined) return run;
  const root = compileSelectable(resource, endpoint, compilation);
  const known = new Map<string, Selection>();
  const read = (sent: Value): Selection => {
    const text = Array.isArray(sent) ? sent.join(',') : String(sent);
    const found = known.get(text);
    if (found) return found;
    const made = selectionOf(selectedPaths(text), root, select.parameter);
    if (text.length > remembered.charactersMax) return made;
    // The one that was remembered first gives way.
    if (known.size >= remembered.textsMax) known.delete(known.keys().next().value as string);
    known.set(text, made);
    return made;
  };
  return (exchange: Exchange) => {
    const sent = exchange.params[select.parameter];
    if (sent === undefined) return run(exchange);
    const selection = read(sent);
    if ('violations' in selection)
      return refusalReply(exchange, { when: 'request.parameter', violations: selection.violations, inVersion: true });
    exchange.selected = selection.keep;
    return run(exchange);
  };
}

function selectionOf(paths: readonly string[], root: Selectable, parameter: string): Selection {
  const { namesMax, stepsMax } = selectBounds;
  const wrong = (found: string, expected: string): Violation => ({ in: 'query', path: parameter, found, expected });
  if (paths.length > namesMax) return { violations: [wrong(`${paths.length} names`, `up to ${namesMax} names`)] };
  const chosen: Chosen = chosenIn(root);
  const bad = paths.filter((path) => {
    const steps = path.split('.');
    return steps.length > stepsMax || !choose(chosen, root, steps);
  });
  if (bad.length > 0) return { violations: bad.map((path) => wrong(describeValue(path), 'a field that is shown here')) };
  return { keep: (row) => keep(row, chosen) };
}

/** What a row is told by is always there. */
function chosenIn({ identifier }: Selectable): Chosen {
  return new Map(identifier === undefined ? [] : [[identifier, 'whole']]);
}

/** Adds a path to what was chosen, unless it leads nowhere. */
function choose(chosen: Chosen, selectable: Selectable, [name = '', ...rest]: readonly string[]): boolean {
  const member = selectable.member(name);
  if (!member) return false;
  const before = chosen.get(name);
  if (rest.length === 0) {
    chosen.set(name, 'whole');
    return true;
  }
  const inner = before === undefined ? chosenIn(member) : before;
  if (!choose(inner === 'whole' ? chosenIn(member) : inner, member, rest)) return false;
  chosen.set(name, inner);
  return true;
}

/** Of a list, what was chosen of each; what has no members stays as it is. */
function keep(value: Value, chosen: Chosen): Value {
  if (Array.isArray(value)) return value.map((item) => keep(item, chosen));
  if (typeof value !== 'object' || value === null) return value;
  const kept: Fields = Object.create(null);
  for (const [name, member] of Object.entries(value)) {
    const within = chosen.get(name);
    if (within !== undefined) kept[name] = within === 'whole' ? member : keep(member, within);
  }
  return kept;
}

/** What can be chosen of a value, in the words of a version and as one user sees it. */
interface Selectable {
  /** The field that tells a row from others, where its reader is shown it. */
  readonly identifier?: string;
  /** What can be chosen within a member; nothing where there is no such member, or its reader never sees it. */
  member(name: string): Selectable | undefined;
}

/** Compiles what can be chosen of the rows that an endpoint shows. What lies within a row is looked at when it is first asked for. */
function compileSelectable(resource: string, endpoint: Endpoint, compilation: ViewCompilation): Selectable {
  const verb = statedValue(endpoint.does)?.verb;
  const reveals = verb !== 'read' && verb !== 'list';
  return new Selectables(compilation, endpoint.expand !== undefined).ofRow(resource, reveals);
}

/** Of what is not stated anything may be chosen. */
const anything: Selectable = { member: () => anything };
/** What has no members. */
const leaf: Selectable = { member: () => undefined };

class Selectables {
  /** The document in the words of the version. */
  readonly #spec: Spec;
  readonly #compilation: ViewCompilation;
  readonly #expands: boolean;
  readonly #rows = new Map<string, Selectable>();

  constructor(compilation: ViewCompilation, expands: boolean) {
    this.#compilation = compilation;
    this.#spec = compilation.version?.spec ?? compilation.spec;
    this.#expands = expands;
  }

  ofRow(name: string, reveals = false): Selectable {
    const key = `${reveals} ${name}`;
    const known = this.#rows.get(key);
    if (known) return known;
    const resource = entryOf(this.#spec.resources.all, name);
    const row = resource && isStated(resource.fields) ? this.#ofFields(resource, reveals) : anything;
    this.#rows.set(key, row);
    return row;
  }

  #ofFields(resource: Resource, reveals: boolean): Selectable {
    const identifier = statedValue(resource.identifier)?.field;
    const members = new Map<string, Selectable>();
    const member = (name: string): Selectable | undefined => {
      const known = members.get(name);
      if (known) return known;
      const field = entryOf(resource.fields, name);
      if (field ? this.#isUnseen(resource.name, field, reveals) : !resource.additionalProperties)
        return resource.additionalProperties ? anything : undefined;
      const made = field ? this.#ofField(field) : anything;
      // What is not stated has as many names as callers think of.
      if (field) members.set(name, made);
      return made;
    };
    return { ...(identifier !== undefined && member(identifier) && { identifier }), member };
  }

  /** Whether the reader is never shown a field: what the newest version says of it, by its name there. */
  #isUnseen(resource: string, field: Field, reveals: boolean): boolean {
    const { spec, user, version } = this.#compilation;
    const newest = version?.carries.resource(resource)?.older(field.name)?.newer ?? field.name;
    const stated = entryOf(entryOf(spec.resources.all, resource)?.fields ?? unknownFields, newest) ?? field;
    return !isEverShown(stated) || isHidden(stated, { user, reveals, leftOut: neverShownTo(spec, { user }) });
  }

  #ofField({ children, ref, show, shape }: Field): Selectable {
    if (children) return this.#ofChildren(children);
    if (ref !== undefined) {
      if (show !== undefined && show !== 'id' && show !== 'expand') return this.#narrowed(this.ofRow(ref), show);
      return show === 'expand' || this.#expands ? this.ofRow(ref) : leaf;
    }
    return this.ofShape(statedValue(shape) ?? {});
  }

  /** The rows that refer to a row, in their envelope where they have one. */
  #ofChildren({ resource, envelope }: Children): Selectable {
    if (!envelope) return this.ofRow(resource);
    const items = this.ofRow(resource);
    const others = new Set([...Object.keys(envelope.data ?? {}), ...(envelope.hasMore === undefined ? [] : [envelope.hasMore])]);
    return { member: (name) => (name === envelope.items ? items : others.has(name) ? leaf : undefined) };
  }

  /** A reference that is shown in a shape of its own. */
  #narrowed(row: Selectable, shape: JsonMap): Selectable {
    const names = new Set(levelOf(this.#spec, shape).members.map(({ name }) => name));
    const isShown = (name: string) => names.has(name);
    // Who asks for it to be expanded is shown the whole.
    if (this.#expands || names.size === 0) return row;
    const { identifier } = row;
    return {
      ...(identifier !== undefined && isShown(identifier) && { identifier }),
      member: (name) => (isShown(name) ? row.member(name) : undefined),
    };
  }

  /** `around`: the lists and unions that it stands directly in, which may lead back to themselves. */
  ofShape(shape: JsonMap, around: readonly (string | JsonMap)[] = []): Selectable {
    const resolved = resolvedShape(this.#spec, shape);
    if (typeof resolved.resource === 'string') return this.ofRow(resolved.resource);
    const here = typeof shape.resource === 'string' ? shape.resource : shape;
    if (around.includes(here)) return leaf;
    const { members, rest, items, branches } = levelOf(this.#spec, resolved);
    if (members.length === 0 && !rest && !items && branches.length === 0) return isBare(resolved) ? leaf : anything;
    const known = new Map<string, Selectable>();
    const own = (name: string): Selectable | undefined => {
      const stated = members.find((one) => one.name === name);
      if (stated) return this.ofShape(stated.shape);
      return rest ? this.ofShape(rest) : resolved.additionalProperties === true ? anything : undefined;
    };
    const inner = [...(items ? [items] : []), ...branches];
    return {
      member: (name) => {
        const found = known.get(name) ?? own(name) ?? firstOf(inner, (one) => this.ofShape(one, [...around, here]).member(name));
        if (found && members.some((one) => one.name === name)) known.set(name, found);
        return found;
      },
    };
  }
}

/** Whether values of a shape have no members: texts, numbers, and what refers to a row. */
function isBare({ type, ref, enum: values }: JsonMap): boolean {
  const types = Array.isArray(type) ? type : [type];
  return (
    ref !== undefined ||
    (values !== undefined && !isMap(values) && type === undefined) ||
    !types.some((one) => one === undefined || one === 'object' || one === 'array')
  );
}

function firstOf<T, U>(list: readonly T[], find: (one: T) => U | undefined): U | undefined {
  for (const one of list) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

const unknownFields = { standing: 'open', at: '' } as const;
