import type { World } from '@kctl/simulation';
import { served } from './recording.js';

type ApiServer = World['server'];
export type Asked = Parameters<ApiServer['answer']>[0];

/** A request as it reached the server. */
export interface RecordedRequest {
  /** ms since the world began. */
  readonly at: number;
  readonly asked: Pick<Asked, 'method' | 'target' | 'headers' | 'body' | 'user'>;
  /** What it was answered; 0 while it is not. */
  status: number;
  /** What the server drew for it. */
  readonly uuids: string[];
  /** Whether its client had gone away when it arrived. */
  readonly wasGone: boolean;
  /** When the client of a watch went away. */
  goneAt: number;
}

/** All that reached the server of a world from outside. */
export interface ServerRecording {
  readonly requests: readonly RecordedRequest[];
  /** Of the server's wall clock when the world began, in ms since 1970. */
  readonly wallAt: number;
}

/** Records what reaches the server from now on, whether it comes over the network or past it. */
export function recordServer({ server, clock }: Pick<World, 'server' | 'clock'>): ServerRecording {
  const requests: RecordedRequest[] = [];
  const answer = server.answer.bind(server);
  const recorded: ApiServer['answer'] = (request, receiver) => {
    const { method, target, headers, body, user } = request;
    const entry: RecordedRequest = {
      at: clock.monotonicNow(),
      asked: {
        method,
        target,
        headers,
        ...(body === undefined ? {} : { body }),
        ...(user === undefined ? {} : { user }),
      },
      status: 0,
      uuids: [],
      wasGone: request.isGone?.() === true,
      goneAt: Infinity,
    };
    requests.push(entry);
    if (isWatch(target))
      request.signal.addEventListener('abort', () => void (entry.goneAt = clock.monotonicNow()), { once: true });
    return served.run(entry, () =>
      answer(request, {
        start: (status, given) => {
          entry.status = status;
          receiver.start(status, given);
        },
        data: (bytes) => receiver.data(bytes),
        end: () => receiver.end(),
        destroy: () => receiver.destroy(),
      }),
    );
  };
  Reflect.set(server, 'answer', recorded);
  return { requests, wallAt: clock.now() - clock.monotonicNow() };
}

/** Whether a request is answered until its client goes. */
export function isWatch(target: string): boolean {
  return /[?&]watch=(?:1|true)/.test(target);
}
