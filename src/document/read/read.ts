import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { gunzipSync } from 'node:zlib';
import type { Document, Finding } from '../document.ts';
import { usualBounds } from '../read-context.ts';
import { foreignBounds, type ParseOptions, parseDocument } from './parse.ts';

/** A document's own file cannot be read; the command line answers it with exit code 2. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

/**
 * Reads a document and what it includes from the disk. Rejects with `Unreadable` if the document's own file cannot be read;
 * everything else that is wrong is among its findings. Included files stay inside the document's folder, symlinks followed;
 * what a document in another language refers to may lie beside that folder too. A file may be compressed by gzip.
 */
export async function readDocument(path: string, options: ReadOptions): Promise<Document> {
  return parseContent(path, await readContent(path, options), options);
}

/** How large the heap of this process may grow. */
export function heapBytes(): number {
  return getHeapStatistics().heap_size_limit;
}

/** How a document is read that is a file. */
export type ReadOptions = Omit<ParseOptions, 'include' | 'other'>;

/** The bytes of a document's own file, unpacked. @throws {Unreadable} where it cannot be read. */
export async function readContent(path: string, options: ReadOptions): Promise<Uint8Array> {
  const most = bytesMost(options);
  return unpacked(path, await bytesOf(path, most), most);
}

/** The document that the bytes of its own file say, with what it includes. */
export function parseContent(path: string, content: Uint8Array, options: ReadOptions): Document {
  const limit = options.bounds?.bytes ?? usualBounds.bytes;
  const most = bytesMost(options);
  const folder = realpathSync(dirname(path));
  return parseDocument(content, path, {
    heapBytes: heapBytes(),
    ...options,
    include: (inner) => included(folder, inner, limit),
    other: (inner) => included(folder, inner, most, dirname(folder)),
  });
}

function bytesMost({ bounds, foreign }: ReadOptions): number {
  const limit = bounds?.bytes ?? usualBounds.bytes;
  return foreign === undefined ? limit : Math.max(limit, foreignBounds.bytes);
}

/** The bytes of a file, out of gzip (RFC 1952) where they are in it. */
function unpacked(path: string, content: Uint8Array, limit: number): Uint8Array {
  if (content[0] !== 0x1f || content[1] !== 0x8b) return content;
  try {
    return gunzipSync(content, { maxOutputLength: limit + 1 });
  } catch (cause) {
    throw new Unreadable(`${path} cannot be unpacked: it is no whole gzip file, or unpacks to more than ${limit} bytes.`, {
      cause,
    });
  }
}

/**
 * The text of a file that a document names beside itself, such as a key set. It stays inside the document's folder, as what is included does.
 * @throws {Unreadable} where it cannot be read.
 */
export function readBeside(document: string, path: string): string {
  const content = included(realpathSync(dirname(document)), path, usualBounds.bytes);
  if (content instanceof Uint8Array) return new TextDecoder().decode(content);
  throw new Unreadable(content.message);
}

/** The bytes of a file, at most one more than the limit, so that a pipe without end is not read for ever. */
async function bytesOf(path: string, limit: number): Promise<Uint8Array> {
  try {
    await using file = await open(path);
    const chunks: Buffer[] = [];
    let length = 0;
    while (length <= limit) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(chunkBytes, limit + 1 - length)));
      if (bytesRead === 0) break;
      chunks.push(buffer.subarray(0, bytesRead));
      length += bytesRead;
    }
    return Buffer.concat(chunks);
  } catch (cause) {
    throw new Unreadable(`${path} cannot be read: ${reasonOf(cause)}.`, { cause });
  }
}

const chunkBytes = 64 * 1024;

/** A file by its path from the document's folder, which lies in that folder or, where another is given, anywhere in that one. */
function included(folder: string, path: string, limit: number, within = folder): Uint8Array | Pick<Finding, 'code' | 'message'> {
  try {
    const real = realpathSync(join(folder, path));
    const inside = relative(within, real);
    if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
      return { code: 'document/include-outside', message: `\`${path}\` is a link out of the document's folder.` };
    }
    const stats: Stats = statSync(real);
    if (!stats.isFile()) return { code: 'document/include-unreadable', message: `\`${path}\` is not a file.` };
    if (stats.size > limit) return { code: 'document/too-large', message: `\`${path}\` is larger than ${limit} bytes.` };
    return readFileSync(real);
  } catch (cause) {
    return { code: 'document/include-unreadable', message: `\`${path}\` cannot be read: ${reasonOf(cause)}.` };
  }
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return reasons.get(code) ?? (cause instanceof Error ? cause.message : String(cause));
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['ENOTDIR', 'there is no such file'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'it is not allowed'],
  ['EPERM', 'it is not allowed'],
  ['ELOOP', 'its links go round in a circle'],
  ['ENAMETOOLONG', 'its name is too long'],
]);
