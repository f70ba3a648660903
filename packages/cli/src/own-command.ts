/**
 * A command of kctl as a user types it. A project has kctl as a dependency, which npx finds, and not on the PATH. Every
 * message with a command uses this form.
 */
export function ownCommand(given: string): string {
  return `npx kctl ${given}`;
}
