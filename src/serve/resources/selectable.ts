import type { JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Children } from '../../parts/children.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { neverShownTo } from '../../parts/left-out.ts';
import { isEverShown } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { levelOf } from '../../parts/shape-level.ts';
import type { Spec } from '../../parts/spec.ts';
import { resolvedShape } from '../../parts/value-shape.ts';
import { isHidden } from '../exchange/visibility.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** What can be chosen of a value, in the words of a version and as one user sees it. */
export interface Selectable {
  /** The field that tells a row from others, where its reader is shown it. */
  readonly identifier?: string;
  /** What can be chosen within a member; nothing where there is no such member, or its reader never sees it. */
  member(name: string): Selectable | undefined;
}

/** Compiles what can be chosen of the rows that an endpoint shows. What lies within a row is looked at when it is first asked for. */
export function compileSelectable(resource: string, endpoint: Endpoint, compilation: ViewCompilation): Selectable {
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
