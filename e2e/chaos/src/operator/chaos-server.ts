import { createApiServer, type ApiServer, type Fault, type FaultHandle } from '@kctl/apiserver';
import type { Connection } from '@kctl/client-http';
import { sleep } from '@kctl/wait';

/** An embedded API server that fails on demand and can be replaced by a new one on the same data and port. */
export interface ChaosServer extends AsyncDisposable {
  readonly current: ApiServer;
  readonly connection: Connection;
  /** How many faults have struck, failovers and restarts included. */
  readonly struck: number;
  inject(fault: Fault): Pick<FaultHandle, 'fired'>;
  /** Removes all faults but the newest ones. */
  retire(keep: number): void;
  clear(): void;
  /** Connections are cut, and refused for a while. */
  failover(downMs: number): Promise<void>;
  /** Another server loads the same data. */
  restart(downMs: number): Promise<void>;
}

export async function startChaosServer(dataDir: string, seed: number): Promise<ChaosServer> {
  let server = createApiServer({ ...common, dataDir, seed });
  await server.start();
  const port = Number(new URL(server.url).port);
  let armed: FaultHandle[] = [];
  let struck = 0;
  const forget = (handles: readonly FaultHandle[]): void => {
    for (const handle of handles) {
      struck += handle.fired;
      handle.remove();
    }
  };
  return {
    get current() {
      return server;
    },
    connection: { server: server.url, ca: server.certificateAuthority, user: { token: server.token } },
    get struck() {
      return struck + armed.reduce((sum, { fired }) => sum + fired, 0);
    },
    inject: (fault) => {
      const handle = server.faults.add(fault);
      armed.push(handle);
      return handle;
    },
    retire: (keep) => forget(armed.splice(0, Math.max(0, armed.length - keep))),
    clear: () => forget(armed.splice(0)),
    failover: async (downMs) => {
      struck++;
      await server.faults.failover({ downMs });
    },
    restart: async (downMs) => {
      struck++;
      forget(armed.splice(0));
      await server.stop();
      await sleep(downMs);
      server = createApiServer({ ...common, dataDir, seed: seed + struck, port });
      await server.start();
    },
    [Symbol.asyncDispose]: async () => {
      armed = [];
      await server.stop();
    },
  };
}

const common = { bookmarkIntervalMs: 5000, stopGraceMs: 300 };
