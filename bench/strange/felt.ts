/** Of the faults that a drawn document has room for, those that a caller could come to at all. */
import type { JsonMap } from '../../src/document/document.ts';
import { isSame } from '../../src/document/values.ts';
import { check, parseDocument } from '../../src/index.ts';
import { arisingConditions } from '../../src/parts/possible-errors.ts';
import { textOf } from '../../test/strange/hold.ts';
import { isMap, mapAt } from '../../test/strange/layers.ts';
import type { StrangeFault } from './faults.ts';

/** Leaves out what changes nothing, and refusals by a code for conditions that cannot arise, as a rate where none is stated. */
export function feltOf(document: JsonMap, faults: readonly StrangeFault[]): StrangeFault[] {
  const arising: ReadonlySet<string> = new Set(arisingConditions(check(parseDocument(textOf(document), 'strange.json')).spec));
  const isIdle = ({ if: condition, when }: JsonMap): boolean =>
    condition === undefined && when !== undefined && [when].flat().every((one) => !arising.has(String(one)));
  const codes = Object.entries(mapAt(document, 'errors', 'codes'));
  const idle = new Set(codes.flatMap(([code, rule]) => (isMap(rule) && isIdle(rule) ? [`another status: ${code}`] : [])));
  return faults.filter(({ part, id, served }) => !isSame(served, document) && !(part === 'errors' && idle.has(id)));
}
