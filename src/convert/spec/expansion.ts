import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';

/** Which references some endpoint shows whole when a caller asks for it (`expand`), as deep as it may ask. */
export function expandableFields(spec: Spec): (resource: string) => boolean {
  // How many more steps may be followed from a resource.
  const depths = new Map<string, number>();
  const queue: [resource: string, depth: number][] = entriesOf(spec.endpoints.all).flatMap(([, endpoint]) => {
    const resource = resourceOfEffect(statedValue(endpoint.does));
    return resource !== undefined && endpoint.expand ? [[resource, endpoint.expand.depth]] : [];
  });
  for (const [name, depth] of queue) {
    if (depth <= (depths.get(name) ?? 0)) continue;
    depths.set(name, depth);
    const resource = entryOf(spec.resources.all, name);
    const fields = resource ? entriesOf(resource.fields) : [];
    for (const [, { ref }] of fields) if (ref !== undefined) queue.push([ref, depth - 1]);
  }
  return (resource) => (depths.get(resource) ?? 0) > 0;
}
