/** What a server's discovery documents are kept in between runs of a program; `createDiscoveryFileCache` keeps files. */
export interface DiscoveryCache {
  /** The document that was kept, as it was received; undefined where there is none, or it is too old. */
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
