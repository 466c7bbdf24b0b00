import type { JsonMap } from '../document/document.ts';
import { newMap, type OpenMap } from '../document/values.ts';
import { entriesOf, statedValue } from '../parts/fact.ts';
import type { Spec } from '../parts/spec.ts';
import { writeChannels } from './asyncapi/write/channels.ts';
import { toDraft07 } from './asyncapi/write/draft-07.ts';
import { writeMessages } from './asyncapi/write/messages.ts';
import { writeSecurity } from './asyncapi/write/security.ts';
import { writeServers } from './asyncapi/write/servers.ts';
import { writeSchemas } from './json-schema/schema-writer.ts';
import { proseOf } from './prose.ts';

/** What a document's events are in AsyncAPI 3.0, with the rest of it in words of our own beside it. */
export function toAsyncapi(spec: Spec): JsonMap {
  return writeEvents(spec);
}

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
  if (statedValue(spec.events.delivery)?.stream || channels.events)
    for (const { key, bare: message } of messages) bare[key] = message;
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
