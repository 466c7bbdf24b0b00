import { valueAt } from '../document/place.ts';
import { below } from '../document/pointer.ts';
import { isMap } from '../document/values.ts';
import { brokerKind, brokerKinds } from '../kinds/deliveries/all-brokers.ts';
import type { Broker } from '../parts/events.ts';
import { statedValue } from '../parts/fact.ts';
import { problemsOf } from './subject/problems.ts';
import { error, type Rule, type Subject, type Wrong } from './subject/rule.ts';

/** The broker that events are published to. */
export const brokerRules: readonly Rule[] = [
  error(
    'events/broker-kind',
    'A broker is stated without its kind, or with words of another kind.',
    `Write \`kind: ${brokerKinds[0].word}\`, and beside it the words of that kind alone.`,
    (subject) =>
      eachBroker(subject, ({ word, at, own }) => {
        const kind = brokerKind(word);
        const written = valueAt(subject.spec.document.tree, at);
        if (!kind) return isMap(written) && written.kind === undefined ? [{ message: 'There is no `kind`.', at }] : [];
        return Object.keys(own)
          .filter((name) => kind.members[name] === undefined)
          .map((name) => ({ message: `\`${name}\` is no word of \`${kind.word}\`.`, at: below(at, name), onKey: true }));
      }),
  ),
  error(
    'events/broker-member',
    'A broker lacks what its kind needs, or that is not of its form.',
    'Write what its kind asks for.',
    (subject) =>
      eachBroker(subject, (broker) =>
        problemsOf(brokerKind(broker.word)?.problems(broker) ?? [], broker.at, 'events/broker-member'),
      ),
  ),
];

function eachBroker({ spec }: Subject, find: (broker: Broker) => readonly Wrong[]): Wrong[] {
  const broker = statedValue(spec.events.delivery)?.broker;
  return broker ? [...find(broker)] : [];
}
