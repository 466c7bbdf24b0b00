import type { Json } from '../../document/document.ts';
import type { Effect } from '../../parts/effects.ts';
import { nothing } from '../../parts/samples/nothing.ts';
import type { Samples } from '../../parts/samples/samples.ts';
import type { Shape } from '../../parts/shape.ts';
import { isMap } from '../../parts/source.ts';
import { isFields } from '../acts/body.ts';
import type { CompleteAnswer } from '../acts/stand-in.ts';
import { type Fields, type Value, warn } from '../exchange.ts';
import { nameOf, tellSampled } from './names.ts';
import { groundOf } from './sampled-rows.ts';
import type { Sampling } from './sampling.ts';

/** Compiles the completing of what came out to the shape that an answer states, naming what had to be made up. */
export function compileCompletion(shape: Shape, does: Effect | undefined, sampling: Sampling): CompleteAnswer {
  const samples = sampling.shown;
  const sampler = samples.of(shape);
  const members = samples.membersOf(shape);
  const rowsAt = does?.verb === 'list' ? memberOfRows(members, does.resource) : undefined;
  /** What is given, as the answer can hold it: of a row that is gone what is named, and a list where the rows of it stand. */
  const asGiven = (value: Value): Value => {
    if (does?.verb === 'delete' && isFields(value)) return remainsOf(value, members, samples);
    return rowsAt !== undefined && Array.isArray(value) ? { [rowsAt]: value } : value;
  };
  return (given, exchange, work) => {
    const value = asGiven(given);
    const told: string[] = [];
    const ground = groundOf(sampling, work, `${exchange.call.method} ${exchange.call.path}`, (path) => told.push(path));
    const whole = sampler.complete(value, ground, '');
    if (whole === nothing) {
      warn(exchange, ['nothing can be made up that fits the response']);
      return value;
    }
    tellSampled(exchange, told.map(nameOf));
    return whole;
  };
}

/** What an answer says of a row that is gone: the fields that it names, and that it is deleted. */
function remainsOf(row: Fields, members: Readonly<Record<string, Json>>, samples: Samples): Fields {
  const named = Object.entries(row).filter(([name]) => Object.hasOwn(members, name));
  const flags = Object.entries(members).flatMap(([name, shape]) =>
    /^(?:is_?)?deleted$/i.test(name) && samples.of(shape).fits(true) ? [name] : [],
  );
  return Object.fromEntries([...named, ...flags.map((name) => [name, true] as const)]);
}

/** The member of an envelope that holds the rows of a resource: the list of that resource, else the only list. */
function memberOfRows(members: Readonly<Record<string, Json>>, resource: string): string | undefined {
  const lists = Object.entries(members).filter(([, shape]) => isMap(shape) && shape.items !== undefined);
  const own = lists.find(([, shape]) => isMap(shape) && isMap(shape.items) && shape.items.resource === resource);
  return own?.[0] ?? (lists.length === 1 ? lists[0]?.[0] : undefined);
}
