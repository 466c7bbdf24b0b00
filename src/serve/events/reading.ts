import type { Reader } from '../../store/store.ts';
import type { Caller } from '../exchange.ts';
import { followFrom, type Image } from './image.ts';
import type { EventsSetting } from './setting.ts';

/** Whether a caller may read a row as an image shows it. */
export type MayRead = (caller: Caller | undefined, resource: string, image: Image, rows: Reader, nowMs: number) => boolean;

/** Asks the read rules of a document. Where it is not decided who may read, nobody hears of anything, unless doubts are let pass. */
export function compileMayRead({ compilation, models, acceptsOpen }: EventsSetting): MayRead {
  const { access } = compilation;
  return (caller, resource, image, rows, nowMs) => {
    if (!acceptsOpen && access.doubts({ name: `read ${resource}`, resource }).length > 0) return false;
    const reading = access.reading(resource, caller?.user);
    if (reading.isFree) return true;
    const scope = { caller, now: nowMs, version: '', follow: followFrom(image, rows, models) };
    return reading.allows(scope, image.fields);
  };
}

/** Whether a maker still is somebody: one known by a key, until its last key is revoked or has expired. */
export function isStillKnown({ credentials }: EventsSetting, maker: Caller | undefined, rows: Reader, nowMs: number): boolean {
  return maker?.key === undefined || credentials.isHeld(rows, maker.user, maker.id, nowMs);
}
