import { entriesOf, statedValue } from '../../parts/fact.ts';
import { type Generated, generatedOf, uniquesOf } from '../../parts/inner-values.ts';
import type { Resource } from '../../parts/resources.ts';

/** What is made of a new row once the rest of it is known: what is counted, and what holds other fields. */
export interface MadeLast {
  readonly field: string;
  /** What it is counted within; absent = over all rows. */
  readonly within: string | undefined;
  readonly made: Generated;
  /** The column that keeps what is counted apart. */
  readonly unique: string;
}

/** Whether it is known no sooner than the rest of its row. */
export function isMadeLast({ counts, fields }: Generated): boolean {
  return counts || fields.length > 0;
}

export function compileMadeLast(resource: Resource): readonly MadeLast[] {
  const identifier = statedValue(resource.identifier)?.field;
  return entriesOf(resource.fields).flatMap(([name, field]): MadeLast[] => {
    const made = name === identifier ? undefined : generatedOf(resource, field);
    if (!made || 'wrong' in made || !isMadeLast(made)) return [];
    const { within } = field;
    const names = within === undefined ? [name] : [within, name];
    const index = uniquesOf(resource).findLastIndex((rule) => rule.fields.join('\n') === names.join('\n'));
    return [{ field: name, within, made, unique: `unique ${index}` }];
  });
}
