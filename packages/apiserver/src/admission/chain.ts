import type { AdmissionPlugin } from './plugin.js';
import type { AdmissionWrite, WriteFacts } from './write.js';

/** All plugins in order. */
export interface AdmissionChain {
  /** Whether no plugin has anything to do, whatever is written. */
  isIdle(): boolean;
  /** Whether any plugin may concern a write. */
  handles(facts: WriteFacts): boolean;
  /** Mutating pass through all plugins, with a second round if a plugin requires it. @throws StatusError */
  admit(write: AdmissionWrite): Promise<void>;
  /** The validating pass. @throws StatusError */
  validate(write: AdmissionWrite): Promise<void>;
}

/** The chain of some plugins, in their order. */
export function createAdmissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  const admitAll = async (write: AdmissionWrite): Promise<void> => {
    for (const plugin of plugins) if (plugin.handles(write)) await plugin.admit?.(write);
  };
  return {
    isIdle: () => plugins.every((plugin) => plugin.isIdle()),
    handles: (facts) => plugins.some((plugin) => plugin.handles(facts)),
    async admit(write) {
      await admitAll(write);
      if (!write.reinvocation.isRequested) return;
      write.reinvocation.isReinvoke = true;
      await admitAll(write);
    },
    async validate(write) {
      for (const plugin of plugins) if (plugin.handles(write)) await plugin.validate?.(write);
    },
  };
}
