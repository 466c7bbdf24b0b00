import type { Json, JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { requestShape } from '../../../parts/payload.ts';
import type { Field } from '../../../parts/resources.ts';
import { type Ground, nothing } from '../../../parts/samples/sampler.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Spec } from '../../../parts/spec.ts';
import { fieldOfMember } from '../../../parts/taking.ts';
import type { Fields, Value } from '../../exchange/exchange.ts';
import { copy } from '../../http/json.ts';
import type { RowModel } from '../model.ts';

/** What new rows are like: the rows that the document's own examples show, and what answers have that no client can send. */
export class Likeness {
  readonly #spec: Spec;
  readonly #samples: Samples;
  #examples: ReadonlyMap<string, JsonMap> | undefined;
  #sendable: ReadonlyMap<string, ReadonlySet<string>> | undefined;

  constructor(spec: Spec, samples: Samples) {
    this.#spec = spec;
    this.#samples = samples;
  }

  /** A row of a resource as an example shows it. */
  exampleOf(resource: string): JsonMap | undefined {
    this.#examples ??= this.#findExamples();
    return this.#examples.get(resource);
  }

  /** A new row of which some fields are given, with those that the service alone sets; told are those made up. */
  of({ name, identifier, machine, fields }: RowModel, given: Fields, ground: Ground): Fields {
    const example = this.exampleOf(name) ?? {};
    const out: Fields = { ...given };
    for (const [field, entry] of fields) {
      if (given[field] !== undefined || field === identifier.field || entry.ref !== undefined) continue;
      if (field === machine?.field && machine.hasInitial) continue;
      const value = this.#valueOf(entry, name, example[field], ground);
      if (value === undefined) continue;
      out[field] = value;
      if (value !== null) ground.sampled(below('', field));
    }
    return out;
  }

  /** What the example shows; else, of what no client can send, a sample. What a client may send and did not is not there. */
  #valueOf(field: Field, resource: string, shown: Json | undefined, ground: Ground): Value {
    const isRequired = statedValue(field.required) === true;
    if (!isRequired && this.#isSendable(resource, field.name)) return undefined;
    const shape = statedValue(field.shape) ?? {};
    const sampler = this.#samples.of(shape, field.name);
    if (shown !== undefined && sampler.fits(shown)) return copy(shown);
    // A pattern is the least that is asked of a text: what only that is known of is left out where it may be.
    const { pattern, enum: listed } = this.#samples.whole(shape);
    const isBarePattern = pattern !== undefined && listed === undefined;
    if (isRequired || field.writeOnly || field.deprecated !== undefined || isBarePattern || !Number.isFinite(sampler.cost))
      return undefined;
    // A new thing stands where the list of its states begins.
    const first = stateNames.has(field.name) && Array.isArray(listed) ? listed.find((one) => typeof one === 'string') : undefined;
    if (first !== undefined && sampler.fits(first)) return first;
    const made = sampler.make({ ...ground, isFull: true, sampled: () => {} }, below('', field.name));
    return made === nothing ? undefined : made;
  }

  #isSendable(resource: string, field: string): boolean {
    this.#sendable ??= this.#findSendable();
    return this.#sendable.get(resource)?.has(field) ?? false;
  }

  /** The fields that the making of a resource may hold, by resource; where nothing makes it, its other requests. */
  #findSendable(): ReadonlyMap<string, ReadonlySet<string>> {
    const sendable = new Map<string, Set<string>>();
    const making = new Map<string, Set<string>>();
    for (const [, endpoint] of entriesOf(this.#spec.endpoints.all)) {
      const resource = resourceOfEffect(statedValue(endpoint.does));
      const shape = resource === undefined ? undefined : statedValue(requestShape(this.#spec, endpoint));
      if (resource === undefined || !shape) continue;
      const verb = statedValue(endpoint.does)?.verb;
      const isMaking = verb === 'create' || verb === 'upsert';
      const kept = isMaking ? making : sendable;
      const known = kept.get(resource) ?? new Set();
      for (const name of Object.keys(this.#samples.membersOf(rowIn(shape, endpoint, this.#samples))))
        known.add(fieldOfMember(endpoint.takes, name));
      kept.set(resource, known);
    }
    return new Map([...sendable, ...making]);
  }

  #findExamples(): ReadonlyMap<string, JsonMap> {
    const found = new Map<string, JsonMap>();
    for (const [, { response }] of entriesOf(this.#spec.endpoints.all)) {
      for (const { status, shape, examples } of statedValue(response) ?? []) {
        const [first] = Object.values(examples);
        const stated = statedValue(shape);
        if (/^2/.test(status) && stated && first !== undefined) this.#gather(stated, first, 0, found);
      }
    }
    return found;
  }

  /** Gathers the rows that an example of a shape holds, the first of each resource. */
  #gather(shape: Shape, value: Json, depth: number, found: Map<string, JsonMap>): void {
    if (depth > depthMost) return;
    if (Array.isArray(value)) {
      const { items } = this.#samples.whole(shape);
      if (isPlainMap(items) && value.length > 0) this.#gather(items, value[0] as Json, depth + 1, found);
      return;
    }
    if (!isPlainMap(value)) return;
    const { resource } = shape;
    if (typeof resource === 'string') {
      if (!found.has(resource)) found.set(resource, value);
      return;
    }
    for (const [name, member] of Object.entries(this.#samples.membersOf(shape))) {
      const inner = value[name];
      if (isPlainMap(member) && inner !== undefined) this.#gather(member, inner, depth + 1, found);
    }
  }
}

/** The shape of the row inside that of a body. */
function rowIn(shape: Shape, { takes }: Endpoint, samples: Samples): Shape {
  let inner = shape;
  for (const name of takes?.path ?? []) {
    const member = samples.membersOf(inner)[name];
    inner = isPlainMap(member) ? member : {};
  }
  return inner;
}

const stateNames: ReadonlySet<string> = new Set(['status', 'state']);

/** How deep rows are looked for in an example. */
const depthMost = 4;
