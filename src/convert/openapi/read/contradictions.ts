import type { Json, JsonMap, Pointer } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { conjunctionOf } from '../../../parts/shapes/branches.ts';
import { defaultAsMeant } from './default-as-meant.ts';
import { fitsSchema } from './keywords.ts';
import { refOf, type SourceReader } from './reader.ts';

/** Takes out what contradicts the rest of its own schema, so that the rest still holds. */
export function settle(shape: OpenMap, schema: JsonMap, at: Pointer, reader: SourceReader, isNullable: boolean): void {
  if (
    Array.isArray(shape.enum) &&
    shape.type !== undefined &&
    !shape.enum.some((value: Json) => fitsSchema({ type: shape.type as Json }, value))
  ) {
    reader.find('import/contradiction', below(at, 'enum'), 'None of the allowed values is of the stated type.');
    reader.leave(below(at, 'type'), 'no allowed value is of this type');
    delete shape.type;
  }
  const { default: usual } = shape;
  const isNull = usual === null && isNullable;
  if (usual !== undefined && !isNull && !(fitsSchema(shape, usual) && fitsParts(schema, usual, reader))) {
    const meant = defaultAsMeant(shape, usual);
    const isRead = meant !== undefined && fitsParts(schema, meant, reader);
    const instead = isRead ? `; it is read as ${JSON.stringify(meant)}` : '';
    reader.find('import/contradiction', below(at, 'default'), `The default does not fit its own schema${instead}.`);
    if (isRead) shape.default = meant;
    else {
      reader.leave(below(at, 'default'), 'it does not fit its own schema');
      delete shape.default;
    }
  }
  if (breaksItems(shape, schema)) {
    reader.find(
      'import/contradiction',
      below(at, 'items'),
      'What the default or the example of the list holds is none of its items.',
    );
    reader.leave(below(at, 'items'), 'the default or the example of the list has other items');
    shape.items = newMap();
  }
  for (const word of brokenByExample(shape, schema)) {
    reader.find('import/contradiction', below(at, word), `The example beside it does not fit its \`${word}\`.`);
    reader.leave(below(at, word), 'the example beside it does not fit');
    delete shape[word];
  }
  for (const [low, high] of pairs) {
    const [least, most] = [shape[low], shape[high]];
    if (typeof least !== 'number' || typeof most !== 'number' || least <= most) continue;
    reader.find('import/contradiction', below(at, low), `\`${low}\` is more than \`${high}\`.`);
    delete shape[low];
    delete shape[high];
  }
}

/** The bounds of a schema that the example in the same schema breaks: whoever wrote both cannot hold anybody to them. */
function brokenByExample(shape: OpenMap, schema: JsonMap): string[] {
  const { example, examples } = schema;
  const shown = example ?? (Array.isArray(examples) ? (examples[0] as Json) : undefined);
  if (typeof shown !== 'string' && typeof shown !== 'number') return [];
  // An empty text stands where no example was thought of.
  if (shown === '') return [];
  return boundWords.filter((word) => shape[word] !== undefined && !fitsSchema({ [word]: shape[word] as Json }, shown));
}

/** Whether the default of a list, or its example, holds nothing of the type that its items have: whoever wrote both cannot hold anybody to it. */
function breaksItems({ items }: OpenMap, { default: usual, example }: JsonMap): boolean {
  const type = isMap(items) ? items.type : items;
  if (typeof type !== 'string' && !Array.isArray(type)) return false;
  return [usual, example].some(
    (list) => Array.isArray(list) && list.length > 0 && !list.some((one: Json) => fitsSchema({ type }, one)),
  );
}

const boundWords = ['pattern', 'minLength', 'maxLength', 'minimum', 'maximum'] as const;

/** Whether a default is of the type of all that its schema is put together of, as far as a reference leads straight to it. */
function fitsParts(schema: JsonMap, usual: Json, reader: SourceReader): boolean {
  return conjunctionOf(schema).every((part) => {
    const ref = isMap(part) ? refOf(part) : undefined;
    const target = ref === undefined ? part : reader.target(ref)?.value;
    if (!isMap(target) || typeof target.type !== 'string') return true;
    return fitsSchema({ type: target.nullable === true ? [target.type, 'null'] : target.type }, usual);
  });
}

const pairs = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const;
