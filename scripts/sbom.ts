import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { billOfMaterials } from './bill-of-materials.ts';

/** `npm run sbom`: writes what the package is installed with to `sbom.cdx.json`, or to the file that is named. */
const root = join(import.meta.dirname, '..');
const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));
const [file = join(root, 'sbom.cdx.json')] = process.argv.slice(2);
const bill = billOfMaterials(read('package.json'), read('package-lock.json'));

writeFileSync(file, `${JSON.stringify(bill, undefined, 2)}\n`);
console.log(`${bill.components.length} packages are listed in ${file}.`);
