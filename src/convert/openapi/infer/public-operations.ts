import { isMap } from '../../../document/values.ts';
import { made } from '../made.ts';
import { nameOfOperation } from '../security.ts';
import type { InferenceRule } from './context.ts';

/** Where single operations ask for a credential and the whole does not, the others ask for none. */
export const publicOperations: InferenceRule = {
  name: 'public-operations',
  says: 'Where some operations ask for a credential and the document as a whole asks for none, those that do not are public.',
  infer(context) {
    const { reader, tree, trail, operations } = context;
    const { authentication } = tree;
    if (!isMap(authentication) || authentication.public !== undefined || Array.isArray(reader.root.value.security)) return;
    const asks = operations.filter(({ map }) => Array.isArray(map.value.security) && map.value.security.length > 0);
    const others = operations.filter(({ map }) => !Object.hasOwn(map.value, 'security'));
    if (asks.length === 0 || others.length === 0) return;
    const names = others.map((operation) => nameOfOperation(context.endpoints, operation));
    made(authentication).public = names;
    trail.infer('/authentication/public', publicOperations.name, '/paths', 0.6);
  },
};
