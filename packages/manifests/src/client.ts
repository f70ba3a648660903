import type { Reader, Watcher, Writer } from '@kctl/client';

/** Client for applying manifests: any client of the administrator's rank that reads live. */
export type ManifestClient = Pick<Reader, 'get' | 'list'> & Pick<Writer, 'patch' | 'delete'> & Partial<Watcher>;
