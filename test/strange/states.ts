/** Part 3 of strange documents: what the clock and the service do by themselves, and conditions of what callers do. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import { type Draw, pick } from '../serving/generated-values.ts';
import { type Draft, laid, mapAt, oneIn } from './layers.ts';

/** Adds transitions to the machines that are there. */
export function layStates(draw: Draw, draft: Draft): Draft {
  const told = new Set<string>();
  const flagged: string[] = [];
  const machines = draft.resources.flatMap(({ name, machine }): [string, Json][] => {
    if (!machine) return [];
    const [first = 'new', second = 'busy'] = machine.states;
    const last = machine.states.at(-1) ?? second;
    const more: Record<string, JsonMap> = {};
    if (oneIn(draw, 3)) {
      more.lapse = { from: first, to: last, after: pick(draw, ['10s', '30m', '2d']) };
      told.add('transition after');
    }
    if (oneIn(draw, 4)) {
      more.settle = { from: second, to: last, by: 'service' };
      told.add('transition by service');
    }
    const isByCondition = oneIn(draw, 3);
    // What is made is there, and who made it is told of an error.
    const answer = oneIn(draw, 2) ? { answer: keptCode } : {};
    if (!isByCondition) return [[name, { transitions: more }]];
    flagged.push(name);
    told.add('answer' in answer ? 'creation kept and refused' : 'initial by condition');
    const initial = [{ if: 'has(next.flag) && next.flag', state: second, ...answer }, { state: first }];
    return [[name, { transitions: more, initial }]];
  });
  if (machines.length === 0) return draft;
  // Whether it has to be sent is open now and then.
  const flag = { type: 'boolean', ...(oneIn(draw, 2) && { required: false }) };
  const resources = Object.fromEntries(flagged.map((name) => [name, { fields: { flag } }]));
  return layKept(draw, laySecondMachines(draw, laid(draft, { states: Object.fromEntries(machines), resources }, ...told)));
}

const keptCode = 'kept_all_the_same';

/** Adds a transition that is kept and answered with an error, where it leads to one of its states; and the error. */
function layKept(draw: Draw, draft: Draft): Draft {
  let next = draft;
  for (const { name, path, machine } of draft.resources) {
    if (!machine || !oneIn(draw, 3)) continue;
    const [first = 'new', second = 'busy'] = machine.states;
    const to = [
      { if: 'resource.count > 0', state: second },
      { state: machine.states.at(-1) ?? second, answer: keptCode },
    ];
    const change = {
      states: { [name]: { transitions: { judge: { from: first, to } } } },
      endpoints: { [`POST ${path}/{id}/judge`]: { does: `judge ${name}` } },
    };
    next = laid(next, change, 'change kept and refused');
  }
  if (!JSON.stringify(next.document.states).includes(keptCode)) return next;
  return laid(next, { errors: { codes: { [keptCode]: { status: 402, message: 'It is there all the same.' } } } });
}

/** Adds a machine on a field of its own to some that have one; now and then it asks for a state of the other. */
function laySecondMachines(draw: Draw, draft: Draft): Draft {
  let next = draft;
  for (const { name, path, machine } of draft.resources) {
    const { field, initial } = mapAt(next.document, 'states', name);
    if (!machine || typeof field !== 'string' || typeof initial !== 'string' || !oneIn(draw, 3)) continue;
    const guard = oneIn(draw, 2) ? { if: `resource.${field} == '${initial}'` } : {};
    const second = {
      initial: 'low',
      states: ['low', 'high'],
      transitions: {
        raise: { from: 'low', to: 'high', ...guard },
        lower: { from: 'high', to: 'low' },
        ...(oneIn(draw, 2) && { sink: { from: 'high', to: 'low', after: pick(draw, ['20s', '3h']) } }),
      },
    };
    const stated = { fields: { pitch: { type: 'string', readOnly: true, required: true } } };
    const endpoints = Object.fromEntries(
      ['raise', 'lower'].map((word) => [`POST ${path}/{id}/${word}`, { does: `${word} ${name}` }]),
    );
    next = laid(next, { resources: { [name]: stated }, states: { [`${name}.pitch`]: second }, endpoints }, 'two machines');
  }
  return next;
}
