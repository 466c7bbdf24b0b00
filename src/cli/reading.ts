import { type CheckReport, check } from '../check/check.ts';
import type { Rule } from '../check/subject/rule.ts';
import type { OverlayFile } from '../convert/overlay.ts';
import type { Document } from '../document/document.ts';
import { type FromForeign, looksForeign } from '../document/foreign/foreign.ts';
import { parseContent, type ReadOptions, readContent, Unreadable } from '../document/read/read.ts';
import { countsOf, type Ledger, ledgerOf } from '../parts/facts/ledger.ts';
import { isKey } from '../parts/form.ts';
import { readSpec } from '../parts/spec.ts';
import type { ImportCache } from './import-cache.ts';
import { Misuse } from './verb.ts';

/**
 * Reads and checks the document of a command, by all rules or those that are given.
 * @throws {Misuse} where its own file cannot be read.
 */
export async function reportOn(path: string, rules?: readonly Rule[]): Promise<CheckReport> {
  return orMisuse(async () => {
    const content = await readContent(path, { isKey, foreign: () => undefined });
    const foreign = await readerOf(content);
    return check(parseContent(path, content, { isKey, ...(foreign && { foreign }) }), rules && { rules });
  });
}

/** What takes a document in another language over, where the text looks like one: others do without loading it. */
async function readerOf(content: Uint8Array): Promise<FromForeign | undefined> {
  if (!looksForeign(new TextDecoder().decode(content))) return undefined;
  const { fromForeign } = await import('../convert/foreign.ts');
  return fromForeign;
}

/**
 * Reads the document of a command that is to be served. One in another language is taken over as it is, or was before: what is
 * made of it is sound, and looking at all of it once more would take longer than everything else together.
 * @throws {Misuse} where its own file cannot be read.
 */
export async function reportOnServed(
  path: string,
  cache: ImportCache | undefined,
  overlays: readonly string[] = [],
): Promise<CheckReport> {
  return orMisuse(async () => {
    const content = await readContent(path, { isKey, foreign: () => undefined });
    const reader = await readerOf(content);
    let isForeign = false;
    const foreign: FromForeign = (source) => {
      isForeign = true;
      return reader?.(source);
    };
    const overlay = await overlayOf(overlays);
    const read = (): Document => parseContent(path, content, { isKey, ...(reader && { foreign }), ...(overlay && { overlay }) });
    const cached = overlay ? undefined : cache?.find(content, path, read);
    if (cached) return servedReport(cached);
    const document = read();
    if (!isForeign) return check(document);
    if (!overlay) cache?.keep(content, path, document);
    return servedReport(document);
  });
}

/**
 * What changes a description as these overlays say; nothing where there are none.
 * @throws {Unreadable} where one of them cannot be read.
 */
export async function overlayOf(files: readonly string[]): Promise<ReadOptions['overlay']> {
  if (files.length === 0) return undefined;
  const overlays: OverlayFile[] = [];
  for (const file of files) overlays.push({ file, content: await readContent(file, { isKey, foreign: () => undefined }) });
  const { overlaid } = await import('../convert/overlay.ts');
  return (root, gathering) => overlaid(root, overlays, gathering);
}

/** The report on a document that was taken over: what was found on the way, and a ledger when somebody asks for it. */
function servedReport(document: Document): CheckReport {
  const { title, findings } = document;
  const spec = readSpec(document);
  let ledger: Ledger | undefined;
  const whole = (): Ledger => {
    ledger ??= ledgerOf(spec);
    return ledger;
  };
  return {
    title,
    findings,
    spec,
    sound: !findings.some(({ severity }) => severity === 'error'),
    ledger: {
      total: countsOf(spec),
      get parts() {
        return whole().parts;
      },
      get facts() {
        return whole().facts;
      },
    },
  };
}

async function orMisuse(read: () => Promise<CheckReport>): Promise<CheckReport> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Unreadable) throw new Misuse(error.message, { cause: error });
    throw error;
  }
}
