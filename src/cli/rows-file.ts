import type { Json } from '../document/document.ts';
import { nearest } from '../document/nearest.ts';
import { isMap } from '../document/values.ts';
import { entriesOf, isStated } from '../parts/fact.ts';
import type { Spec } from '../parts/spec.ts';
import type { ServeOptions } from '../serve/service/service.ts';
import { readDataFile } from './data-file.ts';
import { Misuse } from './verb.ts';

export type StartingRows = NonNullable<ServeOptions['rows']>;

/**
 * Reads rows to start with: a map from resource to list of rows, in YAML or JSON. Whether each fits its resource is for serving to say.
 * @throws {Misuse} where the file cannot be read, is neither, or names a resource that the document does not have.
 */
export async function readRows(path: string, spec: Spec): Promise<StartingRows> {
  const content = await readDataFile(path);
  if (!isMap(content)) throw new Misuse(`${path} holds no map from resource to list of rows, as in \`parcel: [{ … }]\`.`);
  const resources = entriesOf(spec.resources.all).flatMap(([name, { identifier }]) => (isStated(identifier) ? [name] : []));
  const rows: Record<string, readonly Readonly<Record<string, Json>>[]> = Object.create(null);
  for (const [resource, list] of Object.entries(content)) {
    if (!resources.includes(resource)) throw unknownResource(path, resource, resources);
    if (!Array.isArray(list)) throw new Misuse(`${path}: \`${resource}\` is no list of rows.`);
    rows[resource] = list.map((row: Json, index) => {
      if (!isMap(row)) throw new Misuse(`${path}: row ${index + 1} of \`${resource}\` is no map of fields.`);
      return row;
    });
  }
  return rows;
}

function unknownResource(path: string, word: string, resources: readonly string[]): Misuse {
  const meant = nearest(word, resources);
  const list = resources.length === 0 ? 'the document has none.' : `the document has ${resources.join(', ')}.`;
  return new Misuse(
    `${path}: \`${word}\` is no resource with rows${meant === undefined ? `; ${list}` : `. Did you mean \`${meant}\`?`}`,
  );
}
