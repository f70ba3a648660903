/** The part of URLSearchParams that reads parameters, of which only those with these names can be read. */
export interface NamedQuery<N extends string = string> {
  get(name: N): string | null;
  has(name: N): boolean;
  getAll(name: N): string[];
}
