import { messageOf } from '@kctl/telemetry';

/** Runs a step of a definition; what it throws becomes a problem. */
export function collect<T>(problems: string[], step: () => T): T | undefined {
  try {
    return step();
  } catch (error) {
    problems.push(messageOf(error));
    return undefined;
  }
}
