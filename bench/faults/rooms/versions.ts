/** The versions: chosen by a step of the path, and told in the head of each answer. */
import type { FastifyRequest } from 'fastify';
import type { Switches } from '../fault.ts';
import type { RoomsFault } from './faults.ts';
import { type House, Refused, type Version } from './house.ts';

export interface PathRead {
  /** The address without its version. */
  readonly url: string;
  /** The address without its first step, whatever that is. */
  readonly withoutFirst: string;
  /** The version that it asks for, if any. */
  readonly asked: string | undefined;
  versionOf(faults: Switches<RoomsFault>): Version;
}

export function pathRead(target: string, prefix: string): PathRead {
  const found = /^\/([^/?]+)(\/.*)$/.exec(target.startsWith(`${prefix}/`) ? target.slice(prefix.length) : '');
  const [, first = '', rest = ''] = found ?? [];
  const isVersion = first === 'v1' || first === 'v2' || first === 'v3';
  const withoutFirst = found ? prefix + rest : target;
  return {
    url: isVersion ? withoutFirst : target,
    withoutFirst,
    asked: isVersion ? first : undefined,
    versionOf(faults) {
      if (first === 'v1' && !faults.has('ended-version-served')) throw new Refused('VERSION_GONE');
      if (first === 'v1' || first === 'v2') return 'v2';
      return !isVersion && faults.has('old-version-by-default') ? 'v2' : 'v3';
    },
  };
}

/** That a version is deprecated (RFC 9745), when it ends (RFC 8594), and what comes after it. */
export function versionHeaders({ faults }: House, request: FastifyRequest, prefix: string): Record<string, string> {
  const { originalUrl, routeOptions } = request;
  const isUnrouted = request.is404 || (routeOptions.config.isNew === true && !faults.has('new-endpoint-in-old-version'));
  const { asked, withoutFirst } = pathRead(originalUrl, prefix);
  const headers = { Vary: 'Authorization' };
  if (isUnrouted || (asked !== 'v1' && asked !== 'v2') || faults.has('nothing-is-deprecated')) return headers;
  if (asked === 'v1') return { ...headers, Deprecation: stamp('2022-01-01'), Sunset: day('2023-01-01') };
  const successor = `${prefix}/v3${withoutFirst.slice(prefix.length)}`;
  return {
    ...headers,
    Deprecation: faults.has('deprecation-as-a-word') ? 'true' : stamp('2025-02-01'),
    Sunset: faults.has('sunset-as-iso') ? '2094-02-01' : day('2094-02-01'),
    Link: `<https://rooms.example/changes>; rel="deprecation", <${successor}>; rel="successor-version"`,
  };
}

function stamp(date: string): string {
  return `@${Date.parse(date) / 1000}`;
}

function day(date: string): string {
  return new Date(date).toUTCString();
}
