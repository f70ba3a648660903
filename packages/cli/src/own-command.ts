/**
 * A command of kctl as a person types it: a project has it among its own dependencies, where npx finds it, and not on the
 * PATH. Every message that says what to run says it by this.
 */
export function ownCommand(given: string): string {
  return `npx kctl ${given}`;
}
