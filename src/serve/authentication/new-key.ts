import { readTemplate, secretTemplate } from '../../kinds/generators/template.ts';
import type { Scheme } from '../../parts/authentication.ts';
import type { Chance } from '../clock.ts';

/** A key as its scheme says that it looks; 32 random characters where it does not. */
export function newKey(scheme: Pick<Scheme, 'generate'>, chance: Chance, nowMs: number): string {
  const read = readTemplate(scheme.generate ?? secretTemplate);
  if ('wrong' in read) throw new Error(read.wrong);
  return read.template.make({ nowMs, bytes: (length) => chance.bytes(length), uuid: () => chance.uuid() });
}
