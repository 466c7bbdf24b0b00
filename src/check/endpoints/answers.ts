import { below } from '../../document/pointer.ts';
import { type Answer, repliedWith } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { dataMisfits, isExpression } from '../subject/data.ts';
import { shortJson } from '../subject/json-types.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** What comes back. */
export const answerRules: readonly Rule[] = [
  error(
    'endpoints/status',
    'An answer stands under something that is no status.',
    'Write a status such as `200`, a range such as `4XX`, or `default`.',
    (subject) =>
      eachAnswer(subject, ({ status }, { at }) =>
        /^(?:[1-5]\d\d|[1-5]XX|default)$/i.test(status)
          ? []
          : [{ message: `\`${status}\` is no status.`, at: below(below(at, 'response'), status), onKey: true }],
      ),
  ),
  warning(
    'endpoints/answer-unreached',
    'An answer stands after one of the same status that is always given.',
    'Give the answer before it an `if`, or take this one out.',
    ({ endpoints }) =>
      endpoints.flatMap(({ response }) => {
        const usual = new Map<string, Answer>();
        return (statedValue(response) ?? []).flatMap((answer) => {
          const first = usual.get(answer.status);
          if (!first && !answer.if) usual.set(answer.status, answer);
          if (!first) return [];
          return [
            {
              message: `The answer ${answer.status} is never given like this.`,
              at: answer.at,
              also: [{ message: 'This one is.', at: first.at }],
            },
          ];
        });
      }),
  ),
  error(
    'endpoints/example-misfit',
    'The example of an answer does not fit its shape.',
    'Correct the example, or the shape.',
    (subject) =>
      eachAnswer(subject, ({ at, shape, example, examples }, { does }) => {
        const value = statedValue(shape);
        const all = [
          ...(example ? [[below(at, 'example'), example.value] as const] : []),
          ...Object.entries(statedValue(does)?.verb === 'reply' && !example ? examples : {}).map(
            ([name, one]) => [below(below(at, 'examples'), name), one] as const,
          ),
        ];
        return all.flatMap(([place, one]) => {
          const why = value && subject.schemas.misfit(value, one);
          return why === undefined ? [] : [{ message: `The example ${shortJson(one)} does not fit: ${why}.`, at: place }];
        });
      }),
  ),
  warning(
    'endpoints/reply-without-example',
    'An endpoint replies with an example, and states none.',
    "Add the answer's `example`.",
    (subject) =>
      eachAnswer(subject, (answer, { does }) =>
        statedValue(does)?.verb === 'reply' && isStated(answer.shape) && repliedWith(answer).length === 0 && !answer.data
          ? [{ message: 'There is no example to reply with.', at: answer.at, onKey: true }]
          : [],
      ),
  ),
  error(
    'endpoints/data-misfit',
    '`data` does not make what the shape of the answer asks for.',
    'Name each required property, and none that the shape does not have.',
    (subject) =>
      eachAnswer(subject, ({ at, shape, data }) => {
        const value = statedValue(shape);
        return value && data && !isExpression(data) ? dataMisfits(subject, value, data, below(at, 'data')) : [];
      }),
  ),
];

function eachAnswer({ endpoints }: Subject, find: (answer: Answer, endpoint: Endpoint) => readonly Wrong[]): Wrong[] {
  return endpoints.flatMap((endpoint) => (statedValue(endpoint.response) ?? []).flatMap((answer) => find(answer, endpoint)));
}
