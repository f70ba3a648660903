/** Takes the unhandled rejections of the process until it is disposed; then the listeners of a test runner are back. */
export function catchRejections(report: (error: unknown) => void): Disposable {
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', report);
  return {
    [Symbol.dispose]: () => {
      process.off('unhandledRejection', report);
      for (const other of others) process.on('unhandledRejection', other);
    },
  };
}
