/**
 * Something outside of the cluster that lists applications, such as a DNS zone or a billing system: the reason
 * why the operator needs a finalizer. This one lives in memory.
 */
export interface Directory {
  /** Makes the entry be as given; says whether that changed anything. */
  register(name: string, address: string): Promise<boolean>;
  /** Removes the entry; says whether there was one. */
  deregister(name: string): Promise<boolean>;
}

/** A directory in memory. */
export function createDirectory(entries: Map<string, string> = new Map()): Directory {
  return {
    register: (name, address) => {
      const changed = entries.get(name) !== address;
      entries.set(name, address);
      return Promise.resolve(changed);
    },
    deregister: (name) => Promise.resolve(entries.delete(name)),
  };
}
