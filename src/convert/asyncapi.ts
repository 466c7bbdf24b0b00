import type { JsonMap, Place } from '../document/document.ts';
import type { Foreign } from '../document/foreign/foreign.ts';
import { newMap, type OpenMap } from '../document/values.ts';
import { acceptedSets, kindOfScheme, placed } from '../parts/authentication.ts';
import { pullOf } from '../parts/events.ts';
import { entriesOf, statedValue } from '../parts/fact.ts';
import type { Spec } from '../parts/spec.ts';
import { readTree } from './asyncapi/read/import.ts';
import { writeChannels, writeServers } from './asyncapi/write/channels.ts';
import { toDraft07, writeMessages } from './asyncapi/write/messages.ts';
import { writeSchemas } from './json-schema/write/schema-writer.ts';
import { DefinitionNames } from './json-schema/write/shape-schema.ts';
import { Trail } from './openapi/read/evidence.ts';
import { SourceReader } from './openapi/read/reader.ts';
import { ownStatements } from './spec/own-statements.ts';
import { type ProseAt, proseOf } from './spec/words.ts';

/** What a document's events are in AsyncAPI 3.0, with the rest of it in words of our own beside it. */
export function toAsyncapi(spec: Spec): JsonMap {
  const written = writeEvents(spec);
  const { stated, absent } = ownStatements(spec.document.tree, readBack(written));
  return { ...written, 'x-ninefold': stated, ...(absent.length > 0 && { 'x-ninefold-absent': absent }) };
}

/** What AsyncAPI's own words say of the document, so that nothing is said twice. */
function readBack(written: JsonMap): JsonMap {
  const foreign: Foreign = { file: '', value: written, place: () => nowhere, sources: new Map(), findings: [] };
  return readTree(new SourceReader(foreign, '3.0', false), new Trail(foreign), '3.0.0', true);
}

const nowhere: Place = { file: '', line: 1, column: 1, endLine: 1, endColumn: 1 };

/** The events of a document in AsyncAPI's own words: their messages, the channels that they go over, who may listen. */
function writeEvents(spec: Spec): JsonMap {
  const prose = proseOf(spec);
  const writer = writeSchemas(spec, { prefix: '#/components/schemas/', knownWords: ['discriminator'] });
  const messages = writeMessages(spec, writer, prose);
  const security = writeSecurity(spec, prose);
  const servers = writeServers(spec, security.accepted);
  const { channels, operations } = writeChannels(spec, messages, servers, security.accepted);
  const schemas: OpenMap = newMap();
  // A definition is a map: that is what `definitions` gives by name.
  for (const [name, schema] of Object.entries(writer.definitions())) schemas[name] = toDraft07(schema as JsonMap);
  const bare: OpenMap = newMap();
  if (pullOf(spec.events) || channels.events) for (const { key, bare: message } of messages) bare[key] = message;
  const components = filled({ schemas, messages: bare, securitySchemes: security.schemes });
  return {
    asyncapi: '3.0.0',
    info: writeInfo(spec),
    defaultContentType: 'application/json',
    ...filled({ servers, channels, operations, components }),
  };
}

function writeInfo(spec: Spec): JsonMap {
  const purpose = statedValue(spec.purpose.purpose);
  const versions = entriesOf(spec.versioning.versions);
  const current = versions.find(([, { current: isCurrent }]) => isCurrent) ?? versions.at(-1);
  return {
    title: spec.title,
    version: current?.[0] ?? 'unversioned',
    ...(purpose !== undefined && { description: purpose }),
  };
}

/** The maps that hold something. */
function filled(maps: Readonly<Record<string, JsonMap>>): JsonMap {
  return Object.fromEntries(Object.entries(maps).filter(([, map]) => Object.keys(map).length > 0));
}

/** The security schemes of a service, and which of them a caller may show. */
interface Security {
  readonly schemes: JsonMap;
  /** References to those that are accepted, each alone. */
  readonly accepted: readonly JsonMap[];
}

function writeSecurity(spec: Spec, prose: ProseAt): Security {
  const names = new DefinitionNames();
  const schemes: OpenMap = newMap();
  const accepted: JsonMap[] = [];
  const sets = acceptedSets(spec.authentication);
  for (const [name, scheme] of entriesOf(spec.authentication.schemes)) {
    const written = kindOfScheme(scheme)?.toAsyncApi(placed(scheme));
    // One that has no word there, or of which too much is open.
    if (!written) continue;
    const key = names.claim(name);
    const description = prose(scheme.at).join('\n\n');
    schemes[key] = { ...written, ...(description !== '' && { description }), ...(key !== name && { 'x-ninefold-name': name }) };
    // Several at once are not said there.
    if (sets.some((set) => set.length === 1 && set[0] === name)) accepted.push({ $ref: `#/components/securitySchemes/${key}` });
  }
  return { schemes, accepted };
}
