import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf } from '../../../parts/fact.ts';
import { lookAt, showsWhole } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';

/** How many rows of each resource are read. */
const rowsMost = 2;

/** Rows are shown as stated, by each operation that shows them: what every answer is held to says the rest. */
export const there: Trial = {
  name: 'resources/there',
  part: 'resources',
  about:
    'Rows, those that are there already with --read-only, are shown as stated by each operation that shows them, to each user.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const [resource] of entriesOf(model.spec.resources.all)) {
      for (const endpoint of [...model.endpointsThat('list', resource), ...model.endpointsThat('read', resource)])
        if (showsWhole(endpoint)) yield caseOf(model, resource, endpoint);
    }
  },
};

function caseOf(model: Model, resource: string, endpoint: Endpoint): Case {
  return {
    name: endpoint.key,
    facts: [{ kind: 'response payload shapes', subject: endpoint.key }],
    async run(session: Session) {
      const operation = model.operationOf(endpoint);
      for (let count = 0; count < rowsMost; count++) {
        const row = await session.make(resource, { style: count === 0 ? 'full' : 'plain' });
        await lookAt(session, row);
        for (const caller of model.callers) {
          const mayRead = model.access.allows(operation, caller, row.fields && { context: { resource: row.fields } });
          if (mayRead === 'no') continue;
          await session.send(await requestAbout(session, row, endpoint, { caller }));
        }
        // What is made for it is alike; what was there before may not be.
        if (!session.run.isReadOnly) break;
      }
    },
  };
}
