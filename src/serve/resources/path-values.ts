import type { Value } from '../exchange/exchange.ts';
import type { RowModel } from './model.ts';

/** The value that a path parameter stands for in its field. */
export function boundValue(model: RowModel, field: string, text: string): Value {
  const column = model.code(field);
  if (column?.holds === 'number' && /^-?\d+(\.\d+)?$/.test(text)) {
    const number = Number(text);
    return Number.isSafeInteger(number) || text.includes('.') ? number : BigInt(text);
  }
  if (column?.holds === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
