import type { Header } from './operation.ts';
import type { At, MapAt, Reader } from './reader.ts';

/** The headers that a response declares. */
export function headersOf(response: MapAt, reader: Reader): Header[] {
  return reader.maps(response, 'headers').map(([name, map]) => {
    reader.mark(response.value, 'headers');
    const isOld = reader.dialect === '2.0';
    return { name, map, schema: isOld ? { value: map.value, at: map.at } : schemaOfParameter(map, reader) };
  });
}

/** A parameter is written by a schema, or in one media type, whose schema it then has. */
export function schemaOfParameter(map: MapAt, reader: Reader): At {
  if (Object.hasOwn(map.value, 'schema')) return reader.get(map, 'schema');
  const [[, content] = []] = reader.maps(map, 'content');
  return content ? reader.get(content, 'schema') : { value: undefined, at: map.at };
}
