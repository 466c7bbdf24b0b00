import type { Json } from '../../../document/document.ts';
import { fieldOfMember } from '../../../parts/answers.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { requestShape } from '../../../parts/payload.ts';
import { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Spec } from '../../../parts/spec.ts';
import { listedBoth } from './lists-shown.ts';

/** What a client may send of things: what it does not send of that it leaves open, and all else the service sets. */
export class Sendable {
  readonly #spec: Spec;
  readonly #samples: Samples;
  #found: ReadonlyMap<string, ReadonlySet<string>> | undefined;

  constructor(spec: Spec, samples: Samples) {
    this.#spec = spec;
    this.#samples = samples;
  }

  /** Whether a client may send a field of a resource, or a member of one: `name`, `address/city`. */
  has(resource: string, field: string): boolean {
    this.#found ??= this.#find();
    return this.#found.get(resource)?.has(field) ?? false;
  }

  /** The fields that the making of a resource may hold, by resource; where nothing makes it, its other requests. */
  #find(): ReadonlyMap<string, ReadonlySet<string>> {
    const sendable = new Map<string, Set<string>>();
    const making = new Map<string, Set<string>>();
    // What a body is said to be by the name of the thing has what a caller may send of that.
    const sent = new Samples(this.#spec, { size: 'ordinary', isSent: true });
    for (const [, endpoint] of entriesOf(this.#spec.endpoints.all)) {
      const many = listedBoth(endpoint, this.#samples);
      const resource = many?.resource ?? resourceOfEffect(statedValue(endpoint.does));
      // Of an effect that was read off a description which states no body, none is sent.
      const isUnsent = endpoint.does.standing === 'inferred' && statedValue(endpoint.request) === undefined;
      const shape =
        resource === undefined ? undefined : (many?.items ?? (isUnsent ? {} : statedValue(requestShape(this.#spec, endpoint))));
      if (resource === undefined || !shape) continue;
      const verb = statedValue(endpoint.does)?.verb;
      const isMaking = verb === 'create' || verb === 'upsert' || (many !== undefined && !endpoint.path.endsWith('}'));
      const kept = isMaking ? making : sendable;
      const known = kept.get(resource) ?? new Set();
      for (const [name, member] of Object.entries(sent.membersOf(rowShapeIn(shape, endpoint, sent)))) {
        if (this.#isOfService(member)) continue;
        const way = fieldOfMember(endpoint.takes, name).split('.');
        const field = way.join('/');
        known.add(way[0] ?? field).add(field);
        for (const [inner, shape] of isPlainMap(member) ? Object.entries(sent.membersOf(member)) : [])
          if (!this.#isOfService(shape)) known.add(`${field}/${inner}`);
      }
      kept.set(resource, known);
    }
    return new Map([...sendable, ...making]);
  }

  /** Whether a member is in the shape of what is sent since that is the shape of what is answered, too: nobody may send it. */
  #isOfService(member: Json): boolean {
    return isPlainMap(member) && this.#samples.whole(member).readOnly === true;
  }
}

/** The shape of the row inside that of a body. */
export function rowShapeIn(shape: Shape, { takes }: Endpoint, samples: Samples): Shape {
  let inner = shape;
  for (const name of takes?.path ?? []) {
    const member = samples.membersOf(inner)[name];
    inner = isPlainMap(member) ? member : {};
  }
  return inner;
}
