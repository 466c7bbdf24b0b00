import type { Endpoint } from '../../../parts/endpoints.ts';
import { isStated, statedValue } from '../../../parts/fact.ts';
import { isDone } from '../../exchange/exchange.ts';
import { arrange } from '../../make/begin-body.ts';
import { isByRule } from '../../model/promises.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

const styles = ['plain', 'whole', 'full', 'full'] as const;

/** Every operation whose answers are stated is called with what fits its schemas, whether or not it is known what it does. */
export const called: Trial = {
  name: 'endpoints/called',
  part: 'endpoints',
  about: 'Operations of documents of others are called with what fits their schemas; what every answer is held to does the rest.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const endpoint of model.endpoints) {
      if (isByRule(endpoint) || !isStated(endpoint.response)) continue;
      const facts = [{ kind: 'response payload shapes', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => call(session, endpoint) };
    }
  },
};

/** With little, with everything, and with what is drawn; one that is never done says nothing of what success looks like. */
async function call(session: Session, endpoint: Endpoint): Promise<void> {
  const isBare = endpoint.request.standing !== 'stated' && endpoint.request.standing !== 'inferred';
  const statuses: number[] = [];
  for (const style of isBare ? styles.slice(0, 1) : styles) {
    // What is deleted has to be made again, and is by each arrangement.
    const { value } = await session.send(await arrange(session, endpoint, style));
    if (isDone(value)) statuses.length = 0;
    if (isDone(value) && statedValue(endpoint.does)?.verb === 'delete') return;
    statuses.push(value.status);
  }
  session.need(
    statuses.some((status) => status < 300),
    `it was answered ${statuses.join(', ')}`,
  );
}
