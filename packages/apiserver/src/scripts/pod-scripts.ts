import { checkScript } from './check-script.js';
import type { Duplex, Readable, Writable } from 'node:stream';

/** Which containers a script answers for; what is left out matches all. */
export interface PodMatch {
  readonly namespace?: string;
  /** The name of the pod. */
  readonly name?: string;
  readonly container?: string;
}

/** A container of a pod. */
export interface ScriptedContainer {
  readonly namespace: string;
  /** The name of the pod. */
  readonly name: string;
  readonly container: string;
}

/** Options of a log request. */
export interface LogRequest extends ScriptedContainer {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly sinceSeconds?: number;
  readonly sinceTime?: string;
  readonly tailLines?: number;
  readonly limitBytes?: number;
  /** Aborted when the client is gone, or the server stops. */
  readonly signal: AbortSignal;
}

/** A line with its time, RFC 3339. One without a time was logged just now. */
export interface LogEntry {
  readonly text: string;
  readonly time?: string;
}

/**
 * Log of a container, as a string, lines, or lines that arrive over time. For strings and lines the server applies the
 * options of the request (times, tail, limit); lines that arrive over time are passed on as they come.
 */
export type ScriptedLog = string | Iterable<string | LogEntry> | AsyncIterable<string | LogEntry>;

/** A process that a script plays. */
export interface ScriptedProcess extends ScriptedContainer {
  /** Empty for an attached process. */
  readonly command: readonly string[];
  readonly tty: boolean;
  /** Empty if the client sends no input. */
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** With a terminal everything is in stdout. */
  readonly stderr: Writable;
  /** The sizes of the terminal, in characters, as they arrive. */
  readonly sizes: AsyncIterable<{ readonly columns: number; readonly rows: number }>;
  /** Aborted when the client is gone, or the server stops. */
  readonly signal: AbortSignal;
}

/**
 * Answers of a container. For members left out, an earlier script answers, or the answer is that of a container that
 * lacks them.
 */
export interface PodScript {
  readonly log?: ScriptedLog | ((request: LogRequest) => ScriptedLog | Promise<ScriptedLog>);
  /** The log before the last restart. @default none, which is a 400, as upstream */
  readonly previousLog?: ScriptedLog | ((request: LogRequest) => ScriptedLog | Promise<ScriptedLog>);
  /** Plays a command, and returns its exit code; undefined is 0. A thrown value is an internal error. */
  readonly exec?: (process: ScriptedProcess) => number | undefined | Promise<number | undefined> | Promise<void>;
  /** Plays the main process, for those who attach to it. */
  readonly attach?: PodScript['exec'];
  /**
   * Takes connections, by the port of the pod, both of port-forward and of the proxies of pods and Services, e.g.
   * `{ 8080: (connection) => httpServer.emit('connection', connection) }`.
   */
  readonly ports?: Readonly<Record<number, (connection: Duplex) => void>>;
}

/** Answers for the kubelets that are not there. */
export interface PodScripts {
  /**
   * Answers for the containers that match; the latest script first. As on a cluster, a pod must be on a node
   * (`spec.nodeName`) for requests beyond an empty log. Returns the function that takes the script away.
   *
   * @example
   * ```ts
   * import { createApiServer } from '@kctl/apiserver';
   *
   * const server = createApiServer();
   * server.pods.script(
   *   { namespace: 'shop', name: 'web-0' },
   *   {
   *     log: 'started\nready\n',
   *     exec: ({ command, stdout }) => {
   *       stdout.write(`ran ${command.join(' ')}\n`);
   *       return 0;
   *     },
   *     ports: { 8080: (connection) => connection.end('hello') },
   *   },
   * );
   * ```
   */
  script(match: PodMatch, script: PodScript): () => void;
  /** Takes all scripts away. */
  clear(): void;
}

/** The scripts, and who answers for what. */
export interface PodScriptTable extends PodScripts {
  /** Answer of a script to one kind of request for a container; undefined if no script has one. */
  find<K extends keyof PodScript>(of: ScriptedContainer, what: K): NonNullable<PodScript[K]> | undefined;
  /** Handler for connections to a port of a pod. */
  findPort(of: Pick<ScriptedContainer, 'namespace' | 'name'>, port: number): ((connection: Duplex) => void) | undefined;
  /** Whether any script is about a pod, so that a kubelet is thought to be there. */
  covers(of: Pick<ScriptedContainer, 'namespace' | 'name'>): boolean;
}

export function createPodScripts(): PodScriptTable {
  let entries: readonly { readonly match: PodMatch; readonly script: PodScript }[] = [];
  const isPod = ({ namespace, name }: PodMatch, of: Pick<ScriptedContainer, 'namespace' | 'name'>): boolean =>
    (namespace ?? of.namespace) === of.namespace && (name ?? of.name) === of.name;
  return {
    script(match, script) {
      checkScript(match, script);
      const entry = { match, script };
      entries = [entry, ...entries];
      return () => {
        entries = entries.filter((each) => each !== entry);
      };
    },
    clear() {
      entries = [];
    },
    find(of, what) {
      for (const { match, script } of entries) {
        const found = script[what];
        if (found !== undefined && isPod(match, of) && (match.container ?? of.container) === of.container) return found;
      }
      return undefined;
    },
    findPort(of, port) {
      for (const { match, script } of entries) {
        const found = script.ports?.[port];
        if (found !== undefined && isPod(match, of)) return found;
      }
      return undefined;
    },
    covers: (of) => entries.some(({ match }) => isPod(match, of)),
  };
}
