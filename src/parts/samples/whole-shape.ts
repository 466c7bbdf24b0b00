import type { Json } from '../../document/document.ts';
import { entriesOf, entryOf, statedValue } from '../fact.ts';
import { writableShape } from '../payload.ts';
import { identifierType } from '../schemas.ts';
import type { Shape } from '../shape.ts';
import { conjunctsOf, hasMeaning, withoutConjunction } from '../shapes/branches.ts';
import { fitsAll } from '../shapes/compose.ts';
import type { Spec } from '../spec.ts';
import { machineOf } from '../states.ts';
import { mergeShapes } from './merge.ts';

const depthMost = 32;

/** Writes out one level of shapes: a resource as the object that its rows are, a conjunction as one shape. What stands inside stays as it is. */
export class WholeShapes {
  readonly #spec: Spec;
  readonly #ofResources = new Map<string, Shape>();
  readonly #isSent: boolean;

  /** `isSent`: a resource is what a caller may send of it. */
  constructor(spec: Spec, isSent = false) {
    this.#spec = spec;
    this.#isSent = isSent;
  }

  /** A shape without a resource or a conjunction at its top; names that only lead round to themselves say nothing. */
  of(shape: Shape, depth = 0): Shape {
    if (depth > depthMost) return {};
    if (typeof shape.resource === 'string') {
      const { resource, ...rest } = shape;
      const own = this.ofResource(resource);
      return Object.keys(rest).length === 0 ? this.of(own, depth + 1) : this.of(fitsAll<Json>([own, rest]), depth + 1);
    }
    if (!hasMeaning(shape, 'conjunction')) return shape;
    const parts = conjunctsOf(shape).map((part) => this.of(part, depth + 1));
    return mergeShapes([...parts, withoutConjunction(shape)]);
  }

  /** What a resource is: a shape of its own, or a row with every field that it has to have. A state that is known to come first is the only one. */
  ofResource(name: string): Shape {
    const known = this.#ofResources.get(name);
    if (known) return known;
    const resource = entryOf(this.#spec.resources.all, name);
    const own = resource?.shape && statedValue(resource.shape);
    if (own) return this.#known(name, own);
    if (this.#isSent && resource) return this.#known(name, writableShape(this.#spec, resource, []));
    const machine = machineOf(this.#spec.states, name);
    const states = machine && statedValue(machine.states);
    const fields = entriesOf(resource?.fields ?? { standing: 'open', at: '' });
    const properties = Object.fromEntries(
      fields.map(([field, { shape }]): [string, Json] => {
        const stated = statedValue(shape) ?? {};
        return [
          field,
          machine?.field === field && states && stated.enum === undefined ? { ...stated, enum: [...states] } : stated,
        ];
      }),
    );
    const required = fields.flatMap(([field, entry]) => (statedValue(entry.required) && entry.stored ? [field] : []));
    const isClosed = resource !== undefined && fields.length > 0 && !resource.additionalProperties;
    return this.#known(name, { type: 'object', properties, required, ...(isClosed && { additionalProperties: false }) });
  }

  #known(name: string, shape: Shape): Shape {
    this.#ofResources.set(name, shape);
    return shape;
  }

  /** The JSON type of the identifiers of a resource. */
  identifierType(resource: string): Json {
    return identifierType(this.#spec, resource);
  }
}
