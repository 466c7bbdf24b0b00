import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import type { InferenceRule } from './context.ts';
import { identifierOf } from './rows.ts';

/** What a path's last parameter names is the identifier of the things below that path. */
export const identifier: InferenceRule = {
  name: 'identifier',
  says: 'The identifier is the field named as the last parameter of its path is, or `id`, or the last word of that name.',
  infer({ collections, resources, written, trail }) {
    const shortest = [...collections.values()].sort((a, b) => a.path.length - b.path.length);
    for (const { resource: name, parameter, path } of shortest) {
      const resource = resources[name];
      if (!isMap(resource) || isMap(resource.identifier)) continue;
      const properties = isMap(resource.fields) ? written.propertiesOf(name) : undefined;
      const field = properties && identifierOf(written, properties, parameter);
      if (field === undefined) {
        collections.delete(path);
        continue;
      }
      resources[name] = { identifier: { field }, ...resource };
      const at = below('/resources', name);
      const from = trail.origin(below(below(at, 'fields'), field)) ?? trail.origin(at) ?? '';
      trail.infer(below(at, 'identifier'), identifier.name, from, field === 'id' || field === parameter ? 0.95 : 0.8);
    }
  },
};
