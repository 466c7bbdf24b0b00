/** Stands for a value that cannot be made: there is none, or not by these means. */
export const nothing = Symbol('nothing');
