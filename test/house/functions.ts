import { functionsOf } from './declarations.ts';
import { needless } from './exports.ts';
import type { Rule } from './walls.ts';

/** The longest that a function grows without a reason: what fits a screen. */
export const functionLinesMax = 60;

/** A function over the limit has its reason in the table, by its file and name, and the table names no other. */
export const longFunctionsHaveReasons =
  (reasons: Readonly<Record<string, string>>): Rule =>
  (files) => {
    const long = files.flatMap((file) =>
      functionsOf(file)
        .filter(({ lines }) => lines > functionLinesMax)
        .map((one) => ({ ...one, path: file.path, key: `${file.path}#${one.name}` })),
    );
    return [
      ...long
        .filter(({ key }) => reasons[key] === undefined)
        .map(
          ({ path, line, name, lines }) =>
            `${path}:${line} ${name} has ${lines} lines: give its steps names, or longFunctions in test/house/exceptions.ts one line that says why`,
        ),
      ...Object.keys(reasons)
        .filter((entry) => !long.some(({ key }) => key === entry))
        .map((entry) => needless(entry, 'longFunctions')),
    ];
  };
