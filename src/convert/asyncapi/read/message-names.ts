import type { JsonMap } from '../../../document/document.ts';
import { pathOf } from '../../../document/pointer.ts';
import type { MapAt, Reader } from '../../openapi/reader.ts';
import { refOf } from '../../openapi/reader.ts';

/** What a message is called: by itself, by what refers to it, else by where it stands. */
export function messageName(message: MapAt, written: JsonMap, otherwise: string, reader: Reader): string {
  const own = reader.text(message, 'name') ?? reader.text(message, 'messageId');
  if (own !== undefined && own !== '') return own;
  const ref = refOf(written);
  const referred = ref === undefined ? undefined : pathOf(ref.slice(ref.indexOf('#') + 1)).at(-1);
  return referred === undefined || referred === '' ? otherwise : referred;
}
