import { readFileSync, writeFileSync } from 'node:fs';
import { parseDocument } from '../src/index.ts';
import { documentSchema } from '../src/parts/forms/document.ts';

const at = (path: string) => new URL(`../${path}`, import.meta.url);
const write = (path: string, value: unknown) => writeFileSync(at(path), `${JSON.stringify(value, null, 1)}\n`);

/** `npm run schema` writes anew what is made of other files: the published JSON Schema, of the forms of the nine parts, and the door of operations, of its page. */
write('schema/ninefold.schema.json', documentSchema());
const { title, tree } = parseDocument(readFileSync(at('docs/operations.yaml')), 'operations.yaml');
write('src/serve/service/operations.json', { title, ...tree });
