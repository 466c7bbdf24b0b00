import { readFile } from 'node:fs/promises';
import type { Document, Json } from '../document/document.ts';
import { renderFinding } from '../document/frame.ts';
import { readJson } from '../document/json.ts';
import { nearest } from '../document/nearest.ts';
import { newReadContext } from '../document/read-context.ts';
import { snippetOf, sourceOf } from '../document/source.ts';
import { isMap } from '../document/values.ts';
import { readYaml } from '../document/yaml/yaml.ts';
import { entriesOf, isStated } from '../parts/fact.ts';
import type { Spec } from '../parts/spec.ts';
import { BadScenario, readScenarios, type ScenarioInput } from '../serve/scenarios/scenario.ts';
import { demandPlayable } from '../serve/scenarios/stated-answers.ts';
import type { ServeOptions } from '../serve/service/service.ts';
import { Misuse } from './verb.ts';

/** The value of a file of YAML or JSON beside the document, read as strictly as one. @throws {Misuse} where it cannot be read. */
export async function readDataFile(path: string): Promise<Json | undefined> {
  return parsed(path, await readText(path));
}

function parsed(path: string, text: string): Json | undefined {
  const gathering = newReadContext(() => false);
  const read = /\.json$/i.test(path) ? readJson : readYaml;
  const located = read(snippetOf(sourceOf(path, text), [[0, text.length]]), '', 0, gathering);
  const wrong = gathering.findings.find(({ severity }) => severity === 'error');
  if (wrong === undefined) return located?.value;
  const sources: Document['sources'] = new Map([[path, text]]);
  throw new Misuse(`${path} cannot be used.\n${renderFinding(sources, wrong, { colour: false })}`, { cause: wrong });
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw new Misuse(`${path} cannot be read: ${isMissing ? 'there is no such file' : String(error)}.`, { cause: error });
  }
}

/** Reads a file of scenarios, a list in YAML or JSON. @throws {Misuse} where it cannot be read, or holds what is no scenario of this document. */
export async function readScenariosFile(path: string, spec: Spec): Promise<readonly ScenarioInput[]> {
  const content = await readDataFile(path);
  try {
    const read = readScenarios(content);
    demandPlayable(spec, read);
    // A scenario is told as it was written.
    return read.map(({ name, written }) => ({ ...(written as ScenarioInput), name }));
  } catch (error) {
    if (!(error instanceof BadScenario)) throw error;
    throw new Misuse(`${path}: ${error.message}`, { cause: error });
  }
}

type StartingRows = NonNullable<ServeOptions['rows']>;

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
