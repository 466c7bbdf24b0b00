import { entriesOf } from '../../parts/fact.ts';
import { resourceSchema } from './resource-schema.ts';
import type { View, Writing } from './view.ts';

/**
 * The resources that are sent just as they are answered, so that one definition does for both: all are taken to be, until a
 * difference shows, in themselves or in what they speak of.
 */
export function sentAsAnswered(writing: Omit<Writing, 'view' | 'resource' | 'inner'>): ReadonlySet<string> {
  const resources = entriesOf(writing.spec.resources.all);
  const same = new Set(resources.map(([name]) => name));
  const text = (name: string, view: View): string => (view === 'answer' || same.has(name) ? name : `${view} ${name}`);
  const comparing: Omit<Writing, 'view'> = {
    ...writing,
    resource: (name, view) => ({ $ref: text(name, view) }),
    inner: (_, ref, view) => ({ $ref: `${view} ${ref}` }),
  };
  for (let before = -1; before !== same.size; ) {
    before = same.size;
    for (const [name, resource] of resources) {
      if (!same.has(name)) continue;
      const answered = JSON.stringify(resourceSchema(resource, { ...comparing, view: 'answer' }));
      if (answered !== JSON.stringify(resourceSchema(resource, { ...comparing, view: 'create' }))) same.delete(name);
    }
  }
  return same;
}
