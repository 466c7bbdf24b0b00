/** Waits until what is due is done, but not for receivers of web hooks that do not answer. */
export function settledSoon(moved: { settled(): Promise<void> }): Promise<void> {
  return new Promise((resolve, reject) => {
    const enough = setTimeout(resolve, 300);
    moved
      .settled()
      .then(resolve, reject)
      .finally(() => clearTimeout(enough));
  });
}
