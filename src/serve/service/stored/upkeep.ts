import { entriesOf } from '../../../parts/fact.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Store } from '../../../store/store.ts';
import { systemClock } from '../../http/clock.ts';
import { compileModels } from '../../resources/model.ts';
import { startViewCompilation } from '../../resources/view-compilation.ts';
import { type Migrated, type MigrationOptions, migrate } from './migrate.ts';

export { backUp, flawsOf, restore } from '../../../store/sqlite/copies.ts';

/** Brings a store up to a sound document, as serving it would. @throws {Misfits} */
export function bringUp(spec: Spec, store: Store, options: MigrationOptions): Promise<Migrated> {
  const compilation = startViewCompilation(spec, entriesOf(spec.purpose.users)[0]?.[0], undefined);
  const models = compileModels(compilation, compilation.access);
  return migrate({ store, models, compilation, acceptMisfits: false, options, now: () => systemClock.now() });
}
