import { below } from '../../../document/pointer.ts';
import type { InferenceRule } from './context.ts';

/** A date, or a number that stands in the base path, is the version of the interface and not of its description. */
export const documentVersion: InferenceRule = {
  name: 'document-version',
  says: 'The version of a description that is a date, or that its base path names, is the current version of the interface.',
  infer({ reader, tree, trail }) {
    const info = reader.map(reader.root, 'info');
    const version = info?.value.version;
    if (info === undefined || typeof version !== 'string') return;
    const isDate = /^\d{4}-\d{2}-\d{2}/.test(version);
    if (!isDate) return;
    reader.mark(info.value, 'version');
    tree.versioning = { versions: { [version]: { current: true } } };
    trail.infer('/versioning/versions', documentVersion.name, below(info.at, 'version'), 0.8);
  },
};
