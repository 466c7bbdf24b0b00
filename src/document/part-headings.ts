import { type PartName, partNames } from './document.ts';
import { nearest } from './nearest.ts';

/** What a `##` heading can open: one of the nine parts, or the rows that say what was inferred. */
export type Section = PartName | 'evidence';

/** The part that a `##` heading opens by its name or alias, in any case. */
export function sectionOf(heading: string): Section | undefined {
  return sections.get(plain(heading));
}

/** The heading that a misspelt one most likely means. */
export function nearestSection(heading: string): string | undefined {
  return nearest(plain(heading), sections.keys());
}

function plain(heading: string): string {
  return heading.trim().replace(/\s+/g, ' ').toLowerCase();
}

const sections: ReadonlyMap<string, Section> = new Map([
  ...partNames.map((name): [string, Section] => [name, name]),
  ['what the service does', 'purpose'],
  ['resources and their fields', 'resources'],
  ['states and transitions', 'states'],
  ['evidence', 'evidence'],
]);
