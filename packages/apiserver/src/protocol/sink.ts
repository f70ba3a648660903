/** Destination of the bytes of a streamed answer, which is a socket, or a stream in this process. */
export interface Sink {
  /** Takes bytes; what the consumer has not taken yet counts in {@link buffered}. Ignored after the end. */
  write(bytes: Uint8Array): void;
  /** Bytes written and not yet taken. */
  readonly buffered: number;
  /** Resolves when little is buffered, or the sink is closed. */
  drained(): Promise<void>;
  /** Ends the answer properly. */
  end(): void;
  /** Cuts the connection without a proper end. */
  destroy(): void;
  /** Aborted when the answer ended or the consumer went away. */
  readonly closed: AbortSignal;
}
