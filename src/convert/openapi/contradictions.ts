import type { Json, Pointer } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import type { OpenMap } from '../../document/values.ts';
import { fits } from './fits.ts';
import type { Reader } from './reader.ts';

/** Takes out what contradicts the rest of its own schema, so that the rest still holds. */
export function settle(shape: OpenMap, at: Pointer, reader: Reader): void {
  if (
    Array.isArray(shape.enum) &&
    shape.type !== undefined &&
    !shape.enum.some((value: Json) => fits({ type: shape.type as Json }, value))
  ) {
    reader.find('import/contradiction', below(at, 'enum'), 'None of the allowed values is of the stated type.');
    reader.leave(below(at, 'type'), 'no allowed value is of this type');
    delete shape.type;
  }
  if (Object.hasOwn(shape, 'default') && !fits(shape, shape.default as Json)) {
    reader.find('import/contradiction', below(at, 'default'), 'The default does not fit its own schema.');
    reader.leave(below(at, 'default'), 'it does not fit its own schema');
    delete shape.default;
  }
  for (const [low, high] of pairs) {
    const [least, most] = [shape[low], shape[high]];
    if (typeof least !== 'number' || typeof most !== 'number' || least <= most) continue;
    reader.find('import/contradiction', below(at, low), `\`${low}\` is more than \`${high}\`.`);
    delete shape[low];
    delete shape[high];
  }
}

const pairs = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const;
