/** A mutant that changes nothing which can be told from outside: the line as it is, the line as it would be, and why. */
export interface Exception {
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

/** Known by their text, so that a file can be moved; they are counted apart and are neither killed nor survivors. */
export const exceptions: readonly Exception[] = [
  ...[
    "if (typeof resource === 'string') tests.push(this.#ofResource(resource));",
    'if (type !== undefined) tests.push(typeTest(type, shape.nullable === true));',
    'tests.push(...compileScalar(shape), ...compileMembers(shape, (inner) => this.of(inner)), ...this.#branches(shape));',
    'if (shape.const !== undefined) tests.push((value) => isSame(value, shape.const));',
    'if (format) tests.push((value) => !isOfType(value, format.type) || format.test(value as string | number | bigint));',
  ].map((from) => ({
    from,
    to: from.replace('.push(', '.unshift('),
    reason: 'every one of these tests has to hold, in whatever order they are asked',
  })),
  {
    from: 'this.#known.set(shape, later);',
    to: ';',
    reason:
      'kept so as not to be compiled again; a shape that holds itself does so through a resource, which is kept by its name',
  },
  {
    from: 'this.#resources.set(name, known);',
    to: ';',
    reason: 'kept so as not to be looked up again; the shape of a resource is one object, which is known itself',
  },
];

/** The exception that stands for a mutant. */
export function exceptionFor({ from, to }: { readonly from: string; readonly to: string }): Exception | undefined {
  return exceptions.find((exception) => exception.from === from && exception.to === to);
}
