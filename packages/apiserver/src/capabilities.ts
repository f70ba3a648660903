import { kubernetesVersion } from './protocol/kubernetes-version.js';

/** Supported and missing features of a server, for test suites that run on several servers. */
export interface Capabilities {
  /** The Kubernetes version whose behaviour is followed. */
  readonly version: string;
  /** Features that are answered with a Status that names them as missing. */
  readonly missing: readonly string[];
}

/** Features that this server leaves out. */
export const capabilities: Capabilities = {
  version: kubernetesVersion.gitVersion,
  missing: [
    'server-side apply in CBOR (application/apply-patch+cbor): 415',
    'CBOR: request bodies 415, Accept 406, as upstream without the feature gate CBORServingAndStorage',
    'proxy subresources: upgrades 501; a test scripts what listens on the ports of pods; links in HTML are not rewritten',
    'pods/exec, attach and portforward over SPDY/3.1: 501; over WebSockets, a test scripts the answers',
    'WebSocket watches',
  ],
};
