import { type Copied, type CopySide, copyStore } from '../../store/copying.ts';
import { isDatabase } from './open-store.ts';

/** Copies all that one store holds into another, empty one, between files and databases. @throws {CannotCopy} */
export async function copyBetween(from: string, to: string, progress: (table: string, done: number) => void): Promise<Copied> {
  const source = await sideOf(from);
  try {
    const target = await sideOf(to);
    try {
      return await copyStore(source, target, progress);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function sideOf(path: string): Promise<CopySide> {
  if (isDatabase(path)) return (await import('../../store/postgres/copy-side.ts')).postgresSide(path);
  return (await import('../../store/sqlite/copy-side.ts')).sqliteSide(path);
}
