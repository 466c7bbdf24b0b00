import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { type AboutResource, endpointsByResource, type InferenceContext, type InferenceRule } from './context.ts';
import { fieldAlike } from './renamed-members.ts';
import { documentFields } from './rows.ts';
import { wordsOf } from './shapes.ts';

/** A status that nobody can send is moved by the service; how, the source never says. */
export const statusStates: InferenceRule = {
  name: 'status-states',
  says: 'A field `status` or `state` with listed words that no request sends holds the state of its resource; its transitions are open.',
  infer(context) {
    const { resources, tree, trail, written } = context;
    const byResource = endpointsByResource(context);
    const states: OpenMap = newMap();
    for (const [name, resource] of Object.entries(resources)) {
      if (!isMap(resource) || !isMap(resource.identifier)) continue;
      const fields = documentFields(resources, name);
      const field = ['status', 'state'].find((word) => Object.hasOwn(fields, word));
      if (field === undefined || written.typeOf(fields[field]) !== 'string' || isSent(context, byResource.get(name) ?? [], field))
        continue;
      const listed = written.listedOf(fields[field]);
      const words = wordsOf(listed && [...listed]);
      if (words.length < 2 || listed?.includes(null)) continue;
      const at = below('/states', name);
      const from = trail.origin(below(below(below('/resources', name), 'fields'), field)) ?? '';
      states[name] = {
        field,
        states: [...new Set(words)],
        transitions: { $open: `What moves a ${name} from one state to another?` },
      };
      trail.infer(at, statusStates.name, from, 0.6);
      trail.infer(below(at, 'states'), statusStates.name, from, 0.9);
    }
    if (Object.keys(states).length > 0) tree.states = states;
  },
};

/** Whether a request about the resource may carry the field. */
function isSent({ written }: InferenceContext, about: readonly AboutResource[], field: string): boolean {
  return about.some(({ endpoint }) =>
    Object.keys(written.propertiesOf(endpoint.request)?.all ?? {}).some((name) => name === field || fieldAlike(name, [field])),
  );
}
