import type { Pointer } from '../document/document.ts';
import type { Expression } from './fact.ts';
import type { Source } from './source.ts';

/** How a parameter chooses rows of a list, where it is more than one field compared as it is. */
export type Choosing =
  /** By a value of the row, or of rows around it (`reachOf`). */
  | {
      readonly by: 'path';
      readonly path: string;
      readonly at: Pointer;
      readonly ignoreCase: boolean;
      /** What stands between several values in one parameter. */
      readonly split?: Separator;
      /** Whether all of several values have to be there, and not just one of them. */
      readonly isAll: boolean;
      /** The time zone in which a date is meant. */
      readonly zone?: string;
    }
  /** By a condition over `value` and `resource`. */
  | { readonly by: 'keeps'; readonly condition: Expression }
  /** By words, all of which have to stand in one of these fields, whatever their case. */
  | { readonly by: 'search'; readonly fields: readonly string[]; readonly at: Pointer };

export const separators = [',', '|', ' '] as const;
export type Separator = (typeof separators)[number];

/** The style (OpenAPI 3.1, section 4.8.12.2) of several values with this between them. */
export const styleOfSeparator: Readonly<Record<Separator, string>> = {
  ',': 'form',
  '|': 'pipeDelimited',
  ' ': 'spaceDelimited',
};

/** The words that say how rows are chosen, beside `filters` and `op`. */
export const choosingWords = ['keeps', 'search', 'split', 'match', 'ignore_case', 'zone'] as const;

/** Reads how a parameter chooses; nothing where it compares one field, or does not choose. `filters` = the field or path that is meant. */
export function readChoosing(source: Source, filters: string | undefined): Choosing | undefined {
  const condition = source.get('keeps').expression();
  if (condition) return { by: 'keeps', condition };
  if (source.has('search')) return { by: 'search', fields: source.get('search').words(), at: source.get('search').at };
  if (filters === undefined) return undefined;
  const split = separators.find((one) => one === source.get('split').text());
  const ignoreCase = source.get('ignore_case').flag() ?? false;
  const match = source.get('match').text();
  const zone = source.get('zone').text();
  if (!filters.includes('.') && split === undefined && !ignoreCase && match === undefined && zone === undefined) return undefined;
  return {
    by: 'path',
    path: filters,
    at: source.has('filters') ? source.get('filters').at : source.at,
    ignoreCase,
    ...(split !== undefined && { split }),
    isAll: match === 'all',
    ...(zone !== undefined && { zone }),
  };
}
