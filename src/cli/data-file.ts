import { readFile } from 'node:fs/promises';
import type { Document, Json } from '../document/document.ts';
import { renderFinding } from '../document/frame.ts';
import { readJson } from '../document/json.ts';
import { newReadContext } from '../document/read-context.ts';
import { snippetOf, sourceOf } from '../document/source.ts';
import { readYaml } from '../document/yaml/yaml.ts';
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
