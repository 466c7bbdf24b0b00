/** Tables of figures, for a terminal and for a page. */

export type Table = readonly (readonly string[])[];

/** A table as aligned text; the first row is its header, and all columns but the first stand to the right. */
export function asText(table: Table): string {
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join('  ');
  return table.map((row) => line(row).trimEnd()).join('\n');
}

/** A table as Markdown. */
export function asMarkdown(table: Table): string {
  const [header = [], ...rows] = table;
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`;
  return [line(header), `|${header.map((_, column) => (column === 0 ? '---|' : '---:|')).join('')}`, ...rows.map(line)].join(
    '\n',
  );
}

/** The middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** A number with as many digits as it is worth: 41,300, 97.4, 8.81, 0.103. */
export function figure(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '–';
  if (value >= 1000) return Number(value.toPrecision(3)).toLocaleString('en');
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
