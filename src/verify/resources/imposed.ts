import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { boundByPath, isWritable } from '../../parts/payload.ts';
import { beginBody } from '../endpoints/begin-body.ts';
import type { Trial } from '../trial.ts';
import { withForeign } from './changed.ts';
import { claimRow } from './claim-row.ts';

/** What a caller cannot write is ignored where it is sent with a new row: it is as the service makes it. */
export const imposed: Trial = {
  name: 'resources/imposed',
  part: 'resources',
  about: 'A read-only field that is sent with a new row is ignored.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const effect = statedValue(endpoint.does);
      const resource = model.resource(resourceOfEffect(effect) ?? '');
      const isJson = endpoint.consumes === undefined || endpoint.consumes[0] === 'application/json';
      if (!resource || effect?.verb !== 'create' || !isJson || isStated(endpoint.request)) continue;
      const bound = new Set(boundByPath(model.spec, endpoint));
      for (const [name, field] of entriesOf(resource.fields)) {
        if (bound.has(name) || field.immutable || isWritable(model.spec, resource, field)) continue;
        yield {
          name: `${endpoint.key} with ${name}`,
          facts: [{ kind: 'allowed values', subject: `${resource.name}.${name}` }],
          async run(session) {
            const begun = await beginBody(session, endpoint, 'plain');
            const done = await session.send(begun.request(withForeign(begun.json, field)));
            claimRow(session, { resource: resource.name, change: done, seen: done, reason: 'answered' });
          },
        };
      }
    }
  },
};
