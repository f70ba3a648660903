/** Store for a server's discovery documents between runs of a program; `createDiscoveryFileCache` keeps files. */
export interface DiscoveryCache {
  /** The stored document, as it was received; undefined if it is absent or too old. */
  read(document: DiscoveryDocument): Promise<string | undefined>;
  write(document: DiscoveryDocument, text: string): Promise<void>;
}

/** Names a discovery document. */
export interface DiscoveryDocument {
  /** `https://host:port/prefix`. */
  readonly server: string;
  /** `/api`, `/apis`, `/apis/apps/v1`. */
  readonly path: string;
}
