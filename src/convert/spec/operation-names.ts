import { writtenTypeName } from './names.ts';

/** `create parcel` is `createParcel`; `GET /parcels/{id}` is `getParcelsId`. */
export function operationIdOf(operation: string): string {
  const isKey = /^[A-Za-z]+ \//.test(operation);
  const name = writtenTypeName(isKey ? operation.replace(/^\S+/, (method) => method.toLowerCase()) : operation).replace(/^_/, '');
  return name.replace(/^\p{Lu}/u, (letter) => letter.toLowerCase());
}

/** Words of a document as the name of a component: `parcel_create` is `ParcelCreate`. */
export function componentName(text: string): string {
  return writtenTypeName(text).replace(/^_/, '');
}

/** `create parcel` as a title: `Create parcel`. */
export function titleOf(text: string): string {
  const spaced = text.replaceAll('_', ' ').trim();
  return spaced.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
}

/** Gives each thing a name that no other has. */
export class UniqueNames {
  readonly #taken = new Set<string>();

  claim(wish: string): string {
    let name = wish;
    for (let number = 2; this.#taken.has(name); number++) name = `${wish}${number}`;
    this.#taken.add(name);
    return name;
  }
}
