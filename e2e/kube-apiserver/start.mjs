/**
 * Starts a real kube-apiserver, building it first where no binaries are given. The start itself is @kctl/testing's.
 *
 * As a command: `pnpm apiserver:real [--controller-manager] [--port N] [--data-dir DIR] [--release 1.34]`; see README.md.
 */
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createConsoleLogger } from '@kctl/telemetry';
import { startRealApiServer as startWithBinaries } from '@kctl/testing';
import { ensureBinaries } from './build.mjs';

/**
 * @param {Omit<import('@kctl/testing').RealApiServerOptions, 'binaries'> & { release?: string }} [options]
 * @returns {Promise<import('@kctl/testing').RealApiServer>}
 */
export async function startRealApiServer(options = {}) {
  const logger = options.logger ?? createConsoleLogger({ format: 'text' });
  const { controllerManager = false, release, signal } = options;
  const binaries = await ensureBinaries({ controllerManager, release, signal, log: (line) => logger.info(line) });
  return startWithBinaries({ ...options, logger, binaries });
}

/** @param {string[]} args */
async function main(args) {
  const { values } = parseArgs({
    args: args.filter((argument) => argument !== '--'),
    options: {
      'controller-manager': { type: 'boolean', default: false },
      port: { type: 'string' },
      'data-dir': { type: 'string' },
      release: { type: 'string' },
    },
  });
  const abort = new AbortController();
  /** @type {import('@kctl/testing').RealApiServer | undefined} */
  let server;
  let signals = 0;
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(name, () => {
      abort.abort(new Error(`stopped by ${name}`));
      if (++signals > 1) void server?.kill();
    });
  }
  server = await startRealApiServer({
    controllerManager: values['controller-manager'],
    ...(values.port === undefined ? {} : { port: Number(values.port) }),
    ...(values['data-dir'] === undefined ? {} : { dataDir: values['data-dir'] }),
    ...(values.release === undefined ? {} : { release: values.release }),
    signal: abort.signal,
  });
  process.stdout.write(`${server.kubeconfigPath}\n`);
  const reason = await server.ended;
  await server.stop();
  if (reason !== undefined) process.exitCode = 1;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2)).catch((error) => {
    const expected = typeof error.code === 'string' || error.message.startsWith('stopped by ');
    process.stderr.write(`${expected ? error.message : error.stack}\n`);
    process.exitCode = 1;
  });
}
