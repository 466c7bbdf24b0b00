import { partNames } from './document.ts';

/** How a document is written down. */
export type Form = 'markdown' | 'yaml' | 'json';

/** The form of a file, by the ending of its name, else by its text. */
export function formOf(file: string, text: string): Form {
  const ending = /\.([^./\\]+)$/.exec(file.replace(/\.gz$/i, ''))?.[1]?.toLowerCase() ?? '';
  return endings.get(ending) ?? formOfText(text);
}

const endings: ReadonlyMap<string, Form> = new Map([
  ['md', 'markdown'],
  ['markdown', 'markdown'],
  ['txt', 'markdown'],
  ['yaml', 'yaml'],
  ['yml', 'yaml'],
  ['json', 'json'],
]);

function formOfText(text: string): Form {
  if (/^\s*\{/.test(text)) return 'json';
  // A comment of YAML looks like a heading; a part's name at the left edge tells them apart.
  return /^#{1,2}[ \t]+\S/m.test(text) && !partKey.test(text) ? 'markdown' : 'yaml';
}

const partKey = new RegExp(`^(?:title|include|evidence|${partNames.join('|')}):`, 'm');
