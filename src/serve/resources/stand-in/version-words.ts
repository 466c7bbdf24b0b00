/** Whether a word names a version of an interface: `v2`, `3.4-preview`, `2019-05-01`. */
export function isVersion(word: string): boolean {
  return word.length <= 40 && (ofNumbers.test(word) || ofDate.test(word));
}

const ofNumbers =
  /^v\d{1,4}(?:\.\d{1,4}){0,3}(?:[-.]?(?:preview|alpha|beta|rc|ga)[\w.-]{0,20})?$|^\d{1,4}(?:\.\d{1,4}){1,3}(?:-\w{1,20})?$/i;
const ofDate = /^\d{4}-\d{2}(?:-\d{2})?(?:[-.]\w{1,20})?$/;

/** What a query says of the version of the interface, as a query of its own: `?api-version=2019-05-01`. Who follows an address is to mean the same version. */
export function versionAsked(query: string): string {
  const asked = [...new URLSearchParams(query)].filter(([name, value]) => /version/i.test(name) && isVersion(value));
  return asked.length === 0 ? '' : `?${new URLSearchParams(asked)}`;
}
