import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Trial } from '../../session/trial.ts';
import { listChosen } from './chosen.ts';
import { listFiltered } from './filters.ts';
import { listInOrder, listSorted, sortWords } from './sorted.ts';

/** Filters let through what they say, and sorted lists are sorted. */
export const narrowedLists: Trial = {
  name: 'endpoints/lists',
  part: 'endpoints',
  about: 'Filters show what fits them and nothing else; lists come in the order that is asked for.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const endpoint of model.endpoints) {
      if (statedValue(endpoint.does)?.verb !== 'list') continue;
      const facts = [{ kind: 'parameters', subject: endpoint.key }];
      const response = [{ kind: 'response payload shapes', subject: endpoint.key }];
      if (endpoint.order.length > 0)
        yield { name: `${endpoint.key}, in order`, facts: response, run: (session) => listInOrder(session, endpoint) };
      for (const [name, stated] of entriesOf(endpoint.parameters)) {
        if (stated.in !== 'query') continue;
        if (stated.sorts) {
          for (const field of sortWords({ model }, endpoint, stated).keys())
            yield {
              name: `${endpoint.key} by ${name}: ${field}`,
              facts,
              run: (session) => listSorted(session, endpoint, stated, field),
            };
        } else if (stated.chooses)
          yield { name: `${endpoint.key} chosen by ${name}`, facts, run: (session) => listChosen(session, endpoint, stated) };
        else if (stated.filters !== undefined)
          yield { name: `${endpoint.key} with ${name}`, facts, run: (session) => listFiltered(session, endpoint, stated) };
      }
    }
  },
};
