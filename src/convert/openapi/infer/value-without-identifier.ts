import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import type { InferenceRule } from './context.ts';

/** What no path leads to is a value, not a thing of its own. */
export const valueWithoutIdentifier: InferenceRule = {
  name: 'value-without-identifier',
  says: 'A schema whose things no path tells apart is a value without an identifier.',
  infer({ resources, trail }) {
    for (const [name, resource] of Object.entries(resources)) {
      if (!isMap(resource) || resource.identifier !== undefined || resource.fields === undefined) continue;
      const at = below('/resources', name);
      resources[name] = { identifier: 'none', ...resource };
      trail.infer(below(at, 'identifier'), valueWithoutIdentifier.name, trail.origin(at) ?? '', 0.7);
    }
  },
};
