/** Part 3 of strange documents: what the clock and the service do by themselves, and conditions of what callers do. */
import fc from 'fast-check';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { type Draw, pick } from '../serving/generated-values.ts';
import { type Draft, laid, mapAt, oneIn } from './layers.ts';

/** Adds transitions to the machines that are there. */
export function layStates(draw: Draw, draft: Draft): Draft {
  const told = new Set<string>();
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
    const initial =
      draw(fc.nat, { max: 4 }) === 4 ? [{ if: 'has(next.flag) && next.flag', state: second }, { state: first }] : undefined;
    return [[name, { transitions: more, ...(initial && hasFlag(draft, name) && { initial }) }]];
  });
  if (machines.length === 0) return draft;
  return laySecondMachines(draw, laid(draft, { states: Object.fromEntries(machines) }, ...told));
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

function hasFlag({ document }: Draft, name: string): boolean {
  return JSON.stringify((document.resources as JsonMap)[name]).includes('"flag"');
}
