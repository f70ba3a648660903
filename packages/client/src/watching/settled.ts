/**
 * Calls what leaves a stream of the user, and waits for it. A failure is dropped, because it must not take the place of
 * what was found in the stream, nor end what goes on after it.
 */
export async function settled(leave: () => unknown): Promise<void> {
  try {
    await leave();
  } catch {
    // It has been left.
  }
}
