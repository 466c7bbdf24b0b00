/**
 * The path of an included file from the root document's folder, given the file that includes it (also from there): `/` between
 * names, no `.` or `..`. Undefined for a path that is absolute, an address, or leads out of that folder.
 */
export function includePath(from: string, path: string): string | undefined {
  if (path === '' || /^[/\\]|^[a-z][a-z\d+.-]*:|[\\\0]/i.test(path)) return undefined;
  const names = from.split('/').slice(0, -1);
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) return undefined;
  }
  return names.length === 0 ? undefined : names.join('/');
}

/** The name of a file without its folders. */
export function fileName(file: string): string {
  return file.slice(folderOf(file).length);
}

/** The folder of a file with the slash at its end, or the empty string. */
export function folderOf(file: string): string {
  return file.slice(0, Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
}
