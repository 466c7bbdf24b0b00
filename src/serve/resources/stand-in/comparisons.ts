/** How what a row has at a place is compared with what was sent. */
export interface FilterComparison {
  /** Whether a text with commas is several. */
  readonly takesSeveral: boolean;
  holds(held: readonly string[], operands: readonly string[]): boolean;
}

/** The comparison that a word stands for in the queries of vendors: `gte`, `contains`, `after`; nothing where it stands for none. */
export function compileComparison(word: string): FilterComparison | undefined {
  return comparisons.get(word.replace(/^[$+_](?=\w)/, '').toLowerCase());
}

const each = (names: string, comparison: FilterComparison): [string, FilterComparison][] =>
  names.split(' ').map((name) => [name, comparison]);

/** What is not there is false. */
const isOneOf = (held: readonly string[], operands: readonly string[]) =>
  operands.some((one) => held.includes(one) || (held.length === 0 && one === 'false'));

const ofText = (test: (text: string, part: string) => boolean): FilterComparison => ({
  takesSeveral: false,
  holds: (held, [part = '']) => held.some((text) => test(text.toLowerCase(), part.replaceAll('%', '').toLowerCase())),
});

const ofRank = (test: (rank: number) => boolean): FilterComparison => ({
  takesSeveral: false,
  holds: (held, [bound = '']) => held.some((one) => test(rankOf(one, bound))),
});

const comparisons: ReadonlyMap<string, FilterComparison> = new Map([
  ...each('eq is equals equal exact iexact = ==', { takesSeveral: true, holds: isOneOf }),
  ...each('in any oneof all', { takesSeveral: true, holds: isOneOf }),
  ...each('ne neq not noteq nin notin != <>', { takesSeveral: true, holds: (held, operands) => !isOneOf(held, operands) }),
  ...each(
    'contains icontains like ilike includes match search fuzzy ~',
    ofText((text, part) => text.includes(part)),
  ),
  ...each(
    'startswith prefix istartswith begins ^',
    ofText((text, part) => text.startsWith(part)),
  ),
  ...each(
    'endswith suffix iendswith',
    ofText((text, part) => text.endsWith(part)),
  ),
  ...each(
    'gt after >',
    ofRank((rank) => rank > 0),
  ),
  ...each(
    'gte min from since start ge >=',
    ofRank((rank) => rank >= 0),
  ),
  ...each(
    'lt before <',
    ofRank((rank) => rank < 0),
  ),
  ...each(
    'lte max to until end le <=',
    ofRank((rank) => rank <= 0),
  ),
]);

/** Which of two comes later: by number, by time, else by letters. */
export function rankOf(one: string, other: string): number {
  const numbers = [Number(one), Number(other)] as const;
  if (one !== '' && other !== '' && numbers.every(Number.isFinite)) return numbers[0] - numbers[1];
  const isTime = /^\d{4}-\d\d/.test(one) && /^\d{4}-\d\d/.test(other);
  const times = [Date.parse(one), Date.parse(other)] as const;
  if (isTime && times.every(Number.isFinite)) return times[0] - times[1];
  return one < other ? -1 : Number(one > other);
}
