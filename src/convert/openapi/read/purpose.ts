import { below } from '../../../document/pointer.ts';
import { newMap, type OpenMap } from '../../../document/values.ts';
import type { Trail } from './evidence.ts';
import type { MapAt, SourceReader } from './reader.ts';
import { isAddress, serverUrls } from './servers.ts';
import { swaggerServers } from './swagger.ts';

/** Writes what a source says of itself: what it is for, and where it stands. */
export function writePurpose(reader: SourceReader, trail: Trail): OpenMap | undefined {
  const purpose: OpenMap = newMap();
  const info = reader.map(reader.root, 'info');
  if (info) writeWords(info, purpose, reader, trail);
  if (reader.dialect !== '2.0') trail.from('/purpose/base_url', '/servers');
  const urls = reader.dialect === '2.0' ? swaggerServers(reader) : serverUrls(reader, reader.root);
  const usable = urls.filter(isAddress);
  if (usable.length > 0) purpose.base_url = usable.length === 1 ? (usable[0] ?? '') : usable;
  if (reader.dialect === '2.0') trail.from('/purpose/base_url', Object.hasOwn(reader.root.value, 'host') ? '/host' : '/basePath');
  return Object.keys(purpose).length > 0 ? purpose : undefined;
}

/** A summary, or a description of a few words, says what a service is for; a longer one explains. */
export function writeWords(info: MapAt, purpose: OpenMap, reader: SourceReader, trail: Trail): void {
  const summary = reader.text(info, 'summary');
  const description = reader.text(info, 'description');
  const isShort =
    description !== undefined && description !== '' && description.length <= 300 && !description.trim().includes('\n\n');
  const [key, text] =
    summary !== undefined && summary !== '' ? ['summary', summary] : isShort ? ['description', description] : [];
  if (key !== undefined && text !== undefined) {
    purpose.purpose = text.trim();
    trail.from('/purpose/purpose', below(info.at, key));
  }
  if (key !== 'description') trail.prose('/purpose', info.at, description);
}
