import { freePort } from './free-port.js';
import { givenSetting } from './given-settings.js';
import { inspectionPath, portOf } from '../inspect/inspection-endpoint.js';
import type { CliIo } from '../io.js';
import { openUrl } from '../open-url.js';

/** The inspection of an operator that runs on this machine. */
export interface DevInspection {
  /** URL of its page; undefined if it is switched off, or if the port is not known. */
  readonly url: string | undefined;
  /** Environment of the operator, which keeps its address after each restart. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Switches inspection on, on a free port; an address that the person gave, by flag, variable or file, stays. */
export async function devInspection(
  io: Pick<CliIo, 'environment' | 'cwd'>,
  given: readonly string[],
): Promise<DevInspection> {
  const address = givenSetting(io, given, 'inspectionBindAddress') ?? '';
  const isGiven = address !== '';
  const port = isGiven ? portOf(address) : await freePort('127.0.0.1');
  if (port === undefined) return { url: undefined, environment: {} };
  const host = isGiven ? address.slice(0, address.lastIndexOf(':')) || '127.0.0.1' : '127.0.0.1';
  return {
    url: `http://${host}:${port}${inspectionPath}`,
    environment: isGiven ? {} : { INSPECTION_BIND_ADDRESS: `127.0.0.1:${port}` },
  };
}

/** Prints the address of the page, and opens it when `i` is pressed, until the returned function is called. */
export function openOnKey(io: CliIo, { url }: DevInspection): () => void {
  if (url === undefined) return () => undefined;
  io.err(`inspection at ${url}${io.onKey === undefined ? '' : ': press i to open it'}\n`);
  const leave = io.onKey?.((key) => {
    if (key === 'i') openUrl(io, url);
  });
  return () => leave?.();
}
