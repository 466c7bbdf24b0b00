import { writeFileSync } from 'node:fs';
import { documentSchema } from '../src/parts/forms/document.ts';

/** Writes the published JSON Schema anew from the forms of the nine parts: `npm run schema`. */
writeFileSync(new URL('../schema/ninefold.schema.json', import.meta.url), `${JSON.stringify(documentSchema(), null, 1)}\n`);
